// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card as a whole: creation, reset, detachment of its client.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "card.h"

#define SAY_LINES	10U	/* most lines about a client's errors in SAY_SECONDS */
#define SAY_SECONDS	10U	/* time in which at most SAY_LINES are printed */

/** seconds() - read the monotonic clock; never 0 */
u64 seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (u64)now.tv_sec + 1;
}

static void say_line(const char *who, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "angara-vfio: %s%s\n", who, text);
}

/** say() - print one line on standard error */
void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line("", fmt, ap);
	va_end(ap);
}

/** card_say() - print a line about a client, unless the client caused too many */
void card_say(struct card *c, const char *fmt, ...)
{
	struct say_limit *limit = &c->limit;
	u64 now = seconds();
	char who[32];
	va_list ap;

	snprintf(who, sizeof(who), "node %u: ", c->node);
	if (now - limit->since >= SAY_SECONDS) {
		if (limit->dropped)
			say("%s%u more lines were left out", who, limit->dropped);
		*limit = (struct say_limit){ .since = now };
	}
	if (limit->lines++ >= SAY_LINES) {
		limit->dropped++;
		return;
	}
	va_start(ap, fmt);
	say_line(who, fmt, ap);
	va_end(ap);
}

/**
 * card_block() - mark the start of a call that the client may block
 * @c: card of the calling thread
 *
 * After CARD_STUCK_S seconds the main thread interrupts the call by a signal.
 */
void card_block(struct card *c)
{
	ang_store_release(&c->since, seconds());
}

/**
 * card_unblock() - mark the end of the call; if it took too long, mark the card
 * as stuck
 */
void card_unblock(struct card *c)
{
	if (seconds() - c->since > CARD_STUCK_S)
		c->stuck = true;
	ang_store_release(&c->since, 0);
}

/**
 * card_reset() - set the state after power-on, except for what the client owns
 * @c: card
 *
 * The client's memory stays mapped, and its eventfds stay set.
 */
void card_reset(struct card *c)
{
	/* From now on, operations in flight cannot write to host memory. */
	dma_enable(&c->dma, false);
	fabric_reset(c->fabric, c->node);
	irq_reset(&c->irq);
	pci_reset(c);
}

/** card_detach() - release all resources that the disconnected client gave */
void card_detach(struct card *c)
{
	card_reset(c);
	dma_clear(&c->dma);
	irq_unwire(&c->irq);
	c->negotiated = false;
	c->stuck = false;
}

/** card_socket() - make the name of a card's socket in the folder */
void card_socket(const struct card *c, char name[CARD_SOCKET_LEN])
{
	snprintf(name, CARD_SOCKET_LEN, "node%u.sock", c->node);
}

int card_init(struct card *c, struct fabric *fabric, u32 node, u32 ctxs,
	      const struct dma_budget *budget)
{
	int ret;

	memset(c, 0, sizeof(*c));
	c->fabric = fabric;
	c->node = node;
	c->ctxs = ctxs;
	c->listener.fd = -1;
	ret = irq_init(&c->irq, ctxs + 1);
	if (ret)
		return ret;
	ret = dma_init(&c->dma, budget);
	if (ret) {
		irq_destroy(&c->irq);
		return ret;
	}
	pci_reset(c);
	fabric_plug(fabric, c);
	return 0;
}

void card_destroy(struct card *c)
{
	dma_destroy(&c->dma);
	irq_destroy(&c->irq);
}
