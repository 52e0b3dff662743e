// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of memory regions.
 *
 * The lower 16 bits of an adapter's key are a slot of its table.  The higher bits
 * are random, so peers must be sent the key.  Some adapter's keys are fixed:
 *
 *   0			the directory of each domain
 *   1 to 512		k + 1 for a small key k that the program chose
 *
 * Programs' keys are translated to adapter's keys as follows:
 *
 *   FI_MR_PROV_KEY	The program's key is the adapter's key.
 *   FI_MR_BASIC	The same, but peers address memory by virtual address.  The
 *			directory contains the start of the region, at its slot.  An
 *			initiator reads it once: no other region gets that key.
 *   other large keys	The directory contains the adapter's key for key k.  An
 *			initiator reads the entry each time before it uses k.  The
 *			result is stale only if the target closes the region while
 *			the initiator uses k, which is the program's mistake.
 */
#include <stdlib.h>

#include "afi.h"

/* The last entry contains the domain's number; the windows follow it. */
#define AFI_DIR_ROOM	(AFI_DIR_ID + 1)

/* The library assigns slots from this one up. */
#define AFI_FIRST_SLOT	(1 + AFI_DIRECT_KEYS)

/* Index in the directory of a program's key. */
static u32 place_of(u64 key)
{
	return (u32)(key * 0x9E3779B97F4A7C15ULL >> 32) % AFI_DIR_ENTRIES;
}

/* Index in the directory of an adapter's key; too large: the key has no entry. */
static u32 place_of_slot(u64 akey)
{
	return afi_slot(akey) - AFI_FIRST_SLOT;
}

/* Attributes for opening a domain of libangara. */
struct angara_domain_attr afi_keys_attr(void)
{
	return (struct angara_domain_attr){
		.size = sizeof(struct angara_domain_attr),
		.first_slot = AFI_FIRST_SLOT,
	};
}

int afi_keys_init(struct afi_domain *d)
{
	const size_t len = AFI_DIR_ROOM * sizeof(struct afi_dir_entry);
	int ret;

	d->dir_mem = calloc(AFI_DIR_ROOM + AFI_DIR_LOOKS * AFI_DIR_WINDOW,
			    sizeof(struct afi_dir_entry));
	if (d->virt)
		d->starts = calloc(AFI_STARTS, sizeof(*d->starts));
	if (!d->dir_mem || (d->virt && !d->starts))
		return -FI_ENOMEM;
	d->dir_mem[AFI_DIR_ID].key = d->id;
	ret = angara_mr_reg_key(d->dom, d->dir_mem, len,
				ANGARA_ACCESS_REMOTE_READ, AFI_DIR_KEY,
				&d->dir);
	if (ret)
		return ret;
	return angara_mr_reg(d->dom, d->dir_mem + AFI_DIR_ROOM,
			     AFI_DIR_LOOKS * AFI_DIR_WINDOW *
			     sizeof(*d->dir_mem), ANGARA_ACCESS_LOCAL_WRITE, &d->window);
}

/* The domain of libangara, with the directory's region, is closed before. */
void afi_keys_free(struct afi_domain *d)
{
	free(d->dir_mem);
	free(d->starts);
}

/*
 * Some operations hold regions for a short time, others possibly for long.  The
 * latter leave some regions free, so that the former can proceed.
 * Return: can @n regions be taken so that 1/@part of all regions stays free?
 */
bool afi_temp_spare(const struct afi_domain *d, u32 part, u32 n)
{
	return AFI_TEMP_REGIONS - d->temps >= AFI_TEMP_REGIONS / part + n;
}

/**
 * afi_temp_hold() - hold a region of the library's cache for an operation
 * @d: domain, locked
 * @ep: endpoint; operations are given up only all at once, when it is closed
 * @addr: memory
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @mr: out
 * @off: out: offset of the memory in @mr
 *
 * Return: 0; -FI_ENOSPC operations hold AFI_TEMP_REGIONS regions; errors of
 * angara_mr_hold().
 */
int afi_temp_hold(struct afi_domain *d, const struct afi_ep *ep, void *addr,
		  size_t len, unsigned int access, struct angara_mr **mr, u64 *off)
{
	int ret = -FI_ENOSPC;

	*mr = NULL;
	if (d->temps < AFI_TEMP_REGIONS)
		ret = angara_mr_hold(d->dom, addr, len, access, ep, mr);
	if (ret)
		return ret;
	d->temps++;
	*off = (u64)((char *)addr - (char *)angara_mr_addr(*mr));
	return 0;
}

