// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Creating and destroying contexts.  The memory of a context is one block in
 * its process's heap:
 *
 *	SQ, CQ, control page, counters, receive buffer, lists of pages
 */
#include <linux/angara_nl.h>

#include "embed.h"

#define MIN_ENTRIES	8U
#define MAX_SQ_ENTRIES	(1U << 15)
#define MAX_CQ_ENTRIES	(1U << 16)
#define MAX_MSG_BYTES	(1U << 22)

/*
 * All processes belong to the user that created the fabric, so they have all
 * rights on it.
 */
struct ang_cred emb_cred(const struct emb_dev *d)
{
	return (struct ang_cred){
		.pkey = d->dom ? d->dom->pkey : emb_own_pkey(),
		.admin = true,
	};
}

int emb_query(struct emb_dev *d, void *arg)
{
	const struct emb_head *head = d->fab->head;
	struct angara_query *q = arg;

	if (q->flags)
		return -EOPNOTSUPP;
	q->abi = ANGARA_ABI_VERSION;
	q->node = d->node;
	q->nodes = head->nodes;
	q->ports = ang_topo_ports(&d->fab->topo);
	q->fabric_id = head->cfg.fabric_id;
	q->max_contexts = head->cfg.ctxs;
	q->max_sq_entries = MAX_SQ_ENTRIES;
	q->max_cq_entries = MAX_CQ_ENTRIES;
	q->max_mrs = ANGARA_MR_MAX;
	q->max_op_bytes = ANGARA_MAX_OP_BYTES;
	q->pkey = emb_own_pkey();
	q->caps = ANGARA_CAP_MSG;
	q->max_msg_bytes = MAX_MSG_BYTES;
	q->max_trees = head->cfg.trees;
	return 0;
}

static bool entries_ok(u32 entries, u32 max)
{
	return entries >= MIN_ENTRIES && entries <= max &&
	       !(entries & (entries - 1));
}

static bool area_ok(u32 bytes)
{
	return !bytes || (bytes >= ANGARA_MIN_MSG_BYTES &&
			  bytes <= MAX_MSG_BYTES && !(bytes & (bytes - 1)));
}

static u64 mem_pages(u64 bytes)
{
	return (bytes + ANGARA_PAGE_SIZE - 1) / ANGARA_PAGE_SIZE;
}

/*
 * Allocates the memory of a context.  Return: offset of its lists of pages; 0:
 * no memory.
 */
static u64 mem_alloc(struct emb_dev *d, const struct angara_ctx_create *cmd)
{
	const u64 sizes[] = {
		cmd->sq_entries * sizeof(struct angara_wqe),
		cmd->cq_entries * sizeof(struct angara_cqe),
		sizeof(struct angara_ctl),
		ANGARA_CTR_NUM * sizeof(__le64),
		cmd->msg_bytes,
	};
	const u32 kinds = sizeof(sizes) / sizeof(*sizes);
	u64 total = 0, at, i;
	__le64 *list;

	for (i = 0; i < kinds; i++)
		total += mem_pages(sizes[i]);
	d->mem_len = (total + mem_pages(total * sizeof(*list))) * ANGARA_PAGE_SIZE;
	if (emb_heap_alloc(d->fab, d->mem_len, &d->mem))
		return 0;
	at = d->mem;
	for (i = 0; i < kinds; i++) {
		d->at[i] = at;
		at += mem_pages(sizes[i]) * ANGARA_PAGE_SIZE;
	}
	list = emb_at(d->fab, at);
	for (i = 0; i < total; i++)
		list[i] = cpu_to_le64(d->mem + i * ANGARA_PAGE_SIZE);
	return at;
}

/* Address of the list entry of the page at @off. */
static __le64 list_of(const struct emb_dev *d, u64 lists, u64 off)
{
	return cpu_to_le64(lists + (off - d->mem) / ANGARA_PAGE_SIZE *
			   sizeof(__le64));
}

