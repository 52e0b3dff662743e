// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-band management with the key that the server has been given: server.sh has the
 * same number.
 */
#include <sched.h>

#include "client.h"

#define KEY	0x1122334455667788ULL
#define TREE	9

/* Sends a request and waits for its answer.  Return: its status */
static u32 ask(struct host *h, struct angara_mgmt *p)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_MGMT_SEND };
	static u64 tid;
	u64 addr;
	void *mem = host_alloc(h, 0, sizeof(*p), &addr);

	p->tid = cpu_to_le64(++tid);
	memcpy(mem, p, sizeof(*p));
	cmd.mgmt.addr = cpu_to_le64(addr);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_OK);
	cmd = (struct angara_adm_cmd){
		.opcode = ANGARA_ADM_MGMT_RECV,
		.mgmt = { .addr = cpu_to_le64(addr), .tid = cpu_to_le64(tid) },
	};
	while (adm(h, 0, &cmd, NULL) == ANGARA_ADM_ST_ABSENT)
		sched_yield();
	memcpy(p, mem, sizeof(*p));
	return p->status;
}

/*
 * Asks the router on the path of @to, with @key, to clear a row that it does not
 * have.  Return: status
 */
static u32 clear(struct host *h, const struct angara_mgmt *to, u64 key)
{
	struct angara_mgmt p = {
		.method = ANGARA_MGMT_GET, .attr = ANGARA_MGMT_NODE, .hops = to->hops,
	};

	memcpy(p.path, to->path, sizeof(p.path));
	EXPECT_EQ(ask(h, &p), ANGARA_MGMT_ST_OK);
	p = (struct angara_mgmt){
		.method = ANGARA_MGMT_SET, .attr = ANGARA_MGMT_ROW_CLEAR, .hops = to->hops,
		.modifier = cpu_to_le32(TREE), .key = cpu_to_le64(key), .writes = p.writes,
	};
	memcpy(p.path, to->path, sizeof(p.path));
	return ask(h, &p);
}

static void first_key(void)
{
	struct host *h = host_new("", &cfg_default);
	struct angara_mgmt p = { .method = ANGARA_MGMT_GET, .attr = ANGARA_MGMT_NODE };
	struct angara_mgmt_node node;

	EXPECT_EQ(ask(h, &p), ANGARA_MGMT_ST_OK);
	memcpy(&node, p.data, sizeof(node));
	EXPECT_EQ(le32_to_cpu(node.flags), ANGARA_MGMT_HAS_KEY | ANGARA_MGMT_SEALED);
	p = (struct angara_mgmt){ 0 };
	/*
	 * With 0 hops the request is for this node's own router, with 1 hop
	 * for a neighbor.
	 */
	for (p.hops = 0; p.hops < 2; p.hops++) {
		EXPECT_EQ(clear(h, &p, 0), ANGARA_MGMT_ST_KEY);
		EXPECT_EQ(clear(h, &p, KEY + 1), ANGARA_MGMT_ST_KEY);
		EXPECT_EQ(clear(h, &p, KEY), ANGARA_MGMT_ST_ABSENT);
		p.path[0] = (u8)__builtin_ctzll(le64_to_cpu(node.joined));
	}
	host_free(h);
}

const struct test_case manage_cases[] = {
	{ "manage: the first key", first_key },
	{ NULL, NULL },
};
