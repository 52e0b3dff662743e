// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random calls of the threads of race and races; they accept every result that
 * such a call may return.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "angtest.h"
#include "randcalls.h"
#include "nl.h"

static int file_of(const struct at_caller *w, unsigned int slot)
{
	return w->d->fd[slot];
}

static int ctx_of(const struct at_caller *w, unsigned int slot)
{
	return w->d->ctx[slot];
}

static int make_domain(struct at_caller *w, unsigned int slot)
{
	long ret = at_domain_create(file_of(w, slot), 0);

	return ret < 0 ? ret : 0;
}

/* Replaces a context of any domain; other threads may be using the old one. */
static int make_ctx(struct at_caller *w, unsigned int slot)
{
	struct angara_ctx_create c = {
		.size = sizeof(c),
		.sq_entries = 8U << at_rand(&w->seed, 3),
		.cq_entries = 8U << at_rand(&w->seed, 3),
	};
	int ret = at_ioctl(file_of(w, slot), ANGARA_IOCTL_CTX_CREATE, &c);

	if (ret)
		return ret;
	w->d->sq_offset = c.sq_offset;
	w->d->ctl_offset = c.ctl_offset;
	dup2(c.fd, ctx_of(w, at_rand(&w->seed, AT_RANDCALLS_FILES)));
	close(c.fd);
	return 0;
}

static int reg(struct at_caller *w, unsigned int slot)
{
	struct angara_mr_register r = {
		.size = sizeof(r),
		.flags = at_rand(&w->seed, 4), /* ANGARA_MR_KEY, _WATCH */
		.addr = (uintptr_t)w->d->mem + at_rand(&w->seed, AT_RANDCALLS_MEM / 2),
		.length = 1 + at_rand(&w->seed, AT_RANDCALLS_MEM / 2),
		.access = at_rand(&w->seed, 8),
		.key = at_rand(&w->seed, 4),
	};

	return at_ioctl(file_of(w, slot), ANGARA_IOCTL_MR_REG, &r);
}

static int dereg(struct at_caller *w, unsigned int slot)
{
	struct angara_mr_deregister d = {
		.size = sizeof(d), .key = at_rand(&w->seed, 4),
	};

	return at_ioctl(file_of(w, slot), ANGARA_IOCTL_MR_DEREG, &d);
}

/* Removes a page: the kernel notifies the driver if the page is in a watched region. */
static int forget(struct at_caller *w, unsigned int slot)
{
	unsigned int page = at_rand(&w->seed, AT_RANDCALLS_MEM / AT_PAGE);

	(void)slot;
	return madvise(w->d->mem + page * AT_PAGE, AT_PAGE, MADV_DONTNEED) ?
	       -errno : 0;
}

static int row(struct at_caller *w, unsigned int slot)
{
	struct angara_tree_row r = {
		.tree = AT_RANDCALLS_TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		.pe = 1 + at_rand(&w->seed, 3), .pkey = w->d->pkey,
	};

	if (at_rand(&w->seed, 3))
		return at_tree_clear(file_of(w, slot), AT_RANDCALLS_TREE);
	return at_tree_set(file_of(w, slot), &r, at_rand(&w->seed, 2));
}

static int membership(struct at_caller *w, unsigned int slot)
{
	int fd = ctx_of(w, slot);

	return at_rand(&w->seed, 2) ? at_join(fd, AT_RANDCALLS_TREE) :
				      at_leave(fd, AT_RANDCALLS_TREE);
}

static int ring(struct at_caller *w, unsigned int slot)
{
	struct angara_kick k = {
		.size = sizeof(k), .flags = 1 + at_rand(&w->seed, 3),
	};
	struct pollfd p = { .fd = ctx_of(w, slot), .events = POLLIN };

	if (at_rand(&w->seed, 4))
		return at_ioctl(p.fd, ANGARA_IOCTL_KICK, &k);
	return poll(&p, 1, 0) < 0 ? -errno : 0;
}

static int signal_fd(struct at_caller *w, unsigned int slot)
{
	struct angara_eventfd e = { .size = sizeof(e), .fd = -1 };
	int ret;

	if (at_rand(&w->seed, 2))
		e.fd = eventfd(0, EFD_CLOEXEC);
	ret = at_ioctl(ctx_of(w, slot), ANGARA_IOCTL_EVENTFD, &e);
	if (e.fd >= 0)
		close(e.fd);
	return ret;
}

