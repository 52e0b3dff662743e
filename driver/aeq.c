// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events of an adapter.  A work item takes them from their queue,
 * updates the records of rows, and reports the events over netlink.
 */
#include <linux/angara_nl.h>

#include "ang_dev.h"
#include "trace.h"

static void event_handle(struct ang_dev *adev, const struct angara_hw_event *ev)
{
	u32 index = le32_to_cpu(ev->index);
	u32 value = le32_to_cpu(ev->value);

	if (ev->type != ANGARA_AEV_RX_ERROR && ev->type != ANGARA_AEV_LINK_DOWN &&
	    ev->type != ANGARA_AEV_LINK_UP)
		trace_angara_tree(adev, ev->type, index, value);
	if (ev->type == ANGARA_AEV_TREE_SET || ev->type == ANGARA_AEV_TREE_CLEAR)
		ang_dev_tree_event(adev, index, ev->type == ANGARA_AEV_TREE_SET);
	ang_nl_event(adev, ev->type, index, value);
}

static bool aeq_is_written(struct ang_dev *adev, u32 index)
{
	return ang_phase_is(READ_ONCE(adev->aeq[index % ANG_AEQ_ENTRIES].phase),
			    index, ANG_AEQ_ENTRIES);
}

/*
 * Frees the entries of the events taken since index @start.  The device drops
 * events while the queue is full.  It reports the number of dropped events in the
 * next event, which may never come.  Return: true if the queue was full, so events
 * may be lost.
 */
static bool aeq_free(struct ang_dev *adev, u32 start)
{
	ang_write32(adev, ANGARA_REG_AEQ_CI, adev->aeq_ci);
	/*
	 * Look at the last entry only when the write has reached the device: until
	 * then the device drops events if it has filled that entry.
	 */
	ang_read32(adev, ANGARA_REG_STATUS);
	mb(); /* in the loopback, another processor acts as the device */
	return aeq_is_written(adev, start + ANG_AEQ_ENTRIES - 1);
}

/*
 * Takes events.  A device may add events as fast as this function takes them, so
 * it takes at most as many as the queue has entries, and then schedules the work
 * item again.  In between, a thread that waits to stop the device gets its turn.
 * Losses are handled once, after the queue has room again.
 */
static void aeq_take(struct ang_dev *adev)
{
	u32 first = adev->aeq_ci, start = first, lost = 0;
	bool full = false;

	for (;;) {
		struct angara_hw_event ev;

		if (adev->aeq_ci - first == ANG_AEQ_ENTRIES) {
			schedule_work(&adev->aeq_work);
			break;
		}
		if (!aeq_is_written(adev, adev->aeq_ci))
			break;
		dma_rmb(); /* read the entry after its phase bit */
		ev = adev->aeq[adev->aeq_ci % ANG_AEQ_ENTRIES];
		adev->aeq_ci++;
		lost += ev.lost;
		event_handle(adev, &ev);
		/*
		 * The device drops events while the queue is full: free half of
		 * the queue at a time.
		 */
		if (adev->aeq_ci - start == ANG_AEQ_ENTRIES / 2) {
			full |= aeq_free(adev, start);
			start = adev->aeq_ci;
			cond_resched();
		}
	}
	if (adev->aeq_ci != start)
		full |= aeq_free(adev, start);
	if (lost || full) {
		ang_dev_trees_lost(adev);
		ang_nl_event(adev, ANGARA_NLE_LOST, 0, lost);
	}
}

static void aeq_work(struct work_struct *work)
{
	struct ang_dev *adev = container_of(work, struct ang_dev, aeq_work);

	if (ang_dev_enter(adev))
		return;
	aeq_take(adev);
	ang_dev_exit(adev);
}

/**
 * ang_aeq_setup() - initialize the work item that takes events
 * @adev: device
 */
void ang_aeq_setup(struct ang_dev *adev)
{
	INIT_WORK(&adev->aeq_work, aeq_work);
}
