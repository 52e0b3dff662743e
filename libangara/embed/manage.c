// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-band management.  Each node has one request in progress, under the node's
 * lock.  All processes of an embedded fabric belong to one user, so all may
 * manage the fabric.
 */
#include <string.h>
#include <sys/random.h>

#include "embed.h"

/*
 * Address of the packet.  Compute it for each command: the fabric may switch to
 * another copy of the model between two commands.
 */
static struct angara_mgmt *place_of(const struct emb_dev *d)
{
	return &emb_admin(d->fab, emb_copy(d->fab), d->node)->mgmt;
}

static int mgmt_exec(struct emb_dev *d, u8 opcode, u64 tid)
{
	const struct emb_head *head = d->fab->head;
	struct angara_adm_cmd cmd = {
		.opcode = opcode,
		.mgmt.tid = cpu_to_le64(tid),
		.mgmt.addr = cpu_to_le64(head->copy_at + head->adm_off +
					 (u64)d->node * ANGARA_PAGE_SIZE +
					 offsetof(struct emb_admin, mgmt)),
	};
	struct angara_adm_cpl cpl;

	return emb_exec(&d->run, d->node, &cmd, &cpl);
}

static int answer_wait(struct emb_dev *d, u64 tid, u64 end)
{
	u32 turn = 0;
	int ret;

	while ((ret = mgmt_exec(d, ANGARA_ADM_MGMT_RECV, tid)) == -ENOENT) {
		if (emb_now_ms() >= end)
			return -ETIMEDOUT;
		if (!emb_help(&d->run, true))
			emb_nap(&turn);
	}
	return ret;
}

static int mgmt_serve(struct emb_dev *d, struct angara_mgmt *pkt, u32 timeout_ms)
{
	u64 tid;
	int ret;

	if (getrandom(&tid, sizeof(tid), 0) != (ssize_t)sizeof(tid))
		return -EIO;
	pkt->tid = cpu_to_le64(tid);
	memcpy(place_of(d), pkt, sizeof(*pkt));
	ret = mgmt_exec(d, ANGARA_ADM_MGMT_SEND, 0);
	if (!ret)
		ret = answer_wait(d, tid, emb_now_ms() + timeout_ms);
	if (!ret)
		memcpy(pkt, place_of(d), sizeof(*pkt));
	return ret;
}

int emb_manage(struct emb_dev *d, void *arg)
{
	struct angara_manage *cmd = arg;
	int ret;

	if (cmd->flags || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->timeout_ms > ANGARA_MANAGE_MAX_MS)
		return -EINVAL;
	ret = emb_node_lock(&d->run, d->node);
	if (ret)
		return ret;
	ret = mgmt_serve(d, &cmd->pkt, cmd->timeout_ms);
	emb_node_unlock(&d->run, d->node);
	return ret;
}
