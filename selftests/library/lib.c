// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the library on adapters, under angara-run with two or more processes.
 * Rank 0 reports in TAP.
 *
 *	lib [PART]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"

struct angara_job *job;
struct angara_domain *dom;
struct angara_ctx *ctx;
unsigned int rank, size;
static struct angara_team *all;
static struct angara_peer *addresses;

bool expect(const char *what, long long got, long long want)
{
	if (got == want)
		return true;
	printf("# rank %u: %s: %lld, not %lld\n", rank, what, got, want);
	return false;
}

struct angara_team *everybody(void)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE,
	};

	if (!all && !expect("everybody", angara_team_create(job, ctx, NULL, 0, &attr, &all), 0))
		exit(1);
	return all;
}

struct angara_mr *region(size_t len)
{
	struct angara_mr *mr;
	int ret = angara_team_malloc(everybody(), len, &mr);

	if (!expect("angara_team_malloc", ret, 0))
		exit(1);
	return mr;
}

struct angara_mr *own_region(size_t len)
{
	struct angara_mr *mr;

	if (!expect("angara_malloc", angara_malloc(dom, len, &mr), 0))
		exit(1);
	return mr;
}

static unsigned char at(size_t i, unsigned int seed)
{
	return (unsigned char)((i * 131 + i / 256) ^ (seed * 29 + 7));
}

void fill(void *to, size_t len, unsigned int seed)
{
	unsigned char *p = to;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = at(i, seed);
}

bool filled(const char *what, const void *from, size_t len, unsigned int seed)
{
	const unsigned char *p = from;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != at(i, seed)) {
			printf("# rank %u: %s: byte %zu of %zu\n", rank, what, i, len);
			return false;
		}
	return true;
}

char *pages_at(void *at, size_t len)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
	char *p = mmap(at, len, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	/* Avoid huge pages: splitting one would make all of it stale. */
	madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

struct angara_mr_cache_info cache_info(struct angara_domain *d)
{
	struct angara_mr_cache_info info = { .size = sizeof(info) };

	expect("angara_mr_cache_query", angara_mr_cache_query(d, &info), 0);
	return info;
}

bool embedded(void)
{
	const char *fabric = getenv("ANGARA_FABRIC");

	return fabric && !strncmp(fabric, "embedded", 8);
}

const struct angara_peer *peers(void)
{
	return addresses;
}

/*
 * All processes exchange addresses before the parts, since only a few processes
 * run some of the parts.
 */
static int peers_learn(void)
{
	const struct angara_peer self = alone_self(ctx);

	addresses = calloc(size, sizeof(*addresses));
	return addresses ? angara_job_allgather(job, &self, sizeof(self), addresses) :
			   -ENOMEM;
}

int device_ioctl(unsigned long nr, void *arg)
{
	const char *device = getenv("ANGARA_DEVICE");
	int fd = open(device ? device : "/dev/angara0", O_RDWR | O_CLOEXEC);
	int ret = fd < 0 || ioctl(fd, nr, arg) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	int ret;

	ret = angara_job_init(&job);
	if (ret) {
		fprintf(stderr, "job: %s\n", strerror(-ret));
		return 1;
	}
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	ret = angara_domain_open(NULL, NULL, &dom);
	if (!ret)
		ret = angara_ctx_open(dom, NULL, &ctx);
	if (ret) {
		fprintf(stderr, "rank %u: cannot open a context: %s\n", rank, strerror(-ret));
		return 1;
	}
	ret = peers_learn();
	if (ret) {
		fprintf(stderr, "rank %u: cannot get the peers' addresses: %s\n", rank, strerror(-ret));
		return 1;
	}
	parts_run(job, open_parts, only);
	parts_run(job, adapters_parts, only);
	parts_run(job, keys_parts, only);
	parts_run(job, rma_parts, only);
	parts_run(job, cache_parts, only);
	parts_run(job, held_parts, only);
	parts_run(job, onesided_parts, only);
	parts_run(job, msg_parts, only);
	parts_run(job, coll_parts, only);
	parts_run(job, soft_parts, only);
	parts_run(job, reducer_parts, only);
	parts_run(job, numbers_parts, only);
	parts_run(job, event_parts, only);
	parts_run(job, rings_parts, only);
	parts_run(job, room_parts, only);
	parts_run(job, stray_parts, only);
	parts_run(job, given_parts, only);
	parts_run(job, team_parts, only);
	parts_run(job, stripes_parts, only);
	parts_run(job, manage_parts, only);
	if (only) {
		parts_run(job, named_parts, only);
		parts_run(job, kinds_parts, only);
		parts_run(job, lease_parts, only);
	}
	ret = parts_end(job);
	if (all)
		angara_team_leave(all);
	free(addresses);
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	angara_job_finalize(job);
	return ret;
}
