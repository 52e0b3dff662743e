// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-band management: requests to routers of the fabric, one at a time.
 *
 * Routers drop management packets that find no room, so an answer may never
 * come.  The device does not report an answer by an event: the driver polls for
 * the answer, first at once, then at growing intervals.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/random.h>

#include "ang_file.h"

#define ASK_MIN_US	20U
#define ASK_MAX_US	5000U

static int answer_wait(struct ang_dev *adev, u64 tid, struct angara_mgmt *pkt,
		       unsigned long end)
{
	unsigned int us = ASK_MIN_US;
	int ret;

	lockdep_assert_held(&adev->mgmt_lock);

	while ((ret = ang_adm_mgmt(adev, ANGARA_ADM_MGMT_RECV, tid, pkt)) == -ENOENT) {
		if (time_after_eq(jiffies, end))
			return -ETIMEDOUT;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(us, 2 * us);
		us = min(2 * us, ASK_MAX_US);
	}
	return ret;
}

/* Sends a request and waits for its answer.  @pkt: in: request; out: answer */
static int manage_packet(struct ang_dev *adev, struct angara_mgmt *pkt, u32 timeout_ms)
{
	unsigned long end;
	u64 tid = get_random_u64();
	int ret;

	pkt->tid = cpu_to_le64(tid);
	if (mutex_lock_killable(&adev->mgmt_lock))
		return -EINTR;
	ret = ang_adm_mgmt(adev, ANGARA_ADM_MGMT_SEND, 0, pkt);
	end = jiffies + msecs_to_jiffies(timeout_ms);
	if (!ret)
		ret = answer_wait(adev, tid, pkt, end);
	mutex_unlock(&adev->mgmt_lock);
	return ret;
}

int ang_ioctl_manage(struct ang_ucmd *ucmd, void *arg)
{
	struct angara_manage *cmd = arg;
	struct ang_cred cred;

	if (cmd->flags || cmd->reserved)
		return -EOPNOTSUPP;
	ang_file_cred(ucmd->file, &cred);
	if (!cred.admin)
		return -EPERM;
	if (cmd->timeout_ms > ANGARA_MANAGE_MAX_MS)
		return -EINVAL;
	return manage_packet(ucmd->h->adev, &cmd->pkt, cmd->timeout_ms);
}
