// SPDX-License-Identifier: GPL-2.0-only
/*
 * Angara adapter: module, character devices, table of ioctls.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/angara_nl.h>
#include <linux/user_namespace.h>

#include "ang_file.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(angara_packet);

/* How long close(2) waits for the device to let go of what the file has there. */
#define CLOSE_TIMEOUT	(2 * HZ)

static struct workqueue_struct *ang_wq;

dev_t ang_devt;

static ssize_t fabric_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s", to_ang_dev(dev)->text);
}
static DEVICE_ATTR_RO(fabric);

static struct attribute *ang_attrs[] = {
	&dev_attr_fabric.attr,
	NULL
};
ATTRIBUTE_GROUPS(ang);

struct class ang_class = {
	.name = "angara",
	.dev_groups = ang_groups,
};

/**
 * ang_default_pkey() - the partition that the current user has by right
 *
 * Return: the partition, or 0 if there is none: users of numbers above 2^31
 * would share one with others.
 */
u32 ang_default_pkey(void)
{
	u32 uid = from_kuid(&init_user_ns, current_euid());

	return uid > ANGARA_PKEY_UID_MAX ? 0 : ANGARA_PKEY_UID(uid);
}

/**
 * ang_file_cred() - on whose behalf an ioctl touches trees
 * @file: open file
 * @cred: out: its context's partition, or the user's own
 */
