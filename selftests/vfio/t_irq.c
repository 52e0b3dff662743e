// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: MSI-X, INTx, and eventfds that a client triggers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "client.h"

#define MSIX		VFIO_PCI_MSIX_IRQ_INDEX
#define INTX		VFIO_PCI_INTX_IRQ_INDEX
#define CTRL		(0x48 + PCI_MSIX_FLAGS)
#define NONE		VFIO_IRQ_SET_DATA_NONE
#define BOOL		VFIO_IRQ_SET_DATA_BOOL
#define EVENTFD		VFIO_IRQ_SET_DATA_EVENTFD
#define TRIGGER		VFIO_IRQ_SET_ACTION_TRIGGER
#define MASK		VFIO_IRQ_SET_ACTION_MASK
#define UNMASK		VFIO_IRQ_SET_ACTION_UNMASK

static void nop(struct host *h)
{
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_NOP, 0, 0), ANGARA_ADM_ST_OK);
	/* When this reply arrives, the card has sent all pending interrupts. */
	cl_get(client_of(0), CONFIG, 0, 4);
}

static void msix(void)
{
	struct host *h = host_new("", &cfg_default);
	struct cl *cl = client_of(0);
	int fd = cl_wire(cl, MSIX, ANGARA_VEC_ADMIN);
	int intx = cl_wire(cl, INTX, 0);

	cl_put(cl, CONFIG, CTRL, 2, PCI_MSIX_FLAGS_ENABLE);
	nop(h);
	EXPECT_EQ(eventfd_wait(fd), 1);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ISR, 4), 0);
	/*
	 * With the function mask set, or without bus mastering, an interrupt
	 * stays pending.
	 */
	cl_put(cl, CONFIG, CTRL, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	nop(h);
	EXPECT(eventfd_quiet(fd));
	EXPECT_EQ(cl_get(cl, 2, 0x1000, 4), 1);
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	cl_put(cl, CONFIG, CTRL, 2, PCI_MSIX_FLAGS_ENABLE);
	cl_get(cl, CONFIG, 0, 4);
	EXPECT(eventfd_quiet(fd));
	EXPECT_EQ(cl_get(cl, 2, 0x1000, 4), 1);
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	EXPECT_EQ(eventfd_wait(fd), 1);
	EXPECT_EQ(cl_get(cl, 2, 0x1000, 4), 0);
	/*
	 * Without an eventfd an interrupt is kept, and sent when there is one
	 * again.
	 */
	EXPECT_EQ(cl_irqs(cl, EVENTFD | TRIGGER, MSIX, 0, 1, NULL, 0, NULL, 0), 0);
	nop(h);
	nop(h);
	EXPECT(eventfd_quiet(fd));
	close(fd);
	fd = cl_wire(cl, MSIX, 0);
	EXPECT_EQ(eventfd_wait(fd), 1);
	EXPECT(eventfd_quiet(intx));
	close(fd);
	close(intx);
	host_free(h);
}

/* A context has a vector of its own, which fires once each time it is armed. */
static void vectors(void)
{
	struct host *h = host_new("", &cfg_default);
	struct cl *cl = client_of(0);
	struct tctx *c = ctx_new(h, 0, 15, PKEY, 6, 6);
	struct angara_wqe w = { .opcode = ANGARA_OP_NOP };
	int first = cl_wire(cl, MSIX, ANGARA_VEC_CTX(14));
	int fd = cl_wire(cl, MSIX, ANGARA_VEC_CTX(15));

	cl_put(cl, CONFIG, CTRL, 2, PCI_MSIX_FLAGS_ENABLE);
	host_reg(h, 0, ANGARA_DB_PAGE(15) + ANGARA_DB_ARM, 0);
	post(c, &w, NULL);
	kick(c);
	EXPECT_EQ(wait_cq(c, NULL), ANGARA_ST_OK);
	EXPECT_EQ(eventfd_wait(fd), 1);
	post(c, &w, NULL);
	kick(c);
	EXPECT_EQ(wait_cq(c, NULL), ANGARA_ST_OK);
	cl_get(cl, CONFIG, 0, 4);
	EXPECT(eventfd_quiet(fd) && eventfd_quiet(first));
	close(first);
	close(fd);
	host_free(h);
	free(c);
}

