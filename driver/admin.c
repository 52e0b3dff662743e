// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin queue and asynchronous events of an adapter.
 *
 * One command is under way at a time.  Its submitter waits for the phase bit
 * of the next completion; the interrupt only wakes it.  A device that does not
 * answer, or answers nonsense, is reset and not used until it is restarted.
 *
 * Queues, and the buffer that counters are read into, share a page.
 */
#include <linux/angara_nl.h>
#include <linux/jiffies.h>

#include "ang_dev.h"
#include "trace.h"

#define ADM_BUF_SIZE	512

#define ASQ_OFFSET	0
#define ACQ_OFFSET	(ASQ_OFFSET + ANG_ADM_ENTRIES * sizeof(struct angara_adm_cmd))
#define AEQ_OFFSET	(ACQ_OFFSET + ANG_ADM_ENTRIES * sizeof(struct angara_adm_cpl))
#define BUF_OFFSET	(AEQ_OFFSET + ANG_AEQ_ENTRIES * sizeof(struct angara_hw_event))

static_assert(BUF_OFFSET + ADM_BUF_SIZE <= PAGE_SIZE);
static_assert(sizeof(struct angara_hw_node_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_hw_link_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_hw_tree_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_hw_ctx_counters) <= ADM_BUF_SIZE);

static void write64(struct ang_dev *adev, u32 off, u64 val)
{
	ang_write32(adev, off, lower_32_bits(val));
	ang_write32(adev, off + 4, upper_32_bits(val));
}

/**
 * ang_adm_init() - make the admin queues and tell the device of them
 * @adev: device, not enabled
 *
 * Return: 0 or -ENOMEM.
 * Context: process; registration_lock held for writing.
 */
int ang_adm_init(struct ang_dev *adev)
{
	lockdep_assert_held_write(&adev->registration_lock);

	adev->adm_mem = adev->ops->dma_alloc(adev, PAGE_SIZE, &adev->adm_addr);
	if (!adev->adm_mem)
		return -ENOMEM;
	adev->asq = adev->adm_mem + ASQ_OFFSET;
	adev->acq = adev->adm_mem + ACQ_OFFSET;
	adev->aeq = adev->adm_mem + AEQ_OFFSET;
	adev->adm_buf = adev->adm_mem + BUF_OFFSET;
	adev->adm_pi = 0;
	adev->aeq_ci = 0;

	write64(adev, ANGARA_REG_ASQ_LO, adev->adm_addr + ASQ_OFFSET);
	write64(adev, ANGARA_REG_ACQ_LO, adev->adm_addr + ACQ_OFFSET);
	write64(adev, ANGARA_REG_AEQ_LO, adev->adm_addr + AEQ_OFFSET);
	ang_write32(adev, ANGARA_REG_ADM_ENTRIES, ANG_ADM_ENTRIES);
	ang_write32(adev, ANGARA_REG_AEQ_ENTRIES, ANG_AEQ_ENTRIES);
	return 0;
}

/**
 * ang_adm_free() - give the admin queues back
 * @adev: device, disabled or stuck
 *
 * Context: process; registration_lock held for writing.
 */
void ang_adm_free(struct ang_dev *adev)
{
	lockdep_assert_held_write(&adev->registration_lock);

	if (!adev->stuck)
		adev->ops->dma_free(adev, PAGE_SIZE, adev->adm_mem,
				    adev->adm_addr);
	adev->adm_mem = NULL;
}

/* The phase that an entry has once the device has written it. */
static bool phase_is(u8 phase, u32 index, u32 entries)
{
	return (phase & 1) == !((index / entries) & 1);
}

static bool adm_answered(struct ang_dev *adev, u32 index)
{
	const struct angara_adm_cpl *cpl = &adev->acq[index % ANG_ADM_ENTRIES];

	return phase_is(READ_ONCE(cpl->phase), index, ANG_ADM_ENTRIES);
}

static int adm_submit(struct ang_dev *adev, struct angara_adm_cmd *cmd,
		      struct angara_adm_cpl *cpl)
{
	u32 index = adev->adm_pi;

	lockdep_assert_held(&adev->adm_lock);

	if (READ_ONCE(adev->broken))
		return -EIO;
	cmd->tag = cpu_to_le16((u16)index);
	adev->asq[index % ANG_ADM_ENTRIES] = *cmd;
	adev->adm_pi = index + 1;
	ang_write32(adev, ANGARA_REG_ASQ_DB, adev->adm_pi);

	wait_event_timeout(adev->adm_wait, adm_answered(adev, index) ||
			   READ_ONCE(adev->broken), adev->timeout);
	if (!adm_answered(adev, index)) {
		ang_dev_break(adev, "a command was not answered");
		return -EIO;
	}
	dma_rmb(); /* the entry after its phase bit */
	*cpl = adev->acq[index % ANG_ADM_ENTRIES];
	if (cpl->tag != cmd->tag) {
		ang_dev_break(adev, "an answer to no command");
		return -EIO;
	}
	return 0;
}

