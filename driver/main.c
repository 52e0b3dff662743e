// SPDX-License-Identifier: GPL-2.0-only
/*
 * Angara adapter: module, character devices, table of ioctls.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/angara_nl.h>
#include <linux/user_namespace.h>

#include "ang_file.h"
#include "watch.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(angara_packet);

dev_t ang_devt;

static ssize_t fabric_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", to_ang_dev(dev)->graph->text);
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
 * @cred: out: its domain's partition, or the user's own
 */
void ang_file_cred(struct ang_file *file, struct ang_cred *cred)
{
	struct ang_domain *dom = ang_file_domain(file);

	cred->pkey = dom ? dom->pkey : ang_default_pkey();
	/* Not being an administrator is nothing to audit: most need not be. */
	cred->admin = ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

static int ioctl_query(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_dev *adev = ucmd->h->adev;
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
	cmd->max_trees = adev->own.rows.num;
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
	struct angara_domain_create domain_create;
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
static const struct ioctl_op file_ops[] = {
	IOCTL_OP(ANGARA_IOCTL_QUERY, ioctl_query,
		 struct angara_query, caps, true),
	IOCTL_OP(ANGARA_IOCTL_DOMAIN_CREATE, ang_ioctl_domain_create,
		 struct angara_domain_create, watch_bytes, true),
	IOCTL_OP(ANGARA_IOCTL_CTX_CREATE, ang_ioctl_ctx_create,
		 struct angara_ctx_create, db_offset, true),
	IOCTL_OP(ANGARA_IOCTL_MR_REG, ang_ioctl_mr_reg,
		 struct angara_mr_register, key, true, .enters = true),
	IOCTL_OP(ANGARA_IOCTL_MR_DEREG, ang_ioctl_mr_dereg,
		 struct angara_mr_deregister, key, false, .enters = true),
	IOCTL_OP(ANGARA_IOCTL_TREE_SET, ang_ioctl_tree_set,
		 struct angara_tree_set, row, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_GET, ang_ioctl_tree_get,
		 struct angara_tree_get, delegated, true),
	IOCTL_OP(ANGARA_IOCTL_TREE_CLEAR, ang_ioctl_tree_clear,
		 struct angara_tree_clear, router, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_DELEGATE, ang_ioctl_tree_delegate,
		 struct angara_tree_delegate, pkey, false),
	IOCTL_OP(ANGARA_IOCTL_TREE_CHECK, ang_ioctl_tree_check,
		 struct angara_tree_verify, nodes, true),
};

static const struct ioctl_op uctx_ops[] = {
	IOCTL_OP(ANGARA_IOCTL_JOIN, ang_ioctl_join,
		 struct angara_join, place, false),
	IOCTL_OP(ANGARA_IOCTL_LEAVE, ang_ioctl_leave,
		 struct angara_join, place, false),
	IOCTL_OP(ANGARA_IOCTL_KICK, ang_ioctl_kick,
		 struct angara_kick, flags, false),
	IOCTL_OP(ANGARA_IOCTL_EVENTFD, ang_ioctl_eventfd,
		 struct angara_eventfd, reserved, false),
};

static int ioctl_execute(struct ang_ucmd *ucmd, const struct ioctl_op *op)
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

/* A process learns of a descriptor first, and then gets it. */
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
	ret = ioctl_execute(ucmd, op);
	return ret ? ret : ioctl_answer(ucmd, answer);
}

static long ioctl_call(struct ang_ucmd *ucmd, unsigned int cmd,
		       const struct ioctl_op *ops, size_t num)
{
	unsigned int nr = _IOC_NR(cmd);

	if (nr >= num || cmd != _IO(ANGARA_IOC_TYPE, nr) || !ops[nr].execute)
		return -ENOTTY;
	/* Told before what is wrong with the argument; looked at again later. */
	return ang_handle_glance(ucmd->h) ?: ioctl_run(ucmd, &ops[nr]);
}

static long file_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ang_handle *h = filp->private_data;
	struct ang_ucmd ucmd = {
		.filp = filp,
		.h = h,
		.file = to_ang_file(h),
		.ubuffer = (void __user *)arg,
	};

	return ioctl_call(&ucmd, cmd, file_ops, ARRAY_SIZE(file_ops));
}

