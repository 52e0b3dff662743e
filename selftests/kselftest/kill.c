// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGKILL of any process at any time: the survivors get an error before a
 * deadline, nothing is left behind, and the module can be unloaded.
 *
 * Eight processes, one per node, report their state in shared memory. The times
 * are random; ANGARA_TEST_SEED repeats them.
 */
#include <endian.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "at_harness.h"
#include "group.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define NODES	8
#define TREE	11
#define LEN	20000U
#define NO_TREE	255

/**
 * struct shared - state that the processes share
 * @go: all processes are ready
 * @stop: processes end their loops; no error is expected any more
 * @leave: processes exit; none may exit while another one still puts to it
 * @ready: the process has its context and is in the tree
 * @ctx: number of the process's context
 * @result: -EINPROGRESS, then the result that ended its loop: 0, ANGARA_ST_* or -errno
 * @done: successful operations
 */
struct shared {
	volatile int go;
	volatile int stop;
	volatile int leave;
	volatile int ready[NODES];
	volatile unsigned int ctx[NODES];
	volatile int result[NODES];
	volatile unsigned int done[NODES];
};

FIXTURE(kill) {
	struct at_group g;
	struct at_usage use;
	struct shared *sh;
	pid_t pid[NODES];
	unsigned long seed;
};

FIXTURE_VARIANT(kill) {
	unsigned int op;
	bool inline_mr;		/* processes register and deregister repeatedly */
};

FIXTURE_VARIANT_ADD(kill, put) { .op = ANGARA_OP_PUT };
FIXTURE_VARIANT_ADD(kill, get) { .op = ANGARA_OP_GET };
FIXTURE_VARIANT_ADD(kill, bcast) { .op = ANGARA_OP_BCAST };
FIXTURE_VARIANT_ADD(kill, reduce) { .op = ANGARA_OP_REDUCE };
FIXTURE_VARIANT_ADD(kill, allreduce) { .op = ANGARA_OP_ALLREDUCE };
FIXTURE_VARIANT_ADD(kill, barrier) { .op = ANGARA_OP_BARRIER };
FIXTURE_VARIANT_ADD(kill, registration) {
	.op = ANGARA_OP_NOP, .inline_mr = true,
};

FIXTURE_SETUP(kill)
{
	ASSERT_EQ(0, at_group_open(&self->g));
	ASSERT_EQ(0, at_usage(&self->use));
	self->sh = mmap(NULL, sizeof(*self->sh), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->sh);
	self->seed = at_seed();
	TH_LOG("ANGARA_TEST_SEED=%lu", self->seed);
}

FIXTURE_TEARDOWN(kill)
{
	unsigned int i;

	for (i = 0; i < NODES; i++)
		if (self->pid[i] > 0)
			kill(self->pid[i], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	at_tree_lift(&self->g, TREE);
	at_group_close(&self->g);
}

static bool in_tree(unsigned int op)
{
	return op >= ANGARA_OP_BCAST;
}

static struct angara_wqe make(struct shared *sh, unsigned int op,
			      unsigned int me)
{
	struct at_ctx next = { .q.node = (me + 1) % NODES };
	struct angara_wqe w;

	next.c.ctx = sh->ctx[next.q.node];
	if (op == ANGARA_OP_PUT)
		return at_put(&next, 0, 0, 0, LEN, LEN);
	if (op == ANGARA_OP_GET)
		return at_get(&next, 0, 0, 0, LEN, LEN);
	w = at_coll(op, TREE, 0, 0, op == ANGARA_OP_BARRIER ? 0 : LEN);
	at_coll_dst(&w, LEN);
	if (op == ANGARA_OP_REDUCE)
		w.dst_ctx = htole16(sh->ctx[0]);
	return w;
}

/* One round of this process. Return: 0, ANGARA_ST_* or -errno. */
static int one(struct at_member *m, struct shared *sh, unsigned int op,
	       unsigned int me)
{
	struct angara_wqe w;
	int key;

	if (op != ANGARA_OP_NOP) {
		w = make(sh, op, me);
		return at_do(&m->x, &w, NULL);
	}
	key = at_mr(&m->x, m->mem, m->len, ANGARA_ACCESS_ALL);
	return key < 0 ? key : at_mr_dereg(&m->x, key);
}

static int prepare(struct at_member *m, struct at_group *g, unsigned int op,
		   unsigned int me)
{
	if (at_member_open(m, g, me, 2 * LEN))
		return -ENODEV;
	return in_tree(op) && at_join(m->x.fd, TREE) ? -ENOTCONN : 0;
}

static void member(struct at_group *g, struct shared *sh, unsigned int op,
		   unsigned int me)
{
	struct at_member m;
	int ret = prepare(&m, g, op, me);

	/* Any value other than -EINPROGRESS reports the end of the process. */
	if (ret) {
		sh->result[me] = ret;
		return;
	}
	sh->ctx[me] = m.x.c.ctx;
	sh->ready[me] = 1;
	while (!sh->go)
		usleep(500);
	do {
		ret = one(&m, sh, op, me);
		sh->done[me] += !ret;
	} while (!ret && !sh->stop);
	sh->result[me] = ret;
	while (!sh->leave)
		usleep(500);
}

static int start(FIXTURE_DATA(kill) *self, unsigned int op)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	unsigned int i;

	memset(self->sh, 0, sizeof(*self->sh));
	for (i = 0; i < NODES; i++) {
		self->sh->result[i] = -EINPROGRESS;
		self->pid[i] = fork();
		if (self->pid[i] < 0)
			return -errno;
		if (self->pid[i])
			continue;
		member(&self->g, self->sh, op, i);
		_exit(0);
	}
	for (i = 0; i < NODES; i++)
		while (!self->sh->ready[i]) {
			if (at_now_ms() > end ||
			    self->sh->result[i] != -EINPROGRESS)
				return -ETIMEDOUT;
			usleep(500);
		}
	self->sh->go = 1;
	return 0;
}

