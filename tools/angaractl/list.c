// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: all objects of one kind, as devices, links and contexts are shown. */

#include "angaractl.h"

/*
 * Lists what @command dumps, narrowed by what @args say; @complete, if any,
 * adds to the records first.
 */
int list_objects(struct args *args, uint8_t command,
		 void (*complete)(struct nl *nl, struct json_object *records),
		 const struct column *columns, size_t count)
{
	struct json_object *records;
	struct about about = { 0 };
	struct nl nl;
	int status;

	status = args_filter(args, &about);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = ctl_dump_or_fail(&nl, command, &about, &records);
	if (!status) {
		if (complete)
			complete(&nl, records);
		out_records(records, columns, count);
	}
	ctl_stop(&nl);
	return status;
}