static void line(void)
{
	struct host *h = host_new("", &cfg_default);
	struct cl *cl = client_of(0);
	int fd = cl_wire(cl, INTX, 0);
	u32 status;

	/* Initialization has raised no interrupt. */
	EXPECT(eventfd_quiet(fd));
	nop(h);
	EXPECT_EQ(eventfd_wait(fd), 1);
	/* INTx masks itself when it fires.  If it is high when unmasked, it fires again. */
	nop(h);
	EXPECT(eventfd_quiet(fd));
	EXPECT_EQ(cl_irqs(cl, NONE | UNMASK, INTX, 0, 1, NULL, 0, NULL, 0), 0);
	EXPECT_EQ(eventfd_wait(fd), 1);
	status = cl_get(cl, CONFIG, PCI_STATUS, 2);
	EXPECT(status & PCI_STATUS_INTERRUPT);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ISR, 4), ANGARA_ISR_ADMIN);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ISR, 4), 0);
	EXPECT(!(cl_get(cl, CONFIG, PCI_STATUS, 2) & PCI_STATUS_INTERRUPT));
	EXPECT_EQ(cl_irqs(cl, NONE | UNMASK, INTX, 0, 1, NULL, 0, NULL, 0), 0);
	EXPECT(eventfd_quiet(fd));
	/* INTx is masked by the client, then by the guest. */
	EXPECT_EQ(cl_irqs(cl, NONE | MASK, INTX, 0, 1, NULL, 0, NULL, 0), 0);
	nop(h);
	EXPECT(eventfd_quiet(fd));
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY |
	       PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	EXPECT_EQ(cl_irqs(cl, BOOL | UNMASK, INTX, 0, 1, "\1", 1, NULL, 0), 0);
	EXPECT(eventfd_quiet(fd));
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	EXPECT_EQ(eventfd_wait(fd), 1);
	/* A byte of 0 in the data does not select the interrupt. */
	EXPECT_EQ(cl_irqs(cl, BOOL | UNMASK, INTX, 0, 1, "\0", 1, NULL, 0), 0);
	EXPECT(eventfd_quiet(fd));
	/* A reset lowers INTx. */
	EXPECT_EQ(cl_call(cl, VFU_DEVICE_RESET, NULL, 0), 0);
	EXPECT_EQ(cl_irqs(cl, NONE | UNMASK, INTX, 0, 1, NULL, 0, NULL, 0), 0);
	EXPECT(eventfd_quiet(fd));
	EXPECT(!(cl_get(cl, CONFIG, PCI_STATUS, 2) & PCI_STATUS_INTERRUPT));
	close(fd);
	host_free(h);
}

/* Contexts share the bits of the ISR register. */
static void isr(void)
{
	struct host *h = host_new("", &cfg_default);
	struct cl *cl = client_of(0);
	struct angara_wqe w = { .opcode = ANGARA_OP_NOP };
	struct tctx *c = ctx_new(h, 0, 5, PKEY, 6, 6);

	cl_get(cl, 0, ANGARA_REG_ISR, 4);
	host_reg(h, 0, ANGARA_DB_PAGE(5) + ANGARA_DB_ARM, 0);
	post(c, &w, NULL);
	kick(c);
	EXPECT_EQ(wait_cq(c, NULL), ANGARA_ST_OK);
	while (!(cl_get(cl, CONFIG, PCI_STATUS, 2) & PCI_STATUS_INTERRUPT))
		sched_yield();
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ISR, 4), ANGARA_ISR_CTX(5));
	EXPECT_EQ(ANGARA_ISR_CTX(5), 1 << 6);
	EXPECT_EQ(ANGARA_ISR_CTX(31), ANGARA_ISR_CTX(0));
	host_free(h);
	free(c);
}

