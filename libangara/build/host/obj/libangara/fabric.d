build/host/obj/libangara/fabric.o: /work/wt/grow/libangara/fabric.c \
 /work/wt/grow/libangara/fabric.h /work/wt/grow/libangara/env/ang_env.h \
 /work/wt/grow/libangara/include/angara/topo.h \
 /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h
/work/wt/grow/libangara/fabric.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/libangara/include/angara/topo.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
