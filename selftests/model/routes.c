// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The driver's part of an adapter: tables of routes that libangara has planned. */
#include <angara/fabric.h>

#include "test.h"

/* Gives node 0 a row, which is at @addr, in two parts. */
static void row_give(struct host *h, u32 router, u64 addr, u32 bytes)
{
	struct angara_adm_cmd cmd = adm_route_cmd(ANGARA_ROUTE_ROW);

	cmd.route.router = cpu_to_le32(router);
	cmd.route.length = cpu_to_le32(bytes / 2);
	cmd.route.addr = cpu_to_le64(addr);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_OK);
	cmd.route.offset = cmd.route.length;
	cmd.route.length = cpu_to_le32(bytes - bytes / 2);
	cmd.route.addr = cpu_to_le64(addr + bytes / 2);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_OK);
}

void adm_route_rows(struct host *h, const struct angara_fabric *plan)
{
	u64 addr;
	void *row = host_alloc(h, 0, ANGARA_PAGE_SIZE, &addr);
	u32 i;

	for (i = 0; i < h->v.topo.routers; i++) {
		int bytes = angara_fabric_row(plan, i, row, ANGARA_PAGE_SIZE);

		EXPECT(bytes > 0);
		row_give(h, i, addr, (u32)bytes);
	}
	/* The rows' memory is still the last segment: no other one was added. */
	h->node[0].nsegs--;
	free(row);
}
