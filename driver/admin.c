// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin queue of an adapter.  The queue of asynchronous events shares its memory;
 * aeq.c takes the events.
 *
 * Up to ANG_ADM_ENTRIES commands are in flight, each in its own slot: slot,
 * entry of ASQ and buffer for counters have the same number.  A command keeps
 * its slot and buffer until the device answers or is reset, even if the caller
 * is killed.
 *
 * A device that gives no answer, or an invalid answer, is reset and not used
 * until it is restarted.  If the device is stopped, commands end with -ESTALE;
 * if it is removed, with -ENODEV.
 *
 * Queues and buffers are one allocation.
 */
#include <linux/jiffies.h>

#include "ang_dev.h"

#define ADM_BUF_SIZE	256	/* bytes of each slot's buffer for counters */

#define ASQ_OFFSET	0
#define ACQ_OFFSET	(ASQ_OFFSET + ANG_ADM_ENTRIES * sizeof(struct angara_adm_cmd))
#define AEQ_OFFSET	(ACQ_OFFSET + ANG_ADM_ENTRIES * sizeof(struct angara_adm_cpl))
#define BUF_OFFSET	(AEQ_OFFSET + ANG_AEQ_ENTRIES * sizeof(struct angara_hw_event))

#define ADM_SIZE	(BUF_OFFSET + ANG_ADM_ENTRIES * ADM_BUF_SIZE)

static_assert(sizeof(struct angara_hw_node_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_hw_link_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_hw_tree_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_hw_ctx_counters) <= ADM_BUF_SIZE);
static_assert(sizeof(struct angara_mgmt) <= ADM_BUF_SIZE);

static void adm_write64(struct ang_dev *adev, u32 off, u64 val)
{
	ang_write32(adev, off, lower_32_bits(val));
	ang_write32(adev, off + 4, upper_32_bits(val));
}

/**
 * ang_adm_init() - allocate the admin queues and pass their addresses to the
 * device
 * @adev: device, not enabled
 *
 * Return: 0 or -ENOMEM.
 * Context: process; registration_lock held for writing.
 */
int ang_adm_init(struct ang_dev *adev)
{
	lockdep_assert_held_write(&adev->registration_lock);

	adev->adm_mem = adev->ops->dma_alloc(adev, ADM_SIZE, &adev->adm_addr);
	if (!adev->adm_mem)
		return -ENOMEM;
	adev->asq = adev->adm_mem + ASQ_OFFSET;
	adev->aeq = adev->adm_mem + AEQ_OFFSET;
	adev->adm_pi = 0;
	adev->aeq_ci = 0;
	spin_lock(&adev->acq_lock);
	adev->acq = adev->adm_mem + ACQ_OFFSET;
	adev->acq_ci = 0;
	adev->acq_flaw = false;
	memset(adev->adm_slot, 0, sizeof(adev->adm_slot));
	spin_unlock(&adev->acq_lock);

	adm_write64(adev, ANGARA_REG_ASQ_LO, adev->adm_addr + ASQ_OFFSET);
	adm_write64(adev, ANGARA_REG_ACQ_LO, adev->adm_addr + ACQ_OFFSET);
	adm_write64(adev, ANGARA_REG_AEQ_LO, adev->adm_addr + AEQ_OFFSET);
	ang_write32(adev, ANGARA_REG_ADM_ENTRIES, ANG_ADM_ENTRIES);
	ang_write32(adev, ANGARA_REG_AEQ_ENTRIES, ANG_AEQ_ENTRIES);
	return 0;
}

/**
 * ang_adm_free() - free the admin queues
 * @adev: device, disabled or stuck
 *
 * Context: process; registration_lock held for writing.
 */
void ang_adm_free(struct ang_dev *adev)
{
	lockdep_assert_held_write(&adev->registration_lock);

	spin_lock(&adev->acq_lock);
	adev->acq = NULL;
	spin_unlock(&adev->acq_lock);
	if (!adev->stuck)
		adev->ops->dma_free(adev, ADM_SIZE, adev->adm_mem,
				    adev->adm_addr);
	adev->adm_mem = NULL;
}