/**
 * ang_adm_exec() - run an admin command
 * @adev: device, entered
 * @cmd: command; its tag is filled in
 * @cpl: out: the answer, if there was one
 *
 * Return: 0; -EIO for no answer; else what the status says, see
 * ang_adm_errno().
 * Context: process; may sleep.
 */
int ang_adm_exec(struct ang_dev *adev, struct angara_adm_cmd *cmd,
		 struct angara_adm_cpl *cpl)
{
	int ret;

	lockdep_assert_held(&adev->registration_lock);

	mutex_lock(&adev->adm_lock);
	ret = adm_submit(adev, cmd, cpl);
	mutex_unlock(&adev->adm_lock);
	return ret ? ret : ang_adm_errno(cpl->status);
}

/**
 * ang_adm_simple() - run an admin command that has no argument
 * @adev: device, entered
 * @opcode: ANGARA_ADM_*
 * @ctx: context or 0
 * @tree: tree or 0
 *
 * Return: as ang_adm_exec().
 * Context: process; may sleep.
 */
int ang_adm_simple(struct ang_dev *adev, u8 opcode, u16 ctx, u8 tree)
{
	struct angara_adm_cmd cmd = {
		.opcode = opcode,
		.ctx = cpu_to_le16(ctx),
		.tree = tree,
	};
	struct angara_adm_cpl cpl;

	return ang_adm_exec(adev, &cmd, &cpl);
}

/**
 * ang_adm_counters() - read counters
 * @adev: device, entered
 * @kind: ANGARA_CNT_*
 * @index: which link, tree or context
 * @buf: out: the structure that belongs to @kind
 * @len: its size
 *
 * Return: as ang_adm_exec(); -ENOENT there is no such thing.
 * Context: process; may sleep.
 */
int ang_adm_counters(struct ang_dev *adev, u32 kind, u32 index, void *buf,
		     size_t len)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_COUNTERS,
		.counters = {
			.kind = cpu_to_le32(kind),
			.index = cpu_to_le32(index),
			.addr = cpu_to_le64(adev->adm_addr + BUF_OFFSET),
			.length = cpu_to_le32(len),
		},
	};
	struct angara_adm_cpl cpl;
	int ret;

	lockdep_assert_held(&adev->registration_lock);
	if (len > ADM_BUF_SIZE)
		return -EINVAL;

	mutex_lock(&adev->adm_lock);
	ret = adm_submit(adev, &cmd, &cpl);
	if (!ret)
		ret = ang_adm_errno(cpl.status);
	if (!ret)
		memcpy(buf, adev->adm_buf, len);
	mutex_unlock(&adev->adm_lock);
	return ret;
}

static void event_handle(struct ang_dev *adev, const struct angara_hw_event *ev)
{
	u32 index = le32_to_cpu(ev->index);
	u32 value = le32_to_cpu(ev->value);

	if (ev->type != ANGARA_AEV_RX_ERROR && ev->type != ANGARA_AEV_LINK_DOWN)
		trace_angara_tree(adev, ev->type, index, value);
	if (ev->lost)
		ang_nl_event(adev, ANGARA_NLE_LOST, 0, ev->lost);
	ang_nl_event(adev, ev->type, index, value);
}

static void aeq_take(struct ang_dev *adev)
{
	u32 start = adev->aeq_ci;

	for (;;) {
		struct angara_hw_event *slot, ev;

		slot = &adev->aeq[adev->aeq_ci % ANG_AEQ_ENTRIES];
		if (!phase_is(READ_ONCE(slot->phase), adev->aeq_ci,
			      ANG_AEQ_ENTRIES))
			break;
		dma_rmb(); /* the entry after its phase bit */
		ev = *slot;
		adev->aeq_ci++;
		event_handle(adev, &ev);
		/* The device goes on while there is room: tell it in time. */
		if (adev->aeq_ci - start == ANG_AEQ_ENTRIES / 2) {
			start = adev->aeq_ci;
			ang_write32(adev, ANGARA_REG_AEQ_CI, start);
			cond_resched();
		}
	}
	if (adev->aeq_ci != start)
		ang_write32(adev, ANGARA_REG_AEQ_CI, adev->aeq_ci);
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
 * ang_adm_setup() - prepare a new device's admin part
 * @adev: device
 */
void ang_adm_setup(struct ang_dev *adev)
{
	mutex_init(&adev->adm_lock);
	init_waitqueue_head(&adev->adm_wait);
	INIT_WORK(&adev->aeq_work, aeq_work);
}

/**
 * ang_adm_irq() - interrupt of the admin queues
 * @adev: device
 *
 * Context: any.
 */
void ang_adm_irq(struct ang_dev *adev)
{
	wake_up(&adev->adm_wait);
	schedule_work(&adev->aeq_work);
}
