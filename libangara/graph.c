// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files that describe embedded fabrics as graphs; shared with angara-run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "topo/text.h"

static void spec_flaw(struct ang_spec *spec, const struct ang_topo_why *why)
{
	if (why->line)
		snprintf(spec->flaw, sizeof(spec->flaw), "line %u: %s",
			 why->line, why->what);
	else
		snprintf(spec->flaw, sizeof(spec->flaw), "%s", why->what);
}

/*
 * Is a graph a valid fabric?  The check fills the routing table of the graph.
 */
static bool graph_check(const struct ang_topo *topo, const char *text,
			struct ang_topo_why *why)
{
	struct ang_topo copy = *topo;
	void *table = malloc(ang_topo_table_size(&copy));
	bool ok;

	why->what = "no memory for the table of the fabric";
	if (!table)
		return false;
	ok = ang_topo_fill(&copy, text, table, why);
	free(table);
	return ok;
}

static int spec_path(struct ang_spec *spec, const char *path)
{
	char *full = realpath(path, NULL);
	int ret = full ? 0 : -errno;

	/*
	 * Processes in other directories read the path from a list separated by
	 * commas, so the path must be absolute and without commas.
	 */
	if (!ret && (strlen(full) >= sizeof(spec->file) || strchr(full, ',')))
		ret = -ENAMETOOLONG;
	if (!ret)
		strcpy(spec->file, full);
	free(full);
	return ret;
}

/**
 * ang_spec_load() - read the description of a fabric from a file
 * @spec: fabric; out: topo, file
 * @path: file
 *
 * Return: NULL; after an error a message, stored in @spec.
 */
const char *ang_spec_load(struct ang_spec *spec, const char *path)
{
	struct ang_topo_why why;
	char *text = NULL;
	int ret;

	ret = spec_path(spec, path);
	if (!ret)
		ret = ang_text_load(spec->file, &text);
	if (ret) {
		snprintf(spec->flaw, sizeof(spec->flaw), "%s: %s", path,
			 strerror(-ret));
		return spec->flaw;
	}
	if (ang_topo_read(&spec->topo, text, &why) &&
	    (spec->topo.kind != ANG_TOPO_GRAPH ||
	     graph_check(&spec->topo, text, &why))) {
		/*
		 * Instead of a graph, a file may contain a one-line description,
		 * as in ANGARA_FABRIC.  Then spec->topo needs no file.
		 */
		if (spec->topo.kind != ANG_TOPO_GRAPH)
			spec->file[0] = 0;
	} else {
		spec_flaw(spec, &why);
	}
	free(text);
	return spec->flaw[0] ? spec->flaw : NULL;
}