void afi_temp_release(struct afi_domain *d, struct angara_mr *mr)
{
	angara_mr_release(mr);
	d->temps--;
}

static int take_provided(struct afi_domain *d, void *addr, size_t len,
			 unsigned int access, struct afi_mr *mr)
{
	int ret = angara_mr_reg(d->dom, addr, len, access, &mr->mr);
	u32 place;

	if (ret)
		return ret;
	mr->fid.key = angara_mr_key(mr->mr);
	if (!d->virt)
		return 0;
	place = place_of_slot(mr->fid.key);
	if (place >= AFI_DIR_ENTRIES) {
		angara_mr_dereg(mr->mr);
		return -FI_ENOSPC;
	}
	__atomic_store_n(&d->dir_mem[place].akey, (uintptr_t)addr,
			 __ATOMIC_RELEASE);
	return 0;
}

static int take_listed(struct afi_domain *d, u64 want, void *addr, size_t len,
		       unsigned int access, struct afi_mr *mr)
{
	struct afi_dir_entry *at = d->dir_mem + place_of(want), *room = NULL;
	u32 i;
	int ret;

	for (i = AFI_DIR_WINDOW; i-- > 0;) {
		if (!at[i].akey)
			room = &at[i];
		else if (at[i].key == want)
			return -FI_ENOKEY;
	}
	if (!room)
		return -FI_ENOSPC;
	ret = angara_mr_reg(d->dom, addr, len, access, &mr->mr);
	if (ret)
		return ret;
	/* A concurrent reader sees either an empty entry or a complete one. */
	room->key = want;
	__atomic_store_n(&room->akey, angara_mr_key(mr->mr) + 1ULL,
			 __ATOMIC_RELEASE);
	return 0;
}

/**
 * afi_key_take() - register memory under a key
 * @d: domain, locked
 * @want: key, unless the provider chooses
 * @addr: memory
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @mr: out: its @mr and key
 *
 * Return: 0; -FI_ENOKEY the key is taken; -FI_ENOSPC there is no room for the
 * key; -FI_EFAULT, -FI_ENOMEM as angara_mr_reg().
 */
int afi_key_take(struct afi_domain *d, u64 want, void *addr, size_t len,
		 unsigned int access, struct afi_mr *mr)
{
	int ret;

	if (d->prov_keys)
		return take_provided(d, addr, len, access, mr);
	if (want == FI_KEY_NOTAVAIL)
		return -FI_EKEYREJECTED;
	mr->fid.key = want;
	if (want >= AFI_DIRECT_KEYS)
		return take_listed(d, want, addr, len, access, mr);
	ret = angara_mr_reg_key(d->dom, addr, len, access, want + 1, &mr->mr);
	return ret == -EEXIST ? -FI_ENOKEY : ret;
}

static void dir_clear(struct afi_dir_entry *at)
{
	__atomic_store_n(&at->akey, 0, __ATOMIC_RELEASE);
}

/* Releases the key and deregisters the region. */
void afi_key_give(struct afi_domain *d, struct afi_mr *mr)
{
	struct afi_dir_entry *at = d->dir_mem + place_of(mr->fid.key);
	u32 i;

	if (d->virt)
		dir_clear(d->dir_mem + place_of_slot(mr->fid.key));
	for (i = 0; !d->prov_keys && i < AFI_DIR_WINDOW; i++)
		if (at[i].akey && at[i].key == mr->fid.key)
			dir_clear(&at[i]);
	angara_mr_dereg(mr->mr);
}

static void look_ended(struct afi_domain *d, struct afi_await *a, int err,
		       const struct angara_completion *c)
{
	(void)d;
	(void)c;
	afi_of(a, struct afi_look, await)->err = err;
}

static const struct afi_dir_entry *window_of(const struct afi_domain *d,
					     const struct afi_look *l)
{
	return d->dir_mem + AFI_DIR_ROOM + (l - d->looks) * AFI_DIR_WINDOW;
}

static void look_start(struct afi_domain *d, struct afi_look *l,
		       struct angara_peer peer, u64 key)
{
	const u32 place = d->virt ? place_of_slot(key) : place_of(key);
	const size_t size = AFI_DIR_WINDOW * sizeof(struct afi_dir_entry);
	int ret;

