// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An honest driver and processes of two partitions.  Those of the first do
 * what the input says: put, get, broadcast, reduce, in any order, agreeing or
 * not, with entries that may be broken, under several views.  Those of the
 * second have a secret and do nothing until the end.
 *
 * What must be so: the adapter touches no memory that the driver did not give
 * it; all is quiet after a bounded number of steps; every operation completes
 * once, and what has not completed waits for a participant; the second
 * partition's memory never changes and its secret is nowhere else, and what it
 * starts at last completes, whatever the others left undone.
 */
#include <string.h>

#include "fuzz.h"

#define LOCAL		3		/* contexts of a node; the last: secret */
#define SECRET_PKEY	0x77U
#define SECRET_TREE	5
#define SECRET		0xA7
#define BUFFER		2048
#define COOKIES		64		/* operations of a context */
#define TREES		4
#define QUIET_STEPS	60000
#define MAX_NODES	8

static const char * const tori[] = {
	"2x2", "3", "2", "3x2", "1", "2x2x2", "5", "1x4",
};

struct process {
	struct tctx *t;
	u32 cookies;			/* given out */
	u64 pending;			/* by cookie: no completion yet */
	u64 quiet;			/* by cookie: none may come */
	u64 refused;			/* by cookie: it has to be malformed */
};

struct net {
	struct fuzz f;
	struct host *h;
	struct input *in;
	struct process p[MAX_NODES * LOCAL];
	struct ttree *tree[TREES];
	struct ttree *secret;
	u32 epoch;
	u32 n;				/* contexts */
};

static int is_secret(const struct tctx *t)
{
	return t->id == LOCAL - 1;
}

static struct process *pick(struct net *net)
{
	u32 which = in_u8(net->in);
	u32 node = which / 2 % net->h->nodes;

	return &net->p[node * LOCAL + which % 2];
}

static void open_context(struct net *net, u32 i)
{
	struct process *p = &net->p[i];
	u32 id = i % LOCAL;

	memset(p, 0, sizeof(*p));
	p->t = ctx_new(net->h, i / LOCAL, id,
		       id == LOCAL - 1 ? SECRET_PKEY : PKEY, 3, 3);
	ctx_buffer(p->t, BUFFER);
	memset(p->t->buf, id == LOCAL - 1 ? SECRET : 0x11, BUFFER);
}

static void reap(struct process *p)
{
	struct angara_cqe cqe;

	while (poll_cq(p->t, &cqe)) {
		u64 cookie = le64_to_cpu(cqe.cookie);

		EXPECT(cookie < p->cookies);
		EXPECT(p->pending >> cookie & 1);
		EXPECT(le16_to_cpu(cqe.status) || !(p->quiet >> cookie & 1));
		EXPECT(le16_to_cpu(cqe.status) < ANGARA_ST_NUM);
		EXPECT(le16_to_cpu(cqe.status) == ANGARA_ST_DESC ||
		       !(p->refused >> cookie & 1));
		p->pending &= ~(1ULL << cookie);
	}
}

/* A byte of it is something else; the cookie is how the process knows it. */
static void spoil(struct net *net, struct angara_wqe *w)
{
	u32 at = in_u8(net->in) % sizeof(*w);

	if (at < offsetof(struct angara_wqe, cookie) ||
	    at >= offsetof(struct angara_wqe, src_key))
		((u8 *)w)[at] ^= in_u8(net->in) | 1;
	/* Entries behind it would be taken for its payload. */
	w->flags &= (u8)~ANGARA_WQE_INLINE;
}

static void entry(struct net *net, struct angara_wqe *w)
{
	u8 how = in_u8(net->in);
	u8 flags = in_u8(net->in);
	u8 place = in_u8(net->in);

	*w = wqe_coll(how % ANGARA_OP_NUM, how >> 3 & 3, place & 0xF8,
		      BUFFER / 2 + (place & 7) * 64,
		      4 * (in_size(net->in) % (BUFFER / 4)));
	if (w->opcode <= ANGARA_OP_GET)
		w->tree = w->type = 0;
	if (w->opcode == ANGARA_OP_BARRIER)
		w->length = 0;
	w->dst_node = cpu_to_le32(in_below(net->in, net->h->nodes));
	w->dst_ctx = cpu_to_le16(flags >> 6);
	w->redop = flags >> 5 & 1;
	w->flags = flags & (ANGARA_WQE_FENCE | ANGARA_WQE_QUIET);
	if (w->opcode <= ANGARA_OP_GET)
		w->flags |= flags & ANGARA_WQE_NOTIFY;
	w->counter = cpu_to_le16(place);
	if (how >> 6 == 3 && w->opcode != ANGARA_OP_GET)
		w->flags |= ANGARA_WQE_INLINE;
	/* Payload that is too long does not follow, and is not looked for. */
	if (flags & 0x10 && w->flags & ANGARA_WQE_INLINE)
		w->length = cpu_to_le32(ANGARA_MAX_INLINE + 4 +
					4 * in_size(net->in));
	else if (w->flags & ANGARA_WQE_INLINE)
		w->length = cpu_to_le32(le32_to_cpu(w->length) % 260);
	else if (flags & 0x10)
		spoil(net, w);
}

