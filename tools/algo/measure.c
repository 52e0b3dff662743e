// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo: times between processes, and the values a, b, g, c of the
 * formulas, which are fitted to these times.
 *
 * Without --levels the system is one level, whose a and b are fitted to binomial
 * broadcasts of two lengths by all processes.  With --levels machine the levels follow
 * from the places of the processes.  Then a and b of a level are fitted to messages of two
 * lengths between the first two processes that communicate through this level, while the
 * other processes wait.
 *
 * Each time is the median of several runs, since a run can take a thousand
 * times as long while another program has its processor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec.h"
#include "mpi/place.h"

#define SYSTEM	"8:1us:1GB/s"	/* used without --levels and without processes */
#define SHORT	64U
#define LONG	(MEASURE_ROOM / 2)
#define TRIPS	20U		/* round trips of a measurement of a short message */
#define FIT_RUNS	20U	/* minimum number of runs of a measurement for a fit */
#define PIECE	(64U << 10)	/* bytes to combine or copy, in less than a time slice */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int earlier(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Return: the median of @times, which is freed. */
static double median(double *times, u32 num)
{
	double middle;

	qsort(times, num, sizeof(*times), earlier);
	middle = (times[(num - 1) / 2] + times[num / 2]) / 2;
	free(times);
	return middle;
}

/**
 * measure() - run a collective several times
 * @j: collective
 * @in: contribution
 * @out: result
 * @native: use the collective of the MPI
 * @repeat: number of runs that count
 *
 * Return: the time of the slowest process in seconds, median of the runs; 0:
 * MPI has no such collective.
 */
double measure(const struct job *j, char *in, char *out, bool native, u32 repeat)
{
	double *times = need_memory(repeat, sizeof(*times)), start;
	bool ran = true;
	u32 i;

	for (i = 0; i < repeat + MEASURE_WARMUP && ran; i++) {
		exec_barrier();
		start = now();
		if (!native)
			exec_run(&j->args, in, out);
		else
			ran = exec_native(&j->args, in, out);
		if (ran && i >= MEASURE_WARMUP)
			times[i - MEASURE_WARMUP] = exec_most(now() - start);
	}
	if (ran)
		return median(times, repeat);
	free(times);
	return 0;
}

static struct ang_coll_args broadcast(u32 rank, u32 size, size_t bytes)
{
	return (struct ang_coll_args){
		.coll = ANG_COLL_BCAST, .algo = ANG_ALGO_BINOMIAL, .rank = rank,
		.size = size, .elem = sizeof(double), .count = bytes / sizeof(double),
	};
}

/* Return: seconds per message of @bytes, which is a step of a binomial broadcast. */
static double message(u32 rank, u32 size, char *memory, size_t bytes, u32 repeat)
{
	struct job j = { .args = broadcast(rank, size, bytes) };
	u32 steps = 0;

	while (1U << steps < size)
		steps++;
	return measure(&j, memory, memory + LONG, false, repeat) / (steps ? steps : 1);
}

/* Return: seconds per message between processes @p and @q, half of a round trip. */
static double pair_message(u32 rank, u32 p, u32 q, char *memory, size_t bytes, u32 repeat)
{
	struct ang_coll_args args = broadcast(rank == q, 2, bytes);
	double *times = need_memory(repeat, sizeof(*times)), start;
	u32 trips = bytes < LONG ? TRIPS : 1, i, k;

	exec_pair(p, q);
	for (i = 0; i < repeat + MEASURE_WARMUP; i++) {
		exec_barrier();
		start = now();
		for (k = 0; k < 2 * trips && (rank == p || rank == q); k++) {
			args.root = k % 2;
			exec_run(&args, memory, memory + LONG);
		}
		start = exec_most(rank == p ? now() - start : 0);
		if (i >= MEASURE_WARMUP)
			times[i - MEASURE_WARMUP] = start / (2 * trips);
	}
	exec_pair_end();
	return median(times, repeat);
}

/* Fits a + b m to the times of messages of two lengths. */
static void fit(struct level *l, double shorter, double longer)
{
	l->b = (longer - shorter) / (LONG - SHORT);
	l->b = l->b > 0 ? l->b : 0;
	l->a = shorter - l->b * SHORT;
	l->a = l->a > 0 ? l->a : 0;
}

static void add(char *memory)
{
	exec_combine(memory + PIECE, memory, PIECE);
}

static void copy(char *memory)
{
	memcpy(memory + PIECE, memory, PIECE);
}

/*
 * Return: seconds per byte that @work combines or copies, in the slowest process.  The memory
 * holds no zeros, since sums of zeros can take less time.
 */
