/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading and unloading the modules by system calls: external programs take
 * longer than the modules on instrumented kernels.
 */
#ifndef ANGTEST_MODULE_H
#define ANGTEST_MODULE_H

#include <stddef.h>

/*
 * Unloads the loopback; @reload gets the arguments that restore it. Returns the
 * reason to skip the test, or NULL.
 */
const char *at_module_begin(char *reload, size_t len);
/* Opens a module in $ANGARA_MODULES.  Return: file or -errno. */
int at_module_open(const char *name);
int at_module_load(int fd, const char *args);
int at_module_unload(const char *name);

#endif /* ANGTEST_MODULE_H */
