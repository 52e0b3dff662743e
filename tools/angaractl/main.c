// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: options, objects and commands. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "angaractl.h"
#include "options.h"

#ifndef ANG_RELEASE
#define ANG_RELEASE "1.0"
#endif

#define TEXT_OF(number)	#number
#define TEXT(number)	TEXT_OF(number)
#define WORDS		128	/* bytes of the names of an object's commands */

const char tool_name[] = "angaractl";

struct options options;

enum {
	CTL_DOT = OPTS_LONG,
	CTL_FABRIC,
	CTL_IN_BAND,
};

static const struct object *const objects[] = {
	&dev_object, &link_object, &route_object, &tree_object, &ctx_object,
	&counters_object, &monitor_object, &top_object, &capture_object, &report_object, &discover_object,
};

static void usage(FILE *to)
{
	fputs("usage: angaractl [OPTIONS] OBJECT [COMMAND] [ARGUMENTS]\n\n"
	      "objects:\n", to);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		fprintf(to, "  %-10s %s\n", objects[i]->name, objects[i]->what);
	fputs("\noptions:\n"
	      "  -s, --server DIR  ask the angara-vfio with this --socket-dir, not the kernel\n"
	      "  -j, --json        JSON for programs\n"
	      "  -h, --help        this text, or that of an object\n"
	      "  -V, --version     version\n\n"
	      "Words may be shortened as long as they are unambiguous.\n", to);
}

static void object_usage(const struct object *object)
{
	printf("%s: %s\n\n", object->name, object->what);
	for (size_t i = 0; i < object->count; i++) {
		const struct command *c = &object->commands[i];

		printf("  angaractl %s%s%s%s%s\n      %s\n", object->name,
		       c->name ? " " : "", c->name ? c->name : "",
		       *c->args ? " " : "", c->args, c->what);
	}
}

static const struct object *select_object(const char *word)
{
	const char *names[ARRAY_SIZE(objects)];
	int i;

	for (size_t n = 0; n < ARRAY_SIZE(objects); n++)
		names[n] = objects[n]->name;
	i = match_word(word, names, ARRAY_SIZE(names), "object");
	return i < 0 ? NULL : objects[i];
}

/* Is a word an argument, rather than a command?  Then the first command is meant. */
static bool is_argument(const char *word)
{
	static const char *const keywords[] = { "dev", "fabric", "key" };

	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strcmp(word, keywords[i]))
			return true;
	return *word >= '0' && *word <= '9';
}

static const struct command *select_command(const struct object *object,
					    struct args *args)
{
	const char *names[8];
	int i;

	if (!object->commands[0].name || !args->count || is_argument(args->words[0]))
		return &object->commands[0];
	for (size_t n = 0; n < object->count; n++)
		names[n] = object->commands[n].name;
	i = match_word(args_next(args), names, object->count, "command");
	return i < 0 ? NULL : &object->commands[i];
}

static int run(const struct object *object, struct args *args)
{
	const struct command *command = select_command(object, args);
	unsigned int wrong;

	if (!command)
		return MISUSED;
	wrong = options.given & ~command->options;
	if (wrong)
		return misuse("%s does not take %s",
			      command->name ? command->name : object->name,
			      wrong & OPT_DOT ? "--dot" :
			      wrong & OPT_FABRIC ? "--fabric" :
			      wrong & OPT_IN_BAND ? "--in-band" : "--all");
	return command->run(args);
}

static int ctl_option(void *to, int id, const char *value)
{
	(void)to;
	switch (id) {
	case 's':
		options.server = value;
		break;
	case 'j':
		options.json = true;
		break;
	case 'h':
		options.help = true;
		break;
	case 'a':
		options.given |= OPT_ALL;
		break;
	case CTL_DOT:
		options.given |= OPT_DOT;
		break;
	case CTL_IN_BAND:
		options.given |= OPT_IN_BAND;
		break;
	default:
		options.fabric = value;
		options.given |= OPT_FABRIC;
	}
	return -1;
}

/* Objects, and the names of their commands, for completion. */
static void fill_words(struct opts_word *words)
{
	static char texts[ARRAY_SIZE(objects)][WORDS];

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		const struct object *object = objects[i];
		size_t at = 0;

		words[i].name = object->name;
		for (size_t n = 0; n < object->count && at < WORDS; n++)
			if (object->commands[n].name)
				at += (size_t)snprintf(texts[i] + at, WORDS - at, "%s ",
						       object->commands[n].name);
		words[i].words = at ? texts[i] : NULL;
	}
}

static int read_options(int argc, char **argv)
{
	static const struct opt known[] = {
		{ 's', "server", "DIR", NULL, "@dir" },
		{ 'j', "json", NULL, NULL, NULL },
		{ 'a', "all", NULL, NULL, NULL },
		{ CTL_DOT, "dot", NULL, NULL, NULL },
		{ CTL_FABRIC, "fabric", "FABRIC", NULL, "torus: file:" },
		{ CTL_IN_BAND, "in-band", NULL, NULL, NULL },
		{ 0 }
	};
	static struct opts_word words[ARRAY_SIZE(objects) + 1];
	const struct opts_command command = {
		.version = ANG_RELEASE ", interface version "
			   TEXT(ANGARA_GENL_VERSION),
		.opts = known, .words = words, .take = ctl_option,
	};

	fill_words(words);
	return opts_read(&command, NULL, argc, argv);
}

int main(int argc, char **argv)
{
	const struct object *object;
	struct args args;
	int status;

	status = read_options(argc, argv);
	if (status >= 0)
		return status;
	args.count = argc - optind;
	args.words = argv + optind;

	if (!args.count) {
		usage(options.help ? stdout : stderr);
		return options.help ? DONE : MISUSED;
	}
	object = select_object(args_next(&args));
	if (!object)
		return MISUSED;
	if (options.help) {
		object_usage(object);
		return DONE;
	}
	status = run(object, &args);
	if (!status && (fflush(stdout) || ferror(stdout)))
		return fail("standard output cannot be written");
	return status;
}