void ang_file_cred(struct ang_file *file, struct ang_cred *cred)
{
	struct ang_uctx *uctx = ang_file_uctx(file);

	cred->pkey = uctx ? uctx->pkey : ang_default_pkey();
	/* Not being an administrator is nothing to audit: most need not be. */
	cred->admin = ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/**
 * ang_file_glance() - is the device of a file still there?
 * @file: open file
 *
 * Takes no lock: a moment later it may be otherwise.
 *
 * Return: 0; -ENODEV the device is gone; -ESTALE it was stopped since the file
 * was opened.
 * Context: any.
 */
int ang_file_glance(const struct ang_file *file)
{
	/* First, as files of a device that goes are stale once it is gone. */
	bool stale = smp_load_acquire(&file->stale);

	if (READ_ONCE(file->adev->gone))
		return -ENODEV;
	return stale ? -ESTALE : 0;
}

/**
 * ang_file_enter() - keep the device of a file from going away
 * @file: open file
 *
 * Return: 0, undo with ang_dev_exit(); -ENODEV the device is gone; -ESTALE it
 * was stopped since the file was opened; -EINTR the caller is killed.
 * Context: process; may sleep.
 */
int ang_file_enter(struct ang_file *file)
{
	int ret = ang_dev_enter(file->adev);

	if (ret)
		return ret == -ENODEV || ret == -EINTR ? ret : -ESTALE;
	if (!file->stale)
		return 0;
	ang_dev_exit(file->adev);
	return -ESTALE;
}

static int ioctl_query(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_dev *adev = ucmd->file->adev;
	struct angara_query *cmd = arg;

	if (cmd->flags)
		return -EOPNOTSUPP;
	cmd->abi = ANGARA_ABI_VERSION;
	cmd->node = adev->node;
	cmd->nodes = adev->nodes;
	cmd->ports = adev->ports;
	cmd->fabric_id = adev->fabric_id;
	cmd->max_contexts = adev->max_ctxs;
	cmd->max_sq_entries = ANG_MAX_SQ_ENTRIES;
	cmd->max_cq_entries = ANG_MAX_CQ_ENTRIES;
	cmd->max_mrs = ANG_MAX_MRS;
	cmd->max_op_bytes = ANGARA_MAX_OP_BYTES;
	cmd->pkey = ang_default_pkey();
	cmd->caps = adev->caps | ANGARA_CAP_MSG;
	cmd->max_msg_bytes = ANG_MAX_MSG_BYTES;
	cmd->max_trees = adev->rows.num;
	return 0;
}

/**
 * struct ioctl_op - one ioctl
 * @size: bytes of the argument
 * @min_size: bytes of its first published version
 * @answers: the argument is written back
 * @enters: @execute enters the device by itself
 * @execute: does it; the device is entered, unless @enters
 */
struct ioctl_op {
	size_t size;
	size_t min_size;
	bool answers;
	bool enters;
	int (*execute)(struct ang_ucmd *ucmd, void *arg);
};

#define IOCTL_OP(_ioctl, _fn, _struct, _last, _answers, ...)		\
	[_IOC_NR(_ioctl)] = {						\
		.size = sizeof(_struct) +				\
			BUILD_BUG_ON_ZERO(sizeof(union cmd_buffer) <	\
					  sizeof(_struct)),		\
		.min_size = offsetofend(_struct, _last),		\
		.answers = _answers,					\
		.execute = _fn,						\
		__VA_ARGS__						\
	}

union cmd_buffer {
	struct angara_query query;
	struct angara_ctx_create ctx_create;
	struct angara_mr_register mr_reg;
	struct angara_mr_deregister mr_dereg;
	struct angara_tree_set tree_set;
	struct angara_tree_get tree_get;
	struct angara_tree_clear tree_clear;
	struct angara_tree_delegate tree_delegate;
	struct angara_tree_verify tree_check;
	struct angara_join join;
	struct angara_kick kick;
	struct angara_eventfd eventfd;
};

/* The last member is that of the first published version, for ever. */
static const struct ioctl_op ioctl_ops[] = {
	IOCTL_OP(ANGARA_IOCTL_QUERY, ioctl_query,
		 struct angara_query, caps, true),
	IOCTL_OP(ANGARA_IOCTL_CTX_CREATE, ang_ioctl_ctx_create,
		 struct angara_ctx_create, db_offset, true),
	IOCTL_OP(ANGARA_IOCTL_MR_REG, ang_ioctl_mr_reg,
		 struct angara_mr_register, key, true, .enters = true),
	IOCTL_OP(ANGARA_IOCTL_MR_DEREG, ang_ioctl_mr_dereg,
		 struct angara_mr_deregister, reserved, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_SET, ang_ioctl_tree_set,
		 struct angara_tree_set, row, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_GET, ang_ioctl_tree_get,
		 struct angara_tree_get, delegated, true),
	IOCTL_OP(ANGARA_IOCTL_TREE_CLEAR, ang_ioctl_tree_clear,
		 struct angara_tree_clear, reserved, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_DELEGATE, ang_ioctl_tree_delegate,
		 struct angara_tree_delegate, pkey, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_CHECK, ang_ioctl_tree_check,
		 struct angara_tree_verify, nodes, true),
	IOCTL_OP(ANGARA_IOCTL_JOIN, ang_ioctl_join,
		 struct angara_join, place, false),
	IOCTL_OP(ANGARA_IOCTL_LEAVE, ang_ioctl_leave,
		 struct angara_join, place, false),
	IOCTL_OP(ANGARA_IOCTL_KICK, ang_ioctl_kick,
		 struct angara_kick, flags, false),
	IOCTL_OP(ANGARA_IOCTL_EVENTFD, ang_ioctl_eventfd,
		 struct angara_eventfd, reserved, false),
};

static int execute(struct ang_ucmd *ucmd, const struct ioctl_op *op)
{
	int ret;

	if (op->enters)
		return op->execute(ucmd, ucmd->cmd);
	ret = ang_file_enter(ucmd->file);
	if (ret)
		return ret;
	ret = op->execute(ucmd, ucmd->cmd);
	ang_dev_exit(ucmd->file->adev);
	return ret;
}

/* A process can make its page faults last: the device is not entered then. */
static int ioctl_run(struct ang_ucmd *ucmd, const struct ioctl_op *op)
{
	union cmd_buffer buf;
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
	/* Better no context than one of which the caller cannot be told. */
	answer = op->answers ? min_t(size_t, ucmd->user_size, op->size) : 0;
	if (fault_in_safe_writeable(ucmd->ubuffer, answer))
		return -EFAULT;
	ret = execute(ucmd, op);
	if (ret)
		return ret;
	if (copy_to_user(ucmd->ubuffer, ucmd->cmd, answer))
		return -EFAULT;
	return 0;
}

static long ang_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ang_file *file = filp->private_data;
	struct ang_ucmd ucmd = {
		.file = file,
		.ubuffer = (void __user *)arg,
	};
	unsigned int nr = _IOC_NR(cmd);

	if (nr >= ARRAY_SIZE(ioctl_ops) || cmd != _IO(ANGARA_IOC_TYPE, nr))
		return -ENOTTY;
	/* Told before what is wrong with the argument; looked at again later. */
	return ang_file_glance(file) ?: ioctl_run(&ucmd, &ioctl_ops[nr]);
}

static __poll_t ang_poll(struct file *filp, poll_table *wait)
{
	struct ang_file *file = filp->private_data;
	struct ang_uctx *uctx;
	__poll_t events = 0;

	poll_wait(filp, &file->wait, wait);
	if (ang_file_enter(file))
		return EPOLLHUP | EPOLLERR;
	uctx = ang_file_uctx(file);
	if (READ_ONCE(file->adev->broken))
		events = EPOLLERR;
	else if (uctx)
		events = ang_uctx_poll(uctx);
	ang_dev_exit(file->adev);
	return events;
}