static double byte_time(void (*work)(char *memory), char *memory)
{
	double *times = need_memory(FIT_RUNS, sizeof(*times)), start;
	u32 i;

	for (i = 0; i < 2 * PIECE / sizeof(double); i++)
		((double *)memory)[i] = 1 + i % 7;
	for (i = 0; i < FIT_RUNS; i++) {
		start = now();
		work(memory);
		times[i] = (now() - start) / PIECE;
	}
	return exec_most(median(times, FIT_RUNS));
}

/*
 * Finds the first two processes that communicate through level @l.  Each level
 * has such a pair.
 */
static void find_pair(const struct levels *s, u32 l, u32 *p, u32 *q)
{
	for (*p = 0; ; ++*p)
		for (*q = *p + 1; *q < s->ranks; ++*q)
			if (level_of(s, s->core[*p], s->core[*q]) == l)
				return;
}

static u32 fit_runs(const struct opts *o)
{
	return o->repeat > FIT_RUNS ? o->repeat : FIT_RUNS;
}

static void fit_machine(const struct opts *o, struct levels *s, u32 rank, u32 size,
			char *memory)
{
	u32 *places = need_memory((size_t)size * ANG_PLACE_LEVELS, sizeof(*places));
	u32 l, p, q, runs = fit_runs(o);

	if (size < 2)
		exit(misuse("--levels machine: needs several processes: start them by a launcher"));
	if (o->place)
		exit(misuse("--levels machine excludes --place: the launcher places ranks"));
	exec_places(places);
	levels_of_places(s, size, places);
	free(places);
	for (l = 0; l < s->num; l++) {
		find_pair(s, l, &p, &q);
		fit(&s->level[l], pair_message(rank, p, q, memory, SHORT, runs),
		    pair_message(rank, p, q, memory, LONG, runs));
	}
}

/*
 * Makes a system of one level, which joins all processes, with fitted a and b.
 */
static void fit_one(const struct opts *o, struct levels *s, u32 rank, u32 size,
		    char *memory)
{
	u32 runs = fit_runs(o);
	char text[40];

	snprintf(text, sizeof(text), "%u:0:0", size);
	need_levels(s, text, o->place);
	s->fitted = true;
	fit(s->level, message(rank, size, memory, SHORT, runs),
	    message(rank, size, memory, LONG, runs));
	s->level->a = exec_most(s->level->a);
	s->level->b = exec_most(s->level->b);
}

static void say_fitted(const struct opts *o, const struct levels *s)
{
	u32 l;

	printf("fitted:");
	for (l = 0; l < s->num; l++)
		printf(" level %u: %u %s, a = %.3f us, b = %.3f ns;", l + 1,
		       s->level[l].count, s->level[l].name ? s->level[l].name : "processes",
		       s->level[l].a * 1e6, s->level[l].b * 1e9);
	printf(" g = %.3f ns, c = %.3f ns\n\n", o->add * 1e9, o->copy * 1e9);
}

/* Members combine and copy in no time, unless options say otherwise. */
static void no_time(struct opts *o)
{
	o->add = o->add < 0 ? 0 : o->add;
	o->copy = o->copy < 0 ? 0 : o->copy;
}

/**
 * need_fitted() - get the system of the processes, from the command line or
 * fitted; end the program if it is invalid
 * @o: in: --levels, --place, --add, --copy; out: --add and --copy, fitted if a
 *	system is fitted and the option was not given
 * @s: out; levels_free()
 * @rank: rank of this process
 * @size: number of processes, all of which have to call this function
 * @memory: MEASURE_ROOM bytes of exec_memory()
 */
void need_fitted(struct opts *o, struct levels *s, u32 rank, u32 size, char *memory)
{
	bool machine = o->levels && !strcmp(o->levels, "machine");

	if (o->levels && !machine) {
		need_levels(s, o->levels, o->place);
		if (s->ranks != size)
			exit(misuse("--levels %s: has %u cores, but there are %u processes", o->levels,
				    s->ranks, size));
		no_time(o);
		return;
	}
	if (machine)
		fit_machine(o, s, rank, size, memory);
	else
		fit_one(o, s, rank, size, memory);
	o->add = o->add < 0 ? byte_time(add, memory) : o->add;
	o->copy = o->copy < 0 ? byte_time(copy, memory) : o->copy;
	if (!rank && !o->json)
		say_fitted(o, s);
}

/**
 * need_system() - get the system of a command that runs nothing; end the program if
 * it is invalid
 * @o: as need_fitted()
 * @s: out; levels_free()
 *
 * Return: false if another process of the job prints the result, so that this process has to
 * end.
 */
bool need_system(struct opts *o, struct levels *s)
{
	u32 rank, size;

	if (!o->levels || strcmp(o->levels, "machine")) {
		need_levels(s, o->levels ? o->levels : SYSTEM, o->place);
		no_time(o);
		return true;
	}
	exec_start(&rank, &size);
	need_fitted(o, s, rank, size, exec_memory(MEASURE_ROOM));
	exec_end();
	if (rank)
		levels_free(s);
	return !rank;
}
