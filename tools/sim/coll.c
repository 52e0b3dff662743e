// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broadcast, reduce, allreduce, barrier: in the network, or by messages between
 * hosts along the same tree.  By messages, a host sends packet by packet, and each
 * packet to the child with the deepest subtree first.
 */
#include <errno.h>
#include "work.h"

/* The lowest bit of the tag is the direction of a message: up or down. */
#define TAG_DOWN	1U

/**
 * struct part - a node's state of one packet of a reduction by messages
 * @sum: sum of the contributions received
 * @count: number of contributions received
 */
struct part {
	u64 sum;
	u32 count;
	u32 pad;
};

static struct coll *coll_of(const struct sim_part *p)
{
	return p->sim->arg;
}

static u64 bcast_value(u32 packet)
{
	return (packet + 1) * 0x9E3779B97F4A7C15ULL;
}

static u32 packet_len(const struct sim_part *p, u32 packet)
{
	u32 size = (u32)p->sim->cfg.packet;
	u32 left = coll_of(p)->bytes - packet * size;

	return left < size ? left : size;
}

static u32 tree_of(const struct coll *c, u32 packet)
{
	return packet % c->trees;
}

static void send_one(struct sim_part *p, u32 node, u32 dst, u32 packet,
		     u32 down, u64 value)
{
	struct sim_op op = {
		.type = ANG_PKT_PUT, .dst = dst, .tag = packet << 1 | down,
		.left = packet_len(p, packet), .value = value,
	};

	sim_send(p, node, &op);
}

/*
 * Remove the child with the deepest, or shallowest, subtree from @dirs, a set of ports to
 * children.  Return: router of this child.
 */
static u32 next_child(const struct sim_part *p, u32 node, u32 tree, u64 *dirs)
{
	const struct sim *s = p->sim;
	const u16 *height = coll_of(p)->height[tree];
	bool shallow = coll_of(p)->shallowest;
	u32 best = ang_lowest(*dirs);
	u64 set;

	for (set = *dirs & (*dirs - 1); set; set &= set - 1) {
		u32 dir = ang_lowest(set);
		u32 now = height[sim_end(s, node, dir)->router];
		u32 most = height[sim_end(s, node, best)->router];

		if (shallow ? now < most : now > most)
			best = dir;
	}
	*dirs &= ~(1ULL << best);
	return sim_end(s, node, best)->router;
}

static void send_down(struct sim_part *p, u32 node, u32 packet, u64 value)
{
	u32 tree = tree_of(coll_of(p), packet);
	u64 dirs = sim_row(p->sim, node, tree)->ports;

	while (dirs)
		send_one(p, node, next_child(p, node, tree, &dirs), packet,
			 TAG_DOWN, value);
}

static u64 contribution(u32 node, u32 packet)
{
	return (u64)(node + 1) * (packet + 1);
}

/*
 * Counts a packet of the result, or of the broadcast, that has reached a
 * target, and checks its value.
 */
static void complete(struct sim_part *p, u32 packet, u64 value)
{
	struct coll *c = coll_of(p);

	p->acc.done++;
	if (value != (c->type == ANG_PKT_BCAST ? bcast_value(packet) :
						 c->sum * (packet + 1)))
		p->acc.wrong++;
}

static void offload_start(struct sim_part *p, u32 node)
{
	struct coll *c = coll_of(p);
	u32 id = p->sim->base + node;
	u32 packet, i;

	if (c->type == ANG_PKT_BCAST ? id != c->source :
				       !sim_row(p->sim, node, 0)->pe)
		return;
	for (packet = 0; packet < c->packets; packet++) {
		struct sim_op op = {
			.type = (u8)c->type, .dst = ANG_NONE,
			.tree = (u8)tree_of(c, packet),
			.tag = packet / c->trees,
			.left = packet_len(p, packet),
			.value = c->type == ANG_PKT_BCAST ?
				 bcast_value(packet) : contribution(id, packet),
		};

		if (c->type == ANG_PKT_REDUCE)
			op.dst = c->source;
		for (i = 0; i < work_local(p->sim); i++) {
			op.module = (u8)(i % p->sim->modules);
			sim_send(p, node, &op);
			if (c->type == ANG_PKT_BCAST)
				break;
		}
	}
}

static void offload_eject(struct sim_part *p, u32 node, const struct sim_pkt *k,
			  u64 time)
{
	(void)node;
	(void)time;
	complete(p, k->seq * coll_of(p)->trees + k->tree, k->value);
}

const struct sim_work coll_offload = {
	.name = "offload",
	.start = offload_start,
	.eject = offload_eject,
};

static struct part *part_of(struct sim_part *p, u32 node, u32 packet)
{
	return (struct part *)sim_state(p->sim, node) + packet;
}

/* Send the sum of a node that has all contributions to the parent; the root has the result. */
static void up_done(struct sim_part *p, u32 node, u32 packet)
{
	struct coll *c = coll_of(p);
	const struct angara_tree_row *row = sim_row(p->sim, node,
						    tree_of(c, packet));
	u64 sum = part_of(p, node, packet)->sum;

	if (!row->is_root) {
		send_one(p, node, sim_end(p->sim, node, row->to_root)->router, packet, 0, sum);
		return;
	}
	if (c->type == ANG_PKT_REDUCE && p->sim->base + node != c->source) {
		send_one(p, node, c->source, packet, TAG_DOWN, sum);
		return;
	}
	complete(p, packet, sum);
	if (c->type == ANG_PKT_ALLREDUCE)
		send_down(p, node, packet, sum);
}

