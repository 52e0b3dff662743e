// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The provider's description, which libfabric's log functions need. */
#include "afi.h"

/* fi_prov_ini() fills in the functions. */
struct fi_provider afi_provider = {
	.version = FI_VERSION(0, 1),
	.name = "angara",
};
