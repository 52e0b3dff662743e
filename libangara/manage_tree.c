// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management: the rows of a tree at all of its routers, or at none.
 *
 * Rows are set in ascending order of routers, so if two managers set rows of
 * one tree, one of them fails at the first common router.  A manager clears
 * only rows of the epoch that it has set.  If a router does not answer a write,
 * its row may be set or not.  So after an error the manager clears this row, too, and counts it as
 * left if the router does not confirm that it is cleared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <angara/fabric.h>
#include <angara/manage.h>
#include <angara/topo.h>

#include "lib.h"

/**
 * struct laying - rows of a tree that are being set or cleared
 * @m: manager
 * @map: routers that can be reached
 * @rows: rows, one per router of the fabric
 * @at: entry of each router in the map; NULL: it has none
 * @fail: the first error
 */
struct laying {
	struct angara_manager *m;
	const struct angara_map *map;
	const struct angara_tree_row *rows;
	const struct angara_found **at;
	struct angara_tree_failure fail;
};

static void laying_init(struct laying *l, struct angara_manager *m,
			const struct angara_map *map)
{
	*l = (struct laying){
		.m = m, .map = map, .fail = {
			.size = sizeof(l->fail), .router = UINT32_MAX, .answered = UINT32_MAX,
		},
	};
}

/* Ends the work, and fills in the caller's @failure.  Return: @ret. */
static int laying_end(struct laying *l, int ret, struct angara_tree_failure *failure)
{
	free(l->at);
	if (failure)
		*failure = l->fail;
	return ret;
}

/* Notes the first error.  Return: @ret. */
static int laying_fail(struct laying *l, u32 router, u32 answered, int ret)
{
	if (l->fail.router == UINT32_MAX) {
		l->fail.router = router;
		l->fail.answered = answered;
	}
	return ret;
}

static int laying_index(struct laying *l)
{
	u32 i;

	l->at = calloc(l->map->size, sizeof(*l->at));
	if (!l->at)
		return -ENOMEM;
	for (i = 0; i < l->map->nrouters; i++) {
		const struct angara_found *found = &l->map->routers[i];

		if (found->state != ANGARA_FOUND_WRONG && found->router < l->map->size)
			l->at[found->router] = found;
	}
	return 0;
}

/* Are the rows a valid tree of the fabric that the adapter describes? */
static int laying_check(struct laying *l)
{
	struct angara_fabric *fabric;
	u32 router;
	char *text;
	int ret = angara_manager_describe(l->m, &text);

	if (ret)
		return ret;
	ret = angara_fabric_open(text, &fabric, NULL, 0);
	free(text);
	if (ret)
		return ret == -ENOMEM ? ret : -EIO;
	if (angara_fabric_routers(fabric) != l->map->size)
		ret = -EIO;
	else
		l->fail.rule = (u32)angara_fabric_tree_check(fabric, l->rows, &router);
	angara_fabric_close(fabric);
	return l->fail.rule ? laying_fail(l, router, UINT32_MAX, -EINVAL) : ret;
}

/* Ports of a row: down and up. */
static u64 row_ports(const struct angara_tree_row *row)
{
	return row->ports | (row->is_root ? 0 : 1ULL << row->to_root);
}

/*
 * Does the map lead to all routers of the tree, and are all links of the tree
 * up?
 */
static int laying_reach(struct laying *l)
{
	u32 i;

	for (i = 0; i < l->map->size; i++) {
		const struct angara_found *found = l->at[i];

		if (!angara_tree_has(&l->rows[i]))
			continue;
		if (!found || found->state == ANGARA_FOUND_SILENT)
			return laying_fail(l, i, UINT32_MAX, -EHOSTUNREACH);
		if (found->state == ANGARA_FOUND_REFUSED)
			return laying_fail(l, i, i, -EACCES);
		if (found->about.down & row_ports(&l->rows[i]))
			return laying_fail(l, i, i, -ENETDOWN);
	}
	return 0;
}

static struct angara_mgmt_row row_value(const struct angara_tree_row *row)
{
	return (struct angara_mgmt_row){
		.ports = cpu_to_le64(row->ports),
		.pkey = cpu_to_le32(row->pkey),
		.pe = cpu_to_le16(row->pe),
		.epoch = cpu_to_le16(row->epoch),
		.is_root = row->is_root,
		.to_root = row->to_root,
		.port_sum = row->port_sum,
	};
}

/* Clears the row of a router that may have set it. */
static void row_undo(struct laying *l, u32 router)
{
	const struct angara_tree_row *row = &l->rows[router];

	if (ang_manage_clear(l->m, &l->at[router]->path, row->tree, row->epoch))
		l->fail.left++;
}

