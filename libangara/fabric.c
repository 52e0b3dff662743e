// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The grammar of ANGARA_FABRIC.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/angara.h>

#include "fabric.h"

#define EMBEDDED	"embedded"

/* Return: what follows @word in @text, NULL if it does not begin so. */
static const char *after(const char *text, const char *word)
{
	while (*word)
		if (*text++ != *word++)
			return NULL;
	return text;
}

/* Copies up to ',' or the end.  Return: what follows, NULL if too long. */
static const char *item(const char *text, char *buf, size_t size)
{
	size_t n = 0;

	while (text[n] && text[n] != ',')
		n++;
	if (n >= size)
		return NULL;
	memcpy(buf, text, n);
	buf[n] = 0;
	return text + n;
}

static bool number(const char *text, u32 min, u32 max, u32 *val)
{
	u64 v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		v = 10 * v + (u64)(*text - '0');
		if (v > max)
			return false;
	}
	*val = (u32)v;
	return v >= min;
}

static bool name_ok(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
		    !(*c >= '0' && *c <= '9') && *c != '_' && *c != '-' &&
		    *c != '.')
			return false;
	return c != name;
}

/* Return: NULL, or what would be right. */
static const char *option(struct ang_spec *spec, const char *opt)
{
	const char *val;
	u32 fd;

	val = after(opt, "name=");
	if (val) {
		if (!name_ok(val))
			return "name= wants letters, digits, '.', '_' and '-'";
		memcpy(spec->name, val, strlen(val) + 1);
		return NULL;
	}
	val = after(opt, "ctxs=");
	if (val)
		return number(val, 1, 128, &spec->ctxs) ? NULL :
			"ctxs= wants a number from 1 to 128";
	val = after(opt, "trees=");
	if (val)
		return number(val, 1, ANGARA_MAX_TREES, &spec->trees) ? NULL :
			"trees= wants a number from 1 to 64";
	val = after(opt, "train=");
	if (val)
		return number(val, 1, 64, &spec->train) &&
		       !(spec->train & (spec->train - 1)) ? NULL :
			"train= wants a power of two from 1 to 64";
	val = after(opt, "procs=");
	if (val)
		return number(val, 1, ANG_EMBED_PROCS, &spec->procs) ? NULL :
			"procs= wants a number from 1 to 4096";
	val = after(opt, "heap=");
	if (val)
		return number(val, 1, 1U << 24, &spec->heap_mib) ? NULL :
			"heap= wants MiB, from 1 to 16777216";
	val = after(opt, "fd=");
	if (val && number(val, 0, 0x7FFFFFFF, &fd)) {
		spec->fd = (int)fd;
		return NULL;
	}
	return "options are name=, ctxs=, trees=, train=, procs= and heap=";
}

static int embedded(const char *text, struct ang_spec *spec, const char **why)
{
	char buf[ANG_NAME_BYTES];

	spec->kind = ANG_FABRIC_EMBEDDED;
	if (*text == ':') {
		text = item(text + 1, buf, sizeof(buf));
		if (!text || angara_topo_parse(buf, &spec->topo) ||
		    angara_topo_nodes(&spec->topo) > ANG_EMBED_NODES) {
			*why = "sizes are 1 to 4 numbers joined by 'x', such as 2x2x2, at most 4096 nodes";
			return -EINVAL;
		}
	}
	while (*text == ',') {
		text = item(text + 1, buf, sizeof(buf));
		*why = text ? option(spec, buf) : "an option is too long";
		if (*why)
			return -EINVAL;
	}
	if (!*text)
		return 0;
	*why = "'embedded' goes on with ':SIZES' or ',OPTION'";
	return -EINVAL;
}

/**
 * ang_spec_parse() - read ANGARA_FABRIC
 * @text: its value
 * @spec: out
 * @why: out: what would be right, if it is not
 *
 * Return: 0; -EINVAL.
 */
int ang_spec_parse(const char *text, struct ang_spec *spec, const char **why)
{
	const char *rest;

	*spec = (struct ang_spec){ .fd = -1 };
	*why = NULL;
	rest = after(text, EMBEDDED);
	if (rest)
		return embedded(rest, spec, why);
	spec->kind = ANG_FABRIC_CDEV;
	rest = after(text, "loop");
	if (rest && (!*rest || (*rest == ':' && !rest[1])))
		return 0;
	if (*text == '/' && item(text, spec->device, sizeof(spec->device)))
		return 0;
	*why = "it is 'embedded:2x2x2', 'loop' or '/dev/angaraN'";
	return -EINVAL;
}

/**
 * ang_spec_print() - the other way round, for an embedded fabric
 * @spec: fabric
 * @text: out
 * @len: room there
 *
 * Return: 0; -EINVAL there is no room.
 */
int ang_spec_print(const struct ang_spec *spec, char *text, size_t len)
{
	size_t at = (size_t)snprintf(text, len, EMBEDDED);
	const struct { const char *name; u32 val; } opts[] = {
		{ "ctxs", spec->ctxs }, { "trees", spec->trees },
		{ "train", spec->train },
		{ "procs", spec->procs }, { "heap", spec->heap_mib },
	};
	u32 i;

#define ADD(...)							\
	(at += at < len ? (size_t)snprintf(text + at, len - at, __VA_ARGS__) : 0)

	for (i = 0; i < spec->topo.ndims; i++)
		ADD("%c%u", i ? 'x' : ':', spec->topo.dims[i]);
	for (i = 0; i < sizeof(opts) / sizeof(*opts); i++)
		if (opts[i].val)
			ADD(",%s=%u", opts[i].name, opts[i].val);
	if (spec->name[0])
		ADD(",name=%s", spec->name);
	if (spec->fd >= 0)
		ADD(",fd=%d", spec->fd);
#undef ADD
	return at < len ? 0 : -EINVAL;
}

/**
 * ang_spec_size() - choose the torus where none was asked for
 * @spec: fabric; one that has its size keeps it
 * @nodes: so many at least: the sizes are doubled in turn
 */
void ang_spec_size(struct ang_spec *spec, u32 nodes)
{
	struct angara_topo *t = &spec->topo;
	u32 have = 1;
	u32 d;

	if (t->ndims)
		return;
	t->ndims = nodes > 4 ? 3 : nodes > 2 ? 2 : 1;
	for (d = 0; d < t->ndims; d++)
		t->dims[d] = 1;
	for (d = 0; have < nodes && have < ANG_EMBED_NODES; have *= 2)
		t->dims[d++ % t->ndims] *= 2;
}