/* A client triggers its own eventfds. */
static void trigger(void)
{
	struct cl *cl = cl_attach(0);
	int fd[3], i;

	for (i = 0; i < 3; i++)
		fd[i] = cl_wire(cl, MSIX, 4 + (u32)i);
	EXPECT_EQ(cl_irqs(cl, BOOL | TRIGGER, MSIX, 4, 3, "\1\0\1", 3, NULL, 0), 0);
	EXPECT_EQ(eventfd_wait(fd[0]), 1);
	EXPECT_EQ(eventfd_wait(fd[2]), 1);
	EXPECT(eventfd_quiet(fd[1]));
	EXPECT_EQ(cl_irqs(cl, NONE | TRIGGER, MSIX, 5, 1, NULL, 0, NULL, 0), 0);
	EXPECT_EQ(eventfd_wait(fd[1]), 1);
	/* Remove all eventfds. */
	EXPECT_EQ(cl_irqs(cl, NONE | TRIGGER, MSIX, 0, 0, NULL, 0, NULL, 0), 0);
	EXPECT_EQ(cl_irqs(cl, NONE | TRIGGER, MSIX, 0, 17, NULL, 0, NULL, 0), 0);
	for (i = 0; i < 3; i++) {
		EXPECT(eventfd_quiet(fd[i]));
		close(fd[i]);
	}
	cl_close(cl);
}

static const struct {
	u32 flags, index, start, count, len;
	int error;
} bad_irqs[] = {
	{ 0, MSIX, 0, 1, 0, EINVAL },
	{ TRIGGER, MSIX, 0, 1, 0, EINVAL },
	{ NONE, MSIX, 0, 1, 0, EINVAL },
	{ NONE | BOOL | TRIGGER, MSIX, 0, 1, 1, EINVAL },
	{ NONE | TRIGGER | MASK, INTX, 0, 1, 0, EINVAL },
	{ NONE | TRIGGER | 64, MSIX, 0, 1, 0, EINVAL },
	{ NONE | TRIGGER, MSIX, 17, 1, 0, EINVAL },
	{ NONE | TRIGGER, MSIX, 0, 18, 0, EINVAL },
	{ NONE | TRIGGER, MSIX, 1, ~0U, 0, EINVAL },
	{ NONE | TRIGGER, MSIX, ~0U, 2, 0, EINVAL },
	{ NONE | TRIGGER, INTX, 0, 2, 0, EINVAL },
	{ NONE | TRIGGER, INTX, 1, 0, 0, EINVAL },
	{ NONE | TRIGGER, VFIO_PCI_MSI_IRQ_INDEX, 0, 1, 0, EINVAL },
	{ NONE | TRIGGER, 5, 0, 0, 0, EINVAL },
	{ NONE | TRIGGER, ~0U, 0, 0, 0, EINVAL },
	{ NONE | TRIGGER, MSIX, 0, 1, 1, EINVAL },
	{ BOOL | TRIGGER, MSIX, 0, 2, 1, EINVAL },
	{ BOOL | TRIGGER, MSIX, 0, 0, 0, EINVAL },
	{ EVENTFD | TRIGGER, MSIX, 0, 1, 4, EINVAL },
	{ NONE | UNMASK, INTX, 0, 0, 0, EINVAL },
	{ NONE | MASK, MSIX, 0, 1, 0, ENOTTY },
	{ EVENTFD | UNMASK, INTX, 0, 1, 0, EOPNOTSUPP },
};

static void refused(void)
{
	struct cl *cl = cl_attach(0);
	u32 before = server_fds();
	int pipes[2], three[3];
	u32 i;

	for (i = 0; i < NUM(bad_irqs); i++)
		EXPECT_EQ(cl_irqs(cl, bad_irqs[i].flags, bad_irqs[i].index,
				  bad_irqs[i].start, bad_irqs[i].count, "\1\1\1\1",
				  bad_irqs[i].len, NULL, 0), bad_irqs[i].error);
	/* Pass descriptors that would block, or are not eventfds. */
	EXPECT(!pipe2(pipes, O_CLOEXEC));
	EXPECT_EQ(cl_irqs(cl, EVENTFD | TRIGGER, MSIX, 0, 1, NULL, 0,
			  &pipes[1], 1), EINVAL);
	three[0] = eventfd_new();
	three[1] = eventfd_new();
	three[2] = pipes[1];
	EXPECT_EQ(cl_irqs(cl, EVENTFD | TRIGGER, MSIX, 0, 3, NULL, 0, three, 3),
		  EINVAL);
	EXPECT_EQ(cl_irqs(cl, EVENTFD | TRIGGER, MSIX, 0, 3, NULL, 0, three, 2),
		  EINVAL);
	EXPECT_EQ(cl_irqs(cl, NONE | TRIGGER, MSIX, 0, 1, NULL, 0, three, 1),
		  EINVAL);
	EXPECT_EQ(server_fds(), before);
	EXPECT_EQ(cl_irqs(cl, EVENTFD | TRIGGER, MSIX, 15, 2, NULL, 0, three, 2),
		  0);
	EXPECT_EQ(server_fds(), before + 2);
	EXPECT_EQ(cl_irqs(cl, EVENTFD | TRIGGER, MSIX, 15, 2, NULL, 0, three, 2),
		  0);
	EXPECT_EQ(server_fds(), before + 2);
	cl_close(cl);
	for (i = 0; i < 2; i++) {
		close(three[i]);
		close(pipes[i]);
	}
}

