// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Jobs of launchers that speak PMIx: mpirun, prterun, srun.
 *
 * An exchange is Put, Commit, a Fence of the group that collects what was put,
 * a Get of each block, and a second Fence: a Get may have to contact the other
 * process, and if that process has left, the Get is never answered.  The key of
 * an exchange is used only once: PMIx caches values, and its versions differ in
 * the value read after a key was put again.  As a consequence, PMIx keeps all
 * values and sends them again at each Commit.
 *
 * PMIx notifies some processes of the end of another, but not all, and none if
 * the process has finalized.  So we use non-blocking operations and our own
 * deadline.  PMIx still executes an operation that has missed the deadline, and
 * its thread may call us later: so we start no other operation, and the state
 * is static.  PMIx does not report which processes a fence waits for: the error
 * message names all members of the fence.
 *
 * libpmix is loaded if the environment contains a PMIx launcher, so the library
 * needs it neither at build time (without ANG_HAVE_PMIX such launchers are
 * refused) nor on machines without such a launcher.
 */
#include <errno.h>
#include <stdlib.h>

#include "job.h"

#define ENV_NAMESPACE	"PMIX_NAMESPACE"
#define ENV_RANK	"PMIX_RANK"

#ifdef ANG_HAVE_PMIX

#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define LIBRARY		"libpmix.so.2"

/*
 * Pointers to the functions of libpmix that are used, with their types from the
 * header.
 */
static struct {
	__typeof__(PMIx_Init) *init;
	__typeof__(PMIx_Finalize) *finalize;
	__typeof__(PMIx_Put) *put;
	__typeof__(PMIx_Commit) *commit;
	__typeof__(PMIx_Fence_nb) *fence_nb;
	__typeof__(PMIx_Get_nb) *get_nb;
} lib;

/**
 * struct head - header of a block
 * @len: bytes of the block
 * @tag: tag of the exchange
 */
struct head {
	u64 len;
	u64 tag;
};

/**
 * struct group - number of exchanges of a group, which makes the keys of
 * exchanges unique
 * @hash: hash of the group's ranks
 * @round: number of exchanges begun
 */
struct group {
	u64 hash;
	u64 round;
};

/**
 * struct ang_pmix - this process under PMIx; there is one, and it joins only
 * once
 * @users: jobs that are open
 * @me: this process
 * @size: processes
 * @procs: room for the members of a group
 * @timeout_s: seconds for each operation, 0: no limit
 * @broken: error because of which exchanges cannot continue, or 0
 * @of: process whose value is requested; PMIx may read it until the operation
 *	ends
 * @key: key of the exchange; PMIx may read it as long as @of
 * @groups: groups that have had an exchange
 * @ngroups: number of @groups
 * @lock: protects the members below, which the thread of PMIx writes
 * @ended: signals @busy going false
 * @busy: an operation is in progress
 * @status: result of the operation
 * @got: bytes received
 * @number: number received
 * @buf: head and block, sent or received
 */
struct ang_pmix {
	u32 users;
	pmix_proc_t me;
	u32 size;
	pmix_proc_t *procs;
	u32 timeout_s;
	int broken;
	pmix_proc_t of;
	char key[64];
	struct group *groups;
	u32 ngroups;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool busy;
	pmix_status_t status;
	size_t got;
	u32 number;
	union {
		struct head head;
		char bytes[sizeof(struct head) + ANG_JOB_MAX_BLOCK];
	} buf;
};

static int to_errno(pmix_status_t status)
{
	switch (status) {
	case PMIX_SUCCESS:
	case PMIX_OPERATION_SUCCEEDED:
		return 0;
	case PMIX_ERR_NOMEM:
		return -ENOMEM;
	case PMIX_ERR_TIMEOUT:
		return -ETIMEDOUT;
	default:
		return -EPIPE;
	}
}

/*
 * Loads libpmix. It stays loaded: its threads may run until the process ends.
 */
