// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the links of an embedded fabric have carried for trees, as a process sees
 * it that uses nothing else of the fabric: packets on the way to roots, and
 * from them.  With adapters of a driver, angaractl tells that.
 *
 *	peek	(ANGARA_FABRIC names the fabric)
 */
#include <stdio.h>
#include <string.h>

#include "embed/embed.h"
#include "lib.h"

#include "ang_int.h"
#include "../../alone.h"

int main(void)
{
	struct angara_ctx *ctx;
	struct ang_fabric *fab;
	u64 up = 0, down = 0;
	u32 node, dir;
	int ret = alone_open(NULL, NULL, &ctx);

	if (ret) {
		fprintf(stderr, "peek: no context: %s\n", strerror(-ret));
		return 1;
	}
	fab = ((struct emb_dev *)ctx->dev.priv)->run.view.fab;
	for (node = 0; node < fab->topo.nodes; node++)
		for (dir = 0; dir < ANGARA_MAX_DIRS; dir++) {
			const u64 *packets = ang_node(fab, node)->link[dir].packets;

			up += READ_ONCE(packets[ANGARA_VC_UP]);
			down += READ_ONCE(packets[ANGARA_VC_DOWN]);
		}
	printf("%llu %llu\n", (unsigned long long)up, (unsigned long long)down);
	angara_ctx_close(ctx);
	return 0;
}