static u8 log2_of(u32 entries)
{
	return (u8)__builtin_ctz(entries);
}

static int area_on_device(struct emb_dev *d, u32 num, u64 lists, u32 bytes)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_MSG_AREA,
		.ctx = cpu_to_le16((u16)num),
		.msg = {
			.pages = list_of(d, lists, d->at[EMB_MEM_MSG]),
			.log2 = log2_of(bytes),
		},
	};
	struct angara_adm_cpl cpl;
	int ret = emb_exec(&d->run, d->node, &cmd, &cpl);

	if (ret && ret != -EIO &&
	    emb_simple(&d->run, d->node, ANGARA_ADM_CTX_DESTROY, num, 0) == -EIO)
		ret = -EIO;
	return ret;
}

static int create_on_device(struct emb_dev *d, u32 num, u64 lists,
			    const struct angara_ctx_create *arg)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_CTX_CREATE,
		.ctx = cpu_to_le16((u16)num),
		.create = {
			.dom = cpu_to_le16((u16)d->dom->num),
			.sq_log2 = log2_of(arg->sq_entries),
			.cq_log2 = log2_of(arg->cq_entries),
			.sq = list_of(d, lists, d->at[EMB_MEM_SQ]),
			.cq = list_of(d, lists, d->at[EMB_MEM_CQ]),
			.ctl = cpu_to_le64(d->at[EMB_MEM_CTL]),
			.ctr = cpu_to_le64(d->at[EMB_MEM_CTR]),
		},
	};
	struct angara_adm_cpl cpl;
	int ret = emb_exec(&d->run, d->node, &cmd, &cpl);

	if (!ret && arg->msg_bytes)
		ret = area_on_device(d, num, lists, arg->msg_bytes);
	return ret == -EEXIST || ret == -ENOSPC ? -EBUSY : ret;
}

/* Creates the context in the model; under the node's lock. */
static int ctx_create(struct emb_dev *d, const struct angara_ctx_create *arg)
{
	struct emb_node *n = emb_node(d->fab, d->node);
	u64 lists;
	u32 num;
	int ret;

	for (num = 0; num < d->fab->head->cfg.ctxs && n->ctx[num].owner; num++)
		;
	if (num == d->fab->head->cfg.ctxs)
		return -EBUSY;
	if (emb_lost(d))
		return -ENODEV;
	lists = mem_alloc(d, arg);
	if (!lists)
		return -ENOMEM;
	ret = create_on_device(d, num, lists, arg);
	/*
	 * After -EIO (no answer) the context may exist; closing the handle
	 * destroys it.
	 */
	if (ret && ret != -EIO) {
		emb_heap_free(d->fab, d->mem);
		return ret;
	}
	d->num = num;
	d->sq_entries = arg->sq_entries;
	d->ctl = emb_at(d->fab, d->at[EMB_MEM_CTL]);
	d->ctr = emb_at(d->fab, d->at[EMB_MEM_CTR]);
	d->ctx = &n->ctx[num];
	d->ctx->asleep = 0;
	ang_store_release(&d->ctx->owner, d->fab->slot + 1);
	WRITE_ONCE(n->num_ctx, n->num_ctx + 1);
	WRITE_ONCE(d->fab->mine[d->node], d->fab->mine[d->node] + 1);
	return ret;
}

