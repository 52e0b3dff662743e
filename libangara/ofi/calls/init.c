// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Entry point through which libfabric finds the provider.
 *
 * The provider is built with the headers of libfabric 1.17 and runs with this
 * and later versions: structures only grow at their end, and libfabric accepts
 * a provider that reports the version of the loaded libfabric.
 */
#include "afi.h"

static void init_cleanup(void)
{
}

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
	afi_provider.fi_version = fi_version();
	afi_provider.getinfo = afi_getinfo;
	afi_provider.fabric = afi_fabric_open;
	afi_provider.cleanup = init_cleanup;
	fi_param_define(&afi_provider, "device", FI_PARAM_STRING,
			"Adapter to use, such as 3 or /dev/angara3 "
			"(default: chosen by the rank of this process)");
	fi_param_define(&afi_provider, "keep", FI_PARAM_SIZE_T,
			"MiB of unexpected messages that a domain keeps "
			"(default: %d)", AFI_KEEP_MIB);
	fi_param_define(&afi_provider, "coll", FI_PARAM_STRING,
			"Execution of collective operations: auto (on the "
			"adapters if possible), offload (on the adapters, else "
			"an error), software (default: auto)");
	fi_param_define(&afi_provider, "join_timeout", FI_PARAM_INT,
			"Timeout of a join in seconds, 0: none "
			"(default: %d)", AFI_JOIN_S);
	fi_param_define(&afi_provider, "coll_timeout", FI_PARAM_INT,
			"Timeout of a collective operation in seconds, 0: none "
			"(default: %d)", AFI_CALL_S);
	return &afi_provider;
}
