// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-fm: leases.
 *
 * A user gets a free tree if its quota is not used up, and if enough trees are
 * free for the users that wait before it.  A user waits from its first request that
 * finds no tree until it gets one, or until a grace period passes without a request.
 * Users with fewer leases are served first; among equals, the user that waits
 * longest.  A request never waits: the answer says that no tree is free now, and the
 * job goes on in software.
 *
 * A device that is down does not appear in the lists of devices and rows, but keeps
 * its delegations.  So the manager searches the list of all rows for delegations that
 * belong to no lease: they become orphans.  If a device has delegated a tree to another
 * user than that of the lease, before the device was down, the manager corrects this.
 * It reads the list of all rows before it grants a lease, and when a device appears.
 *
 * A user could set rows while its tree is taken back.  So the manager takes the
 * delegation back if there are no rows, looks for rows again, and delegates the tree
 * again if there are any.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fm.h"

#define WAITERS		64U

/**
 * struct waiter - a user that found no free tree
 * @fabric: fabric
 * @uid: user
 * @since: first request without a tree
 * @until: end of waiting unless the user asks again
 */
struct waiter {
	uint64_t fabric;
	uid_t uid;
	uint64_t since;
	uint64_t until;
};

static const struct fm_opts *opts;
static struct fm_lease leases[ANG_FM_MOST];
static uint32_t count;
static struct waiter waiters[WAITERS];

static uint32_t lease_held(uint64_t fabric, uid_t uid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += leases[i].fabric == fabric && leases[i].uid == uid;
	return n;
}

static uint64_t lease_trees(uint64_t fabric)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < count; i++)
		if (leases[i].fabric == fabric)
			set |= 1ULL << leases[i].tree;
	return set;
}

static uint64_t lease_managed(const struct fm_fabric *fabric)
{
	return opts->trees & ~0ULL >> (64 - fabric->trees);
}

static uint32_t lease_quota(const struct fm_fabric *fabric)
{
	uint32_t half = (uint32_t)__builtin_popcountll(lease_managed(fabric)) / 2;

	return opts->quota ? (uint32_t)opts->quota : half ? half : 1;
}

/* Return: the entry of the user if it waits; else a new one, in place of one that ends first. */
static struct waiter *waiter_get(uint64_t fabric, uid_t uid)
{
	struct waiter *end = &waiters[0];

	for (uint32_t i = 0; i < WAITERS; i++) {
		struct waiter *w = &waiters[i];

		if (w->uid == uid && w->fabric == fabric && w->until > fm_now())
			return w;
		if (w->until < end->until)
			end = w;
	}
	*end = (struct waiter){ .fabric = fabric, .uid = uid, .since = fm_now() };
	return end;
}

/* Number of users that get a tree before the user @of. */
static uint32_t waiter_before(const struct waiter *of)
{
	uint32_t mine = lease_held(of->fabric, of->uid), n = 0;

	for (uint32_t i = 0; i < WAITERS; i++) {
		const struct waiter *w = &waiters[i];
		uint32_t its;

		if (w == of || w->fabric != of->fabric || w->until <= fm_now())
			continue;
		its = lease_held(w->fabric, w->uid);
		n += its < mine || (its == mine && w->since < of->since);
	}
	return n;
}

static void lease_add(uint64_t fabric, uint32_t tree, uid_t uid, int client)
{
	leases[count++] = (struct fm_lease){
		.fabric = fabric, .tree = tree, .uid = uid, .client = client,
		.grace_end = fm_now() + opts->grace_ns,
	};
}

static const struct fm_lease *lease_find(uint64_t fabric, uint32_t tree)
{
	for (uint32_t i = 0; i < count; i++)
		if (leases[i].fabric == fabric && leases[i].tree == tree)
			return &leases[i];
	return NULL;
}

/* Is a managed tree delegated to a user? */
static bool row_is_leased(const struct fm_row *row)
{
	return row->delegated >= ANGARA_PKEY_UID(0) && opts->trees >> row->tree & 1;
}

