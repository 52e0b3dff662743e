// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Backend "embedded": devices, and the dispatch of their commands.  Invalid
 * arguments give the errors of the driver.
 */
#include <stdlib.h>
#include <string.h>

#include "ang_types.h"
#include "embed.h"
#include "scan.h"

static int dev_new(struct ang_dev *dev, struct emb_fab *fab, u32 node)
{
	struct emb_dev *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->fab = fab;
	d->node = node;
	d->num = ANG_NONE;
	d->life_now = &d->life;
	d->forks = emb_forks();
	emb_run_init(&d->run, fab);
	dev->priv = d;
	dev->fd = -1;
	return 0;
}

static int emb_open(struct ang_dev *dev, const struct ang_spec *spec,
		    const char *name)
{
	unsigned long node;
	struct emb_fab *fab;
	char *end;
	int ret;

	errno = 0;
	node = strtoul(name, &end, 10);
	if (*name < '0' || *name > '9' || *end || errno)
		return -ENODEV;
	ret = emb_attach(spec, &fab);
	if (ret)
		return ret;
	/*
	 * Slots are assigned from 0 on, so that as few processes as possible
	 * share a node.
	 */
	if (node == ANG_DEV_ANY)
		node = fab->slot % fab->head->nodes;
	ret = node < fab->head->nodes ? dev_new(dev, fab, (u32)node) : -ENODEV;
	if (ret)
		emb_detach(fab);
	return ret;
}

/*
 * Begins a command.  A process executes one command at a time; the child of a
 * fork may not execute any.
 */
static int dev_enter(struct emb_dev *d)
{
	if (d->forks != emb_forks())
		return -ENODEV;
	pthread_mutex_lock(&d->fab->mutex);
	if (emb_broken(d->fab)) {
		pthread_mutex_unlock(&d->fab->mutex);
		return -ENODEV;
	}
	return 0;
}

static void dev_leave(struct emb_dev *d)
{
	pthread_mutex_unlock(&d->fab->mutex);
}

static void emb_close(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;

	if (d->forks == emb_forks()) {
		emb_watch_end(d);
		pthread_mutex_lock(&d->fab->mutex);
		if (!emb_broken(d->fab))
			emb_ctx_destroy(d);
		if (emb_domain_put(d) && !emb_broken(d->fab))
			emb_trees_disown(d);
		dev_leave(d);
		emb_detach(d->fab);
	}
	emb_boards_free(d);
	free(d->owned.row);
	free(d);
	dev->priv = NULL;
}

/**
 * struct command - properties of a command
 * @size: bytes of its argument
 * @min_size: bytes of the argument's first published version
 * @prepare: slow first part of the command, or NULL; it uses no shared data, so
 *	other threads may run commands meanwhile
 * @run: implementation
 */
struct command {
	u32 size;
	u32 min_size;
	int (*prepare)(struct emb_dev *d, void *arg);
	int (*run)(struct emb_dev *d, void *arg);
};

/*
 * Sets a row.  If a dead process owns the row that has the TreeId, frees the
 * objects of that process, and tries again.
 */
static int dev_tree_set(struct emb_dev *d, void *arg)
{
	u32 owner;
	int ret = emb_tree_set(d, arg, &owner);

	if (ret != -EBUSY || !owner || !emb_is_dead(d->fab, owner - 1))
		return ret;
	emb_recover_dead(d->fab);
	return emb_tree_set(d, arg, &owner);
}

#define COMMAND(nr, fn, type, last, ...)				\
	[_IOC_NR(nr)] = {						\
		.size = sizeof(struct type),				\
		.min_size = offsetof(struct type, last) +		\
			    sizeof(((struct type *)0)->last),		\
		.run = fn, __VA_ARGS__					\
	}

