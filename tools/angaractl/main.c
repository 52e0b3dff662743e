// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: options, objects and commands. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

#ifndef ANG_RELEASE
#define ANG_RELEASE "1.0"
#endif

struct options options;

static const struct object *const objects[] = {
	&dev_object, &link_object, &tree_object, &ctx_object, &counters_object,
	&monitor_object, &capture_object,
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

static const struct command *select_command(const struct object *object,
					    struct args *args)
{
	const char *names[8];
	int i;

	if (!object->commands[0].name || !args->count)
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
			      wrong & OPT_FABRIC ? "--fabric" : "--all");
	return command->run(args);
}

static int read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "server", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "all", no_argument, NULL, 'a' },
		{ "dot", no_argument, NULL, 'd' },
		{ "fabric", required_argument, NULL, 'f' },
		{ 0 }
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":s:jhVa", known, NULL)) != -1) {
		switch (c) {
		case 's':
			options.server = optarg;
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
		case 'd':
			options.given |= OPT_DOT;
			break;
		case 'f':
			options.fabric = optarg;
			options.given |= OPT_FABRIC;
			break;
		case 'V':
			printf("angaractl %s, interface version %d\n",
			       ANG_RELEASE, ANGARA_GENL_VERSION);
			exit(DONE);
		case ':':
			return misuse("%s needs a value",
				      argv[optind - 1]);
		default:
			return misuse("%s: no such option; see angaractl --help",
				      argv[optind - 1]);
		}
	}
	return DONE;
}

int main(int argc, char **argv)
{
	const struct object *object;
	struct args args;
	int status;

	status = read_options(argc, argv);
	if (status)
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
