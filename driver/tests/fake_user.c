// SPDX-License-Identifier: GPL-2.0-only
/*
 * What KUnit tests do as users of the emulated adapter: open files, call ioctls,
 * allocate memory.
 *
 * Tests run in threads of the kernel.  These threads use the address space of
 * the process that loads the module, so user memory is available.
 */
#include <linux/anon_inodes.h>
#include <linux/delay.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

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
		mmget(loader_mm); /* the reference is dropped when the thread ends */
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

/* Checks that the core has freed all objects, even after a failed test. */
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

/**
 * struct closer - closes a file
 * @work: work item, since only a kernel thread may call __fput_sync()
 * @filp: file to close
 */
struct closer {
	struct work_struct work;
	struct file *filp;
};

static void closer_work(struct work_struct *work)
{
	__fput_sync(container_of(work, struct closer, work)->filp);
}

void fake_fput(struct file *filp)
{
	struct closer c = { .filp = filp };

	INIT_WORK_ONSTACK(&c.work, closer_work);
	schedule_work(&c.work);
	flush_work(&c.work);
	destroy_work_on_stack(&c.work);
}

static int file_keep(struct fake *f, struct file *filp)
{
	u32 i;

	for (i = 0; i < FAKE_FILES; i++)
		if (!f->file[i]) {
			f->file[i] = filp;
			return 0;
		}
	return -ENFILE;
}

static u32 file_place(struct fake *f, struct file *filp)
{
	u32 i;

	for (i = 0; i < FAKE_FILES - 1 && f->file[i] != filp; i++)
		;
	return i;
}

struct file *fake_ctx_of(struct fake *f, struct file *filp)
{
	return f->ctx[file_place(f, filp)];
}

/*
 * The device has no path in the file system: call the core's open() with a
 * temporary struct file, then make an anonymous file with the same private data.
 */
struct file *fake_open(struct fake *f)
{
	const struct file_operations *ops = f->adev->cdev.ops;
	struct inode *inode = kzalloc(sizeof(*inode), GFP_KERNEL);
	struct file *draft = kzalloc(sizeof(*draft), GFP_KERNEL);
	struct file *filp = ERR_PTR(-ENOMEM);
	int ret;

	if (!inode || !draft)
		goto out_free;
	inode->i_cdev = &f->adev->cdev;
	ret = ops->open(inode, draft);
	if (ret) {
		filp = ERR_PTR(ret);
		goto out_free;
	}
	filp = anon_inode_getfile("[angara-test]", ops, draft->private_data,
				  O_RDWR);
	if (IS_ERR(filp)) {
		ops->release(inode, draft);
		goto out_free;
	}
	ret = file_keep(f, filp);
	if (ret) {
		fake_fput(filp);
		filp = ERR_PTR(ret);
	}
out_free:
	kfree(inode);
	kfree(draft);
	return filp;
}

void fake_close_ctx(struct fake *f, struct file *filp)
{
	u32 i = file_place(f, filp);

	if (f->ctx[i])
		fake_fput(f->ctx[i]);
	f->ctx[i] = NULL;
}

/* Closes the context's file, then @filp; other tests cover the other order. */
void fake_close(struct fake *f, struct file *filp)
{
	u32 i = file_place(f, filp);

	fake_close_ctx(f, filp);
	fake_fput(filp);
	f->file[i] = NULL;
}

/*
 * fput() of a kernel thread closes the file in another thread.  Wait for that
 * thread and for the core.
 */
void fake_settle(struct fake *f)
{
	unsigned long end = jiffies + 10 * HZ;
	u32 i, files = 0;

	for (i = 0; i < FAKE_FILES; i++)
		files += !!f->file[i] + !!f->ctx[i];
	for (;;) {
		struct list_head *at;
		u32 listed;

		flush_delayed_fput();
		spin_lock(&f->adev->files_lock);
		listed = 0;
		list_for_each(at, &f->adev->files)
			listed++;
		spin_unlock(&f->adev->files_lock);
		if (listed <= files || time_after(jiffies, end))
			return;
		msleep(20);
	}
}

__poll_t fake_poll(struct file *filp, struct poll_table_struct *wait)
{
	return filp->f_op->poll(filp, wait);
}

/*
 * Places the argument at the end of user memory, to detect accesses beyond it.
 */
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

int fake_domain(struct fake *f, struct file *filp, u32 pkey)
{
	struct angara_domain_create d = {
		.size = sizeof(d), .flags = pkey ? ANGARA_DOMAIN_PKEY : 0,
		.pkey = pkey,
	};

	return fake_ioctl(f, filp, ANGARA_IOCTL_DOMAIN_CREATE, &d, sizeof(d));
}

int fake_ctx_in(struct fake *f, struct file *filp, u32 sq, u32 cq,
		struct angara_ctx_create *c)
{
	int ret;

	*c = (struct angara_ctx_create){
		.size = sizeof(*c), .sq_entries = sq, .cq_entries = cq,
	};
	ret = fake_ioctl(f, filp, ANGARA_IOCTL_CTX_CREATE, c, sizeof(*c));
	if (ret) {
		fake_settle(f);
		return ret;
	}
	fake_close_ctx(f, filp);
	f->ctx[file_place(f, filp)] = fget(c->fd);
	close_fd(c->fd);
	return 0;
}

/*
 * Creates a context in the file's domain, after creating the domain if there is
 * none.
 */
int fake_ctx(struct fake *f, struct file *filp, u32 sq, u32 cq)
{
	int ret, dom = fake_domain(f, filp, 0);
	struct angara_ctx_create c;

	if (dom && dom != -EBUSY)
		return dom;
	ret = fake_ctx_in(f, filp, sq, cq, &c);
	/*
	 * Creating the domain has failed: return that error instead of -ENXIO.
	 */
	if (dom && ret == -ENXIO)
		return dom;
	return ret ? ret : c.ctx;
}

/* Opens a device file and creates a context with the shortest queues. */
struct file *fake_open_ctx(struct fake *f)
{
	struct file *filp = fake_open(f);

	KUNIT_ASSERT_FALSE(f->test, IS_ERR(filp));
	KUNIT_ASSERT_LE(f->test, 0, fake_ctx(f, filp, ANG_MIN_ENTRIES,
					     ANG_MIN_ENTRIES));
	return filp;
}

int fake_mr(struct fake *f, struct file *filp, u64 addr, u64 len, u32 flags,
	    u64 *key)
{
	struct angara_mr_register r = {
		.size = sizeof(r), .flags = flags, .addr = addr, .length = len,
		.access = ANGARA_ACCESS_ALL, .key = *key,
	};
	int ret = fake_ioctl(f, filp, ANGARA_IOCTL_MR_REG, &r, sizeof(r));

	*key = r.key;
	return ret;
}

int fake_dereg(struct fake *f, struct file *filp, u64 key)
{
	struct angara_mr_deregister d = { .size = sizeof(d), .key = key };

	return fake_ioctl(f, filp, ANGARA_IOCTL_MR_DEREG, &d, sizeof(d));
}

/* Sets the row of a tree of one node: the root, with one participant. */
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
