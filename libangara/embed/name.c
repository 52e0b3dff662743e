// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of named embedded fabrics. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embed.h"
#include "name.h"

void emb_name_path(const char *name, char path[EMB_PATH_BYTES])
{
	snprintf(path, EMB_PATH_BYTES, "/dev/shm/angara-%u-%s", geteuid(), name);
}

/*
 * Removes a segment's file, unless @path now names a newer file; under the
 * gate.
 */
void emb_name_remove(int fd, const char *path)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_nlink)
		unlink(path);
}

/* Removes a segment's file if no process has a slot; under the gate. */
void emb_remove_if_last(int fd, const char *path)
{
	if (!emb_locked(fd, EMB_LOCK_SLOT(0), ANG_EMBED_PROCS))
		emb_name_remove(fd, path);
}

/**
 * emb_name_sweep() - remove the file of a fabric that no process uses any more
 * @name: its name
 */
void emb_name_sweep(const char *name)
{
	char path[EMB_PATH_BYTES];
	int fd;

	emb_name_path(name, path);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!emb_lock(fd, EMB_GATE, NULL))
		emb_remove_if_last(fd, path);
	close(fd);
}
