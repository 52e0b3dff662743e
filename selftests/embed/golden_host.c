// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The golden trace of the device model on an embedded fabric: the scenario of
 * selftests/model/golden.c on a host made of the library's embedded backend.
 * Contexts, regions, rows and doorbells use the library's commands; each node
 * has a view of its own, as if each belonged to a process.
 *
 * The fabric is that of ANGARA_FABRIC=embedded:2x2x2,train=1.  Some limits are
 * higher than in the model's own host, but the scenario does not reach them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "embed/embed.h"

#define QUIET_ROUNDS	2000	/* limit of rounds until the fabric must be idle */

/*
 * A context and its device.  The scenario gets a pointer to @c, which must be
 * the first member.
 */
struct emb_tctx {
	struct tctx c;
	struct ang_dev dom;
	struct ang_dev dev;
};

/*
 * @rows: device of each node without a context, for commands on trees;
 * @ctx: context of each node, or NULL
 */
struct emb_host {
	struct host h;
	struct ang_dev *rows;
	struct emb_tctx **ctx;
};

jmp_buf test_failed;

static struct ang_spec spec = { .kind = ANG_FABRIC_EMBEDDED, .fd = -1 };

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	longjmp(test_failed, 1);
}

static struct emb_host *emb_host(struct host *h)
{
	return (struct emb_host *)h;
}

static struct emb_tctx *emb_tctx(struct tctx *c)
{
	return (struct emb_tctx *)c;
}

static struct emb_dev *priv(struct ang_dev *dev)
{
	return dev->priv;
}

/* Opens a device: all have the same id, so they are on one private fabric. */
static void dev_open(struct ang_dev *dev, u32 node)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", node);
	dev->ops = &ang_embed_ops;
	EXPECT_EQ(dev->ops->open(dev, &spec, name), 0);
}

/* Passes trace events of the view to the host's trace function, if any. */
static void dev_watch(struct ang_dev *dev, struct host *h)
{
	priv(dev)->run.view.ops = &h->ops;
}

struct host *host_new(const char *dims, const struct ang_cfg *cfg)
{
	struct emb_host *e = calloc(1, sizeof(*e));
	struct ang_topo_why why;
	struct emb_fab *fab;
	u32 i;

	EXPECT(ang_topo_read(&spec.topo, dims, &why));
	spec.train = cfg->train;
	e->h.nodes = spec.topo.nodes;
	e->h.ops = emb_ops;
	e->rows = calloc(e->h.nodes, sizeof(*e->rows));
	e->ctx = calloc(e->h.nodes, sizeof(struct emb_tctx *));
	for (i = 0; i < e->h.nodes; i++) {
		dev_open(&e->rows[i], i);
		dev_watch(&e->rows[i], &e->h);
	}
	fab = priv(&e->rows[0])->fab;
	e->h.fab = emb_model(fab, emb_copy(fab));
	e->h.cfg = fab->head->cfg;
	e->h.v.topo = priv(&e->rows[0])->run.view.topo;
	return &e->h;
}

void host_free(struct host *h)
{
	struct emb_host *e = emb_host(h);
	u32 i;

	host_check_idle(h);
	for (i = 0; i < h->nodes; i++)
		ang_dev_close(&e->rows[i]);
	free(e->rows);
	free(e->ctx);
	free(e);
}

u32 host_keeper(const struct host *h, u32 router)
{
	return ang_topo_keeper(&h->v.topo, router);
}

/*
 * Advances all nodes with work, as a waiting process does.  Timers fire here
 * only: the call that rings a doorbell does not fire them.
 */
void host_run(struct host *h)
{
	u32 rounds = 0;

	while (emb_help(&priv(&emb_host(h)->rows[0])->run, true))
		EXPECT(rounds++ < QUIET_ROUNDS);
}

void host_steps_reset(struct host *h)
{
	struct emb_host *e = emb_host(h);
	u32 i;

	for (i = 0; i < h->nodes; i++) {
		priv(&e->rows[i])->run.view.steps = 0;
		if (e->ctx[i])
			priv(&e->ctx[i]->dev)->run.view.steps = 0;
	}
}

/*
 * The library returns an errno for a refused command, not ANGARA_ADM_ST_*.  No
 * command of the scenario should be refused.
 */
u32 adm_op(struct host *h, u32 node, u32 opcode, u32 ctx, u32 tree)
{
	struct emb_host *e = emb_host(h);
	struct angara_tree_clear clear = ANG_CMD_INIT(struct angara_tree_clear);

	EXPECT_EQ(opcode, ANGARA_ADM_TREE_CLEAR);
	clear.tree = tree;
	EXPECT_EQ(ang_dev_cmd(&e->rows[node], ANGARA_IOCTL_TREE_CLEAR, &clear),
		  0);
	host_run(h);
	return ANGARA_ADM_ST_OK;
}