/* Must process @i get an error when process @victim dies? */
static bool concerned(unsigned int op, unsigned int i, unsigned int victim)
{
	if (op == ANGARA_OP_NOP)
		return false;
	return in_tree(op) || (i + 1) % NODES == victim;
}

/* Waits until the survivors, or only the affected ones, have a result. */
static void await(FIXTURE_DATA(kill) *self, unsigned int op,
		  unsigned int victim, bool only_concerned)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		if (i == victim ||
		    (only_concerned && !concerned(op, i, victim)))
			continue;
		while (self->sh->result[i] == -EINPROGRESS &&
		       at_now_ms() < end)
			usleep(500);
	}
}

static void round_of(struct __test_metadata *_metadata,
		     FIXTURE_DATA(kill) *self, unsigned int op,
		     unsigned int victim, unsigned int us)
{
	uint16_t pe[AT_MAX_NODES] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	unsigned int i;
	int want;

	at_tree_lift(&self->g, TREE);
	if (in_tree(op)) {
		ASSERT_LT(0, at_tree_lay(&self->g, TREE, (victim + 3) % NODES,
					 pe));
	}
	ASSERT_EQ(0, start(self, op));
	usleep(us);
	ASSERT_EQ(0, kill(self->pid[victim], SIGKILL));
	await(self, op, victim, true);
	self->sh->stop = 1;
	await(self, op, victim, false);
	self->sh->leave = 1;
	for (i = 0; i < NODES; i++) {
		ASSERT_EQ(i == victim ? -SIGKILL : 0,
			  at_wait_child(self->pid[i], AT_DEADLINE_MS));
		self->pid[i] = 0;
		if (i == victim)
			continue;
		want = !concerned(op, i, victim) ? ANGARA_ST_OK :
		       in_tree(op) ? ANGARA_ST_TREE_DOWN : ANGARA_ST_TARGET;
		EXPECT_EQ(want, self->sh->result[i]) {
			TH_LOG("victim %u after %u us: process %u, %u done",
			       victim, us, i, self->sh->done[i]);
		}
	}
	EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
}

TEST_F(kill, any_process)
{
	unsigned int i, victim, rounds = at_scale(NODES);
	unsigned long state = self->seed;
	struct angara_tree_get get;
	long before, lost;

	before = at_memory();
	for (i = 0; i < rounds; i++) {
		victim = rounds < NODES ? at_rand(&state, NODES) : i % NODES;
		round_of(_metadata, self, variant->op, victim,
			 at_rand(&state, 30000));
	}
	for (i = 0; i < NODES && in_tree(variant->op); i++) {
		ASSERT_EQ(0, at_tree_get(self->g.fd[i], TREE, &get));
		EXPECT_EQ(0, get.members);
	}
	lost = at_memory_lost(before, 64L << 20);
	EXPECT_GE(64L << 20, lost) {
		TH_LOG("%ld MiB less memory is available", lost >> 20);
	}
}

FIXTURE(after) {
	unsigned int devices;
};

FIXTURE_SETUP(after)
{
	self->devices = at_devices();
}

FIXTURE_TEARDOWN(after)
{
}

/* At the end the modules can be unloaded and loaded again. */
TEST_F(after, module_reload)
{
	struct at_loop list[1];

	if (at_loop_list(list, 1) < 0)
		SKIP(return, "the devices are not loopback devices");
	ASSERT_EQ(0, at_reload());
	EXPECT_EQ(self->devices, at_devices());
}

TEST_HARNESS_MAIN
