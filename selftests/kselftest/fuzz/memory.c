// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls on memory of contexts, and on registered memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "angtest.h"
#include "state.h"

#define SOME_PAGES	16

static long answer(long ret)
{
	return ret < 0 ? -errno : ret;
}

static void *map_at(uint64_t m)
{
	return (void *)(KF_AT_MAPS + m % KF_MAPS * KF_STRIDE);
}

void *kf_region(struct kf_state *s, uint64_t r, uint64_t *len)
{
	r %= KF_REGIONS;
	*len = SOME_PAGES * KF_PAGE;
	if (r < KF_MAPS) {
		if (s->map_bytes[r])
			*len = s->map_bytes[r];
		return map_at(r);
	}
	switch (r - KF_MAPS) {
	case 0:
		*len = KF_MEM;
		return (void *)KF_AT_MEM;
	case 1:
		return (void *)KF_AT_CONST;
	case 2:
		return (void *)KF_AT_SHARED;
	case 3:
		*len = KF_PAGE;
		return KF_RING(0, 0);
	case 4:
		/*
		 * The last pages of the region at this address are not mapped.
		 */
		return (void *)(KF_AT_MEM + KF_MEM - 2 * KF_PAGE);
	default:
		return (void *)0xFFFF888000000000UL;
	}
}

long kf_map(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct kf_file *file = &s->file[v[1] % KF_FILES];
	uint64_t kind = v[2] % KF_KINDS;
	uint64_t bytes = file->bytes[kind] + (v[3] % 1024) * KF_PAGE;
	int flags = v[6] & 1 ? MAP_PRIVATE : MAP_SHARED;
	void *at;

	(void)op;
	if (!bytes)
		bytes = KF_PAGE;
	flags |= v[6] & 2 ? MAP_POPULATE : 0;
	flags |= v[6] & 4 ? MAP_LOCKED : 0;
	/* The kind after KF_AREA_KIND has an offset that processes must not map. */
	at = mmap(map_at(v[0]), bytes, v[5] % 8, flags | MAP_FIXED, kf_ctx_fd(v[1]),
		  kind <= KF_AREA_KIND ? file->offset[kind] + v[4] * KF_PAGE :
			     4 * file->offset[1] + v[4] * KF_PAGE);
	if (at == MAP_FAILED)
		return -errno;
	s->map_bytes[v[0] % KF_MAPS] = bytes;
	return 0;
}

long kf_unmap(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint64_t len;
	char *at = kf_region(s, v[0], &len);

	(void)op;
	at += v[1] % SOME_PAGES * KF_PAGE;
	if (v[2])
		len = v[2] % 1024 * KF_PAGE;
	return answer(munmap(at, len));
}

long kf_protect(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint64_t len;
	char *at = kf_region(s, v[0], &len);

	(void)op;
	return answer(mprotect(at, len, v[1] % 8));
}

long kf_remap(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint64_t m = v[0] % KF_MAPS;
	void *at = mremap(map_at(m), s->map_bytes[m], v[1] % 1024 * KF_PAGE,
			  v[2] & MREMAP_MAYMOVE);

	(void)op;
	return at == MAP_FAILED ? -errno : 0;
}

/* Leaves out advice from 24 on, which takes pages away from the machine. */
long kf_advise(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint64_t len;
	char *at = kf_region(s, v[0], &len);

	(void)op;
	return answer(madvise(at, len, v[1] % 24));
}

long kf_touch(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint64_t len;
	volatile uint64_t *at = kf_region(s, v[0], &len);

	(void)op;
	if (v[0] % KF_REGIONS == KF_REGIONS - 1)
		return -EFAULT;
	at += v[1] % len / sizeof(*at);
	if (!v[3])
		return *at & 0xFF;
	*at = v[2];
	return 0;
}
