// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DMA, interrupts and counts of boards: upcalls of the model.
 *
 * An address below 2^48 is an offset in the segment: queues, and memory of
 * angara_malloc().  Other addresses are memory that a process has registered.
 * The process itself accesses it directly.  Other processes use
 * process_vm_readv(2) and process_vm_writev(2).  That works while the process
 * lives and the kernel permits it; otherwise the transfer fails.
 *
 * Memory with EMB_ADDR_LOOSE may be unmapped while peers still know its key: so
 * even its own process uses these system calls, which return an error after an
 * unmap.
 */
#include <sys/uio.h>

#include "embed.h"

static u32 slot_of(u64 addr)
{
	return (u32)(addr >> EMB_ADDR_BITS) - 1;
}

static void *va_of(u64 addr)
{
	return (void *)(uintptr_t)(addr & ((1ULL << EMB_ADDR_BITS) - 1));
}

/*
 * Return: pointer to @addr if it is in this process or the segment, else NULL.
 * Addresses below the heaps are in struct emb_admin of the first copy of the
 * model; the pointer is to the same place in the copy that @r uses.
 */
static inline void *dma_local(const struct emb_run *r, u64 addr, u32 len)
{
	const struct emb_fab *fab = r->fab;
	const struct emb_head *head = fab->head;

	if (addr >> EMB_ADDR_BITS)
		return slot_of(addr) == fab->slot ? va_of(addr) : NULL;
	if (addr > head->size - len)
		return NULL;
	if (addr < head->heap_at)
		addr += r->copy * head->copy_span;
	return emb_at(fab, addr);
}

/*
 * Does the process of a slot exist?  The lock is checked because the id of a
 * dead process may be reused.  A process that ends right after this check keeps
 * its id for a while.
 */
static bool is_there(const struct emb_fab *fab, u32 num)
{
	if (num >= fab->head->procs)
		return false;
	return num == fab->slot ||
	       (emb_slot(fab, num)->pidns == fab->pidns &&
		emb_locked(fab->fd, EMB_LOCK_SLOT(num), 1));
}

static int dma_remote(const struct emb_fab *fab, u64 addr, void *buf, u32 len,
		      bool write)
{
	struct iovec mine = { .iov_base = buf, .iov_len = len };
	struct iovec its = { .iov_base = va_of(addr), .iov_len = len };
	u32 num = slot_of(addr & ~EMB_ADDR_LOOSE);
	const struct emb_slot *slot;
	ssize_t done;

	if (!(addr >> EMB_ADDR_BITS) || !is_there(fab, num))
		return -EFAULT;
	slot = emb_slot(fab, num);
	if (write)
		done = process_vm_writev((pid_t)slot->pid, &mine, 1, &its, 1, 0);
	else
		done = process_vm_readv((pid_t)slot->pid, &mine, 1, &its, 1, 0);
	return done == (ssize_t)len ? 0 : -EFAULT;
}

/*
 * Is this an aligned word?  A process may wait for a word, and read it while it
 * is written.  So words are read and written whole and in order, which pairs
 * with the accesses of that process.
 */
static bool is_word(const void *at, u32 len)
{
	return (len == 4 || len == 8) && !((uintptr_t)at % len);
}

static void word_load(const void *from, void *buf, u32 len)
{
	if (len == 4) {
		u32 word = ang_load_acquire((const u32 *)from);

		memcpy(buf, &word, sizeof(word));
	} else {
		u64 word = ang_load_acquire((const u64 *)from);

		memcpy(buf, &word, sizeof(word));
	}
}

static void word_store(void *to, const void *buf, u32 len)
{
	if (len == 4) {
		u32 word;

		memcpy(&word, buf, sizeof(word));
		ang_store_release((u32 *)to, word);
	} else {
		u64 word;

		memcpy(&word, buf, sizeof(word));
		ang_store_release((u64 *)to, word);
	}
}

static int emb_dma_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	const struct emb_run *r = host;
	const void *from = dma_local(r, addr, len);

	(void)node;
	if (!from)
		return dma_remote(r->fab, addr, buf, len, false);
	if (is_word(from, len))
		word_load(from, buf, len);
	else
		memcpy(buf, from, len);
	return 0;
}

static int emb_dma_write(void *host, u32 node, u64 addr, const void *buf,
			 u32 len)
{
	const struct emb_run *r = host;
	void *to = dma_local(r, addr, len);

	(void)node;
	if (!to)
		return dma_remote(r->fab, addr, (void *)(uintptr_t)buf, len, true);
	if (is_word(to, len))
		word_store(to, buf, len);
	else
		memcpy(to, buf, len);
	return 0;
}

/*
 * Stores a word of a queue or counter.  Queues and counters are always in the
 * segment.
 */
static int emb_dma_store64(void *host, u32 node, u64 addr, u64 val)
{
	const struct emb_run *r = host;
	__le64 *to = dma_local(r, addr, sizeof(*to));

	(void)node;
	if (!to || addr >> EMB_ADDR_BITS)
		return -EFAULT;
	/* Pairs with the acquire of the process that reads the word. */
	ang_store_release(to, cpu_to_le64(val));
	return 0;
}

/*
 * Increments the context's word now, and wakes the sleeping thread only after
 * the run of the model, so that this thread does not hold the node during a
 * system call.
 */
static void emb_interrupt(void *host, u32 node, u32 vector)
{
	struct emb_run *r = host;
	struct emb_ctx *ctx;

	if (vector == ANGARA_VEC_ADMIN)
		return;
	ctx = &emb_node(r->fab, node)->ctx[vector - ANGARA_VEC_CTX(0)];
	ang_fetch_add(&ctx->wake, 1);
	if (!READ_ONCE(ctx->asleep))
		return;
	if (r->num_wakes < EMB_WAKES)
		r->wakes[r->num_wakes++] = ctx;
	else
		emb_wake(ctx);
}

/*
 * The last contributor to a reduction may write the counts meanwhile, so each
 * count is read with one load.
 */
static void emb_aside(void *host, u32 root, u32 tree, struct ang_aside *a)
{
	const struct emb_run *r = host;
	const struct ang_aside *from = &emb_board(r->fab, root, tree)->aside;

	a->ops = ang_load_acquire(&from->ops);
	a->packets = ang_load_acquire(&from->packets);
	a->flits = ang_load_acquire(&from->flits);
	a->bytes = ang_load_acquire(&from->bytes);
}

const struct ang_ops emb_ops = {
	.dma_read = emb_dma_read,
	.dma_write = emb_dma_write,
	.dma_store64 = emb_dma_store64,
	.interrupt = emb_interrupt,
	.aside = emb_aside,
};
