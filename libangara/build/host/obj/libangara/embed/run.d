build/host/obj/libangara/embed/run.o: /work/wt/grow/libangara/embed/run.c \
 /work/wt/grow/libangara/embed/embed.h \
 /work/wt/grow/libangara/env/ang_env.h /work/wt/grow/driver/ang_row.h \
 /work/wt/grow/driver/model/ang_model.h /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h \
 /work/wt/grow/uapi/linux/angara_hw.h \
 /work/wt/grow/driver/model/ang_work.h /work/wt/grow/libangara/backend.h \
 /work/wt/grow/libangara/fabric.h \
 /work/wt/grow/libangara/include/angara/topo.h \
 /work/wt/grow/libangara/fabric.h /work/wt/grow/libangara/embed/name.h
/work/wt/grow/libangara/embed/embed.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/driver/ang_row.h:
/work/wt/grow/driver/model/ang_model.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
/work/wt/grow/uapi/linux/angara_hw.h:
/work/wt/grow/driver/model/ang_work.h:
/work/wt/grow/libangara/backend.h:
/work/wt/grow/libangara/fabric.h:
/work/wt/grow/libangara/include/angara/topo.h:
/work/wt/grow/libangara/fabric.h:
/work/wt/grow/libangara/embed/name.h:
