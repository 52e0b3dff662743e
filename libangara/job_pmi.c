// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Jobs of launchers that speak PMI, version 1 and 2: mpiexec.hydra of MPICH, and
 * srun with --mpi=pmi2.
 *
 * A process sends one request at a time over a socket of the launcher, PMI_FD.
 * PMI has a store of short texts and a barrier of all processes.  The store and
 * the barrier do not support exchanges of groups, and are slow for large
 * blocks.  So each process stores the addresses at which it listens, the
 * launcher's barrier makes them visible, and exchanges go from process to
 * process (job_mesh.c).
 *
 * A process that joins gets the addresses that exchanges of the whole job need,
 * and takes part in an empty exchange of all processes: after this exchange, no
 * process has a request to the launcher pending.  If a request is pending when
 * a process dies, mpiexec.hydra does not return the status of that process, but
 * 255 or SIGPIPE.  In version 2, the barrier of mpiexec.hydra does not wait for all processes.
 * Addresses that only groups need are requested when a group first needs them.
 *
 * The versions differ in their syntax: version 1 has lines of words, version 2
 * has a length of six digits and "name=value;".  Both versions begin with a
 * line.
 *
 * A process sends its finalize request when it ends, not when the last job is
 * finalized: a process can join PMI only once.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"
#include "job_mesh.h"
#include "lib.h"

#define ENV_FD		"PMI_FD"
#define ENV_RANK	"PMI_RANK"
#define ENV_SIZE	"PMI_SIZE"
#define ENV_VERSION	"ANGARA_PMI"
#define ENV_SLURM	"SLURM_STEP_ID"

#define PMI_TEXT	8192	/* bytes of the longest message, with its end */
#define PMI_LEAVE_S	5	/* seconds to wait for the launcher's answer at exit */
#define PMI_HEAD	6	/* digits of a length in version 2 */
#define PMI_TAG_JOIN	(0x4AULL << 56)	/* tag of the exchange when a process joins */

struct ang_pmi;

/**
 * struct pmi_ops - a version of the protocol
 * @version: number
 * @init: handshake after the first line; both versions begin with the same line
 * @put: put a text into the store
 * @fence: barrier of all processes; afterwards texts put before it can be read
 * @get: get a text of the store. Return: -ENOENT there is none of that name
 * @info: get a text that the launcher has stored.  Return: as @get
 * @bye: leave PMI
 */
struct pmi_ops {
	u32 version;
	int (*init)(struct ang_pmi *p);
	int (*put)(struct ang_pmi *p, const char *key, const char *value);
	int (*fence)(struct ang_pmi *p);
	int (*get)(struct ang_pmi *p, const char *key, char *value, size_t len);
	int (*info)(struct ang_pmi *p, const char *key, char *value, size_t len);
	int (*bye)(struct ang_pmi *p);
};

/**
 * struct ang_pmi - this process under PMI; there is one, and it joins only once
 * @ops: version
 * @fd: socket
 * @rank: rank of this process
 * @size: processes
 * @pid: process that joined; its children by fork(2) must not finalize
 * @limit_s: seconds for joining and for each exchange, 0: no limit
 * @timeout_s: time limit of the operation in progress
 * @until_ms: deadline of the operation, 0: none
 * @in_fence: the operation is the launcher's barrier
 * @broken: error because of which exchanges cannot continue, or 0
 * @name: name of the store; differs between jobs
 * @mesh: connections to the other processes
 * @text: message sent or received last
 */
struct ang_pmi {
	const struct pmi_ops *ops;
	int fd;
	u32 rank;
	u32 size;
	pid_t pid;
	u32 limit_s;
	u32 timeout_s;
	u64 until_ms;
	bool in_fence;
	int broken;
	char name[256];
	struct ang_mesh *mesh;
	char text[PMI_TEXT];
};

/* Starts the deadline for an operation, with all its requests and answers. */
static void pmi_begin(struct ang_pmi *p, u32 timeout_s)
{
	p->timeout_s = timeout_s;
	p->until_ms = timeout_s ? ang_now_ns() / 1000000 + (u64)timeout_s * 1000 : 0;
}

/* Waits for the launcher.  Return: 0; -ETIMEDOUT; -EPIPE. */
static int pmi_wait(struct ang_pmi *p, short events)
{
	struct pollfd pfd = { .fd = p->fd, .events = events };
	int ready;

	do {
		u64 now = ang_now_ns() / 1000000;
		int ms = -1;

		if (p->until_ms)
			ms = p->until_ms > now ? (int)(p->until_ms - now) : 0;
		ready = poll(&pfd, 1, ms);
	} while (ready < 0 && errno == EINTR);
	/*
	 * PMI does not report for which processes the launcher's barrier waits.
	 */
	if (!ready && p->in_fence)
		ang_job_say("rank %u: the launcher's barrier of ranks 0-%u has not ended within %u s",
			    p->rank, p->size - 1, p->timeout_s);
	else if (!ready)
		ang_job_say("rank %u: the launcher has not answered within %u s",
			    p->rank, p->timeout_s);
	return ready > 0 ? 0 : ready ? -EPIPE : -ETIMEDOUT;
}

/* Sends the first @len bytes of @p->text to the launcher. */
static int pmi_send(struct ang_pmi *p, size_t len)
{
	const char *at = p->text;
	int ret = 0;

	while (len && !ret) {
		ssize_t n = send(p->fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			ret = pmi_wait(p, POLLOUT);
		} else if (n < 0 && errno != EINTR) {
			ret = -EPIPE;
		}
	}
	return ret;
}

static int pmi_recv(struct ang_pmi *p, char *to, size_t len)
{
	int ret = 0;

	while (len && !ret) {
		ssize_t n = recv(p->fd, to, len, MSG_DONTWAIT);

		if (n > 0) {
			to += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			ret = pmi_wait(p, POLLIN);
		} else if (!n || errno != EINTR) {
			ret = -EPIPE;
		}
	}
	return ret;
}

static int line_recv(struct ang_pmi *p)
{
	size_t n = 0;
	int ret;

	do {
		if (n == sizeof(p->text) - 1)
			return -EPIPE;
		ret = pmi_recv(p, &p->text[n], 1);
		if (ret)
			return ret;
	} while (p->text[n++] != '\n');
	p->text[n - 1] = 0;
	return 0;
}

/*
 * Gets the value of @name from the received message, in which @end terminates
 * each value.
 * Return: 0; -ENOENT; -EPIPE the value is too long.
 */
static int pmi_value(const struct ang_pmi *p, const char *name, char end,
		     char *value, size_t len)
{
	size_t n = strlen(name);
	const char *at = p->text;

	while (at) {
		if (!strncmp(at, name, n) && at[n] == '=') {
			size_t i = 0;

			for (at += n + 1; *at && *at != end && i < len; at++)
				value[i++] = *at;
			if (i == len)
				return -EPIPE;
			value[i] = 0;
			return 0;
		}
		at = strchr(at, end);
		at = at ? at + 1 : NULL;
	}
	return -ENOENT;
}

/* Is the received message the expected answer, with a status of success? */
static int pmi_judge(struct ang_pmi *p, const char *answer, char end)
{
	char text[64];

	if (pmi_value(p, "cmd", end, text, sizeof(text)) || strcmp(text, answer))
		return -EPIPE;
	if (!pmi_value(p, "rc", end, text, sizeof(text)) && strcmp(text, "0"))
		return -ENOENT;
	return 0;
}

/* Sends a request of version 1 from @p->text and receives its answer. */
static int line_ask(struct ang_pmi *p, const char *answer, int len)
{
	int ret = len > 0 && len < PMI_TEXT ? pmi_send(p, (size_t)len) : -EPIPE;

	if (!ret)
		ret = line_recv(p);
	return ret ? ret : pmi_judge(p, answer, ' ');
}

#define LINE(p, answer, ...) \
	line_ask(p, answer, snprintf((p)->text, PMI_TEXT, __VA_ARGS__))

static int pmi1_init(struct ang_pmi *p)
{
	int ret = LINE(p, "my_kvsname", "cmd=get_my_kvsname\n");

	return ret ? ret : pmi_value(p, "kvsname", ' ', p->name, sizeof(p->name));
}

static int pmi1_put(struct ang_pmi *p, const char *key, const char *value)
{
	return LINE(p, "put_result", "cmd=put kvsname=%s key=%s value=%s\n",
		    p->name, key, value);
}

static int pmi1_fence(struct ang_pmi *p)
{
	return LINE(p, "barrier_out", "cmd=barrier_in\n");
}

static int pmi1_get(struct ang_pmi *p, const char *key, char *value, size_t len)
{
	int ret = LINE(p, "get_result", "cmd=get kvsname=%s key=%s\n", p->name, key);

	return ret ? ret : pmi_value(p, "value", ' ', value, len);
}

static int pmi1_bye(struct ang_pmi *p)
{
	return LINE(p, "finalize_ack", "cmd=finalize\n");
}

/*
 * Sends a request of version 2.  The request begins at @p->text + PMI_HEAD; its
 * length is stored in front of it.
 */
static int item_ask(struct ang_pmi *p, const char *answer, int len)
{
	char digits[PMI_HEAD + 1], *end;
	unsigned long n;
	int ret;

	if (len <= 0 || len >= PMI_TEXT - PMI_HEAD)
		return -EPIPE;
	snprintf(digits, sizeof(digits), "%6d", len);
	memcpy(p->text, digits, PMI_HEAD);
	ret = pmi_send(p, PMI_HEAD + (size_t)len);
	if (!ret)
		ret = pmi_recv(p, digits, PMI_HEAD);
	if (ret)
		return ret;
	digits[PMI_HEAD] = 0;
	n = strtoul(digits, &end, 10);
	/* Hydra writes spaces before the number, Slurm after it. */
	while (*end == ' ')
		end++;
	if (*end || !n || n >= PMI_TEXT)
		return -EPIPE;
	p->text[n] = 0;
	ret = pmi_recv(p, p->text, n);
	return ret ? ret : pmi_judge(p, answer, ';');
}

#define ITEM(p, answer, ...) \
	item_ask(p, answer, snprintf((p)->text + PMI_HEAD, PMI_TEXT - PMI_HEAD, \
				     __VA_ARGS__))

static int pmi2_init(struct ang_pmi *p)
{
	int ret = ITEM(p, "fullinit-response",
		       "cmd=fullinit;pmijobid=%s;pmirank=%u;threaded=FALSE;",
		       getenv("PMI_JOBID") ? getenv("PMI_JOBID") : "", p->rank);

	if (!ret)
		ret = ITEM(p, "job-getid-response", "cmd=job-getid;");
	return ret ? ret : pmi_value(p, "jobid", ';', p->name, sizeof(p->name));
}

static int pmi2_put(struct ang_pmi *p, const char *key, const char *value)
{
	return ITEM(p, "kvs-put-response", "cmd=kvs-put;key=%s;value=%s;", key, value);
}

static int pmi2_fence(struct ang_pmi *p)
{
	return ITEM(p, "kvs-fence-response", "cmd=kvs-fence;");
}

static int pmi2_get(struct ang_pmi *p, const char *key, char *value, size_t len)
{
	int ret = ITEM(p, "kvs-get-response", "cmd=kvs-get;jobid=%s;srcid=-1;key=%s;",
		       p->name, key);

	return ret ? ret : pmi_value(p, "value", ';', value, len);
}

