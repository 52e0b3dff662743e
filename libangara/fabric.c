// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parser of ANGARA_FABRIC. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/angara.h>

#include "fabric.h"

#define EMBEDDED	"embedded"

/* Return: the text after @word, NULL if @text does not begin with it. */
static const char *after(const char *text, const char *word)
{
	while (*word)
		if (*text++ != *word++)
			return NULL;
	return text;
}

/* Copies up to ',' or the end.  Return: the rest, NULL if too long. */
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

/* Return: NULL, or what a valid value is. */
static const char *option(struct ang_spec *spec, const char *opt)
{
	const char *val;
	u32 fd;

	val = after(opt, "name=");
	if (val) {
		if (!name_ok(val))
			return "name= may have letters, digits, '.', '_' and '-'";
		memcpy(spec->name, val, strlen(val) + 1);
		return NULL;
	}
	val = after(opt, "ctxs=");
	if (val)
		return number(val, 1, 128, &spec->ctxs) ? NULL :
			"ctxs= must be from 1 to 128";
	val = after(opt, "trees=");
	if (val)
		return number(val, 1, ANGARA_MAX_TREES, &spec->trees) ? NULL :
			"trees= must be from 1 to 64";
	val = after(opt, "train=");
	if (val)
		return number(val, 1, 64, &spec->train) &&
		       !(spec->train & (spec->train - 1)) ? NULL :
			"train= must be a power of two from 1 to 64";
	val = after(opt, "procs=");
	if (val)
		return number(val, 1, ANG_EMBED_PROCS, &spec->procs) ? NULL :
			"procs= must be from 1 to 4096";
	val = after(opt, "heap=");
	if (val)
		return number(val, 1, 1U << 24, &spec->heap_mib) ? NULL :
			"heap= must be from 1 to 16777216 MiB";
	val = after(opt, "fd=");
	if (val && number(val, 0, 0x7FFFFFFF, &fd)) {
		spec->fd = (int)fd;
		return NULL;
	}
	return "known options are name=, ctxs=, trees=, train=, procs= and heap=";
}

/* Return: length of the fabric description that @text begins with. */
static size_t fabric_len(const char *text)
{
	size_t n = strcspn(text, ",");

	while (text[n]) {
		const char *opt = text + n + 1;

		if (!(*opt >= '0' && *opt <= '9') && !after(opt, "ports=") &&
		    !after(opt, "m=") && !after(opt, "nodes="))
			break;
		n += 1 + strcspn(opt, ",");
	}
	return n;
}

/* Return: the text after the fabric description; NULL with *why set. */
static const char *fabric(const char *text, struct ang_spec *spec,
			  const char **why)
{
	size_t n = fabric_len(text);
	char buf[ANG_SPEC_BYTES];
	struct ang_topo_why flaw;
	const char *path;

	if (n >= sizeof(buf)) {
		*why = "the description of the fabric is too long";
		return NULL;
	}
	memcpy(buf, text, n);
	buf[n] = 0;
	path = after(buf, "file:");
	if (path)
		*why = ang_spec_load(spec, path);
	else if (after(buf, "graph "))
		*why = "a graph is described by a file: file:PATH";
	else if (!ang_topo_read(&spec->topo, buf, &flaw))
		*why = flaw.what;
	if (!*why && spec->topo.routers > ANG_EMBED_NODES)
		*why = "a fabric has at most 4096 nodes and switches";
	return *why ? NULL : text + n;
}

static int embedded(const char *text, struct ang_spec *spec, const char **why)
{
	char buf[ANG_NAME_BYTES];

	spec->kind = ANG_FABRIC_EMBEDDED;
	if (*text == ':') {
		text = fabric(text + 1, spec, why);
		if (!text)
			return -EINVAL;
	}
	while (*text == ',') {
		text = item(text + 1, buf, sizeof(buf));
		*why = text ? option(spec, buf) : "an option is too long";
		if (*why)
			return -EINVAL;
	}
	if (!*text)
		return 0;
	*why = "expected ':FABRIC' or ',OPTION' after 'embedded'";
	return -EINVAL;
}

/**
 * ang_spec_parse() - parse ANGARA_FABRIC
 * @text: its value
 * @spec: out
 * @why: out: what a valid value is, on error
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
	*why = "expected 'embedded:2x2x2', 'loop' or '/dev/angaraN'";
	return -EINVAL;
}

/**
 * ang_spec_print() - format an embedded fabric as ANGARA_FABRIC
 * @spec: fabric
 * @text: out
 * @len: bytes of @text
 *
 * Return: 0; -EINVAL @text is too short.
 */
int ang_spec_print(const struct ang_spec *spec, char *text, size_t len)
{
	size_t at = (size_t)snprintf(text, len, EMBEDDED);
	const struct { const char *name; u32 val; } opts[] = {
		{ "ctxs", spec->ctxs }, { "trees", spec->trees },
		{ "train", spec->train },
		{ "procs", spec->procs }, { "heap", spec->heap_mib },
	};
	char line[ANG_TOPO_TEXT];
	u32 i;

#define ADD(...)							\
	(at += at < len ? (size_t)snprintf(text + at, len - at, __VA_ARGS__) : 0)

	if (spec->file[0]) {
		ADD(":file:%s", spec->file);
	} else if (spec->topo.nodes) {
		ang_topo_describe(&spec->topo, line);
		ADD(":%.*s", (int)strcspn(line, "\n"), line);
	}
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
 * ang_spec_size() - choose the size of the torus if the user gave none
 * @spec: fabric; a given size is kept
 * @nodes: minimum; dimensions are doubled in turn
 */
void ang_spec_size(struct ang_spec *spec, u32 nodes)
{
	u32 ndims = nodes > 4 ? 3 : nodes > 2 ? 2 : 1;
	u16 dims[] = { 1, 1, 1 };
	u32 have = 1;
	u32 d;

	if (spec->topo.nodes)
		return;
	for (d = 0; have < nodes && have < ANG_EMBED_NODES; have *= 2)
		dims[d++ % ndims] *= 2;
	ang_topo_init(&spec->topo, ndims, dims);
}
