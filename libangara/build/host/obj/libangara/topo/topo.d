build/host/obj/libangara/topo/topo.o: /work/wt/grow/libangara/topo/topo.c \
 /work/wt/grow/libangara/topo/internal.h \
 /work/wt/grow/driver/model/ang_model.h \
 /work/wt/grow/libangara/env/ang_env.h /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h \
 /work/wt/grow/uapi/linux/angara_hw.h \
 /work/wt/grow/driver/model/ang_work.h \
 /work/wt/grow/libangara/include/angara/topo.h
/work/wt/grow/libangara/topo/internal.h:
/work/wt/grow/driver/model/ang_model.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
/work/wt/grow/uapi/linux/angara_hw.h:
/work/wt/grow/driver/model/ang_work.h:
/work/wt/grow/libangara/include/angara/topo.h:
