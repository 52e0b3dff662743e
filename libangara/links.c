// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of links that are down. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <angara/fabric.h>

#include "links.h"

static bool end_before(u32 router, u32 port, u32 other, u32 other_port)
{
	return router != other ? router < other : port < other_port;
}

/**
 * ang_links_add() - add a link to a list
 * @links: list
 * @a: one end of the link
 * @b: the other end
 *
 * Return: 0, also if the list has the link; -ENOMEM.
 */
int ang_links_add(struct ang_links *links, struct ang_end a, struct ang_end b)
{
	struct ang_end e = end_before(a.router, a.port, b.router, b.port) ? a : b;
	u32 at = links->n;

	while (at && end_before(e.router, e.port, links->link[at - 1].router,
				links->link[at - 1].port))
		at--;
	if (at && links->link[at - 1].router == e.router &&
	    links->link[at - 1].port == e.port)
		return 0;
	if (links->n == links->room) {
		u32 room = links->room ? 2 * links->room : 16;
		void *link = realloc(links->link, room * sizeof(*links->link));

		if (!link)
			return -ENOMEM;
		links->link = link;
		links->room = room;
	}
	memmove(links->link + at + 1, links->link + at,
		(links->n - at) * sizeof(*links->link));
	links->link[at] = (struct angara_failure){ e.router, e.port };
	links->n++;
	return 0;
}

void ang_links_free(struct ang_links *links)
{
	free(links->link);
	*links = (struct ang_links){ 0 };
}
