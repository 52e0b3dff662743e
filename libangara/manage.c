// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management: requests and their repetition.
 *
 * Requests and answers can be lost.  A read is simply repeated.  A write
 * contains the number of writes that its router has accepted so far, so at most
 * one of several copies has an effect.  If no answer comes, the number is read
 * again.  If a repeated write is then refused because the row or key already
 * has the wanted state, the write has succeeded.
 *
 * A row is cleared only if it has not changed since it was read: the request to clear it contains
 * the number of writes from the answer to the read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <angara/manage.h>

#include "lib.h"

static_assert(ANGARA_PATH_LINKS == ANGARA_MGMT_HOPS, "paths");

#define MANAGE_TRY_MS	125U	/* milliseconds to wait for an answer */
#define MANAGE_TRIES	8U
#define MANAGE_ROUNDS	16U	/* attempts while other managers write, or the router is busy */

/**
 * struct angara_manager - a manager
 * @dev: open device
 * @spec: fabric
 */
struct angara_manager {
	struct ang_dev dev;
	struct ang_spec spec;
};

ANG_PUBLIC int angara_manager_open(const char *device, struct angara_manager **out)
{
	struct angara_manager *m = calloc(1, sizeof(*m));
	int ret;

	*out = NULL;
	if (!m)
		return -ENOMEM;
	ret = ang_device_open(device, &m->spec, &m->dev);
	if (ret)
		free(m);
	else
		*out = m;
	return ret;
}

ANG_PUBLIC void angara_manager_close(struct angara_manager *m)
{
	if (!m)
		return;
	ang_dev_close(&m->dev);
	free(m);
}

ANG_PUBLIC int angara_manager_describe(struct angara_manager *m, char **text)
{
	*text = NULL;
	return m->dev.ops->describe(&m->dev, text);
}

static int manage_errno(u8 status)
{
	static const int errnos[ANGARA_MGMT_ST_NUM] = {
		[ANGARA_MGMT_ST_METHOD] = -EOPNOTSUPP,
		[ANGARA_MGMT_ST_PARAM] = -EINVAL,
		[ANGARA_MGMT_ST_KEY] = -EACCES,
		[ANGARA_MGMT_ST_STALE] = -EAGAIN,
		[ANGARA_MGMT_ST_PORT] = -ENXIO,
		[ANGARA_MGMT_ST_DOWN] = -ENETDOWN,
		[ANGARA_MGMT_ST_BUSY] = -EBUSY,
		[ANGARA_MGMT_ST_EXISTS] = -EEXIST,
		[ANGARA_MGMT_ST_ABSENT] = -ENOENT,
		[ANGARA_MGMT_ST_RULE] = -EINVAL,
	};

	return status < ANGARA_MGMT_ST_NUM ? errnos[status] : -EIO;
}

/*
 * Sends the request @pkt once.  Return: 0 @pkt is the answer; -ETIMEDOUT; other
 * errors.
 */
static int manage_once(struct angara_manager *m, struct angara_mgmt *pkt)
{
	struct angara_manage arg = ANG_CMD_INIT(struct angara_manage);
	int ret;

	arg.timeout_ms = MANAGE_TRY_MS;
	arg.pkt = *pkt;
	ret = ang_dev_cmd(&m->dev, ANGARA_IOCTL_MANAGE, &arg);
	if (ret)
		return ret;
	/*
	 * The router is not trusted: check that the answer belongs to the
	 * request.
	 */
	if (!arg.pkt.answer || arg.pkt.method != pkt->method ||
	    arg.pkt.attr != pkt->attr)
		return -EIO;
	*pkt = arg.pkt;
	return 0;
}

static int manage_start(struct angara_mgmt *pkt, const struct angara_path *path,
			u8 method, unsigned int attr, u32 modifier, size_t size)
{
	if (path->hops > ANGARA_MGMT_HOPS || size > ANGARA_MGMT_DATA || attr > 255)
		return -EINVAL;
	*pkt = (struct angara_mgmt){
		.method = method, .attr = (u8)attr, .hops = (u8)path->hops,
		.modifier = cpu_to_le32(modifier), .key = cpu_to_le64(path->key),
	};
	memcpy(pkt->path, path->port, path->hops);
	return 0;
}

