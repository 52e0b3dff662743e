// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Faults of links, as ANGARA_ADM_LINK_SET sets them, and links that go down and up.
 *
 * ang_fabric.flawed counts links with faults and lost nodes: while it is 0, all
 * links are perfect, and operations may bypass them. ang_fabric.broken counts
 * links that are down and lost nodes: while it is 0, no node checks paths.
 *
 * A link goes down in both directions, by command or because its retries are
 * used up.  A link that is down drops all packets.  All nodes search for
 * operations and trees that need the link, as if a node were lost; see
 * ang_lost.c.  After that the link may go up again.
 *
 * A fault lasts until the node whose driver has set it is reset: then the
 * node's links get the initial faults of the fabric again, and links that the
 * node took down go up.
 */
#include "ang_int.h"

/*
 * ang_flaw_set() - set a flaw (ANG_FLAW_*) of a link
 *
 * Counts the flaw before setting it: if the thread dies in between, the count
 * is too high, never too low.
 */
void ang_flaw_set(struct ang_fabric *fab, struct ang_port *port, u32 flaw)
{
	u32 old;

	ang_fetch_add(&fab->flawed, 1);
	if (flaw & ANG_FLAW_DOWN)
		ang_fetch_add(&fab->broken, 1);
	old = ang_fetch_or(&port->flaws, flaw);
	if (old)
		ang_fetch_add(&fab->flawed, ~0U);
	if (flaw & old & ANG_FLAW_DOWN)
		ang_fetch_add(&fab->broken, ~0U);
}

/** ang_flaw_clear() - clear a flaw of a link */
void ang_flaw_clear(struct ang_fabric *fab, struct ang_port *port, u32 flaw)
{
	u32 old = ang_fetch_and(&port->flaws, ~flaw);

	if (flaw & old & ANG_FLAW_DOWN)
		ang_fetch_add(&fab->broken, ~0U);
	if (old && !(old & ~flaw))
		ang_fetch_add(&fab->flawed, ~0U);
}

/**
 * ang_nodes_look() - make all nodes check which nodes and links were lost or
 * came back, and whether routes have changed
 * @v: view
 */
void ang_nodes_look(struct ang_view *v)
{
	ang_fetch_add(&v->fab->lost, 1);
	ang_nodes_admin(v);
}

static struct ang_port *far_port(struct ang_view *v, const struct ang_port *port)
{
	return ang_port(v->fab, ang_node(v->fab, port->peer), port->far);
}

/**
 * ang_link_down() - take a link down, in both directions
 * @v: view
 * @n: node
 * @dir: port
 */
void ang_link_down(struct ang_view *v, struct ang_node *n, u32 dir)
{
	struct ang_port *port = ang_port(v->fab, n, dir);
	struct ang_port *far = far_port(v, port);
	u32 fell;

	ang_flaw_set(v->fab, port, ANG_FLAW_DOWN | ANG_FLAW_CAUSE);
	ang_flaw_set(v->fab, far, ANG_FLAW_DOWN);
	/*
	 * Operations that started earlier find that the link went down after
	 * their start; operations that start now find that the link is down.
	 */
	fell = READ_ONCE(v->fab->lost) + 1;
	WRITE_ONCE(port->fell, fell);
	WRITE_ONCE(far->fell, fell);
	ang_nodes_look(v);
}

static void link_up(struct ang_view *v, struct ang_port *port)
{
	ang_flaw_clear(v->fab, port, ANG_FLAW_DOWN | ANG_FLAW_CAUSE);
	ang_flaw_clear(v->fab, far_port(v, port), ANG_FLAW_DOWN | ANG_FLAW_CAUSE);
	ang_nodes_look(v);
}

/*
 * Bring up the links that a node took down.  A link stays down if its other end
 * has taken it down, too.
 */
static void links_release(struct ang_view *v, struct ang_node *n)
{
	u32 dir;

	for (dir = 0; dir < v->fab->nports; dir++) {
		struct ang_port *port = ang_port(v->fab, n, dir);

		if (!(READ_ONCE(port->flaws) & ANG_FLAW_CAUSE))
			continue;
		ang_flaw_clear(v->fab, port, ANG_FLAW_CAUSE);
		if (!(READ_ONCE(far_port(v, port)->flaws) & ANG_FLAW_CAUSE))
			link_up(v, port);
	}
}

