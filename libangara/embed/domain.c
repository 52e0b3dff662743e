// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Domains: a partition, and the table of memory regions that all contexts of a
 * domain use.  The table is a block in its process's heap, followed by the list
 * of its pages.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/angara_nl.h>

#include "embed.h"

#define TABLE_FIRST	1024U	/* entries of a domain's first table */

static u64 table_bytes(u32 mrs)
{
	return mrs * sizeof(struct angara_hw_mr);
}

/*
 * Return: partition of this user; 0 for high user ids, which have no partition
 * of their own.
 */
u32 emb_own_pkey(void)
{
	u32 uid = geteuid();

	return uid > ANGARA_PKEY_UID_MAX ? 0 : ANGARA_PKEY_UID(uid);
}

static int domain_pkey(const struct angara_domain_create *cmd, u32 *pkey)
{
	if (!(cmd->flags & ANGARA_DOMAIN_PKEY)) {
		*pkey = emb_own_pkey();
		return *pkey ? 0 : -EPERM;
	}
	*pkey = cmd->pkey;
	return *pkey ? 0 : -EINVAL;
}

/* Allocates a table and the list of its pages, which takes at most a page. */
static int table_alloc(struct emb_fab *fab, u32 mrs, u64 *mem)
{
	__le64 *list;
	u64 i;
	int ret = emb_heap_alloc(fab, table_bytes(mrs) + ANGARA_PAGE_SIZE, mem);

	static_assert(ANGARA_MR_MAX * sizeof(struct angara_hw_mr) /
		      ANGARA_PAGE_SIZE * sizeof(*list) <= ANGARA_PAGE_SIZE,
		      "a page of addresses");

	if (ret)
		return ret;
	list = emb_at(fab, *mem + table_bytes(mrs));
	for (i = 0; i < table_bytes(mrs) / ANGARA_PAGE_SIZE; i++)
		list[i] = cpu_to_le64(*mem + i * ANGARA_PAGE_SIZE);
	return 0;
}

static void table_set(struct emb_fab *fab, struct emb_domain *dom, u64 mem,
		      u32 mrs)
{
	dom->mem = mem;
	dom->mrt = emb_at(fab, mem);
	dom->mrs = mrs;
}

/* Passes a table to the device; under the node's lock. */
static int table_on_device(struct emb_dev *d, u64 mem, u32 mrs)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_DOMAIN_TABLE,
		.ctx = cpu_to_le16((u16)d->dom->num),
		.domain = {
			.mrt = cpu_to_le64(mem + table_bytes(mrs)),
			.mrs = cpu_to_le32(mrs),
		},
	};
	struct angara_adm_cpl cpl;
	int ret;

	if (emb_lost(d))
		return -ENODEV;
	ret = emb_exec(&d->run, d->node, &cmd, &cpl);
	/*
	 * If there was no answer, the device may use either table: keep both.
	 */
	if (ret == -EIO || ret == -ENODEV)
		d->dom->spare = mem;
	return ret;
}

/**
 * emb_domain_grow() - make room in the table of a domain
 * @d: handle with a domain
 * @slots: minimum number of entries, at most ANGARA_MR_MAX
 *
 * The device switches to the longer table between two accesses, and does not
 * use the old table afterwards.
 *
 * Return: 0; -EIO, also if an earlier attempt got no answer; -errno.
 */
int emb_domain_grow(struct emb_dev *d, u32 slots)
{
	struct emb_domain *dom = d->dom;
	u32 mrs = dom->mrs;
	u64 mem;
	int ret;

	if (dom->spare)
		return -EIO;
	while (mrs < slots)
		mrs *= 2;
	if (mrs == dom->mrs)
		return 0;
	ret = table_alloc(d->fab, mrs, &mem);
	if (ret)
		return ret;
	memcpy(emb_at(d->fab, mem), dom->mrt, table_bytes(dom->mrs));
	ret = emb_node_lock(&d->run, d->node);
	if (!ret) {
		ret = table_on_device(d, mem, mrs);
		emb_node_unlock(&d->run, d->node);
	}
	if (ret) {
		if (!dom->spare)
			emb_heap_free(d->fab, mem);
		return ret;
	}
	emb_heap_free(d->fab, dom->mem);
	table_set(d->fab, dom, mem, mrs);
	return 0;
}

/*
 * Creates a domain on the device, with the lowest free number; under the node's
 * lock.
 */
static int domain_on_device(struct emb_dev *d, struct emb_domain *dom)
{
	struct emb_node *n = emb_node(d->fab, d->node);
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_DOMAIN_CREATE,
		.domain = {
			.job = cpu_to_le64(dom->job),
			.mrt = cpu_to_le64(dom->mem + table_bytes(dom->mrs)),
			.mrs = cpu_to_le32(dom->mrs),
			.pkey = cpu_to_le32(dom->pkey),
		},
	};
	struct angara_adm_cpl cpl;
	u32 max = d->fab->head->cfg.ctxs;
	u32 num = 0;
	int ret;

	while (num < max && n->ctx[num].domain)
		num++;
	if (num == max)
		return -EBUSY;
	cmd.ctx = cpu_to_le16((u16)num);
	ret = emb_exec(&d->run, d->node, &cmd, &cpl);
	/*
	 * If there was no answer, the command may still be executed: keep
	 * number and table.
	 */
	dom->in_doubt = ret == -EIO;
	if (ret && !dom->in_doubt)
		return ret;
	dom->num = num;
	dom->life = READ_ONCE(n->life);
	ang_store_release(&n->ctx[num].domain, d->fab->slot + 1);
	return ret;
}

