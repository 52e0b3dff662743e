// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management: packets that read and write the tables of a router, hop
 * by hop.
 *
 * A request lists the port by which it leaves each router.  Each router
 * replaces the port by which the packet left the previous router with the port
 * that leads back, so an answer needs no table of routes.  A path has an end,
 * so no packet circulates.
 *
 * Management packets have a virtual channel of their own: per link a box, a
 * queue of ANG_MGMT_DEPTH packets that the neighbor fills.  There is no flow
 * control: if the box is full, a packet is dropped and counted, and the
 * requester repeats it.  So management and other channels do not wait for each
 * other, and management cannot deadlock.  Links with faults may lose management
 * packets, which are not retransmitted.  If a router cannot forward a request,
 * since the path names a port without a link or a link that is down, this
 * router answers in place of the target.
 *
 * The holder of a router handles management packets where it handles admin
 * commands (ang_node.db_admin), so the data path need not check for them.  It
 * handles at most ANG_MGMT_TURN packets before it handles data again.  A node
 * waits for one answer at a time.  Both rules limit the effect of a flood of
 * requests.
 *
 * A request that writes contains the key of the router and the number of writes
 * that the router has accepted: so a recorded packet has no effect when it is
 * sent again.
 *
 * Memory order: the producer of a box writes the packet, then releases tail,
 * then mail; the consumer takes mail, acquires tail, then releases head.
 */
#include "ang_int.h"

#define MGMT_ATTRS	(ANGARA_MGMT_KEY + 1)

#define MGMT_FLITS \
	((u32)(sizeof(struct angara_mgmt) + ANGARA_FLIT_BYTES - 1) / ANGARA_FLIT_BYTES)

static struct ang_mgmt *mgmt_of(struct ang_fabric *fab, struct ang_node *n)
{
	return (struct ang_mgmt *)((char *)n + fab->off_mgmt);
}

/** ang_mgmt_size() - get the size of struct ang_mgmt with @nports ports */
u32 ang_mgmt_size(u32 nports)
{
	return (u32)(sizeof(struct ang_mgmt) +
		     (nports + 1) * sizeof(struct ang_mgmt_box));
}

/** ang_mgmt_init() - set the initial key of a router */
void ang_mgmt_init(struct ang_fabric *fab, struct ang_node *n)
{
	mgmt_of(fab, n)->key = fab->cfg.mgmt_key;
}

static void mgmt_trace(struct ang_view *v, struct ang_node *n, u32 event,
		       const struct angara_mgmt *p, u32 port)
{
	const struct ang_pkt pkt = {
		.type = ANG_PKT_MGMT,
		.npkts = 1,
		.src_node = n->id,
		.len = sizeof(*p),
		.seq = p->at,
	};

	n->clock += MGMT_FLITS;
	if (v->ops->trace)
		ang_trace_record(v, n, event, &pkt, port,
				 event == ANG_TR_SEND ? ANG_VC_MGMT : 0, p->status);
}

static void mgmt_drop(struct ang_view *v, struct ang_node *n,
		      const struct angara_mgmt *p)
{
	mgmt_of(v->fab, n)->dropped++;
	mgmt_trace(v, n, ANG_TR_DROP, p, ANGARA_PORT_NONE);
}

/* Put a packet into a box of a router.  Return: false if there is no room. */
static bool box_put(struct ang_view *v, struct ang_node *to, u32 which,
		    const struct angara_mgmt *p)
{
	struct ang_mgmt *m = mgmt_of(v->fab, to);
	struct ang_mgmt_box *box = &m->box[which];

	if (box->tail - ang_load_acquire(&box->head) >= ANG_MGMT_DEPTH)
		return false;
	box->pkt[box->tail % ANG_MGMT_DEPTH] = *p;
	ang_store_release(&box->tail, box->tail + 1);
	ang_store_release(&m->mail, 1);
	ang_store_release(&to->db_admin, 1);
	ang_wake(v, to, 0);
	return true;
}

/* Take the oldest packet of a box.  Return: false if the box is empty. */
static bool box_get(struct ang_mgmt_box *box, struct angara_mgmt *p)
{
	if (box->head == ang_load_acquire(&box->tail))
		return false;
	*p = box->pkt[box->head % ANG_MGMT_DEPTH];
	ang_store_release(&box->head, box->head + 1);
	return true;
}