static void file_put(struct ang_file *file)
{
	if (refcount_dec_and_test(&file->refs))
		kfree_rcu(file, rcu);
}

/* The context of a stale file is dead already, and its rows are forgotten. */
static void file_end(struct work_struct *work)
{
	struct ang_file *file = container_of(work, struct ang_file, end);
	struct ang_dev *adev = file->adev;
	struct module *owner = adev->ops->owner;

	down_read(&adev->registration_lock);
	while (file->uctx && !ang_uctx_kill(file->uctx)) {
		up_read(&adev->registration_lock);
		wait_event_idle(adev->adm_wait, !READ_ONCE(adev->stopping));
		down_read(&adev->registration_lock);
	}
	ang_file_disown_trees(file);
	spin_lock(&adev->files_lock);
	list_del(&file->entry);
	spin_unlock(&adev->files_lock);
	up_read(&adev->registration_lock);
	if (file->uctx)
		ang_uctx_free(file->uctx);
	put_device(&adev->dev);
	module_put(owner);
	/* When close(2) returns, modules can be unloaded. */
	complete(&file->ended);
	file_put(file);
}

static int ang_open(struct inode *inode, struct file *filp)
{
	struct ang_dev *adev = container_of(inode->i_cdev, struct ang_dev, cdev);
	struct ang_file *file;
	int ret;

	ret = ang_dev_enter(adev);
	if (ret)
		return ret;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file) {
		ret = -ENOMEM;
		goto err_exit;
	}
	if (!try_module_get(adev->ops->owner)) {
		ret = -ENODEV;
		goto err_free;
	}
	get_device(&adev->dev);
	file->adev = adev;
	file->mapping = filp->f_mapping;
	mutex_init(&file->lock);
	init_waitqueue_head(&file->wait);
	refcount_set(&file->refs, 2);
	INIT_WORK(&file->end, file_end);
	init_completion(&file->ended);
	spin_lock(&adev->files_lock);
	list_add_tail(&file->entry, &adev->files);
	spin_unlock(&adev->files_lock);
	filp->private_data = file;
	ang_dev_exit(adev);
	return nonseekable_open(inode, filp);

err_free:
	kfree(file);
err_exit:
	ang_dev_exit(adev);
	return ret;
}

/*
 * A device may take long to answer, or never do so, while a process that dies
 * must not wait: what the file has there is left to a worker after a while.
 */
static int ang_release(struct inode *inode, struct file *filp)
{
	struct ang_file *file = filp->private_data;

	queue_work(ang_wq, &file->end);
	wait_for_completion_timeout(&file->ended, CLOSE_TIMEOUT);
	file_put(file);
	return 0;
}

const struct file_operations ang_fops = {
	.owner = THIS_MODULE,
	.open = ang_open,
	.release = ang_release,
	.unlocked_ioctl = ang_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = ang_poll,
	.mmap = ang_mmap,
};

static int __init ang_init(void)
{
	int ret;

	ang_wq = alloc_workqueue("angara", WQ_UNBOUND, 0);
	if (!ang_wq)
		return -ENOMEM;
	ret = alloc_chrdev_region(&ang_devt, 0, ANG_MAX_DEVS, "angara");
	if (ret)
		goto err_wq;
	ret = class_register(&ang_class);
	if (ret)
		goto err_region;
	ret = ang_nl_init();
	if (ret)
		goto err_class;
	ang_debugfs_init();
	ret = ang_pci_init();
	if (ret)
		goto err_debugfs;
	return 0;

err_debugfs:
	ang_debugfs_exit();
	ang_nl_exit();
err_class:
	class_unregister(&ang_class);
err_region:
	unregister_chrdev_region(ang_devt, ANG_MAX_DEVS);
err_wq:
	destroy_workqueue(ang_wq);
	return ret;
}

static void __exit ang_exit(void)
{
	ang_pci_exit();
	ang_debugfs_exit();
	ang_nl_exit();
	destroy_workqueue(ang_wq); /* files may end late */
	class_unregister(&ang_class);
	unregister_chrdev_region(ang_devt, ANG_MAX_DEVS);
	rcu_barrier(); /* contexts are freed by a callback in this module */
}

module_init(ang_init);
module_exit(ang_exit);

MODULE_DESCRIPTION("Angara collective-offload adapter");
MODULE_LICENSE("GPL");
ANG_IMPORT_NS();
