// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A shared library with variables that PEs write to, for library.c.  With SAID
 * defined, the library declares them symmetric.
 */
#include <shmemx.h>

#ifdef SAID
SHMEMX_SYMMETRIC_LIBRARY;
#endif

long shared_data[4] = { 7, 7, 7, 7 };
char shared_bss[5000];
