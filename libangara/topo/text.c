// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files with descriptions of fabrics.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define FILE_MOST	(16U << 20)	/* limit of bytes of a description */

/**
 * ang_text_load() - read a file
 * @path: file
 * @out: out: text of the file, which the caller frees
 *
 * Return: 0; -EFBIG the file is longer than 16 MiB; -EINVAL it has a zero byte;
 * -errno.
 */
int ang_text_load(const char *path, char **out)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0, got;
	int ret;

	if (!file)
		return -errno;
	do {
		char *more = realloc(text, size + 65537);

		if (!more || size > FILE_MOST) {
			free(more ? more : text);
			fclose(file);
			return more ? -EFBIG : -ENOMEM;
		}
		text = more;
		got = fread(text + size, 1, 65536, file);
		size += got;
	} while (got);
	text[size] = 0;
	ret = ferror(file) ? -EIO : memchr(text, 0, size) ? -EINVAL : 0;
	fclose(file);
	if (ret)
		free(text);
	else
		*out = text;
	return ret;
}
