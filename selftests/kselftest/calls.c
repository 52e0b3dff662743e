// SPDX-License-Identifier: GPL-2.0-only
/*
 * A valid call of each ioctl.
 */
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "calls.h"

#define OTHER_PKEY	0x5A5A5AU

static int set_row(struct state *s)
{
	struct angara_tree_row row = {
		.tree = s->tree,
		.is_root = 1,
		.to_root = ANGARA_PORT_NONE,
		.pe = 1,
		.pkey = s->pkey,
		.epoch = 1,
	};

	at_tree_clear(s->fd, s->tree);
	return at_tree_set(s->fd, &row, 0);
}

int state_file(const struct state *s, const struct call *c)
{
	return c->on_ctx ? s->ctx : s->fd;
}

int state_call(struct state *s, const struct call *c, void *arg)
{
	return at_ioctl(state_file(s, c), c->cmd, arg);
}

static void close_ctx(struct state *s)
{
	if (s->ctx >= 0)
		close(s->ctx);
	s->ctx = -1;
}

void state_close(struct state *s)
{
	close_ctx(s);
	close(s->fd);
}

static int fresh_file(struct state *s)
{
	state_close(s);
	s->fd = at_open(s->dev);
	return s->fd < 0 ? s->fd : 0;
}

static int with_domain(struct state *s)
{
	long ret = at_domain_create(s->fd, 0);

	return ret < 0 && ret != -EBUSY ? ret : 0;
}

static int with_ctx(struct state *s)
{
	struct angara_ctx_create c = {
		.size = sizeof(c),
		.sq_entries = 8,
		.cq_entries = 8,
	};
	int ret = with_domain(s);

	if (ret || s->ctx >= 0)
		return ret;
	ret = at_ioctl(s->fd, ANGARA_IOCTL_CTX_CREATE, &c);
	if (!ret)
		s->ctx = c.fd;
	return ret;
}

static int with_mr(struct state *s)
{
	struct angara_mr_register reg = {
		.size = sizeof(reg),
		.addr = (uintptr_t)s->mem,
		.length = AT_PAGE,
		.access = ANGARA_ACCESS_ALL,
	};
	int ret = with_domain(s);

	if (!ret)
		ret = at_ioctl(s->fd, ANGARA_IOCTL_MR_REG, &reg);
	s->key = reg.key;
	return ret;
}

static int with_place(struct state *s)
{
	int ret = with_ctx(s);

	return ret ? ret : set_row(s);
}

static int with_member(struct state *s)
{
	int ret = with_place(s);

	return ret ? ret : at_join(s->ctx, s->tree);
}

static int no_row(struct state *s)
{
	int ret = at_tree_clear(s->fd, s->tree);

	return ret == -ENOENT ? 0 : ret;
}

static void fill_nothing(struct state *s, void *buf)
{
	(void)s;
	(void)buf;
}

static void fill_ctx(struct state *s, void *buf)
{
	struct angara_ctx_create *c = buf;

	(void)s;
	c->sq_entries = 8;
	c->cq_entries = 8;
}

static void fill_mr_reg(struct state *s, void *buf)
{
	struct angara_mr_register *reg = buf;

	reg->addr = (uintptr_t)s->mem;
	reg->length = AT_PAGE;
	reg->access = ANGARA_ACCESS_ALL;
}

static void fill_mr_dereg(struct state *s, void *buf)
{
	((struct angara_mr_deregister *)buf)->key = s->key;
}

static void fill_tree_set(struct state *s, void *buf)
{
	struct angara_tree_set *set = buf;

	set->row.tree = s->tree;
	set->row.is_root = 1;
	set->row.to_root = ANGARA_PORT_NONE;
	set->row.pe = 1;
	set->row.pkey = s->pkey;
	set->row.epoch = 1;
}

static void fill_tree_get(struct state *s, void *buf)
{
	((struct angara_tree_get *)buf)->row.tree = s->tree;
}

/* CLEAR, CHECK, JOIN and LEAVE have the tree at the same offset. */
static void fill_tree(struct state *s, void *buf)
{
	((struct angara_tree_clear *)buf)->tree = s->tree;
}

