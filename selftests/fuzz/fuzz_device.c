// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A hostile driver and hostile processes: they write registers, admin commands,
 * queue entries, tables of memory regions, lists of pages, control pages, and
 * receive buffers, in any order.
 *
 * The model may refuse everything.  It may not access memory that it was not
 * given, run for ever, break its own invariants, or keep state after a reset.
 */
#include <string.h>

#include "fuzz.h"

#define LOCAL		2		/* contexts of a node */
#define BUFFER		4096
#define QUIET_STEPS	60000
#define LONG		65536		/* bytes of an operation that counts as long */

static const char * const tori[] = { "2", "3", "2x2", "1", "1x3", "2x1x2" };

struct device {
	struct fuzz f;
	struct host *h;
	struct input *in;
	struct tctx *ctx[8 * LOCAL];
	struct tarea *area[8];		/* receive buffer of the first context of each node */
	struct {
		struct angara_mgmt *mem;
		u64 addr;
	} mgmt[8];			/* a packet of each node */
	u32 n;
};

/* Return: an address that is valid for the node, or an invalid one. */
static u64 address(struct device *d, u32 node)
{
	struct host_node *n = &d->h->node[node];
	u8 which = in_u8(d->in);

	if (which == 0xFF)
		return in_u64(d->in);
	return n->seg[which % n->nsegs].addr + in_size(d->in);
}

static void reg_write(struct device *d)
{
	static const u16 regs[] = {
		ANGARA_REG_CONTROL, ANGARA_REG_ASQ_LO, ANGARA_REG_ASQ_HI,
		ANGARA_REG_ACQ_LO, ANGARA_REG_ACQ_HI, ANGARA_REG_AEQ_LO,
		ANGARA_REG_AEQ_HI, ANGARA_REG_ADM_ENTRIES,
		ANGARA_REG_AEQ_ENTRIES, ANGARA_REG_ASQ_DB, ANGARA_REG_AEQ_CI,
	};
	u32 node = in_below(d->in, d->h->nodes);
	u8 which = in_u8(d->in);
	u32 val;

	if (which & 0x80) {
		/* Access any offset of any node, also by a read. */
		u32 off = in_size(d->in) * (which & 1 ? 1 : 4);

		ang_reg_read(&d->h->v, which & 2 ? in_u8(d->in) : node, off);
		host_reg(d->h, which & 2 ? in_u8(d->in) : node, off,
			 in_size(d->in));
		return;
	}
	which %= NUM(regs);
	val = which >= 1 && which <= 6 ? (u32)address(d, node) : in_size(d->in);
	host_reg(d->h, node, regs[which], val);
	ang_reg_read(&d->h->v, node, regs[which]);
}

