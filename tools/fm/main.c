// SPDX-License-Identifier: GPL-2.0-only
/* angara-fm: options, and the lock that lets only one of several managers lead. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fm.h"
#include "options.h"

const char tool_name[] = "angara-fm";

/* Options that files shared with angaractl read. */
struct options options;

enum {
	FM_SOCKET = OPTS_LONG,
	FM_GROUP,
	FM_TREES,
	FM_QUOTA,
	FM_GRACE,
	FM_KEEP_ROUTES,
	FM_KEEP_TREES,
};

/** fm_now() - nanoseconds of a clock that is never set */
uint64_t fm_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * FM_NS + (uint64_t)ts.tv_nsec;
}

/** fm_address() - address of the manager's socket */
int fm_address(const struct fm_opts *opts, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(opts->socket) >= sizeof(at->sun_path))
		return fail("%s: the path is too long", opts->socket);
	strcpy(at->sun_path, opts->socket);
	return DONE;
}

/* Reads a list such as "0-3,8". */
static int read_trees(const char *text, uint64_t *set)
{
	const char *at = text;

	*set = 0;
	do {
		uint64_t low, high;

		at = opts_digits(at, ANGARA_MAX_TREES - 1, &low);
		high = low;
		if (at && *at == '-')
			at = opts_digits(at + 1, ANGARA_MAX_TREES - 1, &high);
		if (!at || high < low || (*at && *at != ','))
			return misuse("invalid --trees '%s': expected numbers from 0 to %d, such as 4-7,9",
				      text, ANGARA_MAX_TREES - 1);
		*set |= ~0ULL >> (63 - (high - low)) << low;
	} while (*at++);
	return -1;
}

static int take_option(void *to, int id, const char *value)
{
	struct fm_opts *opts = to;
	uint64_t seconds;
	int status;

	switch (id) {
	case 'j':
		options.json = true;
		return -1;
	case FM_SOCKET:
		opts->socket = value;
		return -1;
	case FM_GROUP:
		opts->group = value;
		return -1;
	case FM_TREES:
		return read_trees(value, &opts->trees);
	case FM_QUOTA:
		return opts_number("--quota", value, 1, ANGARA_MAX_TREES, &opts->quota);
	case FM_KEEP_ROUTES:
		opts->keep_routes = true;
		return -1;
	case FM_KEEP_TREES:
		opts->keep_trees = true;
		return -1;
	default:
		status = opts_number("--grace", value, 0, 3600, &seconds);
		if (status < 0)
			opts->grace_ns = seconds * FM_NS;
		return status;
	}
}

static int read_options(int argc, char **argv, struct fm_opts *opts)
{
	static const struct opt known[] = {
		{ FM_SOCKET, "socket", "PATH", "socket of the manager (" ANG_FM_SOCKET ")", "@file" },
		{ FM_GROUP, "group", "NAME", "group that may use it (angara)", NULL },
		{ FM_TREES, "trees", "LIST", "trees to lease, such as 4-15 (all)", NULL },
		{ FM_QUOTA, "quota", "N", "trees of a user (half of them)", NULL },
		{ FM_GRACE, "grace", "SECONDS", "time until an unused tree of an earlier manager\n"
			"is taken back (10)", NULL },
		{ FM_KEEP_ROUTES, "keep-routes", NULL, "do not change routes when links go down or come up",
		  NULL },
		{ FM_KEEP_TREES, "keep-trees", NULL, "do not repair trees when links go down", NULL },
		{ 'j', "json", NULL, "status: JSON for programs", NULL },
		{ 0 }
	};
	static const struct opts_word words[] = { { "status", NULL }, { 0 } };
	const struct opts_command command = {
		.version = ANG_RELEASE, .usage = " [OPTION]... [status]",
		.what = "Lease trees of the network to users, and lead routes and trees around links\n"
			"that are down.  status: show the leases.",
		.opts = known, .words = words, .take = take_option,
	};

	return opts_read(&command, opts, argc, argv);
}

/* Makes the folder of the socket, unless systemd has made it. */
static void make_folder(const char *file)
{
	char path[256];
	char *end;

	snprintf(path, sizeof(path), "%s", file);
	end = strrchr(path, '/');
	if (!end || end == path)
		return;
	*end = '\0';
	mkdir(path, 0755);
}

/*
 * Waits until no other manager has this socket.  @lock: out: file that is locked
 * while this manager or its child runs.  Return: DONE; FAILED, with a message.
 */
static int lead(const struct fm_opts *opts, int *lock)
{
	char path[256];
	int fd;

	make_folder(opts->socket);
	snprintf(path, sizeof(path), "%s.lock", opts->socket);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* If a standard stream was closed, the file has its number: choose another one. */
	if (fd >= 0 && fd <= STDERR_FILENO)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	*lock = fd;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return DONE;
	if (errno == EWOULDBLOCK)
		puts("angara-fm: waits for another manager to end, or for its repair of trees");
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			return fail("%s: %s", path, strerror(errno));
	return DONE;
}

int main(int argc, char **argv)
{
	struct fm_opts opts = {
		.socket = ANG_FM_SOCKET, .group = "angara", .trees = ~0ULL,
		.grace_ns = 10 * FM_NS,
	};
	int status = read_options(argc, argv, &opts);
	int lock = -1;

	if (status >= 0)
		return status;
	if (optind < argc) {
		if (optind + 1 == argc && !strcmp(argv[optind], "status"))
			return list_status(&opts);
		return misuse("unknown word '%s'; see --help", argv[optind]);
	}
	if (options.json)
		return misuse("--json needs status");
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	status = lead(&opts, &lock);
	if (!status)
		status = lease_start(&opts);
	if (!status)
		status = clients_listen(&opts);
	if (!status && !(opts.keep_routes && opts.keep_trees))
		status = routes_start(&opts, lock);
	if (status)
		return status;
	puts("angara-fm: ready");
	return clients_run();
}