static void fill_manage(struct state *s, void *buf)
{
	struct angara_manage *m = buf;

	(void)s;
	m->timeout_ms = ANGARA_MANAGE_MAX_MS;
	m->pkt.method = ANGARA_MGMT_GET;
	m->pkt.attr = ANGARA_MGMT_NODE;
}

static void fill_delegate(struct state *s, void *buf)
{
	struct angara_tree_delegate *d = buf;

	d->tree = s->tree;
	d->pkey = OTHER_PKEY;
}

static void fill_kick(struct state *s, void *buf)
{
	(void)s;
	((struct angara_kick *)buf)->flags = ANGARA_KICK_SQ;
}

static void fill_eventfd(struct state *s, void *buf)
{
	((struct angara_eventfd *)buf)->fd = s->efd;
}

static int keep(struct state *s, const void *buf)
{
	(void)s;
	(void)buf;
	return 0;
}

static int drop_file(struct state *s, const void *buf)
{
	(void)buf;
	return fresh_file(s);
}

static int drop_ctx(struct state *s, const void *buf)
{
	int fd;

	(void)s;
	memcpy(&fd, (const char *)buf + offsetof(struct angara_ctx_create, fd),
	       sizeof(fd));
	return close(fd) ? -errno : 0;
}

static int drop_mr(struct state *s, const void *buf)
{
	struct angara_mr_deregister d = { .size = sizeof(d) };

	/* @buf may be unaligned. */
	memcpy(&d.key, (const char *)buf + offsetof(struct angara_mr_register, key),
	       sizeof(d.key));
	return at_ioctl(s->fd, ANGARA_IOCTL_MR_DEREG, &d);
}

static int drop_row(struct state *s, const void *buf)
{
	(void)buf;
	return at_tree_clear(s->fd, s->tree);
}

static int drop_delegate(struct state *s, const void *buf)
{
	(void)buf;
	return at_delegate(s->fd, s->tree, 0);
}

#define RESERVED(type, field)						\
	{ offsetof(type, field), sizeof(((type *)0)->field) }

const struct call call_query = {
	.cmd = ANGARA_IOCTL_QUERY,
	.size = sizeof(struct angara_query),
	.first = offsetof(struct angara_query, max_msg_bytes),
	.answers = true,
	.fill = fill_nothing,
	.after = keep,
};

const struct call call_domain_create = {
	.cmd = ANGARA_IOCTL_DOMAIN_CREATE,
	.size = sizeof(struct angara_domain_create),
	.reserved = { RESERVED(struct angara_domain_create, reserved) },
	.flags = ANGARA_DOMAIN_PKEY,
	.answers = true,
	.before = fresh_file,
	.fill = fill_nothing,
	.after = drop_file,
};

const struct call call_ctx_create = {
	.cmd = ANGARA_IOCTL_CTX_CREATE,
	.size = sizeof(struct angara_ctx_create),
	.first = offsetof(struct angara_ctx_create, msg_bytes),
	.reserved = { RESERVED(struct angara_ctx_create, reserved) },
	.needs_domain = true,
	.answers = true,
	.before = with_domain,
	.fill = fill_ctx,
	.after = drop_ctx,
};

const struct call call_mr_reg = {
	.cmd = ANGARA_IOCTL_MR_REG,
	.size = sizeof(struct angara_mr_register),
	.reserved = { RESERVED(struct angara_mr_register, reserved) },
	.flags = ANGARA_MR_KEY | ANGARA_MR_WATCH,
	.needs_domain = true,
	.answers = true,
	.before = with_domain,
	.fill = fill_mr_reg,
	.after = drop_mr,
};

const struct call call_mr_dereg = {
	.cmd = ANGARA_IOCTL_MR_DEREG,
	.size = sizeof(struct angara_mr_deregister),
	.needs_domain = true,
	.before = with_mr,
	.fill = fill_mr_dereg,
	.after = keep,
};

const struct call call_tree_set = {
	.cmd = ANGARA_IOCTL_TREE_SET,
	.size = sizeof(struct angara_tree_set),
	.first = offsetof(struct angara_tree_set, router),
	.flags = ANGARA_TREE_OWNED | ANGARA_TREE_JOB | ANGARA_TREE_ROUTER,
	.reserved = { RESERVED(struct angara_tree_set, row.reserved),
		      RESERVED(struct angara_tree_set, router),
		      RESERVED(struct angara_tree_set, reserved) },
	.before = no_row,
	.fill = fill_tree_set,
	.after = drop_row,
};

