// SPDX-License-Identifier: GPL-2.0-only
/* Start-up, options and errors: see app.h. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "app.h"

int app_start(struct app *app)
{
	int err;

	memset(app, 0, sizeof(*app));
	err = angara_job_init(&app->job);
	if (err)
		return fail("cannot join the job of angara-run: %s", strerror(-err));
	app->rank = angara_job_rank(app->job);
	app->size = angara_job_size(app->job);
	return 0;
}

int app_finish(struct app *app)
{
	free(app->peers);
	if (app->team)
		angara_team_leave(app->team);
	if (app->ctx)
		angara_ctx_close(app->ctx);
	angara_domain_close(app->dom);
	if (app->job)
		angara_job_finalize(app->job);
	return app->exit;
}

static void record(struct app *app, int status, int err, const char *fmt,
		   va_list args)
{
	int n;

	if (app->error[0])
		return;
	app->exit = status;
	n = vsnprintf(app->error, sizeof(app->error), fmt, args);
	if (err && n >= 0 && (size_t)n < sizeof(app->error))
		snprintf(app->error + n, sizeof(app->error) - n, ": %s",
			 strerror(-err));
}

int app_fail(struct app *app, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	record(app, APP_FAILED, err, fmt, args);
	va_end(args);
	return err ? err : -EINVAL;
}

int app_bad_input(struct app *app, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	record(app, APP_USAGE, 0, fmt, args);
	va_end(args);
	return -EINVAL;
}

/* State of a process, as app_agree() exchanges it. */
struct verdict {
	int32_t exit;
	char error[192];
};

static void say(struct app *app, const struct verdict *v, unsigned int rank)
{
	if (app->rank || app->reported)
		return;
	app->reported = true;
	/* Every process detects the same bad input, so the message names no rank. */
	if (v->exit == APP_USAGE || app->size == 1)
		fail("%s", v->error);
	else
		fail("rank %u: %s", rank, v->error);
}

int app_agree(struct app *app)
{
	struct verdict mine = { .exit = app->exit };
	struct verdict *all;
	unsigned int r;
	int err;

	all = calloc(app->size, sizeof(*all));
	if (!all)
		return app_fail(app, -ENOMEM, "cannot exchange the state of %u processes",
				app->size);
	memcpy(mine.error, app->error, sizeof(mine.error));
	err = angara_job_allgather(app->job, &mine, sizeof(mine), all);
	if (err) {
		app_fail(app, err, "a process of the job has ended");
		memcpy(mine.error, app->error, sizeof(mine.error));
		mine.exit = app->exit;
		say(app, &mine, app->rank);
		goto out;
	}
	for (r = 0; r < app->size && !all[r].exit; r++)
		;
	if (r < app->size) {
		say(app, &all[r], r);
		app->exit = all[r].exit;
		err = -ECANCELED;
	}
out:
	free(all);
	return err;
}

int app_allgather(struct app *app, const void *mine, size_t len, void *all)
{
	int err = angara_job_allgather(app->job, mine, len, all);

	return err ? app_fail(app, err, "cannot exchange data with the other processes") : 0;
}

static void open_ctx(struct app *app)
{
	const char *device = getenv("ANGARA_DEVICE");
	int err = angara_domain_open(NULL, NULL, &app->dom);

	app->info.size = sizeof(app->info);
	if (!err)
		err = angara_domain_query(app->dom, &app->info);
	if (!err)
		err = angara_domain_topo(app->dom, &app->topo);
	/* Only a torus has coordinates for the placement of processes. */
	if (err == -EOPNOTSUPP)
		err = 0;
	if (!err)
		err = angara_ctx_open(app->dom, NULL, &app->ctx);
	if (err == -ENODEV || err == -ENOENT)
		app_fail(app, 0, "no adapter %s: load the driver, for example "
			 "'modprobe angara_loop fabric=torus:2x2x2'",
			 device ? device : "in /dev");
	else if (err == -EACCES)
		app_fail(app, 0, "no permission for the adapter %s: only "
			 "root and the group angara may open it", device ? device : "in /dev");
	else if (err)
		app_fail(app, err, "adapter %s", device ? device : "in /dev");
}

/* Data that a process sends to all others. */
struct card {
	uint64_t fabric_id;
	struct angara_peer self;
};

