// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: making, ringing, sleeping, destroying.
 *
 * A context is destroyed on the device when its file is closed or the device
 * is stopped; its structure and queue pages go with the file.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/eventfd.h>
#include <linux/log2.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "ang_file.h"
#include "trace.h"

static bool entries_ok(u32 entries, u32 max)
{
	return entries >= ANG_MIN_ENTRIES && entries <= max &&
	       is_power_of_2(entries);
}

static bool area_ok(u32 bytes)
{
	return !bytes || (bytes >= ANGARA_MIN_MSG_BYTES &&
			  bytes <= ANG_MAX_MSG_BYTES && is_power_of_2(bytes));
}

static int choose_pkey(const struct angara_ctx_create *cmd, u32 *pkey)
{
	u32 own = ang_default_pkey();

	if (!(cmd->flags & ANGARA_CTX_PKEY)) {
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

static void publish(struct ang_dev *adev, struct ang_uctx *uctx)
{
	ang_dev_counters_forget(adev, ANGARA_CNT_CTX, uctx->num);
	spin_lock(&adev->files_lock);
	rcu_assign_pointer(adev->ctxs[uctx->num], uctx);
	spin_unlock(&adev->files_lock);
}

static struct ang_uctx *uctx_new(struct ang_file *file, u32 pkey)
{
	struct ang_uctx *uctx = kzalloc(sizeof(*uctx), GFP_KERNEL_ACCOUNT);

	if (!uctx)
		return NULL;
	uctx->file = file;
	uctx->pkey = pkey;
	uctx->pid = get_pid(task_tgid(current));
	uctx->uid = current_euid();
	mutex_init(&uctx->mr_lock);
	xa_init_flags(&uctx->mrs, XA_FLAGS_ALLOC);
	spin_lock_init(&uctx->eventfd_lock);
	return uctx;
}

static int area_on_device(struct ang_dev *adev, struct ang_uctx *uctx,
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

/* A domain of the context's own. */
static int domain_on_device(struct ang_dev *adev, struct ang_uctx *uctx)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_DOMAIN_CREATE,
		.ctx = cpu_to_le16(uctx->num),
		.domain = {
			.mrt = cpu_to_le64(ang_mem_list(&uctx->mem,
							ANG_MEM_MRT)),
			.mrs = cpu_to_le32(ANG_MAX_MRS),
			.pkey = cpu_to_le32(uctx->pkey),
		},
	};
	struct angara_adm_cpl cpl;

	return ang_adm_exec(adev, &cmd, &cpl);
}

/* Undoes a creation that failed with @ret, which stays the answer. */
static int create_undo(struct ang_dev *adev, struct ang_uctx *uctx, u8 opcode,
		       int ret)
{
	int undo = ang_adm_simple(adev, opcode, uctx->num, 0);

	if (ang_adm_undecided(undo))
		return undo;
	if (undo)
		ang_dev_break(adev, "a context cannot be destroyed");
	return ret;
}

static int create_on_device(struct ang_dev *adev, struct ang_uctx *uctx,
			    const struct angara_ctx_create *arg)
{
	const struct ang_mem *mem = &uctx->mem;
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_CTX_CREATE,
		.ctx = cpu_to_le16(uctx->num),
		.create = {
			.dom = cpu_to_le16(uctx->num),
			.sq_log2 = ilog2(arg->sq_entries),
			.cq_log2 = ilog2(arg->cq_entries),
			.sq = cpu_to_le64(ang_mem_list(mem, ANG_MEM_SQ)),
			.cq = cpu_to_le64(ang_mem_list(mem, ANG_MEM_CQ)),
			.ctl = mem->list[mem->first[ANG_MEM_CTL]],
			.ctr = mem->list[mem->first[ANG_MEM_CTR]],
		},
	};
	struct angara_adm_cpl cpl;
	int ret;

	ret = domain_on_device(adev, uctx);
	if (ret)
		return ret;
	ret = ang_adm_exec(adev, &cmd, &cpl);
	if (ret == -EEXIST || ret == -ENOSPC)
		ret = -EBUSY;
	if (ang_adm_undecided(ret))
		return ret;
	if (ret)
		goto err_domain;
	if (!arg->msg_bytes)
		return 0;
	ret = area_on_device(adev, uctx, arg->msg_bytes);
	if (!ret || ang_adm_undecided(ret))
		return ret;
	ret = create_undo(adev, uctx, ANGARA_ADM_CTX_DESTROY, ret);
	if (ang_adm_undecided(ret))
		return ret;
err_domain:
	return create_undo(adev, uctx, ANGARA_ADM_DOMAIN_DESTROY, ret);
}

