// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whoever uses the adapter that KUnit tests play: open files, ioctls, memory.
 *
 * Tests run in threads of the kernel.  These borrow the address space of the
 * process that loads the module, so that there is user memory to speak of.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fake.h"

static struct mm_struct *loader_mm;

int fake_suite_init(struct kunit_suite *suite)
{
	loader_mm = get_task_mm(current);
	return loader_mm ? 0 : -ENODEV;
}

void fake_suite_exit(struct kunit_suite *suite)
{
	mmput(loader_mm);
	loader_mm = NULL;
}

int fake_init(struct kunit *test)
{
	struct fake *f;

	if (!current->mm) {
		mmget(loader_mm); /* the thread's end puts it */
		kthread_use_mm(loader_mm);
	}
	f = fake_new(test);
	if (IS_ERR(f))
		return PTR_ERR(f);
	test->priv = f;
	f->ubuf = fake_user(f, 2 * PAGE_SIZE);
	if (IS_ERR_VALUE(f->ubuf))
		return (long)f->ubuf;
	return vm_munmap(f->ubuf + PAGE_SIZE, PAGE_SIZE);
}

/* Nothing of the core's may be left, wherever the test has ended. */
void fake_exit(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 i;

	if (!f)
		return;
	if (f->creds)
		fake_as_self(f);
	for (i = 0; i < FAKE_FILES; i++)
		if (f->file[i])
			fake_close(f, f->file[i]);
	if (f->registered)
		fake_unregister(f);
	ang_dev_put(f->adev);
	f->adev = NULL;
	root_device_unregister(f->parent);
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	fake_forget(f);
}

unsigned long fake_user(struct fake *f, size_t len)
{
	return vm_mmap(NULL, 0, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
}

void fake_as(struct fake *f, u32 uid, bool admin)
{
	struct cred *creds = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(f->test, creds);
	creds->uid = creds->euid = creds->fsuid = KUIDT_INIT(uid);
	if (!admin)
		cap_clear(creds->cap_effective);
	f->creds = creds;
	f->own_creds = override_creds(creds);
}

void fake_as_self(struct fake *f)
{
	revert_creds(f->own_creds);
	put_cred(f->creds);
	f->creds = NULL;
}

/* Not through a path: the file is just what the core gets to see of it. */
struct file *fake_open(struct fake *f)
{
	struct inode *inode = kzalloc(sizeof(*inode), GFP_KERNEL);
	struct file *filp = kzalloc(sizeof(*filp), GFP_KERNEL);
	int ret = -ENOMEM;
	u32 i;

	if (!inode || !filp)
		goto err_free;
	inode->i_cdev = &f->adev->cdev;
	for (i = 0; f->file[i]; i++)
		if (i == FAKE_FILES - 1)
			goto err_free;
	ret = f->adev->cdev.ops->open(inode, filp);
	if (ret)
		goto err_free;
	kfree(inode);
	filp->f_op = f->adev->cdev.ops;
	f->file[i] = filp;
	return filp;

err_free:
	kfree(inode);
	kfree(filp);
	return ERR_PTR(ret);
}

void fake_close(struct fake *f, struct file *filp)
{
	u32 i;

	filp->f_op->release(NULL, filp);
	for (i = 0; i < FAKE_FILES; i++)
		if (f->file[i] == filp)
			f->file[i] = NULL;
	kfree(filp);
}

__poll_t fake_poll(struct file *filp, struct poll_table_struct *wait)
{
	return filp->f_op->poll(filp, wait);
}

/* The argument ends where user memory does. */
long fake_ioctl(struct fake *f, struct file *filp, u32 cmd, void *arg, size_t len)
{
	unsigned long at = f->ubuf + PAGE_SIZE - ALIGN(len, 8);
	long ret;

	if (copy_to_user((void __user *)at, arg, len))
		return -EFAULT;
	ret = filp->f_op->unlocked_ioctl(filp, cmd, at);
	if (copy_from_user(arg, (void __user *)at, len))
		return -EFAULT;
	return ret;
}

int fake_ctx(struct fake *f, struct file *filp, u32 sq, u32 cq)
{
	struct angara_ctx_create c = {
		.size = sizeof(c), .sq_entries = sq, .cq_entries = cq,
	};
	int ret = fake_ioctl(f, filp, ANGARA_IOCTL_CTX_CREATE, &c, sizeof(c));

	return ret ? ret : c.ctx;
}

/* A file with the smallest context. */
struct file *fake_open_ctx(struct fake *f)
{
	struct file *filp = fake_open(f);

	KUNIT_ASSERT_FALSE(f->test, IS_ERR(filp));
	KUNIT_ASSERT_LE(f->test, 0, fake_ctx(f, filp, ANG_MIN_ENTRIES,
					     ANG_MIN_ENTRIES));
	return filp;
}

int fake_mr(struct fake *f, struct file *filp, u64 addr, u64 len, u32 flags,
	    u32 *key)
{
	struct angara_mr_register r = {
		.size = sizeof(r), .flags = flags, .addr = addr, .length = len,
		.access = ANGARA_ACCESS_ALL, .key = *key,
	};
	int ret = fake_ioctl(f, filp, ANGARA_IOCTL_MR_REG, &r, sizeof(r));

	*key = r.key;
	return ret;
}

int fake_dereg(struct fake *f, struct file *filp, u32 key)
{
	struct angara_mr_deregister d = { .size = sizeof(d), .key = key };

	return fake_ioctl(f, filp, ANGARA_IOCTL_MR_DEREG, &d, sizeof(d));
}

/* A tree of one node: this one is the root, with one participant. */
int fake_tree_set(struct fake *f, struct file *filp, u32 tree, u32 pkey,
		  u32 flags)
{
	struct angara_tree_set s = {
		.size = sizeof(s), .flags = flags,
		.row = {
			.tree = tree, .is_root = 1, .to_root = ANGARA_PORT_NONE,
			.pe = 1, .pkey = pkey,
		},
	};

	return fake_ioctl(f, filp, ANGARA_IOCTL_TREE_SET, &s, sizeof(s));
}

int fake_tree_clear(struct fake *f, struct file *filp, u32 tree, u32 flags)
{
	struct angara_tree_clear c = {
		.size = sizeof(c), .flags = flags, .tree = tree,
	};

	return fake_ioctl(f, filp, ANGARA_IOCTL_TREE_CLEAR, &c, sizeof(c));
}

int fake_tree_get(struct fake *f, struct file *filp, u32 tree,
		  struct angara_tree_get *get)
{
	*get = (struct angara_tree_get){
		.size = sizeof(*get), .row.tree = tree,
	};
	return fake_ioctl(f, filp, ANGARA_IOCTL_TREE_GET, get, sizeof(*get));
}

int fake_delegate(struct fake *f, struct file *filp, u32 tree, u32 pkey)
{
	struct angara_tree_delegate d = {
		.size = sizeof(d), .tree = tree, .pkey = pkey,
	};

	return fake_ioctl(f, filp, ANGARA_IOCTL_TREE_DELEGATE, &d, sizeof(d));
}
