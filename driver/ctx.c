// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: creation, doorbells, waiting, destruction.
 *
 * A context is destroyed on the device when its file is closed or the device
 * is stopped; its structure and queue pages are freed with the file.  The file
 * uses the address space (f_mapping) of the device's inode, where
 * ang_doorbells_unmap() finds mapped doorbells.  The domain's file holds that
 * inode.
 */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/log2.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "ioctl.h"
#include "trace.h"

static bool entries_ok(u32 entries, u32 max)
{
	return entries >= ANG_MIN_ENTRIES && entries <= max &&
	       is_power_of_2(entries);
}

static bool msg_bytes_ok(u32 bytes)
{
	return !bytes || (bytes >= ANGARA_MIN_MSG_BYTES &&
			  bytes <= ANG_MAX_MSG_BYTES && is_power_of_2(bytes));
}

static void uctx_publish(struct ang_dev *adev, struct ang_uctx *uctx)
{
	ang_dev_counters_forget(adev, adev->node, ANGARA_CNT_CTX, uctx->num);
	spin_lock(&adev->files_lock);
	rcu_assign_pointer(adev->ctxs[uctx->num], uctx);
	spin_unlock(&adev->files_lock);
}

static int uctx_area(struct ang_dev *adev, struct ang_uctx *uctx,
			  u32 bytes)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_MSG_AREA,
		.ctx = cpu_to_le16(uctx->num),
		.msg = {
			.pages = cpu_to_le64(ang_mem_list(&uctx->mem,
							  ANG_MEM_MSG)),
			.log2 = ilog2(bytes),
		},
	};
	struct angara_adm_cpl cpl;

	return ang_adm_exec(adev, &cmd, &cpl);
}

static int uctx_create(struct ang_dev *adev, struct ang_uctx *uctx,
			    const struct angara_ctx_create *arg)
{
	const struct ang_mem *mem = &uctx->mem;
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_CTX_CREATE,
		.ctx = cpu_to_le16(uctx->num),
		.create = {
			.dom = cpu_to_le16(uctx->dom->num),
			.sq_log2 = ilog2(arg->sq_entries),
			.cq_log2 = ilog2(arg->cq_entries),
			.sq = cpu_to_le64(ang_mem_list(mem, ANG_MEM_SQ)),
			.cq = cpu_to_le64(ang_mem_list(mem, ANG_MEM_CQ)),
			.ctl = mem->list[mem->first[ANG_MEM_CTL]],
			.ctr = mem->list[mem->first[ANG_MEM_CTR]],
		},
	};
	struct angara_adm_cpl cpl;
	int ret, undo;

	ret = ang_adm_exec(adev, &cmd, &cpl);
	if (ret == -EEXIST || ret == -ENOSPC)
		return -EBUSY;
	if (ret == -ENOENT)
		return -ENXIO; /* the device does not have the domain */
	if (ret || !arg->msg_bytes)
		return ret;
	ret = uctx_area(adev, uctx, arg->msg_bytes);
	if (!ret || ang_adm_undecided(ret))
		return ret;
	undo = ang_adm_simple(adev, ANGARA_ADM_CTX_DESTROY, uctx->num, 0);
	if (ang_adm_undecided(undo))
		return undo;
	if (undo)
		ang_dev_break(adev, "the adapter failed to destroy a context");
	return ret;
}

/* Allocates the memory that the device and the process share. */
static int uctx_mem_alloc(struct ang_dev *adev, struct ang_uctx *uctx,
			  const struct angara_ctx_create *arg)
{
	const u32 sizes[ANG_MEM_NUM] = {
		[ANG_MEM_SQ] = arg->sq_entries * sizeof(struct angara_wqe),
		[ANG_MEM_CQ] = arg->cq_entries * sizeof(struct angara_cqe),
		[ANG_MEM_CTL] = sizeof(struct angara_ctl),
		[ANG_MEM_CTR] = ANGARA_CTR_NUM * sizeof(__le64),
		[ANG_MEM_MSG] = arg->msg_bytes,
	};
	int ret = ang_mem_alloc(adev, &uctx->mem, sizes);

	if (ret)
		return ret;
	uctx->ctl = ang_mem_at(&uctx->mem, ANG_MEM_CTL, 0);
	uctx->ctr = ang_mem_at(&uctx->mem, ANG_MEM_CTR, 0);
	if (!(adev->caps & ANGARA_CAP_DOORBELL_MMAP))
		return 0;
	uctx->sink = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (uctx->sink)
		return 0;
	ang_mem_unmap(adev, &uctx->mem);
	ang_mem_free(&uctx->mem);
	return -ENOMEM;
}