static struct ang_uctx *uctx_create(struct ang_file *file, u32 pkey,
				    const struct angara_ctx_create *arg)
{
	const u32 sizes[ANG_MEM_NUM] = {
		[ANG_MEM_SQ] = arg->sq_entries * sizeof(struct angara_wqe),
		[ANG_MEM_CQ] = arg->cq_entries * sizeof(struct angara_cqe),
		[ANG_MEM_CTL] = sizeof(struct angara_ctl),
		[ANG_MEM_CTR] = ANGARA_CTR_NUM * sizeof(__le64),
		[ANG_MEM_MRT] = ANG_MAX_MRS * sizeof(struct angara_hw_mr),
		[ANG_MEM_MSG] = arg->msg_bytes,
	};
	struct ang_dev *adev = file->adev;
	struct ang_uctx *uctx;
	int ret;

	uctx = uctx_new(file, pkey);
	if (!uctx)
		return ERR_PTR(-ENOMEM);
	ret = ang_ctx_num_alloc(adev, &uctx->num);
	if (ret)
		goto err_free;
	ret = ang_mem_alloc(adev, &uctx->mem, sizes);
	if (ret)
		goto err_num;
	if (adev->caps & ANGARA_CAP_DOORBELL_MMAP) {
		uctx->sink = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!uctx->sink) {
			ret = -ENOMEM;
			goto err_mem;
		}
	}
	uctx->ctl = ang_mem_at(&uctx->mem, ANG_MEM_CTL, 0);
	uctx->ctr = ang_mem_at(&uctx->mem, ANG_MEM_CTR, 0);
	ret = create_on_device(adev, uctx, arg);
	if (ang_adm_undecided(ret)) {
		/* The device may create it yet: it goes with the file. */
		uctx->in_doubt = true;
		publish(adev, uctx);
		smp_store_release(&file->uctx, uctx); /* see ang_file_uctx() */
		return ERR_PTR(ret);
	}
	if (ret)
		goto err_mem;
	publish(adev, uctx);
	return uctx;

err_mem:
	if (uctx->sink)
		__free_page(uctx->sink);
	ang_mem_unmap(adev, &uctx->mem);
	ang_mem_free(&uctx->mem);
err_num:
	ang_ctx_num_free(adev, uctx->num);
err_free:
	put_pid(uctx->pid);
	kfree(uctx);
	return ERR_PTR(ret);
}

int ang_ioctl_ctx_create(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_file *file = ucmd->file;
	struct angara_ctx_create *cmd = arg;
	struct ang_uctx *uctx;
	u32 pkey;
	int ret;

	if (cmd->flags & ~ANGARA_CTX_PKEY || cmd->reserved)
		return -EOPNOTSUPP;
	if (!entries_ok(cmd->sq_entries, ANG_MAX_SQ_ENTRIES) ||
	    !entries_ok(cmd->cq_entries, ANG_MAX_CQ_ENTRIES) ||
	    !area_ok(cmd->msg_bytes))
		return -EINVAL;
	ret = choose_pkey(cmd, &pkey);
	if (ret)
		return ret;
	if (READ_ONCE(file->adev->broken))
		return -EIO;

	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	if (file->uctx) {
		ret = -EBUSY;
		goto out_unlock;
	}
	uctx = uctx_create(file, pkey, cmd);
	if (IS_ERR(uctx)) {
		ret = PTR_ERR(uctx);
		goto out_unlock;
	}
	smp_store_release(&file->uctx, uctx); /* see ang_file_uctx() */

	cmd->pkey = pkey;
	cmd->ctx = uctx->num;
	cmd->sq_offset = ang_mmap_offset(ANG_MEM_SQ);
	cmd->cq_offset = ang_mmap_offset(ANG_MEM_CQ);
	cmd->ctl_offset = ang_mmap_offset(ANG_MEM_CTL);
	cmd->ctr_offset = ang_mmap_offset(ANG_MEM_CTR);
	cmd->db_offset = uctx->sink ? ang_mmap_offset(ANG_MAP_DB) : 0;
	cmd->msg_offset = cmd->msg_bytes ? ang_mmap_offset(ANG_MEM_MSG) : 0;
out_unlock:
	mutex_unlock(&file->lock);
	return ret;
}

/**
 * ang_uctx_kill() - destroy a context on the device
 * @uctx: context
 *
 * When it returns true, the device uses none of the context's memory, or that
 * is never freed.  Mappings of its queues stay valid.
 *
 * Return: true; false if somebody is about to stop the device: that one kills
 * the context.
 * Context: worker; may sleep.
 */
