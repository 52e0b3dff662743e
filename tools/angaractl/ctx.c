// SPDX-License-Identifier: GPL-2.0-only
/* angaractl ctx: the contexts that processes have created. */

#include "angaractl.h"

static const struct column columns[] = {
	{ "dev", "DEV" }, { "node", "NODE" }, { "ctx", "CTX" },
	{ "pkey", "PARTITION", pkey_text }, { "pid", "PID" }, { "uid", "UID" },
	{ "mrs", "REGIONS" }, { "pinned", "PINNED" },
};

static int ctx_show(struct args *args)
{
	struct json_object *ctxs;
	struct about about = { 0 };
	struct nl nl;
	int status;

	status = args_filter(args, &about);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = ctl_dump_or_fail(&nl, ANGARA_CMD_CTX_GET, &about, &ctxs);
	if (!status)
		out_records(ctxs, columns, ARRAY_SIZE(columns));
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ "show", "[dev DEV] [fabric ID]",
	  "contexts; those of other partitions are for administrators",
	  ctx_show, 0 },
};

const struct object ctx_object = {
	"ctx", "contexts of processes", commands, ARRAY_SIZE(commands),
};
