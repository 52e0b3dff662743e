// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules, by system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "angtest.h"
#include "module.h"

const char *at_module_begin(char *reload, size_t len)
{
	int fd = at_module_open("angara_loop");
	char dims[64];

	if (fd < 0)
		return "ANGARA_MODULES does not name the folder of the modules";
	close(fd);
	at_loop_dims(dims, sizeof(dims));
	snprintf(reload, len, "modprobe angara_loop %s%s",
		 dims[0] ? "fabric=" : "", dims);
	return at_module_unload("angara_loop") ? "the loopback is in use" : NULL;
}

int at_module_open(const char *name)
{
	const char *dir = getenv("ANGARA_MODULES");
	char path[256];
	int fd;

	if (!dir)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s.ko", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int at_module_load(int fd, const char *args)
{
	return syscall(SYS_finit_module, fd, args, 0) ? -errno : 0;
}

int at_module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}