static void fault_apply(struct ang_fabric *fab, struct ang_port *port,
			const struct ang_fault *fault, u64 seed)
{
	struct ang_retry *r = &port->retry;

	r->fault = *fault;
	r->rng = seed;
	if (!ang_fault_none(&r->fault))
		ang_flaw_set(fab, port, ANG_FLAW_RETRY);
	else if (!r->held)
		ang_flaw_clear(fab, port, ANG_FLAW_RETRY);
}

/**
 * ang_fault_begin() - give a link the initial faults of its fabric
 * @fab: fabric
 * @n: node or switch
 * @dir: port that has a link
 *
 * The random generator of each link has a seed of its own.
 */
void ang_fault_begin(struct ang_fabric *fab, struct ang_node *n, u32 dir)
{
	u64 seed = fab->cfg.seed + ((u64)n->id << 6 | dir);

	fault_apply(fab, ang_port(fab, n, dir), &fab->cfg.fault,
		    ang_fault_draw(&seed));
}

/*
 * Undo all faults that commands of this node have set.  Return: true if the
 * node had taken a link down.
 */
static bool faults_clear(struct ang_fabric *fab, struct ang_node *n)
{
	bool caused = false;
	u32 dir;

	for (dir = 0; dir < fab->nports; dir++) {
		struct ang_port *port = ang_port(fab, n, dir);

		if (port->peer == ANG_NONE)
			continue;
		ang_fault_begin(fab, n, dir);
		caused |= READ_ONCE(port->flaws) & ANG_FLAW_CAUSE;
	}
	return caused;
}

/**
 * ang_faults_reset() - undo the faults that a node has set, when it is reset
 * @v: view
 * @n: node or switch, held; the caller has called ang_lost() for it
 *
 * Return: true; false if links may not go up yet.  The node is woken when this
 * may have changed; then call again.
 */
bool ang_faults_reset(struct ang_view *v, struct ang_node *n)
{
	if (!faults_clear(v->fab, n))
		return true;
	if (!ang_lost_seen(v))
		return false;
	links_release(v, n);
	return true;
}

/**
 * ang_faults_torn() - undo the faults that a torn node (its holder died) has
 * set; links that it took down go up at once
 * @v: view, which has handled losses for all other nodes
 * @n: node or switch
 */
void ang_faults_torn(struct ang_view *v, struct ang_node *n)
{
	faults_clear(v->fab, n);
	links_release(v, n);
}

static void fault_set(struct ang_view *v, struct ang_port *port,
		      const struct angara_adm_link *arg)
{
	const struct ang_fault fault = {
		.loss = le32_to_cpu(arg->loss),
		.corrupt = le32_to_cpu(arg->corrupt),
		.delay = le32_to_cpu(arg->delay),
	};

	fault_apply(v->fab, port, &fault, le64_to_cpu(arg->seed));
}

static bool fault_ok(const struct angara_adm_link *arg)
{
	u32 loss = le32_to_cpu(arg->loss), corrupt = le32_to_cpu(arg->corrupt);

	return loss <= ANGARA_FAULT_ONE && corrupt <= ANGARA_FAULT_ONE - loss &&
	       le32_to_cpu(arg->delay) <= ANGARA_FAULT_MAX_DELAY;
}

/**
 * ang_link_set() - set the faults of a link, or take it down or up
 * @v: view
 * @n: node or switch, held
 * @arg: settings
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_link_set(struct ang_view *v, struct ang_node *n,
		 const struct angara_adm_link *arg)
{
	u32 dir = le32_to_cpu(arg->port);
	struct ang_port *port;

	/*
	 * With cfg.remote, processes that run other nodes would not learn of
	 * the change.
	 */
	if (v->fab->cfg.sealed || v->fab->cfg.remote)
		return ANGARA_ADM_ST_SEALED;
	if (dir >= v->fab->nports || !arg->what ||
	    arg->what & ~(ANGARA_LINK_FAULT | ANGARA_LINK_DOWN | ANGARA_LINK_UP) ||
	    (arg->what & ANGARA_LINK_DOWN && arg->what & ANGARA_LINK_UP) ||
	    (arg->what & ANGARA_LINK_FAULT && !fault_ok(arg)))
		return ANGARA_ADM_ST_PARAM;
	port = ang_port(v->fab, n, dir);
	if (port->peer == ANG_NONE)
		return ANGARA_ADM_ST_ABSENT;
	if (arg->what & ANGARA_LINK_FAULT)
		fault_set(v, port, arg);
	if (arg->what & ANGARA_LINK_DOWN)
		ang_link_down(v, n, dir);
	if (arg->what & ANGARA_LINK_UP)
		link_up(v, port);
	return ANGARA_ADM_ST_OK;
}
