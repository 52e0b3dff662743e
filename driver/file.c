// SPDX-License-Identifier: GPL-2.0-only
/* The device class, and open files of /dev/angaraN. */
#include <linux/module.h>
#include <linux/slab.h>

#include "ioctl.h"
#include "watch.h"

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

static const struct ang_ioctl_op file_ioctls[] = {
	ANG_IOCTL_OP(ANGARA_IOCTL_QUERY, ioctl_query,
		 struct angara_query, caps, true),
	ANG_IOCTL_OP(ANGARA_IOCTL_DOMAIN_CREATE, ang_ioctl_domain_create,
		 struct angara_domain_create, watch_bytes, true),
	ANG_IOCTL_OP(ANGARA_IOCTL_CTX_CREATE, ang_ioctl_ctx_create,
		 struct angara_ctx_create, db_offset, true),
	ANG_IOCTL_OP(ANGARA_IOCTL_MR_REG, ang_ioctl_mr_reg,
		 struct angara_mr_register, key, true, .enters = true),
	ANG_IOCTL_OP(ANGARA_IOCTL_MR_DEREG, ang_ioctl_mr_dereg,
		 struct angara_mr_deregister, key, false, .enters = true),
	ANG_IOCTL_OP(ANGARA_IOCTL_TREE_SET, ang_ioctl_tree_set,
		 struct angara_tree_set, row, false),
	ANG_IOCTL_OP(ANGARA_IOCTL_TREE_GET, ang_ioctl_tree_get,
		 struct angara_tree_get, delegated, true),
	ANG_IOCTL_OP(ANGARA_IOCTL_TREE_CLEAR, ang_ioctl_tree_clear,
		 struct angara_tree_clear, router, false),
	ANG_IOCTL_OP(ANGARA_IOCTL_TREE_DELEGATE, ang_ioctl_tree_delegate,
		 struct angara_tree_delegate, pkey, false),
	ANG_IOCTL_OP(ANGARA_IOCTL_TREE_CHECK, ang_ioctl_tree_check,
		 struct angara_tree_verify, nodes, true, .enters = true),
	ANG_IOCTL_OP(ANGARA_IOCTL_MANAGE, ang_ioctl_manage,
		 struct angara_manage, pkt, true),
};

static long file_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ang_handle *h = filp->private_data;
	struct ang_ucmd ucmd = {
		.filp = filp,
		.h = h,
		.file = to_ang_file(h),
		.ubuffer = (void __user *)arg,
	};

	return ang_ioctl_call(&ucmd, cmd, file_ioctls, ARRAY_SIZE(file_ioctls));
}

static __poll_t file_poll(struct file *filp, poll_table *wait)
{
	return ang_handle_poll(filp, wait, NULL);
}

/*
 * Destroys the domain.  The domain has no contexts: a context would keep this
 * file open.
 */
static bool file_take(struct ang_handle *h)
{
	struct ang_file *file = to_ang_file(h);

	if (file->dom && !ang_domain_take(file->dom))
		return false;
	/* A stopped device has no rows any more. */
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

static const struct file_operations file_fops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.release = ang_handle_release,
	.unlocked_ioctl = file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = file_poll,
	.mmap = ang_watch_mmap,
};

static dev_t file_devt;

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

static struct class file_class = {
	.name = "angara",
	.dev_groups = ang_groups,
};

/**
 * ang_file_name() - set the name of a device's file
 * @adev: device, initialized, with a number
 *
 * Return: 0 or -ENOMEM.
 */
int ang_file_name(struct ang_dev *adev)
{
	adev->dev.class = &file_class;
	adev->dev.devt = MKDEV(MAJOR(file_devt), adev->id);
	return dev_set_name(&adev->dev, "angara%u", adev->id);
}

/**
 * ang_file_add() - show a device's file to users
 * @adev: device that has a name
 *
 * Return: 0, undo with cdev_device_del(); or -errno.
 */
int ang_file_add(struct ang_dev *adev)
{
	cdev_init(&adev->cdev, &file_fops);
	adev->cdev.owner = THIS_MODULE;
	return cdev_device_add(&adev->cdev, &adev->dev);
}

int __init ang_file_start(void)
{
	int ret = alloc_chrdev_region(&file_devt, 0, ANG_MAX_DEVS, "angara");

	if (ret)
		return ret;
	ret = class_register(&file_class);
	if (ret)
		unregister_chrdev_region(file_devt, ANG_MAX_DEVS);
	return ret;
}

void ang_file_stop(void)
{
	class_unregister(&file_class);
	unregister_chrdev_region(file_devt, ANG_MAX_DEVS);
}
