/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations that a test waits for one by one: the cookie of each is the
 * address of a struct pending.  A context used this way has no operations with
 * other cookies.
 */
#ifndef PENDING_H
#define PENDING_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <angara/angara.h>

/**
 * struct pending - an operation
 * @op: last argument of the call that starts it
 * @ended: it is complete
 * @c: its completion
 */
struct pending {
	struct angara_op op;
	bool ended;
	struct angara_completion c;
};

/* Increments a counter of the target; the operation reports no completion. */
#define PENDING_COUNT(n)						\
	(&(const struct angara_op){ .size = sizeof(struct angara_op),	\
				    .flags = ANGARA_NOTIFY | ANGARA_SILENT, \
				    .notify = (uint32_t)(n) })

static inline const struct angara_op *pending_op(struct pending *p)
{
	*p = (struct pending){
		.op = { .size = sizeof(p->op), .cookie = (uintptr_t)p },
	};
	return &p->op;
}

/* As pending_op(), and increments user counter @n of the target. */
static inline const struct angara_op *pending_notify(struct pending *p, int n)
{
	pending_op(p);
	p->op.flags = ANGARA_NOTIFY;
	p->op.notify = (uint32_t)n;
	return &p->op;
}

static inline void pending_end(const struct angara_completion *c, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		struct pending *p = (struct pending *)(uintptr_t)c[i].cookie;

		if (!p)
			continue;
		p->c = c[i];
		p->ended = true;
	}
}

/*
 * Tests an operation. Return: 0 or the errno of its status; -EAGAIN if it is
 * not complete; -ENODEV if the adapter is gone.
 */
static inline int pending_test(struct angara_ctx *own, struct pending *p)
{
	struct angara_completion c[8];
	int n = p->ended ? 0 : angara_poll(own, c, 8);

	pending_end(c, n);
	if (p->ended)
		return angara_status_errno(p->c.status);
	return n < 0 ? n : -EAGAIN;
}

/*
 * Waits for an operation. Return: as pending_test(), with -ETIMEDOUT for
 * -EAGAIN.
 */
static inline int pending_wait(struct angara_ctx *own, struct pending *p,
			       int timeout_ms)
{
	struct angara_completion c[8];

	while (!p->ended) {
		int n = angara_poll_wait(own, c, 8, timeout_ms);

		if (n < 0)
			return n;
		pending_end(c, n);
	}
	return angara_status_errno(p->c.status);
}

#endif /* PENDING_H */