bool ang_uctx_kill(struct ang_uctx *uctx)
{
	struct ang_dev *adev = uctx->file->adev;
	int ret = 0;

	lockdep_assert_held(&adev->registration_lock);

	if (uctx->dead)
		return true;
	if (!ang_dev_stopped(adev))
		ret = ang_adm_destroy(adev, ANGARA_ADM_CTX_DESTROY, uctx->num);
	if (!ret || (ret == -ENOENT && uctx->in_doubt)) {
		ret = 0;
		if (!ang_dev_stopped(adev))
			ret = ang_adm_destroy(adev, ANGARA_ADM_DOMAIN_DESTROY,
					      uctx->num);
	}
	if (ang_adm_undecided(ret))
		return false;
	if (ret && !(ret == -ENOENT && uctx->in_doubt))
		ang_dev_break(adev, "a context cannot be destroyed");
	uctx->dead = true;
	ang_mrs_free(uctx);
	ang_dev_counters_forget(adev, ANGARA_CNT_CTX, uctx->num);
	ang_mem_unmap(adev, &uctx->mem);
	ang_ctx_num_free(adev, uctx->num);
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

static void uctx_free_rcu(struct rcu_head *rcu)
{
	struct ang_uctx *uctx = container_of(rcu, struct ang_uctx, rcu);

	ang_mem_free(&uctx->mem);
	if (uctx->sink)
		__free_page(uctx->sink);
	put_pid(uctx->pid);
	kfree(uctx);
}

/**
 * ang_uctx_free() - free what is left of a killed context
 * @uctx: context whose file is being closed; ang_irq() may still look at it
 */
void ang_uctx_free(struct ang_uctx *uctx)
{
	struct eventfd_ctx *eventfd = eventfd_swap(uctx, NULL);

	if (eventfd)
		eventfd_ctx_put(eventfd);
	call_rcu(&uctx->rcu, uctx_free_rcu);
}

static u32 event_seq(const struct ang_uctx *uctx)
{
	return le64_to_cpu(READ_ONCE(uctx->ctr[ANGARA_CTR_EVSEQ]));
}

static void arm(struct ang_uctx *uctx, u32 seen)
{
	ang_write32(uctx->file->adev,
		    ANGARA_DB_PAGE(uctx->num) + ANGARA_DB_ARM, seen);
}

int ang_ioctl_kick(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_uctx *uctx = ang_file_uctx(ucmd->file);
	struct ang_dev *adev = ucmd->file->adev;
	struct angara_kick *cmd = arg;

	if (cmd->flags & ~(ANGARA_KICK_SQ | ANGARA_KICK_ARM))
		return -EOPNOTSUPP;
	if (!cmd->flags)
		return -EINVAL;
	if (!uctx)
		return -ENXIO;
	if (READ_ONCE(adev->broken))
		return -EIO;

	if (cmd->flags & ANGARA_KICK_SQ) {
		u32 pi = le32_to_cpu(READ_ONCE(uctx->ctl->sq_pi));

		trace_angara_doorbell(adev, uctx->num, pi);
		ang_write32(adev, ANGARA_DB_PAGE(uctx->num) + ANGARA_DB_SQ, pi);
	}
	if (cmd->flags & ANGARA_KICK_ARM)
		arm(uctx, le32_to_cpu(READ_ONCE(uctx->ctl->seen)));
	return 0;
}

int ang_ioctl_eventfd(struct ang_ucmd *ucmd, void *arg)
{
	struct ang_uctx *uctx = ang_file_uctx(ucmd->file);
	struct angara_eventfd *cmd = arg;
	struct eventfd_ctx *eventfd = NULL;

	if (cmd->flags || cmd->reserved)
		return -EOPNOTSUPP;
	if (!uctx)
		return -ENXIO;
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

/**
 * ang_uctx_poll() - are there events? If not, ask for a signal.
 * @uctx: context; its device is entered
 *
 * Return: EPOLLIN or 0.
 * Context: process.
 */
__poll_t ang_uctx_poll(struct ang_uctx *uctx)
{
	u32 seen = le32_to_cpu(READ_ONCE(uctx->ctl->seen));

	if (event_seq(uctx) != seen)
		return EPOLLIN | EPOLLRDNORM;
	/* An event from here on either raises an interrupt or is seen below. */
	arm(uctx, seen);
	if (event_seq(uctx) != seen)
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

/**
 * ang_uctx_signal() - wake whoever waits for a context
 * @uctx: context, protected by RCU or its file
 *
 * Context: any.
 */
void ang_uctx_signal(struct ang_uctx *uctx)
{
	unsigned long flags;

	trace_angara_completion(uctx->file->adev, uctx->num, event_seq(uctx));
	wake_up_interruptible_poll(&uctx->file->wait, EPOLLIN | EPOLLRDNORM);
	spin_lock_irqsave(&uctx->eventfd_lock, flags);
	if (uctx->eventfd)
		ang_eventfd_signal(uctx->eventfd);
	spin_unlock_irqrestore(&uctx->eventfd_lock, flags);
}

/**
 * ang_dev_ctx_info() - look at a context
 * @adev: device
 * @ctx: its number
 * @pid_ns: in which process ids are told
 * @info: out: what there is to tell
 *
 * Return: 0; -ENOENT there is none.
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
			.pkey = uctx->pkey,
			.mrs = READ_ONCE(uctx->num_mrs),
			.pinned = READ_ONCE(uctx->pinned),
		};
	rcu_read_unlock();
	return uctx ? 0 : -ENOENT;
}