static int pmi2_info(struct ang_pmi *p, const char *key, char *value, size_t len)
{
	int ret = ITEM(p, "info-getjobattr-response", "cmd=info-getjobattr;key=%s;",
		       key);

	return ret ? ret : pmi_value(p, "value", ';', value, len);
}

static int pmi2_bye(struct ang_pmi *p)
{
	return ITEM(p, "finalize-response", "cmd=finalize;");
}

static const struct pmi_ops versions[] = {
	{
		.version = 1,
		.init = pmi1_init,
		.put = pmi1_put,
		.fence = pmi1_fence,
		.get = pmi1_get,
		.info = pmi1_get,
		.bye = pmi1_bye,
	}, {
		.version = 2,
		.init = pmi2_init,
		.put = pmi2_put,
		.fence = pmi2_fence,
		.get = pmi2_get,
		.info = pmi2_info,
		.bye = pmi2_bye,
	},
};

/*
 * Return: node of a rank, by the map "(vector,(NODE,NODES,RANKS),...)".  Each
 * block assigns RANKS ranks to each of NODES nodes from NODE on; after the last
 * block the map starts again with the first one.
 */
static u32 node_of(const char *map, u32 rank)
{
	u32 node, nodes, each, left = rank;
	const char *at = map;
	int n;

	for (;;) {
		if (sscanf(at, ",(%u,%u,%u)%n", &node, &nodes, &each, &n) != 3) {
			/*
			 * No block contains the rank: continue with its
			 * remainder modulo the ranks in all blocks.
			 */
			if (at == map)
				return 0;
			left %= rank - left;
			rank = left;
			at = map;
			continue;
		}
		if (!nodes || !each || nodes > ANG_JOB_MAX_SIZE ||
		    each > ANG_JOB_MAX_SIZE)
			return 0;
		if (left / each < nodes)
			return node + left / each;
		left -= nodes * each;
		at += n;
	}
}

/*
 * Finds the place of this process among the processes on this machine.  Return:
 * true if all processes are on this machine.
 */
static bool pmi_place(struct ang_pmi *p)
{
	struct ang_job_place place = { .rank = p->rank, .size = p->size };
	const char *head = "(vector";
	char map[1024];
	u32 r, node;
	bool here = false;

	if (!p->ops->info(p, "PMI_process_mapping", map, sizeof(map)) &&
	    !strncmp(map, head, strlen(head))) {
		place.rank = 0;
		place.size = 0;
		node = node_of(map + strlen(head), p->rank);
		for (r = 0; r < p->size; r++) {
			bool same = node_of(map + strlen(head), r) == node;

			place.rank += same && r < p->rank;
			place.size += same;
		}
		here = place.size == p->size;
	}
	snprintf(place.name, sizeof(place.name), "%s", p->name);
	ang_job_set_place(&place);
	return here;
}

static void card_key(u32 rank, char *key, size_t len)
{
	snprintf(key, len, "angara-%u", rank);
}

static int get_card(void *arg, u32 rank, char card[ANG_MESH_CARD])
{
	struct ang_pmi *p = arg;
	char key[32];
	int ret;

	card_key(rank, key, sizeof(key));
	ret = p->ops->get(p, key, card, ANG_MESH_CARD);
	return ret == -ENOENT ? -EPIPE : ret;
}

static int publish_card(struct ang_pmi *p)
{
	char key[32];
	int ret;

	card_key(p->rank, key, sizeof(key));
	ret = p->ops->put(p, key, ang_mesh_card(p->mesh));
	if (ret)
		return ret;
	p->in_fence = true;
	ret = p->ops->fence(p);
	p->in_fence = false;
	return ret;
}

/* Chooses the version: the user's choice; without one, 2 under Slurm, else 1. */
static int choose_version(struct ang_pmi *p)
{
	u32 version = getenv(ENV_SLURM) ? 2 : 1;

	if (ang_env_number(ENV_VERSION, 2, &version) == -EINVAL || !version)
		return -EINVAL;
	p->ops = &versions[version - 1];
	return 0;
}