	l->peer = peer;
	l->key = key;
	l->end = afi_deadline(AFI_DIR_MS);
	ret = angara_get_nbi(d->ctx, peer, AFI_DIR_KEY,
			     place * sizeof(struct afi_dir_entry), d->window,
			     (size_t)(l - d->looks) * size, size,
			     afi_await(d, &l->await, look_ended));
	afi_awaited(d, &l->await, ret);
	l->begun = ret != -EAGAIN;
	l->err = ret;
}

static bool same_peer(struct angara_peer a, struct angara_peer b)
{
	return a.node == b.node && a.ctx == b.ctx;
}

/* The lookup of a key, or NULL. */
static struct afi_look *look_of(struct afi_domain *d, struct angara_peer peer,
				u64 key)
{
	u32 i;

	for (i = 0; i < AFI_DIR_LOOKS; i++) {
		struct afi_look *l = &d->looks[i];

		if (l->begun && l->key == key && same_peer(l->peer, peer))
			return l;
	}
	return NULL;
}

/*
 * A slot for a lookup: a free one, else the one of the oldest lookup that has
 * ended.
 */
static struct afi_look *look_room(struct afi_domain *d)
{
	struct afi_look *best = NULL;
	u32 i;

	for (i = 0; i < AFI_DIR_LOOKS; i++) {
		struct afi_look *l = &d->looks[i];

		if (!l->begun)
			return l;
		if (!l->await.live && (!best || l->end < best->end))
			best = l;
	}
	return best;
}

/*
 * Nothing waits for the read: the call returns -FI_EAGAIN, and the program's
 * retry finds the result.  The read is short, so the progress that a call makes
 * before it returns is often enough.  An old result that no call has used is
 * read again, since another region may have the key now.
 */
static int look_up(struct afi_domain *d, struct angara_peer peer, u64 key,
		   const struct afi_dir_entry **found)
{
	struct afi_look *l = look_of(d, peer, key);

	if (l && !l->await.live && !afi_past(l->end)) {
		l->begun = false;
		*found = window_of(d, l);
		return l->err;
	}
	if (!l)
		l = look_room(d);
	if (l && !l->await.live && afi_await_room(d, 1))
		look_start(d, l, peer, key);
	return -FI_EAGAIN;
}

static int find_listed(struct afi_domain *d, struct angara_peer peer, u64 key,
		       u64 *akey)
{
	const struct afi_dir_entry *found;
	int ret = look_up(d, peer, key, &found);
	u32 i;

	for (i = 0; !ret && i < AFI_DIR_WINDOW; i++)
		if (found[i].akey && found[i].key == key) {
			*akey = found[i].akey - 1;
			return 0;
		}
	return ret ? ret : -FI_ENOKEY;
}

/*
 * For an invalid key this may return the start of another region in the same
 * slot.  The target's adapter refuses the key then.
 */
static int find_start(struct afi_domain *d, struct angara_peer peer, u64 key,
		      u64 *start)
{
	const struct afi_dir_entry *found;
	struct afi_start *s = &d->starts[place_of(key) % AFI_STARTS];
	int ret;

	if (s->key == key && same_peer(s->peer, peer)) {
		*start = s->start;
		return 0;
	}
	if (place_of_slot(key) >= AFI_DIR_ENTRIES)
		return -FI_ENOKEY;
	ret = look_up(d, peer, key, &found);
	if (ret)
		return ret;
	if (!found[0].akey)
		return -FI_ENOKEY;
	*start = found[0].akey;
	*s = (struct afi_start){ .key = key, .start = *start, .peer = peer };
	return 0;
}

/**
 * afi_key_find() - translate a peer's key and address for the adapter
 * @d: domain, locked
 * @peer: peer
 * @key: key that the program uses
 * @addr: address that the program uses
 * @akey: out: key of the adapter
 * @off: out: offset in that region
 *
 * Return: 0; -FI_ENOKEY there is no such key; -FI_EHOSTUNREACH there is no
 * peer; -FI_EAGAIN the directory is being read: call again.
 */
int afi_key_find(struct afi_domain *d, struct angara_peer peer, u64 key,
		 u64 addr, u64 *akey, u64 *off)
{
	u64 start = 0;
	int ret = 0;

	*akey = key;
	if (d->virt)
		ret = find_start(d, peer, key, &start);
	*off = addr - start;
	if (d->prov_keys)
		return ret;
	if (key >= AFI_DIRECT_KEYS)
		return find_listed(d, peer, key, akey);
	*akey = key + 1;
	return 0;
}