/* Frees the number of a context, after ending lookups by this number. */
static void uctx_num_free(struct ang_dev *adev, u32 num)
{
	spin_lock(&adev->files_lock);
	RCU_INIT_POINTER(adev->ctxs[num], NULL);
	spin_unlock(&adev->files_lock);
	ang_num_free(adev, &adev->ctx_nums, num);
}

/* Destroys a context on the device.  Mappings of its queues stay valid. */
static bool uctx_take(struct ang_handle *h)
{
	struct ang_uctx *uctx = to_ang_uctx(h);
	struct ang_dev *adev = h->adev;
	int ret = 0;

	if (uctx->posted && !ang_dev_stopped(adev))
		ret = ang_adm_destroy(adev, ANGARA_ADM_CTX_DESTROY, uctx->num);
	if (ang_adm_undecided(ret))
		return false;
	if (ret && !(ret == -ENOENT && uctx->in_doubt))
		ang_dev_break(adev, "the adapter failed to destroy a context");
	ang_dev_counters_forget(adev, adev->node, ANGARA_CNT_CTX, uctx->num);
	ang_mem_unmap(adev, &uctx->mem);
	uctx_num_free(adev, uctx->num);
	return true;
}

static struct eventfd_ctx *eventfd_swap(struct ang_uctx *uctx,
					struct eventfd_ctx *eventfd)
{
	spin_lock_irq(&uctx->eventfd_lock);
	swap(uctx->eventfd, eventfd);
	spin_unlock_irq(&uctx->eventfd_lock);
	return eventfd;
}

/*
 * The context's own file may be closed already, but its domain's file is open.
 */
static struct address_space *uctx_mapping(struct ang_handle *h)
{
	return to_ang_uctx(h)->of->f_mapping;
}

static void uctx_free_rcu(struct rcu_head *rcu)
{
	struct ang_uctx *uctx = container_of(rcu, struct ang_uctx, rcu);

	ang_mem_free(&uctx->mem);
	if (uctx->sink)
		__free_page(uctx->sink);
	put_pid(uctx->pid);
	kfree(uctx);
}

static void uctx_free(struct ang_handle *h)
{
	struct ang_uctx *uctx = to_ang_uctx(h);
	struct eventfd_ctx *eventfd = eventfd_swap(uctx, NULL);

	if (eventfd)
		eventfd_ctx_put(eventfd);
	fput(uctx->of);
	call_rcu(&uctx->rcu, uctx_free_rcu);
}

static u32 uctx_event_seq(const struct ang_uctx *uctx)
{
	return le64_to_cpu(READ_ONCE(uctx->ctr[ANGARA_CTR_EVSEQ]));
}

static void uctx_arm(struct ang_uctx *uctx, u32 seen)
{
	ang_write32(uctx->h.adev,
		    ANGARA_DB_PAGE(uctx->num) + ANGARA_DB_ARM, seen);
}

static int ioctl_kick(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_uctx *uctx = ucmd->uctx;
	struct ang_dev *adev = uctx->h.adev;
	struct angara_kick *cmd = arg;

	if (cmd->flags & ~(ANGARA_KICK_SQ | ANGARA_KICK_ARM))
		return -EOPNOTSUPP;
	if (!cmd->flags)
		return -EINVAL;
	if (READ_ONCE(adev->broken))
		return -EIO;

	if (cmd->flags & ANGARA_KICK_SQ) {
		u32 pi = le32_to_cpu(READ_ONCE(uctx->ctl->sq_pi));

		trace_angara_doorbell(adev, uctx->num, pi);
		ang_write32(adev, ANGARA_DB_PAGE(uctx->num) + ANGARA_DB_SQ, pi);
	}
	if (cmd->flags & ANGARA_KICK_ARM)
		uctx_arm(uctx, le32_to_cpu(READ_ONCE(uctx->ctl->seen)));
	return 0;
}