/* Makes an orphan of each delegation to a user that belongs to no lease. */
static void lease_adopt(const struct fm_row *rows, size_t n, bool with_rows)
{
	for (size_t i = 0; i < n && count < ANG_FM_MOST; i++) {
		const struct fm_row *row = &rows[i];

		if (row_is_leased(row) && !lease_find(row->fabric, row->tree) &&
		    (!with_rows || row->pkey == row->delegated))
			lease_add(row->fabric, row->tree,
				  row->delegated & ANGARA_PKEY_UID_MAX, FM_NO_CLIENT);
	}
}

/*
 * Makes leases and delegations agree.  If devices have delegated a tree to several
 * users, it belongs to one that has rows.
 */
static void lease_agree(const struct fm_row *rows, size_t n)
{
	lease_adopt(rows, n, true);
	lease_adopt(rows, n, false);
	for (size_t i = 0; i < n; i++) {
		uint32_t dev = rows[i].dev;
		const struct fm_fabric one = { .id = rows[i].fabric, .devs = &dev, .count = 1 };
		const struct fm_lease *lease = lease_find(one.id, rows[i].tree);

		/* After an error, the next list of rows shows the delegation again. */
		if (lease && row_is_leased(&rows[i]) && !rows[i].is_switch &&
		    rows[i].delegated != ANGARA_PKEY_UID(lease->uid))
			fabric_delegate(&one, lease->tree, ANGARA_PKEY_UID(lease->uid));
	}
}

/*
 * Finds the managed trees that have no row, no delegation and no lease, and are not being
 * repaired.  Return: 0; -errno.
 */
static int lease_free(const struct fm_fabric *fabric, uint64_t *set)
{
	struct fm_row *rows;
	size_t n;
	int ret = fabric_rows(fabric->id, -1, &rows, &n);

	if (ret)
		return ret;
	lease_agree(rows, n);
	/* A tree has no rows for a moment while it is repaired. */
	*set = lease_managed(fabric) & ~lease_trees(fabric->id) & ~routes_repaired(fabric->id);
	for (size_t i = 0; i < n; i++)
		*set &= ~(1ULL << rows[i].tree);
	free(rows);
	return 0;
}

/* Return: 0: the user has a lease; else the error of the reply. */
static int lease_try(const struct fm_fabric *fabric, const struct ang_fm_request *q,
		     uid_t uid, int client, uint32_t *tree)
{
	struct waiter *w;
	uint64_t set;

	if (lease_held(fabric->id, uid) >= lease_quota(fabric))
		return -EDQUOT;
	if (lease_free(fabric, &set) || count == ANG_FM_MOST)
		return -EIO;
	w = waiter_get(fabric->id, uid);
	if ((uint32_t)__builtin_popcountll(set) <= waiter_before(w)) {
		w->until = fm_now() + opts->grace_ns;
		return -EAGAIN;
	}
	if (!(set & ~q->avoid))
		return -EAGAIN;
	*tree = (uint32_t)__builtin_ctzll(set & ~q->avoid);
	/* After an error some devices may have the delegation: keep the lease, as an orphan. */
	lease_add(fabric->id, *tree, uid, client);
	if (fabric_delegate(fabric, *tree, ANGARA_PKEY_UID(uid)))
		return -EIO;
	w->until = 0;
	return 0;
}

/**
 * lease_grant() - answer ANG_FM_GET
 * @q: request
 * @uid: user of the client, from the kernel
 * @client: number of its connection
 * @reply: out
 *
 * Return: 0 if the client has a lease; the error in @reply.
 */
int lease_grant(const struct ang_fm_request *q, uid_t uid, int client,
		struct ang_fm_reply *reply)
{
	struct fm_fabric fabric;

	reply->err = fabric_get(q->fabric, &fabric);
	if (reply->err)
		return reply->err;
	if (!uid) {
		reply->err = -EPERM;
		reply->reserved = lease_trees(fabric.id);
	} else {
		reply->reserved = lease_managed(&fabric);
		reply->err = uid > ANGARA_PKEY_UID_MAX || q->pkey != ANGARA_PKEY_UID(uid) ?
			     -EPERM : lease_try(&fabric, q, uid, client, &reply->tree);
	}
	fabric_put(&fabric);
	return reply->err;
}