static void reset(struct device *d)
{
	u32 node = in_below(d->in, d->h->nodes);
	struct host_node *n = &d->h->node[node];

	host_reg(d->h, node, ANGARA_REG_CONTROL, 0);
	fuzz_steps(&d->f, 1 + in_u8(d->in));
	host_reg(d->h, node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	n->asq_pi = 0;
}

static void row(struct device *d, struct angara_adm_row *set)
{
	struct angara_hw_row *r = &set->row;
	u8 how = in_u8(d->in);
	u16 dirs = in_u8(d->in);

	r->tree = how & 3;
	r->is_root = how >> 2 & 1;
	r->to_root = r->is_root ? ANGARA_PORT_NONE : how >> 3 & 7;
	dirs &= (u16)((1U << d->h->cfg.topo.nports) - 1);
	r->ports = cpu_to_le64(dirs);
	r->port_sum = (u8)__builtin_popcount(dirs);
	r->pe = cpu_to_le16(in_u8(d->in) & 3);
	r->pkey = cpu_to_le32(PKEY + (how >> 6 == 3));
	r->epoch = cpu_to_le16(how >> 7);
	set->job = cpu_to_le64(dirs >> 7 & 1);
}

static void create(struct device *d, u32 node, struct angara_adm_ctx *a)
{
	u8 logs = in_u8(d->in);

	a->dom = cpu_to_le16(logs >> 3 & 7);
	a->sq_log2 = 3 + (logs >> 1 & 1);
	a->cq_log2 = 3 + (logs >> 2 & 1);
	a->sq = cpu_to_le64(address(d, node));
	a->cq = cpu_to_le64(address(d, node));
	a->ctl = cpu_to_le64(address(d, node));
	a->ctr = cpu_to_le64(address(d, node));
}

static void domain(struct device *d, u32 node, struct angara_adm_cmd *cmd)
{
	u8 how = in_u8(d->in);

	cmd->domain.mrt = cpu_to_le64(address(d, node));
	cmd->domain.mrs = cpu_to_le32(in_size(d->in));
	if (cmd->opcode == ANGARA_ADM_DOMAIN_TABLE)
		return;
	cmd->domain.pkey = cpu_to_le32(PKEY + (how & 1));
	cmd->domain.job = cpu_to_le64(how >> 1 & 1);
}

static void counters(struct device *d, u32 node, struct angara_adm_counters *c)
{
	c->kind = cpu_to_le32(in_below(d->in, 5));
	c->index = cpu_to_le32(in_size(d->in));
	c->addr = cpu_to_le64(address(d, node));
	c->length = cpu_to_le32(in_size(d->in) * 8);
	c->router = cpu_to_le32(node);
}

/*
 * Makes a management command whose address is that of a request with a path and
 * some content, or any other address.
 */
static void mgmt(struct device *d, u32 node, struct angara_adm_mgmt *m, bool sends)
{
	struct angara_mgmt *p = d->mgmt[node].mem;

	m->addr = cpu_to_le64(in_u8(d->in) & 1 ? d->mgmt[node].addr : address(d, node));
	if (!sends) {
		m->tid = p->tid;
		return;
	}
	in_bytes(d->in, p, offsetof(struct angara_mgmt, data) + 40);
	p->method = 1 + p->method % 2;
	p->attr %= 6;
	p->status = 0;
	p->answer = 0;
	p->at = 0;
	p->router = 0;
	memset(p->reserved, 0, sizeof(p->reserved));
	p->hops %= 8;
	p->key = 0;
}

static void area(struct device *d, u32 node, struct angara_adm_msg *m)
{
	u8 how = in_u8(d->in);

	m->pages = cpu_to_le64(address(d, node));
	m->log2 = how & 0x80 ? how & 0x7F : 14 + how % 9;
}

static void command(struct device *d)
{
	u32 node = in_below(d->in, d->h->nodes);
	struct host_node *n = &d->h->node[node];
	struct angara_adm_cmd *cmd = &n->asq[n->asq_pi % ADM_ENTRIES];
	u8 opcode = in_u8(d->in);
	u8 what = in_u8(d->in);

	memset(cmd, 0, sizeof(*cmd));
	if (opcode & 0x80) {
		in_bytes(d->in, cmd, sizeof(*cmd));
	} else {
		cmd->opcode = opcode % (ANGARA_ADM_NUM + 1);
		cmd->tree = what & 3;
		cmd->ctx = cpu_to_le16(what >> 2 & 7);
		if (cmd->opcode == ANGARA_ADM_TREE_SET)
			row(d, &cmd->set);
		if (cmd->opcode == ANGARA_ADM_TREE_SET ||
		    cmd->opcode == ANGARA_ADM_TREE_CLEAR ||
		    cmd->opcode == ANGARA_ADM_TREE_GET)
			cmd->set.router = cpu_to_le32(node);
		if (cmd->opcode == ANGARA_ADM_CTX_CREATE)
			create(d, node, &cmd->create);
		else if (cmd->opcode == ANGARA_ADM_DOMAIN_CREATE ||
			 cmd->opcode == ANGARA_ADM_DOMAIN_TABLE)
			domain(d, node, cmd);
		else if (cmd->opcode == ANGARA_ADM_COUNTERS)
			counters(d, node, &cmd->counters);
		else if (cmd->opcode == ANGARA_ADM_MSG_AREA)
			area(d, node, &cmd->msg);
		else if (cmd->opcode == ANGARA_ADM_MGMT_SEND ||
			 cmd->opcode == ANGARA_ADM_MGMT_RECV)
			mgmt(d, node, &cmd->mgmt, cmd->opcode == ANGARA_ADM_MGMT_SEND);
	}
	host_reg(d->h, node, ANGARA_REG_ASQ_DB, ++n->asq_pi);
	if (what & 0x80)
		host_reg(d->h, node, ANGARA_REG_AEQ_CI, in_size(d->in));
}

/*
 * Makes an atomic operation with any operation and type, or one invalid value
 * of each.
 */
static void atomic(struct device *d, struct angara_wqe *w, u8 kind)
{
	u32 n = ANGARA_ATOMIC_NUM + 1;

	w->redop = kind % n;
	w->type = kind / n;
	w->length = cpu_to_le32(in_size(d->in) * 4);
	if (w->opcode == ANGARA_OP_ATOMIC)
		return;
	w->aux_key = cpu_to_le32(in_u8(d->in) & 7);
	w->aux = cpu_to_le64(in_size(d->in));
}

static void entry(struct device *d)
{
	struct tctx *c = d->ctx[in_u8(d->in) % d->n];
	struct angara_wqe *w = &c->sq[c->sq_pi++ & (c->sq_n - 1)];
	u8 how = in_u8(d->in);
	u8 flags = in_u8(d->in);
	u8 kind;

	memset(w, 0, sizeof(*w));
	w->opcode = flags & 0x10 ? ANGARA_OP_SEND + how % 3 : how & 7;
	w->flags = flags & ANGARA_WQE_FLAGS;
	w->dst_node = cpu_to_le32(how & 0x80 ? in_u8(d->in) % d->h->nodes : 0);
	w->dst_ctx = cpu_to_le16(how & 0x40 ? in_u8(d->in) : 0);
	w->length = cpu_to_le32(in_size(d->in) * (how & 0x20 ? 1 : 8));
	w->lkey = cpu_to_le32(in_u8(d->in) & 7);
	w->rkey = cpu_to_le64(in_u8(d->in) & 7);
	w->loff = cpu_to_le64(in_size(d->in));
	w->roff = cpu_to_le64(in_size(d->in));
	kind = in_u8(d->in);
	if (ang_is_coll(w->opcode))
		w->tree = cpu_to_le16(how >> 3 & 3);
	else
		w->counter = cpu_to_le16(kind * 2);
	if (w->opcode == ANGARA_OP_REDUCE || w->opcode == ANGARA_OP_ALLREDUCE) {
		w->aux_key = cpu_to_le32((u32)le64_to_cpu(w->rkey));
		w->aux = w->roff;
	}
	/* Sets any type and reduction, or one invalid value of each. */
	w->type = kind % (ANGARA_TYPE_NUM + 1);
	w->redop = kind / 16 % (ANGARA_RED_NUM + 1);
	if (w->opcode > ANGARA_OP_SEND)
		atomic(d, w, kind);
	/* Some entries have one byte changed. */
	if (in_u8(d->in) & 0x80)
		((u8 *)w)[in_u8(d->in) % sizeof(*w)] = in_u8(d->in);
}

/* Return: the consumer index of a process that has taken all its messages. */
static u32 received(struct device *d, const struct tctx *c)
{
	struct ang_node *n = ang_node(d->h->fab, c->node);

	return ang_ctx(d->h->fab, n, c->id)->area.pi;
}

static void doorbell(struct device *d)
{
	struct tctx *c = d->ctx[in_u8(d->in) % d->n];
	u8 how = in_u8(d->in);

	if (how & 0x80)
		c->sq_pi = in_size(d->in);
	if (how & 0x40)
		c->ctl->cq_ci = cpu_to_le32(in_size(d->in));
	if (how & 0x10)
		c->ctl->msg_ci = cpu_to_le32(in_size(d->in));
	else if (how & 0x08)
		c->ctl->msg_ci = cpu_to_le32(received(d, c));
	host_reg(d->h, c->node, ANGARA_DB_PAGE(c->id) +
		 (how & 0x20 ? ANGARA_DB_ARM : ANGARA_DB_SQ), c->sq_pi);
}

static void region(struct device *d)
{
	struct tctx *c = d->ctx[in_u8(d->in) % d->n];
	struct angara_hw_mr *mr = &c->mrt[in_u8(d->in) % MRS];
	u8 how = in_u8(d->in);

	mr->addr = cpu_to_le64(address(d, c->node));
	mr->length = cpu_to_le64(how & 0x80 ? in_u64(d->in) : in_size(d->in));
	mr->first = cpu_to_le32(how & 0x40 ? in_size(d->in) : 0);
	mr->levels = how & 3;
	mr->valid = !(how & 0x20);
	mr->access = how >> 2 & 7;
	mr->page_shift = how & 0x80 ? in_u8(d->in) : 12;
}

/* Writes a list of pages, or other data in its place. */
static void memory(struct device *d)
{
	u32 node = in_below(d->in, d->h->nodes);
	struct host_node *n = &d->h->node[node];
	struct segment *s = &n->seg[in_u8(d->in) % n->nsegs];
	u64 at = in_size(d->in);
	__le64 word;

	at = s->len > 8 ? at * 8 % (s->len - 7) : 0;
	word = cpu_to_le64(in_u8(d->in) & 1 ? in_u64(d->in) : address(d, node));
	if (s->len >= 8)
		memcpy(s->mem + at, &word, 8);
}

static void schedule(struct device *d)
{
	u8 how = in_u8(d->in);

	fuzz_view(&d->f, how % VIEWS);
	fuzz_freeze(&d->f, in_below(d->in, d->h->nodes), how >> 7);
	fuzz_steps(&d->f, how >> 2 & 31);
}

static void (*const actions[])(struct device *d) = {
	reg_write, command, command, entry, entry, entry, doorbell, doorbell,
	region, memory, schedule, schedule, schedule, reset, command, entry,
};

/* Is an operation in flight that is long enough to keep all nodes busy? */
static int long_way(struct host *h)
{
	u32 i, c, o;

	for (i = 0; i < h->nodes; i++)
		for (c = 0; c < h->cfg.ctxs; c++)
			for (o = 0; o < h->cfg.ops; o++) {
				struct ang_node *n = ang_node(h->fab, i);
				struct ang_op *op;

				op = ang_op(n, ang_ctx(h->fab, n, c), o);
				if (op->state && op->len > LONG)
					return 1;
			}
	return 0;
}

static void begin(struct device *d)
{
	u8 how = in_u8(d->in);
	struct ang_cfg cfg = cfg_tight;
	u32 i;

	cfg.train = (u16)(1U << (how & 3));
	fuzz_init(&d->f, tori[(how >> 2) % NUM(tori)], &cfg);
	d->h = d->f.h;
	d->n = d->h->nodes * LOCAL;
	for (i = 0; i < d->n; i++) {
		d->ctx[i] = ctx_new(d->h, i / LOCAL, i % LOCAL, PKEY, 3, 3);
		ctx_buffer(d->ctx[i], BUFFER);
	}
	for (i = 0; i < d->h->nodes; i++) {
		d->area[i] = area_new(d->ctx[i * LOCAL], 14);
		d->mgmt[i].mem = host_alloc(d->h, i, sizeof(*d->mgmt[i].mem),
					    &d->mgmt[i].addr);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct device d = { .in = &in };
	u32 i;

	begin(&d);
	while (in.left)
		actions[in_u8(&in) % NUM(actions)](&d);
	if (!fuzz_quiet(&d.f, QUIET_STEPS))
		EXPECT(long_way(d.h));
	for (i = 0; i < d.h->nodes; i++)
		free(d.area[i]);
	fuzz_end(&d.f);
	for (i = 0; i < d.n; i++)
		free(d.ctx[i]);
	return 0;
}