/* Take one completion from the queue. */
static void acq_take_one(struct ang_dev *adev, const struct angara_adm_cpl *cpl)
{
	u16 tag = le16_to_cpu(cpl->tag);
	struct ang_adm_slot *slot = &adev->adm_slot[tag % ANG_ADM_ENTRIES];

	if (slot->tag != tag || (slot->state != ANG_SLOT_WAITED &&
				 slot->state != ANG_SLOT_LEFT)) {
		WRITE_ONCE(adev->acq_flaw, true);
		return;
	}
	slot->cpl = *cpl;
	slot->state = slot->state == ANG_SLOT_LEFT ? ANG_SLOT_FREE :
						     ANG_SLOT_DONE;
}

/* Take all completions that the device has written. */
static void acq_take(struct ang_dev *adev)
{
	u32 i;

	lockdep_assert_held(&adev->acq_lock);

	for (i = 0; i < ANG_ADM_ENTRIES && adev->acq; i++) {
		u32 at = adev->acq_ci % ANG_ADM_ENTRIES;
		struct angara_adm_cpl cpl;

		if (!ang_phase_is(READ_ONCE(adev->acq[at].phase), adev->acq_ci,
			      ANG_ADM_ENTRIES))
			return;
		dma_rmb(); /* read the entry after its phase bit */
		cpl = adev->acq[at];
		adev->acq_ci++;
		acq_take_one(adev, &cpl);
	}
}

static bool slot_is(struct ang_dev *adev, u32 slot, enum ang_slot_state state)
{
	bool is;

	spin_lock(&adev->acq_lock);
	acq_take(adev);
	is = adev->adm_slot[slot].state == state;
	spin_unlock(&adev->acq_lock);
	return is;
}

/* A wait for a slot ends when the command is answered or the device fails. */
static bool wait_is_over(struct ang_dev *adev, u32 slot,
			 enum ang_slot_state state)
{
	return slot_is(adev, slot, state) || READ_ONCE(adev->broken) ||
	       READ_ONCE(adev->stopping) || READ_ONCE(adev->acq_flaw);
}

/*
 * Return: 0; -EINTR the caller is killed; -ETIMEDOUT.  Workers that destroy
 * objects cannot be killed.
 */
