// SPDX-License-Identifier: GPL-2.0-only
/*
 * Domains: partition and memory regions that the contexts of a file share.  A
 * file has one domain, which is freed with the file.  Each context of the
 * domain keeps that file open.
 */
#include <linux/capability.h>
#include <linux/slab.h>

#include "ang_file.h"
#include "watch.h"

static int domain_pkey(const struct angara_domain_create *cmd, u32 *pkey)
{
	u32 own = ang_default_pkey();

	if (!(cmd->flags & ANGARA_DOMAIN_PKEY)) {
		*pkey = own;
		return own ? 0 : -EPERM;
	}
	if (!cmd->pkey)
		return -EINVAL;
	if (cmd->pkey != own && !capable(CAP_NET_ADMIN))
		return -EPERM;
	*pkey = cmd->pkey;
	return 0;
}

/*
 * Creates a domain.  @out is also set after an error for which
 * ang_adm_undecided() is true: the device may still create the domain.
 */
static int domain_new(struct ang_dev *adev, u32 pkey, u64 job,
		      struct ang_domain **out)
{
	struct ang_domain *dom = kzalloc(sizeof(*dom), GFP_KERNEL_ACCOUNT);
	int ret;

	*out = NULL;
	if (!dom)
		return -ENOMEM;
	dom->adev = adev;
	dom->pkey = pkey;
	dom->job = job;
	dom->slots = ANG_FIRST_MRS;
	refcount_set(&dom->refs, 1);
	mutex_init(&dom->mr_lock);
	xa_init_flags(&dom->mrs, XA_FLAGS_ALLOC);
	ret = ang_watch_init(dom);
	if (ret)
		goto err_free;
	ret = ang_num_alloc(adev, &adev->dom_nums, &dom->num);
	if (ret)
		goto err_watch;
	ret = ang_table_alloc(dom, &dom->mem, dom->slots);
	if (ret)
		goto err_num;
	ret = ang_table_post(dom, ANGARA_ADM_DOMAIN_CREATE, &dom->mem, dom->slots);
	/*
	 * The device may still create the domain; closing the file destroys the
	 * domain.
	 */
	dom->in_doubt = ang_adm_undecided(ret);
	if (!ret || dom->in_doubt) {
		*out = dom;
		return ret;
	}
	if (ret == -EEXIST || ret == -ENOSPC)
		ret = -EBUSY;
	ang_table_free(dom, &dom->mem);
err_num:
	ang_num_free(adev, &adev->dom_nums, dom->num);
err_watch:
	ang_watch_exit(dom);
err_free:
	kfree(dom);
	return ret;
}

int ang_ioctl_domain_create(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_domain_create *cmd = arg;
	struct ang_file *file = ucmd->file;
	struct ang_domain *dom;
	u32 pkey;
	int ret;

	if (cmd->flags & ~ANGARA_DOMAIN_PKEY || cmd->reserved)
		return -EOPNOTSUPP;
	ret = domain_pkey(cmd, &pkey);
	if (ret)
		return ret;
	if (READ_ONCE(file->h.adev->broken))
		return -EIO;

	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	if (file->dom) {
		ret = -EBUSY;
		goto out_unlock;
	}
	ret = domain_new(file->h.adev, pkey, cmd->job, &dom);
	if (dom) {
		cmd->pkey = pkey;
		cmd->watch_offset = ang_mmap_offset(ANG_MAP_WATCH);
		cmd->watch_bytes = ANG_WATCH_BYTES;
		smp_store_release(&file->dom, dom); /* pairs with ang_file_domain() */
	}
out_unlock:
	mutex_unlock(&file->lock);
	return ret;
}

/**
 * ang_domain_take() - destroy a domain on the device, and free its regions
 * @dom: domain that has no contexts on the device, or whose device is stopped
 *
 * Return: true; false: another thread is about to stop the device.
 * Context: process; may sleep.
 */
bool ang_domain_take(struct ang_domain *dom)
{
	struct ang_dev *adev = dom->adev;
	int ret = 0;

	if (!ang_dev_stopped(adev))
		ret = ang_adm_destroy(adev, ANGARA_ADM_DOMAIN_DESTROY, dom->num);
	if (ang_adm_undecided(ret))
		return false;
	if (ret && !(ret == -ENOENT && dom->in_doubt))
		ang_dev_break(adev, "the adapter failed to destroy a domain");
	ang_mrs_free(dom);
	ang_mem_unmap(adev, &dom->mem);
	if (dom->spare.count)
		ang_mem_unmap(adev, &dom->spare);
	ang_num_free(adev, &adev->dom_nums, dom->num);
	return true;
}

/**
 * ang_domain_free() - free the structure of a domain
 * @dom: domain, after ang_domain_take()
 *
 * Context: process; may sleep.
 */
void ang_domain_free(struct ang_domain *dom)
{
	ang_watch_exit(dom);
	ang_mem_free(&dom->mem);
	ang_mem_free(&dom->spare);
	ang_domain_put(dom);
}