/* Is a link down, or the router at its other end lost? */
static bool port_down(struct ang_fabric *fab, const struct ang_port *port)
{
	return READ_ONCE(port->flaws) & ANG_FLAW_DOWN ||
	       READ_ONCE(ang_node(fab, port->peer)->remote) == ANG_REMOTE_GONE;
}

u64 ang_links_down(struct ang_fabric *fab, u32 router)
{
	struct ang_node *n = ang_node(fab, router);
	u64 down = 0;
	u32 i;

	if (!READ_ONCE(fab->broken))
		return 0;
	for (i = 0; i < fab->nports; i++) {
		const struct ang_port *port = ang_port(fab, n, i);

		if (port->peer != ANG_NONE)
			down |= (u64)port_down(fab, port) << i;
	}
	return down;
}

/*
 * Send a packet.  Return: ANGARA_MGMT_ST_OK, also if the packet is lost; else
 * the cause.
 */
static u8 mgmt_send(struct ang_view *v, struct ang_node *n,
		    const struct angara_mgmt *p, u32 dir)
{
	struct ang_port *port;

	if (dir >= v->fab->nports || ang_port(v->fab, n, dir)->peer == ANG_NONE)
		return ANGARA_MGMT_ST_PORT;
	port = ang_port(v->fab, n, dir);
	if (port_down(v->fab, port))
		return ANGARA_MGMT_ST_DOWN;
	if (READ_ONCE(port->flaws) & ANG_FLAW_RETRY &&
	    ang_fault_fate(&port->retry.fault, &port->retry.rng) != ANG_FATE_OK) {
		mgmt_drop(v, n, p);
		return ANGARA_MGMT_ST_OK;
	}
	if (box_put(v, ang_node(v->fab, port->peer), port->far, p))
		mgmt_trace(v, n, ANG_TR_SEND, p, dir);
	else
		mgmt_drop(v, n, p);
	return ANGARA_MGMT_ST_OK;
}

/*
 * Store an answer for the host of this node, if the node waits for the answer.
 */
static void mgmt_deliver(struct ang_view *v, struct ang_node *n,
			 const struct angara_mgmt *p)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);

	if (m->state != ANG_MGMT_WAITS || le64_to_cpu(p->tid) != m->tid) {
		mgmt_drop(v, n, p);
		return;
	}
	m->answer = *p;
	m->state = ANG_MGMT_DONE;
	mgmt_trace(v, n, ANG_TR_EJECT, p, ANGARA_PORT_NONE);
}

/* Send an answer one hop back. */
static void mgmt_back(struct ang_view *v, struct ang_node *n,
		      struct angara_mgmt *p)
{
	if (!p->at) {
		mgmt_deliver(v, n, p);
		return;
	}
	p->at--;
	if (mgmt_send(v, n, p, p->path[p->at]) != ANGARA_MGMT_ST_OK)
		mgmt_drop(v, n, p);
}

static u8 node_get(struct ang_view *v, struct ang_node *n,
		   struct angara_mgmt *p, u32 in)
{
	const struct ang_mgmt *m = mgmt_of(v->fab, n);
	struct angara_mgmt_node out = {
		.router = cpu_to_le32(n->id),
		.nodes = cpu_to_le32(v->topo.nodes),
		.routers = cpu_to_le32(v->topo.routers),
		.flags = cpu_to_le32((ang_is_switch(v->fab, n) ?
				      ANGARA_MGMT_IS_SWITCH : 0) |
				     (m->key ? ANGARA_MGMT_HAS_KEY : 0) |
				     (v->fab->cfg.sealed ? ANGARA_MGMT_SEALED : 0)),
		.fabric_id = cpu_to_le64(v->fab->cfg.fabric_id),
		.taken = cpu_to_le64(m->taken),
		.dropped = cpu_to_le64(m->dropped),
		.refused = cpu_to_le64(m->refused),
		.trees = (u8)v->fab->cfg.trees,
		.ports = v->fab->nports,
		.port = (u8)(in == v->fab->nports ? ANGARA_PORT_NONE : in),
	};
	u64 joined = 0, faulty = 0;
	u32 i;

