/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access rights to the rows of a router's collective routing table.  The router
 * is a node, or a switch that a node keeps (programs).
 *
 * The driver and libangara's embedded backend share these rules, so this file
 * includes only headers of the model.  Callers hold the lock of the table.
 */
#ifndef ANG_ROW_H
#define ANG_ROW_H

#include "ang_model.h"		/* only its topologies and tree rules are used */

/**
 * struct ang_cred - rights of a caller that uses a tree
 * @pkey: the caller's partition
 * @admin: the caller may program every tree
 */
struct ang_cred {
	u32 pkey;
	bool admin;
};

static inline bool ang_cred_owns(const struct ang_cred *cred, u32 pkey)
{
	return cred->pkey && cred->pkey == pkey;
}

/* May the caller see objects of partition @pkey? */
static inline bool ang_cred_sees(const struct ang_cred *cred, u32 pkey)
{
	return cred->admin || ang_cred_owns(cred, pkey);
}

/**
 * struct ang_tree_entry - state of a tree on a router
 * @row: the row; valid while @set
 * @job: key of the job that may use the tree, 0 for any job of the partition;
 *	valid while @set; not shown to any process
 * @serial: number of the last programming of the row; unique in the table
 * @life: the device's number for the row (angara_hw_row.life); 0: not known, as
 *	the caller was killed before the device answered; valid while @set
 * @delegated: partition that may program the row, 0 for none
 * @set: the row is programmed
 * @owned: the row is cleared when the file that owns it is closed; valid while
 *	@set; used only to show the row over netlink
 */
struct ang_tree_entry {
	struct angara_tree_row row;
	u64 job;
	u64 serial;
	u32 delegated;
	__le16 life;
	bool set;
	bool owned;
};

/**
 * struct ang_row_table - a router's table
 * @num: number of trees that the router has
 * @entry: by TreeId
 * @serial: ang_tree_entry.serial assigned last
 */
struct ang_row_table {
	u32 num;
	struct ang_tree_entry entry[ANGARA_MAX_TREES];
	u64 serial;
};

int ang_row_router(const struct ang_topo *topo, u32 node, u32 flags, u32 *router);
int ang_row_may_set(const struct ang_row_table *rows, const struct ang_topo *topo,
		    u32 router, const struct ang_cred *cred,
		    const struct angara_tree_row *row);
u64 ang_row_set(struct ang_row_table *rows, const struct angara_tree_row *row,
		u64 job, __le16 life, bool owned);
int ang_row_may_get(const struct ang_row_table *rows, const struct ang_cred *cred,
		    u32 tree);
void ang_row_get(const struct ang_row_table *rows, struct angara_tree_get *get,
		 const struct angara_adm_cpl *cpl);
int ang_row_may_clear(const struct ang_row_table *rows, const struct ang_cred *cred,
		      u32 tree, u64 job);
bool ang_row_is(const struct ang_row_table *rows, u32 tree, u64 serial);
int ang_row_gather(const struct ang_row_table *rows, const struct ang_cred *cred,
		   u32 tree, struct angara_tree_row *row);
void ang_row_to_hw(const struct angara_tree_row *row, struct angara_hw_row *hw);
int ang_row_refresh(struct ang_row_table *rows, const struct ang_topo *topo,
		    u32 router, u32 tree, int ret, const struct angara_adm_cpl *cpl);
int ang_join_check(const struct ang_row_table *rows, const struct angara_join *cmd,
		   u8 opcode, u8 *place);
int ang_adm_errno(u8 status);

#endif /* ANG_ROW_H */
