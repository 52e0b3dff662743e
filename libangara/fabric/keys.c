// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of memory regions.
 *
 * A key of the adapter's has a slot of its table in the lower 16 bits, and above
 * it random ones, which peers are told.  But some are found without being told:
 *
 *   0			the directory of each domain
 *   1 to 512		key k of the program's, if it is small, is key k + 1
 *
 * What the program knows a region by leads to these so:
 *
 *   FI_MR_PROV_KEY	The provider's key is the adapter's.
 *   FI_MR_BASIC	So it is, but peers know memory by its address.  Where the
 *			region begins stands in the directory, at its slot, and an
 *			initiator reads it once: no other region has that key.
 *   other large keys	Any key of the adapter's, which stands in the directory: an
 *			initiator reads where key k leads before it uses it, each
 *			time.  What it reads cannot be stale but by the program's
 *			own mistake, to use a key while its region is closed.
 */
#include <stdlib.h>
#include <string.h>

#include "afi.h"

/* An entry at the end holds the domain's number, and the window lies behind. */
#define AFI_DIR_ROOM	(AFI_DIR_ID + 1)

/* Slots from this one on are those that the library gives. */
#define AFI_FIRST_SLOT	(1 + AFI_DIRECT_KEYS)

/* In the directory, by the program's key. */
static u32 place_of(u64 key)
{
	return (u32)(key * 0x9E3779B97F4A7C15ULL >> 32) % AFI_DIR_ENTRIES;
}

/* In the directory, by the adapter's key; too large: there is none. */
static u32 place_of_slot(u64 akey)
{
	return afi_slot(akey) - AFI_FIRST_SLOT;
}

/* How a domain of the adapter's is opened. */
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

	d->dir_mem = calloc(AFI_DIR_ROOM + AFI_DIR_WINDOW,
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
			     AFI_DIR_WINDOW * sizeof(*d->dir_mem),
			     ANGARA_ACCESS_LOCAL_WRITE, &d->window);
}

/* The directory goes with the adapter's domain, which is closed before. */
void afi_keys_free(struct afi_domain *d)
{
	free(d->dir_mem);
	free(d->starts);
}

/*
 * Regions for operations are for what ends soon, and for what may not: the
 * latter leaves some, so that the former goes on.
 * Return: are @n to be had, and this part of all left then?
 */
bool afi_temp_spare(const struct afi_domain *d, u32 part, u32 n)
{
	return AFI_TEMP_REGIONS - d->temps >= AFI_TEMP_REGIONS / part + n;
}

/**
 * afi_temp_hold() - a region for an operation, of the library's cache
 * @d: domain, locked
 * @ep: endpoint; all of its operations are given up at once, if they are
 * @addr: memory
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @mr: out
 * @off: out: where the memory is in it
 *
 * Return: 0; -FI_ENOSPC operations hold as many as they may; as
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
	/* Whoever reads meanwhile finds nothing, or all. */
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
 * @mr: out: @mr and the key of it
 *
 * Return: 0; -FI_ENOKEY the key is taken; -FI_ENOSPC there is no room for it;
 * -FI_EFAULT, -FI_ENOMEM as angara_mr_reg().
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

/* Gives back the key and the region. */
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
	(void)a;
	(void)c;
	d->look.err = err;
}

static int look_start(struct afi_domain *d, struct angara_peer peer, u64 key)
{
	const u32 place = d->virt ? place_of_slot(key) : place_of(key);
	const size_t size = sizeof(struct afi_dir_entry);
	struct afi_look *l = &d->look;
	int ret;

	if (!afi_await_room(d, 1))
		return -FI_EAGAIN;
	l->peer = peer;
	l->key = key;
	ret = angara_get_nbi(d->ctx, peer, AFI_DIR_KEY, place * size,
			     d->window, 0, AFI_DIR_WINDOW * size,
			     afi_await(d, &l->await, look_ended));
	l->begun = !ret;
	return afi_awaited(d, &l->await, ret);
}

/* Return: 0; -FI_EAGAIN it is still under way; why there was nothing to read. */
static int look_end(struct afi_domain *d, int timeout_ms)
{
	int ret = afi_await_one(d, &d->look.await, timeout_ms);

	/* Who does not wait is not told of that by the library. */
	if (ret == -ETIMEDOUT)
		return d->dead ? -FI_ENODEV : -FI_EAGAIN;
	d->look.begun = false;
	return ret ? ret : d->look.err;
}

static bool same_peer(struct angara_peer a, struct angara_peer b)
{
	return a.node == b.node && a.ctx == b.ctx;
}

/*
 * The read is short, and the peer does nothing for it.  If it takes long all the
 * same, the program calls again, and gets what has been read meanwhile; until
 * then nothing else is, as there is one window.  Each read is waited for once,
 * by whoever starts it: all others of the domain wait for that, too.
 */
static int look_up(struct afi_domain *d, struct angara_peer peer, u64 key)
{
	const struct afi_look *l = &d->look;
	bool same = l->begun && l->key == key && same_peer(l->peer, peer);
	int ret;

	if (l->begun && !same && look_end(d, 0) == -FI_EAGAIN)
		return -FI_EAGAIN;
	ret = same ? 0 : look_start(d, peer, key);
	return ret ? ret : look_end(d, same ? 0 : AFI_DIR_MS);
}

static int find_listed(struct afi_domain *d, struct angara_peer peer, u64 key,
		       u64 *akey)
{
	const struct afi_dir_entry *found = angara_mr_addr(d->window);
	int ret = look_up(d, peer, key);
	u32 i;

	for (i = 0; !ret && i < AFI_DIR_WINDOW; i++)
		if (found[i].akey && found[i].key == key) {
			*akey = found[i].akey - 1;
			return 0;
		}
	return ret ? ret : -FI_ENOKEY;
}

/*
 * A key that is wrong may be found with the start of another's region.  Then the
 * adapter there refuses the key.
 */
static int find_start(struct afi_domain *d, struct angara_peer peer, u64 key,
		      u64 *start)
{
	const struct afi_dir_entry *found = angara_mr_addr(d->window);
	struct afi_start *s = &d->starts[place_of(key) % AFI_STARTS];
	int ret;

	if (s->key == key && same_peer(s->peer, peer)) {
		*start = s->start;
		return 0;
	}
	if (place_of_slot(key) >= AFI_DIR_ENTRIES)
		return -FI_ENOKEY;
	ret = look_up(d, peer, key);
	if (ret)
		return ret;
	if (!found[0].akey)
		return -FI_ENOKEY;
	*start = found[0].akey;
	*s = (struct afi_start){ .key = key, .start = *start, .peer = peer };
	return 0;
}

/**
 * afi_key_find() - what the adapter knows a peer's memory by
 * @d: domain, locked
 * @peer: peer
 * @key: key of the program's
 * @addr: address of the program's
 * @akey: out: key of the adapter's
 * @off: out: offset in that region
 *
 * Return: 0; -FI_ENOKEY there is none such; -FI_EHOSTUNREACH there is no peer;
 * -FI_EAGAIN it takes long to learn that.
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