static int slot_wait(struct ang_dev *adev, u32 slot, enum ang_slot_state state,
		     bool killable)
{
	long left;

	if (killable)
		left = wait_event_killable_timeout(adev->adm_wait,
						   wait_is_over(adev, slot, state),
						   adev->timeout);
	else
		left = wait_event_idle_timeout(adev->adm_wait,
					       wait_is_over(adev, slot, state),
					       adev->timeout);
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/*
 * Return: the error of a command that got no answer.  If the device is at
 * fault, reset it.
 */
static int adm_fail(struct ang_dev *adev, int ret)
{
	if (ret == -EINTR)
		return ret;
	if (READ_ONCE(adev->stopping))
		return READ_ONCE(adev->stopping);
	ang_dev_break(adev, READ_ONCE(adev->acq_flaw) ?
			    "the adapter answered an admin command that it was not given" :
			    "the adapter did not answer an admin command in time");
	return -EIO;
}

/**
 * struct adm_call - a command, and where to store its answer
 * @cmd: the command
 * @cpl: out: the answer
 * @data: @len bytes for the device to read, or NULL
 * @buf: out: counters, or NULL
 * @len: bytes of @buf or @data
 * @killable: the caller handles -EINTR
 */
struct adm_call {
	struct angara_adm_cmd *cmd;
	struct angara_adm_cpl *cpl;
	const void *data;
	void *buf;
	size_t len;
	bool killable;
};

static void *slot_buf(struct ang_dev *adev, u32 slot)
{
	return adev->adm_mem + BUF_OFFSET + slot * ADM_BUF_SIZE;
}

/*
 * Return: 0; -EAGAIN the next slot, *@at, is in use; -EIO the device is broken, or
 * has given an invalid answer.
 */
static int adm_post(struct ang_dev *adev, struct adm_call *call, u32 *at)
{
	u32 pi = adev->adm_pi;
	struct ang_adm_slot *slot;

	lockdep_assert_held(&adev->adm_lock);

	*at = pi % ANG_ADM_ENTRIES;
	slot = &adev->adm_slot[*at];
	if (READ_ONCE(adev->broken) || READ_ONCE(adev->acq_flaw))
		return -EIO;
	if (!slot_is(adev, *at, ANG_SLOT_FREE))
		return -EAGAIN;
	/*
	 * Only holders of adm_lock take free slots, so the slot is still free.
	 */
	spin_lock(&adev->acq_lock);
	slot->state = ANG_SLOT_WAITED;
	slot->tag = (u16)pi;
	spin_unlock(&adev->acq_lock);

	call->cmd->tag = cpu_to_le16((u16)pi);
	if (call->data)
		memcpy(slot_buf(adev, *at), call->data, call->len);
	if (call->buf || call->data)
		call->cmd->counters.addr = cpu_to_le64(adev->adm_addr +
						       BUF_OFFSET +
						       *at * ADM_BUF_SIZE);
	adev->asq[*at] = *call->cmd;
	adev->adm_pi = pi + 1;
	ang_write32(adev, ANGARA_REG_ASQ_DB, adev->adm_pi);
	return 0;
}

/*
 * Stop using a slot.  If the device has not answered yet, acq_take_one() frees
 * the slot later.  Return: true if it has answered.
 */
static bool slot_end(struct ang_dev *adev, struct adm_call *call, u32 at)
{
	struct ang_adm_slot *slot = &adev->adm_slot[at];
	bool done;

	spin_lock(&adev->acq_lock);
	done = slot->state == ANG_SLOT_DONE;
	if (done) {
		*call->cpl = slot->cpl;
		if (call->buf)
			memcpy(call->buf, slot_buf(adev, at), call->len);
	}
	slot->state = done ? ANG_SLOT_FREE : ANG_SLOT_LEFT;
	spin_unlock(&adev->acq_lock);
	wake_up(&adev->adm_wait);
	return done;
}

/* Return: 0 if the device answered, with any status; else as ang_adm_exec(). */
static int adm_run(struct ang_dev *adev, struct adm_call *call)
{
	u32 at;
	int ret;

	lockdep_assert_held(&adev->registration_lock);

	for (;;) {
		ret = READ_ONCE(adev->stopping);
		if (ret)
			return ret;
		mutex_lock(&adev->adm_lock);
		ret = adm_post(adev, call, &at);
		mutex_unlock(&adev->adm_lock);
		if (!ret)
			break;
		if (ret == -EAGAIN)
			ret = slot_wait(adev, at, ANG_SLOT_FREE, call->killable);
		if (ret)
			return adm_fail(adev, ret);
	}
	ret = slot_wait(adev, at, ANG_SLOT_DONE, call->killable);
	return slot_end(adev, call, at) ? 0 : adm_fail(adev, ret);
}

/**
 * ang_adm_exec() - run an admin command
 * @adev: device, after ang_dev_enter()
 * @cmd: command; its tag is filled in
 * @cpl: out: the answer, if there was one
 *
 * Return: 0; -EIO the device did not answer and was reset; -EINTR the caller is
 * killed, -ESTALE or -ENODEV the device is being stopped or removed, see
 * ang_adm_undecided(); else the errno of the status, see ang_adm_errno().
 * Context: process; may sleep.
 */
int ang_adm_exec(struct ang_dev *adev, struct angara_adm_cmd *cmd,
		 struct angara_adm_cpl *cpl)
{
	struct adm_call call = { .cmd = cmd, .cpl = cpl, .killable = true };
	int ret = adm_run(adev, &call);

	return ret ? ret : ang_adm_errno(cpl->status);
}

/**
 * ang_adm_simple() - run an admin command that has no argument
 * @adev: device, after ang_dev_enter()
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
 * ang_adm_destroy() - destroy a context or a domain; the wait is not killable
 * @adev: device, after ang_dev_enter()
 * @opcode: ANGARA_ADM_CTX_DESTROY or ANGARA_ADM_DOMAIN_DESTROY
 * @num: number of the context or domain
 *
 * Return: as ang_adm_exec(), but not -EINTR.
 * Context: worker; may sleep.
 */
int ang_adm_destroy(struct ang_dev *adev, u8 opcode, u16 num)
{
	struct angara_adm_cmd cmd = {
		.opcode = opcode,
		.ctx = cpu_to_le16(num),
	};
	struct angara_adm_cpl cpl;
	struct adm_call call = { .cmd = &cmd, .cpl = &cpl };
	int ret = adm_run(adev, &call);

	return ret ? ret : ang_adm_errno(cpl.status);
}

/**
 * ang_adm_counters() - read counters
 * @adev: device, after ang_dev_enter()
 * @router: this node, or a switch that it keeps
 * @kind: ANGARA_CNT_*
 * @index: number of the link, tree or context
 * @buf: out: the structure that belongs to @kind
 * @len: size of that structure
 *
 * Return: as ang_adm_exec(); -ENOENT there is no such object.
 * Context: process; may sleep.
 */
int ang_adm_counters(struct ang_dev *adev, u32 router, u32 kind, u32 index,
		     void *buf, size_t len)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_COUNTERS,
		.counters = {
			.kind = cpu_to_le32(kind),
			.index = cpu_to_le32(index),
			.length = cpu_to_le32(len),
			.router = cpu_to_le32(router),
		},
	};
	struct angara_adm_cpl cpl;
	struct adm_call call = {
		.cmd = &cmd,
		.cpl = &cpl,
		.buf = buf,
		.len = len,
		.killable = true,
	};
	int ret;

	if (len > ADM_BUF_SIZE)
		return -EINVAL;
	ret = adm_run(adev, &call);
	return ret ? ret : ang_adm_errno(cpl.status);
}