/* Writes a random entry into the queue, and kicks. */
static int operate(struct at_caller *w, unsigned int slot)
{
	int fd = ctx_of(w, slot);
	struct angara_ctl *ctl;
	struct angara_wqe *sq;

	sq = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  w->d->sq_offset);
	if (sq == MAP_FAILED)
		return 0;
	sq[0] = (struct angara_wqe) {
		.opcode = at_rand(&w->seed, ANGARA_OP_NUM),
		.tree = htole16(AT_RANDCALLS_TREE),
		.dst_ctx = htole16(at_rand(&w->seed, 4)),
		.length = htole32(at_rand(&w->seed, 3000) & ~3U),
		.lkey = htole32(at_rand(&w->seed, 4)),
		.rkey = htole64(at_rand(&w->seed, 4)),
	};
	memcpy(&sq[1], &sq[0], sizeof(sq[0]));
	ctl = mmap(NULL, AT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   w->d->ctl_offset);
	if (ctl != MAP_FAILED) {
		ctl->sq_pi = htole32(le32toh(ctl->sq_pi) + 1);
		ctl->cq_ci = ctl->sq_pi;
		munmap(ctl, AT_PAGE);
	}
	munmap(sq, AT_PAGE);
	return ring(w, slot);
}

static int look(struct at_caller *w, unsigned int slot)
{
	struct angara_tree_verify check;
	struct angara_tree_get get;
	struct at_usage use;

	switch (at_rand(&w->seed, 3)) {
	case 0:
		return at_tree_get(file_of(w, slot), AT_RANDCALLS_TREE, &get);
	case 1:
		return at_tree_check(file_of(w, slot), AT_RANDCALLS_TREE, &check);
	default:
		return at_usage(&use);
	}
}

/* Replaces an open file; other threads may be using the old one. */
static int reopen(struct at_caller *w, unsigned int slot)
{
	int fresh;

	if (at_rand(&w->seed, 8))
		return 0;
	fresh = at_open(w->d->first + at_rand(&w->seed, w->d->devs));
	if (fresh < 0)
		return fresh;
	dup2(fresh, file_of(w, slot));
	close(fresh);
	return 0;
}

static int (*const calls[])(struct at_caller *w, unsigned int slot) = {
	make_domain, make_ctx, make_ctx, reg, reg, dereg, dereg, forget,
	row, membership, membership, ring,
	signal_fd, operate, operate, look, reopen,
};

#define CALLS	(sizeof(calls) / sizeof(calls[0]))

static bool expected(const struct at_caller *w, int ret)
{
	switch (ret) {
	case -ENODEV:
		return w->d->go;
	case 0: case -EBUSY: case -ENXIO: case -EEXIST: case -ENOENT:
	case -EALREADY: case -ENOTCONN: case -ENOSPC: case -ENETDOWN:
	case -EBADF: case -EINTR: case -ENOTTY:
		return true;
	default:
		return false;
	}
}

void *at_randcalls_work(void *caller)
{
	struct at_caller *w = caller;
	int ret;

	while (!w->d->stop) {
		ret = calls[at_rand(&w->seed, CALLS)](w,
			at_rand(&w->seed, AT_RANDCALLS_FILES));
		w->calls++;
		if (!expected(w, ret)) {
			fprintf(stderr, "# a call returned %d, which is not an expected error\n", ret);
			w->bad++;
		}
	}
	return NULL;
}

int at_randcalls_open(struct at_randcalls *d, unsigned int first, unsigned int devs,
		      bool go)
{
	struct angara_query q;
	unsigned int i;

	memset(d, 0, sizeof(*d));
	d->first = first;
	d->devs = devs;
	d->go = go;
	d->mem = at_pages(AT_RANDCALLS_MEM);
	if (!d->mem)
		return -ENOMEM;
	for (i = 0; i < AT_RANDCALLS_FILES; i++) {
		d->fd[i] = at_open(first);
		if (d->fd[i] < 0)
			return d->fd[i];
		/* stands for the context until there is one */
		d->ctx[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (d->ctx[i] < 0)
			return -errno;
	}
	if (at_query(d->fd[0], &q))
		return -ENODEV;
	d->pkey = q.pkey;
	return 0;
}

void at_randcalls_close(struct at_randcalls *d)
{
	unsigned int i;

	for (i = 0; i < AT_RANDCALLS_FILES; i++) {
		close(d->fd[i]);
		close(d->ctx[i]);
	}
	munmap(d->mem, AT_RANDCALLS_MEM);
}
