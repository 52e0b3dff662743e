/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Old path of the header, deprecated. */
#include <shmem.h>
