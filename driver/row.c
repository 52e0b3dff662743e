// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Access rights to the rows of a router's collective routing table. */
#include <linux/errno.h>

#include "ang_row.h"

/* May the caller program a row whose present or new partition is @pkey? */
static bool may_program(const struct ang_cred *cred,
			const struct ang_tree_entry *entry, u32 pkey)
{
	return cred->admin || (ang_cred_owns(cred, entry->delegated) &&
			       ang_cred_owns(cred, pkey));
}

/* May the caller's job clear a row that is set? */
static bool may_clear_job(const struct ang_cred *cred,
			  const struct ang_tree_entry *entry, u64 job)
{
	return cred->admin || !entry->job || entry->job == job;
}

/**
 * ang_row_router() - get the router that a command names
 * @topo: fabric
 * @node: node whose device got the command
 * @flags: flags of the command; only ANGARA_TREE_ROUTER is used
 * @router: in: field of the command; out: the router, @node without the flag
 *
 * Return: 0; -EOPNOTSUPP @router is not 0, but the flag is missing; -EINVAL
 * there is no such router; -EPERM another node keeps the router.
 */
int ang_row_router(const struct ang_topo *topo, u32 node, u32 flags, u32 *router)
{
	if (!(flags & ANGARA_TREE_ROUTER)) {
		if (*router)
			return -EOPNOTSUPP;
		*router = node;
		return 0;
	}
	if (*router >= topo->routers)
		return -EINVAL;
	return ang_topo_keeper(topo, *router) == node ? 0 : -EPERM;
}

/**
 * ang_row_may_set() - may a row be programmed?
 * @rows: table
 * @topo: fabric
 * @router: router of the table: the node, or a switch that the node keeps
 * @cred: rights of the caller
 * @row: the row; not checked yet
 *
 * The result does not depend on whether the row is set, which only the device
 * knows.
 * Return: 0 or an error listed at struct angara_tree_set.
 */
int ang_row_may_set(const struct ang_row_table *rows, const struct ang_topo *topo,
		    u32 router, const struct ang_cred *cred,
		    const struct angara_tree_row *row)
{
	if (row->tree >= rows->num)
		return -EINVAL;
	if (!may_program(cred, &rows->entry[row->tree], row->pkey))
		return -EPERM;
	if (ang_tree_row_check(topo, router, row))
		return -EINVAL;
	return 0;
}

/**
 * ang_row_set() - record a row that was programmed
 * @rows: table
 * @row: the row
 * @job: key of the job that may use the tree, 0 for any job of the partition
 * @life: ang_tree_entry.life
 * @owned: a file owns the row
 *
 * Return: the new ang_tree_entry.serial of the row.
 */
u64 ang_row_set(struct ang_row_table *rows, const struct angara_tree_row *row,
		u64 job, __le16 life, bool owned)
{
	struct ang_tree_entry *entry = &rows->entry[row->tree];

	entry->row = *row;
	entry->job = job;
	entry->serial = ++rows->serial;
	entry->life = life;
	entry->set = true;
	entry->owned = owned;
	return entry->serial;
}

/**
 * ang_row_may_get() - may a row be read?
 * @rows: table
 * @cred: rights of the caller
 * @tree: TreeId
 *
 * Return: 0 or an error listed at struct angara_tree_get.
 */
int ang_row_may_get(const struct ang_row_table *rows, const struct ang_cred *cred,
		    u32 tree)
{
	const struct ang_tree_entry *entry;

	if (tree >= rows->num)
		return -EINVAL;
	entry = &rows->entry[tree];
	if (!entry->set && !entry->delegated)
		return -ENOENT;
	if (!ang_cred_sees(cred, entry->set ? entry->row.pkey :
					      entry->delegated))
		return -EPERM;
	return 0;
}

/**
 * ang_row_get() - fill in the state of a row that may be read
 * @rows: table
 * @get: in: row.tree; out: row, state, members, down_node, delegated
 * @cpl: the adapter's answer to ANGARA_ADM_TREE_GET, if the row is set
 */
void ang_row_get(const struct ang_row_table *rows, struct angara_tree_get *get,
		 const struct angara_adm_cpl *cpl)
{
	const struct ang_tree_entry *entry = &rows->entry[get->row.tree];

	get->delegated = entry->delegated;
	get->members = 0;
	get->down_node = 0;
	if (!entry->set) {
		get->state = ANGARA_TREE_STATE_UNSET;
		get->row = (struct angara_tree_row){ .tree = get->row.tree };
		return;
	}
	get->row = entry->row;
	get->state = cpl->row.state;
	get->members = cpl->row.members;
	if (cpl->row.state == ANGARA_TREE_STATE_DOWN)
		get->down_node = le32_to_cpu(cpl->value);
}

/**
 * ang_row_may_clear() - may a row be cleared?
 * @rows: table
 * @cred: rights of the caller
 * @tree: TreeId
 * @job: key of the caller's job, 0 for none
 *
 * Return: 0 or an error listed at struct angara_tree_clear.
 */
int ang_row_may_clear(const struct ang_row_table *rows, const struct ang_cred *cred,
		      u32 tree, u64 job)
{
	const struct ang_tree_entry *entry;

	if (tree >= rows->num)
		return -EINVAL;
	entry = &rows->entry[tree];
	if (!may_program(cred, entry,
			 entry->set ? entry->row.pkey : entry->delegated))
		return -EPERM;
	if (!entry->set)
		return -ENOENT;
	return may_clear_job(cred, entry, job) ? 0 : -EPERM;
}

