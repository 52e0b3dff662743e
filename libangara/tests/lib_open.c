// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Opening adapters by all their names, with what is asked of them; and what is
 * refused.  One process does most of it: it is about no other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib.h"

#define MANY	128	/* contexts that an adapter has at most */

static int try_open(const char *device, const struct angara_ctx_attr *attr,
		    struct angara_ctx_info *info)
{
	struct angara_ctx *other;
	int ret = angara_ctx_open(device, attr, &other);

	if (ret)
		return other ? -EINVAL - 1000 : ret;
	angara_ctx_query(other, info);
	angara_ctx_close(other);
	return 0;
}

static bool opens(const char *device, const char *what)
{
	struct angara_ctx_info mine = { .size = sizeof(mine) };
	struct angara_ctx_info info = mine;

	angara_ctx_query(ctx, &mine);
	return expect(what, try_open(device, NULL, &info), 0) &&
	       expect(what, info.node, mine.node) &&
	       expect(what, (long long)info.fabric_id, (long long)mine.fabric_id);
}

/* Needs root, and adapters of a driver. */
bool device_names(void)
{
	const char *path = getenv("ANGARA_DEVICE");
	const size_t dir = strlen("/dev/angara");
	struct angara_ctx_info info = { .size = sizeof(info) };
	bool ok;

	if (rank)
		return true;
	ok = opens(NULL, "by the launcher") & opens(path, "by its path") &
	     opens(path + dir, "by its number");
	path = strdup(path);
	unsetenv("ANGARA_DEVICE");
	ok &= expect("the first", try_open(NULL, NULL, &info), 0);
	setenv("ANGARA_DEVICE", path, 1);
	return ok;
}

bool device_none(void)
{
	static const char *const devices[] = {
		"4000", "4294967296", "99999999999999999999", "0x", "nowhere",
		"/dev/null/0", "/dev/null", "",
	};
	struct angara_ctx_info info = { .size = sizeof(info) };
	bool ok = true;
	size_t i;

	if (rank)
		return true;
	for (i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		ok &= expect(devices[i], try_open(devices[i], NULL, &info), -ENODEV);
	angara_ctx_close(NULL);
	return ok;
}

/* Root may choose any. */
bool device_partition(void)
{
	const struct angara_ctx_attr attr = { .size = sizeof(attr), .pkey = 77 };
	struct angara_ctx_info info = { .size = sizeof(info) };

	return expect("partition", try_open(NULL, &attr, &info), 0) &&
	       expect("its key", info.pkey, 77);
}

#define SIZE	.size = sizeof(struct angara_ctx_attr)

static bool lengths(void)
{
	static const struct angara_ctx_attr bad[] = {
		{ SIZE, .sq_entries = 7 }, { SIZE, .sq_entries = 4 },
		{ SIZE, .sq_entries = 1U << 31 },
		{ SIZE, .cq_entries = 24 }, { SIZE, .cq_entries = 2 },
		{ SIZE, .cq_entries = 1U << 31 },
	};
	struct angara_ctx_info info = { .size = sizeof(info) };
	bool ok = true;
	size_t i;

	for (i = 0; !rank && i < sizeof(bad) / sizeof(*bad); i++)
		ok &= expect("bad length", try_open(NULL, &bad[i], &info), -EINVAL);
	return ok;
}

/* A program of an older or a newer release. */
static bool sizes(void)
{
	struct {
		struct angara_ctx_attr attr;
		uint64_t newer;
	} attr = { .attr = { .size = sizeof(attr), .sq_entries = 8 } };
	struct {
		struct angara_ctx_info info;
		uint64_t newer;
	} info = { .info = { .size = sizeof(info) }, .newer = 99 };
	struct angara_team_attr old = { .size = sizeof(old) - 4 };
	struct angara_ctx_info mine = { .size = sizeof(mine) };
	struct angara_team *team;
	bool ok;

	ok = expect("team", angara_team_create(job, ctx, NULL, 0, &old, &team),
		    -EINVAL);
	if (rank)
		return ok;
	ok &= expect("release", angara_version(), ANGARA_VERSION);
	ok &= expect("newer", try_open(NULL, &attr.attr, &mine), 0);
	attr.newer = 1;
	ok &= expect("says more", try_open(NULL, &attr.attr, &mine), -E2BIG);
	attr.attr.size = sizeof(attr.attr);
	ok &= expect("not looked at", try_open(NULL, &attr.attr, &mine), 0);
	attr.attr.size = 1U << 20;
	ok &= expect("beyond reason", try_open(NULL, &attr.attr, &mine), -E2BIG);
	attr.attr.size = sizeof(attr.attr) - 4;
	ok &= expect("before the first", try_open(NULL, &attr.attr, &mine), -EINVAL);
	attr.attr.size = 0;
	ok &= expect("no size", try_open(NULL, &attr.attr, &mine), -EINVAL);

	ok &= expect("query", angara_ctx_query(ctx, &info.info), 0) &
	      expect("as asked", info.info.nodes, mine.nodes) &
	      expect("unknown is 0", (long long)info.newer, 0) &
	      expect("size stays", info.info.size, sizeof(info));
	info.info.size = 8;
	ok &= expect("older query", angara_ctx_query(ctx, &info.info), -EINVAL);
	info.info.size = UINT32_MAX;
	return ok & expect("huge query", angara_ctx_query(ctx, &info.info), -E2BIG);
}

static bool all_contexts(void)
{
	const struct angara_ctx_attr small = { .size = sizeof(small), .sq_entries = 8, .cq_entries = 8 };
	struct angara_ctx *other[MANY + 1];
	struct angara_ctx_info info = { .size = sizeof(info) };
	int n = 0, ret = 0;

	if (rank)
		return true;
	while (n <= MANY && !ret) {
		ret = angara_ctx_open(NULL, &small, &other[n]);
		n += !ret;
	}
	while (n)
		angara_ctx_close(other[--n]);
	return expect("taken", ret, -EBUSY) &
	       expect("given back", try_open(NULL, &small, &info), 0);
}

/* The coordinator of a team opens a device for each node of the tree. */
static bool few_files(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *team;
	struct rlimit limit, few;
	bool ok;
	int fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	fd = open("/dev/null", O_RDONLY);
	few.rlim_cur = (rlim_t)fd + 2;
	close(fd);
	if (!rank)
		setrlimit(RLIMIT_NOFILE, &few);
	ok = expect("create", angara_team_create(job, ctx, NULL, 0, &wants, &team), 0);
	if (ok)
		ok = works(team) & expect("destroy", angara_team_destroy(team), 0);
	setrlimit(RLIMIT_NOFILE, &limit);
	return ok;
}

static bool status_texts(void)
{
	const char *unknown = angara_status_str(0xFFFFFFFFU);
	bool ok = expect("unknown", unknown && *unknown, 1);
	uint32_t a, b;

	for (a = 0; a < ANGARA_ST_NUM; a++) {
		const char *text = angara_status_str(a);

		ok &= expect("has a text", text && *text && strcmp(text, unknown), 1);
		for (b = 0; b < a; b++)
			ok &= expect("differs", !strcmp(text, angara_status_str(b)), 0);
	}
	return ok & expect("beyond", strcmp(angara_status_str(ANGARA_ST_NUM), unknown), 0);
}

const struct part open_parts[] = {
	{ "lengths of queues", lengths },
	{ "sizes of structures", sizes },
	{ "all contexts", all_contexts },
	{ "few files", few_files },
	{ "texts of statuses", status_texts },
	{ NULL, NULL },
};
