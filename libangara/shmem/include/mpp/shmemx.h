/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The place of the header in old programs, deprecated. */
#include <shmemx.h>
