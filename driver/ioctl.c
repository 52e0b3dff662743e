// SPDX-License-Identifier: GPL-2.0-only
/* Ioctls: check and copy the argument, execute, copy the answer back. */
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/uaccess.h>

#include "ioctl.h"

static int ioctl_execute(struct ang_ucmd *ucmd, const struct ang_ioctl_op *op)
{
	int ret;

	if (op->enters)
		return op->execute(ucmd, ucmd->cmd);
	ret = ang_handle_enter(ucmd->h);
	if (ret)
		return ret;
	ret = op->execute(ucmd, ucmd->cmd);
	ang_dev_exit(ucmd->h->adev);
	return ret;
}

/* Copy the number of a new descriptor to the process, then install the file. */
static int ioctl_answer(struct ang_ucmd *ucmd, size_t answer)
{
	bool faults = copy_to_user(ucmd->ubuffer, ucmd->cmd, answer);

	if (!ucmd->new_file)
		return faults ? -EFAULT : 0;
	if (faults) {
		put_unused_fd(ucmd->new_fd);
		fput(ucmd->new_file);
		return -EFAULT;
	}
	fd_install(ucmd->new_fd, ucmd->new_file);
	return 0;
}

/*
 * Executes an ioctl. Copies arguments while the device is not entered, since a
 * process can delay page faults on its memory.
 */
static int ioctl_run(struct ang_ucmd *ucmd, const struct ang_ioctl_op *op)
{
	union ang_ioctl_arg buf;
	size_t answer;
	int ret;

	if (get_user(ucmd->user_size, (u32 __user *)ucmd->ubuffer))
		return -EFAULT;
	if (ucmd->user_size < op->min_size)
		return -EINVAL;
	if (ucmd->user_size > PAGE_SIZE)
		return -E2BIG;
	ucmd->cmd = &buf;
	ret = copy_struct_from_user(ucmd->cmd, op->size, ucmd->ubuffer,
				    ucmd->user_size);
	if (ret)
		return ret;
	/* Check that the answer can be written before anything is created. */
	answer = op->answers ? min_t(size_t, ucmd->user_size, op->size) : 0;
	if (fault_in_safe_writeable(ucmd->ubuffer, answer))
		return -EFAULT;
	ret = ioctl_execute(ucmd, op);
	return ret ? ret : ioctl_answer(ucmd, answer);
}

/**
 * ang_ioctl_call() - execute an ioctl
 * @ucmd: the ioctl's files and the address of its argument
 * @cmd: ANGARA_IOCTL_*
 * @ops: table of ioctls of the kind of file
 * @num: number of entries of @ops
 *
 * Return: the result of the ioctl; -ENOTTY no ioctl has this number; -ENODEV
 * the device is gone; -ESTALE it was stopped; -EINVAL the argument is shorter
 * than in its first version; -E2BIG it is longer than this kernel knows, and
 * not zero beyond that; -EFAULT.
 * Context: process; may sleep.
 */
long ang_ioctl_call(struct ang_ucmd *ucmd, unsigned int cmd,
		    const struct ang_ioctl_op *ops, size_t num)
{
	unsigned int nr = _IOC_NR(cmd);

	if (nr >= num || cmd != _IO(ANGARA_IOC_TYPE, nr) || !ops[nr].execute)
		return -ENOTTY;
	/*
	 * If the device is gone and the argument is wrong, too, report that the
	 * device is gone.  ang_handle_enter() checks the device again.
	 */
	return ang_handle_glance(ucmd->h) ?: ioctl_run(ucmd, &ops[nr]);
}
