build/host/obj/libangara/driver/row.o: /work/wt/grow/driver/row.c \
 /work/wt/grow/driver/ang_row.h /work/wt/grow/driver/model/ang_model.h \
 /work/wt/grow/libangara/env/ang_env.h /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h \
 /work/wt/grow/uapi/linux/angara_hw.h \
 /work/wt/grow/driver/model/ang_work.h
/work/wt/grow/driver/ang_row.h:
/work/wt/grow/driver/model/ang_model.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
/work/wt/grow/uapi/linux/angara_hw.h:
/work/wt/grow/driver/model/ang_work.h:
