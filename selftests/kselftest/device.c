// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices and contexts, by plain ioctl and mmap.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "angtest.h"

void at_dev_path(unsigned int dev, char path[32])
{
	snprintf(path, 32, "/dev/angara%u", dev);
}

unsigned int at_devices(void)
{
	unsigned int dev, end = 0;
	struct dirent *e;
	char tail;
	DIR *d;

	d = opendir("/dev");
	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (sscanf(e->d_name, "angara%u%c", &dev, &tail) == 1 &&
		    dev + 1 > end)
			end = dev + 1;
	closedir(d);
	return end;
}

int at_open(unsigned int dev)
{
	char path[32];
	int fd;

	at_dev_path(dev, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int at_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

int at_query(int fd, struct angara_query *q)
{
	memset(q, 0, sizeof(*q));
	q->size = sizeof(*q);
	return at_ioctl(fd, ANGARA_IOCTL_QUERY, q);
}

/* Uses the fabric of device @dev if all its nodes are on this machine. */
static int fabric_of(struct at_fabric *f, const struct angara_query *first,
		     unsigned int dev, unsigned int end)
{
	unsigned int found = 0;
	struct angara_query q;
	int fd, ret;

	f->id = first->fabric_id;
	f->nodes = first->nodes;
	ret = at_torus(dev, f);
	if (ret)
		return ret;
	for (; dev < end; dev++) {
		fd = at_open(dev);
		if (fd < 0)
			continue;
		ret = at_query(fd, &q);
		close(fd);
		if (ret || q.fabric_id != f->id || q.node >= f->nodes)
			continue;
		f->dev[q.node] = dev;
		found++;
	}
	return found == f->nodes ? 0 : -ENODEV;
}

static int find(struct at_fabric *f, unsigned int min_nodes, const uint64_t *id)
{
	unsigned int dev, end = at_devices();
	int fd, ret, err = -ENODEV;
	struct angara_query q;

	for (dev = 0; dev < end; dev++) {
		fd = at_open(dev);
		if (fd < 0) {
			if (fd != -ENOENT)
				err = fd;
			continue;
		}
		ret = at_query(fd, &q);
		close(fd);
		if (ret || q.nodes < min_nodes || q.nodes > AT_MAX_NODES ||
		    (id && q.fabric_id != *id))
			continue;
		if (!fabric_of(f, &q, dev, end))
			return 0;
	}
	return err;
}

int at_fabric_find(struct at_fabric *f, unsigned int min_nodes)
{
	return find(f, min_nodes, NULL);
}

int at_fabric_find_id(struct at_fabric *f, uint64_t id)
{
	return find(f, 1, &id);
}

static int map(int fd, uint64_t off, size_t len, int prot, void **out)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, off);

	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

int at_ctx_map(struct at_ctx *x)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct angara_ctx_create *c = &x->c;
	int ret;

	ret = map(x->fd, c->sq_offset, c->sq_entries * sizeof(*x->sq), rw,
		  (void **)&x->sq);
	if (!ret)
		ret = map(x->fd, c->cq_offset, c->cq_entries * sizeof(*x->cq),
			  PROT_READ, (void **)&x->cq);
	if (!ret)
		ret = map(x->fd, c->ctl_offset, AT_PAGE, rw, (void **)&x->ctl);
	if (!ret)
		ret = map(x->fd, c->ctr_offset, AT_PAGE, PROT_READ,
			  (void **)&x->ctr);
	if (!ret && (x->q.caps & ANGARA_CAP_DOORBELL_MMAP))
		ret = map(x->fd, c->db_offset, AT_PAGE, rw, (void **)&x->db);
	if (!ret && c->msg_bytes)
		ret = map(x->fd, c->msg_offset, c->msg_bytes, PROT_READ,
			  (void **)&x->msg);
	return ret;
}

