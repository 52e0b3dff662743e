// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coverage of a program in the modules, the only code that is built for
 * coverage.  The kernel records the places that a thread reaches in its own
 * system calls; it does not record work of kernel workers.
 *
 * A step from one place to the next counts as new if no earlier program has
 * taken it.  A hash identifies steps: a few collide, which does no harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kfuzz.h"

#define LANES		(2 * KF_THREADS)
#define WORDS		(1U << 17)	/* words of a lane */
#define STEPS		(1U << 20)
#define PLACES		(1U << 16)

static struct {
	int fd;
	uint64_t *area;		/* the first word is the number of words that follow */
} lanes[LANES];
static bool works;
static bool *known;		/* steps that some program has taken */
static uint32_t *seen_in;	/* last program that took the step */
static uint32_t turn;
static uint64_t *places;
static unsigned int num_places;

/* Maps large memory, which the processes of programs must not copy. */
static void *own(size_t bytes, int fd, int flags)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED || madvise(at, bytes, MADV_DONTFORK))
		return NULL;
	return at;
}

static int lane_open(unsigned int lane)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	void *area;

	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, WORDS))
		return -errno;
	area = own(WORDS * sizeof(uint64_t), fd, MAP_SHARED);
	if (!area)
		return -errno;
	lanes[lane].fd = fd;
	lanes[lane].area = area;
	return 0;
}

bool kf_cover_init(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned int lane;

	known = own(STEPS * sizeof(*known), -1, flags);
	seen_in = own(STEPS * sizeof(*seen_in), -1, flags);
	places = own(PLACES * sizeof(*places), -1, flags);
	if (!known || !seen_in || !places)
		return false;
	for (lane = 0; lane < LANES; lane++)
		if (lane_open(lane))
			return false;
	works = true;
	return true;
}

void kf_cover_start(unsigned int lane)
{
	if (works)
		ioctl(lanes[lane].fd, KCOV_ENABLE, KCOV_TRACE_PC);
}

void kf_cover_stop(unsigned int lane)
{
	if (works)
		ioctl(lanes[lane].fd, KCOV_DISABLE, 0);
}

void kf_cover_clear(void)
{
	unsigned int lane;

	for (lane = 0; works && lane < LANES; lane++)
		__atomic_store_n(&lanes[lane].area[0], 0, __ATOMIC_RELAXED);
}

static void set_add(struct kf_set *set, uint32_t id)
{
	if (set->count == set->room) {
		set->room = set->room ? 2 * set->room : 1024;
		set->id = realloc(set->id, set->room * sizeof(*set->id));
		if (!set->id)
			abort();
	}
	set->id[set->count++] = id;
}

static void add_place(uint64_t pc)
{
	uint32_t at = (pc * 0x9E3779B97F4A7C15U) >> 48;

	for (; places[at] != pc; at = (at + 1) % PLACES) {
		if (places[at])
			continue;
		/*
		 * The table never gets full: it has ten times as many
		 * places as the modules have instrumented addresses.
		 */
		places[at] = pc;
		num_places++;
		return;
	}
}

static uint32_t step_id(uint64_t from, uint64_t to)
{
	return ((from * 31 + to) * 0x9E3779B97F4A7C15U) >> 44;
}

static void take_lane(const uint64_t *area, struct kf_set *all,
		      struct kf_set *fresh)
{
	uint64_t i, from = 0, count = area[0];

	for (i = 1; i <= count && i < WORDS; i++) {
		uint32_t id = step_id(from, area[i]);

		from = area[i];
		if (seen_in[id] == turn)
			continue;
		seen_in[id] = turn;
		set_add(all, id);
		if (known[id])
			continue;
		known[id] = true;
		set_add(fresh, id);
		add_place(from);
	}
}

void kf_cover_take(struct kf_set *all, struct kf_set *fresh)
{
	unsigned int lane;

	all->count = 0;
	fresh->count = 0;
	turn++;
	for (lane = 0; works && lane < LANES; lane++)
		take_lane(lanes[lane].area, all, fresh);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* @other is sorted. */
static bool set_has(const struct kf_set *other, uint32_t id)
{
	return bsearch(&id, other->id, other->count, sizeof(id), compare);
}

void kf_set_keep(struct kf_set *set, const struct kf_set *other)
{
	unsigned int i, n = 0;

	qsort(other->id, other->count, sizeof(*other->id), compare);
	for (i = 0; i < set->count; i++)
		if (set_has(other, set->id[i]))
			set->id[n++] = set->id[i];
	set->count = n;
}

bool kf_set_within(const struct kf_set *set, const struct kf_set *other)
{
	unsigned int i;

	qsort(other->id, other->count, sizeof(*other->id), compare);
	for (i = 0; i < set->count; i++)
		if (!set_has(other, set->id[i]))
			return false;
	return true;
}

unsigned int kf_cover_places(void)
{
	return num_places;
}

int kf_cover_write(const char *path)
{
	FILE *out = fopen(path, "w");
	unsigned int i;

	if (!out)
		return -errno;
	for (i = 0; works && i < PLACES; i++)
		if (places[i])
			fprintf(out, "%#llx\n", (unsigned long long)places[i]);
	return fclose(out) ? -errno : 0;
}
