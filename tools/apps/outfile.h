/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that appears under its name only when it is complete. */
#ifndef ANG_APPS_OUTFILE_H
#define ANG_APPS_OUTFILE_H

#include <stddef.h>

/**
 * struct outfile - output under way
 * @fd: -1: not open, and writing does nothing
 * @path: name in the end
 * @temp: name until then
 */
struct outfile {
	int fd;
	char path[4096];
	char temp[4096];
};

/** Open DIR/NAME for writing.  Return: 0 or -errno. */
int outfile_open(struct outfile *f, const char *dir, const char *name);
int outfile_write(struct outfile *f, const void *data, size_t len);
/**
 * Rename to the final name.  Return: 0 or -errno, and then the file is removed.
 */
int outfile_commit(struct outfile *f);
/** Remove the file; does nothing after outfile_commit(). */
void outfile_abort(struct outfile *f);

#endif /* ANG_APPS_OUTFILE_H */
