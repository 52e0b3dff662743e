/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Public structures that can grow.  They begin with the size of the structure
 * as the caller knows it.  A shorter structure of an older program is extended
 * with zeros; a longer one of a newer program is accepted if its tail is zero.
 */
#ifndef ANG_SIZED_H
#define ANG_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ang_env.h"

#define ANG_SIZED_MAX	4096U	/* upper bound of a structure's size */

/*
 * Bytes of @type in the first release that had @type: up to and including
 * member @last.
 */
#define ANG_SIZED_FIRST(type, last) \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))

static inline bool ang_sized_zero(const char *bytes, size_t n)
{
	while (n && !bytes[n - 1])
		n--;
	return !n;
}

/**
 * ang_sized_take() - copy an attribute structure of the caller
 * @to: out: the structure as this library knows it
 * @known: bytes of @to
 * @from: structure of the caller; NULL means zeros
 * @first: bytes of the structure in the first release
 *
 * Return: 0; -EINVAL the size of @from is below @first; -E2BIG @from sets a
 * field that this library does not know.
 */
static inline int ang_sized_take(void *to, size_t known, const void *from,
				 size_t first)
{
	u32 size = (u32)known;

	memset(to, 0, known);
	if (from)
		memcpy(&size, from, sizeof(size));
	if (size < first)
		return -EINVAL;
	if (size > ANG_SIZED_MAX)
		return -E2BIG;
	if (from && size > known &&
	    !ang_sized_zero((const char *)from + known, size - known))
		return -E2BIG;
	if (from)
		memcpy(to, from, size < known ? size : known);
	memcpy(to, &size, sizeof(size));
	return 0;
}

/**
 * ang_sized_give() - fill in an information structure of the caller
 * @to: structure of the caller, with its size set; fields that this library
 *	does not know become zero
 * @from: the structure as this library knows it
 * @known: bytes of @from
 * @first: bytes of the structure in the first release
 *
 * Return: 0; -EINVAL the size of @to is below @first; -E2BIG the size is above
 * ANG_SIZED_MAX.
 */
static inline int ang_sized_give(void *to, const void *from, size_t known,
				 size_t first)
{
	u32 size;

	memcpy(&size, to, sizeof(size));
	if (size < first)
		return -EINVAL;
	if (size > ANG_SIZED_MAX)
		return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, size < known ? size : known);
	memcpy(to, &size, sizeof(size));
	return 0;
}

#endif /* ANG_SIZED_H */