int app_open(struct app *app)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE,
	};
	struct angara_ctx_info own = { .size = sizeof(own) };
	struct card card, *cards = NULL;
	unsigned int r;
	int err;

	open_ctx(app);
	err = app_agree(app);
	if (err)
		return err;
	app->peers = calloc(app->size, sizeof(*app->peers));
	cards = calloc(app->size, sizeof(*cards));
	if (!app->peers || !cards) {
		app_fail(app, -ENOMEM, "cannot get the addresses of the peers");
		goto out;
	}
	angara_ctx_query(app->ctx, &own);
	card = (struct card){ .fabric_id = app->info.fabric_id, .self = own.self };
	if (app_allgather(app, &card, sizeof(card), cards))
		goto out;
	for (r = 0; r < app->size; r++) {
		if (cards[r].fabric_id != app->info.fabric_id)
			app_fail(app, 0, "rank %u is on another fabric", r);
		app->peers[r] = cards[r].self;
	}
	err = app_agree(app);
	if (err)
		goto out;
	err = angara_team_create(app->job, app->ctx, NULL, 0, &attr, &app->team);
	if (err)
		app_fail(app, err, "cannot create the team of all processes");
out:
	free(cards);
	return app_agree(app);
}

static int allocated(struct app *app, size_t len, int err)
{
	if (err == -ENOMEM)
		return app_fail(app, 0, "%zu bytes cannot be registered: no "
				"memory, or 'ulimit -l' is too low", len);
	return err ? app_fail(app, err, "cannot register %zu bytes", len) : 0;
}

int app_malloc(struct app *app, size_t len, struct angara_mr **mr)
{
	return allocated(app, len, angara_malloc(app->dom, len, mr));
}

int app_malloc_all(struct app *app, size_t len, struct angara_mr **mr)
{
	return allocated(app, len, angara_team_malloc(app->team, len, mr));
}

const struct angara_op *app_op(struct app_req *req)
{
	*req = (struct app_req) {
		.op = { .size = sizeof(req->op), .cookie = (uintptr_t)req },
	};
	return &req->op;
}

const struct angara_op *app_notify(struct app_req *req, unsigned int n)
{
	app_op(req);
	req->op.flags = ANGARA_NOTIFY;
	req->op.notify = n;
	return &req->op;
}

int app_wait(struct app *app, struct app_req *req, const char *what)
{
	struct angara_completion c;
	int n;

	while (!req->ended) {
		struct app_req *other;

		n = angara_poll_wait(app->ctx, &c, 1, APP_TIMEOUT_MS);
		if (n < 0)
			return app_fail(app, n, "%s", what);
		other = (struct app_req *)(uintptr_t)c.cookie;
		other->c = c;
		other->ended = true;
	}
	if (req->c.status == ANGARA_ST_OK)
		return 0;
	app_fail(app, 0, "%s: %s (node %u)", what,
		 angara_status_str(req->c.status), req->c.node);
	return angara_status_errno(req->c.status);
}

int app_number(struct app *app, const char *option, const char *text,
	       uint64_t min, uint64_t max, uint64_t *value)
{
	if (!opts_scaled(text, value) || *value < min || *value > max)
		return app_bad_input(app, "%s '%s': not a number from %llu to %llu",
				     option, text, (unsigned long long)min,
				     (unsigned long long)max);
	return 0;
}

bool app_read(struct app *app, const struct opts_command *c, void *to, int argc,
	      char **argv)
{
	struct opts_command mine = *c;
	int status;

	mine.quiet = app->rank;
	status = opts_read(&mine, to, argc, argv);
	if (status < 0)
		return true;
	if (app->error[0])
		app_agree(app);
	app->exit = status;
	return false;
}

int app_option(struct app *app, int id, const char *value, struct app_options *o)
{
	switch (id) {
	case APP_FLIP:
		return app_taken(app_number(app, "--flip", value, 0, app->size - 1,
					    &o->flip));
	case APP_CHECK:
		o->check = true;
		break;
	case APP_SERIAL:
		o->serial = true;
		break;
	case APP_P2P:
		o->p2p = true;
		break;
	case APP_JSON:
		o->json = true;
		break;
	}
	return -1;
}

int app_no_more(struct app *app, int argc, char **argv)
{
	if (optind == argc)
		return 0;
	return app_bad_input(app, "unexpected argument '%s'; see %s --help",
			     argv[optind], tool_name);
}

double app_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}
