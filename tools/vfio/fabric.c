// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fabric: the device model, and the threads that run it.
 *
 * A thread that writes a register runs the model for a while, with a view of
 * its own.  Remaining work then goes to the lists of the fabric, from which the
 * workers take it.  A view is empty while its owner does not run the model.
 *
 *   lock	runq, timers, stop, looked; no other lock is taken under it
 *   look_lock serializes fabric_look(): look, look_arg; taken before lock
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "card.h"
#include "peer.h"
#include "trace.h"

#define SLICE	16384U	/* units of work (ang_work.h) between checks for
			 * other work */
#define ROUNDS	64U	/* slices that the thread that writes a register runs */

struct fabric {
	void *mem;
	u64 size;
	struct ang_cfg cfg;
	struct ang_topo topo;	/* topology with its table, in @mem */
	u32 nodes;
	struct card **card;	/* card of each node; NULL: only a router */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct ang_list runq;
	struct ang_list timers;
	bool stop;
	pthread_mutex_t look_lock;
	pthread_cond_t seen;
	bool looked;
	void (*look)(void *arg, struct ang_view *v, u32 node);
	void *look_arg;
	struct traces traces;
	struct peers *peers;	/* atomic; NULL: all nodes are local */
	u32 workers;
	pthread_t worker[];
};

static struct card *card_of(void *host, u32 node)
{
	return ((struct fabric *)host)->card[node];
}

static int host_dma_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	struct card *c = card_of(host, node);

	return c ? dma_read(&c->dma, addr, buf, len) : -EFAULT;
}

static int host_dma_write(void *host, u32 node, u64 addr, const void *buf,
			  u32 len)
{
	struct card *c = card_of(host, node);

	return c ? dma_write(&c->dma, addr, buf, len) : -EFAULT;
}

static int host_dma_store64(void *host, u32 node, u64 addr, u64 val)
{
	struct card *c = card_of(host, node);

	return c ? dma_store64(&c->dma, addr, val) : -EFAULT;
}

static void host_interrupt(void *host, u32 node, u32 vector)
{
	struct card *c = card_of(host, node);

	if (c)
		irq_raise(&c->irq, vector);
}

static void host_look(struct ang_view *v, u32 node)
{
	struct fabric *f = v->host;

	f->look(f->look_arg, v, node);
	pthread_mutex_lock(&f->lock);
	f->looked = true;
	pthread_cond_signal(&f->seen);
	pthread_mutex_unlock(&f->lock);
}

static void host_trace(void *host, const struct ang_trace *rec)
{
	traces_record(&((struct fabric *)host)->traces, rec);
}

static void host_remote(void *host, u32 node)
{
	struct peers *peers = ang_load_acquire(&((struct fabric *)host)->peers);

	if (peers)
		peers_notify(peers, node);
}

#define MODEL_OPS				\
	.dma_read = host_dma_read,		\
	.dma_write = host_dma_write,		\
	.dma_store64 = host_dma_store64,	\
	.interrupt = host_interrupt,		\
	.look = host_look,			\
	.remote = host_remote

static const struct ang_ops model_ops = { MODEL_OPS };
static const struct ang_ops model_ops_traced = {
	MODEL_OPS, .trace = host_trace,
};

static const struct ang_ops *ops_now(struct fabric *f)
{
	return ang_load_acquire(&f->traces.count) ? &model_ops_traced :
						    &model_ops;
}

static void view_init(struct fabric *f, struct ang_view *v)
{
	ang_view_init(v, f->mem, ops_now(f), f);
}

static void hand_over(struct fabric *f, struct ang_view *v)
{
	pthread_mutex_lock(&f->lock);
	ang_list_splice(v->fab, &f->runq, &v->runq);
	ang_timers_splice(v->fab, &f->timers, &v->timers);
	pthread_cond_signal(&f->more);
	pthread_mutex_unlock(&f->lock);
}

static bool nothing_left(const struct fabric *f)
{
	return f->runq.head == ANG_NONE && f->timers.head == ANG_NONE;
}

