// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waking threads that sleep on the words of contexts, see wait.c.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "embed.h"

/*
 * Wakes the threads that sleep on a context's word. Return: true if there were
 * any.
 */
bool emb_wake(struct emb_ctx *ctx)
{
	return syscall(SYS_futex, &ctx->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) > 0;
}

/* Wakes the threads for which the model has raised an interrupt. */
void emb_wake_all(struct emb_run *r)
{
	while (r->num_wakes)
		emb_wake(r->wakes[--r->num_wakes]);
}
