// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The torus of a domain's fabric, from the description of the fabric.
 */
#include <stdlib.h>

#include <angara/topo.h>

#include "lib.h"

ANG_PUBLIC int angara_domain_topo(struct angara_domain *dom,
				  struct angara_topo *topo)
{
	char *text;
	int ret = dom->dev.ops->describe(&dom->dev, &text);

	if (ret)
		return ret;
	ret = angara_topo_read(text, topo);
	free(text);
	return ret;
}
