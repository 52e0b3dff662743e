// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing of the driver: ioctls, mmap, queue entries, netlink and sysfs.
 *
 * Without options this is a test, which runs the known programs (corpus.txt,
 * regress.txt) with one thread and with two, on any kernel.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "angtest.h"
#include "fuzz/kfuzz.h"

static void usage(FILE *out)
{
	fputs("usage: kfuzz [--seed N] [--runs N] [--seconds N] [--threads N]\n"
	      "             [--corpus FILE]... [--out DIR]\n"
	      "       kfuzz --replay FILE [--times N]\n"
	      "       kfuzz --merge FILE --corpus FILE...\n"
	      "       kfuzz\n"
	      "\n"
	      "Without arguments: runs corpus.txt and regress.txt as a test.\n"
	      "\n"
	      "  --seed N       start of the random numbers (default 1)\n"
	      "  --runs N       number of programs\n"
	      "  --seconds N    duration (default 60 if there is no --runs)\n"
	      "  --threads N    1 (default), or 2: half of the programs are run by\n"
	      "                 two threads at once\n"
	      "  --corpus FILE  programs to begin with (default corpus.txt)\n"
	      "  --out DIR      write journal.txt here, whose last program is the\n"
	      "                 one that runs, and corpus.txt and places.txt\n"
	      "  --replay FILE  run its programs, show calls and answers\n"
	      "  --times N      of each (default 1)\n"
	      "  --merge FILE   write the fewest programs that reach all places\n",
	      out);
}

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "runs", required_argument, NULL, 'r' },
	{ "seconds", required_argument, NULL, 't' },
	{ "threads", required_argument, NULL, 'j' },
	{ "corpus", required_argument, NULL, 'c' },
	{ "out", required_argument, NULL, 'o' },
	{ "replay", required_argument, NULL, 'p' },
	{ "times", required_argument, NULL, 'n' },
	{ "merge", required_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static uint64_t number(const char *option, const char *text, uint64_t max)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || end == text || *end || text[0] == '-' || n > max) {
		fprintf(stderr, "kfuzz: --%s: '%s' is not a number up to %llu\n",
			option, text, (unsigned long long)max);
		exit(2);
	}
	return n;
}

/* Reads a file next to the program, or from its source folder. */
static int read_known(struct kf_corpus *to, const char *argv0, const char *name)
{
	char self[PATH_MAX], path[PATH_MAX + 64];

	snprintf(self, sizeof(self), "%s", argv0);
	dirname(self);
	snprintf(path, sizeof(path), "%s/%s", self, name);
	if (access(path, R_OK))
		snprintf(path, sizeof(path), "%s/fuzz/%s", self, name);
	return kf_read(to, path);
}

static void show(const struct kf_prog *p, const struct kf_result *result)
{
	unsigned int i;

	printf("== %s threads=%u\n", p->name, p->threads);
	for (i = 0; i < p->calls; i++) {
		kf_print_call(stdout, &p->call[i]);
		if (result->answer[i] < 0)
			printf("\t# %s\n", strerrorname_np(-result->answer[i]));
		else
			printf("\t# %ld\n", result->answer[i]);
	}
}

static int replay(const char *path, unsigned int times)
{
	struct kf_corpus progs = { .count = 0 };
	struct kf_result result;
	const char *why;
	unsigned int i, n;

	if (kf_read(&progs, path))
		return -1;
	for (i = 0; i < progs.count; i++)
		for (n = 0; n < times; n++) {
			memset(&result, 0, sizeof(result));
			why = kf_exec(&progs.prog[i], &result);
			if (!n || why)
				show(&progs.prog[i], &result);
			if (why) {
				printf("kfuzz: found: %s\n", why);
				return -1;
			}
		}
	printf("kfuzz: %u programs, nothing found\n", progs.count);
	return 0;
}

/* Do the adapters work as before? Moves data from the first to the last. */
static const char *still_works(void)
{
	unsigned int last = at_devices() - 1;
	struct angara_wqe put;
	const char *why = "an adapter does not carry data";
	struct at_ctx x, y;
	char *mem = at_pages(2 * AT_PAGE);

	if (at_ctx_open(&x, 0, NULL) || at_ctx_open(&y, last, NULL))
		return "a context cannot be made";
	at_fill(mem, 1000, 1);
	if (at_mr(&x, mem, AT_PAGE, 0) == 0 &&
	    at_mr(&y, mem + AT_PAGE, AT_PAGE, ANGARA_ACCESS_ALL) == 0) {
		put = at_put(&y, 0, 0, 0, 0, 1000);
		if (at_do(&x, &put, NULL) == ANGARA_ST_OK &&
		    at_filled(mem + AT_PAGE, 1000, 1))
			why = NULL;
	}
	at_ctx_close(&x);
	at_ctx_close(&y);
	return why;
}

