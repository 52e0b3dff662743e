// SPDX-License-Identifier: GPL-2.0-only
/* angara-fm status: the leases of the manager that runs. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fm.h"

static struct fm_list got;

static struct json_object *list_record(const struct ang_fm_lease *lease)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "fabric", record_id(lease->fabric));
	json_object_object_add(o, "tree", json_object_new_int((int)lease->tree));
	json_object_object_add(o, "uid", json_object_new_int64(lease->uid));
	json_object_object_add(o, "state", json_object_new_string(
			       lease->connected ? "held" : "orphan"));
	return o;
}

static int list_print(void)
{
	static const struct column columns[] = {
		{ "tree", "TREE" }, { "fabric", "FABRIC" }, { "uid", "USER" },
		{ "state", "STATE" },
	};
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < got.head.count; i++)
		json_object_array_add(list, list_record(&got.leases[i]));
	out_records(list, columns, ARRAY_SIZE(columns));
	return DONE;
}

/** list_status() - print the leases.  Return: exit status */
int list_status(const struct fm_opts *opts)
{
	const struct ang_fm_request q = {
		.version = ANG_FM_VERSION, .op = ANG_FM_LIST,
	};
	const struct timeval limit = { .tv_sec = 5 };
	struct sockaddr_un at;
	ssize_t n;
	int fd;

	if (fm_address(opts, &at))
		return FAILED;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fail("no manager at %s: %s", opts->socket, strerror(errno));
	n = send(fd, &q, sizeof(q), MSG_NOSIGNAL) < 0 ? -1 : recv(fd, &got, sizeof(got), 0);
	close(fd);
	if (n < (ssize_t)sizeof(got.head) || got.head.version != ANG_FM_VERSION ||
	    got.head.count > ANG_FM_MOST ||
	    (size_t)n != sizeof(got.head) + got.head.count * sizeof(got.leases[0]))
		return fail("the manager at %s does not answer", opts->socket);
	return list_print();
}
