build/host/obj/libangara/job.o: /work/wt/grow/libangara/job.c \
 /work/wt/grow/libangara/job.h /work/wt/grow/libangara/env/ang_env.h \
 /work/wt/grow/libangara/include/angara/angara.h \
 /work/wt/grow/libangara/include/angara/types.h \
 /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h \
 /work/wt/grow/libangara/include/angara/job.h \
 /work/wt/grow/libangara/include/angara/domain.h \
 /work/wt/grow/libangara/include/angara/ops.h \
 /work/wt/grow/libangara/include/angara/msg.h \
 /work/wt/grow/libangara/include/angara/team.h \
 /work/wt/grow/libangara/include/angara/topo.h \
 /work/wt/grow/libangara/lib.h /work/wt/grow/libangara/backend.h \
 /work/wt/grow/libangara/fabric.h
/work/wt/grow/libangara/job.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/libangara/include/angara/angara.h:
/work/wt/grow/libangara/include/angara/types.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
/work/wt/grow/libangara/include/angara/job.h:
/work/wt/grow/libangara/include/angara/domain.h:
/work/wt/grow/libangara/include/angara/ops.h:
/work/wt/grow/libangara/include/angara/msg.h:
/work/wt/grow/libangara/include/angara/team.h:
/work/wt/grow/libangara/include/angara/topo.h:
/work/wt/grow/libangara/lib.h:
/work/wt/grow/libangara/backend.h:
/work/wt/grow/libangara/fabric.h:
