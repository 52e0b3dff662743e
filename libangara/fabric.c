// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parser of ANGARA_FABRIC. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/angara.h>

#include "fabric.h"

#define EMBEDDED	"embedded"
#define KNOWN		"known options are name=, ctxs=, trees=, train=, procs=, heap=, "	\
			"loss=, corrupt=, delay= and seed="

/* Return: the text after @word, NULL if @text does not begin with it. */
static const char *text_after(const char *text, const char *word)
{
	while (*word)
		if (*text++ != *word++)
			return NULL;
	return text;
}

/*
 * Copies the text up to ',' or the end.  Return: the rest of the text; NULL:
 * the text is too long.
 */
static const char *text_item(const char *text, char *buf, size_t size)
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

static bool text_number(const char *text, u32 min, u32 max, u32 *val)
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

/*
 * Reads a decimal number such as 0.1 or 25e-3, times 10^@scale, rounded down;
 * at most 2^32 - 1.  The decimal point does not depend on the locale.
 * Return: the text after it; NULL: there is no number, or it is too large.
 */
static const char *text_decimal(const char *text, int scale, u32 *val)
{
	const char *digits;
	u64 v = 0;

	for (digits = text; *text >= '0' && *text <= '9'; text++)
		if (v > ~0U)
			scale++;
		else
			v = 10 * v + (u64)(*text - '0');
	if (text == digits)
		return NULL;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++) {
			if (v > ~0U)
				continue;
			v = 10 * v + (u64)(*text - '0');
			scale--;
		}
	if (*text == 'e') {
		bool minus = text[1] == '-';
		u32 power = 0;

		text += 1 + minus;
		if (*text < '0' || *text > '9')
			return NULL;
		for (; *text >= '0' && *text <= '9'; text++)
			power = power > 99 ? power : 10 * power + (u32)(*text - '0');
		scale += minus ? -(int)power : (int)power;
	}
	for (; scale < 0 && v; scale++)
		v /= 10;
	for (; scale > 0 && v && v <= ~0U; scale--)
		v *= 10;
	*val = (u32)v;
	return v > ~0U ? NULL : text;
}

/*
 * Reads a probability; @val is in units of 1 / ANGARA_FAULT_ONE, that is,
 * 10^-9.
 */
static bool text_share(const char *text, u32 *val)
{
	text = text_decimal(text, 9, val);
	return text && !*text && *val <= ANGARA_FAULT_ONE;
}

/* Reads a time with a unit.  @val: out: the time in cycles. */
static bool text_delay(const char *text, u32 *val)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	const char *rest;
	u32 i, ns;

	for (i = 0; i < 4; i++) {
		rest = text_decimal(text, 3 * (int)i, &ns);
		if (rest && !strcmp(rest, units[i]) &&
		    ns <= ANGARA_FAULT_MAX_DELAY * ANGARA_CYCLE_NS) {
			*val = (ns + ANGARA_CYCLE_NS - 1) / ANGARA_CYCLE_NS;
			return true;
		}
	}
	return false;
}

/*
 * Reads an option for faults of all links.  Return: as spec_option(); @opt if
 * this is not an option for faults.
 */
