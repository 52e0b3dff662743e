// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the packets that the links of an embedded fabric have carried for trees, to
 * roots and from them.  The process does not use the fabric otherwise.  angaractl
 * shows the packets of a driver's adapters.
 *
 * 	peek	(ANGARA_FABRIC names the fabric)
 */
#include <stdio.h>
#include <string.h>

#include "embed/embed.h"
#include "lib.h"

#include "ang_int.h"
#include "../../common/alone.h"

int main(void)
{
	struct angara_ctx *ctx;
	struct ang_fabric *fab;
	struct emb_run *run;
	u64 up = 0, down = 0;
	u32 node, dir, tree;
	int ret = alone_open(NULL, NULL, &ctx);

	if (ret) {
		fprintf(stderr, "peek: cannot open a context: %s\n", strerror(-ret));
		return 1;
	}
	run = &((struct emb_dev *)ctx->dev.priv)->run;
	fab = run->view.fab;
	/* The model counts reductions on boards only when it reports them. */
	for (node = 0; node < fab->cfg.topo.routers; node++)
		for (tree = 0; tree < fab->cfg.trees; tree++)
			emb_tree_report(run, node, tree);
	for (node = 0; node < fab->cfg.topo.routers; node++)
		for (dir = 0; dir < fab->nports; dir++) {
			const u64 *packets = ang_port(fab, ang_node(fab, node), dir)->link.packets;

			up += READ_ONCE(packets[ANGARA_VC_UP]);
			down += READ_ONCE(packets[ANGARA_VC_DOWN]);
		}
	printf("%llu %llu\n", (unsigned long long)up, (unsigned long long)down);
	angara_ctx_close(ctx);
	return 0;
}
