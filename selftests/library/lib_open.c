// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Opening adapters by all their names, with attributes; and errors.  One
 * process does most of it, since it involves no peer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib.h"

#define MANY	128	/* an adapter has at most this many contexts */

static int try_domain(const char *device, const struct angara_domain_attr *attr,
		      struct angara_domain_info *info)
{
	struct angara_domain *other;
	int ret = angara_domain_open(device, attr, &other);

	if (ret)
		return other ? -EINVAL - 1000 : ret;
	info->size = sizeof(*info);
	angara_domain_query(other, info);
	angara_domain_close(other);
	return 0;
}

static int try_ctx(const struct angara_ctx_attr *attr)
{
	struct angara_ctx *other;
	int ret = angara_ctx_open(dom, attr, &other);

	if (ret)
		return other ? -EINVAL - 1000 : ret;
	angara_ctx_close(other);
	return 0;
}

static bool opens(const char *device, const char *what)
{
	struct angara_domain_info mine = alone_about(ctx), info;

	return expect(what, try_domain(device, NULL, &info), 0) &&
	       expect(what, info.node, mine.node) &&
	       expect(what, (long long)info.fabric_id, (long long)mine.fabric_id);
}

/* Needs root, and adapters of a driver. */
bool device_names(void)
{
	const char *path = getenv("ANGARA_DEVICE");
	const size_t dir = strlen("/dev/angara");
	struct angara_domain_info info;
	bool ok;

	if (rank)
		return true;
	ok = opens(NULL, "by the launcher") & opens(path, "by its path") &
	     opens(path + dir, "by its number");
	path = strdup(path);
	unsetenv("ANGARA_DEVICE");
	ok &= expect("open of any device", try_domain(NULL, NULL, &info), 0);
	setenv("ANGARA_DEVICE", path, 1);
	return ok;
}

