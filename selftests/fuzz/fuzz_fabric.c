// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A correct driver and processes of two partitions.  The input decides what
 * processes of the first partition do: put, get, send, broadcast, reduce, or
 * operate atomically on memory of others, in any order, consistently or not,
 * with entries that may be malformed, under several views.  Sometimes they take
 * their messages.  Processes of the second partition have a secret and are idle
 * until the end.
 *
 * Invariants: the adapter accesses only memory that the driver gave it; the
 * fabric is idle after a bounded number of steps; every operation completes
 * once, and an incomplete one waits for a participant; each message that was
 * sent arrives once and in order; memory without rights for others never
 * changes, nor does memory of the second partition. Its secret is nowhere else,
 * and its operations at the end complete in any state of the first partition.
 * net.c checks all these invariants.
 */
#include <string.h>

#include "net.h"

static const char * const tori[] = {
	"2x2", "3", "2", "3x2", "1", "2x2x2", "5", "1x4",
};

static struct process *pick(struct net *net)
{
	u32 which = in_u8(net->in);
	u32 node = which / 2 % net->h->nodes;

	return net->p[node * LOCAL + which % 2];
}

/* Changes one byte of an entry, which its process finds again by the cookie. */
static void spoil(struct net *net, struct angara_wqe *w)
{
	u32 at = in_u8(net->in) % sizeof(*w);

	if (at < offsetof(struct angara_wqe, cookie) ||
	    at >= offsetof(struct angara_wqe, rkey))
		((u8 *)w)[at] ^= in_u8(net->in) | 1;
	net->spoilt = 1;
	/* With this flag, the model would treat later entries as payload. */
	w->flags &= (u8)~ANGARA_WQE_INLINE;
}

/* The type depends on the tree: participants with different types take it down. */
static void reduction(struct angara_wqe *w, bool other)
{
	static const struct {
		u8 type;
		u8 redop[2];
		u8 size;
	} of_tree[4] = {
		{ ANGARA_TYPE_UINT32, { ANGARA_RED_SUM, ANGARA_RED_MIN }, 4 },
		{ ANGARA_TYPE_FLOAT, { ANGARA_RED_SUM, ANGARA_RED_PROD }, 4 },
		{ ANGARA_TYPE_DOUBLE, { ANGARA_RED_SUM, ANGARA_RED_MAX }, 8 },
		{ ANGARA_TYPE_DOUBLE_LOC,
		  { ANGARA_RED_MINLOC, ANGARA_RED_MAXLOC }, 16 },
	};
	u32 tree = le16_to_cpu(w->tree);
	u32 len = le32_to_cpu(w->length);

	w->type = of_tree[tree].type;
	w->redop = of_tree[tree].redop[other];
	w->length = cpu_to_le32(len - len % of_tree[tree].size);
}

static int is_atomic(const struct angara_wqe *w)
{
	return w->opcode == ANGARA_OP_ATOMIC || w->opcode == ANGARA_OP_FETCH;
}

/* Makes an atomic operation that exists, with as many elements as it may have. */
static void atomic(struct net *net, struct angara_wqe *w)
{
	u32 aop = in_below(net->in, ANGARA_ATOMIC_NUM);
	u32 most = ANGARA_MAX_ATOMIC;
	u32 type = in_u8(net->in);
	u32 size;

	if (!ang_atomic_valid(aop, type % 6))
		aop = ANGARA_ATOMIC_WRITE;
	if (aop == ANGARA_ATOMIC_READ)
		w->opcode = ANGARA_OP_FETCH;
	w->redop = (u8)aop;
	w->type = type % 6;
	size = ang_type_size(w->type);
	if (ang_atomic_operands(aop) == 2)
		most /= 2;
	w->length = cpu_to_le32(size * (1 + in_size(net->in) % (most / size)));
	if (w->opcode == ANGARA_OP_FETCH)
		w->aux = cpu_to_le64(BUFFER / 2 + (type & 0xF8));
}

