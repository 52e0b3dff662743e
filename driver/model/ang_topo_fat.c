// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fat tree: the k-ary n-tree of switches with 2k ports, reduced to its first
 * nodes.
 *
 * Two numbers identify a switch of level l: @high consists of the digits that
 * all nodes below the switch share, that is, all but the lowest l + 1; @low
 * consists of l digits that distinguish the switch from other switches above
 * the same nodes. Ports 0..k - 1 lead down, ports k..2k - 1 up; switches of the
 * highest level have no ports up. The destination's digit l selects the port
 * up, so no two destinations of a switch share a path down (D-mod-k routing).
 */
#include "ang_topo_int.h"

static u32 fat_arity(const struct ang_topo *topo)
{
	return topo->dims[0];
}

static u32 fat_power(const struct ang_topo *topo, u32 n)
{
	u32 power = 1;

	while (n-- > 0)
		power *= fat_arity(topo);
	return power;
}

/* Return: number of values of @high at a level. */
static u32 fat_highs(const struct ang_topo *topo, u32 level)
{
	u32 below = fat_power(topo, level + 1);

	return (topo->nodes + below - 1) / below;
}

struct fat_switch {
	u32 level;
	u32 high;
	u32 low;
};

static void fat_switch_of(const struct ang_topo *topo, u32 router, struct fat_switch *s)
{
	u32 at = router - topo->nodes;

	for (s->level = 0;; s->level++) {
		u32 lows = fat_power(topo, s->level);
		u32 all = fat_highs(topo, s->level) * lows;

		if (at < all) {
			s->high = at / lows;
			s->low = at % lows;
			return;
		}
		at -= all;
	}
}

static u32 fat_number(const struct ang_topo *topo, u32 level, u32 high, u32 low)
{
	u32 at = topo->nodes;
	u32 l;

	for (l = 0; l < level; l++)
		at += fat_highs(topo, l) * fat_power(topo, l);
	return at + high * fat_power(topo, level) + low;
}

static const char *fat_read(struct ang_topo *topo, const char *text,
			    struct ang_topo_why *why)
{
	static const char nodes[] = ",nodes=";
	u32 ports, levels, n, d;

	text = ang_topo_number(text, ANG_TOPO_PORTS, &ports);
	if (!text || ports < 2 || ports & 1) {
		why->what = "fattree: ports of a switch must be even, from 2 to 64";
		return NULL;
	}
	text = *text == ',' ? ang_topo_number(text + 1, ANG_TOPO_DIMS, &levels) : NULL;
	if (!text) {
		why->what = "fattree: levels must follow the ports and a comma, as in fattree:40,3, and be from 1 to 6";
		return NULL;
	}
	topo->switch_ports = (u16)ports;
	topo->levels = (u8)levels;
	topo->ndims = (u8)levels;
	topo->nports = (u8)(levels > 1 ? ports : ports / 2);
	for (d = 0; d < levels; d++)
		topo->dims[d] = (u16)(ports / 2);
	if (!ang_topo_count(topo)) {
		why->what = "fattree: more than 1048576 nodes";
		return NULL;
	}
	if (*text == ',') {
		for (n = 0; nodes[n]; n++)
			if (*text++ != nodes[n])
				break;
		text = nodes[n] ? NULL : ang_topo_number(text, topo->nodes, &n);
		if (!text) {
			why->what = "fattree: nodes= must be from 1 to (ports / 2) ^ levels";
			return NULL;
		}
		topo->nodes = n;
	}
	topo->routers = topo->nodes;
	for (d = 0; d < levels; d++)
		topo->routers += fat_highs(topo, d) * fat_power(topo, d);
	return text;
}

static char *fat_tail(const struct ang_topo *topo, char *text)
{
	static const char nodes[] = ",nodes=";
	u32 i;

	text = ang_topo_put_number(text, topo->switch_ports);
	*text++ = ',';
	text = ang_topo_put_number(text, topo->levels);
	if (topo->nodes != fat_power(topo, topo->levels)) {
		for (i = 0; nodes[i]; i++)
			*text++ = nodes[i];
		text = ang_topo_put_number(text, topo->nodes);
	}
	return text;
}

static u32 fat_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far)
{
	u32 k = fat_arity(topo);
	struct fat_switch s;
	u32 below, to;

	if (!ang_topo_is_switch(topo, router)) {
		*far = router % k;
		return port ? ANG_NONE : fat_number(topo, 0, router / k, 0);
	}
	fat_switch_of(topo, router, &s);
	if (port >= k) {
		if (s.level + 1U == topo->levels)
			return ANG_NONE;
		*far = s.high % k;
		return fat_number(topo, s.level + 1, s.high / k,
				  s.low + (port - k) * fat_power(topo, s.level));
	}
	to = s.high * k + port;
	if (!s.level) {
		*far = 0;
		return to < topo->nodes ? to : ANG_NONE;
	}
	below = fat_power(topo, s.level - 1);
	*far = k + s.low / below;
	return to < fat_highs(topo, s.level - 1) ?
	       fat_number(topo, s.level - 1, to, s.low % below) : ANG_NONE;
}

/* Digits are numbered from the highest: level l uses digit levels - 1 - l. */
static void fat_regs(const struct ang_topo *topo, u32 router, struct ang_topo_regs *regs)
{
	u32 n = topo->levels;
	struct fat_switch s;
	u32 level;

	if (!ang_topo_is_switch(topo, router)) {
		ang_topo_coord(topo, router, regs->own);
		return;
	}
	fat_switch_of(topo, router, &s);
	for (level = 0; level < n; level++) {
		u32 digit = n - 1 - level;

		regs->own[digit] = ANG_TOPO_ANY;
		regs->by[digit] = (u8)(n - 1 - s.level);
		if (level <= s.level)
			continue;
		regs->own[digit] = (u16)(s.high % fat_arity(topo));
		s.high /= fat_arity(topo);
	}
}

static u32 fat_exit(const struct ang_topo *topo, u32 router, u32 digit, u32 value)
{
	struct fat_switch s;

	if (!ang_topo_is_switch(topo, router))
		return 0;
	fat_switch_of(topo, router, &s);
	return topo->levels - 1U - digit > s.level ? fat_arity(topo) + value : value;
}

static u32 fat_class(const struct ang_topo *topo, u32 router, u32 port)
{
	struct fat_switch s;

	if (!ang_topo_is_switch(topo, router))
		return 0;
	fat_switch_of(topo, router, &s);
	return port >= fat_arity(topo) ? 1 + s.level : 2U * topo->levels - s.level;
}

/* The longest path goes up through all levels and down again. */
static u32 fat_longest(const struct ang_topo *topo)
{
	return 2U * topo->levels;
}

static u32 fat_keeper(const struct ang_topo *topo, u32 router)
{
	struct fat_switch s;

	fat_switch_of(topo, router, &s);
	return s.high * fat_power(topo, s.level + 1);
}

const struct ang_topo_ops ang_topo_fattree = {
	.most_first = true,
	.read = fat_read,
	.tail = fat_tail,
	.peer = fat_peer,
	.regs = fat_regs,
	.exit = fat_exit,
	.class = fat_class,
	.longest = fat_longest,
	.keeper = fat_keeper,
};