bool device_none(void)
{
	static const char *const devices[] = {
		"4000", "4294967296", "99999999999999999999", "0x", "nowhere",
		"/dev/null/0", "/dev/null", "",
	};
	struct angara_domain_info info;
	bool ok = true;
	size_t i;

	if (rank)
		return true;
	for (i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		ok &= expect(devices[i], try_domain(devices[i], NULL, &info), -ENODEV);
	angara_ctx_close(NULL);
	angara_domain_close(NULL);
	return ok;
}

/* Root may choose any partition. */
bool device_partition(void)
{
	const struct angara_domain_attr attr = {
		.size = sizeof(attr), .pkey = 77,
	};
	struct angara_domain_info info;

	return expect("partition", try_domain(NULL, &attr, &info), 0) &&
	       expect("its key", info.pkey, 77);
}

#define SIZE	.size = sizeof(struct angara_ctx_attr)

static bool lengths(void)
{
	static const struct angara_ctx_attr bad[] = {
		{ .sq_entries = 7 }, { .sq_entries = 4 }, { .sq_entries = 1U << 31 },
		{ .cq_entries = 24 }, { .cq_entries = 2 }, { .cq_entries = 1U << 31 },
		{ .flags = 1 },
	};
	bool ok = true;
	size_t i;

	for (i = 0; !rank && i < sizeof(bad) / sizeof(*bad); i++) {
		struct angara_ctx_attr attr = bad[i];

		ok &= expect("no size", try_ctx(&attr), -EINVAL);
		attr.size = sizeof(attr);
		ok &= expect("bad length", try_ctx(&attr), -EINVAL);
	}
	return ok;
}

/* Attributes have the sizes that programs of older and newer releases pass. */
static bool sizes(void)
{
	struct {
		struct angara_ctx_attr attr;
		uint64_t newer;
	} attr = { .attr = { .size = sizeof(attr), .sq_entries = 8 } };
	struct {
		struct angara_domain_info info;
		uint64_t newer;
	} info = { .info = { .size = sizeof(info) }, .newer = 99 };
	struct angara_domain_attr open = { .size = sizeof(open) - 4 };
	struct angara_team_attr old = { .size = sizeof(old) - 4 };
	struct angara_domain_info mine;
	struct angara_team *team;
	bool ok;

	ok = expect("team", angara_team_create(job, ctx, NULL, 0, &old, &team),
		    -EINVAL);
	if (rank)
		return ok;
	ok &= expect("release", angara_version(), ANGARA_VERSION);
	ok &= expect("newer", try_ctx(&attr.attr), 0);
	attr.newer = 1;
	ok &= expect("context with unknown fields", try_ctx(&attr.attr), -E2BIG);
	attr.attr.size = sizeof(attr.attr);
	ok &= expect("not looked at", try_ctx(&attr.attr), 0);
	attr.attr.size = 1U << 20;
	ok &= expect("beyond reason", try_ctx(&attr.attr), -E2BIG);
	attr.attr.size = sizeof(attr.attr) - 4;
	ok &= expect("before the first", try_ctx(&attr.attr), -EINVAL);
	attr.attr.size = 0;
	ok &= expect("no size", try_ctx(&attr.attr), -EINVAL);
	ok &= expect("domain", try_domain(NULL, &open, &mine), -EINVAL);

	mine = alone_about(ctx);
	ok &= expect("query", angara_domain_query(dom, &info.info), 0) &
	      expect("as asked", info.info.nodes, mine.nodes) &
	      expect("unknown is 0", (long long)info.newer, 0) &
	      expect("size that is returned", info.info.size, sizeof(info));
	info.info.size = 8;
	ok &= expect("older query", angara_domain_query(dom, &info.info), -EINVAL);
	info.info.size = UINT32_MAX;
	return ok & expect("huge query", angara_domain_query(dom, &info.info), -E2BIG);
}

/* A domain of the job and one without a job cannot reach each other. */
static bool job_keys(void)
{
	const struct angara_domain_attr attr = { .size = sizeof(attr), .job = job };
	struct angara_domain *own[2] = { NULL, NULL };
	struct angara_ctx *in[2] = { NULL, NULL };
	struct angara_mr *mr = NULL, *src = NULL;
	struct angara_peer self;
	bool ok = true;
	int i;

	for (i = 0; i < 2; i++)
		ok = ok && expect("open", angara_domain_open(NULL, &attr, &own[i]), 0) &&
		     expect("context", angara_ctx_open(own[i], NULL, &in[i]), 0);
	ok = ok && expect("memory", angara_malloc(own[0], 64, &mr), 0) &&
	     expect("memory", angara_malloc(own[1], 64, &src), 0);
	if (ok) {
		self = alone_self(in[0]);
		ok = expect("the same job", angara_put(in[1], self, angara_mr_key(mr),
						       0, src, 0, 64), 0) &
		     expect("no job", angara_put_inline(ctx, self, angara_mr_key(mr), 0,
							"x", 1) < 0, 1);
	}
	for (i = 0; i < 2; i++) {
		angara_ctx_close(in[i]);
		angara_domain_close(own[i]);
	}
	return ok & expect("barrier", angara_job_barrier(job), 0);
}

static bool all_contexts(void)
{
	const struct angara_ctx_attr small = {
		.size = sizeof(small), .sq_entries = 8, .cq_entries = 8,
	};
	struct angara_ctx *other[MANY + 1];
	int n = 0, ret = 0;

	if (rank)
		return true;
	while (n <= MANY && !ret) {
		ret = angara_ctx_open(dom, &small, &other[n]);
		n += !ret;
	}
	while (n)
		angara_ctx_close(other[--n]);
	return expect("taken", ret, -EBUSY) &
	       expect("given back", try_ctx(&small), 0);
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
	return ok & expect("text of an unknown status",
			   strcmp(angara_status_str(ANGARA_ST_NUM), unknown), 0);
}

const struct part open_parts[] = {
	{ "lengths of queues", lengths },
	{ "sizes of structures", sizes },
	{ "keys of jobs", job_keys },
	{ "all contexts", all_contexts },
	{ "few files", few_files },
	{ "texts of statuses", status_texts },
	{ NULL, NULL },
};
