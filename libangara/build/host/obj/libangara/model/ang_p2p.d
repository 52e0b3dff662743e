build/host/obj/libangara/model/ang_p2p.o: \
 /work/wt/grow/driver/model/ang_p2p.c \
 /work/wt/grow/driver/model/ang_int.h \
 /work/wt/grow/driver/model/ang_rules.h \
 /work/wt/grow/driver/model/ang_types.h \
 /work/wt/grow/driver/model/ang_pkt.h \
 /work/wt/grow/driver/model/ang_model.h \
 /work/wt/grow/libangara/env/ang_env.h /work/wt/grow/uapi/linux/angara.h \
 /work/wt/grow/uapi/linux/angara_queue.h \
 /work/wt/grow/uapi/linux/angara_hw.h \
 /work/wt/grow/driver/model/ang_work.h \
 /work/wt/grow/driver/model/ang_area.h
/work/wt/grow/driver/model/ang_int.h:
/work/wt/grow/driver/model/ang_rules.h:
/work/wt/grow/driver/model/ang_types.h:
/work/wt/grow/driver/model/ang_pkt.h:
/work/wt/grow/driver/model/ang_model.h:
/work/wt/grow/libangara/env/ang_env.h:
/work/wt/grow/uapi/linux/angara.h:
/work/wt/grow/uapi/linux/angara_queue.h:
/work/wt/grow/uapi/linux/angara_hw.h:
/work/wt/grow/driver/model/ang_work.h:
/work/wt/grow/driver/model/ang_area.h:
