// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host of the model's tests, with the model in the server.  Registers are
 * accessed over sockets.  Host memory is a memfd for each node, shared at DMA
 * address 0.
 */
#include <sys/mman.h>
#include <sched.h>
#include <unistd.h>

#include "client.h"

#define NODES	4	/* nodes of the torus that is served */

/* Configuration of the server; these tests use no other member. */
const struct ang_cfg cfg_default = { .ctxs = 16 };

static struct cl *clients[NODES];

struct cl *client_of(u32 node)
{
	return clients[node];
}

/* The server has nodes only, no switches. */
u32 host_keeper(const struct host *h, u32 router)
{
	(void)h;
	return router;
}

void host_reg(struct host *h, u32 node, u32 off, u32 val)
{
	(void)h;
	cl_post(clients[node], off, val);
}

void *host_alloc(struct host *h, u32 node, u64 len, u64 *addr)
{
	struct host_node *n = &h->node[node];

	*addr = n->next;
	/* Leave an unmapped gap of a page or more. */
	n->next += (len + 8191) & ~4095ULL;
	EXPECT(n->next <= MEMORY);
	memset(n->seg[0].mem + *addr, 0, len);
	return n->seg[0].mem + *addr;
}

void *host_alloc_pages(struct host *h, u32 node, u64 len, __le64 *pages)
{
	u64 addr, i;
	void *mem = host_alloc(h, node, len, &addr);

	for (i = 0; i < (len + 4095) / 4096; i++)
		pages[i] = cpu_to_le64(addr + i * 4096);
	return mem;
}

/* A client cannot see when a fabric is idle: wait until the admin commands are answered. */
void host_run(struct host *h)
{
	u32 i;

	for (i = 0; i < h->nodes; i++) {
		struct host_node *n = &h->node[i];
		struct angara_adm_cpl *c = &n->acq[n->acq_ci % ADM_ENTRIES];

		if (!clients[i] || n->asq_pi == n->acq_ci)
			continue;
		while ((__atomic_load_n(&c->phase, __ATOMIC_ACQUIRE) & 1) !=
		       !(n->acq_ci & ADM_ENTRIES))
			sched_yield();
	}
}

void host_memory(struct host *h, u32 node)
{
	struct host_node *n = &h->node[node];
	int fd = memfd(MEMORY, true);

	memset(n, 0, sizeof(*n));
	n->next = 0x10000;
	n->seg[0].mem = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
	EXPECT(n->seg[0].mem != MAP_FAILED);
	EXPECT_EQ(cl_dma_map(clients[node], 0, MEMORY, 0, 3, fd), 0);
	close(fd);
}

static void reg64(struct host *h, u32 node, u32 off, u64 val)
{
	host_reg(h, node, off, (u32)val);
	host_reg(h, node, off + 4, (u32)(val >> 32));
}

void host_enable(struct host *h, u32 node)
{
	struct host_node *n = &h->node[node];
	u64 asq, acq, aeq;

	n->asq = host_alloc(h, node, ADM_ENTRIES * sizeof(*n->asq), &asq);
	n->acq = host_alloc(h, node, ADM_ENTRIES * sizeof(*n->acq), &acq);
	n->aeq = host_alloc(h, node, AEQ_ENTRIES * sizeof(*n->aeq), &aeq);
	n->asq_pi = 0;
	n->acq_ci = 0;
	n->aeq_ci = 0;
	cl_put(clients[node], CONFIG, PCI_COMMAND, 2,
	       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	reg64(h, node, ANGARA_REG_ASQ_LO, asq);
	reg64(h, node, ANGARA_REG_ACQ_LO, acq);
	reg64(h, node, ANGARA_REG_AEQ_LO, aeq);
	host_reg(h, node, ANGARA_REG_ADM_ENTRIES, ADM_ENTRIES);
	host_reg(h, node, ANGARA_REG_AEQ_ENTRIES, AEQ_ENTRIES);
	host_reg(h, node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	while (cl_get(clients[node], 0, ANGARA_REG_STATUS, 4) !=
	       ANGARA_STATUS_READY)
		sched_yield();
}

void host_leave(struct host *h, u32 node)
{
	munmap(h->node[node].seg[0].mem, MEMORY);
	cl_close(clients[node]);
	clients[node] = NULL;
}

void host_rejoin(struct host *h, u32 node)
{
	clients[node] = cl_attach(node);
	host_memory(h, node);
	host_enable(h, node);
}

struct host *host_new(const char *dims, const struct ang_cfg *cfg)
{
	struct host *h = calloc(1, sizeof(*h));
	u32 i;

	(void)dims;
	h->cfg = *cfg;
	h->nodes = NODES;
	h->node = calloc(NODES, sizeof(*h->node));
	for (i = 0; i < NODES; i++)
		host_rejoin(h, i);
	return h;
}

void host_free(struct host *h)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		if (clients[i])
			host_leave(h, i);
	free(h->node);
	free(h);
}

u32 wait_cq(struct tctx *c, struct angara_cqe *cqe)
{
	struct angara_cqe one;

	while (!poll_cq(c, &one))
		sched_yield();
	if (cqe)
		*cqe = one;
	return le16_to_cpu(one.status);
}
