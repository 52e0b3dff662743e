/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For profiling libraries: shmem.h declares the routines pshmem_..., too. */
#include <shmem.h>
