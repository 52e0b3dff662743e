// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A fabric, the memory of its hosts, and resetting both.
 *
 * Host memory is live or not, in units of 64 bytes: DMA to memory that is not
 * live, such as that of a destroyed context or a fenced region, fails the test.
 */
#include <string.h>

#include "explore.h"
#include "invariant.h"

#define ADM_COUNT	16U
#define BASE		0x10000ULL
#define AREAS		0x10000000ULL	/* receive buffers, after other memory */
#define AREA		(1U << AREA_LOG2)
#define LINE		64U
#define MOST_STEPS	10000	/* limit of steps after the last actor has ended */

/* Memory of one node's host. */
struct node_memory {
	struct angara_adm_cmd asq[ADM_COUNT];
	struct angara_adm_cpl acq[ADM_COUNT];
	struct angara_hw_event aeq[ADM_COUNT];
	struct dom_memory dom;
	struct ctx_memory ctx[CTXS][2];
	u8 live[(sizeof(struct ctx_memory) * CTXS * 2) / LINE];
};

static struct node_memory memory[NODES] __attribute__((aligned(4096)));
static u8 areas[NODES][CTXS][2][AREA] __attribute__((aligned(4096)));
static u8 areas_live[NODES][CTXS][2];
struct shared shared;
struct ang_fabric *fabric;
const struct family *family;
u32 nworkers;

/* State after the set-up of the scenario. */
static struct node_memory old_memory[NODES];
static u8 old_areas_live[NODES][CTXS][2];
static struct shared old_shared;
static char *old_fabric;

struct ctx_memory *ctx_memory(u32 node, u32 id, u32 life)
{
	return &memory[node].ctx[id][life / 2 % 2];
}

struct dom_memory *dom_memory(u32 node)
{
	return &memory[node].dom;
}

struct context *context_of(u32 cid)
{
	return &shared.actor[cid / CTXS].ctx[cid % CTXS];
}

u8 *area_memory(u32 node, u32 id, u32 life)
{
	return areas[node][id][life / 2 % 2];
}

static u32 node_of(const void *at)
{
	return (u32)(((const char *)at - (const char *)memory) /
		     (long)sizeof(*memory));
}

u64 memory_addr(u32 node, const void *at)
{
	if ((const u8 *)at >= areas[0][0][0] &&
	    (const u8 *)at < areas[0][0][0] + sizeof(areas))
		return AREAS + (u64)((const u8 *)at - areas[node][0][0]);
	return BASE + (u64)((const char *)at - (const char *)&memory[node]);
}

void memory_live(void *at, u32 len, bool live)
{
	struct node_memory *m = &memory[node_of(at)];
	u32 from = (u32)((char *)at - (char *)m->ctx);
	u32 i;

	for (i = from / LINE; i < (from + len + LINE - 1) / LINE; i++)
		__atomic_store_n(&m->live[i], live, __ATOMIC_RELAXED);
}

void area_live(u32 node, u32 id, u32 life, bool live)
{
	__atomic_store_n(&areas_live[node][id][life / 2 % 2], live,
			 __ATOMIC_RELAXED);
}

static u8 *area_target(u32 node, u64 at, u32 len)
{
	u32 which = (u32)(at / AREA);

	EXPECT(at < sizeof(areas[node]) && len <= AREA - at % AREA);
	EXPECT(__atomic_load_n(&areas_live[node][which / 2][which % 2],
			       __ATOMIC_RELAXED));
	return &areas[node][which / 2][which % 2][at % AREA];
}

/* Return: memory for a DMA of @len bytes at @addr. */
static void *target(u32 node, u64 addr, u32 len)
{
	struct node_memory *m = &memory[node];
	u64 at = addr - BASE;
	u64 ctx;

	EXPECT(len);
	if (addr >= AREAS)
		return area_target(node, addr - AREAS, len);
	EXPECT(addr >= BASE && at < sizeof(*m));
	if (at < offsetof(struct node_memory, ctx)) {
		EXPECT(len <= offsetof(struct node_memory, ctx) - at);
		return (char *)m + at;
	}
	ctx = at - offsetof(struct node_memory, ctx);
	EXPECT(ctx < sizeof(m->ctx) && len <= sizeof(m->ctx) - ctx);
	for (at = ctx / LINE; at <= (ctx + len - 1) / LINE; at++)
		if (!__atomic_load_n(&m->live[at], __ATOMIC_RELAXED))
			test_fail(__FILE__, __LINE__, "node %u: DMA to memory "
				  "that is no longer used: context %u, "
				  "life %u of 2, byte %u", node,
				  (u32)(ctx / sizeof(*m->ctx)),
				  (u32)(ctx / sizeof(**m->ctx) % 2),
				  (u32)(ctx % sizeof(**m->ctx)));
	return (char *)m->ctx + ctx;
}

