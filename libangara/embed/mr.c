// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions: entries in the table of a domain.
 *
 * Nothing is pinned: memory outside of the segment is accessed through its
 * process (see dma.c), so it must stay mapped.  Watched memory must be mapped
 * while operations of its process use it, other memory as long as it is
 * registered.  As in the driver, an entry is written only while it is invalid.
 * ANGARA_ADM_FENCE separates the two changes: writing the entry, and changing
 * its validity.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "embed.h"

#define MAX_BYTES	(16ULL << 30)
#define REMOTES	(ANGARA_ACCESS_REMOTE_READ | ANGARA_ACCESS_REMOTE_WRITE)
#define WRITES	(ANGARA_ACCESS_LOCAL_WRITE | ANGARA_ACCESS_REMOTE_WRITE)

#ifndef MADV_POPULATE_READ	/* since Linux 5.14 */
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

/*
 * Tests whether a page can be read.  Uses a system call, which returns an error
 * for an unreadable page; a load would raise a signal.
 */
static bool page_read(void *page)
{
	char byte;
	struct iovec to = { &byte, 1 }, from = { page, 1 };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/*
 * Tests whether a page can be written, without changing it: this system call
 * atomically ORs 0 into the first word.
 */
static bool page_write(void *page)
{
	u32 nobody = 0;

	return syscall(SYS_futex, &nobody, FUTEX_WAKE_OP_PRIVATE, 1, 0L, page,
		       FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_LT, 0)) >= 0;
}

/* Tests page by page, for kernels without MADV_POPULATE_*. */
static int mr_touch(u64 start, u64 end, bool write)
{
	for (; start < end; start += ANGARA_PAGE_SIZE) {
		void *page = (void *)(uintptr_t)start;

		/* Memory of a device may be writable but not readable. */
		if ((write && !page_write(page)) || !page_read(page))
			return -EFAULT;
	}
	return 0;
}

/*
 * Makes all pages of a region present.  Return: 0; -EFAULT a page cannot be
 * accessed.
 */
static int mr_populate(u64 addr, u64 length, u32 access)
{
	u64 start = addr & ~(ANGARA_PAGE_SIZE - 1ULL);
	u64 end = addr + length;
	bool write = access & WRITES;
	int advice = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	while (madvise((void *)(uintptr_t)start, end - start, advice)) {
		/* This kernel, or this mapping, does not support the advice. */
		if (errno == EINVAL)
			return mr_touch(start, end, write);
		if (errno != EINTR && errno != EAGAIN)
			return -EFAULT;
	}
	return 0;
}

/* Is the start of the memory in the segment? */
static bool is_inside(const struct emb_fab *fab, u64 addr)
{
	return addr >= (uintptr_t)fab->head &&
	       addr - (uintptr_t)fab->head < fab->head->size;
}

/*
 * @dma: out: address by which the device reaches the memory.  A process may use the
 * heap of another process in its own operations, as in loads and stores.  Only the owner
 * of the heap may let peers access the memory.
 */
static int dma_address(struct emb_dev *d, const struct angara_mr_register *cmd,
		       u64 *dma)
{
	const u64 addr = cmd->addr, length = cmd->length;
	const struct emb_fab *fab = d->fab;

	if (is_inside(fab, addr)) {
		*dma = addr - (uintptr_t)fab->head;
		if (emb_heap_has(fab, *dma, length))
			return 0;
		return !(cmd->access & REMOTES) &&
		       emb_heap_is_other(fab, *dma, length) ? 0 : -EFAULT;
	}
	*dma = (u64)(fab->slot + 1) << EMB_ADDR_BITS | addr;
	if (cmd->flags & ANGARA_MR_WATCH && cmd->access & REMOTES)
		*dma |= EMB_ADDR_LOOSE;
	return 0;
}

/* Is the length, in whole pages, within the limit? */
static bool length_ok(u64 addr, u64 length)
{
	u64 first = addr / ANGARA_PAGE_SIZE;

	return length && addr + length > addr &&
	       (addr + length - 1) / ANGARA_PAGE_SIZE - first <
	       MAX_BYTES / ANGARA_PAGE_SIZE;
}

static int mr_fence(struct emb_dev *d)
{
	int ret = emb_node_lock(&d->run, d->node);

	if (ret)
		return ret;
	ret = emb_simple(&d->run, d->node, ANGARA_ADM_FENCE, 0, 0);
	emb_node_unlock(&d->run, d->node);
	return ret;
}