/*
 * Repeats a read until an answer arrives.  Return: 0 @pkt is the answer;
 * -errno.
 */
static int manage_read(struct angara_manager *m, struct angara_mgmt *pkt)
{
	unsigned int tries = MANAGE_TRIES;
	int ret;

	do {
		ret = manage_once(m, pkt);
	} while (ret == -ETIMEDOUT && --tries);
	return ret;
}

static void manage_tell(const struct angara_mgmt *pkt, u32 *router)
{
	if (router)
		*router = le32_to_cpu(pkt->router);
}

ANG_PUBLIC int angara_manage_get(struct angara_manager *m,
				 const struct angara_path *path, unsigned int attr,
				 uint32_t modifier, void *value, size_t size,
				 uint32_t *router)
{
	struct angara_mgmt pkt;
	int ret;

	if (router)
		*router = UINT32_MAX;
	ret = manage_start(&pkt, path, ANGARA_MGMT_GET, attr, modifier, size);
	if (!ret)
		ret = manage_read(m, &pkt);
	if (ret)
		return ret;
	manage_tell(&pkt, router);
	if (!pkt.status)
		memcpy(value, pkt.data, size);
	return manage_errno(pkt.status);
}

/*
 * Gets the number of writes that the router has accepted.  An answer that
 * refuses the request contains this number, too.
 */
static int manage_writes(struct angara_manager *m, const struct angara_path *path,
			 __le64 *writes, u32 *router)
{
	struct angara_mgmt pkt;
	int ret = manage_start(&pkt, path, ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0, 0);

	if (!ret)
		ret = manage_read(m, &pkt);
	if (ret)
		return ret;
	manage_tell(&pkt, router);
	*writes = pkt.writes;
	return manage_errno(pkt.status);
}

/*
 * Is a row set as @value says?  Fields that the router itself fills in are not
 * compared.
 */
static bool manage_has_row(struct angara_manager *m, const struct angara_path *path,
			   u32 tree, const void *value)
{
	struct angara_mgmt_row row;

	if (angara_manage_get(m, path, ANGARA_MGMT_ROW, tree, &row, sizeof(row), NULL))
		return false;
	row.down_node = 0;
	row.state = 0;
	row.members = 0;
	return !memcmp(&row, value, sizeof(row));
}

/*
 * An earlier copy of this request may have been executed although its answer
 * was lost.  Does the answer to this copy show that?
 */
static bool manage_done(struct angara_manager *m, const struct angara_path *path,
			const struct angara_mgmt *pkt, const void *value)
{
	switch (pkt->attr) {
	case ANGARA_MGMT_ROW:
		return pkt->status == ANGARA_MGMT_ST_EXISTS &&
		       manage_has_row(m, path, le32_to_cpu(pkt->modifier), value);
	case ANGARA_MGMT_ROW_CLEAR:
		return pkt->status == ANGARA_MGMT_ST_ABSENT;
	default:
		return false;
	}
}

/*
 * For a write of a key, stores the new key in @path: requests need the new key once the router has
 * accepted the write.
 */
static void manage_other_key(struct angara_path *path, unsigned int attr,
			     const void *value, size_t size)
{
	struct angara_mgmt_key key;

	if (attr != ANGARA_MGMT_KEY || size != sizeof(key))
		return;
	memcpy(&key, value, size);
	path->key = le64_to_cpu(key.key);
}

/*
 * Makes one attempt to write.  @doubt: in and out: a write got no answer, so it
 * may have been executed.
 * Return: 0; -ETIMEDOUT; -EAGAIN, -EBUSY: the caller repeats the attempt; other
 * errors.
 */