static long uctx_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ang_handle *h = filp->private_data;
	struct ang_ucmd ucmd = {
		.filp = filp,
		.h = h,
		.uctx = to_ang_uctx(h),
		.ubuffer = (void __user *)arg,
	};

	return ioctl_call(&ucmd, cmd, uctx_ops, ARRAY_SIZE(uctx_ops));
}

static __poll_t handle_poll(struct file *filp, poll_table *wait,
			    struct ang_uctx *uctx)
{
	struct ang_handle *h = filp->private_data;
	__poll_t events = 0;

	poll_wait(filp, &h->wait, wait);
	if (ang_handle_enter(h))
		return EPOLLHUP | EPOLLERR;
	if (READ_ONCE(h->adev->broken))
		events = EPOLLERR;
	else if (uctx)
		events = ang_uctx_poll(uctx);
	ang_dev_exit(h->adev);
	return events;
}

static __poll_t file_poll(struct file *filp, poll_table *wait)
{
	return handle_poll(filp, wait, NULL);
}

static __poll_t uctx_poll(struct file *filp, poll_table *wait)
{
	return handle_poll(filp, wait, to_ang_uctx(filp->private_data));
}

/* Contexts of the domain keep the file open, so there are none any more. */
static bool file_take(struct ang_handle *h)
{
	struct ang_file *file = to_ang_file(h);

	if (file->dom && !ang_domain_take(file->dom))
		return false;
	/* A device that was stopped has forgotten its rows. */
	if (!ang_dev_stopped(h->adev))
		ang_file_disown_trees(file);
	return true;
}

static void file_free(struct ang_handle *h)
{
	struct ang_file *file = to_ang_file(h);

	if (file->dom)
		ang_domain_free(file->dom);
	ang_file_owned_free(file);
	kfree(file);
}

static const struct ang_handle_ops file_handle_ops = {
	.take = file_take,
	.free = file_free,
};

static int file_open(struct inode *inode, struct file *filp)
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
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->owned);
	ang_handle_init(&file->h, adev, &file_handle_ops);
	filp->private_data = &file->h;
	ang_dev_exit(adev);
	return nonseekable_open(inode, filp);

err_free:
	kfree(file);
err_exit:
	ang_dev_exit(adev);
	return ret;
}

static int handle_release(struct inode *inode, struct file *filp)
{
	ang_handle_release(filp->private_data);
	return 0;
}

const struct file_operations ang_fops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.release = handle_release,
	.unlocked_ioctl = file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = file_poll,
	.mmap = ang_watch_mmap,
};

const struct file_operations ang_uctx_fops = {
	.owner = THIS_MODULE,
	.release = handle_release,
	.unlocked_ioctl = uctx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = uctx_poll,
	.mmap = ang_mmap,
};

static int __init ang_init(void)
{
	int ret;

	ret = ang_watch_start();
	if (ret)
		return ret;
	ret = ang_handle_start();
	if (ret)
		goto err_watch;
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
	ang_handle_stop();
err_watch:
	ang_watch_stop();
	return ret;
}

static void __exit ang_exit(void)
{
	ang_pci_exit();
	ang_debugfs_exit();
	ang_nl_exit();
	ang_handle_stop();
	ang_watch_stop(); /* files that end leave watches to it */
	class_unregister(&ang_class);
	unregister_chrdev_region(ang_devt, ANG_MAX_DEVS);
	rcu_barrier(); /* contexts are freed by a callback in this module */
}

module_init(ang_init);
module_exit(ang_exit);

MODULE_DESCRIPTION("Angara collective-offload adapter");
MODULE_LICENSE("GPL");
ANG_IMPORT_NS();