const struct call call_tree_get = {
	.cmd = ANGARA_IOCTL_TREE_GET,
	.size = sizeof(struct angara_tree_get),
	.first = offsetof(struct angara_tree_get, router),
	.flags = ANGARA_TREE_ROUTER,
	.reserved = { RESERVED(struct angara_tree_get, router),
		      RESERVED(struct angara_tree_get, reserved) },
	.answers = true,
	.before = set_row,
	.fill = fill_tree_get,
	.after = keep,
};

const struct call call_tree_clear = {
	.cmd = ANGARA_IOCTL_TREE_CLEAR,
	.size = sizeof(struct angara_tree_clear),
	.flags = ANGARA_TREE_CLEAR_OWNED | ANGARA_TREE_ROUTER,
	.reserved = { RESERVED(struct angara_tree_clear, router) },
	.before = set_row,
	.fill = fill_tree,
	.after = keep,
};

const struct call call_tree_delegate = {
	.cmd = ANGARA_IOCTL_TREE_DELEGATE,
	.size = sizeof(struct angara_tree_delegate),
	.fill = fill_delegate,
	.after = drop_delegate,
};

const struct call call_tree_check = {
	.cmd = ANGARA_IOCTL_TREE_CHECK,
	.size = sizeof(struct angara_tree_verify),
	.answers = true,
	.before = set_row,
	.fill = fill_tree,
	.after = keep,
};

const struct call call_manage = {
	.cmd = ANGARA_IOCTL_MANAGE,
	.size = sizeof(struct angara_manage),
	.reserved = { RESERVED(struct angara_manage, reserved) },
	.answers = true,
	.fill = fill_manage,
	.after = keep,
};

const struct call call_join = {
	.cmd = ANGARA_IOCTL_JOIN,
	.size = sizeof(struct angara_join),
	.flags = ANGARA_JOIN_PLACE,
	.reserved = { RESERVED(struct angara_join, place) },
	.on_ctx = true,
	.before = with_place,
	.fill = fill_tree,
	.after = keep,
};

const struct call call_leave = {
	.cmd = ANGARA_IOCTL_LEAVE,
	.size = sizeof(struct angara_join),
	.reserved = { RESERVED(struct angara_join, place) },
	.on_ctx = true,
	.before = with_member,
	.fill = fill_tree,
	.after = keep,
};

const struct call call_kick = {
	.cmd = ANGARA_IOCTL_KICK,
	.size = sizeof(struct angara_kick),
	.flags = ANGARA_KICK_SQ | ANGARA_KICK_ARM,
	.on_ctx = true,
	.before = with_ctx,
	.fill = fill_kick,
	.after = keep,
};

const struct call call_eventfd = {
	.cmd = ANGARA_IOCTL_EVENTFD,
	.size = sizeof(struct angara_eventfd),
	.reserved = { RESERVED(struct angara_eventfd, reserved) },
	.on_ctx = true,
	.before = with_ctx,
	.fill = fill_eventfd,
	.after = keep,
};

int state_init(struct state *s)
{
	struct angara_tree_get get;
	struct angara_query q;
	char *pages;

	s->ctx = -1;
	while (s->dev < at_devices() && (s->fd = at_open(s->dev)) < 0)
		s->dev++;
	if (s->fd < 0 || at_query(s->fd, &q))
		return -ENODEV;
	s->pkey = q.pkey;
	while (s->tree < q.max_trees &&
	       at_tree_get(s->fd, s->tree, &get) != -ENOENT)
		s->tree++;
	if (s->tree == q.max_trees)
		return -ENOSPC;
	s->efd = eventfd(0, EFD_CLOEXEC);
	s->mem = at_pages(AT_PAGE);
	pages = at_pages(2 * AT_PAGE);
	if (s->efd < 0 || !s->mem || !pages)
		return -ENOMEM;
	s->end = pages + AT_PAGE;
	return mprotect(s->end, AT_PAGE, PROT_NONE) ? -errno : 0;
}