static struct angara_hw_mr *entry_of(const struct emb_dev *d, u64 key)
{
	return &d->dom->mrt[ANGARA_MR_SLOT(key)];
}

/* Invalidates an entry in each table that the device may use. */
static void entry_withdraw(struct emb_dev *d, struct angara_hw_mr *entry)
{
	struct angara_hw_mr *spare;

	WRITE_ONCE(entry->valid, 0);
	if (!d->dom->spare)
		return;
	spare = emb_at(d->fab, d->dom->spare);
	WRITE_ONCE(spare[entry - d->dom->mrt].valid, 0);
}

/*
 * Chooses the key: the requested one, or the lowest free slot with random bits
 * above it.
 */
static int choose_key(struct emb_dev *d, struct angara_mr_register *cmd)
{
	struct emb_domain *dom = d->dom;
	u32 slot = ANGARA_MR_SLOT(cmd->key);
	u64 key;

	if (cmd->flags & ANGARA_MR_KEY)
		return slot < dom->mrs && READ_ONCE(dom->mrt[slot].valid) ?
		       -EEXIST : 0;
	for (slot = dom->low; slot < dom->mrs &&
	     READ_ONCE(dom->mrt[slot].valid); slot++)
		;
	dom->low = slot;
	if (slot == ANGARA_MR_MAX)
		return -ENOSPC;
	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	cmd->key = key - ANGARA_MR_SLOT(key) + slot;
	return 0;
}

/**
 * emb_mr_prepare() - check a registration, and make its pages present
 * @d: handle
 * @arg: command
 *
 * Context: without a lock, since page faults may be slow.
 *
 * Return: 0; -errno.
 */
int emb_mr_prepare(struct emb_dev *d, void *arg)
{
	const struct angara_mr_register *cmd = arg;

	if (cmd->flags & ~(ANGARA_MR_KEY | ANGARA_MR_WATCH) || cmd->reserved)
		return -EOPNOTSUPP;
	if (cmd->access & ~ANGARA_ACCESS_ALL)
		return -EINVAL;
	if (!d->dom)
		return -ENXIO;
	if (!length_ok(cmd->addr, cmd->length))
		return -EINVAL;
	if (is_inside(d->fab, cmd->addr))
		return 0;
	if ((cmd->addr + cmd->length - 1) >> EMB_ADDR_BITS)
		return -EFAULT;
	return mr_populate(cmd->addr, cmd->length, cmd->access);
}

int emb_mr_reg(struct emb_dev *d, void *arg)
{
	struct angara_mr_register *cmd = arg;
	struct angara_hw_mr *entry;
	u64 dma;
	int ret = dma_address(d, cmd, &dma);

	if (!ret)
		ret = choose_key(d, cmd);
	if (!ret)
		ret = emb_domain_grow(d, ANGARA_MR_SLOT(cmd->key) + 1);
	if (ret)
		return ret;
	entry = entry_of(d, cmd->key);
	*entry = (struct angara_hw_mr){
		.addr = cpu_to_le64(dma),
		.length = cpu_to_le64(cmd->length),
		.access = (u8)cmd->access,
		.page_shift = 12,
		.key = cpu_to_le64(cmd->key),
	};
	ret = mr_fence(d);
	if (ret)
		return ret;
	if (emb_mr_is_outside(entry))
		emb_tracer_get(d->fab);
	WRITE_ONCE(entry->valid, 1);
	return 0;
}

int emb_mr_dereg(struct emb_dev *d, void *arg)
{
	const struct angara_mr_deregister *cmd = arg;
	struct angara_hw_mr *entry;
	int ret;

	if (cmd->flags)
		return -EOPNOTSUPP;
	if (!d->dom)
		return -ENXIO;
	if (ANGARA_MR_SLOT(cmd->key) >= d->dom->mrs)
		return -ENOENT;
	entry = entry_of(d, cmd->key);
	if (!READ_ONCE(entry->valid) || le64_to_cpu(entry->key) != cmd->key)
		return -ENOENT;
	entry_withdraw(d, entry);
	if (ANGARA_MR_SLOT(cmd->key) < d->dom->low)
		d->dom->low = ANGARA_MR_SLOT(cmd->key);
	ret = mr_fence(d);
	if (emb_mr_is_outside(entry))
		emb_tracer_put();
	return ret;
}