/* Copies like the bus, which accesses words as a whole. */
static void copy(void *to, const void *from, u32 len)
{
	u64 *t = to;
	const u64 *f = from;

	if (len == 4) {
		*(u32 *)to = __atomic_load_n((const u32 *)from,
					     __ATOMIC_ACQUIRE);
		return;
	}
	if (((unsigned long)to | (unsigned long)from | len) % 8 || len > 64) {
		memcpy(to, from, len);
		return;
	}
	for (; len; len -= 8, t++, f++)
		__atomic_store_n(t, __atomic_load_n(f, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
}

static int dma_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	moment("dma read");
	copy(buf, target(node, addr, len), len);
	return 0;
}

static int dma_write(void *host, u32 node, u64 addr, const void *buf, u32 len)
{
	moment("dma write");
	copy(target(node, addr, len), buf, len);
	return 0;
}

static int dma_store64(void *host, u32 node, u64 addr, u64 val)
{
	EXPECT(addr % 8 == 0);
	ang_store_release((u64 *)target(node, addr, 8), cpu_to_le64(val));
	return 0;
}

static void interrupt(void *host, u32 node, u32 vector)
{
	EXPECT(node < family->nodes && vector <= CTXS);
	moment("interrupt");
}

static const struct ang_ops ops = {
	.dma_read = dma_read, .dma_write = dma_write,
	.dma_store64 = dma_store64, .interrupt = interrupt,
};

static void actor_new(u32 index)
{
	struct actor *a = &shared.actor[index];
	u32 i;

	a->h.cfg = fabric->cfg;
	a->h.fab = fabric;
	a->h.nodes = family->nodes;
	a->index = index;
	a->seed = index + 1;
	ang_view_init(&a->h.v, fabric, &ops, NULL);
	if (index >= NODES)
		return;
	for (i = 0; i < CTXS; i++) {
		a->ctx[i].cid = index * CTXS + i;
		a->ctx[i].t.h = &a->h;
		a->ctx[i].t.node = index;
		a->ctx[i].t.id = i;
		a->ctx[i].area.c = &a->ctx[i].t;
		a->ctx[i].area.units = AREA / ANGARA_MSG_UNIT;
	}
}

struct angara_adm_cmd *asq_entry(u32 node, u32 index)
{
	return &memory[node].asq[index % ADM_COUNT];
}

struct angara_adm_cpl *acq_entry(u32 node, u32 index)
{
	return &memory[node].acq[index % ADM_COUNT];
}

u32 acq_phase(u32 index)
{
	return !(index & ADM_COUNT);
}

void enable(struct actor *a)
{
	struct node_memory *m = &memory[a->index];
	struct ang_view *v = &a->h.v;
	u32 node = a->index;

	/* Queues are below 4 GiB: the upper halves of addresses stay 0. */
	ang_reg_write(v, node, ANGARA_REG_ASQ_LO, (u32)memory_addr(node, m->asq));
	ang_reg_write(v, node, ANGARA_REG_ACQ_LO, (u32)memory_addr(node, m->acq));
	ang_reg_write(v, node, ANGARA_REG_AEQ_LO, (u32)memory_addr(node, m->aeq));
	ang_reg_write(v, node, ANGARA_REG_ADM_ENTRIES, ADM_COUNT);
	ang_reg_write(v, node, ANGARA_REG_AEQ_ENTRIES, ADM_COUNT);
	ang_reg_write(v, node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
}

static bool enabled(struct actor *a)
{
	return ang_reg_read(&a->h.v, a->index, ANGARA_REG_STATUS);
}

static void fabric_new(const struct family *f)
{
	struct ang_cfg cfg = {
		.ctxs = (u16)f->ctxs, .ops = 4,
		.bufs = f->bufs ? f->bufs : 8,
		.depth = f->depth ? f->depth : 4, .train = 1, .trees = ANG_DEF_TREES,
		.fabric_id = 1,
	};
	struct ang_topo_why why;
	u64 size;

	ang_topo_init(&cfg.topo, 1, (const u16[]){ (u16)f->nodes });
	EXPECT_EQ(ang_cfg_check(&cfg), f->nodes);
	size = (ang_fabric_size(&cfg) + 63) & ~63ULL;
	free(fabric);
	free(old_fabric);
	fabric = aligned_alloc(64, size);
	old_fabric = aligned_alloc(64, size);
	EXPECT(fabric && old_fabric);
	memset(fabric, 0, size);
	EXPECT(ang_fabric_init(fabric, &cfg, &why));
}

void world_settle(void)
{
	struct ang_view *v = &shared.actor[0].h.v;
	u32 i;

	for (i = 0; i < NODES + WORKERS; i++) {
		ang_list_splice(fabric, &shared.runq, &shared.actor[i].h.v.runq);
		ang_timers_splice(fabric, &shared.timers,
				  &shared.actor[i].h.v.timers);
	}
	ang_list_splice(fabric, &v->runq, &shared.runq);
	ang_timers_splice(fabric, &v->timers, &shared.timers);
	for (i = 0; ang_view_busy(v) && i < MOST_STEPS; i++) {
		ang_run(v, 1);
		stepped();
	}
	EXPECT(!ang_view_busy(v));
	invariants(fabric, 0);
	invariants_idle(fabric);
}

void world_new(const struct family *f)
{
	u32 i, k;

	family = f;
	EXPECT(f->nodes <= NODES && f->ctxs <= CTXS);
	fabric_new(f);
	memset(memory, 0, sizeof(memory));
	memset(areas_live, 0, sizeof(areas_live));
	memset(&shared, 0, sizeof(shared));
	shared.runq.head = ANG_NONE;
	shared.timers.head = ANG_NONE;
	for (i = 0; i < NODES + WORKERS; i++)
		actor_new(i);
	for (i = 0; i < f->nodes; i++) {
		enable(&shared.actor[i]);
		actor_wait(&shared.actor[i], enabled, "its adapter");
		for (k = 0; k < f->ctxs; k++)
			context_create(&shared.actor[i], &shared.actor[i].ctx[k]);
	}
	if (f->set_up)
		f->set_up();
	world_settle();
	memcpy(old_fabric, fabric, ang_fabric_size(&fabric->cfg));
	memcpy(old_memory, memory, sizeof(memory));
	memcpy(old_areas_live, areas_live, sizeof(areas_live));
	old_shared = shared;
}

/* Payload buffers are not restored: they are written before they are read. */
static void fabric_restore(void)
{
	u32 i;

	memcpy(fabric, old_fabric, ANG_HEAD_SIZE);
	memcpy((char *)fabric + ang_node(fabric, 0)->pe,
	       (char *)old_fabric + ang_node(fabric, 0)->pe,
	       family->nodes * fabric->pe_size);
	for (i = 0; i < family->nodes; i++)
		memcpy(ang_node(fabric, i),
		       ang_node((struct ang_fabric *)old_fabric, i),
		       fabric->off_buf);
}

void world_restore(u64 seed)
{
	u64 s = seed * 0xD1342543DE82EF95ULL + 0x5851;
	u32 i;

	fabric_restore();
	for (i = 0; i < family->nodes; i++) {
		struct node_memory *m = &memory[i];
		struct node_memory *o = &old_memory[i];

		memcpy(m, o, offsetof(struct node_memory, ctx[family->ctxs]));
		memcpy(m->live, o->live, sizeof(m->live));
		shared.actor[i] = old_shared.actor[i];
	}
	for (i = 0; i < WORKERS; i++)
		shared.actor[NODES + i] = old_shared.actor[NODES + i];
	shared.runq = old_shared.runq;
	shared.timers = old_shared.timers;
	shared.plan = seed;
	memcpy(shared.family, old_shared.family, sizeof(shared.family));
	memcpy(areas_live, old_areas_live, sizeof(areas_live));
	/* Only the next unit of a receive buffer must be clear. */
	for (i = 0; i < family->nodes * CTXS && family->areas; i++)
		memset(areas[i / CTXS][i % CTXS][0], 0, ANGARA_MSG_UNIT);
	for (i = 0; i < NODES + WORKERS; i++) {
		rnd(&s);
		shared.actor[i].seed = s;
		/*
		 * By the seed, all views use packets, or all bypass links, or
		 * a bit of the seed chooses for each actor's view.
		 */
		shared.actor[i].h.v.packets = seed % 4 == 3 ? s >> 40 & 1 : seed % 4 == 2;
		/*
		 * In half of the schedules, several threads may enter a node
		 * at the same time, see ang_lane.c.
		 */
		shared.actor[i].h.v.calm = seed >> 2 & 1;
	}
}
