// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and DMA memory of emulated adapters.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>

#include "loop.h"

#define ROUNDS	64U	/* most slices that a caller executes */

static u32 loop_read32(struct ang_dev *adev, u32 off)
{
	struct loop_node *node = adev->priv;
	struct ang_view view;

	loop_view_init(node->fabric, &view);
	return ang_reg_read(&view, node->id, off);
}

static void loop_write32(struct ang_dev *adev, u32 off, u32 val)
{
	struct loop_node *node = adev->priv;
	struct ang_view view;
	u32 round;

	loop_view_init(node->fabric, &view);
	/*
	 * Do not preempt this thread: no other thread can advance the nodes on
	 * its view.  A caller whose budget is used up hands the nodes over to a
	 * worker.
	 */
	preempt_disable();
	ang_reg_ring(&view, node->id, off, val);
	for (round = 0; round < ROUNDS && ang_view_busy(&view); round++) {
		ang_run(&view, LOOP_SLICE);
		if (need_resched())
			break;
	}
	if (ang_view_busy(&view))
		loop_hand_over(node->fabric, &view);
	preempt_enable();
}

static void *loop_dma_alloc(struct ang_dev *adev, size_t size, u64 *addr)
{
	void *mem = alloc_pages_exact(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
				      __GFP_NOWARN);

	if (mem)
		*addr = virt_to_phys(mem);
	return mem;
}

static void loop_dma_free(struct ang_dev *adev, size_t size, void *mem, u64 addr)
{
	free_pages_exact(mem, size);
}

static int loop_dma_map(struct ang_dev *adev, struct sg_table *sgt,
			enum dma_data_direction dir)
{
	struct scatterlist *sg;
	u32 i;

	for_each_sgtable_sg(sgt, sg, i) {
		sg_dma_address(sg) = sg_phys(sg);
		sg_dma_len(sg) = sg->length;
	}
	sgt->nents = sgt->orig_nents;
	return 0;
}

static void loop_dma_unmap(struct ang_dev *adev, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
}

static void loop_bus_workers(struct ang_dev *adev, struct seq_file *m)
{
	struct loop_node *node = adev->priv;

	loop_workers_show(node->fabric, m);
}

const struct ang_bus_ops loop_bus_ops = {
	.name = "loop",
	.owner = THIS_MODULE,
	.read32 = loop_read32,
	.write32 = loop_write32,
	.dma_alloc = loop_dma_alloc,
	.dma_free = loop_dma_free,
	.dma_map = loop_dma_map,
	.dma_unmap = loop_dma_unmap,
	.workers_show = loop_bus_workers,
};