	for (i = 0; i < v->fab->nports; i++) {
		const struct ang_port *port = ang_port(v->fab, n, i);

		if (port->peer == ANG_NONE)
			continue;
		joined |= 1ULL << i;
		faulty |= (u64)!!(READ_ONCE(port->flaws) & ANG_FLAW_RETRY) << i;
	}
	out.joined = cpu_to_le64(joined);
	out.down = cpu_to_le64(ang_links_down(v->fab, n->id));
	out.faulty = cpu_to_le64(faulty);
	memcpy(p->data, &out, sizeof(out));
	return ANGARA_MGMT_ST_OK;
}

static u64 row_sum(const u64 *list)
{
	u64 all = 0;
	u32 vc;

	for (vc = 0; vc < ANGARA_VC_NUM; vc++)
		all += list[vc];
	return all;
}

static u8 port_get(struct ang_view *v, struct ang_node *n,
		   struct angara_mgmt *p, u32 in)
{
	u32 dir = le32_to_cpu(p->modifier);
	struct angara_mgmt_port out = { 0 };
	const struct ang_port *port;
	struct ang_link l;

	if (dir >= v->fab->nports)
		return ANGARA_MGMT_ST_PARAM;
	port = ang_port(v->fab, n, dir);
	if (port->peer != ANG_NONE) {
		ang_aside_count_all(v, n);
		l = ang_port_link(port);
		out.state = cpu_to_le32(port_down(v->fab, port) ?
					ANGARA_MGMT_PORT_DOWN :
					ANGARA_MGMT_PORT_UP);
		out.loss = cpu_to_le32(port->retry.fault.loss);
		out.corrupt = cpu_to_le32(port->retry.fault.corrupt);
		out.delay = cpu_to_le32(port->retry.fault.delay);
		out.packets = cpu_to_le64(row_sum(l.packets));
		out.flits = cpu_to_le64(row_sum(l.flits));
		out.stalls = cpu_to_le64(row_sum(l.stalls));
		out.lost = cpu_to_le64(port->retry.cnt.lost);
		out.corrupted = cpu_to_le64(port->retry.cnt.corrupt);
		out.retransmitted = cpu_to_le64(port->retry.cnt.retransmitted);
		out.timeouts = cpu_to_le64(port->retry.cnt.timeouts);
	}
	memcpy(p->data, &out, sizeof(out));
	return ANGARA_MGMT_ST_OK;
}

static u8 row_get(struct ang_view *v, struct ang_node *n,
		  struct angara_mgmt *p, u32 in)
{
	u32 tree = le32_to_cpu(p->modifier);
	struct angara_mgmt_row out = { 0 };
	const struct ang_tree *t;

	if (tree >= v->fab->cfg.trees)
		return ANGARA_MGMT_ST_PARAM;
	t = &n->tree[tree];
	if (t->state == ANGARA_TREE_STATE_UNSET)
		return ANGARA_MGMT_ST_ABSENT;
	out.ports = cpu_to_le64(t->row.ports);
	out.pkey = cpu_to_le32(t->row.pkey);
	out.down_node = cpu_to_le32(t->down_node);
	out.pe = cpu_to_le16(t->row.pe);
	out.epoch = cpu_to_le16(t->row.epoch);
	out.is_root = t->row.is_root;
	out.to_root = t->row.to_root;
	out.port_sum = t->row.port_sum;
	out.state = t->state;
	out.members = t->members;
	memcpy(p->data, &out, sizeof(out));
	return ANGARA_MGMT_ST_OK;
}

/* Return: ANGARA_MGMT_ST_* for the ANGARA_ADM_ST_* of a command. */
static u8 mgmt_status(u32 adm)
{
	switch (adm) {
	case ANGARA_ADM_ST_OK:
		return ANGARA_MGMT_ST_OK;
	case ANGARA_ADM_ST_EXISTS:
		return ANGARA_MGMT_ST_EXISTS;
	case ANGARA_ADM_ST_ABSENT:
		return ANGARA_MGMT_ST_ABSENT;
	case ANGARA_ADM_ST_RULE:
		return ANGARA_MGMT_ST_RULE;
	default:
		return ANGARA_MGMT_ST_PARAM;
	}
}

