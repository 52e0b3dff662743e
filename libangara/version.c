// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Version of the library. */
#include "lib.h"

ANG_PUBLIC uint32_t angara_version(void)
{
	return ANGARA_VERSION;
}