static int manage_write(struct angara_manager *m, const struct angara_path *path,
			struct angara_mgmt pkt, const void *value, bool *doubt,
			u32 *router)
{
	int ret = manage_writes(m, path, &pkt.writes, router);

	if (ret)
		return ret;
	pkt.key = cpu_to_le64(path->key);
	ret = manage_once(m, &pkt);
	*doubt |= ret == -ETIMEDOUT;
	if (ret)
		return ret;
	manage_tell(&pkt, router);
	if (*doubt && manage_done(m, path, &pkt, value))
		return 0;
	return manage_errno(pkt.status);
}

/**
 * ang_manage_set() - as angara_manage_set()
 * @doubt: out: after an error, the value may have been written nevertheless
 */
int ang_manage_set(struct angara_manager *m, const struct angara_path *path,
		   unsigned int attr, u32 modifier, const void *value, size_t size,
		   u32 *router, bool *doubt)
{
	unsigned int tries = MANAGE_TRIES, rounds = MANAGE_ROUNDS;
	struct angara_path other = *path;
	struct angara_mgmt pkt;
	int ret;

	*doubt = false;
	if (router)
		*router = UINT32_MAX;
	ret = manage_start(&pkt, path, ANGARA_MGMT_SET, attr, modifier, size);
	if (ret)
		return ret;
	if (size)
		memcpy(pkt.data, value, size);
	manage_other_key(&other, attr, value, size);
	while (tries && rounds) {
		ret = manage_write(m, path, pkt, value, doubt, router);
		if (ret == -EACCES && *doubt)
			ret = manage_write(m, &other, pkt, value, doubt, router);
		if (ret == -ETIMEDOUT)
			tries--;
		else if (ret == -EAGAIN || ret == -EBUSY)
			rounds--;
		else
			break;
	}
	return ret;
}

ANG_PUBLIC int angara_manage_set(struct angara_manager *m,
				 const struct angara_path *path, unsigned int attr,
				 uint32_t modifier, const void *value, size_t size,
				 uint32_t *router)
{
	bool doubt;

	return ang_manage_set(m, path, attr, modifier, value, size, router, &doubt);
}

/*
 * Reads a row, and clears it if it is of incarnation @epoch.  Return: 0;
 * -EAGAIN, -EBUSY: the caller tries again; -ENOENT there is no row of this incarnation; other
 * errors.
 */
static int manage_clear(struct angara_manager *m, const struct angara_path *path,
			u32 tree, u16 epoch)
{
	struct angara_mgmt_row row;
	struct angara_mgmt pkt;
	__le64 writes;
	int ret = manage_start(&pkt, path, ANGARA_MGMT_GET, ANGARA_MGMT_ROW, tree, 0);

	if (!ret)
		ret = manage_read(m, &pkt);
	if (!ret)
		ret = manage_errno(pkt.status);
	if (ret)
		return ret;
	memcpy(&row, pkt.data, sizeof(row));
	if (le16_to_cpu(row.epoch) != epoch)
		return -ENOENT;
	writes = pkt.writes;
	manage_start(&pkt, path, ANGARA_MGMT_SET, ANGARA_MGMT_ROW_CLEAR, tree, 0);
	pkt.writes = writes;
	ret = manage_once(m, &pkt);
	if (ret == -ETIMEDOUT)
		return -EAGAIN;
	return ret ? ret : manage_errno(pkt.status);
}

/**
 * ang_manage_clear() - clear a row if it is of one incarnation of a tree
 * @m: manager
 * @path: router
 * @tree: tree
 * @epoch: incarnation; another manager may have cleared the row and set its own
 *
 * Return: 0, also if there is no such row any more; errors of
 * angara_manage_set().
 */
int ang_manage_clear(struct angara_manager *m, const struct angara_path *path,
		     u32 tree, u16 epoch)
{
	unsigned int rounds = MANAGE_ROUNDS;
	int ret;

	do {
		ret = manage_clear(m, path, tree, epoch);
	} while ((ret == -EAGAIN || ret == -EBUSY) && --rounds);
	return ret == -ENOENT ? 0 : ret;
}
