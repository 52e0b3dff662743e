build/host/obj/libangara/cdev.o: /work/wt/grow/libangara/cdev.c \
 /work/wt/grow/libangara/backend.h /work/wt/grow/libangara/env/ang_env.h \
 /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h /work/wt/grow/libangara/fabric.h \
 /work/wt/grow/libangara/include/angara/topo.h \
 /work/wt/grow/libangara/scan.h
/work/wt/grow/libangara/backend.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
/work/wt/grow/libangara/fabric.h:
/work/wt/grow/libangara/include/angara/topo.h:
/work/wt/grow/libangara/scan.h:
