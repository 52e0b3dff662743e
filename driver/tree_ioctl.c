// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees, as an open file sees them: rows that it owns, and membership.
 */
#include "ang_file.h"
#include "trace.h"

int ang_ioctl_tree_set(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_file *file = ucmd->file;
	struct angara_tree_set *cmd = arg;
	struct ang_domain *dom = ang_file_domain(file);
	struct ang_cred cred;
	u64 serial = 0, job = 0;
	int ret;

	if (cmd->flags & ~(ANGARA_TREE_OWNED | ANGARA_TREE_JOB) ||
	    cmd->row.reserved)
		return -EOPNOTSUPP;
	if (cmd->flags & ANGARA_TREE_JOB) {
		if (!dom)
			return -ENXIO;
		if (!dom->job)
			return -EINVAL;
		job = dom->job;
	}
	ang_file_cred(file, &cred);

	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	ret = ang_dev_tree_set(file->h.adev, &cred, &cmd->row, job, &serial);
	if (serial && (cmd->flags & ANGARA_TREE_OWNED))
		file->owned[cmd->row.tree] = serial;
	mutex_unlock(&file->lock);
	return ret;
}

/**
 * ang_file_disown_trees() - clear the rows that go with a file
 * @file: file that is being closed; its device is entered
 */
void ang_file_disown_trees(struct ang_file *file)
{
	u32 tree;

	for (tree = 0; tree < file->h.adev->rows.num; tree++)
		if (file->owned[tree])
			ang_dev_tree_disown(file->h.adev, tree, file->owned[tree]);
}

int ang_ioctl_tree_get(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_get *cmd = arg;
	struct ang_cred cred;

	if (cmd->flags)
		return -EOPNOTSUPP;
	ang_file_cred(ucmd->file, &cred);
	return ang_dev_tree_get(ucmd->h->adev, &cred, cmd);
}

/* Closing the file would do as much, so it needs no other right. */
static int clear_owned(struct ang_file *file, u32 tree)
{
	int ret = -ENOENT;

	if (tree >= file->h.adev->rows.num)
		return -EINVAL;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	if (file->owned[tree])
		ret = ang_dev_tree_disown(file->h.adev, tree, file->owned[tree]);
	file->owned[tree] = 0;
	mutex_unlock(&file->lock);
	return ret;
}

int ang_ioctl_tree_clear(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_tree_clear *cmd = arg;
	struct ang_domain *dom = ang_file_domain(ucmd->file);
	struct ang_cred cred;

	if (cmd->flags & ~ANGARA_TREE_CLEAR_OWNED || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->flags & ANGARA_TREE_CLEAR_OWNED)
		return clear_owned(ucmd->file, cmd->tree);
	ang_file_cred(ucmd->file, &cred);
	return ang_dev_tree_clear(ucmd->h->adev, &cred, cmd->tree,
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

	if (cmd->flags)
		return -EOPNOTSUPP;
	ang_file_cred(ucmd->file, &cred);
	return ang_dev_tree_check(ucmd->h->adev, &cred, cmd);
}

/* Return: 1, 0, or -EINTR. */
static int row_is_set(struct ang_dev *adev, u32 tree)
{
	int set;

	if (mutex_lock_killable(&adev->tree_lock))
		return -EINTR;
	set = adev->rows.entry[tree].set;
	mutex_unlock(&adev->tree_lock);
	return set;
}

static int membership(struct ang_ucmd *ucmd, const struct angara_join *cmd,
		      u8 opcode)
{
	struct ang_uctx *uctx = ucmd->uctx;
	struct ang_dev *adev = ucmd->h->adev;
	struct angara_adm_cmd adm = { .opcode = opcode };
	struct angara_adm_cpl cpl;
	int ret;

	ret = ang_join_check(&adev->rows, cmd, opcode, &adm.place);
	if (ret)
		return ret;
	ret = row_is_set(adev, cmd->tree);
	if (ret <= 0)
		return ret ? ret : -ENOENT;
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
	int ret = membership(ucmd, arg, ANGARA_ADM_JOIN);

	return ret == -EEXIST ? -EALREADY : ret;
}

int ang_ioctl_leave(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_join *cmd = arg;
	int ret = membership(ucmd, cmd, ANGARA_ADM_LEAVE);

	/* The device means the membership, if it is not the row that is absent. */
	if (ret == -ENOENT && row_is_set(ucmd->h->adev, cmd->tree) > 0)
		return -ENOTCONN;
	return ret;
}