static long domain_create(int fd, unsigned int pkey, uint64_t job)
{
	struct angara_domain_create d = {
		.size = sizeof(d),
		.flags = pkey ? ANGARA_DOMAIN_PKEY : 0,
		.pkey = pkey,
		.job = job,
	};
	int ret = at_ioctl(fd, ANGARA_IOCTL_DOMAIN_CREATE, &d);

	return ret ? ret : (long)d.pkey;
}

long at_domain_create(int fd, unsigned int pkey)
{
	return domain_create(fd, pkey, 0);
}

static int ctx_add(struct at_ctx *x, const struct at_attr *attr)
{
	struct angara_ctx_create *c = &x->c;
	int ret;

	c->size = sizeof(*c);
	c->sq_entries = attr && attr->sq ? attr->sq : 64;
	c->cq_entries = attr && attr->cq ? attr->cq : 128;
	c->msg_bytes = attr ? attr->msg : 0;
	ret = at_query(x->dom, &x->q);
	if (!ret)
		ret = at_ioctl(x->dom, ANGARA_IOCTL_CTX_CREATE, c);
	if (ret)
		return ret;
	x->fd = c->fd;
	return at_ctx_map(x);
}

int at_ctx_create(struct at_ctx *x, int fd, const struct at_attr *attr)
{
	long pkey;

	memset(x, 0, sizeof(*x));
	x->dom = fd;
	pkey = domain_create(fd, attr ? attr->pkey : 0, attr ? attr->job : 0);
	if (pkey < 0)
		return pkey;
	x->pkey = pkey;
	return ctx_add(x, attr);
}

int at_ctx_add(struct at_ctx *x, int dom, const struct at_attr *attr)
{
	int ret;

	memset(x, 0, sizeof(*x));
	x->dom = dom;
	x->shares = true;
	ret = ctx_add(x, attr);
	if (ret)
		at_ctx_close(x);
	return ret;
}

int at_ctx_open(struct at_ctx *x, unsigned int dev, const struct at_attr *attr)
{
	int ret, fd = at_open(dev);

	if (fd < 0)
		return fd;
	ret = at_ctx_create(x, fd, attr);
	if (ret)
		at_ctx_close(x);
	return ret;
}

void at_ctx_close(struct at_ctx *x)
{
	if (x->sq)
		munmap(x->sq, x->c.sq_entries * sizeof(*x->sq));
	if (x->cq)
		munmap((void *)x->cq, x->c.cq_entries * sizeof(*x->cq));
	if (x->ctl)
		munmap(x->ctl, AT_PAGE);
	if (x->ctr)
		munmap((void *)x->ctr, AT_PAGE);
	if (x->db)
		munmap((void *)x->db, AT_PAGE);
	if (x->msg)
		munmap((void *)x->msg, x->c.msg_bytes);
	if (x->fd > 0)
		close(x->fd);
	if (x->dom > 0 && !x->shares)
		close(x->dom);
	memset(x, 0, sizeof(*x));
}

static int mr_reg(struct at_ctx *x, const void *addr, size_t len,
		  unsigned int access, unsigned int flags, uint64_t *key)
{
	struct angara_mr_register reg = {
		.size = sizeof(reg),
		.flags = flags,
		.addr = (uintptr_t)addr,
		.length = len,
		.access = access,
		.key = *key,
	};
	int ret = at_ioctl(x->dom, ANGARA_IOCTL_MR_REG, &reg);

	*key = reg.key;
	return ret;
}

int at_mr(struct at_ctx *x, const void *addr, size_t len, unsigned int access)
{
	uint64_t key = 0;
	int ret;

	while ((ret = mr_reg(x, addr, len, access, ANGARA_MR_KEY, &key)) == -EEXIST)
		key++;
	return ret ? ret : (int)key;
}

uint64_t at_mr_any(struct at_ctx *x, const void *addr, size_t len,
		   unsigned int access, int *ret)
{
	uint64_t key = 0;

	*ret = mr_reg(x, addr, len, access, 0, &key);
	return *ret ? 0 : key;
}

