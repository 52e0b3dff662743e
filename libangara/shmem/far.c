// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shmem_global_exit() in a job over several machines.
 *
 * A signal does not reach the PEs of other machines, and a launcher ends them
 * only if the status is not 0.  So in such a job each PE has a thread with its
 * own context, which sleeps until a message with the status arrives.
 *
 * The PE that exits waits until the other PEs have ended, so that no PE treats
 * the end of this PE as a failure.  A PE that detects the end of another PE
 * first waits for a message, which may be in flight.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "shi.h"

#define FAR_EXIT	1	/* code of a message: end with the status in imm */
#define FAR_STOP	2	/* code of a message from a PE to itself: the thread returns */
#define FAR_MS		2000	/* longest wait of the exiting PE */
#define FAR_WAIT_MS	100	/* wait for a message after a failure */

/**
 * struct far - PEs of other machines
 * @a: context of the thread; NULL: all PEs are on this machine
 * @out: context in which shi_far_exit() sends: at that time there may be no free context,
 *	and other threads may hold the contexts in use for long; NULL until @peers is complete
 * @peers: for each PE, the address of the context of its thread
 * @thread: waits for a message
 */
static struct {
	struct angara_ctx *a;
	struct angara_ctx *out;
	struct angara_peer *peers;
	pthread_t thread;
} far;

static bool far_is(unsigned int pe)
{
	return shi.cards[pe].host != shi.cards[shi.me].host;
}

static void *far_listen(void *unused)
{
	struct angara_message msg = { .size = sizeof(msg) };
	int ret;

	(void)unused;
	for (;;) {
		ret = angara_msg_wait(far.a, ANGARA_FOREVER, &msg);
		if (ret && ret != -ETIMEDOUT)
			return NULL;
		if (ret)
			continue;
		if (msg.head.code == FAR_EXIT)
			shi_exit_self((int)msg.head.imm);
		angara_msg_free(far.a, &msg);
		if (msg.head.code == FAR_STOP)
			return NULL;
	}
}

static int far_send(struct angara_ctx *a, unsigned int pe, uint16_t code, int status)
{
	const struct angara_head head = {
		.size = sizeof(head), .code = code, .imm = (uint64_t)(int64_t)status,
	};

	return angara_send_inline(a, far.peers[pe], &head, NULL, 0);
}

/*
 * Starts a thread that takes no signals: the program's threads handle its
 * signals.
 */
void shi_thread_start(pthread_t *thread, void *(*run)(void *))
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	shi_check(-ret, "thread for shmem_global_exit()");
}

/*
 * If PEs run on several machines, creates the thread that gets the messages of
 * shmem_global_exit() from them.  All PEs call this function; shi.cards is complete.
 */
void shi_far_open(void)
{
	struct angara_ctx_attr attr = {
		.size = sizeof(attr), .msg_bytes = ANGARA_MIN_MSG_BYTES,
	};
	const struct angara_ctx_attr sends = {
		.size = sizeof(sends), .msg_bytes = ANGARA_NO_MSG,
	};
	struct angara_ctx_info info = { .size = sizeof(info) };
	struct angara_ctx *out;
	unsigned int i;

	for (i = 1; i < shi.n && shi.cards[i].host == shi.cards[0].host; i++)
		;
	if (i == shi.n)
		return;
	far.peers = calloc(shi.n, sizeof(*far.peers));
	if (!far.peers)
		shi_die("no memory for the addresses of %u PEs", shi.n);
	shi_check(angara_ctx_open(shi.dom, &attr, &far.a), "context for shmem_global_exit()");
	shi_check(angara_ctx_open(shi.dom, &sends, &out), "context for shmem_global_exit()");
	shi_check(angara_ctx_query(far.a, &info), "context for shmem_global_exit()");
	shi_check(angara_job_allgather(shi.job, &info.self, sizeof(info.self), far.peers),
		  "exchange of addresses");
	far.out = out;
	shi_thread_start(&far.thread, far_listen);
}

/*
 * Ends the thread.  Called when no PE can call shmem_global_exit() any more; the
 * default context is not in use.
 */
void shi_far_close(void)
{
	if (!far.a)
		return;
	shi_check(far_send(shi.def.a, (unsigned int)shi.me, FAR_STOP, 0), "finalize");
	pthread_join(far.thread, NULL);
	angara_ctx_close(far.out);
	angara_ctx_close(far.a);
	free(far.peers);
	far.out = NULL;
	far.a = NULL;
}

/* Ends the PEs of other machines. */
void shi_far_exit(int status)
{
	int64_t end = shi_now_ms() + FAR_MS;
	struct angara_ctx *a = far.out;
	unsigned int i;

	if (!a)
		return;
	for (i = 0; i < shi.n; i++)
		if (far_is(i))
			far_send(a, i, FAR_EXIT, status);
	for (i = 0; i < shi.n; i++)
		while (far_is(i) && !shi_pe_ended(a, (int)i) && shi_now_ms() < end)
			shi_pe_nap(a);
}

/*
 * Before the program ends with an error: waits for a message, which may be in
 * flight.
 */
void shi_far_wait(void)
{
	if (far.a)
		usleep(FAR_WAIT_MS * 1000);
}