static void operation(struct net *net)
{
	struct process *p = pick(net);
	u8 payload[ANGARA_MAX_INLINE + 4];
	struct angara_wqe w;
	u64 bit = 1ULL << p->cookies;
	int inl;

	entry(net, &w);
	if (p->cookies == COOKIES ||
	    p->t->sq_pi + 6 - (u32)ctx_counter(p->t, ANGARA_CTR_SQ_CI) >
	    p->t->sq_n)
		return;
	inl = w.flags & ANGARA_WQE_INLINE &&
	      le32_to_cpu(w.length) <= ANGARA_MAX_INLINE;
	memset(payload, 0x22, sizeof(payload));
	w.cookie = cpu_to_le64(p->cookies++);
	p->pending |= bit;
	if (w.flags & ANGARA_WQE_QUIET)
		p->quiet |= bit;
	if (w.flags & ANGARA_WQE_INLINE && !inl)
		p->refused |= bit;
	post(p->t, &w, inl ? payload : NULL);
	kick(p->t);
}

static void ring(struct net *net)
{
	struct process *p = pick(net);

	reap(p);
	kick(p->t);
}

static void arm(struct net *net)
{
	struct process *p = pick(net);

	host_reg(net->h, p->t->node, ANGARA_DB_PAGE(p->t->id) + ANGARA_DB_ARM,
		 in_u8(net->in));
	/* An index that is out of the ring is ignored. */
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

/* A tree over some contexts of the first partition, instead of the last one. */
static void lay_tree(struct net *net)
{
	u32 t = in_below(net->in, TREES);
	u16 pe[MAX_NODES] = { 0 };
	struct tctx *some[MAX_NODES * LOCAL];
	u32 root, who, i;
	u32 n = 0;

	root = in_below(net->in, net->h->nodes);
	who = in_u16(net->in);
	drop_tree(net, t);
	if (!who)
		return;
	for (i = 0; i < net->n; i++) {
		struct tctx *c = net->p[i].t;

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

/* A process dies and another one begins in its place. */
static void replace(struct net *net)
{
	struct process *p = pick(net);
	u32 i = (u32)(p - net->p);

	if (net->h->node[p->t->node].nsegs > SEGMENTS / 2)
		return;
	fuzz_gather(&net->f);
	ctx_del(p->t);
	open_context(net, i);
}

/* Whatever is asked of trees for contexts that have no right to them. */
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

/* tree_new() lays trees of the first partition; rows of the other differ. */
static struct ttree *secret_tree(struct net *net, const u16 *pe,
				 struct tctx **secret)
{
	struct ttree *t = calloc(1, sizeof(*t));
	struct host *h = net->h;
	struct angara_topo topo = { .ndims = h->cfg.ndims };
	u32 i;

	memcpy(topo.dims, h->cfg.dims, sizeof(topo.dims));
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
		open_context(net, i);
	for (i = 0; i < net->h->nodes; i++) {
		secret[i] = net->p[i * LOCAL + LOCAL - 1].t;
		pe[i] = 1;
	}
	net->epoch = 1;
	net->secret = secret_tree(net, pe, secret);
}

/* All completions taken, all quiet, and no more completions. */
static void settle(struct net *net)
{
	u64 before, after = 0;
	u32 i;

	do {
		before = after;
		EXPECT(fuzz_quiet(&net->f, QUIET_STEPS));
		after = 0;
		for (i = 0; i < net->n; i++) {
			reap(&net->p[i]);
			kick(net->p[i].t);
			after += net->p[i].t->cq_ci +
				 ctx_counter(net->p[i].t, ANGARA_CTR_SQ_CI);
		}
	} while (before != after);
}

/* Reduce packets that all participants of a tree have started. */
static u32 common_seq(struct net *net, const struct ttree *t)
{
	u32 least = ~0U;
	u32 i;

	for (i = 0; i < t->n; i++) {
		struct tctx *c = t->ctx[i];
		struct ang_node *n = ang_node(net->h->fab, c->node);

		least = ang_min(least, ang_ctx(net->h->fab, n, c->id)->
				member[t->tree].seq);
	}
	return least;
}

/*
 * Nothing moves any more.  What is under way in a tree that is up needs a
 * participant that has not come as far, or stands behind such an operation.
 */
static void check_waiting(struct net *net, const struct process *p)
{
	struct ang_node *n = ang_node(net->h->fab, p->t->node);
	struct ang_ctx *c = ang_ctx(net->h->fab, n, p->t->id);
	u32 reductions = 0, broadcasts = 0;
	u32 i;

	for (i = 0; i < net->h->cfg.ops; i++) {
		struct ang_op *op = ang_op(net->h->fab, n, c, i);
		const struct ttree *t;

		if (op->state == ANG_OP_FREE)
			continue;
		EXPECT(op->opcode >= ANGARA_OP_BCAST);
		EXPECT(op->tree < TREES && net->tree[op->tree]);
		t = net->tree[op->tree];
		EXPECT_EQ(n->tree[op->tree].state, ANGARA_TREE_STATE_UP);
		if (op->opcode == ANGARA_OP_BCAST) {
			broadcasts |= 1U << op->tree;
			continue;
		}
		if (!op->sent_all)
			reductions |= 1U << op->tree;
		EXPECT(op->seq + op->npkts > common_seq(net, t));
	}
	EXPECT(!(broadcasts & ~reductions));
	/* Entries wait for a place, for a fence, or for nothing. */
	EXPECT(c->sq_ci == c->sq_pi || c->nops);
}

static void check_secret(struct net *net)
{
	u32 i, k;

	for (i = 0; i < net->n; i++) {
		struct tctx *c = net->p[i].t;

		for (k = 0; k < BUFFER; k++)
			EXPECT_EQ((u8)c->buf[k] == SECRET, is_secret(c));
		for (k = 0; is_secret(c) && k < ANGARA_CTR_NUM; k++)
			EXPECT_EQ(ctx_counter(c, k), 0);
	}
}

/* The other partition works, however the first one has left things. */
static void check_other(struct net *net)
{
	u32 nodes = net->h->nodes;
	u32 i;

	for (i = 0; i < nodes; i++) {
		struct tctx *c = net->p[i * LOCAL + LOCAL - 1].t;
		struct angara_wqe w = wqe_coll(ANGARA_OP_BARRIER, SECRET_TREE,
					       0, 0, 0);

		post(c, &w, NULL);
		w = wqe_p2p(ANGARA_OP_PUT, (i + 1) % nodes, LOCAL - 1, 0,
			    BUFFER / 2, BUFFER / 2);
		post(c, &w, NULL);
		kick(c);
	}
	EXPECT(fuzz_quiet(&net->f, QUIET_STEPS));
	for (i = 0; i < nodes; i++) {
		struct tctx *c = net->p[i * LOCAL + LOCAL - 1].t;
		struct angara_cqe cqe;

		EXPECT(poll_cq(c, &cqe) && !cqe.status);
		EXPECT(poll_cq(c, &cqe) && !cqe.status);
		EXPECT(!poll_cq(c, &cqe));
	}
}

static void finish_all(struct net *net)
{
	u32 i;

	settle(net);
	for (i = 0; i < net->n; i++)
		check_waiting(net, &net->p[i]);
	check_secret(net);
	check_other(net);
	for (i = 0; i < TREES; i++)
		drop_tree(net, i);
	settle(net);
	for (i = 0; i < net->n; i++)
		EXPECT(!(net->p[i].pending & ~net->p[i].quiet));
	EXPECT_EQ(net->h->faults, 0);
	tree_del(net->secret);
	fuzz_end(&net->f);
	for (i = 0; i < net->n; i++)
		free(net->p[i].t);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct net net = { .in = &in };

	begin(&net);
	while (in.left)
		actions[in_u8(&in) % NUM(actions)](&net);
	finish_all(&net);
	return 0;
}
