// SPDX-License-Identifier: GPL-2.0-only
/* Ioctls on trees: set, read and clear rows, own rows, join and leave trees. */
#include <linux/slab.h>

#include "ang_file.h"
#include "trace.h"

/**
 * struct ang_owned - a row to clear when a file is closed
 * @entry: in ang_file.owned
 * @router: router that has the row
 * @tree: TreeId
 * @serial: ang_tree_entry.serial of the row
 */
struct ang_owned {
	struct list_head entry;
	u32 router;
	u32 tree;
	u64 serial;
};

/* Return: the record of a row, NULL if the file does not own the row. */
static struct ang_owned *owned_find(const struct ang_file *file, u32 router,
				    u32 tree)
{
	struct ang_owned *owned;

	lockdep_assert_held(&file->lock);

	list_for_each_entry(owned, &file->owned, entry)
		if (owned->router == router && owned->tree == tree)
			return owned;
	return NULL;
}

static void owned_free(struct ang_owned *owned)
{
	list_del(&owned->entry);
	kfree(owned);
}

/* Adds @owned, and frees the earlier record of the same row. */
static void owned_add(struct ang_file *file, struct ang_owned *owned)
{
	struct ang_owned *old = owned_find(file, owned->router, owned->tree);

	if (old)
		owned_free(old);
	list_add(&owned->entry, &file->owned);
}

/**
 * ang_file_owned_free() - free the records of rows that a file owns
 * @file: file that is being freed
 */
void ang_file_owned_free(struct ang_file *file)
{
	struct ang_owned *owned, *next;

	list_for_each_entry_safe(owned, next, &file->owned, entry)
		owned_free(owned);
}

static int tree_set(struct ang_file *file, const struct angara_tree_set *cmd,
		    u64 job)
{
	struct ang_owned *owned = NULL;
	struct ang_cred cred;
	u64 serial = 0;
	int ret;

	if (cmd->flags & ANGARA_TREE_OWNED) {
		owned = kzalloc(sizeof(*owned), GFP_KERNEL_ACCOUNT);
		if (!owned)
			return -ENOMEM;
	}
	ang_file_cred(file, &cred);
	if (mutex_lock_killable(&file->lock)) {
		kfree(owned);
		return -EINTR;
	}
	ret = ang_dev_tree_set(file->h.adev, &cred, cmd->router, &cmd->row, job,
			       owned ? &serial : NULL);
	if (serial) {
		owned->router = cmd->router;
		owned->tree = cmd->row.tree;
		owned->serial = serial;
		owned_add(file, owned);
		owned = NULL;
	}
	mutex_unlock(&file->lock);
	kfree(owned);
	return ret;
}

int ang_ioctl_tree_set(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_set *cmd = arg;
	struct ang_dev *adev = ucmd->h->adev;
	struct ang_domain *dom = ang_file_domain(ucmd->file);
	u64 job = 0;
	int ret;

	if (cmd->flags & ~(ANGARA_TREE_OWNED | ANGARA_TREE_JOB |
			   ANGARA_TREE_ROUTER) ||
	    cmd->row.reserved || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->flags & ANGARA_TREE_JOB) {
		if (!dom)
			return -ENXIO;
		if (!dom->job)
			return -EINVAL;
		job = dom->job;
	}
	ret = ang_row_router(&adev->graph->topo, adev->node, cmd->flags,
			     &cmd->router);
	return ret ? ret : tree_set(ucmd->file, cmd, job);
}

/**
 * ang_file_disown_trees() - clear the rows that a file owns
 * @file: file that is being closed; its device is entered
 */
void ang_file_disown_trees(struct ang_file *file)
{
	struct ang_owned *owned;

	/* The last reference is gone, so the list needs no lock. */
	list_for_each_entry(owned, &file->owned, entry)
		ang_dev_tree_disown(file->h.adev, owned->router, owned->tree,
				    owned->serial);
}

int ang_ioctl_tree_get(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_get *cmd = arg;
	struct ang_dev *adev = ucmd->h->adev;
	u32 named = cmd->router;
	struct ang_cred cred;
	int ret;

	if (cmd->flags & ~ANGARA_TREE_ROUTER || cmd->reserved)
		return -EOPNOTSUPP;
	ret = ang_row_router(&adev->graph->topo, adev->node, cmd->flags,
			     &cmd->router);
	if (ret)
		return ret;
	ang_file_cred(ucmd->file, &cred);
	ret = ang_dev_tree_get(adev, &cred, cmd);
	cmd->router = named;
	return ret;
}

/*
 * Clears an owned row. The caller needs no further right, since closing the
 * file would clear the row, too.
 */