static void laying_undo(struct laying *l, u32 end)
{
	while (end-- > 0)
		if (angara_tree_has(&l->rows[end]))
			row_undo(l, end);
}

/*
 * Sets a row.  @may_be: out: after an error, the row may be set nevertheless.
 */
static int row_set(struct laying *l, u32 router, bool *may_be)
{
	const struct angara_mgmt_row value = row_value(&l->rows[router]);
	u32 answered;
	int ret = ang_manage_set(l->m, &l->at[router]->path, ANGARA_MGMT_ROW,
				 l->rows[router].tree, &value, sizeof(value),
				 &answered, may_be);

	if (!ret && answered != router) {
		*may_be = true;
		ret = -EIO;
	}
	if (ret == -ETIMEDOUT)
		answered = UINT32_MAX;
	return ret ? laying_fail(l, router, answered, ret) : 0;
}

/*
 * Sets all rows.  After an error no row is set, except at routers that do not
 * answer.
 */
static int laying_set(struct laying *l)
{
	bool may_be;
	u32 i;

	for (i = 0; i < l->map->size; i++) {
		int ret = angara_tree_has(&l->rows[i]) ? row_set(l, i, &may_be) : 0;

		if (ret) {
			laying_undo(l, may_be ? i + 1 : i);
			return ret;
		}
	}
	return 0;
}

/*
 * Is the row still the one that was set?  If a link of the row has gone down
 * since the map was made, the row is down.
 */
static int row_confirm(struct laying *l, u32 router)
{
	struct angara_mgmt_row want = row_value(&l->rows[router]), got;
	u32 answered;
	int ret = angara_manage_get(l->m, &l->at[router]->path, ANGARA_MGMT_ROW,
				    l->rows[router].tree, &got, sizeof(got), &answered);

	if (ret == -ENOENT)
		ret = -EBUSY;
	if (!ret && got.state != ANGARA_TREE_STATE_UP)
		ret = -ENETDOWN;
	got.down_node = 0;
	got.state = 0;
	got.members = 0;
	if (!ret && memcmp(&got, &want, sizeof(got)))
		ret = -EBUSY;
	return ret ? laying_fail(l, router, answered, ret) : 0;
}

static int laying_confirm(struct laying *l)
{
	u32 i;

	for (i = 0; i < l->map->size; i++) {
		int ret = angara_tree_has(&l->rows[i]) ? row_confirm(l, i) : 0;

		if (ret) {
			laying_undo(l, l->map->size);
			return ret;
		}
	}
	return 0;
}

ANG_PUBLIC int angara_manage_tree_set(struct angara_manager *m,
				      const struct angara_map *map,
				      const struct angara_tree_row *rows,
				      struct angara_tree_failure *failure)
{
	struct laying l;
	int ret;

	if (failure && failure->size != sizeof(*failure))
		return -EINVAL;
	laying_init(&l, m, map);
	l.rows = rows;
	ret = laying_index(&l);
	if (!ret)
		ret = laying_check(&l);
	if (!ret)
		ret = laying_reach(&l);
	if (!ret)
		ret = laying_set(&l);
	if (!ret)
		ret = laying_confirm(&l);
	return laying_end(&l, ret, failure);
}

/*
 * Clears the row of a tree at a router.  Return: 1; 0: the router has no such
 * row; -errno.
 */
static int row_clear(struct laying *l, const struct angara_found *found, u32 tree)
{
	struct angara_mgmt_row row;
	u32 answered;
	int ret = angara_manage_get(l->m, &found->path, ANGARA_MGMT_ROW, tree, &row,
				    sizeof(row), &answered);

	if (ret == -ENOENT)
		return 0;
	if (!ret)
		ret = ang_manage_clear(l->m, &found->path, tree, le16_to_cpu(row.epoch));
	if (!ret)
		return 1;
	l->fail.left++;
	return laying_fail(l, found->router, answered, ret);
}

ANG_PUBLIC int angara_manage_tree_clear(struct angara_manager *m,
					const struct angara_map *map,
					unsigned int tree,
					struct angara_tree_failure *failure)
{
	int cleared = 0, first = 0;
	struct laying l;
	u32 i;

	if (failure && failure->size != sizeof(*failure))
		return -EINVAL;
	laying_init(&l, m, map);
	for (i = 0; i < map->nrouters; i++) {
		int ret = map->routers[i].state == ANGARA_FOUND_OK ?
			  row_clear(&l, &map->routers[i], tree) : 0;

		if (ret >= 0)
			cleared += ret;
		else if (!first)
			first = ret;
	}
	return laying_end(&l, first ? first : cleared, failure);
}
