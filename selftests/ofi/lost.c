// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peers that exit while a long message waits for them, or that receive nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <angara/angara.h>

#include "../common/alone.h"
#include "fi.h"

#define LEN	100000
#define WAIT_S	4	/* time for several checks of a silent peer */

/* The place where a domain publishes its number. */
#define ID_ENTRY	(16384 + 16)

/* A peer that has a context, but whose software does nothing. */
struct peer {
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	uint64_t (*dir)[2];
};

static bool open_peer(struct peer *p, const char *device, struct side *from,
		      fi_addr_t *addr)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 65536 };
	struct angara_peer self;
	struct ep_name name = name_of(from->ep);

	p->dir = calloc(ID_ENTRY + 1, sizeof(*p->dir));
	p->dir[ID_ENTRY][0] = 77;
	if (!expect(alone_open(device, &attr, &p->ctx), 0))
		return false;
	self = alone_self(p->ctx);
	name.node = self.node;
	name.ctx = self.ctx;
	name.ep = 0;
	name.serial = 77 << 12 | 5;
	*addr = insert(from->av, &name);
	return expect(angara_mr_reg_key(angara_ctx_domain(p->ctx), p->dir,
					(ID_ENTRY + 1) * sizeof(*p->dir),
					ANGARA_ACCESS_REMOTE_READ, 0, &p->mr), 0);
}

static bool idle_for_long(struct side *a)
{
	time_t end = time(NULL) + WAIT_S;
	struct fi_cq_tagged_entry e;
	bool ok = true;

	while (ok && time(NULL) < end)
		ok = expect(fi_cq_sread(a->cq, &e, 1, NULL, 100), -FI_EAGAIN);
	return ok;
}

/*
 * Each of @count sends fails; the error wakes a thread that sleeps in
 * fi_cq_sread().
 */
static bool told(struct side *a, int count)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	bool ok = true;

	while (ok && count--)
		ok = expect(fi_cq_sread(a->cq, &e, 1, NULL, LONG_MS),
			    -FI_EAVAIL) &&
		     expect(fi_cq_readerr(a->cq, &err, 0), 1) &&
		     expect(err.err, FI_EHOSTUNREACH) &&
		     expect(err.op_context == a, true);
	return ok;
}

static bool send_long(struct side *a, char *data, fi_addr_t to, void *context)
{
	return expect(fi_send(a->ep, data, LEN, NULL, to, context), 0);
}

/*
 * Sends wait for a slow receiver, but not for one that is gone, even if another
 * process has its context.
 */
static bool lost(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct side a, b;
	struct peer gone, other;
	char *data = calloc(2, LEN);
	fi_addr_t slow, peer[2];
	struct fi_cq_tagged_entry e;
	bool ok;

	open_side(&a, &how, "angara0");
	open_side(&b, &how, "angara3");
	introduce(&a, &b, &slow);
	ok = open_peer(&gone, "5", &a, &peer[0]) &&
	     open_peer(&other, "5", &a, &peer[1]) &&
	     send_long(&a, data, slow, data) &&
	     send_long(&a, data, peer[0], &a) &&
	     send_long(&a, data, peer[0], &a) &&
	     send_long(&a, data, peer[1], &a) && idle_for_long(&a);
	if (ok)
		other.dir[ID_ENTRY][0] = 78;
	ok = ok && told(&a, 1);
	angara_ctx_close(gone.ctx);
	ok = ok && told(&a, 2) && expect(fi_recv(b.ep, data + LEN, LEN, NULL,
						 FI_ADDR_UNSPEC, &b), 0);
	while (ok && fi_cq_read(b.cq, &e, 1) != 1)
		fi_cq_read(a.cq, NULL, 0);
	ok = ok && expect(e.op_context == &b, true) && completion(&a, &e) &&
	     expect(e.op_context == data, true);
	angara_ctx_close(other.ctx);
	close_side(&a);
	close_side(&b);
	free(data);
	free(gone.dir);
	free(other.dir);
	return ok;
}

#define EACH	60	/* messages, more than fit in the receive buffer */
#define SHORT	4000

static unsigned long polls;

static void count_poll(void)
{
	polls++;
}

/* Closing a domain sleeps while a message is in flight. */
static bool lingers(void)
{
	const struct how how = { 0 };
	char *data = calloc(1, SHORT);
	struct peer idle;
	struct side a;
	fi_addr_t to;
	bool ok;
	int i;

	open_side(&a, &how, "angara0");
	ok = open_peer(&idle, "1", &a, &to);
	for (i = 0; ok && i < EACH; i++) {
		ssize_t ret = fi_send(a.ep, data, SHORT, NULL, to, NULL);

		ok = !ret || expect(ret, -FI_EAGAIN);
	}
	polls = 0;
	at_poll = count_poll;
	close_side(&a);
	at_poll = NULL;
	/*
	 * The wait takes five seconds with at most a hundred polls each; allow
	 * more.
	 */
	ok = ok && expect(polls > 0, true) && expect(polls < 10000, true);
	angara_ctx_close(idle.ctx);
	free(idle.dir);
	free(data);
	return ok;
}

#define IDLE	16	/* peers that may receive nothing, by the man page */

/* Many receivers that receive nothing do not block others. */
static bool many_idle(void)
{
	const struct how how = { 0 };
	struct peer peers[IDLE] = { 0 };
	struct side a, b;
	char *data = calloc(2, SHORT);
	struct fi_cq_tagged_entry e;
	fi_addr_t addr, to;
	bool ok = true;
	long spins;
	int i, k;

	open_side(&a, &how, "angara0");
	open_side(&b, &how, "angara3");
	introduce(&a, &b, &to);
	for (i = 0; ok && i < IDLE; i++) {
		ok = open_peer(&peers[i], i & 1 ? "4" : "5", &a, &addr);
		for (k = 0; ok && k < EACH; k++) {
			ssize_t ret = fi_send(a.ep, data, SHORT, NULL, addr,
					      NULL);

			ok = !ret || expect(ret, -FI_EAGAIN);
			fi_cq_read(a.cq, &e, 1);
		}
	}
	for (k = 0; ok && k < EACH; k++) {
		ssize_t ret = -FI_EAGAIN;

		fill(data, SHORT, (unsigned int)k);
		ok = expect(fi_recv(b.ep, data + SHORT, SHORT, NULL,
				    FI_ADDR_UNSPEC, NULL), 0) &&
		     expect(fi_send(a.ep, data, SHORT, NULL, to, NULL), 0);
		for (spins = 0; ok && ret == -FI_EAGAIN && spins < 10000000;
		     spins++) {
			fi_cq_read(a.cq, NULL, 0);
			ret = fi_cq_read(b.cq, &e, 1);
		}
		ok = ok && expect(ret, 1) && completion(&a, &e) &&
		     expect(filled(data + SHORT, SHORT, (unsigned int)k), true);
	}
	for (i = 0; i < IDLE; i++) {
		angara_ctx_close(peers[i].ctx);
		free(peers[i].dir);
	}
	close_side(&a);
	close_side(&b);
	free(data);
	return ok;
}

const struct part lost_parts[] = {
	{ "lost: receivers of long messages", lost },
	{ "lost: receivers, when a domain is closed", lingers },
	{ "lost: many receivers that receive nothing", many_idle },
	{ 0 },
};