static bool is_zero(const u8 *bytes, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Read a value.  Return: false if the data after the value is not 0. */
static bool value_get(const struct angara_mgmt *p, void *value, u32 size)
{
	memcpy(value, p->data, size);
	return is_zero(p->data + size, ANGARA_MGMT_DATA - size);
}

/*
 * Can rows be set here?  Not on an adapter that is disabled: a reset clears
 * only the rows of an enabled adapter.
 */
static bool rows_change(struct ang_view *v, const struct ang_node *n, u32 tree)
{
	return (ang_is_switch(v->fab, n) || (n->enabled && !n->resetting)) &&
	       !n->tree[tree].abort_todo;
}

static u8 row_set(struct ang_view *v, struct ang_node *n,
		  struct angara_mgmt *p, u32 in)
{
	u32 tree = le32_to_cpu(p->modifier);
	struct angara_tree_row row = { 0 };
	struct angara_mgmt_row w;
	u32 status, rule = 0;

	if (!value_get(p, &w, sizeof(w)) || tree >= v->fab->cfg.trees ||
	    w.down_node || w.state || w.members ||
	    !is_zero(w.reserved, sizeof(w.reserved)))
		return ANGARA_MGMT_ST_PARAM;
	if (!rows_change(v, n, tree))
		return ANGARA_MGMT_ST_BUSY;
	row.tree = (u8)tree;
	row.is_root = w.is_root;
	row.to_root = w.to_root;
	row.port_sum = w.port_sum;
	row.ports = le64_to_cpu(w.ports);
	row.pe = le16_to_cpu(w.pe);
	row.pkey = le32_to_cpu(w.pkey);
	row.epoch = le16_to_cpu(w.epoch);
	status = ang_tree_set(v, n, &row, 0, &rule);
	if (status == ANGARA_ADM_ST_RULE)
		p->modifier = cpu_to_le32(rule);
	return mgmt_status(status);
}

static u8 row_clear(struct ang_view *v, struct ang_node *n,
		    struct angara_mgmt *p, u32 in)
{
	u32 tree = le32_to_cpu(p->modifier);

	if (!is_zero(p->data, ANGARA_MGMT_DATA) || tree >= v->fab->cfg.trees)
		return ANGARA_MGMT_ST_PARAM;
	return mgmt_status(ang_tree_clear(v, n, tree));
}

static u8 key_set(struct ang_view *v, struct ang_node *n,
		  struct angara_mgmt *p, u32 in)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);
	struct angara_mgmt_key w;

	if (!value_get(p, &w, sizeof(w)) || p->modifier || w.reserved ||
	    le32_to_cpu(w.flags) & ~ANGARA_MGMT_KEY_READ)
		return ANGARA_MGMT_ST_PARAM;
	m->flags = le32_to_cpu(w.flags);
	m->key = le64_to_cpu(w.key);
	return ANGARA_MGMT_ST_OK;
}

/*
 * Functions for GET and SET of each attribute; @in: box that the request came
 * from.
 */
static const struct {
	u8 (*get)(struct ang_view *v, struct ang_node *n,
		  struct angara_mgmt *p, u32 in);
	u8 (*set)(struct ang_view *v, struct ang_node *n,
		  struct angara_mgmt *p, u32 in);
} attrs[MGMT_ATTRS] = {
	[ANGARA_MGMT_NODE]	= { .get = node_get },
	[ANGARA_MGMT_PORT]	= { .get = port_get },
	[ANGARA_MGMT_ROW]	= { .get = row_get, .set = row_set },
	[ANGARA_MGMT_ROW_CLEAR]	= { .set = row_clear },
	[ANGARA_MGMT_KEY]	= { .set = key_set },
};

/* May a request with this key read or write? */
static bool mgmt_allowed(struct ang_view *v, struct ang_mgmt *m,
			 const struct angara_mgmt *p)
{
	bool allowed;

	if (p->method == ANGARA_MGMT_GET)
		allowed = !(m->flags & ANGARA_MGMT_KEY_READ) ||
			  le64_to_cpu(p->key) == m->key;
	else
		allowed = le64_to_cpu(p->key) == m->key &&
			  (m->key || !v->fab->cfg.sealed);
	m->refused += !allowed;
	return allowed;
}

