// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Admin commands of a node.  One command is in progress at a time, under the
 * node's lock; the caller runs the model until the command is answered.  No
 * process reads the asynchronous events: the adapter counts those that do not
 * fit in its queue.
 */
#include "embed.h"

static void reg_write64(struct emb_run *r, u32 node, u32 off, u64 val)
{
	emb_ring(r, NULL, node, off, (u32)val);
	emb_ring(r, NULL, node, off + 4, (u32)(val >> 32));
}

static bool is_torn(const struct emb_run *r, u32 node)
{
	return ang_load_acquire(&emb_node(r->fab, node)->torn);
}

typedef bool (*done_fn)(struct emb_run *r, const void *arg);

/*
 * Runs the model until @done is true.  More than one run may be necessary:
 * another process may hold the node, or a node on which the answer depends.
 */
static int wait_for(struct emb_run *r, u32 node, done_fn done, const void *arg)
{
	u64 end = 0;
	u32 turn = 0;

	while (!done(r, arg)) {
		u64 now = emb_now_ms();

		if (emb_broken(r->fab) || is_torn(r, node))
			return -ENODEV;
		if (!end)
			end = now + EMB_LOCK_MS;
		if (now >= end)
			return -EIO;
		emb_look_inside(r->fab);
		if (!emb_help(r, true))
			emb_nap(&turn);
	}
	/*
	 * After a reset, the memory of the queue may contain data that looks
	 * like an answer.
	 */
	return is_torn(r, node) ? -ENODEV : 0;
}

static bool is_ready(struct emb_run *r, const void *arg)
{
	return ang_reg_read(&r->view, *(const u32 *)arg, ANGARA_REG_STATUS) &
	       ANGARA_STATUS_READY;
}

/**
 * emb_node_start() - start a node that is new or was reset
 * @r: runs the model
 * @node: node
 *
 * Return: 0; -EIO the node does not become ready; -ENODEV the node was reset
 * again, or the fabric is broken.
 */
int emb_node_start(struct emb_run *r, u32 node)
{
	const struct emb_head *head = r->fab->head;
	u64 at = head->copy_at + head->adm_off + (u64)node * ANGARA_PAGE_SIZE;

	static_assert(sizeof(struct emb_admin) <= ANGARA_PAGE_SIZE, "one page");

	reg_write64(r, node, ANGARA_REG_ASQ_LO, at + offsetof(struct emb_admin, asq));
	reg_write64(r, node, ANGARA_REG_ACQ_LO, at + offsetof(struct emb_admin, acq));
	reg_write64(r, node, ANGARA_REG_AEQ_LO, at + offsetof(struct emb_admin, aeq));
	emb_ring(r, NULL, node, ANGARA_REG_ADM_ENTRIES, EMB_ADM_ENTRIES);
	emb_ring(r, NULL, node, ANGARA_REG_AEQ_ENTRIES, EMB_AEQ_ENTRIES);
	emb_ring(r, NULL, node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	return wait_for(r, node, is_ready, &node);
}

/**
 * struct answer - state of a wait for an answer
 * @node: node
 * @index: number of the command
 */
struct answer {
	u32 node;
	u32 index;
};

/*
 * Address of the answer.  Compute the address each time, since the fabric may
 * switch to another copy meanwhile.
 */
static const struct angara_adm_cpl *place_of(const struct emb_run *r,
					     const struct answer *a)
{
	return &emb_admin(r->fab, emb_copy(r->fab), a->node)->
		acq[a->index % EMB_ADM_ENTRIES];
}

static bool adm_answered(struct emb_run *r, const void *arg)
{
	const struct answer *a = arg;

	static_assert(offsetof(struct angara_adm_cpl, value) == 24, "last word");

	return (ang_load_last(&place_of(r, a)->value) >> 56 & 1) ==
	       !((a->index / EMB_ADM_ENTRIES) & 1);
}

/**
 * emb_exec() - run an admin command
 * @r: runs the model
 * @node: node, locked
 * @cmd: command; its tag is filled in
 * @cpl: out: answer of the adapter
 *
 * Return: 0; ang_adm_errno() of the answer; -EIO there was no answer; -ENODEV
 * the node was reset, or the fabric is broken.
 */
int emb_exec(struct emb_run *r, u32 node, struct angara_adm_cmd *cmd,
	     struct angara_adm_cpl *cpl)
{
	struct emb_node *n = emb_node(r->fab, node);
	u32 index = n->adm_pi++;
	const struct answer answer = { .node = node, .index = index };
	int ret;

	cmd->tag = cpu_to_le16((u16)index);
	emb_submit(r, node, cmd, n->adm_pi);
	ret = wait_for(r, node, adm_answered, &answer);
	if (ret)
		return ret;
	*cpl = *place_of(r, &answer);
	return ang_adm_errno(cpl->status);
}

/** emb_simple() - as emb_exec(), for a command without argument */
int emb_simple(struct emb_run *r, u32 node, u8 opcode, u32 ctx, u32 tree)
{
	struct angara_adm_cmd cmd = {
		.opcode = opcode,
		.ctx = cpu_to_le16((u16)ctx),
		.tree = (u8)tree,
	};
	struct angara_adm_cpl cpl;

	return emb_exec(r, node, &cmd, &cpl);
}