int emb_ctx_create(struct emb_dev *d, void *arg)
{
	struct emb_create *c = arg;
	struct angara_ctx_create *cmd = &c->arg;
	struct emb_dev *h = c->handle;
	int ret;

	if (cmd->flags || cmd->reserved)
		return -EOPNOTSUPP;
	if (!entries_ok(cmd->sq_entries, MAX_SQ_ENTRIES) ||
	    !entries_ok(cmd->cq_entries, MAX_CQ_ENTRIES) ||
	    !area_ok(cmd->msg_bytes))
		return -EINVAL;
	if (!d->dom)
		return -ENXIO;
	h->dom = d->dom;
	h->life = d->life;
	h->life_now = d->life_now;
	ret = emb_node_lock(&h->run, h->node);
	if (!ret) {
		ret = ctx_create(h, cmd);
		emb_node_unlock(&h->run, h->node);
	}
	if (!h->ctx) {
		h->dom = NULL;
		return ret;
	}
	d->dom->refs++;
	cmd->fd = -1;
	cmd->ctx = h->num;
	cmd->sq_offset = EMB_MEM_SQ * EMB_MEM_STRIDE;
	cmd->cq_offset = EMB_MEM_CQ * EMB_MEM_STRIDE;
	cmd->ctl_offset = EMB_MEM_CTL * EMB_MEM_STRIDE;
	cmd->ctr_offset = EMB_MEM_CTR * EMB_MEM_STRIDE;
	cmd->db_offset = 0;
	cmd->msg_offset = cmd->msg_bytes ? EMB_MEM_MSG * EMB_MEM_STRIDE : 0;
	return ret;
}

/* Destroys a context in the model; under the node's lock. */
static int ctx_destroy(struct emb_run *r, u32 node, u32 num)
{
	struct emb_node *n = emb_node(r->fab, node);
	int ret = emb_simple(r, node, ANGARA_ADM_CTX_DESTROY, num, 0);

	if (ret && ret != -ENOENT)
		return ret;
	ang_store_release(&n->ctx[num].owner, 0);
	WRITE_ONCE(n->num_ctx, n->num_ctx - 1);
	return 0;
}

/**
 * emb_ctx_reap() - destroy a context of a dead process
 * @r: runs the model
 * @node: node
 * @num: context
 * @owner: slot of that process, plus 1
 *
 * Return: 0 the context is gone; -errno.
 */
int emb_ctx_reap(struct emb_run *r, u32 node, u32 num, u32 owner)
{
	int ret = emb_node_lock(r, node);

	if (ret)
		return ret;
	if (emb_node(r->fab, node)->ctx[num].owner == owner)
		ret = ctx_destroy(r, node, num);
	emb_node_unlock(r, node);
	return ret;
}

/*
 * Destroys the context, and frees its memory if nothing uses the memory any
 * more.  After a reset of the node the context is gone already, and its number
 * may belong to another context.  The memory is kept while a stopped process
 * may still write completions to it.
 */
void emb_ctx_destroy(struct emb_dev *d)
{
	struct emb_run r;
	int ret;

	if (!d->ctx)
		return;
	emb_run_init(&r, d->fab);
	ret = emb_node_lock(&r, d->node);
	if (!ret) {
		if (!emb_lost(d))
			ret = ctx_destroy(&r, d->node, d->num);
		emb_node_unlock(&r, d->node);
	}
	if (emb_lost(d) ? !emb_has_fenced(d->fab) : !ret)
		emb_heap_free(d->fab, d->mem);
	d->fab->unclean |= ret && !emb_lost(d);
	WRITE_ONCE(d->fab->mine[d->node], d->fab->mine[d->node] - 1);
	d->ctx = NULL;
}

int emb_kick(struct emb_dev *d, void *arg)
{
	const struct angara_kick *cmd = arg;

	if (cmd->flags & ~(ANGARA_KICK_SQ | ANGARA_KICK_ARM))
		return -EOPNOTSUPP;
	if (!cmd->flags)
		return -EINVAL;
	if (emb_broken(d->fab))
		return -ENODEV;
	if (cmd->flags & ANGARA_KICK_SQ)
		emb_ring(&d->run, d, d->node,
			 ANGARA_DB_PAGE(d->num) + ANGARA_DB_SQ,
			 le32_to_cpu(READ_ONCE(d->ctl->sq_pi)));
	if (cmd->flags & ANGARA_KICK_ARM)
		emb_ring(&d->run, d, d->node,
			 ANGARA_DB_PAGE(d->num) + ANGARA_DB_ARM,
			 le32_to_cpu(READ_ONCE(d->ctl->seen)));
	return 0;
}
