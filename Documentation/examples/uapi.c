// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * /dev/angaraN without the library: a context writes to its domain's memory
 * through the adapter, sleeps until that is done, and reads the completion.
 *
 *	cc -I uapi -o put-to-self Documentation/examples/uapi.c
 */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/angara.h>

#define ENTRIES	8
#define PAGE	4096

static void command(int fd, unsigned long nr, void *arg, const char *what)
{
	if (ioctl(fd, nr, arg))
		err(1, "%s", what);
}

static void *map(int fd, uint64_t offset, size_t len, int prot)
{
	void *mem = mmap(NULL, len, prot, MAP_SHARED, fd, (off_t)offset);

	if (mem == MAP_FAILED)
		err(1, "mmap");
	return mem;
}

/* Sleeps until the event sequence differs from @seen. */
static void wait_event(int fd, struct angara_ctl *ctl, uint64_t seen)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	ctl->seen = htole32((uint32_t)seen);
	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			err(1, "poll");
	if (p.revents & (POLLERR | POLLHUP))
		errx(1, "the device was removed");
}

int main(int argc, char **argv)
{
	static char target[64];
	struct angara_query q = { .size = sizeof(q) };
	struct angara_domain_create d = { .size = sizeof(d) };
	struct angara_ctx_create c = { .size = sizeof(c), .sq_entries = ENTRIES,
				       .cq_entries = ENTRIES };
	struct angara_mr_register mr = { .size = sizeof(mr),
				    .addr = (uintptr_t)target,
				    .length = sizeof(target),
				    .access = ANGARA_ACCESS_REMOTE_WRITE };
	struct angara_kick k = { .size = sizeof(k), .flags = ANGARA_KICK_SQ };
	const char *name = argc > 1 ? argv[1] : "/dev/angara0";
	volatile const struct angara_cqe *cqe;
	struct angara_wqe *sq, wqe = { 0 };
	const uint64_t *ctr;
	struct angara_ctl *ctl;
	int dom = open(name, O_RDWR | O_CLOEXEC), fd;

	if (dom < 0)
		err(1, "%s", name);
	command(dom, ANGARA_IOCTL_QUERY, &q, "query");
	command(dom, ANGARA_IOCTL_DOMAIN_CREATE, &d, "domain");
	command(dom, ANGARA_IOCTL_MR_REG, &mr, "memory region");
	command(dom, ANGARA_IOCTL_CTX_CREATE, &c, "context");
	fd = c.fd; /* a separate file */
	sq = map(fd, c.sq_offset, PAGE, PROT_READ | PROT_WRITE);
	cqe = map(fd, c.cq_offset, PAGE, PROT_READ);
	ctl = map(fd, c.ctl_offset, PAGE, PROT_READ | PROT_WRITE);
	ctr = map(fd, c.ctr_offset, PAGE, PROT_READ);

	/* Two entries: the operation, and its payload. */
	wqe.opcode = ANGARA_OP_PUT;
	wqe.flags = ANGARA_WQE_INLINE;
	wqe.dst_node = htole32(q.node);
	wqe.dst_ctx = htole16((uint16_t)c.ctx);
	wqe.rkey = htole64(mr.key);
	wqe.length = htole32(6);
	wqe.cookie = htole64(42);
	sq[0] = wqe;
	memcpy(&sq[1], "hello", 6);

	/* Entries must be visible before the index. */
	__atomic_store_n(&ctl->sq_pi, htole32(2), __ATOMIC_RELEASE);
	command(fd, ANGARA_IOCTL_KICK, &k, "kick");

	/* First lap: the phase bit is 1 if the entry is valid. */
	while (!(cqe->phase & 1)) {
		/* Read the sequence first, then check the queue again. */
		uint64_t seen = le64toh(__atomic_load_n(&ctr[ANGARA_CTR_EVSEQ],
							__ATOMIC_ACQUIRE));

		if (!(cqe->phase & 1))
			wait_event(fd, ctl, seen);
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (le16toh(cqe->status) != ANGARA_ST_OK)
		errx(1, "put: status %u", le16toh(cqe->status));
	printf("node %u: \"%s\", cookie %u\n", q.node, target,
	       (unsigned int)le64toh(cqe->cookie));
	return 0;
}
