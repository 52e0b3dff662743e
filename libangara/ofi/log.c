// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The provider's description, which each line of its log needs. */
#include "afi.h"

/* fi_prov_ini() adds its functions. */
struct fi_provider afi_provider = {
	.version = FI_VERSION(0, 1),
	.name = "angara",
};
