// SPDX-License-Identifier: GPL-2.0-only
/* Calls on open files, and the contents of the memory that they map. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "angtest.h"
#include "state.h"

/* The first ARGS_PAGES pages of a thread's arguments are mapped.  Page ARGS_CONST is not. */
#define ARGS_PAGES	2
#define ARGS_CONST	4

static long answer(long ret)
{
	return ret < 0 ? -errno : ret;
}

static void rings_unmap(uint64_t f)
{
	munmap(KF_RING(f, 0), KF_STRIDE / 2);
}

long kf_open(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	static const int modes[] = {
		O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK,
	};
	char path[32];
	int fd, ret;

	(void)s;
	(void)op;
	at_dev_path(v[1] % 4096, path);
	fd = open(path, modes[v[2] % 4] | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = dup2(fd, kf_fd(v[0]));
	close(fd);
	return ret < 0 ? -errno : 0;
}

long kf_close(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	(void)s;
	(void)op;
	if (!v[1])
		rings_unmap(v[0] % KF_FILES);
	return answer(close(kf_fd(v[0]))) | answer(close(kf_ctx_fd(v[0])));
}

/* Closes the file of a device or of its context; the other file stays open. */
long kf_end(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	(void)s;
	(void)op;
	return answer(close(v[1] ? kf_ctx_fd(v[0]) : kf_fd(v[0])));
}

long kf_dup(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	(void)op;
	if (dup2(kf_fd(v[0]), kf_fd(v[1])) < 0)
		return -errno;
	dup2(kf_ctx_fd(v[0]), kf_ctx_fd(v[1]));
	s->file[v[1] % KF_FILES] = s->file[v[0] % KF_FILES];
	return 0;
}

/* Return: address for the argument of an ioctl, valid or not. */
static char *arg_place(struct kf_state *s, uint64_t how, uint64_t f,
		       size_t size)
{
	char *hole = s->args + ARGS_PAGES * KF_PAGE;

	size = size < KF_PAGE ? size : KF_PAGE;
	switch (how % 8) {
	case 1:
		return s->args + 1;
	case 2:
		return hole - size;
	case 3:
		return hole - size + 4;
	case 4:
		return s->args + ARGS_CONST * KF_PAGE;
	case 5:
		return NULL;
	case 6:
		return (char *)0xFFFF888000000000UL;
	case 7:
		return KF_RING(f % KF_FILES, 2);
	default:
		return s->args;
	}
}

static void *pages(void *at, unsigned int count)
{
	return mmap(at, count * KF_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Maps only a few pages, since mappings are slow on debug kernels. */
void kf_args_init(struct kf_state *s)
{
	s->args = (char *)KF_AT_ARGS + s->lane * 16 * KF_PAGE;
	pages(s->args, ARGS_PAGES);
}

static void eventfd_init(int fd)
{
	int made;

	if (fcntl(fd, F_GETFD) >= 0)
		return;
	made = eventfd(0, EFD_NONBLOCK);
	dup2(made, fd);
	close(made);
}

/* Writes as many bytes as fit at @to. */
static void arg_put(struct kf_state *s, char *to, uint64_t how,
		    const void *from, size_t size)
{
	switch (how % 8) {
	case 3:
		size = size > 4 ? size - 4 : 0;
		break;
	case 4:
		pages(to, 1);
		memcpy(to, from, size);
		mprotect(to, KF_PAGE, PROT_READ);
		return;
	case 5:
	case 6:
		return;
	}
	(void)s;
	memcpy(to, from, size);
}

static uint64_t region_addr(struct kf_state *s, const uint64_t *v)
{
	uint64_t len;

	return (uintptr_t)kf_region(s, v[4], &len) + v[5];
}

/* Sets members whose values are only known when the program runs. */
static void arg_fix(struct kf_state *s, const struct kf_op *op,
		    const uint64_t *v, char *arg)
{
	struct angara_eventfd *e = (void *)arg;
	struct angara_mr_register *r = (void *)arg;

	switch (op->nr) {
	case ANGARA_IOCTL_MR_REG:
		r->addr = region_addr(s, v);
		break;
	case ANGARA_IOCTL_EVENTFD:
		if (v[4] == 0)
			e->fd = -1;
		else if (v[4] <= KF_EVENTFDS)
			eventfd_init(e->fd = KF_FD_EVENTFD + v[4] - 1);
		else if (v[4] == KF_EVENTFDS + 1)
			e->fd = kf_ctx_fd(v[0]);
		break;
	}
}

static void rings_map(struct kf_state *s, uint64_t f,
		      const struct angara_ctx_create *c)
{
	struct kf_file *file = &s->file[f];
	unsigned int kind;

	*file = (struct kf_file) {
		.offset = { c->sq_offset, c->cq_offset, c->ctl_offset,
			    c->ctr_offset, c->msg_offset },
		.bytes = { c->sq_entries * sizeof(struct angara_wqe),
			   c->cq_entries * sizeof(struct angara_cqe),
			   KF_PAGE, KF_PAGE, c->msg_bytes, KF_PAGE },
		.sq_entries = c->sq_entries,
	};
	rings_unmap(f);
	for (kind = 0; kind <= KF_AREA_KIND; kind++) {
		uint64_t bytes = (file->bytes[kind] + KF_PAGE - 1) & -KF_PAGE;

		file->bytes[kind] = bytes;
		if (!bytes)
			continue;
		mmap(KF_RING(f, kind), bytes,
		     kind == 0 || kind == 2 ? PROT_READ | PROT_WRITE : PROT_READ,
		     MAP_SHARED | MAP_FIXED, kf_ctx_fd(f), file->offset[kind]);
	}
}

/* The new context replaces the context in slot @f. */
static void ctx_take(struct kf_state *s, uint64_t f,
		     const struct angara_ctx_create *c)
{
	dup2(c->fd, kf_ctx_fd(f));
	close(c->fd);
	rings_map(s, f % KF_FILES, c);
}

static bool is_on_ctx(unsigned long nr)
{
	return nr == ANGARA_IOCTL_JOIN || nr == ANGARA_IOCTL_LEAVE ||
	       nr == ANGARA_IOCTL_KICK || nr == ANGARA_IOCTL_EVENTFD;
}

long kf_ioctl(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	char arg[KF_PAGE] __attribute__((aligned(8))) = { 0 };
	size_t size = v[1] ? v[1] : op->size;
	const struct kf_field *f;
	unsigned int i;
	char *at;
	long ret;

	for (i = 3; i < kf_fields(op); i++) {
		f = &op->field[i];
		memcpy(arg + f->offset, &v[i], f->width);
	}
	arg_fix(s, op, v, arg);
	memcpy(arg, &size, sizeof(uint32_t));
	size = size < op->size ? op->size : size < KF_PAGE ? size : KF_PAGE;
	/* An odd size adds a non-zero byte after the known fields. */
	if (size > op->size && size % 2)
		arg[size - 1] = 1;
	at = arg_place(s, v[2], v[0], size);
	arg_put(s, at, v[2], arg, size);
	ret = answer(ioctl(is_on_ctx(op->nr) ? kf_ctx_fd(v[0]) : kf_fd(v[0]),
			   op->nr, at));
	if (!ret && op->nr == ANGARA_IOCTL_CTX_CREATE && v[2] % 8 < 3)
		ctx_take(s, v[0] + v[4], (void *)at);
	return ret;
}

/* Any command; 0 stands for one of the driver's commands. */
long kf_ioctl_any(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint32_t cmd = v[1] ? v[1] : _IO(ANGARA_IOC_TYPE, v[2] & 0xFF);
	uint32_t size = v[3];
	char *at = arg_place(s, v[4], v[0], sizeof(size));

	(void)op;
	arg_put(s, at, v[4], &size, sizeof(size));
	return answer(ioctl(v[5] ? kf_ctx_fd(v[0]) : kf_fd(v[0]), cmd, at));
}

/* Puts an entry where the next one belongs, and claims @more entries after it. */
static long entry(struct kf_state *s, uint64_t f, const struct angara_wqe *w,
		  uint64_t payload, uint32_t more)
{
	struct kf_file *file = &s->file[f % KF_FILES];
	struct angara_wqe *sq = KF_RING(f % KF_FILES, 0);
	struct angara_ctl *ctl = KF_RING(f % KF_FILES, 2);
	uint32_t entries = file->sq_entries;

	if (!entries)
		return -ENXIO;
	if (w->flags & ANGARA_WQE_INLINE && payload <= ANGARA_MAX_INLINE)
		more += (payload + 63) / 64;
	sq[file->pi++ % entries] = *w;
	for (; more; more--, file->pi++)
		memset(&sq[file->pi % entries], more, sizeof(*w));
	ctl->sq_pi = htole32(file->pi);
	return 0;
}

long kf_wqe(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct angara_wqe w = {
		.opcode = v[2], .flags = v[3], .tree = htole16(v[4]),
		.redop = v[5], .type = v[6], .dst_ctx = htole16(v[7]),
		.dst_node = htole32(v[8]), .length = htole32(v[9]),
		.cookie = v[9], .lkey = htole32(v[10]),
		.rkey = htole64(v[11]), .loff = htole64(v[12]),
		.roff = htole64(v[13]), .aux_key = htole32(v[14]),
		.aux = htole64(v[15]),
	};

	(void)op;
	return entry(s, v[0], &w, v[9], v[1] & 0xFF);
}

long kf_send(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct angara_wqe w = {
		.opcode = ANGARA_OP_SEND, .flags = v[1],
		.dst_ctx = htole16(v[2]), .dst_node = htole32(v[3]),
		.length = htole32(v[4]), .cookie = v[4],
		.lkey = htole32(v[5]), .loff = htole64(v[6]),
		.roff = htole64(v[7]), .aux = htole64(v[7]),
		.code = htole16(v[8]),
	};

	(void)op;
	return entry(s, v[0], &w, v[4], 0);
}

/* Number of bytes of the operands of an atomic operation. */
static uint64_t operands(uint64_t aop, uint64_t len)
{
	if (aop == ANGARA_ATOMIC_READ)
		return 0;
	return aop >= ANGARA_ATOMIC_CSWAP ? 2 * len : len;
}

long kf_atomic(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct angara_wqe w = {
		.opcode = ANGARA_OP_ATOMIC, .flags = v[2], .redop = v[3],
		.type = v[4], .dst_ctx = htole16(v[5]),
		.dst_node = htole32(v[6]), .length = htole32(v[7]),
		.cookie = v[7], .lkey = htole32(v[8]),
		.rkey = htole64(v[9]), .loff = htole64(v[10]),
		.roff = htole64(v[11]), .counter = htole16(v[12]),
	};

	(void)op;
	if (v[1]) {
		w.opcode = ANGARA_OP_FETCH;
		w.aux_key = htole32(v[13]);
		w.aux = htole64(v[14]);
	}
	return entry(s, v[0], &w, operands(v[3], v[7]), 0);
}

long kf_take(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct kf_file *file = &s->file[v[0] % KF_FILES];
	struct angara_ctl *ctl = KF_RING(v[0] % KF_FILES, 2);
	const struct angara_msg *area = KF_RING(v[0] % KF_FILES, KF_AREA_KIND);
	uint32_t units = file->bytes[KF_AREA_KIND] / sizeof(*area);
	uint32_t left = 1 + v[1] % 64;
	uint32_t ci, taken = 0;

	(void)op;
	if (!units)
		return -ENXIO;
	ci = le32toh(ctl->msg_ci);
	for (; left && area[ci % units].kind; left--, taken++)
		ci += 1 + (le32toh(area[ci % units].length) + 63) / 64;
	ctl->msg_ci = htole32(ci);
	return taken;
}

long kf_ctl(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint32_t *word = KF_RING(v[0] % KF_FILES, 2);

	(void)s;
	(void)op;
	word += v[1] % (KF_PAGE / sizeof(*word));
	*word = htole32(v[3] + (v[2] ? le32toh(*word) : 0));
	return 0;
}

long kf_poll(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct pollfd p[] = {
		{ .fd = kf_ctx_fd(v[0]), .events = POLLIN | POLLOUT },
		{ .fd = KF_FD_EVENTFD, .events = POLLIN },
		{ .fd = kf_fd(v[0]), .events = POLLIN | POLLOUT },
	};

	(void)s;
	(void)op;
	return poll(p, 3, v[1] % 8) < 0 ? -errno : p[0].revents;
}

/* Calls that every file has to answer, of the driver or the kernel. */
long kf_file_call(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	char *mem = (char *)KF_AT_MEM;
	int fd = v[1] & 8 ? kf_ctx_fd(v[0]) : kf_fd(v[0]);
	uint64_t count;

	(void)s;
	(void)op;
	switch (v[1] % 8) {
	case 0:
		return answer(read(fd, mem, 100));
	case 1:
		return answer(write(fd, mem, 100));
	case 2:
		return answer(lseek(fd, 1, SEEK_SET));
	case 3:
		return answer(fsync(fd));
	case 4:
		return answer(fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC));
	case 5:
		return answer(pread(fd, mem, 100, 8));
	case 6:
		return answer(sendfile(KF_FD_EVENTFD, fd, NULL, 8));
	default:
		return answer(read(KF_FD_EVENTFD, &count, sizeof(count)));
	}
}

long kf_eventfd(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	int slot = KF_FD_EVENTFD + v[0] % KF_EVENTFDS;

	(void)s;
	(void)op;
	if (v[1])
		return answer(close(slot));
	eventfd_init(slot);
	return 0;
}