static const struct command dev_commands[] = {
	COMMAND(ANGARA_IOCTL_QUERY, emb_query, angara_query, caps),
	COMMAND(ANGARA_IOCTL_DOMAIN_CREATE, emb_domain_create,
		angara_domain_create, watch_bytes),
	COMMAND(ANGARA_IOCTL_CTX_CREATE, emb_ctx_create, angara_ctx_create,
		db_offset),
	COMMAND(ANGARA_IOCTL_MR_REG, emb_mr_reg, angara_mr_register, key,
		.prepare = emb_mr_prepare),
	COMMAND(ANGARA_IOCTL_MR_DEREG, emb_mr_dereg, angara_mr_deregister, key),
	COMMAND(ANGARA_IOCTL_TREE_SET, dev_tree_set, angara_tree_set, row),
	COMMAND(ANGARA_IOCTL_TREE_GET, emb_tree_get, angara_tree_get, delegated),
	COMMAND(ANGARA_IOCTL_TREE_CLEAR, emb_tree_clear, angara_tree_clear,
		router),
	COMMAND(ANGARA_IOCTL_TREE_DELEGATE, emb_tree_delegate,
		angara_tree_delegate, pkey),
	COMMAND(ANGARA_IOCTL_TREE_CHECK, emb_tree_check, angara_tree_verify,
		nodes),
	COMMAND(ANGARA_IOCTL_MANAGE, emb_manage, angara_manage, pkt),
};

static const struct command ctx_commands[] = {
	COMMAND(ANGARA_IOCTL_JOIN, emb_join, angara_join, place),
	COMMAND(ANGARA_IOCTL_LEAVE, emb_leave, angara_join, place),
	COMMAND(ANGARA_IOCTL_KICK, emb_kick, angara_kick, flags),
};

#define LENGTH(array)	(sizeof(array) / sizeof(*(array)))

/* Return: the command with that number for this type of handle, or NULL. */
static const struct command *command_of(const struct emb_dev *d, unsigned int nr)
{
	const struct command *all = d->ctx ? ctx_commands : dev_commands;
	u32 count = d->ctx ? LENGTH(ctx_commands) : LENGTH(dev_commands);
	u32 index = _IOC_NR(nr);

	if (index >= count || !all[index].run || nr != _IO(ANGARA_IOC_TYPE, index))
		return NULL;
	return &all[index];
}

union argument {
	struct angara_query query;
	struct emb_create create;
	struct angara_mr_register reg;
	struct angara_tree_get get;
	struct angara_manage manage;
};

/*
 * Converts an argument of another version of its structure: a shorter one, or a
 * longer one whose tail is zero.
 */