/* A source that is not the root sends to the root first, as a request does. */
static void p2p_bcast(struct sim_part *p, u32 node, u32 packet)
{
	struct coll *c = coll_of(p);
	const struct angara_tree_row *row = sim_row(p->sim, node,
						    tree_of(c, packet));
	u64 value = bcast_value(packet);

	if (!row->is_root) {
		send_one(p, node, c->tree_root[tree_of(c, packet)], packet,
			 TAG_DOWN, value);
		return;
	}
	complete(p, packet, value);
	send_down(p, node, packet, value);
}

static void p2p_start(struct sim_part *p, u32 node)
{
	struct coll *c = coll_of(p);
	u32 id = p->sim->base + node;
	u32 packet;

	for (packet = 0; packet < c->packets; packet++) {
		struct part *t = part_of(p, node, packet);
		const struct angara_tree_row *row = sim_row(p->sim, node,
							    tree_of(c, packet));

		if (c->type == ANG_PKT_BCAST && id == c->source)
			p2p_bcast(p, node, packet);
		if (c->type == ANG_PKT_BCAST || !row->pe)
			continue;
		t->sum = contribution(id, packet) * work_local(p->sim);
		if (!row->port_sum)
			up_done(p, node, packet);
	}
}

static void p2p_eject(struct sim_part *p, u32 node, const struct sim_pkt *k,
		      u64 time)
{
	struct part *t = part_of(p, node, k->seq >> 1);

	/*
	 * The sum may include data that arrives only at @time.  It is used when
	 * all contributions have arrived.
	 */
	t->sum = k->seq & TAG_DOWN ? k->value : t->sum + k->value;
	sim_push(p, time, node, SIM_EV_HOST, 0, k->seq);
}

static void p2p_host(struct sim_part *p, u32 node, u32 arg)
{
	u32 packet = arg >> 1;
	struct part *t = part_of(p, node, packet);
	struct sim_nic *n = &p->sim->nic[node];

	if (arg & TAG_DOWN) {
		complete(p, packet, t->sum);
		if (coll_of(p)->type != ANG_PKT_REDUCE)
			send_down(p, node, packet, t->sum);
		return;
	}
	n->cpu_free = sim_max(n->cpu_free, p->now) + p->sim->cfg.combine;
	if (++t->count == sim_row(p->sim, node, tree_of(coll_of(p), packet))->port_sum)
		up_done(p, node, packet);
}

const struct sim_work coll_p2p = {
	.name = "p2p",
	.start = p2p_start,
	.eject = p2p_eject,
	.host = p2p_host,
};

/*
 * Return: heights of all routers in a tree.  For each router, the walk towards the root raises
 * the heights on its way, up to the first router that is high enough already.
 */
static u16 *heights(const struct sim *s, u32 tree)
{
	const struct angara_tree_row *rows = s->rows[tree];
	u16 *height = sim_zalloc(s->topo.routers, sizeof(*height));
	u32 i;

	for (i = 0; i < s->topo.routers; i++) {
		u32 node = i, up = 0;

		if (!angara_tree_has(&rows[i]))
			continue;
		while (!rows[node].is_root) {
			node = ang_topo_neighbor(&s->topo, node,
						 rows[node].to_root);
			if (height[node] >= ++up)
				break;
			height[node] = (u16)up;
		}
	}
	return height;
}

/*
 * Find the roots, and count the packets to expect.  Operations by messages need
 * a host at each node of a tree.
 */
static int expectations(struct sim *s, struct coll *c)
{
	u64 n = 0;
	u32 i, tree;

	c->sum = 0;
	for (i = 0; i < s->topo.routers; i++) {
		n += !!s->rows[0][i].pe;
		c->sum += s->rows[0][i].pe * (u64)(i + 1);
		for (tree = 0; tree < c->trees; tree++) {
			const struct angara_tree_row *row = &s->rows[tree][i];

			if (row->is_root)
				c->tree_root[tree] = i;
			if (c->mode != WORK_P2P || row->pe ||
			    !angara_tree_has(row))
				continue;
			fprintf(stderr, "angara-sim: %s %u has no participant to pass messages on; --mode p2p needs a block that holds its trees, and a fabric without switches\n",
				i < s->topo.nodes ? "node" : "router", i);
			return -EINVAL;
		}
	}
	s->expect = (c->type == ANG_PKT_REDUCE ? 1 : n) * c->packets;
	return 0;
}

/**
 * coll_run() - one collective on a new fabric
 * @e: environment
 * @c: operation; @packets and later members are filled in
 * @r: out
 *
 * Return: 0, or a negative errno after printing a message.
 */
int coll_run(struct env *e, struct coll *c, struct result *r)
{
	struct sim s;
	u32 i;
	int err;

	work_begin(e, &s);
	c->packets = c->bytes ? (u32)((c->bytes + e->cfg.packet - 1) /
				      e->cfg.packet) : 1;
	err = c->plan ? work_trees_planned(&s, c->trees, c->plan) :
	      work_trees_on(&s, c->trees, c->root, c->spread, &c->block);
	if (!err)
		err = expectations(&s, c);
	if (err) {
		sim_free(&s);
		return err;
	}
	s.work = c->mode == WORK_P2P ? &coll_p2p : &coll_offload;
	s.arg = c;
	if (c->mode == WORK_P2P) {
		sim_need_state(&s, c->packets * (u32)sizeof(struct part));
		for (i = 0; i < c->trees; i++)
			c->height[i] = heights(&s, i);
	} else if (c->type != ANG_PKT_BCAST) {
		sim_need_reducers(&s);
	}
	err = work_end(e, &s, r);
	for (i = 0; i < c->trees && c->mode == WORK_P2P; i++)
		free(c->height[i]);
	return err;
}