static void report(unsigned int n, const char *name, const char *why)
{
	printf("%sok %u %s%s%s\n", why ? "not " : "", n, name,
	       why ? " # " : "", why ? why : "");
	fflush(stdout);
}

/* Runs each program by one thread and by two. */
static const char *run_both(const struct kf_prog *p)
{
	struct kf_prog q = *p;
	const char *why;

	for (q.threads = 1; q.threads <= KF_THREADS; q.threads++) {
		why = kf_exec(&q, NULL);
		if (why) {
			kf_print(stdout, &q);
			return why;
		}
	}
	return NULL;
}

static int test(const char *argv0)
{
	struct kf_corpus known = { .count = 0 }, once = { .count = 0 };
	const char *why = NULL, *worst = NULL;
	unsigned int i, n = 0;

	if (read_known(&known, argv0, "corpus.txt") ||
	    read_known(&once, argv0, "regress.txt"))
		return -1;
	printf("TAP version 13\n1..%u\n", once.count + 2);
	for (i = 0; i < once.count; i++) {
		why = run_both(&once.prog[i]);
		worst = why ? why : worst;
		report(++n, once.prog[i].name, why);
	}
	why = NULL;
	for (i = 0; i < known.count && !why; i++)
		why = run_both(&known.prog[i]);
	printf("# %u programs of corpus.txt\n", i);
	worst = why ? why : worst;
	report(++n, "programs that are known", why);
	why = still_works();
	worst = why ? why : worst;
	report(++n, "the adapters still work", why);
	return worst ? -1 : 0;
}

static int leave(const struct kf_corpus *corpus, const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/places.txt", dir);
	kf_cover_write(path);
	snprintf(path, sizeof(path), "%s/corpus.txt", dir);
	return kf_write(corpus, path);
}

static int fuzz(struct kf_corpus *corpus, struct kf_options *o)
{
	const char *why;
	int ret;

	if (!o->runs && !o->seconds)
		o->seconds = 60;
	ret = kf_fuzz(corpus, o);
	why = ret ? NULL : still_works();
	if (why) {
		printf("kfuzz: found: %s\n", why);
		ret = -1;
	}
	if (!ret && o->out)
		ret = leave(corpus, o->out);
	return ret;
}

/*
 * Reads the command line; -c reads inputs into @corpus.  @replayed, @times and
 * @merged: arguments of --replay, --times and --merge.  Return: -1; exit status.
 */
static int parse(int argc, char **argv, struct kf_options *o,
		 struct kf_corpus *corpus, const char **replayed,
		 unsigned int *times, const char **merged)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			o->seed = number("seed", optarg, UINT64_MAX);
			break;
		case 'r':
			o->runs = number("runs", optarg, 1000000000);
			break;
		case 't':
			o->seconds = number("seconds", optarg, 1000000);
			break;
		case 'j':
			o->threads = number("threads", optarg, KF_THREADS);
			break;
		case 'c':
			if (kf_read(corpus, optarg))
				return 2;
			break;
		case 'o':
			o->out = optarg;
			break;
		case 'p':
			*replayed = optarg;
			break;
		case 'n':
			*times = number("times", optarg, 1000000);
			break;
		case 'm':
			*merged = optarg;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind < argc) {
		usage(stderr);
		return 2;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct kf_corpus corpus = { .count = 0 };
	struct kf_options o = { .seed = 1, .threads = 1 };
	const char *replayed = NULL, *merged = NULL;
	unsigned int times = 1;
	const char *why;
	int ret = parse(argc, argv, &o, &corpus, &replayed, &times, &merged);

	if (ret >= 0)
		return ret;
	at_require(AT_ROOT | AT_TORUS | AT_LOOP);
	if (kf_watch_init(o.out))
		return 1;
	why = kf_exec_init();
	if (why) {
		printf("1..0 # SKIP %s\n", why);
		return 4;
	}
	if (argc == 1)
		return test(argv[0]) ? 1 : 0;
	if (replayed)
		return replay(replayed, times) ? 1 : 0;
	if (!kf_cover_init())
		fprintf(stderr, "kfuzz: this kernel has no KCOV: not guided\n");
	if (!corpus.count && read_known(&corpus, argv[0], "corpus.txt"))
		return 2;
	ret = merged ? kf_merge(&corpus, merged) : fuzz(&corpus, &o);
	return ret ? 1 : 0;
}