/* Take all remaining work of the fabric.  Caller holds the lock. */
static void take_over(struct fabric *f, struct ang_view *v)
{
	ang_list_splice(v->fab, &v->runq, &f->runq);
	ang_timers_splice(v->fab, &v->timers, &f->timers);
}

static void *work(void *arg)
{
	struct fabric *f = arg;
	struct ang_view v;

	view_init(f, &v);
	for (;;) {
		pthread_mutex_lock(&f->lock);
		while (nothing_left(f) && !f->stop && !ang_view_busy(&v))
			pthread_cond_wait(&f->more, &f->lock);
		if (f->stop) {
			pthread_mutex_unlock(&f->lock);
			return NULL;
		}
		take_over(f, &v);
		pthread_mutex_unlock(&f->lock);
		v.ops = ops_now(f);
		ang_run(&v, SLICE);
	}
}

/* Run a view for a while, and leave it empty. */
static void advance(struct fabric *f, struct ang_view *v)
{
	u32 round;

	for (round = 0; round < ROUNDS && ang_view_busy(v); round++)
		ang_run(v, SLICE);
	if (ang_view_busy(v))
		hand_over(f, v);
}

u32 fabric_read(struct fabric *f, u32 node, u32 off)
{
	struct ang_view v;

	view_init(f, &v);
	return ang_reg_read(&v, node, off);
}

/** fabric_write() - write a register, and run the resulting work */
void fabric_write(struct fabric *f, u32 node, u32 off, u32 val)
{
	struct ang_view v;

	view_init(f, &v);
	ang_reg_write(&v, node, off, val);
	advance(f, &v);
}

static void help(struct fabric *f)
{
	struct ang_view v;

	view_init(f, &v);
	pthread_mutex_lock(&f->lock);
	take_over(f, &v);
	pthread_mutex_unlock(&f->lock);
	advance(f, &v);
}

/**
 * fabric_reset() - reset an adapter
 * @f: fabric
 * @node: node
 *
 * After it returns the model touches none of the adapter's memory, its contexts
 * do not exist, and its registers show nothing of the former user.
 */
void fabric_reset(struct fabric *f, u32 node)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	u32 off;

	fabric_write(f, node, ANGARA_REG_CONTROL, 0);
	/* Another thread may hold the node. */
	while (fabric_read(f, node, ANGARA_REG_STATUS) & ANGARA_STATUS_READY) {
		help(f);
		nanosleep(&pause, NULL);
	}
	for (off = ANGARA_REG_ASQ_LO; off <= ANGARA_REG_AEQ_ENTRIES; off += 4)
		fabric_write(f, node, off, 0);
}

/**
 * fabric_look() - read the state of a router
 * @f: fabric
 * @node: node or switch
 * @look: function that reads the state, by ang_look_counters() and similar
 * functions; any thread may call it
 * @arg: argument of @look
 */
void fabric_look(struct fabric *f, u32 node,
		 void (*look)(void *arg, struct ang_view *v, u32 node),
		 void *arg)
{
	struct ang_view v;

	pthread_mutex_lock(&f->look_lock);
	f->look = look;
	f->look_arg = arg;
	f->looked = false;
	view_init(f, &v);
	ang_look(&v, node);
	advance(f, &v);
	pthread_mutex_lock(&f->lock);
	while (!f->looked)
		pthread_cond_wait(&f->seen, &f->lock);
	pthread_mutex_unlock(&f->lock);
	pthread_mutex_unlock(&f->look_lock);
}

const struct ang_cfg *fabric_cfg(const struct fabric *f)
{
	return &f->cfg;
}

/** fabric_topo() - the topology */
const struct ang_topo *fabric_topo(const struct fabric *f)
{
	return &f->topo;
}

/** fabric_text() - the description of the topology */
const char *fabric_text(const struct fabric *f)
{
	const struct ang_fabric *fab = f->mem;

	return (const char *)f->mem + fab->off_text;
}

/** fabric_use() - describe by one word how a node is used */
const char *fabric_use(const struct fabric *f, u32 node)
{
	const struct card *c = f->card[node];

	if (!c)
		return "router";
	return ang_load_acquire(&c->attached) ? "vfio" : "free";
}

struct traces *fabric_traces(struct fabric *f)
{
	return &f->traces;
}