static int px_load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
	const struct {
		const char *name;
		void *at;
	} calls[] = {
		{ "PMIx_Init", &lib.init },
		{ "PMIx_Finalize", &lib.finalize },
		{ "PMIx_Put", &lib.put },
		{ "PMIx_Commit", &lib.commit },
		{ "PMIx_Fence_nb", &lib.fence_nb },
		{ "PMIx_Get_nb", &lib.get_nb },
	};
	size_t i;

	if (!handle)
		return -ELIBACC;
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		void *call = dlsym(handle, calls[i].name);

		if (!call)
			return -ELIBBAD;
		memcpy(calls[i].at, &call, sizeof(call));
	}
	return 0;
}

static void px_begin(struct ang_pmix *px)
{
	pthread_mutex_lock(&px->lock);
	px->busy = true;
	px->got = 0;
	pthread_mutex_unlock(&px->lock);
}

static void px_end(struct ang_pmix *px, pmix_status_t status)
{
	pthread_mutex_lock(&px->lock);
	px->busy = false;
	px->status = status;
	pthread_cond_signal(&px->ended);
	pthread_mutex_unlock(&px->lock);
}

static bool is_busy(struct ang_pmix *px)
{
	bool busy;

	pthread_mutex_lock(&px->lock);
	busy = px->busy;
	pthread_mutex_unlock(&px->lock);
	return busy;
}

static void on_fence(pmix_status_t status, void *cbdata)
{
	px_end(cbdata, status);
}

static void on_get(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
	struct ang_pmix *px = cbdata;

	if (status == PMIX_SUCCESS && !value) {
		status = PMIX_ERR_NOT_FOUND;
	} else if (status == PMIX_SUCCESS && value->type == PMIX_BYTE_OBJECT &&
		   value->data.bo.size <= sizeof(px->buf)) {
		memcpy(&px->buf, value->data.bo.bytes, value->data.bo.size);
		px->got = value->data.bo.size;
	} else if (status == PMIX_SUCCESS && value->type == PMIX_UINT32) {
		px->number = value->data.uint32;
		px->got = sizeof(px->number);
	} else if (status == PMIX_SUCCESS && value->type == PMIX_UINT16) {
		px->number = value->data.uint16;
		px->got = sizeof(px->number);
	}
	px_end(px, status);
}

