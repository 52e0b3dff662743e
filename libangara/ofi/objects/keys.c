// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of memory regions.
 *
 * The lower 16 bits of an adapter's key are a slot of its table.  The higher
 * bits are random, so peers must be sent the key.  Some keys of the adapter are
 * fixed:
 *
 *   0			the directory of each domain
 *   1 to 512		k + 1 for a small key k that the program chose
 *
 * Programs' keys are translated to keys of the adapter as follows:
 *
 *   FI_MR_PROV_KEY	The program's key is the adapter's key.
 *   FI_MR_BASIC	As FI_MR_PROV_KEY, but peers address memory by virtual
 *			address.  The directory entry of the region's slot contains
 *			the start of the region.  An initiator reads the entry once,
 *			since no other region gets that key.
 *   other large keys	The directory contains the adapter's key for key k.  An
 *			initiator caches the adapter's key.  Once the region is
 *			closed, the target's adapter refuses this key, since its
 *			higher bits are random.
 */
#include <stdlib.h>

#include "op.h"

/*
 * The last entry of the directory contains the domain's number.  The room for
 * entries of peers' directories follows.
 */
#define AFI_DIR_ROOM	(AFI_DIR_ID + 1)

/* First of the slots that libangara assigns to regions. */
#define AFI_FIRST_SLOT	(1 + AFI_DIRECT_KEYS)

/* Index of a program's key in the directory. */
static u32 place_of(u64 key)
{
	return (u32)(key * 0x9E3779B97F4A7C15ULL >> 32) % AFI_DIR_ENTRIES;
}

/*
 * Index of an adapter's key in the directory.  If the index is too large, the key
 * has no entry.
 */
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
	const size_t windows = (size_t)AFI_DIR_LATE_OPS * AFI_RMA_IOV_LIMIT *
			       AFI_DIR_WINDOW;
	const size_t len = AFI_DIR_ROOM * sizeof(struct afi_dir_entry);
	int ret;

	d->dir_mem = calloc(AFI_DIR_ROOM + windows, sizeof(*d->dir_mem));
	d->listed = calloc(AFI_LISTED, sizeof(*d->listed));
	if (!d->dir_mem || !d->listed)
		return -FI_ENOMEM;
	d->dir_mem[AFI_DIR_ID].key = d->id;
	ret = angara_mr_reg_key(d->dom, d->dir_mem, len,
				ANGARA_ACCESS_REMOTE_READ, AFI_DIR_KEY,
				&d->dir);
	if (ret)
		return ret;
	return angara_mr_reg(d->dom, d->dir_mem + AFI_DIR_ROOM,
			     windows * sizeof(*d->dir_mem),
			     ANGARA_ACCESS_LOCAL_WRITE, &d->window);
}

/*
 * Frees the memory; the domain of libangara, with the directory's region, is
 * already closed.
 */
void afi_keys_free(struct afi_domain *d)
{
	free(d->dir_mem);
	free(d->listed);
}

/*
 * Operations that may hold regions for long must leave some regions free, so
 * that operations that hold them briefly can proceed. Return: true if 1/@part
 * of all regions stays free when @n are taken.
 */
bool afi_temp_spare(const struct afi_domain *d, u32 part, u32 n)
{
	return AFI_TEMP_REGIONS - d->temps >= AFI_TEMP_REGIONS / part + n;
}

/**
 * afi_temp_hold() - hold a region of the library's cache for an operation
 * @d: domain, locked
 * @ep: endpoint; when it is closed, regions that its operations hold are revoked
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
 * @want: key; not used if the provider chooses keys
 * @addr: memory
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @mr: out: the members @mr and @fid.key are set
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

/* Return: entries that afi_key_read() has read to place @number. */
static struct afi_dir_entry *window_of(const struct afi_domain *d, u32 number)
{
	return d->dir_mem + AFI_DIR_ROOM + number * AFI_DIR_WINDOW;
}

static bool same_peer(struct angara_peer a, struct angara_peer b)
{
	return a.node == b.node && a.ctx == b.ctx;
}

static struct afi_listed *listed_at(const struct afi_domain *d, u64 key)
{
	return &d->listed[place_of(key) % AFI_LISTED];
}

/* The cached entry of a key, or NULL. */
static const struct afi_listed *listed_find(const struct afi_domain *d,
					    struct angara_peer peer, u64 key)
{
	const struct afi_listed *l = listed_at(d, key);