static int domain_add(struct emb_dev *d, struct emb_domain *dom)
{
	u64 mem;
	int ret = table_alloc(d->fab, TABLE_FIRST, &mem);

	if (ret)
		return ret;
	table_set(d->fab, dom, mem, TABLE_FIRST);
	ret = emb_node_lock(&d->run, d->node);
	if (!ret) {
		ret = domain_on_device(d, dom);
		emb_node_unlock(&d->run, d->node);
	}
	if (ret && !dom->in_doubt)
		emb_heap_free(d->fab, dom->mem);
	return ret;
}

int emb_domain_create(struct emb_dev *d, void *arg)
{
	struct angara_domain_create *cmd = arg;
	struct emb_domain *dom;
	u32 pkey;
	int ret;

	if (cmd->flags & ~ANGARA_DOMAIN_PKEY || cmd->reserved)
		return -EOPNOTSUPP;
	ret = domain_pkey(cmd, &pkey);
	if (ret)
		return ret;
	if (d->dom)
		return -EBUSY;
	dom = calloc(1, sizeof(*dom));
	if (!dom)
		return -ENOMEM;
	dom->refs = 1;
	dom->node = d->node;
	dom->pkey = pkey;
	dom->job = cmd->job;
	ret = domain_add(d, dom);
	if (ret && !dom->in_doubt) {
		free(dom);
		return ret;
	}
	d->dom = dom;
	d->life = dom->life;
	d->life_now = &emb_node(d->fab, d->node)->life;
	cmd->pkey = pkey;
	cmd->watch_offset = EMB_MEM_WATCH * EMB_MEM_STRIDE;
	cmd->watch_bytes = EMB_WATCH_BYTES;
	return ret;
}

/* Destroys a domain on the device; under the node's lock. */
static int domain_destroy(struct emb_run *r, u32 node, u32 num)
{
	int ret = emb_simple(r, node, ANGARA_ADM_DOMAIN_DESTROY, num, 0);

	if (ret && ret != -ENOENT)
		return ret;
	ang_store_release(&emb_node(r->fab, node)->ctx[num].domain, 0);
	return 0;
}

/**
 * emb_domain_reap() - destroy a domain of a dead process
 * @r: runs the model
 * @node: node
 * @num: domain, whose contexts have been destroyed
 * @owner: slot of that process, plus 1
 *
 * Return: 0 the domain is gone; -errno.
 */
int emb_domain_reap(struct emb_run *r, u32 node, u32 num, u32 owner)
{
	int ret = emb_node_lock(r, node);

	if (ret)
		return ret;
	if (emb_node(r->fab, node)->ctx[num].domain == owner)
		ret = domain_destroy(r, node, num);
	emb_node_unlock(r, node);
	return ret;
}

/* Destroys the domain.  Return: true if nothing uses its table any more. */
static bool domain_ends(struct emb_dev *d, struct emb_domain *dom)
{
	struct emb_run r;
	int ret;

	emb_run_init(&r, d->fab);
	ret = emb_node_lock(&r, d->node);
	if (!ret) {
		if (!emb_lost(d))
			ret = domain_destroy(&r, d->node, dom->num);
		emb_node_unlock(&r, d->node);
	}
	d->fab->unclean |= ret && !emb_lost(d);
	return emb_lost(d) ? !emb_has_fenced(d->fab) : !ret;
}

/*
 * Moves rows between two lists.  One list is empty, since only the handle of
 * the device sets rows.
 */
static void owned_move(struct emb_rows *to, struct emb_rows *from)
{
	if (!from->n)
		return;
	free(to->row);
	*to = *from;
	*from = (struct emb_rows){ 0 };
}

/*
 * Is the memory outside of the segment, so that other processes access it by
 * system calls?
 */
bool emb_mr_is_outside(const struct angara_hw_mr *entry)
{
	return le64_to_cpu(entry->addr) >> EMB_ADDR_BITS;
}

/* Releases the regions of a domain that no context uses any more. */
static void mrs_release(struct emb_domain *dom)
{
	u32 key;

	for (key = 0; key < dom->mrs; key++)
		if (READ_ONCE(dom->mrt[key].valid) &&
		    emb_mr_is_outside(&dom->mrt[key]))
			emb_tracer_put();
}

/**
 * emb_domain_put() - release a handle's domain
 * @d: handle, whose context has been destroyed
 *
 * Frees the table if nothing uses it any more.  After a reset of the node the
 * domain is gone already, and its number may belong to another domain.  After a
 * reset, a stopped process may still read the table.
 *
 * Rows of the device stay as long as its domain: the last handle gets them in
 * its @owned.
 *
 * Return: true if this is the last handle of the device and its contexts.
 */
bool emb_domain_put(struct emb_dev *d)
{
	struct emb_domain *dom = d->dom;
	bool ends;

	if (!dom)
		return true;
	if (--dom->refs) {
		owned_move(&dom->owned, &d->owned);
		d->dom = NULL;
		return false;
	}
	owned_move(&d->owned, &dom->owned);
	ends = !emb_broken(d->fab) && domain_ends(d, dom);
	mrs_release(dom);
	if (ends)
		emb_heap_free(d->fab, dom->mem);
	if (ends && dom->spare)
		emb_heap_free(d->fab, dom->spare);
	d->dom = NULL;
	free(dom);
	return true;
}
