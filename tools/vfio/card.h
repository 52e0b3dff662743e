/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-vfio: adapters of one fabric as PCI functions for QEMU.
 *
 * A card is one adapter.  Only the card's thread reads its socket, answers, and
 * touches its configuration space and interrupts.  After a register write that
 * thread runs the model for a while and leaves the rest to the workers of the
 * fabric.  Other threads touch only constant members and these:
 *
 *   dma		threads that run the model; under dma.lock, for reading
 *   irq.raised, .kicked	threads that run the model; atomic
 *   attached	threads of the control socket; atomic
 *   since, stop	main thread; atomic
 *
 * A thread that waits for a lock holds no other lock, so there is no lock
 * order.
 */
#ifndef ANGARA_VFIO_CARD_H
#define ANGARA_VFIO_CARD_H

#include <pthread.h>
#include <stdarg.h>

#include "ang_model.h"

#define CARD_MAX_VECTORS	(ANG_MAX_CTXS + 1)
#define CARD_VECTOR_WORDS	((CARD_MAX_VECTORS + 63) / 64)
#define CARD_PBA		0x1000	/* offset in BAR 2; the table is at 0 */
#define CARD_BAR_MSIX_SIZE	0x2000

struct fabric;
struct peers_options;

/* Limits the lines that a client can make the server print; see card_say(). */
struct say_limit {
	u64 since;
	u32 lines;
	u32 dropped;
};

/* dma.c: limits on the memory that a client can make the server map. */
struct dma_budget {
	u64 bytes;		/* bytes of the mapped files */
	u32 maps;
};

/* dma.c: the host memory that an adapter may reach. */
struct dma {
	struct dma_budget budget;	/* set once */
	pthread_rwlock_t lock;	/* all members below; only the card's thread locks for writing */
	bool on;		/* the guest has enabled bus mastering */
	void *ranges;		/* tree of struct dma_range that do not
				 * overlap */
	u32 num_ranges;
	struct dma_file *files;
	bool any;		/* a range with memory exists or existed */
};

int dma_init(struct dma *d, const struct dma_budget *budget);
void dma_destroy(struct dma *d);
void dma_enable(struct dma *d, bool on);
int dma_map(struct dma *d, u64 iova, u64 size, u64 offset, u32 access, int fd,
	    const char **why);
int dma_unmap(struct dma *d, u64 iova, u64 size, u64 *done);
void dma_clear(struct dma *d);
int dma_read(struct dma *d, u64 iova, void *buf, u32 len);
int dma_write(struct dma *d, u64 iova, const void *buf, u32 len);
int dma_store64(struct dma *d, u64 iova, u64 val);

#define DMA_READ	1U	/* rights as in struct vfio_iommu_type1_dma_map */
#define DMA_WRITE	2U
#define DMA_PAGE	4096U
#define DMA_MAX_FILES	64U

/* irq.c: interrupts, as set by the client. */
struct irq {
	u32 vectors;
	int fd[CARD_MAX_VECTORS];	/* MSI-X; -1: none */
	int intx_fd;
	bool intx_masked;	/* set when INTx fires, until the client unmasks it */
	u32 isr;		/* ANGARA_REG_ISR */
	u64 pending[CARD_VECTOR_WORDS];	/* vectors raised and not sent */
	u64 raised[CARD_VECTOR_WORDS];	/* atomic: vectors raised by the model and not processed */
	u32 kicked;		/* atomic: the card's thread is notified */
	int kick;		/* eventfd to wake the card's thread */
};

/* pci.c: configuration space. */
struct pci {
	u8 space[4096];
	bool memory;		/* memory space is enabled */
	bool msix;
	bool msix_masked;
	bool master;
	bool intx;		/* INTx is not disabled */
};

#define CARD_STUCK_S	2	/* seconds that a client may block its card's thread */

/* listen.c: a socket that clients find by name. */
struct listener {
	int fd;			/* -1: none */
	u64 inode;		/* inode of the socket in the file system */
};