/**
 * ang_adm_describe() - read a part of the description of the fabric
 * @adev: device, after ang_dev_enter()
 * @offset: first byte to read
 * @buf: out: ANG_DESCRIBE_BYTES bytes of the text, fewer at its end
 * @size: out: bytes of the whole text
 *
 * Return: as ang_adm_exec(); -EINVAL @offset is beyond the text.
 * Context: process; may sleep.
 */
int ang_adm_describe(struct ang_dev *adev, u32 offset, void *buf, u32 *size)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_DESCRIBE,
		.text = {
			.offset = cpu_to_le32(offset),
			.length = cpu_to_le32(ANG_DESCRIBE_BYTES),
		},
	};
	struct angara_adm_cpl cpl;
	struct adm_call call = {
		.cmd = &cmd,
		.cpl = &cpl,
		.buf = buf,
		.len = ANG_DESCRIBE_BYTES,
		.killable = true,
	};
	int ret;

	/*
	 * adm_post() stores the buffer's address in counters.addr for every
	 * command.
	 */
	static_assert(offsetof(struct angara_adm_text, addr) ==
		      offsetof(struct angara_adm_counters, addr));
	static_assert(ANG_DESCRIBE_BYTES <= ADM_BUF_SIZE);

	ret = adm_run(adev, &call);
	if (!ret)
		ret = ang_adm_errno(cpl.status);
	*size = ret ? 0 : le32_to_cpu(cpl.value);
	return ret;
}

