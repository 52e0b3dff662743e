// SPDX-License-Identifier: GPL-2.0-only
/* All cases; see main.c of the model's tests. */
#include <stdarg.h>
#include <stdio.h>

#include "cases.h"

const struct test_case *const test_cases[] = {
	wire_cases, link_cases, tcp_cases,
#ifdef VFIO_TLS
	tls_cases,
#endif
	apart_cases, NULL,
};

int test_option(const char *option)
{
	return -1;
}

char said[8192];
static size_t at;

void said_clear(void)
{
	at = 0;
	said[0] = 0;
}

/* Keeps the last messages of the servers for the tests. */
void say(const char *fmt, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	va_list ap;

	pthread_mutex_lock(&lock);
	if (at > sizeof(said) / 2)
		at = 0;
	va_start(ap, fmt);
	at += (size_t)vsnprintf(said + at, sizeof(said) - at - 2, fmt, ap);
	va_end(ap);
	said[at++] = '\n';
	said[at] = 0;
	pthread_mutex_unlock(&lock);
}
