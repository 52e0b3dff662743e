// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: MSI-X vectors, or INTx.
 *
 * The model raises vectors in any thread, which only marks them as raised.  The
 * card's thread sends them, so only this thread uses the state that decides
 * how: what the guest has enabled, and the eventfds of the client.  If a client
 * blocks a write to its eventfd, only the thread of its card waits, until the
 * server's main thread interrupts it.
 *
 * INTx is a level: high while ANGARA_REG_ISR is not zero.  The client is
 * notified when it rises, and again if it is high when the client unmasks it.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "card.h"

/* Interrupts of the card that this thread serves, which need no wake-up; else NULL. */
static __thread const struct irq *here;

void irq_enter(struct irq *irq)
{
	here = irq;
}

/** irq_raise() - raise a vector; called by the model in any thread */
void irq_raise(struct irq *irq, u32 vector)
{
	u64 one = 1;

	if (vector >= irq->vectors)
		return;
	ang_fetch_or(&irq->raised[vector / 64], 1ULL << (vector % 64));
	if (here == irq || ang_xchg(&irq->kicked, 1))
		return;
	/* An eventfd counts up to 2^64, so this write does not block. */
	if (write(irq->kick, &one, sizeof(one)) < 0)
		ang_xchg(&irq->kicked, 0);
}

/*
 * If the eventfd is full, the client has not read earlier signals: do nothing.
 * If the client fills it between poll() and write(), the write blocks until the
 * main thread interrupts it by a signal.
 */
static void signal_fd(struct card *c, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	u64 one = 1;

	if (fd < 0 || poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return;
	card_block(c);
	if (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		c->stuck = true;
	card_unblock(c);
}

static bool line_up(const struct card *c)
{
	return c->irq.isr && c->pci.intx && !c->pci.msix;
}

/**
 * irq_update() - send pending interrupts after a change of masks or eventfds
 */
void irq_update(struct card *c)
{
	struct irq *irq = &c->irq;
	u32 i;

	if (line_up(c) && !irq->intx_masked && irq->intx_fd >= 0) {
		irq->intx_masked = true;
		signal_fd(c, irq->intx_fd);
	}
	if (!c->pci.msix || c->pci.msix_masked || !c->pci.master)
		return;
	for (i = 0; i < CARD_VECTOR_WORDS; i++) {
		u64 todo = irq->pending[i];

		while (todo) {
			u32 bit = (u32)__builtin_ctzll(todo);

			todo &= todo - 1;
			if (irq->fd[i * 64 + bit] < 0)
				continue;
			irq->pending[i] &= ~(1ULL << bit);
			signal_fd(c, irq->fd[i * 64 + bit]);
		}
	}
}

static u32 isr_of(u32 word, u64 bits)
{
	u32 isr = 0;

	for (; bits; bits &= bits - 1) {
		u32 vector = word * 64 + (u32)__builtin_ctzll(bits);

		isr |= vector == ANGARA_VEC_ADMIN ? ANGARA_ISR_ADMIN :
		       ANGARA_ISR_CTX(vector - ANGARA_VEC_CTX(0));
	}
	return isr;
}

/** irq_deliver() - process raised vectors; in the card's thread */
void irq_deliver(struct card *c)
{
	struct irq *irq = &c->irq;
	bool any = false;
	u32 i;

	ang_xchg(&irq->kicked, 0);
	for (i = 0; i < CARD_VECTOR_WORDS; i++) {
		u64 bits = READ_ONCE(irq->raised[i]);

		if (!bits)
			continue;
		bits = ang_xchg(&irq->raised[i], 0);
		any = true;
		if (c->pci.msix)
			irq->pending[i] |= bits;
		else
			irq->isr |= isr_of(i, bits);
	}
	if (any)
		irq_update(c);
}

/** irq_isr() - read ANGARA_REG_ISR, which clears it and lowers INTx */
u32 irq_isr(struct card *c)
{
	u32 isr;

	irq_deliver(c);
	isr = c->irq.isr;
	c->irq.isr = 0;
	return isr;
}

/** irq_count() - count the interrupts of a kind, VFIO_PCI_*_IRQ_INDEX */
u32 irq_count(const struct card *c, u32 index)
{
	if (index == VFIO_PCI_INTX_IRQ_INDEX)
		return 1;
	return index == VFIO_PCI_MSIX_IRQ_INDEX ? c->irq.vectors : 0;
}

static bool is_eventfd(int fd)
{
	static const char want[] = "anon_inode:[eventfd]";
	char path[32], link[sizeof(want)];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link));
	return n == sizeof(want) - 1 && !memcmp(link, want, (size_t)n);
}