static int pmi_join(struct ang_pmi *p)
{
	u32 fd;
	int ret;

	if (ang_env_number(ENV_FD, 0x7FFFFFFF, &fd) ||
	    ang_env_number(ENV_SIZE, ANG_JOB_MAX_SIZE, &p->size) ||
	    ang_env_number(ENV_RANK, ANG_JOB_MAX_SIZE - 1, &p->rank) ||
	    p->rank >= p->size || choose_version(p))
		return -EINVAL;
	ret = ang_job_timeout(&p->limit_s);
	if (ret)
		return ret;
	pmi_begin(p, p->limit_s);
	p->fd = (int)fd;
	ret = LINE(p, "response_to_init", "cmd=init pmi_version=%u pmi_subversion=%u\n",
		   p->ops->version, 2 - p->ops->version);
	if (!ret)
		ret = p->ops->init(p);
	if (ret)
		return ret == -ENOENT ? -EPIPE : ret;
	p->pid = getpid();
	ret = ang_mesh_new(p->rank, p->size, pmi_place(p), &p->mesh);
	if (!ret)
		ret = publish_card(p);
	if (!ret)
		ret = ang_mesh_exchange(p->mesh, get_card, p, p->limit_s, NULL, 0,
					PMI_TAG_JOIN, NULL, 0, NULL);
	return ret == -ENOENT ? -EPIPE : ret;
}

static struct ang_pmi self = { .fd = -1 };

/* Held by the thread that uses @self. */
static pthread_mutex_t self_lock = PTHREAD_MUTEX_INITIALIZER;

/* After an error: ends the connections, so that the other processes do not wait. */
static void pmi_break(struct ang_pmi *p, int err)
{
	ang_mesh_free(p->mesh);
	p->mesh = NULL;
	p->broken = err;
}

static int pmi_open(struct angara_job *job)
{
	int ret;

	if (!getenv(ENV_FD))
		return -ENOENT;
	pthread_mutex_lock(&self_lock);
	ret = self.broken;
	if (!ret && !self.mesh)
		ret = pmi_join(&self);
	if (ret)
		pmi_break(&self, ret);
	job->pmi = &self;
	job->rank = self.rank;
	job->size = self.size;
	pthread_mutex_unlock(&self_lock);
	return ret;
}

/*
 * Keeps PMI joined until the process ends, so that the process can open the job
 * again.
 */
static void pmi_close(struct angara_job *job)
{
	(void)job;
}

static int pmi_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			u64 tag, const void *mine, size_t len, void *all)
{
	struct ang_pmi *p = job->pmi;
	int ret;

	pthread_mutex_lock(&self_lock);
	ret = p->broken;
	if (!ret) {
		pmi_begin(p, p->limit_s);
		ret = ang_mesh_exchange(p->mesh, get_card, p, p->limit_s, ranks,
					nranks, tag, mine, len, all);
		if (ret && ret != -EMSGSIZE)
			pmi_break(p, ret);
	}
	pthread_mutex_unlock(&self_lock);
	return ret;
}

/*
 * Leaves PMI at exit.  Waits only briefly: a launcher that does not answer must
 * not keep the process from ending.
 */
static void __attribute__((destructor)) pmi_leave(void)
{
	/*
	 * Another thread may be in an exchange: do not free the memory that it
	 * uses.
	 */
	if (self.pid != getpid() || pthread_mutex_trylock(&self_lock))
		return;
	pmi_begin(&self, self.limit_s && self.limit_s < PMI_LEAVE_S ?
		  self.limit_s : PMI_LEAVE_S);
	self.ops->bye(&self);
	pmi_break(&self, -EPIPE);
	pthread_mutex_unlock(&self_lock);
}

const struct ang_job_ops ang_job_pmi = {
	.open = pmi_open,
	.exchange = pmi_exchange,
	.close = pmi_close,
};