/* Waits for an operation.  @started: result of the call that started it. */
static int px_await(struct ang_pmix *px, pmix_status_t started)
{
	struct timespec until;
	int ret = 0;

	if (started != PMIX_SUCCESS) {
		px_end(px, started);
		return to_errno(started);
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += px->timeout_s;
	pthread_mutex_lock(&px->lock);
	while (px->busy && !ret)
		ret = px->timeout_s ?
		      pthread_cond_clockwait(&px->ended, &px->lock,
					     CLOCK_MONOTONIC, &until) :
		      pthread_cond_wait(&px->ended, &px->lock);
	ret = px->busy ? -ETIMEDOUT : to_errno(px->status);
	pthread_mutex_unlock(&px->lock);
	return ret;
}

static int px_publish(struct ang_pmix *px, struct head head, const void *mine)
{
	pmix_value_t value = { .type = PMIX_BYTE_OBJECT };
	pmix_status_t status;

	px->buf.head = head;
	if (head.len)
		memcpy(px->buf.bytes + sizeof(head), mine, head.len);
	value.data.bo.bytes = px->buf.bytes;
	value.data.bo.size = sizeof(head) + head.len;
	status = lib.put(PMIX_GLOBAL, px->key, &value);
	if (status == PMIX_SUCCESS)
		status = lib.commit();
	return to_errno(status);
}

/* Prints that an operation has missed our deadline or that of PMIx. */
static void tell_late(struct ang_pmix *px, const char *what, const char *of)
{
	if (is_busy(px))
		ang_job_say("rank %u: %s %s has not ended within %u s", px->me.rank, what,
			    of, px->timeout_s);
	else
		ang_job_say("rank %u: PMIx has ended %s %s: timeout", px->me.rank, what,
			    of);
}

static int px_fence(struct ang_pmix *px, size_t n, bool with_data)
{
	static pmix_info_t collect = { .key = PMIX_COLLECT_DATA };
	struct ang_ranks members = { 0 };
	size_t i;
	int ret;

	collect.value.type = PMIX_BOOL;
	collect.value.data.flag = true;
	px_begin(px);
	ret = px_await(px, lib.fence_nb(px->procs, n, with_data ? &collect : NULL,
					with_data, on_fence, px));
	for (i = 0; ret == -ETIMEDOUT && i < n; i++)
		ang_ranks_add(&members, px->procs[i].rank);
	if (ret == -ETIMEDOUT)
		tell_late(px, "the fence of ranks", ang_ranks_text(&members));
	return ret;
}

static int px_get(struct ang_pmix *px, pmix_rank_t rank, const char *key)
{
	char of[16] = "the job";
	int ret;

	px->of = px->me;
	px->of.rank = rank;
	px_begin(px);
	ret = px_await(px, lib.get_nb(&px->of, key, NULL, 0, on_get, px));
	if (rank != PMIX_RANK_WILDCARD)
		snprintf(of, sizeof(of), "rank %u", rank);
	if (ret == -ETIMEDOUT)
		tell_late(px, "a query about", of);
	return ret;
}

/*
 * Gets the block of a member.  Each member checks all blocks, so all members get the same result.
 */
static int collect_block(struct ang_pmix *px, u32 i, struct head want, void *to)
{
	const struct head *head = &px->buf.head;
	int ret = px_get(px, px->procs[i].rank, px->key);

	if (ret)
		return ret;
	if (px->got < sizeof(*head) || px->got != sizeof(*head) + head->len ||
	    head->tag != want.tag)
		return -EPIPE;
	if (head->len != want.len)
		return -EMSGSIZE;
	if (want.len)
		memcpy(to, px->buf.bytes + sizeof(*head), want.len);
	return 0;
}

/*
 * Counts the exchanges of a group; @round: out: number of this exchange, equal
 * at all members.
 */
static int next_round(struct ang_pmix *px, u64 hash, u64 *round)
{
	struct group *groups;
	u32 i;

	for (i = 0; i < px->ngroups && px->groups[i].hash != hash; i++)
		;
	if (i == px->ngroups) {
		groups = realloc(px->groups, (i + 1) * sizeof(*groups));
		if (!groups)
			return -ENOMEM;
		groups[i] = (struct group){ .hash = hash };
		px->groups = groups;
		px->ngroups++;
	}
	*round = px->groups[i].round++;
	return 0;
}

static int px_exchange(struct ang_pmix *px, u32 n, u64 hash, u64 tag,
		       const void *mine, size_t len, void *all)
{
	struct head head = { .len = len, .tag = tag };
	int verdict = 0, ret, left;
	u64 round;
	u32 i;

	ret = next_round(px, hash, &round);
	if (ret)
		return ret;
	snprintf(px->key, sizeof(px->key), "angara.%llx.%llx", hash, round);
	ret = px_publish(px, head, mine);
	if (!ret)
		ret = px_fence(px, n, true);
	if (ret)
		return ret;
	for (i = 0; i < n && (!verdict || verdict == -EMSGSIZE); i++) {
		ret = collect_block(px, i, head, (char *)all + i * len);
		if (ret)
			verdict = ret;
	}
	/*
	 * In this fence each process waits until all have read the blocks.  A process that could
	 * not read all blocks takes part, too, since the other processes wait for it; but not while
	 * PMIx still executes its request.
	 */
	if (is_busy(px))
		return verdict;
	left = px_fence(px, n, false);
	return left ? left : verdict;
}

static int pmix_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			 u64 tag, const void *mine, size_t len, void *all)
{
	struct ang_pmix *px = job->pmix;
	u32 n = ranks ? nranks : job->size;
	u64 hash = ranks ? ang_ranks_hash(ranks, nranks) : 0;
	u32 i;
	int ret;

	if (px->broken)
		return px->broken;
	for (i = 0; i < n; i++)
		px->procs[i].rank = ranks ? ranks[i] : i;
	ret = px_exchange(px, n, hash, tag, mine, len, all);
	if (ret != -EMSGSIZE)
		px->broken = ret;
	return ret;
}