static void wire(int *at, int fd)
{
	if (*at >= 0)
		close(*at);
	*at = fd;
}

/**
 * irq_set() - set the eventfds of interrupts, or remove them
 * @c: card
 * @index: kind
 * @start: first
 * @count: number; the caller has checked the range
 * @fds: eventfds, owned by this function if it succeeds; NULL: none
 *
 * Return: 0 or -errno.
 */
int irq_set(struct card *c, u32 index, u32 start, u32 count, int *fds)
{
	u32 i;

	for (i = 0; fds && i < count; i++)
		if (!is_eventfd(fds[i]))
			return -EINVAL;
	for (i = 0; i < count; i++) {
		int fd = fds ? fds[i] : -1;

		if (index == VFIO_PCI_MSIX_IRQ_INDEX) {
			wire(&c->irq.fd[start + i], fd);
		} else {
			wire(&c->irq.intx_fd, fd);
			c->irq.intx_masked = false;
		}
	}
	irq_update(c);
	return 0;
}

/**
 * irq_trigger() - fire interrupts as if the adapter raised them; @which: a byte
 * per interrupt, 0: leave it out; NULL: all
 */
int irq_trigger(struct card *c, u32 index, u32 start, u32 count, const u8 *which)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (which && !which[i])
			continue;
		if (index == VFIO_PCI_MSIX_IRQ_INDEX)
			signal_fd(c, c->irq.fd[start + i]);
		else
			signal_fd(c, c->irq.intx_fd);
	}
	return 0;
}

/** irq_mask() - mask or unmask INTx; the client masks vectors itself */
int irq_mask(struct card *c, u32 index, u32 start, u32 count, const u8 *which,
	     bool mask)
{
	if (index != VFIO_PCI_INTX_IRQ_INDEX)
		return -ENOTTY;
	if (!count || (which && !which[0]))
		return 0;
	c->irq.intx_masked = mask;
	irq_update(c);
	return 0;
}

/**
 * irq_reset() - clear raised interrupts; eventfds belong to the client and stay
 */
void irq_reset(struct irq *irq)
{
	u32 i;

	for (i = 0; i < CARD_VECTOR_WORDS; i++) {
		ang_xchg(&irq->raised[i], 0);
		irq->pending[i] = 0;
	}
	irq->isr = 0;
	irq->intx_masked = false;
}

/** irq_unwire() - remove the eventfds of a disconnected client */
void irq_unwire(struct irq *irq)
{
	u32 i;

	for (i = 0; i < CARD_MAX_VECTORS; i++)
		wire(&irq->fd[i], -1);
	wire(&irq->intx_fd, -1);
}

int irq_init(struct irq *irq, u32 vectors)
{
	u32 i;

	memset(irq, 0, sizeof(*irq));
	irq->vectors = vectors;
	for (i = 0; i < CARD_MAX_VECTORS; i++)
		irq->fd[i] = -1;
	irq->intx_fd = -1;
	irq->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return irq->kick < 0 ? -errno : 0;
}

void irq_destroy(struct irq *irq)
{
	irq_unwire(irq);
	close(irq->kick);
}