static int argument_in(void *buf, const void *arg, u32 size,
		       const struct command *c)
{
	const u8 *bytes = arg;
	u32 i;

	if (size < c->min_size)
		return -EINVAL;
	if (size > ANGARA_PAGE_SIZE)
		return -E2BIG;
	for (i = c->size; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(buf, arg, size < c->size ? size : c->size);
	return 0;
}

/* @handle: handle of the context that the command creates, or NULL. */
static int run_command(struct emb_dev *d, const struct command *c, void *arg,
		       struct emb_dev *handle)
{
	union argument buf = { 0 };
	u32 size;
	int ret;

	memcpy(&size, arg, sizeof(size));
	ret = argument_in(&buf, arg, size, c);
	if (handle)
		buf.create.handle = handle;
	if (!ret && c->prepare)
		ret = c->prepare(d, &buf);
	if (!ret)
		ret = dev_enter(d);
	if (ret)
		return ret;
	ret = emb_lost(d) ? -ENODEV : c->run(d, &buf);
	dev_leave(d);
	if (!ret)
		memcpy(arg, &buf, size < c->size ? size : c->size);
	return ret;
}

static int emb_cmd(struct ang_dev *dev, unsigned int nr, void *arg)
{
	struct emb_dev *d = dev->priv;
	const struct command *c = command_of(d, nr);
	int ret;

	/* emb_ctx_open() creates contexts, not this function. */
	if (!c || nr == ANGARA_IOCTL_CTX_CREATE)
		return -ENOTTY;
	ret = run_command(d, c, arg, NULL);
	/*
	 * These lines need no lock: only handles of contexts join trees, and
	 * one thread at a time uses a context.
	 */
	if (nr == ANGARA_IOCTL_JOIN)
		dev->boards = d->boards;
	return ret;
}

static int emb_ctx_open(struct ang_dev *dev, void *arg, struct ang_dev *ctx)
{
	struct emb_dev *d = dev->priv;
	const struct command *c = command_of(d, ANGARA_IOCTL_CTX_CREATE);
	int ret;

	/*
	 * The child of a fork must not create a handle from its parent's
	 * device.
	 */
	if (d->forks != emb_forks())
		return -ENODEV;
	if (!c)
		return -ENOTTY;
	ret = dev_new(ctx, d->fab, d->node);
	if (ret)
		return ret;
	emb_hold(d->fab);
	ctx->ops = dev->ops;
	ret = run_command(d, c, arg, ctx->priv);
	if (ret)
		emb_close(ctx);
	return ret;
}

/* Rings the doorbell, without the overhead of a command. */
static int emb_doorbell(struct ang_dev *dev, u32 pi)
{
	struct emb_dev *d = dev->priv;

	if (emb_gone(d) || d->forks != emb_forks())
		return -ENODEV;
	if (dev->colls && emb_boards_take(dev, pi))
		return 0;
	return emb_ring(&d->run, d, d->node, ANGARA_DB_PAGE(d->num) + ANGARA_DB_SQ, pi) ?
	       0 : -ENODEV;
}

/*
 * Queues are in the segment, which is mapped already.  The notice of stale
 * regions is a static array that stays zero: memory is accessed by its
 * address in the process, so a region always refers to the current mapping.
 */
static void *emb_map(struct ang_dev *dev, u64 offset, size_t len, bool write)
{
	static u64 never[EMB_WATCH_BYTES / sizeof(u64)];
	struct emb_dev *d = dev->priv;
	u64 kind = offset / EMB_MEM_STRIDE;

	(void)len;
	(void)write;
	if (!d->ctx && kind == EMB_MEM_WATCH)
		return never;
	return d->ctx && kind <= EMB_MEM_MSG ? emb_at(d->fab, d->at[kind]) : NULL;
}

static void emb_unmap(struct ang_dev *dev, void *addr, size_t len)
{
	(void)dev;
	(void)addr;
	(void)len;
}

static bool emb_dev_gone(struct ang_dev *dev)
{
	const struct emb_dev *d = dev->priv;

	return emb_gone(d);
}

static bool emb_dev_relax(struct ang_dev *dev, bool can_sleep)
{
	struct emb_dev *d = dev->priv;
	u64 now_ms = 0;
	bool spin = emb_relax(&d->run, can_sleep, &now_ms);

	/* A caller that polls checks for dead processes, as sleeping threads do. */
	if (!can_sleep && now_ms && emb_look_due(d->fab, now_ms))
		emb_look_after(d->fab);
	return spin;
}

/*
 * Allocates the pages without the mutex: meanwhile, other threads can run commands, and
 * check for dead processes.
 */
static int emb_mem_alloc(struct ang_dev *dev, size_t len, size_t align, void **mem)
{
	struct emb_dev *d = dev->priv;
	u64 off;
	int ret = dev_enter(d);

	if (ret)
		return ret;
	ret = emb_heap_claim(d->fab, len, align, &off);
	dev_leave(d);
	if (ret)
		return ret;
	ret = emb_heap_fill(d->fab, off, len);
	if (!ret) {
		*mem = emb_at(d->fab, off);
		return 0;
	}
	if (!dev_enter(d)) {
		emb_heap_unclaim(d->fab, off);
		dev_leave(d);
	}
	return ret;
}

static void emb_mem_free(struct ang_dev *dev, void *mem, size_t len)
{
	struct emb_dev *d = dev->priv;
	u64 off = (u64)((char *)mem - (char *)d->fab->head);

	/* In the child of a fork, the memory belongs to the parent. */
	if (d->forks != emb_forks())
		return;
	emb_heap_empty(d->fab, off, len);
	if (dev_enter(d))
		return;
	emb_heap_unclaim(d->fab, off);
	dev_leave(d);
}

/* Return: offset in the segment, which all processes map whole. */
static u64 emb_mem_place(struct ang_dev *dev, const void *mem)
{
	const struct emb_dev *d = dev->priv;

	return (u64)((const char *)mem - (const char *)d->fab->head);
}

static void *emb_mem_placed(struct ang_dev *dev, u64 place, size_t len)
{
	const struct emb_fab *fab = ((struct emb_dev *)dev->priv)->fab;

	if (place < emb_heap_at(fab, 0) || place > fab->size || len > fab->size - place)
		return NULL;
	return emb_at(fab, place);
}

static int emb_scan(const struct ang_spec *spec, struct ang_scan *scan)
{
	struct emb_fab *fab;
	u32 node;
	int ret = emb_attach(spec, &fab);

	if (ret) {
		scan->err = ret;
		return ret == -ENOMEM ? ret : 0;
	}
	for (node = 0; !ret && node < fab->head->nodes; node++) {
		struct ang_found found = {
			.fabric_id = fab->head->cfg.fabric_id,
			.node = node,
			.minor = node,
		};

		ret = ang_scan_add(scan, &found);
	}
	emb_detach(fab);
	return ret;
}

static int emb_first(const struct ang_spec *spec, u32 *minor)
{
	(void)spec;
	*minor = ANG_DEV_ANY;
	return 0;
}

static int emb_describe(struct ang_dev *dev, char **text)
{
	const struct emb_dev *d = dev->priv;
	const struct ang_fabric *model = emb_model(d->fab, 0);

	*text = malloc(model->text_size + 1);
	if (!*text)
		return -ENOMEM;
	memcpy(*text, (const char *)model + model->off_text,
	       model->text_size + 1);
	return 0;
}

/* Reads the model without entering it, so the result may be outdated. */
static int emb_links_down(struct ang_dev *dev, u64 fabric_id, struct ang_links *links)
{
	const struct emb_fab *fab = ((struct emb_dev *)dev->priv)->fab;
	struct ang_fabric *model = emb_model(fab, emb_copy(fab));
	u32 router;
	int ret = 0;

	(void)fabric_id;
	for (router = 0; !ret && router < fab->head->routers; router++) {
		u64 down = ang_links_down(model, router);

		for (; !ret && down; down &= down - 1) {
			struct ang_end near = { router, (u32)__builtin_ctzll(down) }, far;

			far.router = ang_topo_peer(&fab->topo, near.router, near.port,
						   &far.port);
			ret = ang_links_add(links, near, far);
		}
	}
	return ret;
}

const struct ang_dev_ops ang_embed_ops = {
	.spin_us = 500,
	.scan = emb_scan,
	.first = emb_first,
	.open = emb_open,
	.close = emb_close,
	.ctx_open = emb_ctx_open,
	.cmd = emb_cmd,
	.describe = emb_describe,
	.links_down = emb_links_down,
	.doorbell = emb_doorbell,
	.map = emb_map,
	.unmap = emb_unmap,
	.wait = emb_wait,
	.poll_fd = emb_fd,
	.arm = emb_arm,
	.gone = emb_dev_gone,
	.relax = emb_dev_relax,
	.board = emb_board_look,
	.alloc = emb_mem_alloc,
	.free = emb_mem_free,
	.place = emb_mem_place,
	.placed = emb_mem_placed,
	.seal = emb_seal,
};
