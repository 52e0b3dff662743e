// SPDX-License-Identifier: GPL-2.0-only
/*
 * Views of a fabric: the functions by which the model reads and writes memory,
 * raises interrupts and traces packets.
 *
 * A DMA address is a physical address.  The core gives the model only addresses
 * of pages that the core owns or has pinned; users see no such address.
 */
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/pfn.h>

#include "loop.h"
#include "../trace.h"

/*
 * The model raises interrupts while preemption is disabled, and their handlers
 * take spinlocks, which sleep with PREEMPT_RT.
 */
#ifdef CONFIG_PREEMPT_RT
#error "angara_loop needs a kernel without PREEMPT_RT"
#endif

/*
 * Return: kernel address of DMA address @addr, undo with kunmap_local(); or
 * NULL.
 */
static void *dma_page(u64 addr)
{
	unsigned long pfn = PHYS_PFN(addr);

	if (!pfn_valid(pfn))
		return NULL;
	return kmap_local_page(pfn_to_page(pfn)) + offset_in_page(addr);
}

/*
 * Copies data; reads an aligned word of four bytes with one load, since a
 * process may write the word concurrently.
 */
static void copy_in(void *to, const void *from, u32 len)
{
	if (len == 4 && IS_ALIGNED((uintptr_t)from, 4)) {
		u32 word = READ_ONCE(*(const u32 *)from);

		memcpy(to, &word, 4);
	} else {
		memcpy(to, from, len);
	}
}

static int loop_dma_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	while (len) {
		u32 part = min_t(u32, len, PAGE_SIZE - offset_in_page(addr));
		void *mem = dma_page(addr);

		if (!mem)
			return -EFAULT;
		copy_in(buf, mem, part);
		kunmap_local(mem);
		addr += part;
		buf += part;
		len -= part;
	}
	return 0;
}

static int loop_dma_write(void *host, u32 node, u64 addr, const void *buf,
			  u32 len)
{
	while (len) {
		u32 part = min_t(u32, len, PAGE_SIZE - offset_in_page(addr));
		void *mem = dma_page(addr);

		if (!mem)
			return -EFAULT;
		memcpy(mem, buf, part);
		kunmap_local(mem);
		addr += part;
		buf += part;
		len -= part;
	}
	return 0;
}

static int loop_dma_store64(void *host, u32 node, u64 addr, u64 val)
{
	__le64 *mem;

	if (!IS_ALIGNED(addr, sizeof(*mem)))
		return -EINVAL;
	mem = dma_page(addr);
	if (!mem)
		return -EFAULT;
	/*
	 * Pairs with the barrier that a process executes after reading the
	 * word.
	 */
	smp_store_release(mem, cpu_to_le64(val));
	kunmap_local(mem);
	return 0;
}

static void loop_interrupt(void *host, u32 node, u32 vector)
{
	struct loop_fabric *fabric = host;

	ang_irq(fabric->node[node].adev, vector);
}

static void loop_trace(void *host, const struct ang_trace *rec)
{
	struct loop_fabric *fabric = host;

	trace_angara_packet(fabric->cfg.fabric_id, rec);
}

static const struct ang_ops model_ops = {
	.dma_read = loop_dma_read,
	.dma_write = loop_dma_write,
	.dma_store64 = loop_dma_store64,
	.interrupt = loop_interrupt,
};

static const struct ang_ops model_ops_traced = {
	.dma_read = loop_dma_read,
	.dma_write = loop_dma_write,
	.dma_store64 = loop_dma_store64,
	.interrupt = loop_interrupt,
	.trace = loop_trace,
};

static bool packets;
module_param(packets, bool, 0644);
MODULE_PARM_DESC(packets, "execute all operations packet by packet, without shortcuts (default: N)");

/**
 * loop_view_refresh() - apply changes of module parameters and tracepoints
 * @view: view, which holds no node
 */
void loop_view_refresh(struct ang_view *view)
{
	view->ops = trace_angara_packet_enabled() ? &model_ops_traced : &model_ops;
	view->packets = READ_ONCE(packets);
}

/** loop_view_init() - make a view of a fabric */
void loop_view_init(struct loop_fabric *fabric, struct ang_view *view)
{
	ang_view_init(view, fabric->mem, &model_ops, fabric);
	loop_view_refresh(view);
}