/**
 * ang_adm_mgmt() - send a management packet, or fetch the answer
 * @adev: device, after ang_dev_enter()
 * @opcode: ANGARA_ADM_MGMT_SEND or ANGARA_ADM_MGMT_RECV
 * @tid: MGMT_RECV: number of the request (angara_mgmt.tid); MGMT_SEND: 0
 * @pkt: MGMT_SEND: request; MGMT_RECV: out: the answer, if this returns 0
 *
 * Return: as ang_adm_exec(); -EINVAL the request has a wrong format; -ENOENT
 * there is no answer yet.
 * Context: process; may sleep.
 */
int ang_adm_mgmt(struct ang_dev *adev, u8 opcode, u64 tid, struct angara_mgmt *pkt)
{
	bool sends = opcode == ANGARA_ADM_MGMT_SEND;
	struct angara_adm_cmd cmd = {
		.opcode = opcode,
		.mgmt.tid = cpu_to_le64(tid),
	};
	struct angara_mgmt answer;
	struct angara_adm_cpl cpl;
	struct adm_call call = {
		.cmd = &cmd,
		.cpl = &cpl,
		.data = sends ? pkt : NULL,
		.buf = sends ? NULL : &answer,
		.len = sizeof(*pkt),
		.killable = true,
	};
	int ret;

	static_assert(offsetof(struct angara_adm_mgmt, addr) ==
		      offsetof(struct angara_adm_counters, addr));

	ret = adm_run(adev, &call);
	if (!ret)
		ret = ang_adm_errno(cpl.status);
	if (!ret && !sends)
		*pkt = answer;
	return ret;
}

/**
 * ang_adm_setup() - initialize locks and wait queue of the admin queue
 * @adev: device
 */
void ang_adm_setup(struct ang_dev *adev)
{
	mutex_init(&adev->adm_lock);
	spin_lock_init(&adev->acq_lock);
	init_waitqueue_head(&adev->adm_wait);
}

/**
 * ang_adm_irq() - handle an interrupt of the admin queues
 * @adev: device
 *
 * Context: any.
 */
void ang_adm_irq(struct ang_dev *adev)
{
	wake_up(&adev->adm_wait);
	schedule_work(&adev->aeq_work);
}

/**
 * ang_adm_route_row() - give the device a row of a new table of routes
 * @adev: device, after ang_dev_enter()
 * @router: router of the row
 * @row: the row
 * @len: bytes of @row
 *
 * Return: as ang_adm_route_use(), but -EINVAL: there is no such router, or the row
 * is too long.
 * Context: process; may sleep.
 */
int ang_adm_route_row(struct ang_dev *adev, u32 router, const void *row, u32 len)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_ROUTE_SET,
		.route = {
			.router = cpu_to_le32(router),
			.what = ANGARA_ROUTE_ROW,
		},
	};
	struct angara_adm_cpl cpl;
	u32 at;

	static_assert(offsetof(struct angara_adm_route, addr) ==
		      offsetof(struct angara_adm_counters, addr));

	for (at = 0; at < len; at += ADM_BUF_SIZE) {
		struct adm_call call = {
			.cmd = &cmd,
			.cpl = &cpl,
			.data = row + at,
			.len = min_t(u32, len - at, ADM_BUF_SIZE),
			.killable = true,
		};
		int ret;

		cmd.route.offset = cpu_to_le32(at);
		cmd.route.length = cpu_to_le32(call.len);
		ret = adm_run(adev, &call);
		if (!ret)
			ret = ang_adm_errno(cpl.status);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ang_adm_route_use() - change the routes of the fabric
 * @adev: device, after ang_dev_enter()
 * @what: ANGARA_ROUTE_USE or ANGARA_ROUTE_OWN
 *
 * Return: as ang_adm_exec(); -EINVAL the table breaks a rule; -EEXIST another
 * node is changing the routes; -ENOSPC the fabric is too large; -EOPNOTSUPP the
 * adapter does not allow nodes to change routes.
 * Context: process; may sleep.
 */
int ang_adm_route_use(struct ang_dev *adev, u8 what)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_ROUTE_SET,
		.route.what = what,
	};
	struct angara_adm_cpl cpl;

	return ang_adm_exec(adev, &cmd, &cpl);
}
