// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fabric and host memory; see host.h.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

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

/* Where DMA to @len bytes at @addr ends up; NULL if it may not. */
static char *target(struct host *h, u32 node, u64 addr, u64 len, int write)
{
	struct segment *s = find(&h->node[node], addr);

	if (!s || len > s->len - (addr - s->addr) || (write && s->readonly)) {
		__atomic_fetch_add(&h->faults, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	return s->mem + (addr - s->addr);
}

/* A word that the process may write at any time: angara_ctl. */
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

	EXPECT(rec->node < h->nodes && rec->event < ANG_TR_NUM);
	if (h->trace)
		fprintf(h->trace, "%llu node %u event %u type %u dir %d vc %u "
			"tree %u status %u npkts %u len %u seq %u src %u\n",
			(unsigned long long)rec->cycle, rec->node, rec->event,
			rec->type, (s8)rec->dir, rec->vc, rec->tree, rec->status,
			rec->npkts, rec->len, rec->seq, rec->src);
}

void *host_alloc(struct host *h, u32 node, u64 len, u64 *addr)
{
	struct host_node *n = &h->node[node];
	struct segment *s = &n->seg[n->nsegs++];

	EXPECT(n->nsegs <= SEGMENTS);
	s->addr = n->next;
	s->len = len;
	s->mem = aligned_alloc(4096, (len + 4095) & ~4095ULL);
	EXPECT(s->mem);
	memset(s->mem, 0, len);
	/* A page or more that belongs to nobody. */
	n->next += (len + 8191) & ~4095ULL;
	*addr = s->addr;
	return s->mem;
}

void *host_alloc_pages(struct host *h, u32 node, u64 len, __le64 *pages)
{
	struct host_node *n = &h->node[node];
	u64 npages = (len + 4095) / 4096;
	char *mem = aligned_alloc(4096, npages * 4096);
	u64 i;

	EXPECT(mem && n->nsegs + npages <= SEGMENTS);
	memset(mem, 0, npages * 4096);
	/* Every other page of the address space, the last one first. */
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
	ang_reg_write(&h->v, node, off, val);
}

static void enable(struct host *h, u32 node)
{
	struct host_node *n = &h->node[node];
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

struct host *host_new(const char *dims, const struct ang_cfg *cfg)
{
	struct host *h = calloc(1, sizeof(*h));
	struct angara_topo topo;
	u64 size;
	u32 i;

	h->cfg = *cfg;
	EXPECT(!angara_topo_parse(dims, &topo));
	h->cfg.ndims = topo.ndims;
	memcpy(h->cfg.dims, topo.dims, sizeof(topo.dims));
	h->nodes = ang_cfg_check(&h->cfg);
	EXPECT(h->nodes);
	size = ang_fabric_size(&h->cfg);
	h->fab = aligned_alloc(64, (size + 63) & ~63ULL);
	memset(h->fab, 0, size);
	ang_fabric_init(h->fab, &h->cfg);
	h->node = calloc(h->nodes, sizeof(*h->node));
	h->ops = (struct ang_ops){
		.dma_read = op_read, .dma_write = op_write,
		.dma_store64 = op_store64, .interrupt = op_interrupt,
		.trace = op_trace,
	};
	ang_view_init(&h->v, h->fab, &h->ops, h);
	for (i = 0; i < h->nodes; i++)
		enable(h, i);
	host_run(h);
	for (i = 0; i < h->nodes; i++)
		EXPECT_EQ(ang_reg_read(&h->v, i, ANGARA_REG_STATUS),
			  ANGARA_STATUS_READY);
	return h;
}

void host_run(struct host *h)
{
	u32 rounds = 0;

	while (ang_view_busy(&h->v)) {
		EXPECT(rounds++ < 2000);
		ang_run(&h->v, 10000);
	}
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

void host_free(struct host *h)
{
	u32 i, s;

	host_check_idle(h);
	for (i = 0; i < h->nodes; i++) {
		struct host_node *n = &h->node[i];

		/* Pages of one block are in segments one after another. */
		for (s = 0; s < n->nsegs; s++)
			if (s + 1 == n->nsegs || n->seg[s].len != 4096 ||
			    n->seg[s + 1].len != 4096 ||
			    n->seg[s + 1].mem != n->seg[s].mem - 4096)
				free(n->seg[s].mem);
	}
	free(h->node);
	free(h->fab);
	free(h);
}
