/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of the applications: start-up, options, and errors that end all
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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <angara/angara.h>
#include <linux/angara.h>

#include "../common/complain.h"
#include "../common/options.h"

/* Longest wait; after it the job has failed. */
#define APP_TIMEOUT_MS	120000

/* Exit statuses. */
#define APP_OK		0
#define APP_FAILED	1	/* a check or an operation failed */
#define APP_USAGE	2	/* bad arguments or input */

/**
 * struct app - a process of the job
 * @job: the job
 * @dom: domain, after app_open()
 * @info: properties of @dom
 * @topo: torus of @dom
 * @ctx: context, after app_open()
 * @team: all processes, after app_open(); its collectives are by software
 * @peers: address of each rank, after app_open()
 * @rank: rank of this process
 * @size: processes of the job
 * @exit: APP_*, after a failure
 * @reported: rank 0 has printed the reason
 * @error: first failure of this process, "" if there is none
 */
struct app {
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
int app_start(struct app *app);

/**
 * Open the adapter and get the peers' addresses; all processes have to call it.
 */
int app_open(struct app *app);

/** Close everything.  Return: the exit status. */
int app_finish(struct app *app);

/**
 * app_fail() - record a failure, unless there was one before
 * @app: this process
 * @err: -errno, explained after the message; 0 if the message is complete
 * @fmt: message, without program name and rank
 *
 * Return: @err, or -EINVAL if it is 0.
 */
int app_fail(struct app *app, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** As app_fail(), for bad input of the user: sets the exit status APP_USAGE. */
int app_bad_input(struct app *app, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * app_agree() - check whether any process has failed
 * @app: this process; all processes of the job have to call
 *
 * Return: 0 if no process has failed; otherwise a negative errno, and rank 0
 * has printed the reason.
 */
int app_agree(struct app *app);

/** Gather one block of each process, out of band; see angara_job_allgather(). */
int app_allgather(struct app *app, const void *mine, size_t len, void *all);

/** Allocate zeroed, registered memory of this process. */
int app_malloc(struct app *app, size_t len, struct angara_mr **mr);

/**
 * As app_malloc(), with the same key at all processes; all processes have to
 * call it.
 */
int app_malloc_all(struct app *app, size_t len, struct angara_mr **mr);

/**
 * struct app_req - an operation in flight; the address of this struct is its cookie
 * @op: last argument of the call that starts the operation
 * @ended: the operation is complete
 * @c: its completion
 */
struct app_req {
	struct angara_op op;
	bool ended;
	struct angara_completion c;
};

/** Options of an operation for which app_wait() can wait. */
const struct angara_op *app_op(struct app_req *req);
/** As app_op(), and increment user counter @n of the target. */
const struct angara_op *app_notify(struct app_req *req, unsigned int n);
/** Wait for an operation; @what is its name in the message. */
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

/**
 * struct app_options - options of several programs
 * @flip: rank that corrupts its data, or APP_NO_RANK
 * @check: compare with a serial run
 * @serial: run without an adapter
 * @p2p: collective operations by puts
 * @json: machine-readable result
 */
struct app_options {
	uint64_t flip;
	bool check;
	bool serial;
	bool p2p;
	bool json;
};

#define APP_NO_RANK	(~0U)

/*
 * Ids of struct opt: first those of a program's own options, then those of
 * common options.
 */
enum {
	APP_OPT_OWN = OPTS_LONG,
	APP_FLIP = OPTS_LONG + 16,
	APP_CHECK,
	APP_SERIAL,
	APP_P2P,
	APP_JSON = 'j',
};

/* Entries for tables of options: each program lists the options that it uses. */
#define APP_OPT_FLIP(what)	{ APP_FLIP, "flip", "RANK", what, NULL }
#define APP_OPT_CHECK	{ APP_CHECK, "check", NULL, \
			  "compare bit for bit with a serial run", NULL }
#define APP_OPT_SERIAL	{ APP_SERIAL, "serial", NULL, \
			  "run serially, without any adapter", NULL }
#define APP_OPT_P2P(what)	{ APP_P2P, "p2p", NULL, what, NULL }
#define APP_OPT_JSON	{ APP_JSON, "json", NULL, "print the result as JSON", NULL }

/**
 * app_read() - read the command line; rank 0 prints help and errors
 * @app: this process
 * @c: the program and its options; take() calls app_option() for the options
 *	above
 * @to: passed to take()
 * @argc: arguments
 * @argv: arguments; operands follow from the index optind
 *
 * All processes have the same command line, so all of them end or none.
 *
 * Return: true to continue; false to end with app_finish().
 */
bool app_read(struct app *app, const struct opts_command *c, void *to, int argc,
	      char **argv);

/**
 * app_option() - take a common option
 * @app: this process
 * @id: id of the option
 * @value: value of the option
 * @o: options, set
 *
 * Return: as struct opts_command.take().
 */
int app_option(struct app *app, int id, const char *value, struct app_options *o);

/** Convert the result of app_number() or a similar function to that of take(). */
static inline int app_taken(int err)
{
	return err ? APP_USAGE : -1;
}

/**
 * Check that no argument follows the options.  Return: 0; -EINVAL and a message
 * recorded.
 */
int app_no_more(struct app *app, int argc, char **argv);

/** Seconds of the machine's monotonic clock, the same in all processes. */
double app_now(void);

#endif /* ANG_APPS_APP_H */
