// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A cache of registrations: memory that the program has not registered is
 * registered at its first use, in whole pages, and stays registered for later
 * uses.
 *
 * A domain has one cache, which all of its contexts use.  Ranges may overlap,
 * but no range contains another one with the same rights.  So ranges that are
 * sorted by their starts are also sorted by their ends, and a search finds the
 * only range that can contain the memory.  A range is in use while operations
 * hold it.  If there are too many unused ranges, the least recently used one is
 * freed first.
 *
 * A range that peers may read contains exactly the requested bytes, not the
 * rest of their pages, and is not used for other requests.
 *
 * A holder may revoke a range, which removes it from the device for all of its
 * holders.  So all holders of a range belong to one group; a holder of another
 * group gets a new range, which replaces the old one.
 *
 * Memory may be unmapped, and other memory mapped in its place.  The driver
 * reports this in struct angara_watch before the system call that changes the
 * mapping returns.  Each search for a range first reads the count of changes
 * there.  A stale range is no longer found, and is freed when its last holder
 * releases it.
 *
 * The lock is held during a registration, which takes time.  A completion does
 * not wait for the lock: it decrements the number of users.  If the lock is
 * taken, the range is left to the next call that registers or releases.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"
#include "sized.h"

#define CACHE_ENV	"ANGARA_MR_CACHE"	/* variable: limit of unused ranges, MiB */
#define CACHE_MIB	1024UL			/* default, but at most memory / CACHE_SHARE */
#define CACHE_SHARE	8
#define CACHE_MAX	1024U			/* most ranges in the cache */

/**
 * struct ang_cached - a range
 * @mr: region of the range
 * @start: first byte
 * @end: end of the range, exclusive
 * @group: group of its holders, see angara_mr_hold()
 * @users: number of holders; the cache counts as a holder while the range can
 *	be found
 * @kept: a search can find the range
 * @older: next less recently used range, or NULL
 * @newer: next more recently used range, or NULL; without users, the next range
 *	without users
 */
struct ang_cached {
	struct angara_mr *mr;
	uintptr_t start;
	uintptr_t end;
	const void *group;
	u32 users;
	bool kept;
	struct ang_cached *older;
	struct ang_cached *newer;
};

/**
 * struct ranges - ranges with the same rights
 * @at: sorted by start, and by end
 * @n: ranges
 * @last: index of the range that the last search found
 */
struct ranges {
	struct ang_cached *at[CACHE_MAX];
	u32 n;
	u32 last;
};

/* Rights of ranges, in addition to reading by this process. */
#define RANGES_WRITTEN	1U	/* this process writes to them */
#define RANGES_SHOWN	2U	/* peers read them */
#define RANGES_NUM	4U

/**
 * struct ang_mr_cache - cache of a domain
 * @dom: domain; @dom, @notice, @page and @max_bytes are constant
 * @notice: notice of the driver
 * @page: bytes of a page
 * @max_bytes: limit on the bytes of unused ranges
 * @dead: ranges without users, to be freed; any thread adds to them
 * @lock: protects the members below
 * @seen: count in @notice up to which stale ranges were dropped
 * @of: ranges, by rights: RANGES_*
 * @oldest: least recently used range
 * @newest: most recently used range
 * @info: statistics; its bytes include all registered ranges
 */
struct ang_mr_cache {
	struct angara_domain *dom;
	const struct angara_watch *notice;
	size_t page;
	u64 max_bytes;
	struct ang_cached *dead;
	pthread_mutex_t lock;
	u64 seen;
	struct ranges of[RANGES_NUM];
	struct ang_cached *oldest;
	struct ang_cached *newest;
	struct angara_mr_cache_info info;
};

static u64 max_bytes(size_t page)
{
	const char *text = getenv(CACHE_ENV);
	long pages = sysconf(_SC_PHYS_PAGES);
	u64 part = pages > 0 ? (u64)pages * page / CACHE_SHARE : 0;
	char *end;
	u64 mib;

	if (text && *text >= '0' && *text <= '9') {
		mib = strtoul(text, &end, 10);
		if (!*end && mib <= UINT64_MAX >> 20)
			return mib << 20;
	}
	return part < CACHE_MIB << 20 ? part : CACHE_MIB << 20;
}

static void cache_unmap(struct ang_mr_cache *c)
{
	struct ang_dev *dev = &c->dom->dev;

	dev->ops->unmap(dev, (void *)(uintptr_t)c->notice, c->dom->watch_bytes);
}

static struct ang_mr_cache *cache_new(struct angara_domain *dom)
{
	struct ang_mr_cache *c = calloc(1, sizeof(*c));
	struct ang_dev *dev = &dom->dev;