/* Execute a request whose path ends here.  Return: ANGARA_MGMT_ST_*. */
static u8 mgmt_execute(struct ang_view *v, struct ang_node *n,
		       struct angara_mgmt *p, u32 in)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);
	u8 status;

	if (!mgmt_allowed(v, m, p))
		return ANGARA_MGMT_ST_KEY;
	if (p->attr >= MGMT_ATTRS)
		return ANGARA_MGMT_ST_METHOD;
	if (p->method == ANGARA_MGMT_GET)
		return !attrs[p->attr].get ? ANGARA_MGMT_ST_METHOD :
		       !is_zero(p->data, ANGARA_MGMT_DATA) || p->writes ?
		       ANGARA_MGMT_ST_PARAM : attrs[p->attr].get(v, n, p, in);
	if (!attrs[p->attr].set)
		return ANGARA_MGMT_ST_METHOD;
	if (le64_to_cpu(p->writes) != m->writes)
		return ANGARA_MGMT_ST_STALE;
	ang_work(v, ANG_WORK_CMD);
	status = attrs[p->attr].set(v, n, p, in);
	m->writes += status == ANGARA_MGMT_ST_OK;
	return status;
}

static void mgmt_request(struct ang_view *v, struct ang_node *n,
			 struct angara_mgmt *p, u32 in)
{
	if (p->at < p->hops) {
		p->status = mgmt_send(v, n, p, p->path[p->at]);
		if (p->status == ANGARA_MGMT_ST_OK)
			return;
	} else {
		p->status = mgmt_execute(v, n, p, in);
	}
	p->answer = 1;
	p->router = cpu_to_le32(n->id);
	p->key = 0;
	p->writes = cpu_to_le64(mgmt_of(v->fab, n)->writes);
	if (p->status != ANGARA_MGMT_ST_OK || p->method != ANGARA_MGMT_GET)
		memset(p->data, 0, sizeof(p->data));
	mgmt_back(v, n, p);
}

/* Handle a packet from box @in. */
static void mgmt_take(struct ang_view *v, struct ang_node *n,
		      struct angara_mgmt *p, u32 in)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);

	ang_work(v, ANG_WORK_PKT + sizeof(*p) / ANG_WORK_BYTES);
	if (in == v->fab->nports) {
		mgmt_trace(v, n, ANG_TR_INJECT, p, ANGARA_PORT_NONE);
	} else {
		m->taken++;
		if (!p->answer)
			p->path[p->at++] = (u8)in;
	}
	if (p->answer)
		mgmt_back(v, n, p);
	else
		mgmt_request(v, n, p, in);
}

/**
 * ang_mgmt_serve() - handle management packets that have arrived
 * @v: view
 * @n: router, held
 *
 * Takes packets from the boxes in turn.
 * Return: true if there were packets; if packets are left, sets
 * ang_node.db_admin.
 */
bool ang_mgmt_serve(struct ang_view *v, struct ang_node *n)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);
	u32 boxes = v->fab->nports + 1U;
	struct angara_mgmt p;
	u32 empty = 0;
	u32 turns = 0;

	if (!READ_ONCE(m->mail) || !ang_xchg(&m->mail, 0))
		return false;
	while (empty < boxes && turns < ANG_MGMT_TURN && !ang_spent(v)) {
		u32 at = m->at;

		m->at = (at + 1) % boxes;
		empty++;
		if (!box_get(&m->box[at], &p))
			continue;
		mgmt_take(v, n, &p, at);
		empty = 0;
		turns++;
	}
	if (empty < boxes) {
		ang_store_release(&m->mail, 1);
		ang_store_release(&n->db_admin, 1);
	}
	return turns;
}

/*
 * Check a packet from the driver or from a peer.  Return: NULL, or the error.
 */