static void fill(int fd)
{
	u64 most = ~0ULL - 1;

	EXPECT(!fcntl(fd, F_SETFL, O_NONBLOCK));
	if (write(fd, &most, sizeof(most)) < 0)
		EXPECT_EQ(errno, EAGAIN);
	EXPECT(!fcntl(fd, F_SETFL, 0));
}

static bool filling;

/* Fills an eventfd again as soon as it is not full. */
static void *fill_on(void *arg)
{
	int fd = *(int *)arg;
	u64 got;

	while (__atomic_load_n(&filling, __ATOMIC_RELAXED)) {
		if (!eventfd_quiet(fd) && read(fd, &got, sizeof(got)) < 0)
			break;
		fill(fd);
	}
	return NULL;
}

/*
 * Writing to a full eventfd blocks.  The server checks first, and closes the
 * connection if the client fills the eventfd after the check.  Other clients
 * are served in any case.
 */
static void full(void)
{
	struct cl *cl = cl_attach(0);
	struct cl *other = cl_attach(1);
	int fd = cl_wire(cl, MSIX, 0);
	pthread_t thread;
	u32 i;

	fill(fd);
	for (i = 0; i < 100; i++)
		EXPECT_EQ(cl_irqs(cl, NONE | TRIGGER, MSIX, 0, 1, NULL, 0, NULL,
				  0), 0);
	filling = true;
	EXPECT(!pthread_create(&thread, NULL, fill_on, &fd));
	for (i = 0; i < 2000; i++) {
		u32 body[5] = { 20, NONE | TRIGGER, MSIX, 0, 1 };

		cl_send(cl, VFU_SET_IRQS, VFU_NO_REPLY, body, 20, NULL, 0);
		EXPECT_EQ(cl_get(other, CONFIG, 0, 4), 0x10f01af4);
	}
	__atomic_store_n(&filling, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	fill(fd);
	cl_close(cl);
	cl_close(other);
	/* The card is free at the latest after the server's next check. */
	cl_close(cl_attach(0));
	close(fd);
}

/*
 * With hasty.c, the server writes without a check: the write is interrupted, and
 * the server closes the connection.  Meanwhile other clients are served; then
 * the card is free.
 */
static void blocked(void)
{
	struct cl *cl = cl_attach(0);
	struct cl *other = cl_attach(1);
	int fd = cl_wire(cl, MSIX, 0);
	int ret;

	fill(fd);
	ret = cl_irqs(cl, NONE | TRIGGER, MSIX, 0, 1, NULL, 0, NULL, 0);
	EXPECT_EQ(cl_get(other, CONFIG, 0, 4), 0x10f01af4);
	if (getenv("VFIO_HASTY")) {
		/* The server answers the request, then closes the connection. */
		EXPECT_EQ(ret, 0);
		EXPECT_EQ(cl_recv(cl), CLOSED);
		EXPECT(said("node 0: the client does not answer the server"));
	} else {
		EXPECT_EQ(ret, 0);
		EXPECT_EQ(cl_get(cl, CONFIG, 0, 4), 0x10f01af4);
	}
	cl_close(cl);
	cl_close(other);
	cl_close(cl_attach(0));
	close(fd);
}

const struct test_case irq_cases[] = {
	{ "irq: MSI-X", msix },
	{ "irq: a vector for each context", vectors },
	{ "irq: INTx is a level", line },
	{ "irq: the status register", isr },
	{ "irq: triggered by the client", trigger },
	{ "irq: invalid requests", refused },
	{ "irq: an eventfd that is full", full },
	{ "irq: an eventfd that blocks", blocked },
	{ NULL, NULL },
};
