// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes an embedded fabric look like /dev/angaraN to an unmodified program:
 * loaded by LD_PRELOAD, it replaces open(2), close(2), ioctl(2), mmap(2),
 * poll(2) and directory reads of /dev.  Arguments are copied as into a kernel:
 * unreadable or unwritable ones give -EFAULT.
 *
 * Descriptors cannot be duplicated or passed to other processes, and a parent's
 * descriptors are invalid in a child of fork(2).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "embed/embed.h"
#include "ang_types.h"

#define MAX_FDS		4096
#define EXPORT		__attribute__((visibility("default")))
#define PREFIX		"/dev/angara"
#define SLICE_MS	2

static struct ang_dev *devs[MAX_FDS];

/*
 * Return: the function of that name in the libraries that are loaded after this
 * one.
 */
static void *behind(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (!fn)
		abort();
	return fn;
}

#define BEHIND(name)							\
	((__typeof__(name) *)(uintptr_t)behind(#name))

static struct ang_dev *dev_of(int fd)
{
	return fd >= 0 && fd < MAX_FDS ? devs[fd] : NULL;
}

/* Return: 0, or -1 with errno, as system calls do. */
static int answer(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/* Makes a descriptor for a handle.  Return: the descriptor or -errno. */
static int fd_new(struct ang_dev **dev)
{
	int fd;

	*dev = calloc(1, sizeof(**dev));
	if (!*dev)
		return -ENOMEM;
	fd = eventfd(0, EFD_CLOEXEC);
	if (fd >= 0 && fd < MAX_FDS)
		return fd;
	if (fd >= 0)
		BEHIND(close)(fd);
	free(*dev);
	return -EMFILE;
}

static void fd_drop(int fd, struct ang_dev *dev)
{
	BEHIND(close)(fd);
	free(dev);
}

static int dev_open(const char *number)
{
	struct ang_spec spec;
	struct ang_dev *dev;
	int fd, ret;

	ret = ang_fabric_get(&spec);
	if (ret)
		return ret;
	fd = fd_new(&dev);
	if (fd < 0)
		return fd;
	ret = ang_dev_open(dev, &spec, number);
	if (ret) {
		fd_drop(fd, dev);
		return ret == -ENODEV ? -ENOENT : ret;
	}
	devs[fd] = dev;
	return fd;
}

/* Opens a copy of the file "fabric" of a device; the program only reads it. */
static int text_open(unsigned int number)
{
	char name[16], *text;
	int fd, dev, ret;

	snprintf(name, sizeof(name), "%u", number);
	dev = dev_open(name);
	if (dev < 0)
		return dev;
	ret = devs[dev]->ops->describe(devs[dev], &text);
	close(dev);
	if (ret)
		return ret;
	fd = memfd_create("fabric", MFD_CLOEXEC);
	ret = fd < 0 || pwrite(fd, text, strlen(text), 0) < 0 ? -errno : fd;
	free(text);
	return ret;
}

EXPORT int open(const char *path, int flags, ...)
{
	unsigned int number;
	mode_t mode = 0;
	va_list args;

	if (sscanf(path, "/sys/class/angara/angara%u/fabric", &number) == 1)
		return answer(text_open(number));

	if (!strncmp(path, PREFIX, sizeof(PREFIX) - 1))
		return answer(dev_open(path + sizeof(PREFIX) - 1));
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return BEHIND(open)(path, flags, mode);
}

EXPORT int close(int fd)
{
	struct ang_dev *dev = dev_of(fd);

	if (dev) {
		devs[fd] = NULL;
		ang_dev_close(dev);
		free(dev);
	}
	return BEHIND(close)(fd);
}

/* Copies from or to memory that may be unmapped. */
static bool copy(void *mine, const void *theirs, size_t len, bool out)
{
	struct iovec a = { mine, len };
	struct iovec b = { (void *)(uintptr_t)theirs, len };
	ssize_t n = out ? process_vm_writev(getpid(), &a, 1, &b, 1, 0) :
			  process_vm_readv(getpid(), &a, 1, &b, 1, 0);

	return n == (ssize_t)len;
}

/* Does the call return data in its argument? */
static bool answers(unsigned long nr)
{
	return nr == ANGARA_IOCTL_QUERY || nr == ANGARA_IOCTL_DOMAIN_CREATE ||
	       nr == ANGARA_IOCTL_CTX_CREATE || nr == ANGARA_IOCTL_MR_REG || nr == ANGARA_IOCTL_TREE_GET ||
	       nr == ANGARA_IOCTL_TREE_CHECK || nr == ANGARA_IOCTL_MANAGE;
}

/* Creates a context, with a thread that runs the model, for programs that only poll memory. */
static int ctx_open(struct ang_dev *dev, char *arg)
{
	struct angara_ctx_create c;
	struct ang_dev *ctx;
	int fd = fd_new(&ctx);
	int ret;

	if (fd < 0)
		return fd;
	ret = dev->ops->ctx_open(dev, arg, ctx);
	if (!ret && ctx->ops->poll_fd(ctx) < 0) {
		ang_dev_close(ctx);
		ret = -ENOMEM;
	}
	if (ret) {
		fd_drop(fd, ctx);
		return ret;
	}
	devs[fd] = ctx;
	memcpy(arg + offsetof(struct angara_ctx_create, fd), &fd, sizeof(c.fd));
	return 0;
}

static int dev_call(struct ang_dev *dev, unsigned long nr, char *arg)
{
	if (nr == ANGARA_IOCTL_CTX_CREATE)
		return ctx_open(dev, arg);
	return ang_dev_cmd(dev, (unsigned int)nr, arg);
}

static int dev_ioctl(struct ang_dev *dev, unsigned long nr, void *arg)
{
	char buf[ANGARA_PAGE_SIZE] = "";
	u32 size;
	int ret;

	if (nr >> 8 != ANGARA_IOC_TYPE || (nr & 0xFF) > 19)
		return -ENOTTY;
	if (!copy(&size, arg, sizeof(size), false))
		return -EFAULT;
	if (size > sizeof(buf) || size < sizeof(size)) {
		memcpy(buf, &size, sizeof(size));
		return dev_call(dev, nr, buf);
	}
	if (!copy(buf, arg, size, false))
		return -EFAULT;
	/* Fail before the call if the caller's memory cannot take the answer. */
	if (answers(nr) && !copy(buf, arg, size, true))
		return -EFAULT;
	ret = dev_call(dev, nr, buf);
	if (!ret && answers(nr) && !copy(buf, arg, size, true))
		return -EFAULT;
	return ret;
}

EXPORT int ioctl(int fd, unsigned long nr, ...)
{
	struct ang_dev *dev = dev_of(fd);
	va_list args;
	void *arg;

	va_start(args, nr);
	arg = va_arg(args, void *);
	va_end(args);
	return dev ? answer(dev_ioctl(dev, nr, arg)) :
		     BEHIND(ioctl)(fd, nr, arg);
}

/*
 * Return: start of the lists of pages, after all offsets that can be mapped.
 */
static u64 lists_at(const struct emb_dev *d)
{
	u64 all = d->mem_len / ANGARA_PAGE_SIZE;
	u64 pages = all;

	while (pages + (pages * 8 + ANGARA_PAGE_SIZE - 1) / ANGARA_PAGE_SIZE > all)
		pages--;
	return d->mem + pages * ANGARA_PAGE_SIZE;
}

/* Return: bytes of the mapping @kind, in whole pages. */
static size_t kind_size(const struct emb_dev *d, u64 kind)
{
	u64 end = kind == EMB_MEM_MSG ? lists_at(d) : d->at[kind + 1];

	return end - d->at[kind];
}

static bool read_only(u64 kind)
{
	return kind != EMB_MEM_SQ && kind != EMB_MEM_CTL;
}

static int map_check(const struct emb_dev *d, size_t len, int prot, int flags,
		     u64 off)
{
	u64 kind = off / EMB_MEM_STRIDE;

	if (d->forks != emb_forks() || emb_broken(d->fab))
		return -ENODEV;
	if (!d->ctx)
		return -EINVAL;	/* a device file without a context has no offsets */
	len = (len + ANGARA_PAGE_SIZE - 1) & ~(ANGARA_PAGE_SIZE - 1UL);
	if (kind > EMB_MEM_MSG || off % EMB_MEM_STRIDE ||
	    len != kind_size(d, kind) || !(flags & MAP_SHARED))
		return -EINVAL;
	if (read_only(kind) && prot & PROT_WRITE)
		return -EACCES;
	return 0;
}

/* Maps read-only memory from a read-only file, so that it cannot become writable. */
static void *map_segment(const struct emb_dev *d, void *addr, size_t len,
			 int prot, int flags, u64 kind)
{
	bool ro = read_only(kind);
	int fd = d->fab->fd;
	char path[32];
	void *mem;

	if (ro) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		fd = BEHIND(open)(path, O_RDONLY | O_CLOEXEC);
	}
	mem = BEHIND(mmap)(addr, len, prot, flags, fd, (off_t)d->at[kind]);
	if (ro)
		BEHIND(close)(fd);
	if (mem != MAP_FAILED)
		madvise(mem, len, MADV_DONTFORK);
	return mem;
}

EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	struct ang_dev *dev = dev_of(fd);
	const struct emb_dev *d;
	int ret;

	if (!dev)
		return BEHIND(mmap)(addr, len, prot, flags, fd, off);
	d = dev->priv;
	ret = map_check(d, len, prot, flags, (u64)off);
	if (ret) {
		errno = -ret;
		return MAP_FAILED;
	}
	return map_segment(d, addr, len, prot, flags, (u64)off / EMB_MEM_STRIDE);
}

static short dev_events(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;

	if (d->forks != emb_forks() || emb_broken(d->fab))
		return POLLHUP | POLLERR;
	return d->ctx && emb_news(d) ? POLLIN | POLLRDNORM : 0;
}

/* Return: number of ready descriptors. */
static int look(struct pollfd *fds, nfds_t n, struct pollfd *others)
{
	int ready = 0;
	nfds_t i;

	for (i = 0; i < n; i++) {
		struct ang_dev *dev = dev_of(fds[i].fd);

		others[i] = fds[i];
		if (dev) {
			others[i].fd = -1;
			others[i].revents = 0;
			fds[i].revents = dev_events(dev) &
				(fds[i].events | POLLHUP | POLLERR);
			ready += fds[i].revents != 0;
		}
	}
	BEHIND(poll)(others, n, 0);
	for (i = 0; i < n; i++) {
		if (dev_of(fds[i].fd))
			continue;
		fds[i].revents = others[i].revents;
		ready += fds[i].revents != 0;
	}
	return ready;
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	u64 end = emb_now_ms() + (u64)(timeout > 0 ? timeout : 0);
	struct ang_dev *dev = NULL;
	struct pollfd others[64];
	nfds_t i;
	int ready;

	for (i = 0; i < n && i < 64; i++)
		if (!dev)
			dev = dev_of(fds[i].fd);
	if (!dev || n > 64)
		return BEHIND(poll)(fds, n, timeout);
	for (;;) {
		const struct timespec nap = { .tv_nsec = SLICE_MS * 1000000 };
		const struct emb_dev *d = dev->priv;

		ready = look(fds, n, others);
		if (ready || (timeout >= 0 && emb_now_ms() >= end))
			return ready;
		if (d->ctx)
			dev->ops->wait(dev, SLICE_MS);
		else
			nanosleep(&nap, NULL);
	}
}

/*
 * The folder /dev that the program reads, and the number of the next device in
 * it. The names of devices follow the real entries.
 */
static DIR *dev_dir;
static u32 dev_next;

EXPORT DIR *opendir(const char *path)
{
	DIR *dir = BEHIND(opendir)(path);

	if (dir && !strcmp(path, "/dev")) {
		dev_dir = dir;
		dev_next = 0;
	}
	return dir;
}

EXPORT struct dirent *readdir(DIR *dir)
{
	static struct dirent entry;
	struct dirent *e = BEHIND(readdir)(dir);
	struct ang_spec spec;

	if (e || dir != dev_dir || ang_fabric_get(&spec) ||
	    dev_next >= spec.topo.nodes)
		return e;
	snprintf(entry.d_name, sizeof(entry.d_name), "angara%u", dev_next++);
	return &entry;
}

/* Counts regions in a domain's table, which is contiguous. */
static void count_regions(const struct emb_fab *fab, const struct ang_dom *c,
			  unsigned long *mrs, unsigned long *bytes)
{
	const __le64 *list = emb_at(fab, c->mrt.list);
	const struct angara_hw_mr *mr = emb_at(fab, le64_to_cpu(list[0]));
	u32 key;

	for (key = 0; key < c->mrs; key++) {
		if (!READ_ONCE(mr[key].valid))
			continue;
		++*mrs;
		*bytes += le64_to_cpu(mr[key].length);
	}
}

int shim_usage(unsigned long *ctxs, unsigned long *mrs, unsigned long *bytes);

/* Counts objects on all nodes of the fabric; for usage.c. */
EXPORT int shim_usage(unsigned long *ctxs, unsigned long *mrs,
		      unsigned long *bytes)
{
	struct ang_fabric *model;
	struct ang_spec spec;
	struct emb_fab *fab;
	u32 node, num;
	int ret;

	ret = ang_fabric_get(&spec);
	if (!ret)
		ret = emb_attach(&spec, &fab);
	if (ret)
		return ret;
	model = emb_model(fab, emb_copy(fab));
	for (node = 0; node < fab->head->nodes; node++) {
		for (num = 0; num < fab->head->cfg.ctxs; num++) {
			const struct emb_ctx *c =
				&emb_node(fab, node)->ctx[num];

			*ctxs += READ_ONCE(c->owner) != 0;
			if (READ_ONCE(c->domain))
				count_regions(fab, ang_dom(model,
							   ang_node(model, node),
							   num), mrs, bytes);
		}
	}
	emb_detach(fab);
	return 0;
}