/* Makes an entry.  Return: 1 if it is malformed. */
static int entry(struct net *net, struct angara_wqe *w)
{
	u8 how = in_u8(net->in);
	u8 flags = in_u8(net->in);
	u8 place = in_u8(net->in);
	u32 len = 4 * (in_size(net->in) % (BUFFER / 4));

	*w = wqe_coll(how % ANGARA_OP_NUM, how >> 3 & 3, place & 0xF8,
		      BUFFER / 2 + (place & 7) * 64, len);
	if (!ang_is_coll(w->opcode))
		w->type = 0;
	if (w->opcode == ANGARA_OP_BARRIER)
		w->length = 0;
	w->dst_node = cpu_to_le32(in_below(net->in, net->h->nodes));
	w->dst_ctx = cpu_to_le16(flags >> 6);
	w->flags = flags & (ANGARA_WQE_FENCE | ANGARA_WQE_QUIET);
	if (!ang_is_coll(w->opcode) && w->opcode != ANGARA_OP_SEND)
		w->flags |= flags & ANGARA_WQE_NOTIFY;
	if (!ang_is_coll(w->opcode))
		w->counter = cpu_to_le16(place);
	if (flags & 1) {
		wqe_dst(w, (place & 7) * 8);
		if (w->opcode == ANGARA_OP_GET)
			w->lkey = cpu_to_le32(SEALED_KEY);
		else if (w->opcode == ANGARA_OP_REDUCE ||
			 w->opcode == ANGARA_OP_ALLREDUCE)
			w->aux_key = cpu_to_le32(SEALED_KEY);
		else
			w->rkey = cpu_to_le64(SEALED_KEY);
	}
	if (how >> 6 == 3 && w->opcode != ANGARA_OP_GET)
		w->flags |= ANGARA_WQE_INLINE;
	/*
	 * The model does not read payload that is too long, so the entry gets
	 * none.
	 */
	if (flags & 0x10 && w->flags & ANGARA_WQE_INLINE)
		w->length = cpu_to_le32(ANGARA_MAX_INLINE + 4 +
					4 * in_size(net->in));
	else if (w->flags & ANGARA_WQE_INLINE)
		w->length = cpu_to_le32(len % 260);
	if (is_atomic(w))
		atomic(net, w);
	else if (ang_is_coll(w->opcode))
		reduction(w, flags & 0x20);
	if (!(flags & 0x10) || w->flags & ANGARA_WQE_INLINE)
		return 0;
	spoil(net, w);
	return 1;
}

/* Return: bytes of payload of an entry. */
static u32 payload_of(const struct angara_wqe *w)
{
	u32 len = le32_to_cpu(w->length);

	return is_atomic(w) ? len * ang_atomic_operands(w->redop) : len;
}

/* Is the payload too long, or does a barrier have payload, which it must not have? */
static int is_refused(const struct angara_wqe *w)
{
	if (!(w->flags & ANGARA_WQE_INLINE))
		return 0;
	return payload_of(w) > ANGARA_MAX_INLINE ||
	       (w->opcode == ANGARA_OP_BARRIER && w->length);
}

static void operation(struct net *net)
{
	u8 payload[ANGARA_MAX_INLINE + 4];
	struct process *p = pick(net);
	struct angara_wqe w;
	int inl, broken;
	u64 bit;

	broken = entry(net, &w);
	if (p->cookies == COOKIES ||
	    p->t->sq_pi + 6 - (u32)ctx_counter(p->t, ANGARA_CTR_SQ_CI) >
	    p->t->sq_n)
		return;
	bit = 1ULL << p->cookies;
	inl = w.flags & ANGARA_WQE_INLINE &&
	      payload_of(&w) <= ANGARA_MAX_INLINE;
	if (!broken && is_refused(&w))
		p->refused |= bit;
	else if (!broken)
		p->sound |= bit;
	if (p->sound & bit && w.opcode == ANGARA_OP_SEND)
		process_sends(net, p, &w);
	if (w.flags & ANGARA_WQE_QUIET)
		p->quiet |= bit;
	p->pending |= bit;
	w.cookie = cpu_to_le64(p->cookies++);
	memset(payload, 0x22, sizeof(payload));
	post_bytes(p->t, &w, payload, inl ? payload_of(&w) : 0);
	kick(p->t);
}

static void ring(struct net *net)
{
	struct process *p = pick(net);

	process_reap(net, p);
	kick(p->t);
}

static void arm(struct net *net)
{
	struct process *p = pick(net);

	host_reg(net->h, p->t->node, ANGARA_DB_PAGE(p->t->id) + ANGARA_DB_ARM,
		 in_u8(net->in));
	/* The model ignores an index that is out of the ring. */
	host_reg(net->h, p->t->node, ANGARA_DB_PAGE(p->t->id) + ANGARA_DB_SQ,
		 p->t->sq_pi + p->t->sq_n + 1 + in_u8(net->in));
	kick(p->t);
}

