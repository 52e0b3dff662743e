// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Requests of in-band management; see mgmt.h. */
#include <string.h>

#include "test.h"
#include "mgmt.h"

struct host *mgmt_host;
static u64 tid;

/*
 * Allocates memory for the packet at the node, and frees it after the command.
 */
u32 mgmt_cmd(u32 node, u32 opcode, struct angara_mgmt *p, u64 for_tid)
{
	struct host_node *n = &host_at(mgmt_host, node)->node[node];
	struct angara_adm_cmd cmd = { .opcode = (u8)opcode };
	void *mem;
	u32 status;
	u64 addr;

	mem = host_alloc(mgmt_host, node, sizeof(*p), &addr);
	memcpy(mem, p, sizeof(*p));
	cmd.mgmt.addr = cpu_to_le64(addr);
	cmd.mgmt.tid = cpu_to_le64(for_tid);
	status = adm(mgmt_host, node, &cmd, NULL);
	memcpy(p, mem, sizeof(*p));
	n->nsegs--;
	free(mem);
	return status;
}

u32 mgmt_send(u32 node, struct angara_mgmt *p)
{
	p->tid = cpu_to_le64(++tid);
	return mgmt_cmd(node, ANGARA_ADM_MGMT_SEND, p, 0);
}

u32 mgmt_answer(u32 node, struct angara_mgmt *p)
{
	return mgmt_cmd(node, ANGARA_ADM_MGMT_RECV, p, tid);
}

/* Sends a request and takes its answer.  Return: status of the answer. */
u32 mgmt_ask(u32 node, struct angara_mgmt *p)
{
	const struct angara_mgmt sent = *p;

	EXPECT_EQ(mgmt_send(node, p), ANGARA_ADM_ST_OK);
	EXPECT_EQ(mgmt_answer(node, p), ANGARA_ADM_ST_OK);
	EXPECT(p->answer == 1 && !p->at && !p->key && p->method == sent.method &&
	       p->attr == sent.attr && p->hops == sent.hops &&
	       le64_to_cpu(p->tid) == tid);
	return p->status;
}

struct angara_mgmt mgmt_request(u32 method, u32 attr, u32 modifier)
{
	return (struct angara_mgmt){
		.method = (u8)method, .attr = (u8)attr,
		.modifier = cpu_to_le32(modifier),
	};
}

struct angara_mgmt mgmt_get_node(const u8 *path, u32 hops)
{
	struct angara_mgmt p = mgmt_request(ANGARA_MGMT_GET, ANGARA_MGMT_NODE, 0);

	p.hops = (u8)hops;
	memcpy(p.path, path, hops);
	return p;
}

struct angara_mgmt_node mgmt_node(const struct angara_mgmt *p)
{
	struct angara_mgmt_node node;

	memcpy(&node, p->data, sizeof(node));
	return node;
}

/* Return: number of SETs that the router at the end of @path has accepted. */
u64 mgmt_writes(const u8 *path, u32 hops)
{
	struct angara_mgmt p = mgmt_get_node(path, hops);

	mgmt_ask(0, &p);
	return le64_to_cpu(p.writes);
}

struct angara_mgmt mgmt_set(const u8 *path, u32 hops, u32 attr, u32 modifier,
			      u64 key)
{
	struct angara_mgmt p = mgmt_request(ANGARA_MGMT_SET, attr, modifier);

	p.hops = (u8)hops;
	memcpy(p.path, path, hops);
	p.key = cpu_to_le64(key);
	p.writes = cpu_to_le64(mgmt_writes(path, hops));
	return p;
}

u64 mgmt_dropped(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < mgmt_host->v.topo.routers; i++) {
		struct host *at = host_at(mgmt_host, i);
		const struct ang_mgmt *m =
			(const void *)((char *)ang_node(at->fab, i) + at->fab->off_mgmt);

		sum += m->dropped;
	}
	return sum;
}

struct angara_mgmt mgmt_key(const u8 *path, u32 hops, u64 old, u64 new,
				      u32 flags)
{
	struct angara_mgmt p = mgmt_set(path, hops, ANGARA_MGMT_KEY, 0, old);
	const struct angara_mgmt_key w = {
		.key = cpu_to_le64(new), .flags = cpu_to_le32(flags),
	};

	memcpy(p.data, &w, sizeof(w));
	return p;
}
