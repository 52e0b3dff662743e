// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Blocks of the symmetric heap, first fit.  All PEs make the same calls in the
 * same order, so their lists of blocks are equal, and a block has the same
 * offset at all PEs.  The list is in private memory, so a stray put does not
 * corrupt it.  The list covers the whole heap, ordered by offset, and no two
 * free blocks are adjacent.
 *
 * The calls are collective, so one thread at a time makes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shi.h"

#define HEAP_ALIGN	64U	/* a cache line */

/**
 * struct heap_block - a block
 * @next: next block
 * @off: offset in the heap
 * @len: bytes, a multiple of HEAP_ALIGN
 * @asked: bytes that the program has requested; 0: the block is free
 */
struct heap_block {
	struct heap_block *next;
	size_t off;
	size_t len;
	size_t asked;
};

static struct heap_block *heap_list;

static struct heap_block *block_new(size_t off, size_t len, struct heap_block *next)
{
	struct heap_block *b = malloc(sizeof(*b));

	if (!b)
		shi_die("symmetric heap: no memory for its list of blocks");
	*b = (struct heap_block){ .next = next, .off = off, .len = len };
	return b;
}

void shi_heap_free_all(void)
{
	while (heap_list) {
		struct heap_block *b = heap_list;

		heap_list = b->next;
		free(b);
	}
}

/* Splits a block, so that a separate free block begins at @off. */
static struct heap_block *block_cut(struct heap_block *b, size_t off)
{
	if (off == b->off)
		return b;
	b->next = block_new(off, b->off + b->len - off, b->next);
	b->len = off - b->off;
	return b->next;
}

/* Return: length of a block with @asked bytes; less than @asked: it overflows. */
static size_t block_len(size_t asked)
{
	return (asked + HEAP_ALIGN - 1) & ~(size_t)(HEAP_ALIGN - 1);
}

/* Allocates a block.  Return: address; NULL: no free block is large enough. */
static void *heap_take(size_t align, size_t asked)
{
	size_t len = block_len(asked);
	struct heap_block *b;

	if (len < asked)
		return NULL;
	if (!heap_list)
		heap_list = block_new(0, shi.heap.len & ~(size_t)(HEAP_ALIGN - 1), NULL);
	for (b = heap_list; b; b = b->next) {
		size_t off = (b->off + align - 1) & ~(align - 1);

		if (b->asked || off - b->off > b->len || b->len - (off - b->off) < len)
			continue;
		b = block_cut(b, off);
		if (b->len > len)
			block_cut(b, off + len);
		b->asked = asked;
		return shi.heap.base + off;
	}
	return NULL;
}

/* Adds the next block to a block if the next one is free. */
static void block_absorb(struct heap_block *b)
{
	struct heap_block *next = b->next;

	if (!next || next->asked)
		return;
	b->len += next->len;
	b->next = next->next;
	free(next);
}

static void block_join(struct heap_block *b)
{
	if (!b->asked)
		block_absorb(b);
}

/* Changes the size of a block in its place.  Return: false: there is no room. */
static bool block_resize(struct heap_block *b, size_t asked)
{
	const struct heap_block *next = b->next;
	size_t room = b->len + (next && !next->asked ? next->len : 0);
	size_t len = block_len(asked);

	if (len < asked || len > room)
		return false;
	block_absorb(b);
	if (b->len > len)
		block_cut(b, b->off + len);
	b->asked = asked;
	return true;
}

/* Return: block of a pointer; @before: out: the previous block, or NULL. */
static struct heap_block *heap_find(const void *ptr, const char *what,
				    struct heap_block **before)
{
	struct heap_block *b = heap_list;

	*before = NULL;
	for (; b && shi.heap.base + b->off != ptr; b = b->next)
		*before = b;
	if (!b || !b->asked)
		shi_die("%s: %p is not a block of the symmetric heap", what, ptr);
	return b;
}

static void heap_give(void *ptr, const char *what)
{
	struct heap_block *before;
	struct heap_block *b = heap_find(ptr, what, &before);

	b->asked = 0;
	block_join(b);
	if (before)
		block_join(before);
}

/* A number of the block that is equal at all PEs. */
static uint64_t heap_number(const void *ptr)
{
	return ptr ? (uint64_t)((const char *)ptr - shi.heap.base) : UINT64_MAX;
}

static void *heap_alloc(size_t align, size_t size, const char *what)
{
	void *ptr;

	shi_need();
	shi_same(&shi.world, size, what);
	if (!size)
		return NULL;
	if (align < HEAP_ALIGN)
		align = HEAP_ALIGN;
	ptr = heap_take(align, size);
	pshmem_barrier_all();
	return ptr;
}

SHI_DEF(void *, malloc, (size_t size))
{
	return heap_alloc(HEAP_ALIGN, size, "shmem_malloc");
}

/* Ignores hints: the adapter reaches all memory at the same cost. */
SHI_DEF(void *, malloc_with_hints, (size_t size, long hints))
{
	shi_need();
	shi_same(&shi.world, (uint64_t)hints, "shmem_malloc_with_hints");
	return heap_alloc(HEAP_ALIGN, size, "shmem_malloc_with_hints");
}

SHI_DEF(void *, align, (size_t alignment, size_t size))
{
	shi_need();
	shi_same(&shi.world, alignment, "shmem_align");
	/* A block has the same offset in all heaps, so it is aligned at most as they are. */
	if (!alignment || alignment & (alignment - 1) || alignment > shi.align)
		return NULL;
	return heap_alloc(alignment, size, "shmem_align");
}

SHI_DEF(void *, calloc, (size_t count, size_t size))
{
	size_t bytes;
	void *ptr;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	shi_need();
	shi_same(&shi.world, bytes, "shmem_calloc");
	if (!bytes)
		return NULL;
	ptr = heap_take(HEAP_ALIGN, bytes);
	if (ptr)
		memset(ptr, 0, bytes);
	pshmem_barrier_all();
	return ptr;
}

SHI_DEF(void, free, (void *ptr))
{
	shi_need();
	shi_same(&shi.world, heap_number(ptr), "shmem_free");
	if (!ptr)
		return;
	pshmem_barrier_all();
	heap_give(ptr, "shmem_free");
}

/*
 * If there is no room for the new size, the old block is kept, as by
 * realloc(3).
 */
SHI_DEF(void *, realloc, (void *ptr, size_t size))
{
	struct heap_block *b, *before;
	void *to;

	shi_need();
	shi_same(&shi.world, heap_number(ptr), "shmem_realloc");
	if (!ptr)
		return pshmem_malloc(size);
	if (!size) {
		pshmem_free(ptr);
		return NULL;
	}
	shi_same(&shi.world, size, "shmem_realloc");
	pshmem_barrier_all();
	b = heap_find(ptr, "shmem_realloc", &before);
	if (block_resize(b, size)) {
		to = ptr;
	} else {
		to = heap_take(HEAP_ALIGN, size);
		if (to) {
			memcpy(to, ptr, b->asked);
			heap_give(ptr, "shmem_realloc");
		}
	}
	pshmem_barrier_all();
	return to;
}
