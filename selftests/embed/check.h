/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A test program exits if a call of the library fails. */
#ifndef EMBED_CHECK_H
#define EMBED_CHECK_H

#include <err.h>
#include <string.h>

#define CHECK(call)							\
do {									\
	int ret_ = (call);						\
									\
	if (ret_)							\
		errx(1, "%s: %s", #call, strerror(-ret_));		\
} while (0)

#endif /* EMBED_CHECK_H */
