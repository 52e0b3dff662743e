// SPDX-License-Identifier: GPL-2.0-only
/* Arguments of ioctls: checked, copied, answered. */
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

/* Copy the number of the descriptor to the process before installing it. */
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

/* A process can delay its page faults: arguments are copied while the device is not entered. */
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
	/* If the caller cannot be told of the context, it gets none. */
	answer = op->answers ? min_t(size_t, ucmd->user_size, op->size) : 0;
	if (fault_in_safe_writeable(ucmd->ubuffer, answer))
		return -EFAULT;
	ret = ioctl_execute(ucmd, op);
	return ret ? ret : ioctl_answer(ucmd, answer);
}

/**
 * ang_ioctl_call() - execute an ioctl
 * @ucmd: its files and the address of its argument
 * @cmd: ANGARA_IOCTL_*
 * @ops: table of the kind of file
 * @num: its entries
 *
 * Return: that of the ioctl; -ENOTTY there is none of this number; -ENODEV,
 * -ESTALE the device is gone or was stopped; -EINVAL, -E2BIG the argument is
 * shorter than that of the first version, or longer than known and not zero
 * there; -EFAULT.
 * Context: process; may sleep.
 */
long ang_ioctl_call(struct ang_ucmd *ucmd, unsigned int cmd,
		    const struct ang_ioctl_op *ops, size_t num)
{
	unsigned int nr = _IOC_NR(cmd);

	if (nr >= num || cmd != _IO(ANGARA_IOC_TYPE, nr) || !ops[nr].execute)
		return -ENOTTY;
	/*
	 * A device that is gone is reported before errors of the argument. This
	 * is checked again below.
	 */
	return ang_handle_glance(ucmd->h) ?: ioctl_run(ucmd, &ops[nr]);
}