static const char *spec_fault(struct ang_spec *spec, const char *opt)
{
	const char *val;

	val = text_after(opt, "loss=");
	if (val)
		return text_share(val, &spec->fault.loss) ? NULL :
			"loss= must be from 0 to 1, such as 1e-3";
	val = text_after(opt, "corrupt=");
	if (val)
		return text_share(val, &spec->fault.corrupt) ? NULL :
			"corrupt= must be from 0 to 1, such as 1e-3";
	val = text_after(opt, "delay=");
	if (val)
		return text_delay(val, &spec->fault.delay) ? NULL :
			"delay= must be a time of at most 1s, such as 5us";
	val = text_after(opt, "seed=");
	if (val)
		return text_number(val, 0, ~0U, &spec->seed) ? NULL :
			"seed= must be from 0 to 4294967295";
	return opt;
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

/* Reads an option.  Return: NULL; after an error, a description of a valid value. */
static const char *spec_option(struct ang_spec *spec, const char *opt)
{
	const char *val;
	u32 fd;

	val = spec_fault(spec, opt);
	if (val != opt)
		return val;

	val = text_after(opt, "name=");
	if (val) {
		if (!name_ok(val))
			return "name= may have letters, digits, '.', '_' and '-'";
		memcpy(spec->name, val, strlen(val) + 1);
		return NULL;
	}
	val = text_after(opt, "ctxs=");
	if (val)
		return text_number(val, 1, 128, &spec->ctxs) ? NULL :
			"ctxs= must be from 1 to 128";
	val = text_after(opt, "trees=");
	if (val)
		return text_number(val, 1, ANGARA_MAX_TREES, &spec->trees) ? NULL :
			"trees= must be from 1 to 64";
	val = text_after(opt, "train=");
	if (val)
		return text_number(val, 1, 64, &spec->train) &&
		       !(spec->train & (spec->train - 1)) ? NULL :
			"train= must be a power of two from 1 to 64";
	val = text_after(opt, "procs=");
	if (val)
		return text_number(val, 1, ANG_EMBED_PROCS, &spec->procs) ? NULL :
			"procs= must be from 1 to 4096";
	val = text_after(opt, "heap=");
	if (val)
		return text_number(val, 1, 1U << 24, &spec->heap_mib) ? NULL :
			"heap= must be from 1 to 16777216 MiB";
	val = text_after(opt, "fd=");
	if (val && text_number(val, 0, 0x7FFFFFFF, &fd)) {
		spec->fd = (int)fd;
		return NULL;
	}
	return KNOWN;
}

/* Return: length of the fabric description that @text begins with. */
static size_t fabric_len(const char *text)
{
	size_t n = strcspn(text, ",");

	while (text[n]) {
		const char *opt = text + n + 1;

		if (!(*opt >= '0' && *opt <= '9') && !text_after(opt, "ports=") &&
		    !text_after(opt, "m=") && !text_after(opt, "nodes="))
			break;
		n += 1 + strcspn(opt, ",");
	}
	return n;
}

/*
 * Reads the fabric description.  Return: the text after it; NULL: it is not
 * valid, see @why.
 */
static const char *spec_fabric(const char *text, struct ang_spec *spec,
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
	path = text_after(buf, "file:");
	if (path)
		*why = ang_spec_load(spec, path);
	else if (text_after(buf, "graph "))
		*why = "a graph is described by a file: file:PATH";
	else if (!ang_topo_read(&spec->topo, buf, &flaw))
		*why = flaw.what;
	if (!*why && spec->topo.routers > ANG_EMBED_NODES)
		*why = "a fabric has at most 4096 nodes and switches";
	return *why ? NULL : text + n;
}

static int spec_embedded(const char *text, struct ang_spec *spec, const char **why)
{
	char buf[ANG_NAME_BYTES];

	spec->kind = ANG_FABRIC_EMBEDDED;
	if (*text == ':') {
		text = spec_fabric(text + 1, spec, why);
		if (!text)
			return -EINVAL;
	}
	while (*text == ',') {
		text = text_item(text + 1, buf, sizeof(buf));
		*why = text ? spec_option(spec, buf) : "an option is too long";
		if (*why)
			return -EINVAL;
	}
	if ((u64)spec->fault.loss + spec->fault.corrupt > ANGARA_FAULT_ONE) {
		*why = "the sum of loss= and corrupt= must be at most 1";
		return -EINVAL;
	}
	if (!*text)
		return 0;
	*why = "expected ':FABRIC' or ',OPTION' after 'embedded'";
	return -EINVAL;
}

/**
 * ang_spec_parse() - parse ANGARA_FABRIC
 * @text: value of ANGARA_FABRIC
 * @spec: out
 * @why: out: description of a valid value, on error
 *
 * Return: 0; -EINVAL.
 */
int ang_spec_parse(const char *text, struct ang_spec *spec, const char **why)
{
	const char *rest;

	*spec = (struct ang_spec){ .fd = -1 };
	*why = NULL;
	rest = text_after(text, EMBEDDED);
	if (rest)
		return spec_embedded(rest, spec, why);
	spec->kind = ANG_FABRIC_CDEV;
	rest = text_after(text, "loop");
	if (rest && (!*rest || (*rest == ':' && !rest[1])))
		return 0;
	if (*text == '/' && text_item(text, spec->device, sizeof(spec->device)))
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
		{ "seed", spec->seed },
	};
	const struct { const char *name; u32 val; } shares[] = {
		{ "loss", spec->fault.loss }, { "corrupt", spec->fault.corrupt },
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
	for (i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		if (shares[i].val)
			ADD(",%s=%ue-9", shares[i].name, shares[i].val);
	if (spec->fault.delay)
		ADD(",delay=%uns", spec->fault.delay * ANGARA_CYCLE_NS);
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
 * @nodes: minimum number of nodes; dimensions are doubled in turn
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