	return l->akey && l->key == key && same_peer(l->peer, peer) ? l : NULL;
}

/**
 * afi_key_listed() - translate a peer's key by a cached entry of its directory
 * @d: domain, locked
 * @peer: peer
 * @there: memory, by the program's key and address
 * @known: out: the same memory by the adapter's key, valid if the region still
 *	exists
 *
 * Return: false: there is no such entry, or the key needs none.
 */
bool afi_key_listed(const struct afi_domain *d, struct angara_peer peer,
		    const struct afi_there *there, struct afi_there *known)
{
	const struct afi_listed *l;

	if (d->prov_keys || there->key < AFI_DIRECT_KEYS)
		return false;
	l = listed_find(d, peer, there->key);
	if (l)
		*known = (struct afi_there){ l->akey - 1, there->off };
	return l;
}

/* Drops the cached entry of a key, which is out of date. */
void afi_key_forget(const struct afi_domain *d, u64 key)
{
	listed_at(d, key)->akey = 0;
}

/*
 * Translates a virtual address to an offset, if the start of the region is cached.
 * Return: as afi_key_known().
 */
static int known_start(const struct afi_domain *d, struct angara_peer peer,
		       struct afi_there *there)
{
	const struct afi_listed *l = listed_find(d, peer, there->key);

	if (l) {
		there->off -= l->akey;
		return 0;
	}
	return place_of_slot(there->key) < AFI_DIR_ENTRIES ? -FI_EINPROGRESS :
							     -FI_ENOKEY;
}

/**
 * afi_key_known() - translate a peer's key and address for the adapter
 * @d: domain, locked
 * @peer: peer
 * @there: in: as the program uses them; out: as the adapter does
 *
 * Return: 0; -FI_ENOKEY there is no such key; -FI_EINPROGRESS the peer's
 * directory has to be read.
 */
int afi_key_known(const struct afi_domain *d, struct angara_peer peer,
		  struct afi_there *there)
{
	if (d->virt)
		return known_start(d, peer, there);
	if (d->prov_keys)
		return 0;
	if (there->key >= AFI_DIRECT_KEYS)
		return -FI_EINPROGRESS;
	there->key++;
	return 0;
}

/**
 * afi_key_read() - read the entries of a peer's directory that may have a key
 * @d: domain, locked
 * @peer: peer
 * @number: place for the entries, below AFI_DIR_LATE_OPS * AFI_RMA_IOV_LIMIT
 * @key: key that the program uses
 * @how: from afi_await()
 *
 * Return: as angara_get_nbi().
 */
int afi_key_read(const struct afi_domain *d, struct angara_peer peer, u32 number,
		 u64 key, const struct angara_op *how)
{
	const u32 place = d->virt ? place_of_slot(key) : place_of(key);
	const size_t size = AFI_DIR_WINDOW * sizeof(struct afi_dir_entry);

	return angara_get_nbi(d->ctx, peer, AFI_DIR_KEY,
			      place * sizeof(struct afi_dir_entry), d->window,
			      number * size, size, how);
}

/*
 * Return: the value of a key's entry among @found, or 0.  For an invalid key
 * the value may be the start of another region that uses the same slot; then
 * the target's adapter refuses the key.
 */
static u64 entry_find(const struct afi_domain *d, const struct afi_dir_entry *found,
		      u64 key)
{
	u32 i;

	if (d->virt)
		return found[0].akey;
	for (i = 0; i < AFI_DIR_WINDOW; i++)
		if (found[i].akey && found[i].key == key)
			return found[i].akey;
	return 0;
}

/**
 * afi_key_entry() - translate a peer's key and address by its directory
 * @d: domain, locked
 * @peer: peer
 * @number: place of the entries that afi_key_read() has read
 * @there: in: as the program uses them; out: as the adapter does
 *
 * Return: 0; -FI_ENOKEY there is no such key.
 */
int afi_key_entry(const struct afi_domain *d, struct angara_peer peer, u32 number,
		  struct afi_there *there)
{
	const u64 akey = entry_find(d, window_of(d, number), there->key);

	if (!akey)
		return -FI_ENOKEY;
	*listed_at(d, there->key) = (struct afi_listed){
		.key = there->key,
		.akey = akey,
		.peer = peer,
	};
	if (d->virt)
		there->off -= akey;
	else
		there->key = akey - 1;
	return 0;
}