static int clear_owned(struct ang_file *file, u32 router, u32 tree)
{
	struct ang_owned *owned;
	int ret = -ENOENT;

	if (tree >= file->h.adev->own.rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	owned = owned_find(file, router, tree);
	if (owned) {
		ret = ang_dev_tree_disown(file->h.adev, router, tree,
					  owned->serial);
		/* If the caller is killed, closing its files clears the row. */
		if (ret != -EINTR)
			owned_free(owned);
	}
	mutex_unlock(&file->lock);
	return ret;
}

int ang_ioctl_tree_clear(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_clear *cmd = arg;
	struct ang_dev *adev = ucmd->h->adev;
	struct ang_domain *dom = ang_file_domain(ucmd->file);
	struct ang_cred cred;
	int ret;

	if (cmd->flags & ~(ANGARA_TREE_CLEAR_OWNED | ANGARA_TREE_ROUTER))
		return -EOPNOTSUPP;
	ret = ang_row_router(&adev->graph->topo, adev->node, cmd->flags,
			     &cmd->router);
	if (ret)
		return ret;
	if (cmd->flags & ANGARA_TREE_CLEAR_OWNED)
		return clear_owned(ucmd->file, cmd->router, cmd->tree);
	ang_file_cred(ucmd->file, &cred);
	return ang_dev_tree_clear(adev, &cred, cmd->router, cmd->tree,
				  dom ? dom->job : 0);
}

int ang_ioctl_tree_delegate(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_delegate *cmd = arg;
	struct ang_cred cred;

	if (cmd->flags)
		return -EOPNOTSUPP;
	ang_file_cred(ucmd->file, &cred);
	return ang_dev_tree_delegate(ucmd->h->adev, &cred, cmd->tree,
				     cmd->pkey);
}

int ang_ioctl_tree_check(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_verify *cmd = arg;
	struct ang_cred cred;
	int ret;

	if (cmd->flags)
		return -EOPNOTSUPP;
	ret = ang_handle_enter(ucmd->h);
	if (ret)
		return ret;
	/*
	 * The check may wait for the tree locks of all devices, one after the
	 * other.  Leave this device, so it can be stopped meanwhile.
	 */
	ang_dev_exit(ucmd->h->adev);
	ang_file_cred(ucmd->file, &cred);
	return ang_dev_tree_check(ucmd->h->adev, &cred, cmd);
}

/* Return: 1 if the row is set, else 0; -EINTR the caller is killed. */
static int row_is_set(struct ang_dev *adev, u32 tree)
{
	int set;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	set = adev->own.rows.entry[tree].set;
	mutex_unlock(&adev->tree_lock);
	return set;
}

/*
 * Is a row set?  Before JOIN, ask the device about rows set by in-band
 * management.
 */
static int row_known(struct ang_dev *adev, u32 tree, u8 opcode)
{
	int set;

	if (opcode == ANGARA_ADM_JOIN)
		return ang_dev_tree_learn(adev, tree);
	set = row_is_set(adev, tree);
	if (set < 0)
		return set;
	return set ? 0 : -ENOENT;
}

static int tree_membership(struct ang_ucmd *ucmd, const struct angara_join *cmd,
			   u8 opcode)
{
	struct ang_uctx *uctx = ucmd->uctx;
	struct ang_dev *adev = ucmd->h->adev;
	struct angara_adm_cmd adm = { .opcode = opcode };
	struct angara_adm_cpl cpl;
	int ret;

	ret = ang_join_check(&adev->own.rows, cmd, opcode, &adm.place);
	if (ret)
		return ret;
	ret = row_known(adev, cmd->tree, opcode);
	if (ret)
		return ret;
	adm.ctx = cpu_to_le16((u16)uctx->num);
	adm.tree = (u8)cmd->tree;
	ret = ang_adm_exec(adev, &adm, &cpl);
	if (!ret)
		trace_angara_tree(adev, opcode == ANGARA_ADM_JOIN ?
				  ANG_TRACE_JOIN : ANG_TRACE_LEAVE,
				  cmd->tree, uctx->num);
	return ret;
}

int ang_ioctl_join(struct ang_ucmd *ucmd, void *arg)
{
	int ret = tree_membership(ucmd, arg, ANGARA_ADM_JOIN);

	return ret == -EEXIST ? -EALREADY : ret;
}

int ang_ioctl_leave(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_join *cmd = arg;
	int ret = tree_membership(ucmd, cmd, ANGARA_ADM_LEAVE);

	/*
	 * If the row is set, the status ABSENT means that the context is not a
	 * member.
	 */
	if (ret == -ENOENT && row_is_set(ucmd->h->adev, cmd->tree) > 0)
		return -ENOTCONN;
	return ret;
}
