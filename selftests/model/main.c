// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the cases of test_cases[] whose names begin with an argument, or all
 * cases; TAP on stdout.  --list prints the names instead.  With --stop before
 * any names, the program ends after the first failure.  test_option() may define
 * more options.
 */
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#ifndef CASE_SECONDS
#define CASE_SECONDS	300	/* limit for a case, which hangs if it takes longer */
#endif

jmp_buf test_failed;
char test_why[512];
static char late[256];	/* message if the case hangs */

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list args;
	int n;

	n = snprintf(test_why, sizeof(test_why), "%s:%d: ",
		     base ? base + 1 : file, line);
	va_start(args, format);
	vsnprintf(test_why + n, sizeof(test_why) - (size_t)n, format, args);
	va_end(args);
	longjmp(test_failed, 1);
}

static int wanted(const char *name, int argc, char **argv)
{
	int i;

	if (argc < 2)
		return 1;
	for (i = 1; i < argc; i++)
		if (!strncmp(name, argv[i], strlen(argv[i])))
			return 1;
	return 0;
}

/* Ends the program, since other threads of the case may never end. */
static void hangs(int sig)
{
	(void)sig;
	_exit(write(STDOUT_FILENO, late, strlen(late)) < 0 ? 3 : 2);
}

static int run(const struct test_case *c, int number)
{
	int bad = setjmp(test_failed);

	snprintf(late, sizeof(late),
		 "# no end after %d s\nnot ok %d - %s\n", CASE_SECONDS, number,
		 c->name);
	signal(SIGALRM, hangs);
	alarm(CASE_SECONDS);
	if (!bad)
		c->run();
	alarm(0);
	if (bad)
		printf("# %s\n", test_why);
	printf("%sok %d - %s\n", bad ? "not " : "", number, c->name);
	fflush(stdout);
	return bad;
}

int main(int argc, char **argv)
{
	const struct test_case *c;
	int stop = 0;
	int number = 0;
	int failed = 0;
	int status = argc > 1 ? test_option(argv[1]) : -1;
	u32 i;

	if (status >= 0)
		return status;
	if (argc > 1 && !strcmp(argv[1], "--stop")) {
		stop = 1;
		argc--;
		argv++;
	}
	for (i = 0; test_cases[i]; i++) {
		for (c = test_cases[i]; c->name; c++) {
			if (argc > 1 && !strcmp(argv[1], "--list"))
				puts(c->name);
			else if (wanted(c->name, argc, argv))
				failed += run(c, ++number);
			if (failed && stop)
				return 1;
		}
	}
	if (number)
		printf("1..%d\n", number);
	return failed ? 1 : 0;
}