static void schedule(struct net *net)
{
	u8 how = in_u8(net->in);

	fuzz_view(&net->f, how % VIEWS);
	fuzz_freeze(&net->f, in_below(net->in, net->h->nodes), how >> 7);
	fuzz_steps(&net->f, how >> 2 & 31);
}

static void drop_tree(struct net *net, u32 t)
{
	if (!net->tree[t])
		return;
	fuzz_gather(&net->f);
	tree_del(net->tree[t]);
	net->tree[t] = NULL;
}

/*
 * Sets a tree over some contexts of the first partition, in place of the previous
 * tree.
 */
static void lay_tree(struct net *net)
{
	u32 t = in_below(net->in, TREES);
	u16 pe[MAX_NODES] = { 0 };
	struct tctx *some[NOW];
	u32 root, who, i;
	u32 n = 0;

	root = in_below(net->in, net->h->nodes);
	who = in_u16(net->in);
	drop_tree(net, t);
	if (!who)
		return;
	for (i = 0; i < net->n; i++) {
		struct tctx *c = net->p[i]->t;

		if (is_secret(c) || !(who >> (c->node * 2 + c->id) & 1))
			continue;
		pe[c->node]++;
		some[n++] = c;
	}
	if (!n)
		return;
	fuzz_gather(&net->f);
	net->tree[t] = tree_new(net->h, t, root, pe, some, n, ++net->epoch);
}

/* Ends a process, and starts another one in its place. */
static void replace(struct net *net)
{
	struct process *p = pick(net);

	if (net->h->node[p->t->node].nsegs > SEGMENTS / 2 || net->lives == EVER)
		return;
	fuzz_gather(&net->f);
	ctx_del(p->t);
	p->t = NULL;
	process_new(net, p->place);
}

/* Contexts of each partition try to join a tree of the other one. */
static void trespass(struct net *net)
{
	u32 node = in_below(net->in, net->h->nodes);

	fuzz_gather(&net->f);
	EXPECT(adm_op(net->h, node, ANGARA_ADM_JOIN, LOCAL - 1,
		      in_below(net->in, TREES)) != ANGARA_ADM_ST_OK);
	EXPECT(adm_op(net->h, node, ANGARA_ADM_JOIN, in_below(net->in, LOCAL - 1),
		      SECRET_TREE) != ANGARA_ADM_ST_OK);
}

static void (*const actions[])(struct net *net) = {
	operation, operation, operation, operation, operation, operation,
	ring, ring, arm, schedule, schedule, schedule, lay_tree, lay_tree,
	replace, trespass,
};

/* Sets a tree of the second partition; tree_new() makes only trees of the first. */
static struct ttree *secret_tree(struct net *net, const u16 *pe,
				 struct tctx **secret)
{
	struct ttree *t = calloc(1, sizeof(*t));
	struct host *h = net->h;
	struct angara_topo topo = { .ndims = h->cfg.topo.ndims };
	u32 i;

	memcpy(topo.dims, h->cfg.topo.dims, sizeof(topo.dims));
	t->h = h;
	t->tree = SECRET_TREE;
	t->rows = calloc(h->nodes, sizeof(*t->rows));
	EXPECT_EQ((u32)angara_tree_build(&topo, 0, pe, SECRET_TREE, t->rows),
		  h->nodes);
	for (i = 0; i < h->nodes; i++) {
		t->rows[i].pkey = SECRET_PKEY;
		EXPECT_EQ(adm_row(h, i, &t->rows[i]), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(h, i, ANGARA_ADM_JOIN, secret[i]->id,
				 SECRET_TREE), ANGARA_ADM_ST_OK);
	}
	return t;
}

static void begin(struct net *net)
{
	struct tctx *secret[MAX_NODES];
	struct ang_cfg cfg = cfg_tight;
	u16 pe[MAX_NODES];
	u8 how = in_u8(net->in);
	u32 i;

	cfg.train = (u16)(1U << (how & 3));
	fuzz_init(&net->f, tori[how >> 2 & 7], &cfg);
	net->h = net->f.h;
	net->n = net->h->nodes * LOCAL;
	for (i = 0; i < net->n; i++)
		process_new(net, i);
	for (i = 0; i < net->h->nodes; i++) {
		secret[i] = net->p[i * LOCAL + LOCAL - 1]->t;
		pe[i] = 1;
	}
	net->epoch = 1;
	net->secret = secret_tree(net, pe, secret);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct net net = { .in = &in };

	begin(&net);
	while (in.left)
		actions[in_u8(&in) % NUM(actions)](&net);
	net_finish(&net);
	return 0;
}