int at_mr_dereg(struct at_ctx *x, uint64_t key)
{
	struct angara_mr_deregister dereg = { .size = sizeof(dereg), .key = key };

	return at_ioctl(x->dom, ANGARA_IOCTL_MR_DEREG, &dereg);
}

int at_ends_open(struct at_ends *p, enum at_where where,
		 const struct at_attr *attr, size_t mem)
{
	unsigned int node = 0;
	int ret = at_fabric_find(&p->f, 8);

	if (where == AT_NEIGHBOUR)
		node = 1;
	else if (where == AT_FAR)
		node = p->f.nodes - 1;
	p->x = &p->xx;
	p->y = where == AT_SAME_CTX ? &p->xx : &p->yy;
	if (!ret)
		ret = at_ctx_open(p->x, p->f.dev[0], attr);
	if (!ret && p->y != p->x)
		ret = at_ctx_open(p->y, p->f.dev[node], attr);
	if (ret)
		return ret;
	p->xmem = at_pages(mem);
	p->ymem = at_pages(mem);
	p->xkey = at_mr(p->x, p->xmem, mem, ANGARA_ACCESS_ALL);
	p->ykey = at_mr(p->y, p->ymem, mem, ANGARA_ACCESS_ALL);
	return p->xkey < 0 ? p->xkey : p->ykey < 0 ? p->ykey : 0;
}

void at_ends_close(struct at_ends *p)
{
	at_ctx_close(&p->xx);
	at_ctx_close(&p->yy);
}

void *at_pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int at_tree_set(int fd, const struct angara_tree_row *row, unsigned int flags)
{
	struct angara_tree_set set = {
		.size = sizeof(set),
		.flags = flags,
		.row = *row,
	};

	return at_ioctl(fd, ANGARA_IOCTL_TREE_SET, &set);
}

int at_tree_get(int fd, unsigned int tree, struct angara_tree_get *get)
{
	memset(get, 0, sizeof(*get));
	get->size = sizeof(*get);
	get->row.tree = tree;
	return at_ioctl(fd, ANGARA_IOCTL_TREE_GET, get);
}

int at_tree_clear(int fd, unsigned int tree)
{
	struct angara_tree_clear clear = { .size = sizeof(clear), .tree = tree };

	return at_ioctl(fd, ANGARA_IOCTL_TREE_CLEAR, &clear);
}

int at_tree_check(int fd, unsigned int tree, struct angara_tree_verify *check)
{
	memset(check, 0, sizeof(*check));
	check->size = sizeof(*check);
	check->tree = tree;
	return at_ioctl(fd, ANGARA_IOCTL_TREE_CHECK, check);
}

int at_delegate(int fd, unsigned int tree, unsigned int pkey)
{
	struct angara_tree_delegate d = {
		.size = sizeof(d),
		.tree = tree,
		.pkey = pkey,
	};

	return at_ioctl(fd, ANGARA_IOCTL_TREE_DELEGATE, &d);
}

int at_join_place(int fd, unsigned int tree, unsigned int place)
{
	struct angara_join join = {
		.size = sizeof(join),
		.flags = ANGARA_JOIN_PLACE,
		.tree = tree,
		.place = place,
	};

	return at_ioctl(fd, ANGARA_IOCTL_JOIN, &join);
}

int at_join(int fd, unsigned int tree)
{
	struct angara_join join = { .size = sizeof(join), .tree = tree };

	return at_ioctl(fd, ANGARA_IOCTL_JOIN, &join);
}

int at_leave(int fd, unsigned int tree)
{
	struct angara_join leave = { .size = sizeof(leave), .tree = tree };

	return at_ioctl(fd, ANGARA_IOCTL_LEAVE, &leave);
}

int at_torus(unsigned int dev, struct at_fabric *f)
{
	char path[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/angara/angara%u/fabric", dev);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	text[n] = 0;
	n = sscanf(text, "torus:%hux%hux%hux%hu", &f->dims[0], &f->dims[1],
		   &f->dims[2], &f->dims[3]);
	if (n < 1)
		return -EOPNOTSUPP;
	f->ndims = n;
	return 0;
}
