// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Coroutines whose schedule a seed decides.
 *
 * Every access to data that views share (ang_env.h) and every upcall of the
 * model is a point.  At some points another routine continues: either with the
 * same probability at each point, or at a few points by priority, which finds
 * faults that need few but rare switches.
 *
 * A store may stay in the store buffer of its processor until the next full
 * barrier, as on real processors: while its routine runs, memory has the new
 * value; while others run, the old one.  Stores leave in order.
 *
 * Invariants are checked after each step of a node.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "explore.h"
#include "invariant.h"
#include "turns.h"

#define ROUTINES	(NODES + WORKERS)
#define STACK		65536U
#define MOST_POINTS	400000	/* limit of points: a scenario with more of them hangs */
#define LATE		4U	/* delayed stores per routine */
#define LATE_TURNS	6U	/* maximum of turns for which a store is delayed */
#define SECONDS		4	/* limit of processor time without a point: a loop */
#define NEVER		0x3FFFFFFFFFFFFFFFL

struct late {
	void *at;
	u32 size;
	u64 val;		/* the value that is not in memory now */
};

struct routine {
	void *sp;
	struct actor *actor;
	struct late late[LATE];
	u32 nlate;
	u32 age;
	u64 seen;		/* value of done_so_far when the routine found no work */
	bool idle;
	bool ended;
	u32 priority;
	const char *what;
};

long explore_left;
bool tracing;
const bool threads;

static char stacks[ROUTINES][STACK] __attribute__((aligned(64)));
static struct routine routines[ROUTINES];
static u32 nroutines;
static struct routine *now;	/* NULL: no routine runs */
static void *main_sp;
static u64 rng;
static long left;		/* saved explore_left, while printing */
static long drawn, total;
static u64 done_so_far;
static u32 turns;		/* remaining turns by priority; ~0: no priorities */
static u32 chance;		/* without priorities: one turn in @chance points */
static bool stores_stay;
static bool over;
static jmp_buf out;
static char why[512];
static bool failed;
static volatile u64 alive;	/* incremented by every turn */

/* Saves the registers that a call preserves, and continues at @to. */
void explore_swap(void **from, void *to);
#if defined(__x86_64__)
__asm__(".text\n.globl explore_swap\n.type explore_swap,@function\n"
	"explore_swap:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n.size explore_swap,.-explore_swap\n");

static void *stack_new(char *stack, void (*entry)(void))
{
	void **sp = (void **)(stack + STACK);

	*--sp = NULL;		/* return address, as after a call */
	*--sp = (void *)entry;
	sp -= 6;
	memset(sp, 0, 6 * sizeof(*sp));
	return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n.globl explore_swap\n.type explore_swap,%function\n"
	"explore_swap:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n	str x9, [x0]\n	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n	ret\n"
	".size explore_swap,.-explore_swap\n");

static void *stack_new(char *stack, void (*entry)(void))
{
	void **sp = (void **)(stack + STACK - 160);

	memset(sp, 0, 160);
	sp[11] = (void *)entry;
	return sp;
}
#else
#error "write explore_swap() for this processor"
#endif

static u32 draw(u32 n)
{
	return (u32)(rnd(&rng) >> 16) % n;
}

void tell_of(const char *format, ...)
{
	va_list args;

	if (now)
		printf("# %*s%s %u: ", 4 * (int)(now - routines), "",
		       now->actor->index < NODES ? "actor" : "worker",
		       now->actor->index % NODES);
	else
		printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Exchanges a store's old and new value, as a routine continues or stops. */
static void late_exchange(struct late *l)
{
	u64 val = 0;

	memcpy(&val, l->at, l->size);
	memcpy(l->at, &l->val, l->size);
	l->val = val;
}

static void late_leave(struct routine *r, u32 count)
{
	r->nlate -= count;
	memmove(r->late, r->late + count, r->nlate * sizeof(*r->late));
}

void explore_fence(void)
{
	if (now)
		now->nlate = 0;
}

void explore_store(void *at, u32 size)
{
	struct late *l;

	if (!now || !stores_stay)
		return;
	if (now->nlate == LATE)
		late_leave(now, 1);
	l = &now->late[now->nlate++];
	l->at = at;
	l->size = size;
	l->val = 0;
	memcpy(&l->val, at, size);
	now->age = 0;
}

static void put_aside(struct routine *r)
{
	u32 i;

	if (r->nlate && (++r->age > LATE_TURNS || !draw(3)))
		late_leave(r, 1 + draw(r->nlate));
	for (i = r->nlate; i-- > 0;)
		late_exchange(&r->late[i]);
}

static void take_up(struct routine *r)
{
	u32 i;

	for (i = 0; i < r->nlate; i++)
		late_exchange(&r->late[i]);
}

/* Draws the number of points until the next turn. */
static void draw_turn(void)
{
	u32 r = draw(1U << 16);

	if (turns != ~0U) {
		drawn = turns ? 1 + (long)draw(600) : NEVER;
		turns -= turns > 0;
	} else {
		/* Most turns are short, a few are long. */
		drawn = 1 + (long)(r % (2 * chance));
		if (r >= 0xF000)
			drawn += (long)draw(40 * chance);
	}
	if (tracing) {
		left = drawn;
		explore_left = 1;
	} else {
		explore_left = drawn;
	}
}

static bool ready(const struct routine *r)
{
	return !r->ended && !(r->idle && r->seen == done_so_far);
}

/* Return: the next routine, or NULL if none has work. */
static struct routine *choose(void)
{
	struct routine *best = NULL;
	u32 i, many = 0;

	for (i = 0; i < nroutines; i++) {
		struct routine *r = &routines[i];

		if (!ready(r))
			continue;
		many++;
		if (!best || (turns == ~0U ? !draw(many) :
					     r->priority > best->priority))
			best = r;
	}
	return best;
}

static void switch_to(struct routine *to)
{
	struct routine *from = now;

	alive++;
	if (to == from)
		return;
	if (from)
		put_aside(from);
	now = to;
	if (to)
		take_up(to);
	explore_swap(from ? &from->sp : &main_sp, to ? to->sp : main_sp);
}

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	struct routine *r = now;
	va_list args;
	int n;

	n = snprintf(why, sizeof(why), "%s:%d: ", base ? base + 1 : file, line);
	va_start(args, format);
	vsnprintf(why + n, sizeof(why) - (size_t)n, format, args);
	va_end(args);
	failed = true;
	if (!r)
		longjmp(out, 1);
	tell_of("%s", why);
	switch_to(NULL);
	abort();
}