	if (!c)
		return NULL;
	c->dom = dom;
	c->notice = dev->ops->map(dev, dom->watch_offset, dom->watch_bytes,
				  false);
	if (!c->notice) {
		free(c);
		return NULL;
	}
	c->page = (size_t)sysconf(_SC_PAGESIZE);
	c->max_bytes = max_bytes(c->page);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/* Return: the cache of @dom; NULL: there is no memory for a cache. */
static struct ang_mr_cache *cache_of(struct angara_domain *dom)
{
	struct ang_mr_cache *c = ang_load_acquire(&dom->cache);

	if (c)
		return c;
	pthread_mutex_lock(&dom->lock);
	c = dom->cache;
	if (!c) {
		c = cache_new(dom);
		ang_store_release(&dom->cache, c);
	}
	pthread_mutex_unlock(&dom->lock);
	return c;
}

static void age_del(struct ang_mr_cache *c, struct ang_cached *r)
{
	*(r->older ? &r->older->newer : &c->oldest) = r->newer;
	*(r->newer ? &r->newer->older : &c->newest) = r->older;
}

static void age_add(struct ang_mr_cache *c, struct ang_cached *r)
{
	r->older = c->newest;
	r->newer = NULL;
	*(r->older ? &r->older->newer : &c->oldest) = r;
	c->newest = r;
}

static unsigned int ranges_index(unsigned int access)
{
	return (access & ANGARA_ACCESS_LOCAL_WRITE ? RANGES_WRITTEN : 0) |
	       (access & ANGARA_ACCESS_REMOTE_READ ? RANGES_SHOWN : 0);
}

static struct ranges *ranges_of(struct ang_mr_cache *c, unsigned int access)
{
	return &c->of[ranges_index(access)];
}

/* Bytes that are registered for a range: whole pages. */
static u64 range_bytes(const struct ang_mr_cache *c, const struct ang_cached *r)
{
	return ((r->end + c->page - 1) & -c->page) - (r->start & -c->page);
}

/* Index of the first range that starts at or after @addr. */
static u32 range_place(const struct ranges *s, uintptr_t addr)
{
	u32 low = 0, high = s->n;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (s->at[mid]->start < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Frees ranges that were removed and have no holder left. */
static void dead_free(struct ang_mr_cache *c)
{
	struct ang_cached *r = ang_xchg(&c->dead, NULL);

	while (r) {
		struct ang_cached *next = r->newer;

		if (!r->mr->revoked)
			c->info.bytes -= range_bytes(c, r);
		ang_mr_end(r->mr);
		free(r);
		r = next;
	}
}

/*
 * Drops a user of a range.  The last user leaves the range to the next thread
 * that has the lock.
 */
static void range_put(struct ang_mr_cache *c, struct ang_cached *r)
{
	struct ang_cached *next, *was;

	if (ang_fetch_add(&r->users, (u32)-1) != 1)
		return;
	was = ang_load_acquire(&c->dead);
	do {
		next = was;
		r->newer = next;
		was = ang_cmpxchg(&c->dead, next, r);
	} while (was != next);
}

/*
 * Removes a range, so that searches no longer find it; its last user frees it.
 */
static void range_drop(struct ang_mr_cache *c, struct ang_cached *r)
{
	struct ranges *s = ranges_of(c, r->mr->access);
	u32 place = range_place(s, r->start);

	r->kept = false;
	s->n--;
	c->info.ranges--;
	memmove(&s->at[place], &s->at[place + 1],
		(s->n - place) * sizeof(*s->at));
	age_del(c, r);
	range_put(c, r);
}

static bool is_stale(const struct ang_mr_cache *c, const struct ang_cached *r)
{
	u32 slot = ANG_MR_SLOT(r->mr->key);

	return READ_ONCE(((const u64 *)(c->notice + 1))[slot / 64]) >> slot % 64 & 1;
}

/*
 * Drops stale ranges.  If mappings change later, the driver increments the
 * count again.
 */
static void cache_renew(struct ang_mr_cache *c, u64 seq)
{
	struct ang_cached *r = c->oldest, *next;

	c->seen = seq;
	for (; r; r = next) {
		next = r->newer;
		if (is_stale(c, r)) {
			range_drop(c, r);
			c->info.stale++;
		}
	}
	dead_free(c);
}

/*
 * Frees the least recently used range that no operation holds.  Return: was
 * there one?
 */
static bool drop_oldest(struct ang_mr_cache *c)
{
	struct ang_cached *r = c->oldest;

	while (r && ang_load_acquire(&r->users) > 1)
		r = r->newer;
	if (!r)
		return false;
	range_drop(c, r);
	c->info.dropped++;
	dead_free(c);
	return true;
}

/* Frees ranges that no operation holds while the cache exceeds its limit. */
static void cache_trim(struct ang_mr_cache *c)
{
	dead_free(c);
	while (c->info.bytes > c->max_bytes && drop_oldest(c))
		;
}

static bool ranges_have(const struct ranges *s, u32 place, uintptr_t start,
			uintptr_t end)
{
	return place < s->n && s->at[place]->start <= start &&
	       end <= s->at[place]->end;
}

/* Return: the range that contains all bytes from @start to @end, or NULL. */
static struct ang_cached *range_find(struct ranges *s, uintptr_t start,
				     uintptr_t end)
{
	u32 place = s->last;

	if (!ranges_have(s, place, start, end)) {
		/*
		 * The last range that starts at or before @start is the only candidate: ranges
		 * that start earlier end earlier, too.
		 */
		place = range_place(s, start + 1) - 1;
		if (!ranges_have(s, place, start, end))
			return NULL;
		s->last = place;
	}
	return s->at[place];
}

/* Registers a range; if resources run out, frees unused ranges first. */
static int range_reg(struct ang_mr_cache *c, struct ang_cached *r,
		     unsigned int access)
{
	int ret;

	dead_free(c);
	do {
		ret = ang_mr_reg_watched(c->dom, (void *)r->start,
					 r->end - r->start, access, &r->mr);
	} while ((ret == -ENOMEM || ret == -ENOSPC) && drop_oldest(c));
	if (!ret)
		c->info.bytes += range_bytes(c, r);
	return ret;
}

/* Drops the ranges that the new range contains. */
static void drop_within(struct ang_mr_cache *c, struct ranges *s,
			const struct ang_cached *r)
{
	u32 place = range_place(s, r->start);

	while (place < s->n && s->at[place]->end <= r->end)
		range_drop(c, s->at[place]);
	dead_free(c);
}

static void range_add(struct ang_mr_cache *c, struct ang_cached *r)
{
	struct ranges *s = ranges_of(c, r->mr->access);
	u32 place = range_place(s, r->start);

	memmove(&s->at[place + 1], &s->at[place],
		(s->n - place) * sizeof(*s->at));
	s->at[place] = r;
	s->n++;
	c->info.ranges++;
	r->users = 1;
	r->kept = true;
	age_add(c, r);
}

/* Drops the ranges that the new range replaces. */
static void drop_replaced(struct ang_mr_cache *c, const struct ang_cached *r)
{
	unsigned int index = ranges_index(r->mr->access);

	drop_within(c, &c->of[index & ~RANGES_WRITTEN], r);
	if (index & RANGES_WRITTEN)
		drop_within(c, &c->of[index], r);
}

static struct ang_cached *range_new(struct ang_mr_cache *c, uintptr_t start,
				    uintptr_t end, unsigned int access, int *ret)
{
	struct ang_cached *r = calloc(1, sizeof(*r));

	*ret = -ENOMEM;
	if (!r)
		return NULL;
	r->start = start;
	r->end = end;
	*ret = range_reg(c, r, access);
	if (*ret) {
		free(r);
		return NULL;
	}
	r->mr->cached = r;
	drop_replaced(c, r);
	cache_trim(c);
	if (c->info.ranges == CACHE_MAX)
		drop_oldest(c);
	/*
	 * If all ranges are in use, the new range serves only this operation.
	 */
	if (c->info.ranges < CACHE_MAX)
		range_add(c, r);
	return r;
}

/*
 * Return: a range that @group can hold, or NULL.  Drops ranges that contain the bytes but that
 * another group holds.
 */
static struct ang_cached *range_join(struct ang_mr_cache *c, struct ranges *s,
				     uintptr_t start, uintptr_t end,
				     const void *group)
{
	struct ang_cached *r;

	while ((r = range_find(s, start, end)) && r->group != group &&
	       ang_load_acquire(&r->users) > 1)
		range_drop(c, r);
	return r;
}

static struct ang_cached *cache_find(struct ang_mr_cache *c, uintptr_t start,
				     uintptr_t end, unsigned int access,
				     const void *group)
{
	unsigned int more = access | ANGARA_ACCESS_LOCAL_WRITE;
	struct ang_cached *r = range_join(c, ranges_of(c, more), start, end,
					  group);

	if (!r && access != more)
		r = range_join(c, ranges_of(c, access), start, end, group);
	return r;
}

static int cache_hold(struct ang_mr_cache *c, uintptr_t start, uintptr_t end,
		      unsigned int access, const void *group,
		      struct angara_mr **mr)
{
	/*
	 * Pairs with the driver, which sets bits before it increments the
	 * count.
	 */
	u64 seq = ang_load_acquire(&c->notice->seq);
	struct ang_cached *r;
	int ret;

	if (seq != c->seen)
		cache_renew(c, seq);
	r = cache_find(c, start, end, access, group);
	if (r) {
		c->info.hits++;
		if (r != c->newest) {
			age_del(c, r);
			age_add(c, r);
		}
	} else {
		c->info.misses++;
		r = range_new(c, start, end, access, &ret);
		if (!r)
			return ret;
	}
	r->group = group;
	ang_fetch_add(&r->users, 1);
	*mr = r->mr;
	return 0;
}

ANG_PUBLIC int angara_mr_hold(struct angara_domain *dom, const void *addr,
			      size_t len, unsigned int access,
			      const void *group, struct angara_mr **mr)
{
	struct ang_mr_cache *c = cache_of(dom);
	uintptr_t start = (uintptr_t)addr, end;
	int ret;

	*mr = NULL;
	/* Peers may not write to ranges: memory that they write needs a region of the program. */
	if (!len || access & ~(unsigned int)(ANGARA_ACCESS_LOCAL_WRITE |
					     ANGARA_ACCESS_REMOTE_READ))
		return -EINVAL;
	if (!c)
		return -ENOMEM;
	if (__builtin_add_overflow(start, len, &end) || end > -c->page)
		return -EFAULT;
	if (!(access & ANGARA_ACCESS_REMOTE_READ)) {
		start &= -c->page;
		end = (end + c->page - 1) & -c->page;
	}
	pthread_mutex_lock(&c->lock);
	ret = cache_hold(c, start, end, access, group, mr);
	pthread_mutex_unlock(&c->lock);
	return ret;
}

ANG_PUBLIC void angara_mr_revoke(struct angara_mr *mr)
{
	struct ang_cached *r = mr ? mr->cached : NULL;
	struct ang_mr_cache *c;

	if (!r)
		return;
	c = mr->dom->cache;
	pthread_mutex_lock(&c->lock);
	if (r->kept)
		range_drop(c, r);
	if (!mr->revoked)
		c->info.bytes -= range_bytes(c, r);
	ang_mr_revoke(mr);
	dead_free(c);
	pthread_mutex_unlock(&c->lock);
}

ANG_PUBLIC void angara_mr_release(struct angara_mr *mr)
{
	struct ang_cached *r = mr ? mr->cached : NULL;
	struct ang_mr_cache *c;

	if (!r)
		return;
	c = mr->dom->cache;
	/* After range_put() another thread may free the range. */
	range_put(c, r);
	if (pthread_mutex_trylock(&c->lock))
		return;
	cache_trim(c);
	pthread_mutex_unlock(&c->lock);
}

ANG_PUBLIC int angara_mr_cache_query(struct angara_domain *dom,
				     struct angara_mr_cache_info *info)
{
	const size_t first = ANG_SIZED_FIRST(angara_mr_cache_info, dropped);
	struct angara_mr_cache_info all = { 0 };
	struct ang_mr_cache *c = ang_load_acquire(&dom->cache);

	if (c) {
		pthread_mutex_lock(&c->lock);
		all = c->info;
		pthread_mutex_unlock(&c->lock);
	}
	return ang_sized_give(info, &all, sizeof(all), first);
}

/*
 * Frees an unused range after the program could not register a region for lack
 * of lockable memory or of a slot.  Return: was a range freed?
 */
bool ang_mr_cache_yield(struct angara_domain *dom)
{
	struct ang_mr_cache *c = ang_load_acquire(&dom->cache);
	bool any;

	if (!c)
		return false;
	pthread_mutex_lock(&c->lock);
	any = drop_oldest(c);
	pthread_mutex_unlock(&c->lock);
	return any;
}

/* Frees the cache of a closed domain; its regions are freed with the domain. */
void ang_mr_cache_free(struct angara_domain *dom)
{
	struct ang_mr_cache *c = dom->cache;
	struct angara_mr *mr;

	if (!c)
		return;
	while (c->oldest)
		range_drop(c, c->oldest);
	dead_free(c);
	/* Also free ranges that are still held: nothing releases them after this. */
	for (mr = dom->mrs; mr; mr = mr->next) {
		free(mr->cached);
		mr->cached = NULL;
	}
	cache_unmap(c);
	pthread_mutex_destroy(&c->lock);
	free(c);
	dom->cache = NULL;
}
