/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the applications share: start-up, options, and errors that end all
 * processes of a job with one line.
 *
 * A process that fails records the reason with app_fail() and continues to the
 * next app_agree(), where all processes learn whether to continue; rank 0
 * prints the message of the lowest rank that failed. So no process waits for
 * one that has failed.
 */
#ifndef ANG_APPS_APP_H
#define ANG_APPS_APP_H

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <angara/angara.h>
#include <linux/angara.h>

/* A wait that takes longer means that the job has failed. */
#define APP_TIMEOUT_MS	120000

/* Exit statuses. */
#define APP_OK		0
#define APP_FAILED	1	/* a check or an operation failed */
#define APP_USAGE	2	/* bad arguments or input */

/**
 * struct app - a process of the job
 * @name: of the program, in messages
 * @job: the job
 * @dom: domain, after app_open()
 * @info: of @dom
 * @topo: its torus
 * @ctx: context, after app_open()
 * @team: all processes, after app_open(); by software
 * @peers: address of each rank, after app_open()
 * @rank: of this process
 * @size: processes of the job
 * @exit: APP_*, after a failure
 * @reported: rank 0 has printed the reason
 * @error: first failure here, "" if there is none
 */
struct app {
	const char *name;
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_domain_info info;
	struct angara_ctx *ctx;
	struct angara_team *team;
	struct angara_topo topo;
	struct angara_peer *peers;
	unsigned int rank;
	unsigned int size;
	int exit;
	bool reported;
	char error[192];
};

/** Join the job; needs no adapter.  Return: 0, or the exit status. */
int app_start(struct app *app, const char *name);

/** Open the adapter and learn the peers' addresses; all processes call. */
int app_open(struct app *app);

/** Close everything.  Return: the exit status. */
int app_finish(struct app *app);

/**
 * app_fail() - record a failure, unless there was one before
 * @app: this process
 * @err: -errno, explained behind the message; 0 if the message is complete
 * @fmt: message, without program name and rank
 *
 * Return: @err, or -EINVAL if it is 0.
 */
int app_fail(struct app *app, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** As app_fail() for bad user input: exit status APP_USAGE. */
int app_bad_input(struct app *app, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * app_agree() - has any process failed?
 * @app: all processes of the job call
 *
 * Return: 0 if none has; else a negative errno, and rank 0 has printed why.
 */
int app_agree(struct app *app);

/** Gather one block of each process, out of band; see angara_job_allgather(). */
int app_allgather(struct app *app, const void *mine, size_t len, void *all);

/** Zeroed registered memory of this process. */
int app_malloc(struct app *app, size_t len, struct angara_mr **mr);

/** As app_malloc(), with the same key at all processes, which all call. */
int app_malloc_all(struct app *app, size_t len, struct angara_mr **mr);

/**
 * struct app_req - an operation under way, whose cookie is its address
 * @op: last argument of the call that starts it
 * @ended: it is complete
 * @c: how
 */
struct app_req {
	struct angara_op op;
	bool ended;
	struct angara_completion c;
};

/** Start an operation that app_wait() waits for. */
const struct angara_op *app_op(struct app_req *req);
/** The same, and increment user counter @n of the target. */
const struct angara_op *app_notify(struct app_req *req, unsigned int n);
/** Wait for an operation; @what names it in the message. */
int app_wait(struct app *app, struct app_req *req, const char *what);

/** Start an operation by @call as soon as there is room in the queues. */
#define APP_POST(call) ({ int app_ret; do app_ret = (call); \
			  while (app_ret == -EAGAIN); app_ret; })

/**
 * app_number() - read the argument of an option
 * @app: this process
 * @option: its name, for the message
 * @text: digits, optionally followed by K, M or G (powers of 1024)
 * @min: least value
 * @max: greatest value
 * @value: out
 *
 * Return: 0; -EINVAL and a message recorded.
 */
int app_number(struct app *app, const char *option, const char *text,
	       uint64_t min, uint64_t max, uint64_t *value);

/** Report an error of getopt_long() ('?' or ':'); @argv is main()'s. */
int app_bad_option(struct app *app, int found, char **argv);

/**
 * struct app_options - options of several programs
 * @flip: rank that corrupts its data, or APP_NO_RANK
 * @check: compare with a serial run
 * @serial: run without an adapter
 * @p2p: collective operations by puts
 * @json: machine-readable result
 * @help: only print the usage
 */
struct app_options {
	uint64_t flip;
	bool check;
	bool serial;
	bool p2p;
	bool json;
	bool help;
};

#define APP_NO_RANK	(~0U)

/* For tables of long options: each program lists the ones it uses. */
#define APP_OPT_FLIP	{ "flip", required_argument, NULL, 'F' }
#define APP_OPT_CHECK	{ "check", no_argument, NULL, 'C' }
#define APP_OPT_SERIAL	{ "serial", no_argument, NULL, 'S' }
#define APP_OPT_P2P	{ "p2p", no_argument, NULL, 'P' }
#define APP_OPT_JSON	{ "json", no_argument, NULL, 'J' }
#define APP_OPT_HELP	{ "help", no_argument, NULL, 'H' }

/**
 * app_option() - handle an option that is not the program's own
 * @app: this process
 * @found: what getopt_long() returned
 * @argv: main()'s
 * @o: options, set
 *
 * Return: 0; -EINVAL unknown option, and a message recorded.
 */
int app_option(struct app *app, int found, char **argv, struct app_options *o);

/**
 * Check that no argument follows the options.  Return: 0; -EINVAL and a message
 * recorded.
 */
int app_no_more(struct app *app, int argc, char **argv);

/** Seconds of the machine's monotonic clock, the same in all processes. */
double app_now(void);

#endif /* ANG_APPS_APP_H */
