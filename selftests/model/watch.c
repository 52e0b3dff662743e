// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* See watch.h. */
#include "test.h"
#include "watch.h"

static struct ang_ops plain;	/* the host's functions, which watched_read() and others call */
static u32 slow, other;
static u32 accesses;

static void watch(void *host, u32 node)
{
	const struct host *h = host;

	if (node != slow)
		return;
	accesses++;
	EXPECT(!(READ_ONCE(ang_node(h->fab, other)->sched) & ANG_SCHED_OWNED));
}

static int watched_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	watch(host, node);
	return plain.dma_read(host, node, addr, buf, len);
}

static int watched_write(void *host, u32 node, u64 addr, const void *buf, u32 len)
{
	watch(host, node);
	return plain.dma_write(host, node, addr, buf, len);
}

static int watched_store64(void *host, u32 node, u64 addr, u64 val)
{
	watch(host, node);
	return plain.dma_store64(host, node, addr, val);
}

void watch_begin(struct host *h, u32 slow_node, u32 other_node, bool stores)
{
	slow = slow_node;
	other = other_node;
	accesses = 0;
	plain = h->ops;
	h->ops.dma_read = watched_read;
	h->ops.dma_write = watched_write;
	if (stores)
		h->ops.dma_store64 = watched_store64;
}

u32 watch_end(struct host *h)
{
	h->ops = plain;
	return accesses;
}
