// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Discovery of a fabric: breadth first, one request per end of a link.
 *
 * Routers are not trusted.  The first router, which is the caller's own,
 * reports the number of routers; each port of each router is tried once, so the
 * search ends, whatever routers answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <angara/manage.h>

#include "lib.h"

#define DISCOVER_ROUTERS	65536U	/* more routers than any fabric has */

/**
 * struct search - a search
 * @m: manager
 * @key: key of all routers
 * @map: result
 * @at: indexed by a router's number: 1 + its index in the map; 0: not found yet
 * @tried: indexed like map.routers: ports whose link is in map.cables, one bit each
 * @unnamed: entries of routers whose number is unknown, or cannot be true
 * @room: allocated entries of map.cables
 */
struct search {
	struct angara_manager *m;
	u64 key;
	struct angara_map *map;
	u32 *at;
	u64 *tried;
	u32 unnamed;
	u32 room;
};

static_assert(ANGARA_ROUTER_SWITCH == ANGARA_MGMT_IS_SWITCH &&
	      ANGARA_ROUTER_KEYED == ANGARA_MGMT_HAS_KEY &&
	      ANGARA_ROUTER_SEALED == ANGARA_MGMT_SEALED, "flags");

static void about_get(struct angara_router *about, const struct angara_mgmt_node *n)
{
	*about = (struct angara_router){
		.joined = le64_to_cpu(n->joined),
		.down = le64_to_cpu(n->down),
		.faulty = le64_to_cpu(n->faulty),
		.taken = le64_to_cpu(n->taken),
		.dropped = le64_to_cpu(n->dropped),
		.refused = le64_to_cpu(n->refused),
		.trees = n->trees,
		.ports = n->ports,
		.port = n->port == ANGARA_PORT_NONE ? UINT32_MAX : n->port,
		.flags = le32_to_cpu(n->flags),
	};
}

static bool has_bit(u64 set, u32 port)
{
	return set >> port & 1;
}

static int cable_add(struct search *s, const struct angara_cable *cable)
{
	struct angara_map *map = s->map;

	if (cable->to != UINT32_MAX && cable->far != UINT32_MAX)
		s->tried[cable->to] |= 1ULL << cable->far;

	if (map->ncables == s->room) {
		u32 room = s->room ? 2 * s->room : 64;
		void *cables = realloc(map->cables, room * sizeof(*map->cables));

		if (!cables)
			return -ENOMEM;
		map->cables = cables;
		s->room = room;
	}
	map->cables[map->ncables++] = *cable;
	return 0;
}

/* Is the router's answer consistent with the map? */
static bool is_plausible(const struct search *s, const struct angara_mgmt_node *n,
			 u32 router)
{
	u32 ports = n->ports;

	if (s->map->nrouters && n->port >= ports)
		return false;
	return le32_to_cpu(n->router) == router && router < s->map->size &&
	       le64_to_cpu(n->fabric_id) == s->map->fabric_id &&
	       le32_to_cpu(n->routers) == s->map->size && ports <= ANGARA_MAX_PORTS &&
	       (ports == ANGARA_MAX_PORTS || !(le64_to_cpu(n->joined) >> ports));
}

/*
 * Asks the router at the end of @found.path.
 * Return: 0 @found is filled, even if the router answered with an error or not
 * at all; errors of this adapter.
 */
static int router_ask(struct search *s, struct angara_found *found,
		      struct angara_mgmt_node *n)
{
	int ret = angara_manage_get(s->m, &found->path, ANGARA_MGMT_NODE, 0, n,
				    sizeof(*n), &found->router);

	switch (ret) {
	case 0:
		found->state = ANGARA_FOUND_OK;
		if (s->map->size && !is_plausible(s, n, found->router))
			found->state = ANGARA_FOUND_WRONG;
		else
			about_get(&found->about, n);
		return 0;
	case -EACCES:
		found->state = ANGARA_FOUND_REFUSED;
		return 0;
	case -ETIMEDOUT:
	case -ENXIO:
	case -ENETDOWN:
		/*
		 * No router answered, or a router on the way reports that the
		 * path leads no further, since a link went down meanwhile.  The
		 * router at the end of the path is unknown.
		 */
		found->router = UINT32_MAX;
		found->state = ANGARA_FOUND_SILENT;
		return 0;
	case -EPERM:
	case -EINTR:
	case -ENOMEM:
	case -ENODEV:
		return ret;
	default:
		/* No router has a reason to answer this request with another error. */
		if (!found->path.hops)
			return ret;
		found->state = ANGARA_FOUND_WRONG;
		return 0;
	}
}

