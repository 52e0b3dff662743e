/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions shared by the files of the simulation; sim.h includes them.  Nodes
 * are counted from the first node of this process.
 */
#ifndef ANG_SIM_FUNCS_H
#define ANG_SIM_FUNCS_H

/* event.c */
void sim_push(struct sim_part *p, u64 time, u32 node, u32 kind, u32 port,
	      u32 arg);
u64 sim_next_time(struct sim_part *p);
void sim_run_window(struct sim_part *p, u64 window);

/* fabric.c */
int sim_init(struct sim *s, const struct sim_cfg *cfg, u32 first_part,
	     u32 nparts, u32 threads, u32 trees);
int sim_add_tree(struct sim *s, u32 tree, u32 root, const u16 *pe);
int sim_set_rows(struct sim *s, u32 tree, struct angara_tree_row *rows);
void sim_need_reducers(struct sim *s);
void sim_lay_rows(struct sim *s);
void sim_set_longest(struct sim *s, u32 flits);
void sim_need_state(struct sim *s, u32 size);
u64 sim_seed(const struct sim_cfg *cfg, u32 id);
void sim_free(struct sim *s);
void sim_stats(const struct sim *s, struct sim_acc *sum);
void *sim_zalloc(size_t n, size_t size);
void *sim_zalloc_lines(size_t n, size_t size);
u32 sim_pkt_new(struct sim_part *p);
void sim_pkt_free(struct sim_part *p, u32 k);
u32 sim_op_new(struct sim_part *p);
void sim_op_free(struct sim_part *p, u32 o);
u32 sim_credit_new(struct sim_part *p);
void sim_credit_free(struct sim_part *p, u32 c);

/* fault.c */
int sim_faults(struct sim *s, const char *path, char *why, size_t len);
u64 sim_ports_up(const struct sim *s, u32 node, u32 dst, u64 ports);
bool sim_may_start(const struct sim *s, u32 router, const struct sim_op *op);

/* retry.c */
void sim_retry_begin(struct sim *s);
bool sim_retry_send(struct sim_part *p, u32 node, u32 port, u32 k);
void sim_retry_due(struct sim_part *p, u32 node, u32 port);

/* route.c */
int sim_routes(struct sim *s);
int sim_routes_read(struct sim *s, const char *path, char *why, size_t len);
u32 sim_route(const struct sim *s, u32 node, u32 dst);
u64 sim_shortest(const struct sim *s, u32 node, u32 dst);

/* router.c */
void sim_event(struct sim_part *p, const struct sim_ev *e);
u64 sim_p2p_outs(struct sim_part *p, u32 node, u32 src, struct sim_pkt *k);
void sim_fifo_push(struct sim_part *p, u32 node, u32 src, u32 k);
void sim_link_put(struct sim_part *p, u32 node, u32 out, u32 k, u64 from, u64 to);
void sim_serve(struct sim_part *p, u32 node, u32 out);
void sim_mail_take(struct sim_part *p, const struct sim_mail *m);

/* pegroup.c */
u64 sim_coll_outs(struct sim_part *p, u32 node, u32 src, struct sim_pkt *k);
u64 sim_result_may(struct sim_part *p, u32 node, const struct sim_pkt *k);
void sim_reducer_take(struct sim_part *p, u32 node, u32 k, u64 finish);
void sim_result_left(struct sim_part *p, u32 node, u32 tree);
void sim_credit_take(struct sim_part *p, u32 node, const struct sim_pkt *k);
void sim_credit_left(struct sim_part *p, u32 node, u32 tree);
void sim_credit_news(struct sim_part *p, u32 node, u64 time);
void sim_credit_timer(struct sim_part *p, u32 node);
void sim_credit_pe(struct sim_part *p, u32 node, u32 arg, u32 tree);

/* deadlock.c */
void sim_deadlock(struct sim *s);

/* inject.c */
void sim_send(struct sim_part *p, u32 node, const struct sim_op *op);
void sim_pump(struct sim_part *p, u32 node);
void sim_deliver(struct sim_part *p, u32 node, const struct sim_pkt *k, u64 time);

/* run.c */
void sim_run(struct sim *s);

/* checkpoint.c */
int sim_checkpoint_write(struct sim *s, const char *path);
const char *sim_checkpoint_read(struct sim *s, const char *path);

/* comm.c, comm_mpi.c */
struct sim_comm {
	u32 rank;
	u32 size;
};

void sim_comm_init(struct sim_comm *c, int *argc, char ***argv);
void sim_comm_end(void);
u64 sim_comm_min(u64 val);
void sim_comm_sum(u64 *vals, u32 n);
void sim_comm_max(u64 *vals, u32 n);
void sim_comm_exchange(struct sim *s);

#endif /* ANG_SIM_FUNCS_H */