static int ioctl_eventfd(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_uctx *uctx = ucmd->uctx;
	struct angara_eventfd *cmd = arg;
	struct eventfd_ctx *eventfd = NULL;

	if (cmd->flags || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->fd != -1) {
		eventfd = eventfd_ctx_fdget(cmd->fd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
	}
	eventfd = eventfd_swap(uctx, eventfd);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	return 0;
}

/* Are there events that the process has not seen?  If not, request a signal. */
static __poll_t uctx_events(struct ang_handle *h)
{
	struct ang_uctx *uctx = to_ang_uctx(h);
	u32 seen = le32_to_cpu(READ_ONCE(uctx->ctl->seen));

	if (uctx_event_seq(uctx) != seen)
		return EPOLLIN | EPOLLRDNORM;
	/*
	 * An event after the first check raises an interrupt, or the second
	 * check sees it.
	 */
	uctx_arm(uctx, seen);
	if (uctx_event_seq(uctx) != seen)
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static __poll_t uctx_poll(struct file *filp, poll_table *wait)
{
	return ang_handle_poll(filp, wait, uctx_events);
}

static void uctx_wake(struct ang_handle *h)
{
	struct ang_uctx *uctx = to_ang_uctx(h);
	unsigned long flags;

	trace_angara_completion(h->adev, uctx->num, uctx_event_seq(uctx));
	spin_lock_irqsave(&uctx->eventfd_lock, flags);
	if (uctx->eventfd)
		ang_eventfd_signal(uctx->eventfd);
	spin_unlock_irqrestore(&uctx->eventfd_lock, flags);
}

static const struct ang_handle_ops uctx_ops = {
	.take = uctx_take,
	.wake = uctx_wake,
	.mapping = uctx_mapping,
	.free = uctx_free,
};

static const struct ang_ioctl_op uctx_ioctls[] = {
	ANG_IOCTL_OP(ANGARA_IOCTL_JOIN, ang_ioctl_join,
		 struct angara_join, place, false),
	ANG_IOCTL_OP(ANGARA_IOCTL_LEAVE, ang_ioctl_leave,
		 struct angara_join, place, false),
	ANG_IOCTL_OP(ANGARA_IOCTL_KICK, ioctl_kick,
		 struct angara_kick, flags, false),
	ANG_IOCTL_OP(ANGARA_IOCTL_EVENTFD, ioctl_eventfd,
		 struct angara_eventfd, reserved, false),
};

static long uctx_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ang_handle *h = filp->private_data;
	struct ang_ucmd ucmd = {
		.filp = filp,
		.h = h,
		.uctx = to_ang_uctx(h),
		.ubuffer = (void __user *)arg,
	};

	return ang_ioctl_call(&ucmd, cmd, uctx_ioctls, ARRAY_SIZE(uctx_ioctls));
}

static const struct file_operations uctx_fops = {
	.owner = THIS_MODULE,
	.release = ang_handle_release,
	.unlocked_ioctl = uctx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = uctx_poll,
	.mmap = ang_mmap,
};

static struct ang_uctx *uctx_new(struct ang_ucmd *ucmd, struct ang_domain *dom,
				 const struct angara_ctx_create *arg)
{
	struct ang_dev *adev = dom->adev;
	struct ang_uctx *uctx = kzalloc(sizeof(*uctx), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!uctx)
		return ERR_PTR(-ENOMEM);
	ret = ang_num_alloc(adev, &adev->ctx_nums, &uctx->num);
	if (ret)
		goto err_free;
	ret = uctx_mem_alloc(adev, uctx, arg);
	if (ret)
		goto err_num;
	uctx->dom = dom;
	uctx->pid = get_pid(task_tgid(current));
	uctx->uid = current_euid();
	spin_lock_init(&uctx->eventfd_lock);
	uctx->of = get_file(ucmd->filp);
	__module_get(adev->ops->owner); /* each file references the module */
	ang_handle_init(&uctx->h, adev, &uctx_ops);
	return uctx;

err_num:
	ang_num_free(adev, &adev->ctx_nums, uctx->num);
err_free:
	kfree(uctx);
	return ERR_PTR(ret);
}

/*
 * Opens the context's file.  Closing this file undoes all that uctx_new() did.
 */
static struct file *uctx_open(struct ang_ucmd *ucmd, struct ang_domain *dom,
			      const struct angara_ctx_create *arg)
{
	struct ang_uctx *uctx = uctx_new(ucmd, dom, arg);
	struct file *filp;

	if (IS_ERR(uctx))
		return ERR_CAST(uctx);
	filp = anon_inode_getfile("[angara-context]", &uctx_fops, &uctx->h,
				  ucmd->filp->f_flags & O_ACCMODE);
	if (IS_ERR(filp)) {
		ang_handle_take(&uctx->h);
		ang_handle_undo(&uctx->h);
		return filp;
	}
	filp->f_mapping = ucmd->filp->f_mapping;
	return filp;
}

static int uctx_start(struct ang_uctx *uctx, const struct angara_ctx_create *arg)
{
	struct ang_dev *adev = uctx->h.adev;
	int ret = uctx_create(adev, uctx, arg);

	/*
	 * The device may still create the context, so the context is destroyed
	 * when the file is closed.
	 */
	uctx->in_doubt = ang_adm_undecided(ret);
	uctx->posted = !ret || uctx->in_doubt;
	if (uctx->posted)
		uctx_publish(adev, uctx);
	return ret;
}

int ang_ioctl_ctx_create(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_domain *dom = ang_file_domain(ucmd->file);
	struct angara_ctx_create *cmd = arg;
	struct ang_uctx *uctx;
	struct file *filp;
	int fd, ret;

	if (cmd->flags || cmd->reserved)
		return -EOPNOTSUPP;
	if (!entries_ok(cmd->sq_entries, ANG_MAX_SQ_ENTRIES) ||
	    !entries_ok(cmd->cq_entries, ANG_MAX_CQ_ENTRIES) ||
	    !msg_bytes_ok(cmd->msg_bytes))
		return -EINVAL;
	if (!dom)
		return -ENXIO;
	if (READ_ONCE(dom->adev->broken))
		return -EIO;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	filp = uctx_open(ucmd, dom, cmd);
	if (IS_ERR(filp)) {
		ret = PTR_ERR(filp);
		goto err_fd;
	}
	uctx = to_ang_uctx(filp->private_data);
	ret = uctx_start(uctx, cmd);
	if (ret)
		goto err_file;

	cmd->fd = fd;
	cmd->ctx = uctx->num;
	cmd->sq_offset = ang_mmap_offset(ANG_MEM_SQ);
	cmd->cq_offset = ang_mmap_offset(ANG_MEM_CQ);
	cmd->ctl_offset = ang_mmap_offset(ANG_MEM_CTL);
	cmd->ctr_offset = ang_mmap_offset(ANG_MEM_CTR);
	cmd->db_offset = uctx->sink ? ang_mmap_offset(ANG_MAP_DB) : 0;
	cmd->msg_offset = cmd->msg_bytes ? ang_mmap_offset(ANG_MEM_MSG) : 0;
	ucmd->new_file = filp;
	ucmd->new_fd = fd;
	return 0;

err_file:
	fput(filp);
err_fd:
	put_unused_fd(fd);
	return ret;
}

/**
 * ang_uctx_signal() - wake waiters of a context
 * @uctx: context, protected by RCU
 *
 * Context: any.
 */
void ang_uctx_signal(struct ang_uctx *uctx)
{
	ang_handle_wake(&uctx->h, EPOLLIN | EPOLLRDNORM);
}

/**
 * ang_dev_ctx_info() - read the properties of a context
 * @adev: device
 * @ctx: its number
 * @pid_ns: namespace of the process ids shown
 * @info: out: properties
 *
 * Return: 0; -ENOENT there is no such context.
 * Context: any.
 */
int ang_dev_ctx_info(struct ang_dev *adev, u32 ctx, struct pid_namespace *pid_ns,
		     struct ang_ctx_info *info)
{
	struct ang_uctx *uctx;

	if (ctx >= adev->max_ctxs)
		return -ENOENT;
	rcu_read_lock();
	uctx = rcu_dereference(adev->ctxs[ctx]);
	if (uctx)
		*info = (struct ang_ctx_info){
			.ctx = ctx,
			.pid = pid_nr_ns(uctx->pid, pid_ns),
			.uid = uctx->uid,
			.pkey = uctx->dom->pkey,
			.mrs = READ_ONCE(uctx->dom->num_mrs),
			.pinned = READ_ONCE(uctx->dom->pinned),
		};
	rcu_read_unlock();
	return uctx ? 0 : -ENOENT;
}
