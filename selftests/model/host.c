// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fabric and host memory; see host.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define BARRED	(1ULL << 30)	/* bytes of addresses: more than all contexts of
				 * a node need
				 */

static struct segment *find(struct host_node *n, u64 addr)
{
	u32 lo = 0, hi = n->nsegs;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (addr >= n->seg[mid].addr + n->seg[mid].len)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == n->nsegs || addr < n->seg[lo].addr)
		return NULL;
	return &n->seg[lo];
}

/*
 * Return: host memory for a DMA to @len bytes at @addr; NULL if the DMA is not
 * allowed.
 */
static char *target(struct host *h, u32 node, u64 addr, u64 len, int write)
{
	struct segment *s = find(&h->node[node], addr);

	if (!s || len > s->len - (addr - s->addr) || (write && s->readonly)) {
		__atomic_fetch_add(&h->faults, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	return s->mem + (addr - s->addr);
}

/* Copies a word of struct angara_ctl, which the process may write meanwhile. */
static void read_word(void *buf, const u32 *at)
{
	u32 word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	memcpy(buf, &word, sizeof(word));
}

int host_dma(struct host *h, u32 node, u64 addr, void *buf, u32 len, int write)
{
	char *at = target(h, node, addr, len, write);

	if (!at)
		return -EFAULT;
	if (write)
		memcpy(at, buf, len);
	else if (len == 4 && addr % 4 == 0)
		read_word(buf, (u32 *)at);
	else
		memcpy(buf, at, len);
	return 0;
}

static int op_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	return host_dma(host, node, addr, buf, len, 0);
}

static int op_write(void *host, u32 node, u64 addr, const void *buf, u32 len)
{
	return host_dma(host, node, addr, (void *)buf, len, 1);
}

static int op_store64(void *host, u32 node, u64 addr, u64 val)
{
	char *at = target(host, node, addr, 8, 1);

	if (!at)
		return -EFAULT;
	EXPECT(addr % 8 == 0);
	__atomic_store_n((u64 *)at, cpu_to_le64(val), __ATOMIC_RELEASE);
	return 0;
}

static void op_interrupt(void *host, u32 node, u32 vector)
{
	struct host *h = host;

	EXPECT(vector <= h->cfg.ctxs);
	__atomic_fetch_add(&h->node[node].interrupts[vector], 1,
			   __ATOMIC_RELAXED);
}

static void op_trace(void *host, const struct ang_trace *rec)
{
	struct host *h = host;

	EXPECT(rec->node < h->v.topo.routers && rec->event < ANG_TR_NUM);
	if (h->trace)
		fprintf(h->trace, "%llu node %u event %u type %u port %d vc %u "
			"tree %u status %u npkts %u len %u seq %u src %u\n",
			(unsigned long long)rec->cycle, rec->node, rec->event,
			rec->type, (s8)rec->port, rec->vc, rec->tree, rec->status,
			rec->npkts, rec->len, rec->seq, rec->src);
}

void *host_alloc(struct host *h, u32 node, u64 len, u64 *addr)
{
	struct host_node *n = &host_at(h, node)->node[node];
	struct segment *s = &n->seg[n->nsegs++];

	EXPECT(n->nsegs <= SEGMENTS);
	s->addr = n->next;
	s->len = len;
	s->mem = aligned_alloc(4096, (len + 4095) & ~4095ULL);
	EXPECT(s->mem);
	memset(s->mem, 0, len);
	/* Leave an unmapped gap of a page or more. */
	n->next += (len + 8191) & ~4095ULL;
	*addr = s->addr;
	return s->mem;
}

void *host_alloc_pages(struct host *h, u32 node, u64 len, __le64 *pages)
{
	struct host_node *n = &host_at(h, node)->node[node];
	u64 npages = (len + 4095) / 4096;
	char *mem = aligned_alloc(4096, npages * 4096);
	u64 i;

	EXPECT(mem && n->nsegs + npages <= SEGMENTS);
	memset(mem, 0, npages * 4096);
	/*
	 * Use every other page of the address space, and the memory's pages in
	 * reverse.
	 */
	for (i = 0; i < npages; i++) {
		struct segment *s = &n->seg[n->nsegs++];
		u64 which = npages - 1 - i;

		s->addr = n->next;
		s->len = 4096;
		s->mem = mem + which * 4096;
		pages[which] = cpu_to_le64(s->addr);
		n->next += 8192;
	}
	return mem;
}

void host_reg(struct host *h, u32 node, u32 off, u32 val)
{
	ang_reg_write(&host_at(h, node)->v, node, off, val);
}

void driver_new(struct host *h, u32 node)
{
	struct host_node *n = &h->node[node];

	host_reg(h, node, ANGARA_REG_CONTROL, 0);
	host_run(h);
	memset(n->aeq, 0, AEQ_ENTRIES * sizeof(*n->aeq));
	memset(n->acq, 0, ADM_ENTRIES * sizeof(*n->acq));
	n->asq_pi = n->acq_ci = n->aeq_ci = 0;
	host_reg(h, node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(h);
	EXPECT_EQ(ang_reg_read(&h->v, node, ANGARA_REG_STATUS), ANGARA_STATUS_READY);
}

static void enable(struct host *h, u32 node)
{
	struct host_node *n = &host_at(h, node)->node[node];
	u64 asq, acq, aeq;

	n->next = 0x10000;
	n->asq = host_alloc(h, node, ADM_ENTRIES * sizeof(*n->asq), &asq);
	n->acq = host_alloc(h, node, ADM_ENTRIES * sizeof(*n->acq), &acq);
	n->aeq = host_alloc(h, node, AEQ_ENTRIES * sizeof(*n->aeq), &aeq);
	host_reg(h, node, ANGARA_REG_ASQ_LO, (u32)asq);
	host_reg(h, node, ANGARA_REG_ASQ_HI, (u32)(asq >> 32));
	host_reg(h, node, ANGARA_REG_ACQ_LO, (u32)acq);
	host_reg(h, node, ANGARA_REG_ACQ_HI, (u32)(acq >> 32));
	host_reg(h, node, ANGARA_REG_AEQ_LO, (u32)aeq);
	host_reg(h, node, ANGARA_REG_AEQ_HI, (u32)(aeq >> 32));
	host_reg(h, node, ANGARA_REG_ADM_ENTRIES, ADM_ENTRIES);
	host_reg(h, node, ANGARA_REG_AEQ_ENTRIES, AEQ_ENTRIES);
	host_reg(h, node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
}

static void op_remote(void *host, u32 node)
{
	struct host *h = host;

	EXPECT(node < h->v.topo.routers &&
	       !(h->here >> host_keeper(h, node) & 1));
	h->notified = 1;
}

u32 host_keeper(const struct host *h, u32 router)
{
	return ang_topo_keeper(&h->v.topo, router);
}

/* Places a fabric in front of memory that cannot be read or written. */
static void place_fabric(struct host *h)
{
	u64 size = (ang_fabric_size(&h->cfg) + 4095) & ~4095ULL;

	h->fab_size = size + BARRED;
	h->fab = mmap(NULL, h->fab_size, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	EXPECT(h->fab != MAP_FAILED);
	EXPECT_EQ(mprotect(h->fab, size, PROT_READ | PROT_WRITE), 0);
}

/* Switches have no contexts: an access to the contexts of a switch faults. */
static void bar_switches(struct host *h)
{
	u32 i;

	for (i = h->nodes; i < h->cfg.topo.routers; i++) {
		EXPECT_EQ(ang_node(h->fab, i)->pe, 0);
		ang_node(h->fab, i)->pe = h->fab_size - BARRED;
	}
}

static struct host *host_make(const char *dims, const struct ang_cfg *cfg)
{
	struct host *h = calloc(1, sizeof(*h));
	struct ang_topo_why why;
	char torus[64];

	h->cfg = *cfg;
	if (dims[0] >= '0' && dims[0] <= '9') {
		snprintf(torus, sizeof(torus), "torus:%s", dims);
		dims = torus;
	}
	h->cfg.text = dims;
	if (!ang_topo_read(&h->cfg.topo, dims, &why))
		test_fail(__FILE__, __LINE__, "%s: %s", dims, why.what);
	h->nodes = ang_cfg_check(&h->cfg);
	EXPECT(h->nodes);
	place_fabric(h);
	if (!ang_fabric_init(h->fab, &h->cfg, &why))
		test_fail(__FILE__, __LINE__, "%s: %s", dims, why.what);
	bar_switches(h);
	h->node = calloc(h->nodes, sizeof(*h->node));
	h->ops = (struct ang_ops){
		.dma_read = op_read, .dma_write = op_write,
		.dma_store64 = op_store64, .interrupt = op_interrupt,
		.trace = op_trace, .remote = op_remote,
	};
	/* A traced fabric sends packets only; see driver/model/ang_express.c. */
	if (getenv("MODEL_EXPRESS"))
		h->ops.trace = NULL;
	ang_view_init(&h->v, h->fab, &h->ops, h);
	return h;
}

/* Does this fabric or its twin host the node? Only such nodes are started. */
static int hosts(struct host *h, u32 node)
{
	return h->twin || !h->fab->cfg.remote || h->here >> node & 1;
}

static void run(struct host *h)
{
	u32 rounds = 0;

	while (ang_view_busy(&h->v)) {
		/*
		 * Links with faults deliver what is pending one by one, so
		 * allow more rounds.
		 */
		EXPECT(rounds++ < (host_faults.what || h->fab->flawed ? 2000000 : 2000));
		ang_run(&h->v, 10000000);
	}
}

/*
 * Waits a little: a thread of a server may hold a node of this fabric, and then
 * does the requested work.  Return: false after the last try, or if the fabric
 * has no server.
 */
static int rest(struct host *h, int *tries)
{
	if (!h->cfg.remote || h->twin || ++*tries > 5000)
		return 0;
	usleep(1000);
	run(h);
	return 1;
}

static u32 host_status(struct host *h, u32 node)
{
	int tries = 0;
	u32 status;

	do {
		status = ang_reg_read(&host_at(h, node)->v, node, ANGARA_REG_STATUS);
	} while (status != ANGARA_STATUS_READY && rest(h, &tries));
	return status;
}

struct angara_adm_link host_faults;

/* Each link has its own random generator. */
static void faults_start(struct host *h)
{
	u32 router, port;

	for (router = 0; router < h->v.topo.routers; router++)
		for (port = 0; port < h->fab->nports; port++) {
			struct angara_adm_link link = host_faults;

			if (ang_port(h->fab, ang_node(h->fab, router), port)->peer ==
			    ANG_NONE)
				continue;
			link.seed = cpu_to_le64(le64_to_cpu(link.seed) +
						router * 64ULL + port);
			EXPECT_EQ(adm_link(h, router, port, &link), ANGARA_ADM_ST_OK);
		}
}

void host_start(struct host *h)
{
	u32 i;

	for (i = 0; i < h->nodes; i++)
		if (hosts(h, i))
			enable(h, i);
	host_run(h);
	for (i = 0; i < h->nodes; i++)
		if (hosts(h, i))
			EXPECT_EQ(host_status(h, i), ANGARA_STATUS_READY);
}

struct host *host_new(const char *dims, const struct ang_cfg *cfg)
{
	struct host *h = host_make(dims, cfg);

	host_start(h);
	if (host_faults.what)
		faults_start(h);
	return h;
}

struct host *host_half(const char *dims, const struct ang_cfg *cfg, u64 here)
{
	struct ang_cfg both = *cfg;
	struct host *h;

	both.remote = 1;
	h = host_make(dims, &both);
	EXPECT(h->nodes <= 64);
	h->here = here;
	return h;
}

struct host *host_twins(const char *dims, const struct ang_cfg *cfg, u64 here,
			int (*pump)(struct host *h))
{
	struct host *h = host_half(dims, cfg, here);
	struct host *twin = host_half(dims, cfg, ~here);
	u32 i;

	for (i = 0; i < h->v.topo.routers; i++)
		ang_remote_set(here >> host_keeper(h, i) & 1 ?
			       &twin->v : &h->v, i);
	h->pump = twin->pump = pump;
	h->twin = twin;
	twin->twin = h;
	host_start(h);
	return h;
}

/* Moves packets from a ring of the twin's node in @h. */
static void pump_ring(struct host *h, u32 node, u32 dir, u32 vc)
{
	struct host *to = h->twin;
	const struct ang_port *port = ang_port(h->fab, ang_node(h->fab, node), dir);
	const struct ang_pkt *p;
	const void *data;

	while ((p = ang_remote_head(&h->v, node, dir, vc, &data))) {
		const char *flaw = ang_remote_flaw(&to->v, port->peer,
						   port->far, vc, p,
						   data ? p->len : 0);

		if (flaw)
			test_fail(__FILE__, __LINE__, "%s", flaw);
		if (!ang_remote_give(&to->v, port->peer, port->far, vc, p, data))
			break;
		ang_remote_pop(&h->v, node, dir, vc);
	}
}

/* Moves management packets as pump_ring() does; without room they are dropped. */
static void pump_mgmt(struct host *h, u32 node, u32 dir)
{
	struct host *to = h->twin;
	const struct ang_port *port = ang_port(h->fab, ang_node(h->fab, node), dir);
	struct angara_mgmt p;

	while (ang_remote_mgmt_take(&h->v, node, dir, &p)) {
		const char *flaw = ang_remote_mgmt_flaw(&to->v, port->peer,
							port->far, &p);

		if (flaw)
			test_fail(__FILE__, __LINE__, "%s", flaw);
		ang_remote_mgmt_give(&to->v, port->peer, port->far, &p);
	}
}

static void pump_from(struct host *h)
{
	u32 i, nr;

	for (i = 0; i < h->v.topo.routers; i++) {
		if (host_at(h, i) == h)
			continue;
		ang_remote_look(&h->v, i);
		for (nr = 0; (nr = ang_remote_next(&h->v, i, nr)) != ANG_NONE; nr++)
			pump_ring(h, i, nr / ANGARA_VC_NUM, nr % ANGARA_VC_NUM);
		for (nr = 0; nr < h->fab->nports; nr++)
			pump_mgmt(h, i, nr);
	}
}

int twins_pump(struct host *h)
{
	/*
	 * Packets that wait for room or for buffers also need a notification
	 * before they can move.
	 */
	if (!h->notified && !h->twin->notified)
		return 0;
	h->notified = h->twin->notified = 0;
	pump_from(h);
	pump_from(h->twin);
	return 1;
}

void host_abandon_twin(struct host *h)
{
	h->twin->dead = 1;
}

static int answered(const struct host_node *n)
{
	const struct angara_adm_cpl *c;

	/* A node that is not started has no queues. */
	if (n->asq_pi == n->acq_ci)
		return 1;
	c = &n->acq[n->acq_ci % ADM_ENTRIES];
	return (__atomic_load_n(&c->phase, __ATOMIC_ACQUIRE) & 1) ==
	       !(n->acq_ci & ADM_ENTRIES);
}

void host_run(struct host *h)
{
	int tries = 0;
	u32 i;

	do {
		run(h);
		if (h->twin && !h->twin->dead)
			run(h->twin);
	} while (h->twin && h->pump(h));
	for (i = 0; i < h->nodes; i++)
		while (!answered(&h->node[i]) && rest(h, &tries))
			;
}

void host_steps_reset(struct host *h)
{
	h->v.steps = 0;
}

void host_freeze(struct host *h, u32 node, int on)
{
	struct ang_node *n = ang_node(h->fab, node);

	if (on) {
		ang_fetch_or(&n->sched, ANG_SCHED_OWNED);
	} else {
		ang_fetch_and(&n->sched, ~(ANG_SCHED_OWNED | ANG_SCHED_WORK));
		ang_wake(&h->v, n, 0);
	}
}

void host_pop(struct host *h, struct ang_node *n, u32 dir, u32 vc)
{
	ang_ring_pop(&h->v, n, ang_ring(h->fab, n, dir, vc), dir);
}

int host_drain(struct host *h, u32 node)
{
	struct angara_mgmt mgmt;
	const void *data;
	u32 dir, vc;
	int any = 0;

	ang_remote_look(&h->v, node);
	for (dir = 0; dir < h->fab->nports; dir++) {
		while (ang_remote_mgmt_take(&h->v, node, dir, &mgmt))
			any = 1;
		for (vc = 0; vc < ANGARA_VC_NUM; vc++)
			while (ang_remote_head(&h->v, node, dir, vc, &data)) {
				ang_remote_pop(&h->v, node, dir, vc);
				any = 1;
			}
	}
	return any;
}

static void release(struct host *h)
{
	u32 i, s;

	for (i = 0; i < h->nodes; i++) {
		struct host_node *n = &h->node[i];

		/* Pages of one block are in consecutive segments. */
		for (s = 0; s < n->nsegs; s++)
			if (s + 1 == n->nsegs || n->seg[s].len != 4096 ||
			    n->seg[s + 1].len != 4096 ||
			    n->seg[s + 1].mem != n->seg[s].mem - 4096)
				free(n->seg[s].mem);
	}
	free(h->node);
	munmap(h->fab, h->fab_size);
	free(h);
}

void host_free(struct host *h)
{
	host_check_idle(h);
	if (h->ending)
		h->ending(h);
	if (h->twin)
		release(h->twin);
	release(h);
}
