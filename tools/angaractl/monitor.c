// SPDX-License-Identifier: GPL-2.0-only
/* angaractl monitor: events as they happen, a line per event. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include <angara/angara.h>

#include "angaractl.h"

struct monitor {
	struct about about;
	uint64_t count;		/* events still to print, if has_count is set */
	bool has_count;
};

static const char *event_name(unsigned int event)
{
	switch (event) {
	case ANGARA_AEV_TREE_DOWN:
		return "tree_down";
	case ANGARA_AEV_RX_ERROR:
		return "rx_error";
	case ANGARA_AEV_TREE_SET:
		return "tree_set";
	case ANGARA_AEV_TREE_CLEAR:
		return "tree_clear";
	case ANGARA_AEV_LINK_DOWN:
		return "link_down";
	case ANGARA_AEV_LINK_UP:
		return "link_up";
	case ANGARA_NLE_DEV_NEW:
		return "dev_new";
	case ANGARA_NLE_DEV_DEL:
		return "dev_del";
	case ANGARA_NLE_LOST:
		return "lost";
	default:
		return "unknown";
	}
}

static void print_event(unsigned int event, unsigned int index,
			unsigned int value)
{
	switch (event) {
	case ANGARA_AEV_TREE_DOWN:
		printf("tree %u is down, because of node %u\n", index, value);
		break;
	case ANGARA_AEV_RX_ERROR:
		printf("context %u refused a transfer: %s\n", index,
		       angara_status_str(value));
		break;
	case ANGARA_AEV_TREE_SET:
		printf("tree %u is set\n", index);
		break;
	case ANGARA_AEV_TREE_CLEAR:
		printf("tree %u is cleared\n", index);
		break;
	case ANGARA_AEV_LINK_DOWN:
		printf("link at port %u is down, router %u is out of reach\n",
		       index, value);
		break;
	case ANGARA_AEV_LINK_UP:
		printf("link at port %u to router %u is up\n", index, value);
		break;
	case ANGARA_NLE_DEV_NEW:
		printf("device is new\n");
		break;
	case ANGARA_NLE_DEV_DEL:
		printf("device is gone\n");
		break;
	case ANGARA_NLE_LOST:
		if (value)
			printf("%u events were lost\n", value);
		else
			printf("events may be lost\n");
		break;
	default:
		printf("event %u, index %u, value %u\n", event, index, value);
	}
}

static void show(struct json_object *record)
{
	unsigned int event = record_number(record, "event");
	struct json_object *line;
	char time[48];

	out_time(time, sizeof(time));
	if (!options.json) {
		printf("%s %s node %u: ", time, record_string(record, "dev"),
		       (unsigned int)record_number(record, "node"));
		print_event(event, record_number(record, "index"),
			    record_number(record, "value"));
		return;
	}
	line = json_object_new_object();
	json_object_object_add(line, "time", json_object_new_string(time));
	json_object_object_foreach(record, key, value)
		json_object_object_add(line, key, json_object_get(value));
	json_object_object_add(line, "event",
			       json_object_new_string(event_name(event)));
	out_json_line(line);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct json_object *record = record_of(nlmsg_hdr(msg));
	struct monitor *monitor = arg;

	if (!record)
		return NL_OK;
	if ((!monitor->about.has_dev ||
	     record_dev(record) == monitor->about.dev) &&
	    (!monitor->about.has_fabric ||
	     record_fabric(record) == monitor->about.fabric)) {
		show(record);
		monitor->count--;
	}
	json_object_put(record);
	return monitor->has_count && !monitor->count ? NL_STOP : NL_OK;
}

static int follow(struct nl *nl, struct monitor *monitor)
{
	int err;

	nl_socket_modify_cb(nl->sock, NL_CB_VALID, NL_CB_CUSTOM, on_event,
			    monitor);
	err = ctl_listen(nl, ANGARA_GENL_MCGRP_ADMIN);
	if (err == -NLE_PERM) {
		fail("without CAP_NET_ADMIN: no events of trees and contexts");
		err = ctl_listen(nl, ANGARA_GENL_MCGRP);
	}
	if (err)
		return fail("cannot receive events: %s", nl_geterror(err));
	while (!monitor->has_count || monitor->count) {
		err = nl_recvmsgs_default(nl->sock);
		/* The kernel reports that this socket's buffer overflowed. */
		if (err == -NLE_NOMEM)
			fail("events came faster than they were read; some are lost");
		else if (err < 0)
			return fail("netlink: %s", nl_geterror(err));
		if (ferror(stdout))
			return fail("standard output cannot be written");
	}
	return DONE;
}

static int read_request(struct args *args, struct monitor *monitor)
{
	static const char *const words[] = { "dev", "fabric", "count" };
	char *word, *value;
	int status = DONE;

	while (!status && (word = args_next(args))) {
		int i = match_word(word, words, ARRAY_SIZE(words), "argument");

		if (i < 0)
			return MISUSED;
		if (strcmp(words[i], "count")) {
			status = args_about(args, words[i], &monitor->about);
			continue;
		}
		monitor->has_count = true;
		status = args_value(args, words[i], &value);
		if (!status)
			status = parse_number(value, 1, UINT32_MAX, "count",
					      &monitor->count);
	}
	return status;
}

static int monitor_run(struct args *args)
{
	struct monitor monitor = { .has_count = false };
	struct nl nl;
	int status;

	status = read_request(args, &monitor);
	if (!status && options.server)
		status = misuse("monitor prints events of the driver: a server sends none, omit --server");
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	/* Flush, so a reader at the other end of a pipe gets each line at once. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	status = follow(&nl, &monitor);
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ NULL, "[dev DEV] [fabric ID] [count N]",
	  "devices that come and go, trees, errors; ends after N events",
	  monitor_run, 0 },
};

const struct object monitor_object = {
	"monitor", "events as they happen", commands, ARRAY_SIZE(commands),
};
