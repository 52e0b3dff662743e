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
	return list_objects(args, ANGARA_CMD_CTX_GET, NULL, columns,
			    ARRAY_SIZE(columns));
}

static const struct command commands[] = {
	{ "show", "[dev DEV] [fabric ID]",
	  "contexts; those of other partitions are for administrators",
	  ctx_show, 0 },
};

const struct object ctx_object = {
	"ctx", "contexts of processes", commands, ARRAY_SIZE(commands),
};