void explore_point(const char *file, int line, const char *what)
{
	const char *base = file ? strrchr(file, '/') : NULL;
	struct routine *to;

	if (!now) {
		explore_left = NEVER;
		return;
	}
	if (tracing) {
		explore_left = 1;
		if (file)
			tell_of("%s:%d: %s", base ? base + 1 : file, line,
				what);
		else
			tell_of("%s", what);
		if (--left > 0)
			return;
	}
	total += drawn;
	if (total > MOST_POINTS) {
		explore_left = NEVER;
		test_fail(__FILE__, __LINE__, "no end after %ld points; now: %s",
			  total, what);
	}
	if (turns != ~0U)
		now->priority = turns;
	draw_turn();
	to = choose();
	if (to)
		switch_to(to);
}

void moment(const char *what)
{
	if (--explore_left <= 0)
		explore_point(NULL, 0, what);
}

void stepped(void)
{
	long points = explore_left;

	done_so_far++;
	explore_left = NEVER;
	invariants(fabric, invariants_held(fabric));
	explore_left = points;
}

void shared_lock(void)
{
}

void shared_unlock(void)
{
}

bool all_done(void)
{
	return over;
}

static void nobody_goes_on(void)
{
	char text[256];
	size_t n = 0;
	u32 i;

	for (i = 0; i < nroutines; i++)
		if (routines[i].actor->index < NODES && !routines[i].ended)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "; actor %u waits for %s",
					      routines[i].actor->index,
					      routines[i].what);
	if (n)
		test_fail(__FILE__, __LINE__, "no actor has work%s", text);
	over = true;
	done_so_far++;
}

void idle(const char *what)
{
	struct routine *to;

	/* The set-up runs without routines, so there is no other work. */
	if (!now)
		test_fail(__FILE__, __LINE__, "no actor has work; the set-up waits for %s",
			  what);
	now->nlate = 0;
	now->idle = true;
	now->seen = done_so_far;
	now->what = what;
	to = choose();
	if (!to) {
		nobody_goes_on();
		to = now;
	}
	switch_to(to);
	now->idle = false;
}

static void begin(void)
{
	struct actor *a = now->actor;
	struct routine *to;

	if (a->index < NODES)
		family->act(a);
	else
		work(a);
	hand_on(a);
	now->nlate = 0;
	now->ended = true;
	done_so_far++;
	to = choose();
	if (!to) {
		u32 i;

		nobody_goes_on();
		to = choose();
		for (i = 0; i < nroutines && !to; i++)
			EXPECT(routines[i].ended);
	}
	switch_to(to);
	abort();
}

static void routine_new(struct actor *a, u32 number)
{
	struct routine *r = &routines[number];

	memset(r, 0, sizeof(*r));
	r->actor = a;
	r->priority = 1000 + draw(1000);
	r->sp = stack_new(stacks[number], begin);
}

static void one(u64 seed)
{
	u32 i;

	explore_left = NEVER;
	rng = seed * 0x9E3779B97F4A7C15ULL + 0x1234567;
	for (i = 0; i < 4; i++)
		rnd(&rng);
	now = NULL;
	over = false;
	total = 0;
	done_so_far = 1;
	turns = draw(3) ? ~0U : 1 + draw(4);
	chance = 1U << draw(7);
	stores_stay = draw(2);
	nworkers = draw(WORKERS + 1);
	world_restore(seed);
	nroutines = 0;
	for (i = 0; i < family->nodes; i++)
		routine_new(&shared.actor[i], nroutines++);
	for (i = 0; i < nworkers; i++)
		routine_new(&shared.actor[NODES + i], nroutines++);
	draw_turn();
	switch_to(choose());
	if (failed)
		longjmp(out, 1);
	now = NULL;
	explore_left = NEVER;
	world_settle();
	if (family->end)
		family->end();
}

const char *explore_one(u64 seed)
{
	failed = false;
	if (!setjmp(out))
		one(seed);
	now = NULL;
	explore_left = NEVER;
	alive++;
	return failed ? why : NULL;
}

const char *explore_set_up(const struct family *f)
{
	failed = false;
	now = NULL;
	explore_left = NEVER;
	if (!setjmp(out))
		world_new(f);
	return failed ? why : NULL;
}

static void (*on_loop)(void);

static void watch(int sig)
{
	static u64 before;
	static u32 same;

	(void)sig;
	same = alive == before ? same + 1 : 0;
	before = alive;
	if (same >= SECONDS)
		on_loop();
}

void explore_watch(void (*loop)(void))
{
	struct itimerval every = { { 1, 0 }, { 1, 0 } };

	on_loop = loop;
	signal(SIGVTALRM, watch);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}