/* Reads the rows of a leased tree that its user has set.  Return: 0; -errno. */
static int lease_rows(const struct fm_lease *lease, struct fm_row **rows, size_t *n)
{
	int ret = fabric_rows(lease->fabric, (int)lease->tree, rows, n);
	size_t kept = 0;

	for (size_t i = 0; !ret && i < *n; i++)
		if ((*rows)[i].pkey == ANGARA_PKEY_UID(lease->uid))
			(*rows)[kept++] = (*rows)[i];
	*n = kept;
	return ret;
}

/* Does a job use the tree?  Clears rows that no job can use. */
static bool lease_in_use(const struct fm_lease *lease)
{
	struct fm_row *rows;
	size_t n = 0;
	bool used = true;

	if (lease_rows(lease, &rows, &n))
		return true;
	if (!n || !fabric_in_use(lease->fabric, ANGARA_PKEY_UID(lease->uid))) {
		for (size_t i = 0; i < n; i++)
			fabric_clear(&rows[i]);
		used = false;
	}
	free(rows);
	return used;
}

/* Return: whether the lease has ended. */
static bool lease_take_back(const struct fm_lease *lease)
{
	struct fm_fabric fabric;
	struct fm_row *rows;
	size_t n = 0;
	int ret;

	ret = fabric_get(lease->fabric, &fabric);
	if (ret)
		return ret == -ENODEV;
	if (lease_in_use(lease) || fm_now() < lease->grace_end) {
		fabric_put(&fabric);
		return false;
	}
	fabric_delegate(&fabric, lease->tree, 0);
	ret = lease_rows(lease, &rows, &n);
	if (!ret)
		free(rows);
	if (ret || n)
		fabric_delegate(&fabric, lease->tree, ANGARA_PKEY_UID(lease->uid));
	fabric_put(&fabric);
	return !ret && !n;
}

/** lease_orphans() - is there a lease without a connection? */
bool lease_orphans(void)
{
	for (uint32_t i = 0; i < count; i++)
		if (leases[i].client == FM_NO_CLIENT)
			return true;
	return false;
}

/**
 * lease_tick() - take back the trees of orphans that no job uses
 * @fresh: check only orphans whose connection was closed since the last call
 */
void lease_tick(bool fresh)
{
	for (uint32_t i = count; i-- > 0;) {
		if (leases[i].client != FM_NO_CLIENT)
			continue;
		if ((!fresh || leases[i].fresh) && lease_take_back(&leases[i]))
			leases[i] = leases[--count];
		else
			leases[i].fresh = false;
	}
}

/** lease_drop() - note that a connection is closed.  Return: whether it had a lease */
bool lease_drop(int client)
{
	for (uint32_t i = 0; i < count; i++)
		if (leases[i].client == client) {
			leases[i].client = FM_NO_CLIENT;
			leases[i].fresh = true;
			leases[i].grace_end = 0;
			return true;
		}
	return false;
}

/** lease_list() - fill in the leases that @uid may see.  Return: their number */
uint32_t lease_list(uid_t uid, struct ang_fm_lease *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!uid || leases[i].uid == uid)
			list[n++] = (struct ang_fm_lease){
				.fabric = leases[i].fabric, .tree = leases[i].tree,
				.uid = leases[i].uid,
				.connected = leases[i].client != FM_NO_CLIENT,
			};
	return n;
}

/* Return: 0; -errno: the rows cannot be read. */
static int lease_read(void)
{
	struct fm_row *rows;
	size_t n;
	int ret = fabric_rows(0, -1, &rows, &n);

	if (ret)
		return ret;
	lease_agree(rows, n);
	free(rows);
	return 0;
}

/** lease_devices() - a device has appeared: make its delegations agree with the leases */
void lease_devices(void)
{
	/* After an error, the next request for a lease reads the rows again. */
	lease_read();
}

/**
 * lease_start() - read from the devices which trees are leased
 *
 * Return: DONE; FAILED, with a message.
 */
int lease_start(const struct fm_opts *given)
{
	opts = given;
	if (fabric_connect())
		return FAILED;
	return lease_read() ? fail("the rows of the devices cannot be read") : DONE;
}
