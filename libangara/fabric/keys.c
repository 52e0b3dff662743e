// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of memory regions.
 *
 * The keys that are used here are small: slots of the domain's table.  The
 * lower half, AFI_LOW_KEYS at most, the provider uses itself, what is above it is
 * the program's:
 *
 *   FI_MR_PROV_KEY	The provider's key holds the start of the region, as the
 *			program addresses it so, above the adapter's key, any of
 *			the upper half.
 *   small keys		Key k of the program's is key k of the upper half.
 *   other keys		Have any key of the lower half, and stand in a
 *			directory, which is region 0 of each domain: an initiator
 *			reads where key k leads before it uses it, each time.
 *			What it reads cannot be stale but by the program's own
 *			mistake, to use a key while its region is closed.
 */
#include <stdlib.h>
#include <string.h>

#include "afi.h"

/* An entry at the end holds the domain's number, and the window lies behind. */
#define AFI_DIR_ROOM	(AFI_DIR_ID + 1)

/* Those of the lower half are below this. */
u32 afi_low_keys(const struct afi_domain *d)
{
	return d->about.max_mrs / 2 < AFI_LOW_KEYS ? d->about.max_mrs / 2 :
						     AFI_LOW_KEYS;
}

/* Small keys that there are. */
static u32 num_direct(const struct afi_domain *d)
{
	return afi_low_keys(d) < AFI_DIRECT_KEYS ? afi_low_keys(d) : AFI_DIRECT_KEYS;
}

static u32 place_of(u64 key)
{
	return (u32)(key * 0x9E3779B97F4A7C15ULL >> 32) % AFI_DIR_ENTRIES;
}

int afi_keys_init(struct afi_domain *d)
{
	const size_t len = AFI_DIR_ROOM * sizeof(struct afi_dir_entry);
	int ret;

	d->dir_mem = calloc(AFI_DIR_ROOM + AFI_DIR_WINDOW,
			    sizeof(struct afi_dir_entry));
	if (!d->dir_mem)
		return -FI_ENOMEM;
	d->dir_mem[AFI_DIR_ID].key = d->id;
	ret = angara_mr_reg_key(d->dom, d->dir_mem, len,
				ANGARA_ACCESS_REMOTE_READ, AFI_DIR_KEY,
				&d->dir);
	if (ret)
		return ret;
	d->low_used++;
	return afi_low_reg(d, d->dir_mem + AFI_DIR_ROOM,
			   AFI_DIR_WINDOW * sizeof(*d->dir_mem),
			   ANGARA_ACCESS_LOCAL_WRITE, &d->window);
}

/*
 * Keys of the lower half are for what ends soon, and for what may not: the
 * latter leaves some, so that the former goes on.
 * Return: are @n to be had, and this part of all left then?
 */
bool afi_low_spare(const struct afi_domain *d, u32 part, u32 n)
{
	return afi_low_keys(d) - d->low_used >= afi_low_keys(d) / part + n;
}

/* A region with a key of the lower half, the first that is free. */
int afi_low_reg(struct afi_domain *d, void *addr, size_t len,
		unsigned int access, struct angara_mr **mr)
{
	int ret = angara_mr_reg(d->dom, addr, len, access, mr);

	if (!ret && angara_mr_key(*mr) >= afi_low_keys(d)) {
		angara_mr_dereg(*mr);
		*mr = NULL;
		ret = -FI_ENOSPC;
	}
	d->low_used += !ret;
	return ret;
}

void afi_low_dereg(struct afi_domain *d, struct angara_mr *mr)
{
	angara_mr_dereg(mr);
	d->low_used--;
}

static int take_provided(struct afi_domain *d, void *addr, size_t len,
			 unsigned int access, struct afi_mr *mr)
{
	u64 base = (uintptr_t)addr;
	u32 i;
	int ret;

	if (base >> (64 - AFI_KEY_BITS))
		return -FI_EINVAL;
	for (i = 0; i < num_direct(d); i++)
		if (!(d->high_used[i / 64] >> i % 64 & 1))
			break;
	if (i == num_direct(d))
		return -FI_ENOSPC;
	ret = angara_mr_reg_key(d->dom, addr, len, access, afi_low_keys(d) + i,
				&mr->mr);
	if (ret)
		return ret;
	d->high_used[i / 64] |= 1ULL << i % 64;
	mr->fid.key = base << AFI_KEY_BITS | (afi_low_keys(d) + i);
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
	if (!afi_low_spare(d, AFI_KEYS_LISTED, 1))
		return -FI_ENOSPC;
	ret = afi_low_reg(d, addr, len, access, &mr->mr);
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
	if (want >= num_direct(d))
		return take_listed(d, want, addr, len, access, mr);
	ret = angara_mr_reg_key(d->dom, addr, len, access,
				afi_low_keys(d) + (u32)want, &mr->mr);
	return ret == -EEXIST ? -FI_ENOKEY : ret;
}

/* Gives back the key and the region. */
void afi_key_give(struct afi_domain *d, struct afi_mr *mr)
{
	struct afi_dir_entry *at = d->dir_mem + place_of(mr->fid.key);
	u32 akey = angara_mr_key(mr->mr);
	u32 i;

	for (i = 0; !d->prov_keys && i < AFI_DIR_WINDOW; i++)
		if (at[i].akey && at[i].key == mr->fid.key)
			__atomic_store_n(&at[i].akey, 0, __ATOMIC_RELEASE);
	if (akey < afi_low_keys(d)) {
		afi_low_dereg(d, mr->mr);
		return;
	}
	akey -= afi_low_keys(d);
	d->high_used[akey / 64] &= ~(1ULL << akey % 64);
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
	struct afi_look *l = &d->look;
	const size_t size = sizeof(struct afi_dir_entry);
	int ret;

	if (!afi_await_room(d, 1))
		return -FI_EAGAIN;
	l->peer = peer;
	l->key = key;
	ret = angara_get_nbi(d->ctx, peer, AFI_DIR_KEY, place_of(key) * size,
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

/*
 * The read is short, and the peer does nothing for it.  If it takes long all the
 * same, the program calls again, and gets what has been read meanwhile; until
 * then nothing else is, as there is one window.  Each read is waited for once,
 * by whoever starts it: all others of the domain wait for that, too.
 */
static int look_up(struct afi_domain *d, struct angara_peer peer, u64 key,
		   u32 *akey)
{
	const struct afi_dir_entry *found = angara_mr_addr(d->window);
	const struct afi_look *l = &d->look;
	bool same = l->begun && l->key == key && l->peer.node == peer.node &&
		    l->peer.ctx == peer.ctx;
	u32 i;
	int ret;

	if (l->begun && !same && look_end(d, 0) == -FI_EAGAIN)
		return -FI_EAGAIN;
	ret = same ? 0 : look_start(d, peer, key);
	if (!ret)
		ret = look_end(d, same ? 0 : AFI_DIR_MS);
	if (ret)
		return ret;
	for (i = 0; i < AFI_DIR_WINDOW; i++)
		if (found[i].akey && found[i].key == key) {
			*akey = (u32)(found[i].akey - 1);
			return 0;
		}
	return -FI_ENOKEY;
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
		 u64 addr, u32 *akey, u64 *off)
{
	*off = addr;
	if (d->prov_keys) {
		*akey = (u32)key & ((1U << AFI_KEY_BITS) - 1);
		*off -= key >> AFI_KEY_BITS;
		return 0;
	}
	if (key >= num_direct(d))
		return look_up(d, peer, key, akey);
	*akey = afi_low_keys(d) + (u32)key;
	return 0;
}