/* The adapter takes @place plus one, or 0 for any place. */
u32 adm_join(struct host *h, u32 node, u32 ctx, u32 tree, u32 place)
{
	struct emb_host *e = emb_host(h);
	struct angara_join join = ANG_CMD_INIT(struct angara_join);

	EXPECT(e->ctx[node] && e->ctx[node]->c.id == ctx);
	join.tree = tree;
	if (place) {
		join.flags = ANGARA_JOIN_PLACE;
		join.place = place - 1;
	}
	EXPECT_EQ(ang_dev_cmd(&e->ctx[node]->dev, ANGARA_IOCTL_JOIN, &join), 0);
	host_run(h);
	return ANGARA_ADM_ST_OK;
}

u32 adm_row(struct host *h, u32 node, const struct angara_tree_row *row)
{
	struct angara_tree_set set = ANG_CMD_INIT(struct angara_tree_set);

	set.row = *row;
	EXPECT_EQ(ang_dev_cmd(&emb_host(h)->rows[node], ANGARA_IOCTL_TREE_SET,
			      &set), 0);
	host_run(h);
	return ANGARA_ADM_ST_OK;
}

/* The backend chooses the lowest free number for a context. */
struct tctx *ctx_new(struct host *h, u32 node, u32 id, u32 pkey, u32 sq_log2,
		     u32 cq_log2)
{
	struct angara_domain_create dom = ANG_CMD_INIT(struct angara_domain_create);
	struct angara_ctx_create cmd = ANG_CMD_INIT(struct angara_ctx_create);
	struct emb_tctx *t = calloc(1, sizeof(*t));
	struct ang_dev *dev = &t->dev;

	dom.flags = ANGARA_DOMAIN_PKEY;
	dom.pkey = pkey;
	cmd.sq_entries = 1U << sq_log2;
	cmd.cq_entries = 1U << cq_log2;
	dev_open(&t->dom, node);
	EXPECT_EQ(ang_dev_cmd(&t->dom, ANGARA_IOCTL_DOMAIN_CREATE, &dom), 0);
	EXPECT_EQ(t->dom.ops->ctx_open(&t->dom, &cmd, dev), 0);
	EXPECT_EQ(cmd.ctx, id);
	dev_watch(dev, h);
	t->c = (struct tctx){
		.h = h, .node = node, .id = id,
		.sq_n = cmd.sq_entries, .cq_n = cmd.cq_entries,
	};
	t->c.sq = dev->ops->map(dev, cmd.sq_offset,
				t->c.sq_n * sizeof(*t->c.sq), true);
	t->c.cq = dev->ops->map(dev, cmd.cq_offset,
				t->c.cq_n * sizeof(*t->c.cq), false);
	t->c.ctl = dev->ops->map(dev, cmd.ctl_offset, sizeof(*t->c.ctl), true);
	t->c.ctr = dev->ops->map(dev, cmd.ctr_offset,
				 ANGARA_CTR_NUM * sizeof(__le64), false);
	EXPECT(t->c.sq && t->c.cq && t->c.ctl && t->c.ctr);
	emb_host(h)->ctx[node] = t;
	return &t->c;
}

/* Memory is in the fabric's segment, so payload needs no system call. */
void ctx_buffer(struct tctx *c, u64 len)
{
	struct angara_mr_register cmd = ANG_CMD_INIT(struct angara_mr_register);
	struct ang_dev *dev = &emb_tctx(c)->dom;
	void *mem;

	EXPECT_EQ(dev->ops->alloc(dev, len, 1, &mem), 0);
	c->buf = mem;
	c->buf_len = len;
	cmd.flags = ANGARA_MR_KEY;
	cmd.key = BUF_KEY;
	cmd.addr = (uintptr_t)mem;
	cmd.length = len;
	cmd.access = ANGARA_ACCESS_ALL;
	EXPECT_EQ(ang_dev_cmd(dev, ANGARA_IOCTL_MR_REG, &cmd), 0);
}

void ctx_del(struct tctx *c)
{
	struct angara_mr_deregister cmd = ANG_CMD_INIT(struct angara_mr_deregister);
	struct ang_dev *dev = &emb_tctx(c)->dom;

	cmd.key = BUF_KEY;
	EXPECT_EQ(ang_dev_cmd(dev, ANGARA_IOCTL_MR_DEREG, &cmd), 0);
	dev->ops->free(dev, c->buf, c->buf_len);
	emb_host(c->h)->ctx[c->node] = NULL;
	ang_dev_close(&emb_tctx(c)->dev);
	ang_dev_close(dev);
	free(emb_tctx(c));
}

/* The model runs in this call, until only timers are left. */
void kick(struct tctx *c)
{
	struct ang_dev *dev = &emb_tctx(c)->dev;

	__atomic_store_n(&c->ctl->sq_pi, cpu_to_le32(c->sq_pi),
			 __ATOMIC_RELEASE);
	EXPECT_EQ(dev->ops->doorbell(dev, c->sq_pi), 0);
}

int main(void)
{
	return golden_print(stdout);
}