static void run_peer(void *host, struct ang_view *v)
{
	/*
	 * A view of a peer exists longer than a capture, which changes the
	 * operations: use the current ones.
	 */
	v->ops = ops_now(host);
	advance(host, v);
}

/**
 * fabric_link() - let other servers host a part of the torus
 * @f: fabric of which no node has run
 * @o: options of the user
 * @ours: local nodes, one bool each; must outlive @f
 *
 * Return: 0, or -EIO after a message.
 */
int fabric_link(struct fabric *f, const struct peers_options *o,
		const bool *ours)
{
	const struct peers_host host = {
		.mem = f->mem, .ops = &model_ops, .host = f, .run = run_peer,
		.ours = ours,
	};
	struct peers *peers = peers_new(&host, o);

	if (!peers)
		return -EIO;
	ang_store_release(&f->peers, peers);
	return 0;
}

/**
 * fabric_whole() - wait until every node belongs to a server
 * @f: fabric
 * @ms: how long to wait
 *
 * Return: 1: yes; 0: not yet; -1: never, after a message.
 */
int fabric_whole(struct fabric *f, u32 ms)
{
	int ret = f->peers ? peers_wait(f->peers, ms) : 1;

	/* All servers have the same id now. */
	f->cfg.fabric_id = ((struct ang_fabric *)f->mem)->cfg.fabric_id;
	return ret;
}

/** fabric_remote() - check whether a node or switch belongs to another server */
bool fabric_remote(const struct fabric *f, u32 router)
{
	return f->cfg.remote && !f->card[ang_topo_keeper(&f->topo, router)];
}

/** fabric_plug() - put a card into its node, before the model runs */
void fabric_plug(struct fabric *f, struct card *c)
{
	f->card[c->node] = c;
}

static int start(struct fabric *f, u32 workers)
{
	for (; f->workers < workers; f->workers++) {
		int ret = pthread_create(&f->worker[f->workers], NULL, work, f);

		if (ret)
			return -ret;
	}
	return 0;
}

/**
 * fabric_new() - make a fabric
 * @cfg: configuration that ang_cfg_check() accepts
 * @workers: threads that run remaining work; 0: fabric_reset() runs it
 *
 * Return: the fabric; NULL with errno set.
 */
struct fabric *fabric_new(const struct ang_cfg *cfg, u32 workers)
{
	struct fabric *f = calloc(1, sizeof(*f) + workers * sizeof(f->worker[0]));
	struct ang_topo_why why;
	int ret = -ENOMEM;

	if (!f)
		return NULL;
	f->cfg = *cfg;
	f->nodes = ang_cfg_check(cfg);
	f->size = ang_fabric_size(cfg);
	f->runq.head = ANG_NONE;
	f->timers.head = ANG_NONE;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->more, NULL);
	pthread_mutex_init(&f->look_lock, NULL);
	pthread_cond_init(&f->seen, NULL);
	traces_init(&f->traces);
	f->card = calloc(f->nodes, sizeof(f->card[0]));
	/* Zeroed; pages are allocated at their first use. */
	f->mem = mmap(NULL, f->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->card && f->mem != MAP_FAILED)
		ret = ang_fabric_init(f->mem, cfg, &why) ? 0 : -EINVAL;
	if (!ret) {
		f->topo = ang_fab_topo(f->mem);
		ret = start(f, workers);
	}
	if (!ret)
		return f;
	fabric_free(f);
	errno = -ret;
	return NULL;
}

/** fabric_free() - end the workers and free the fabric; no thread of a card runs any more */
void fabric_free(struct fabric *f)
{
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_broadcast(&f->more);
	pthread_mutex_unlock(&f->lock);
	while (f->workers)
		pthread_join(f->worker[--f->workers], NULL);
	if (f->peers)
		peers_free(f->peers);
	if (f->mem != MAP_FAILED)
		munmap(f->mem, f->size);
	traces_destroy(&f->traces);
	pthread_cond_destroy(&f->seen);
	pthread_mutex_destroy(&f->look_lock);
	pthread_cond_destroy(&f->more);
	pthread_mutex_destroy(&f->lock);
	free(f->card);
	free(f);
}
