// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Layout of a segment: offsets, and how much memory it needs.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "embed.h"
#include "ang_types.h"

#define SMALL_FABRIC	64U	/* fabrics with up to this number of routers have larger tables */
#define TINY_FABRIC	16U	/* fabrics with up to this number of routers have longer trains */
#define DEF_PROCS	128U
#define HEAP_ALIGN	(2ULL << 20)
#define HEAP_ROOM	(4ULL << 40)	/* bytes of address space for the heaps of all processes */

static u64 align_up(u64 x, u64 to)
{
	return (x + to - 1) & ~(to - 1);
}

/*
 * Hash of the layout: builds of the library with different layouts cannot share
 * a segment.
 */
u32 emb_layout_hash(void)
{
	static const size_t sizes[] = {
		sizeof(struct emb_head), sizeof(struct emb_slot),
		sizeof(struct emb_node), sizeof(struct emb_ctx),
		sizeof(struct emb_share), sizeof(struct emb_board),
		sizeof(struct emb_admin), sizeof(struct ang_fabric),
		sizeof(struct ang_node), sizeof(struct ang_ctx),
		sizeof(struct ang_op), sizeof(struct ang_tree),
		sizeof(struct ang_pkt), sizeof(struct ang_ring),
		/*
		 * Include offsets: a new member may fit into padding and leave
		 * the size unchanged.
		 */
		sizeof(struct emb_left), offsetof(struct emb_head, looked_ms),
		offsetof(struct emb_left, timers),
		offsetof(struct emb_slot, pidns), offsetof(struct emb_ctx, asleep),
		offsetof(struct emb_node, left_ms), offsetof(struct ang_node, adm),
		offsetof(struct ang_node, cnt), offsetof(struct ang_ctx, user),
		offsetof(struct ang_ctx, cnt), offsetof(struct ang_op, sent),
		offsetof(struct ang_tree, slot), offsetof(struct ang_tree, cnt),
		offsetof(struct ang_tree_entry, set),
	};
	u64 hash = ANG_HASH_INIT;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		hash = ang_hash(hash, sizes[i]);
	return (u32)hash;
}

/*
 * Fills in the configuration of the model.  It is that of the loopback
 * (driver/loop/main.c), but with longer trains, since no other process waits
 * while a train is copied.
 */
static int make_cfg(const struct ang_spec *spec, const char *text,
		    struct ang_cfg *cfg)
{
	u32 routers = spec->topo.routers;
	bool small = routers <= SMALL_FABRIC;
	u16 train = routers <= TINY_FABRIC ? 64 : small ? 16 : 2;

	cfg->topo = spec->topo;
	cfg->text = text;
	cfg->ctxs = (u16)(spec->ctxs ? spec->ctxs : small ? 16 : 4);
	cfg->ops = small ? 64 : 16;
	cfg->bufs = small ? 64 : 16;
	cfg->depth = small ? 8 : 4;
	cfg->trees = (u16)(spec->trees ? spec->trees : ANG_DEF_TREES);
	cfg->train = spec->train ? (u16)spec->train : train;
	cfg->fault = spec->fault;
	cfg->seed = spec->seed;
	if (getrandom(&cfg->fabric_id, sizeof(cfg->fabric_id), 0) !=
	    (ssize_t)sizeof(cfg->fabric_id))
		return -EIO;
	return ang_cfg_check(cfg) ? 0 : -EINVAL;
}

static u64 heap_span(const struct ang_spec *spec, u32 procs, u64 room)
{
	u64 span = EMB_HEAP_MIN;

	if (spec->heap_mib)
		return align_up((u64)spec->heap_mib << 20, HEAP_ALIGN);
	while (span < room && span * procs < HEAP_ROOM)
		span *= 2;
	return span;
}

/**
 * emb_layout() - compute the layout of a segment
 * @head: out
 * @spec: specification given by the user
 * @text: description of a graph, else NULL
 * @room: bytes of memory that are available
 *
 * Return: 0; -EINVAL a size would be out of bounds; -EIO.
 */
int emb_layout(struct emb_head *head, const struct ang_spec *spec,
	       const char *text, u64 room)
{
	u64 at;
	int ret;

	*head = (struct emb_head){
		.magic = EMB_MAGIC,
		.version = EMB_VERSION,
		.layout = emb_layout_hash(),
		.procs = spec->procs ? spec->procs : DEF_PROCS,
	};
	ret = make_cfg(spec, text, &head->cfg);
	if (ret)
		return ret;
	head->nodes = head->cfg.topo.nodes;
	head->routers = head->cfg.topo.routers;
	head->node_size = (u32)align_up(sizeof(struct emb_node) +
					head->cfg.ctxs * sizeof(struct emb_ctx),
					64);
	at = align_up(sizeof(*head), 64);
	head->slot_at = at;
	at += head->procs * sizeof(struct emb_slot);
	head->node_at = at;
	at = align_up(at + (u64)head->routers * head->node_size, 64);
	if (head->routers <= EMB_BOARD_ROUTERS) {
		head->share_at = at;
		at += (u64)head->nodes * head->cfg.ctxs * sizeof(struct emb_share);
		head->board_at = at;
		at += (u64)head->routers * head->cfg.trees *
		      sizeof(struct emb_board);
	}
	at = align_up(at, ANGARA_PAGE_SIZE);
	head->copy_at = at;
	head->adm_off = ANGARA_PAGE_SIZE;
	head->model_off = head->adm_off + (u64)head->nodes * ANGARA_PAGE_SIZE;
	head->copy_span = align_up(head->model_off + ang_fabric_size(&head->cfg),
				   ANGARA_PAGE_SIZE);
	at = align_up(at + EMB_COPIES * head->copy_span, HEAP_ALIGN);
	head->heap_at = at;
	head->heap_span = heap_span(spec, head->procs, room);
	head->size = at + head->procs * head->heap_span;
	return head->size >> EMB_ADDR_BITS ? -EINVAL : 0;
}

/* Reserves pages, so that they can be written. Return: 0; -ENOSPC; -errno. */
int emb_reserve(int fd, u64 at, u64 len)
{
	int ret;

	do {
		ret = fallocate(fd, 0, (off_t)at, (off_t)len);
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}