/* Return: index of the router in the map; UINT32_MAX: there is no room. */
static u32 router_add(struct search *s, const struct angara_found *found)
{
	struct angara_map *map = s->map;
	bool named = found->router < map->size && found->state != ANGARA_FOUND_WRONG;

	if (named && s->at[found->router])
		return s->at[found->router] - 1;
	/*
	 * Half of the entries are for routers with a number, one for each.  The
	 * other half is for routers without one: such a router may take several
	 * entries, since the map cannot tell that they are the same router.
	 */
	if (!named && s->unnamed == map->size)
		return UINT32_MAX;
	s->unnamed += !named;
	map->routers[map->nrouters] = *found;
	if (named)
		s->at[found->router] = map->nrouters + 1;
	return map->nrouters++;
}

static int port_try(struct search *s, u32 from, u32 port)
{
	const struct angara_found *near = &s->map->routers[from];
	struct angara_cable cable = {
		.from = from, .port = port, .to = UINT32_MAX, .far = UINT32_MAX,
	};
	struct angara_found found = { .path = near->path };
	struct angara_mgmt_node n;
	int ret;

	if (has_bit(near->about.down, port)) {
		cable.state = ANGARA_CABLE_DOWN;
		return cable_add(s, &cable);
	}
	cable.state = has_bit(near->about.faulty, port) ? ANGARA_CABLE_FAULTY :
							 ANGARA_CABLE_UP;
	if (found.path.hops == ANGARA_MGMT_HOPS)
		return cable_add(s, &cable);
	found.path.port[found.path.hops++] = (uint8_t)port;
	ret = router_ask(s, &found, &n);
	if (ret)
		return ret;
	cable.to = router_add(s, &found);
	if (found.state == ANGARA_FOUND_OK)
		cable.far = found.about.port;
	if (cable.far != UINT32_MAX && has_bit(found.about.faulty, cable.far))
		cable.state = ANGARA_CABLE_FAULTY;
	return cable_add(s, &cable);
}

static int router_visit(struct search *s, u32 at)
{
	u64 ports = s->map->routers[at].about.joined;

	for (u32 port = 0; port < ANGARA_MAX_PORTS; port++) {
		int ret;

		if (!(ports >> port & 1) || s->tried[at] >> port & 1)
			continue;
		ret = port_try(s, at, port);
		if (ret)
			return ret;
	}
	return 0;
}

static int search_run(struct search *s)
{
	struct angara_found own = { .path.key = s->key };
	struct angara_map *map = s->map;
	struct angara_mgmt_node n;
	int ret = router_ask(s, &own, &n);

	if (ret)
		return ret;
	if (own.state != ANGARA_FOUND_OK)
		return own.state == ANGARA_FOUND_REFUSED ? -EACCES : -ETIMEDOUT;
	map->fabric_id = le64_to_cpu(n.fabric_id);
	map->nodes = le32_to_cpu(n.nodes);
	map->size = le32_to_cpu(n.routers);
	if (!is_plausible(s, &n, own.router) || map->size > DISCOVER_ROUTERS ||
	    map->nodes > map->size)
		return -EIO;
	map->routers = calloc(2 * (size_t)map->size, sizeof(*map->routers));
	s->at = calloc(map->size, sizeof(*s->at));
	s->tried = calloc(2 * (size_t)map->size, sizeof(*s->tried));
	if (!map->routers || !s->at || !s->tried)
		return -ENOMEM;
	router_add(s, &own);
	for (u32 i = 0; !ret && i < map->nrouters; i++)
		ret = router_visit(s, i);
	return ret;
}

ANG_PUBLIC int angara_discover(struct angara_manager *m, uint64_t key,
			       struct angara_map **out)
{
	struct search s = { .m = m, .key = key };
	int ret;

	*out = NULL;
	s.map = calloc(1, sizeof(*s.map));
	if (!s.map)
		return -ENOMEM;
	ret = search_run(&s);
	free(s.at);
	free(s.tried);
	if (ret)
		angara_map_free(s.map);
	else
		*out = s.map;
	return ret;
}

ANG_PUBLIC void angara_map_free(struct angara_map *map)
{
	if (!map)
		return;
	free(map->routers);
	free(map->cables);
	free(map);
}
