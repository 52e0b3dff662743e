// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: lists of devices, links and contexts. */

#include "angaractl.h"

/*
 * Prints the records of a dump of @command, with the filter in @args.  @complete,
 * if not NULL, first adds values to the records.
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