/* Gets a number from the launcher: a property of this process or of the job. */
static int px_ask(struct ang_pmix *px, pmix_rank_t rank, const char *key, u32 *val)
{
	int ret = px_get(px, rank, key);

	if (!ret && px->got != sizeof(px->number))
		ret = -EPIPE;
	*val = px->number;
	return ret;
}

/*
 * Sets the place of this process among the processes on this machine.  If the launcher does not
 * number the processes on a machine, assumes that all processes of the job are on this one.
 * Return: 0; -ETIMEDOUT the launcher does not answer.
 */
static int tell_place(struct ang_pmix *px)
{
	struct ang_job_place place = { 0 };

	if (px_ask(px, px->me.rank, PMIX_LOCAL_RANK, &place.rank) ||
	    px_ask(px, PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, &place.size)) {
		if (is_busy(px))
			return -ETIMEDOUT;
		place.rank = px->me.rank;
		place.size = px->size;
	}
	snprintf(place.name, sizeof(place.name), "%s", px->me.nspace);
	ang_job_set_place(&place);
	return 0;
}

static int px_join(struct ang_pmix *px)
{
	int ret = to_errno(lib.init(&px->me, NULL, 0));
	u32 i;

	if (ret)
		return ret;
	ret = px_ask(px, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &px->size);
	if (!ret && (px->size > ANG_JOB_MAX_SIZE || px->me.rank >= px->size))
		ret = -EINVAL;
	if (ret)
		goto finalize;
	px->procs = calloc(px->size, sizeof(*px->procs));
	if (!px->procs) {
		ret = -ENOMEM;
		goto finalize;
	}
	for (i = 0; i < px->size; i++)
		px->procs[i] = px->me;
	ret = tell_place(px);
	if (!ret)
		return 0;

finalize:
	/* PMIx may still answer an old request: never join again. */
	if (is_busy(px))
		px->broken = ret;
	lib.finalize(NULL, 0);
	free(px->procs);
	px->procs = NULL;
	return ret;
}

static struct ang_pmix self = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.ended = PTHREAD_COND_INITIALIZER,
};

/* Protects @self.users; held while joining and leaving. */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;

static int first_user(struct ang_pmix *px)
{
	int ret = px->broken;

	if (!ret)
		ret = ang_job_timeout(&px->timeout_s);
	if (!ret)
		ret = px_load();
	return ret ? ret : px_join(px);
}

/*
 * Leaves PMIx.  Keeps the rounds of groups, so that keys stay unique if the process joins again.
 */
static void last_user(struct ang_pmix *px)
{
	lib.finalize(NULL, 0);
	free(px->procs);
	px->procs = NULL;
}

static int pmix_open(struct angara_job *job)
{
	int ret = 0;

	if (!getenv(ENV_NAMESPACE) || !getenv(ENV_RANK))
		return -ENOENT;
	pthread_mutex_lock(&users_lock);
	if (!self.users)
		ret = first_user(&self);
	if (!ret)
		self.users++;
	pthread_mutex_unlock(&users_lock);
	job->pmix = &self;
	job->rank = self.me.rank;
	job->size = self.size;
	return ret;
}

static void pmix_close(struct angara_job *job)
{
	pthread_mutex_lock(&users_lock);
	if (--job->pmix->users == 0)
		last_user(job->pmix);
	pthread_mutex_unlock(&users_lock);
}

#else /* !ANG_HAVE_PMIX */

static int pmix_open(struct angara_job *job)
{
	(void)job;
	return getenv(ENV_NAMESPACE) && getenv(ENV_RANK) ? -ELIBACC : -ENOENT;
}

static int pmix_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			 u64 tag, const void *mine, size_t len, void *all)
{
	(void)job;
	(void)ranks;
	(void)nranks;
	(void)tag;
	(void)mine;
	(void)len;
	(void)all;
	return -ELIBACC;
}

static void pmix_close(struct angara_job *job)
{
	(void)job;
}

#endif

const struct ang_job_ops ang_job_pmix = {
	.open = pmix_open,
	.exchange = pmix_exchange,
	.close = pmix_close,
};
