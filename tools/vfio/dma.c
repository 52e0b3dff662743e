// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host memory that an adapter may reach.
 *
 * The client names ranges of DMA addresses, each a part of a file.  A file is
 * mapped once, for all its ranges.  With an IOMMU in the guest there is a range
 * per page, so ranges are kept in a tree.
 *
 * The model copies under the lock held for reading, so once a range is removed
 * under the lock held for writing, it is not in use.
 *
 * If a mapped file became shorter, an access to it would end this process; so
 * only files that are sealed against shrinking are mapped.  Pages of hugetlbfs
 * can be withdrawn in spite of the seal.
 *
 * A page that was never written is allocated, and charged to this process, when
 * the adapter reads or writes it.  No seal prevents a client from punching
 * holes later, so the current blocks of a file do not bound the charge.  The
 * size of the mapped files bounds it: struct dma_budget.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "card.h"

struct dma_file {
	struct dma_file *next;
	dev_t dev;
	ino_t ino;
	u64 size;
	u8 *mem;
	u32 ranges;
};

struct dma_range {
	u64 iova;
	u64 last;		/* inclusive */
	u8 *mem;		/* NULL: not reachable */
	u32 access;
	struct dma_file *file;
};

/* Overlapping ranges compare as equal, so a single address finds its range. */
static int compare(const void *a, const void *b)
{
	const struct dma_range *x = a;
	const struct dma_range *y = b;

	if (x->last < y->iova)
		return -1;
	return x->iova > y->last;
}

static struct dma_range *find(const struct dma *d, u64 iova, u64 last)
{
	struct dma_range key = { .iova = iova, .last = last };
	void *at = tfind(&key, &d->ranges, compare);

	return at ? *(struct dma_range **)at : NULL;
}

static u64 mapped_bytes(const struct dma *d)
{
	const struct dma_file *file;
	u64 sum = 0;

	for (file = d->files; file; file = file->next)
		sum += file->size;
	return sum;
}

static struct dma_file *file_find(struct dma *d, const struct stat *st)
{
	struct dma_file *file;

	for (file = d->files; file; file = file->next)
		if (file->dev == st->st_dev && file->ino == st->st_ino &&
		    file->size == (u64)st->st_size)
			return file;
	return NULL;
}

static u32 num_files(const struct dma *d)
{
	const struct dma_file *file;
	u32 n = 0;

	for (file = d->files; file; file = file->next)
		n++;
	return n;
}

/* Return: the reason why a file is unusable as guest memory, or NULL. */
static const char *flaw(int fd, struct stat *st)
{
	struct statfs fs;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return "its file cannot be sealed: use memory-backend-memfd";
	if (!(seals & F_SEAL_SHRINK))
		return "its file may shrink: use memory-backend-memfd with seal=on";
	if (fstatfs(fd, &fs) || fs.f_type == HUGETLBFS_MAGIC)
		return "its file is in hugetlbfs: use hugetlb=off";
	if (fstat(fd, st) || st->st_size <= 0)
		return "its file has no size";
	return NULL;
}

/*
 * Return: a mapping of the file; NULL with errno set, and the reason in @why.
 */
static struct dma_file *file_map(struct dma *d, int fd, const struct stat *st,
				 const char **why)
{
	struct dma_file *file = file_find(d, st);
	u64 size = (u64)st->st_size;
	u64 used = mapped_bytes(d);
	void *mem;

	if (file)
		return file;
	if (num_files(d) >= DMA_MAX_FILES) {
		*why = "the client has mapped as many files as it may";
		errno = ENOSPC;
		return NULL;
	}
	if (used > d->budget.bytes || size > d->budget.bytes - used) {
		*why = "its files would exceed the client's budget: see --max-memory";
		errno = ENOMEM;
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		*why = errno == EACCES || errno == EPERM ?
		       "its file cannot be written" :
		       "mmap() of its file fails";
		free(file);
		return NULL;
	}
	/* A core dump of this process must not contain the memory of a guest. */
	madvise(mem, size, MADV_DONTDUMP);
	file->dev = st->st_dev;
	file->ino = st->st_ino;
	file->size = size;
	file->mem = mem;
	file->next = d->files;
	d->files = file;
	return file;
}

