/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that appears under its name only when it is complete. */
#ifndef ANG_APPS_OUTFILE_H
#define ANG_APPS_OUTFILE_H

#include <stddef.h>

/**
 * struct outfile - a file being written
 * @fd: -1: not open, and writing does nothing
 * @path: final name
 * @temp: name until the file is complete
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
 * Rename the file to its final name.  Return: 0, or -errno after removal of the
 * file.
 */
int outfile_commit(struct outfile *f);
/** Remove the file; does nothing after outfile_commit(). */
void outfile_abort(struct outfile *f);

#endif /* ANG_APPS_OUTFILE_H */