int listener_open(struct listener *l, const char *dir, const char *name,
		  u32 mode);
void listener_close(struct listener *l, const char *dir, const char *name);

struct card {
	struct fabric *fabric;
	u32 node;
	u32 ctxs;
	struct pci pci;
	struct irq irq;
	struct dma dma;
	bool negotiated;	/* VFU_VERSION was answered without an error */
	struct say_limit limit;
	/*
	 * Second in which a call began that the client may block, such as
	 * write(2) to its eventfd; atomic, 0: no such call.
	 */
	u64 since;
	bool stuck;		/* the call took too long: drop the client */
	/* server.c */
	pthread_t thread;
	struct listener listener;
	struct client *client;
	bool closes;		/* @closer closes a refused connection */
	pthread_t closer;
	u64 closing_since;	/* second in which @closer began */
	bool attached;		/* atomic: a client is connected */
	bool stop;		/* atomic: the server is shutting down */
};

#define CARD_SOCKET_LEN	32
void card_socket(const struct card *c, char name[CARD_SOCKET_LEN]);
int card_init(struct card *c, struct fabric *fabric, u32 node, u32 ctxs,
	      const struct dma_budget *budget);
void card_destroy(struct card *c);
void card_block(struct card *c);
void card_unblock(struct card *c);
void card_reset(struct card *c);
void card_detach(struct card *c);
void card_say(struct card *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
u64 seconds(void);

void pci_reset(struct card *c);
void pci_read(struct card *c, u64 off, void *buf, u32 len);
void pci_write(struct card *c, u64 off, const void *buf, u32 len);

/* bar.c: the regions. */
u64 bar_size(const struct card *c, u32 region);
int bar_read(struct card *c, u32 region, u64 off, void *buf, u32 len);
int bar_write(struct card *c, u32 region, u64 off, const void *buf, u32 len);

int irq_init(struct irq *irq, u32 vectors);
void irq_destroy(struct irq *irq);
void irq_enter(struct irq *irq);
void irq_raise(struct irq *irq, u32 vector);
void irq_deliver(struct card *c);
void irq_update(struct card *c);
void irq_reset(struct irq *irq);
void irq_unwire(struct irq *irq);
u32 irq_isr(struct card *c);
u32 irq_count(const struct card *c, u32 index);
int irq_set(struct card *c, u32 index, u32 start, u32 count, int *fds);
int irq_trigger(struct card *c, u32 index, u32 start, u32 count, const u8 *which);
int irq_mask(struct card *c, u32 index, u32 start, u32 count, const u8 *which,
	     bool mask);

/* fabric.c: the model and the threads that run it. */
struct fabric *fabric_new(const struct ang_cfg *cfg, u32 workers);
int fabric_link(struct fabric *f, const struct peers_options *o,
		const bool *ours);
int fabric_whole(struct fabric *f, u32 ms);
bool fabric_remote(const struct fabric *f, u32 node);
void fabric_free(struct fabric *f);
void fabric_plug(struct fabric *f, struct card *c);
u32 fabric_read(struct fabric *f, u32 node, u32 off);
void fabric_write(struct fabric *f, u32 node, u32 off, u32 val);
void fabric_reset(struct fabric *f, u32 node);
void fabric_look(struct fabric *f, u32 node,
		 void (*look)(void *arg, struct ang_view *v, u32 node),
		 void *arg);
const struct ang_cfg *fabric_cfg(const struct fabric *f);
const struct ang_topo *fabric_topo(const struct fabric *f);
const char *fabric_text(const struct fabric *f);
const char *fabric_use(const struct fabric *f, u32 node);
struct traces *fabric_traces(struct fabric *f);

/* sandbox.c: the system calls that the server may use. */
int sandbox_begin(void);
int sandbox_enter(bool links);

/* server.c: sockets. */
int server_start(struct card *c);
void server_stop(struct card *c);

#endif /* ANGARA_VFIO_CARD_H */