/* Moves a file without ranges to the list @unused.  Caller holds the lock for writing. */
static void file_put(struct dma *d, struct dma_file *file, struct dma_file **unused)
{
	struct dma_file **at;

	if (!file || file->ranges)
		return;
	for (at = &d->files; *at != file; at = &(*at)->next)
		;
	*at = file->next;
	file->next = *unused;
	*unused = file;
}

/*
 * Unmaps files, without the lock: munmap() of a large memory takes long, and threads
 * that run many nodes wait for the lock.
 */
static void files_unmap(struct dma_file *unused)
{
	while (unused) {
		struct dma_file *next = unused->next;

		munmap(unused->mem, unused->size);
		free(unused);
		unused = next;
	}
}

static void range_free(struct dma *d, struct dma_range *range,
		       struct dma_file **unused)
{
	if (range->file)
		range->file->ranges--;
	file_put(d, range->file, unused);
	free(range);
}

/* Caller holds the lock for writing. */
static int range_add(struct dma *d, struct dma_range *range)
{
	void *at;

	at = tsearch(range, &d->ranges, compare);
	if (!at)
		return -ENOMEM;
	if (*(struct dma_range **)at != range)
		return -EEXIST;
	d->num_ranges++;
	if (range->file) {
		range->file->ranges++;
		d->any = true;
	}
	return 0;
}

/* Return: the reason why the adapter may not use a range, or NULL. */
static const char *range_flaw(const struct dma *d, u32 access, int fd,
			      struct stat *st)
{
	if (fd >= 0)
		return flaw(fd, st);
	if (!(access & DMA_WRITE) || d->any)
		return NULL;
	return "it has no file: start QEMU with memory-backend-memfd,share=on";
}

/**
 * dma_map() - let the adapter reach memory
 * @d: table
 * @iova: DMA address, page aligned
 * @size: bytes, of whole pages
 * @offset: offset in the file, page aligned
 * @access: DMA_READ, DMA_WRITE
 * @fd: file, owned by the caller; -1: the client gave none
 * @why: out: what is wrong with this memory or its size; NULL if the request is
 *         invalid
 *
 * Clients map ROM and video memory without a file, after memory with a file:
 * such a range is kept, and DMA there fails.  If the first memory of a client
 * has no file, the client does not share the memory of its guest.
 *
 * Return: 0; -ENOMEM, -ENOSPC: over the budget; another -errno.
 */
int dma_map(struct dma *d, u64 iova, u64 size, u64 offset, u32 access, int fd,
	    const char **why)
{
	struct dma_range *range;
	struct dma_file *file = NULL, *unused = NULL;
	struct stat st;
	int ret = 0;

	*why = NULL;
	if (!access || access & ~(DMA_READ | DMA_WRITE) || !size ||
	    (iova | size | offset) % DMA_PAGE || iova + (size - 1) < iova)
		return -EINVAL;
	*why = range_flaw(d, access, fd, &st);
	if (*why)
		return -EINVAL;
	if (fd >= 0 && (offset > (u64)st.st_size ||
			size > (u64)st.st_size - offset))
		return -EINVAL;
	if (d->num_ranges >= d->budget.maps) {
		*why = "the client has mapped as many ranges as it may: see --max-maps";
		return -ENOSPC;
	}
	range = calloc(1, sizeof(*range));
	if (!range)
		return -ENOMEM;
	pthread_rwlock_wrlock(&d->lock);
	if (fd >= 0) {
		file = file_map(d, fd, &st, why);
		ret = file ? 0 : -errno;
	}
	*range = (struct dma_range){ .iova = iova, .last = iova + (size - 1),
		.access = access, .file = file,
		.mem = file ? file->mem + offset : NULL };
	if (!ret)
		ret = range_add(d, range);
	if (ret) {
		file_put(d, file, &unused);
		free(range);
	}
	pthread_rwlock_unlock(&d->lock);
	files_unmap(unused);
	return ret;
}

/**
 * dma_unmap() - unmap ranges
 * @d: table
 * @iova: first address
 * @size: bytes; 0 with @iova 0: all ranges
 * @done: out: bytes that were mapped
 *
 * After it returns the adapter does not touch the ranges.
 *
 * Return: 0, even if nothing was mapped; -EINVAL if the addresses would split a range.
 */