/** ang_row_is() - is the row set, and was it last programmed as @serial? */
bool ang_row_is(const struct ang_row_table *rows, u32 tree, u64 serial)
{
	return rows->entry[tree].set && rows->entry[tree].serial == serial;
}

/**
 * ang_row_gather() - copy a row for a check of the whole tree
 * @rows: table
 * @cred: rights of the caller
 * @tree: TreeId, in range
 * @row: out: the row, if it is set
 *
 * Return: 0; -EPERM the row belongs to another partition.
 */
int ang_row_gather(const struct ang_row_table *rows, const struct ang_cred *cred,
		   u32 tree, struct angara_tree_row *row)
{
	const struct ang_tree_entry *entry = &rows->entry[tree];

	if (!entry->set)
		return 0;
	if (!ang_cred_sees(cred, entry->row.pkey))
		return -EPERM;
	*row = entry->row;
	return 0;
}

/** ang_row_to_hw() - convert a row to the adapter's format */
void ang_row_to_hw(const struct angara_tree_row *row, struct angara_hw_row *hw)
{
	*hw = (struct angara_hw_row){
		.tree = row->tree,
		.is_root = row->is_root,
		.to_root = row->to_root,
		.port_sum = row->port_sum,
		.ports = cpu_to_le64(row->ports),
		.pe = cpu_to_le16(row->pe),
		.pkey = cpu_to_le32(row->pkey),
		.epoch = cpu_to_le16(row->epoch),
	};
}

/* Is the row that the device reports the one that was recorded? */
static bool is_recorded(const struct ang_tree_entry *entry,
			const struct angara_tree_row *row, __le16 life)
{
	if (!entry->set)
		return false;
	return entry->life ? entry->life == life :
			     !memcmp(&entry->row, row, sizeof(*row));
}

/**
 * ang_row_refresh() - make the record of a row agree with the device
 * @rows: table
 * @topo: fabric
 * @router: router of the table
 * @tree: TreeId, in range
 * @ret: what the command ANGARA_ADM_TREE_GET returned
 * @cpl: the device's answer, if @ret is 0
 *
 * In-band management sets and clears rows without the driver.  A row that was
 * set in-band is recorded without a job, so contexts of any job may join, and no
 * file owns it.
 * Return: 0 the row is set; -ENOENT it is not set, or the answer is no valid row
 * of that tree; for another error in @ret: @ret, and the record is not changed.
 */
int ang_row_refresh(struct ang_row_table *rows, const struct ang_topo *topo,
		    u32 router, u32 tree, int ret, const struct angara_adm_cpl *cpl)
{
	struct ang_tree_entry *entry = &rows->entry[tree];
	struct angara_tree_row row;

	if (ret && ret != -ENOENT)
		return ret;
	if (!ret) {
		ang_tree_row_in(&row, &cpl->row);
		if (is_recorded(entry, &row, cpl->row.life)) {
			entry->life = cpl->row.life;
			return 0;
		}
	}
	entry->set = false;
	if (ret || row.tree != tree || !row.pkey || !cpl->row.life ||
	    ang_tree_row_check(topo, router, &row))
		return -ENOENT;
	ang_row_set(rows, &row, 0, cpl->row.life, false);
	return 0;
}

/**
 * ang_join_check() - check a JOIN or LEAVE command of a context
 * @rows: table; the caller need not hold its lock
 * @cmd: argument of ANGARA_IOCTL_JOIN or ANGARA_IOCTL_LEAVE
 * @opcode: ANGARA_ADM_JOIN or ANGARA_ADM_LEAVE
 * @place: out: angara_adm_cmd.place for the admin command
 *
 * Return: 0 or an error listed at struct angara_join.  Only the device checks
 * whether the row has such a place.
 */
int ang_join_check(const struct ang_row_table *rows, const struct angara_join *cmd,
		   u8 opcode, u8 *place)
{
	u32 flags = opcode == ANGARA_ADM_JOIN ? ANGARA_JOIN_PLACE : 0;

	if (cmd->flags & ~flags || (cmd->place && !cmd->flags))
		return -EOPNOTSUPP;
	if (cmd->tree >= rows->num || cmd->place >= ANGARA_MAX_LOCAL)
		return -EINVAL;
	*place = cmd->flags ? (u8)(cmd->place + 1) : 0;
	return 0;
}

/**
 * ang_adm_errno() - errno of a status of an admin command
 * @status: ANGARA_ADM_ST_*
 *
 * Return: 0; -EINVAL PARAM and RULE, -EEXIST EXISTS, -ENOENT ABSENT, -ENOSPC
 * FULL, -EPERM PARTITION, -ENETDOWN DOWN, -EOPNOTSUPP SEALED, -EIO all others.
 */
int ang_adm_errno(u8 status)
{
	static const int errnos[] = {
		[ANGARA_ADM_ST_OK]		= 0,
		[ANGARA_ADM_ST_OPCODE]		= -EIO,
		[ANGARA_ADM_ST_PARAM]		= -EINVAL,
		[ANGARA_ADM_ST_EXISTS]		= -EEXIST,
		[ANGARA_ADM_ST_ABSENT]		= -ENOENT,
		[ANGARA_ADM_ST_FULL]		= -ENOSPC,
		[ANGARA_ADM_ST_PARTITION]	= -EPERM,
		[ANGARA_ADM_ST_DOWN]		= -ENETDOWN,
		[ANGARA_ADM_ST_DMA]		= -EIO,
		[ANGARA_ADM_ST_RULE]		= -EINVAL,
		[ANGARA_ADM_ST_SEALED]		= -EOPNOTSUPP,
	};

	return status <= ANGARA_ADM_ST_SEALED ? errnos[status] : -EIO;
}
