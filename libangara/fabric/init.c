// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where libfabric finds the provider.
 *
 * It is built against the headers of libfabric 1.17 and runs with that and
 * with what came later: structures only grew at their end, and libfabric takes
 * a provider that speaks the version of its own, whatever that is.
 */
#include "afi.h"

static void cleanup(void)
{
}

struct fi_provider afi_provider = {
	.version = FI_VERSION(0, 1),
	.name = "angara",
	.getinfo = afi_getinfo,
	.fabric = afi_fabric_open,
	.cleanup = cleanup,
};

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
	afi_provider.fi_version = fi_version();
	fi_param_define(&afi_provider, "device", FI_PARAM_STRING,
			"Adapter to use, such as 3 or /dev/angara3 "
			"(default: the one of this process's place)");
	fi_param_define(&afi_provider, "keep", FI_PARAM_SIZE_T,
			"MiB of messages that a domain keeps for receives yet "
			"to be posted (default: %d)", AFI_KEEP_MIB);
	fi_param_define(&afi_provider, "coll", FI_PARAM_STRING,
			"How collective operations are done: auto (by the "
			"adapters where they can), offload (by them or not at "
			"all), software (default: auto)");
	fi_param_define(&afi_provider, "join_timeout", FI_PARAM_INT,
			"Seconds for all members to join a group, 0: for ever "
			"(default: %d)", AFI_JOIN_S);
	fi_param_define(&afi_provider, "coll_timeout", FI_PARAM_INT,
			"Seconds for a collective operation, 0: for ever "
			"(default: %d)", AFI_CALL_S);
	return &afi_provider;
}