static const char *mgmt_flaw(const struct angara_mgmt *p)
{
	if (p->hops > ANGARA_MGMT_HOPS || p->at > p->hops)
		return "hops, at: out of range";
	if (p->reserved[0] | p->reserved[1] || p->answer > 1 ||
	    p->status >= ANGARA_MGMT_ST_NUM)
		return "answer, status or reserved: bad value";
	if (p->method != ANGARA_MGMT_GET && p->method != ANGARA_MGMT_SET)
		return "method: unknown";
	if (!p->answer && (p->status || p->router))
		return "status, router: must be 0 in a request";
	return NULL;
}

/**
 * ang_mgmt_post() - ANGARA_ADM_MGMT_SEND
 * @v: view
 * @n: node, held
 * @arg: argument
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_mgmt_post(struct ang_view *v, struct ang_node *n,
		  const struct angara_adm_mgmt *arg)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);
	struct angara_mgmt p;

	if (arg->tid)
		return ANGARA_ADM_ST_PARAM;
	if (ang_dma_read(v, n, le64_to_cpu(arg->addr), &p, sizeof(p)))
		return ANGARA_ADM_ST_DMA;
	if (mgmt_flaw(&p) || p.answer || p.at)
		return ANGARA_ADM_ST_PARAM;
	m->state = ANG_MGMT_WAITS;
	m->tid = le64_to_cpu(p.tid);
	return box_put(v, n, v->fab->nports, &p) ? ANGARA_ADM_ST_OK :
						   ANGARA_ADM_ST_FULL;
}

/**
 * ang_mgmt_collect() - ANGARA_ADM_MGMT_RECV
 * @v: view
 * @n: node, held
 * @arg: argument
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_mgmt_collect(struct ang_view *v, struct ang_node *n,
		     const struct angara_adm_mgmt *arg)
{
	struct ang_mgmt *m = mgmt_of(v->fab, n);

	if (m->state != ANG_MGMT_DONE || le64_to_cpu(arg->tid) != m->tid)
		return ANGARA_ADM_ST_ABSENT;
	m->state = ANG_MGMT_IDLE;
	return ang_dma_write(v, n, le64_to_cpu(arg->addr), &m->answer,
			     sizeof(m->answer)) ? ANGARA_ADM_ST_DMA :
						  ANGARA_ADM_ST_OK;
}

/** ang_mgmt_reset() - stop waiting for an answer, when a node is reset */
void ang_mgmt_reset(struct ang_fabric *fab, struct ang_node *n)
{
	mgmt_of(fab, n)->state = ANG_MGMT_IDLE;
}

/**
 * ang_mgmt_empty() - drop all management packets of a router, since its holder
 * or a neighbor's holder may have died while handling one
 * @fab: fabric that no other thread uses
 * @n: router
 */
void ang_mgmt_empty(struct ang_fabric *fab, struct ang_node *n)
{
	struct ang_mgmt *m = mgmt_of(fab, n);
	u32 i;

	for (i = 0; i <= fab->nports; i++)
		m->box[i].head = m->box[i].tail = 0;
	m->mail = 0;
	m->at = 0;
}

const char *ang_remote_mgmt_flaw(struct ang_view *v, u32 node, u32 dir,
				 const struct angara_mgmt *p)
{
	u32 to;

	if (node >= v->topo.routers ||
	    ang_node(v->fab, node)->remote == ANG_REMOTE_NO)
		return "node: the peer does not run this node";
	to = ang_topo_neighbor(&v->topo, node, dir);
	if (to == ANG_NONE || ang_node(v->fab, to)->remote != ANG_REMOTE_NO)
		return "dir: no link to a node that this process runs";
	if (!p->answer && p->at >= p->hops)
		return "at: the path ended before this link";
	return mgmt_flaw(p);
}

bool ang_remote_mgmt_give(struct ang_view *v, u32 node, u32 dir,
			  const struct angara_mgmt *p)
{
	struct ang_node *n = ang_node(v->fab, node);
	const struct ang_port *port = ang_port(v->fab, n, dir);

	if (box_put(v, ang_node(v->fab, port->peer), port->far, p))
		return true;
	mgmt_of(v->fab, n)->dropped++;
	return false;
}

bool ang_remote_mgmt_take(struct ang_view *v, u32 node, u32 dir,
			  struct angara_mgmt *p)
{
	return box_get(&mgmt_of(v->fab, ang_node(v->fab, node))->box[dir], p);
}