int dma_unmap(struct dma *d, u64 iova, u64 size, u64 *done)
{
	u64 last = iova + (size - 1);
	struct dma_file *unused = NULL;
	struct dma_range *range;
	int ret = -EINVAL;

	*done = 0;
	if ((!size && iova) || (size && last < iova))
		return -EINVAL;
	pthread_rwlock_wrlock(&d->lock);
	range = find(d, iova, iova);
	if (range && range->iova < iova)
		goto out;
	range = find(d, last, last);
	if (range && range->last > last)
		goto out;
	while ((range = find(d, iova, last))) {
		tdelete(range, &d->ranges, compare);
		d->num_ranges--;
		*done += range->last - range->iova + 1;
		range_free(d, range, &unused);
	}
	ret = 0;
out:
	pthread_rwlock_unlock(&d->lock);
	files_unmap(unused);
	return ret;
}

/** dma_clear() - unmap all memory of the disconnected client */
void dma_clear(struct dma *d)
{
	u64 done;

	dma_unmap(d, 0, 0, &done);
	d->any = false;
}

/**
 * dma_enable() - set bus mastering; there is no DMA after a return with @on
 * false
 */
void dma_enable(struct dma *d, bool on)
{
	pthread_rwlock_wrlock(&d->lock);
	d->on = on;
	pthread_rwlock_unlock(&d->lock);
}

/*
 * Return: the memory at @iova, with its contiguous length in @len, or NULL if
 * the adapter may not access it.  Caller holds the lock.
 */
static u8 *reach(const struct dma *d, u64 iova, u32 access, u32 *len)
{
	const struct dma_range *range;

	if (!d->on)
		return NULL;
	range = find(d, iova, iova);
	if (!range || !range->mem || !(range->access & access))
		return NULL;
	if (*len - 1 > range->last - iova)
		*len = (u32)(range->last - iova) + 1;
	return range->mem + (iova - range->iova);
}

/* Read a word by a single access, as the guest may write it concurrently. */
static void copy_in(u8 *to, const u8 *from, u32 len)
{
	if (len == 4 && (uintptr_t)from % 4 == 0) {
		u32 word = READ_ONCE(*(const u32 *)from);

		memcpy(to, &word, 4);
	} else {
		memcpy(to, from, len);
	}
}

int dma_read(struct dma *d, u64 iova, void *buf, u32 len)
{
	u8 *to = buf;
	int ret = 0;

	pthread_rwlock_rdlock(&d->lock);
	while (len) {
		u32 part = len;
		const u8 *mem = reach(d, iova, DMA_READ, &part);

		if (!mem) {
			ret = -EFAULT;
			break;
		}
		copy_in(to, mem, part);
		iova += part;
		to += part;
		len -= part;
	}
	pthread_rwlock_unlock(&d->lock);
	return ret;
}

int dma_write(struct dma *d, u64 iova, const void *buf, u32 len)
{
	const u8 *from = buf;
	int ret = 0;

	pthread_rwlock_rdlock(&d->lock);
	while (len) {
		u32 part = len;
		u8 *mem = reach(d, iova, DMA_WRITE, &part);

		if (!mem) {
			ret = -EFAULT;
			break;
		}
		memcpy(mem, from, part);
		iova += part;
		from += part;
		len -= part;
	}
	pthread_rwlock_unlock(&d->lock);
	return ret;
}

int dma_store64(struct dma *d, u64 iova, u64 val)
{
	u32 len = sizeof(u64);
	int ret = -EFAULT;
	u8 *mem;

	if (iova % sizeof(u64))
		return -EINVAL;
	pthread_rwlock_rdlock(&d->lock);
	mem = reach(d, iova, DMA_WRITE, &len);
	if (mem) {
		/* Pairs with the guest's barrier after its read of the word. */
		ang_store_release((__le64 *)mem, cpu_to_le64(val));
		ret = 0;
	}
	pthread_rwlock_unlock(&d->lock);
	return ret;
}

int dma_init(struct dma *d, const struct dma_budget *budget)
{
	pthread_rwlockattr_t attr;
	int ret;

	memset(d, 0, sizeof(*d));
	d->budget = *budget;
	pthread_rwlockattr_init(&attr);
	/* Prefer writers: continuous traffic must not starve them. */
	pthread_rwlockattr_setkind_np(&attr,
			PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	ret = pthread_rwlock_init(&d->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	return -ret;
}

void dma_destroy(struct dma *d)
{
	dma_clear(d);
	pthread_rwlock_destroy(&d->lock);
}
