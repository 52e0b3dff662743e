// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, len)	((void)(at), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(at, len)	((void)(at), (void)(len))
#endif

#include "afi.h"

#define AFI_CHUNK	64	/* objects per allocation */

struct chunk {
	struct afi_link link;
	_Alignas(max_align_t) char objects[];
};

void afi_objects_init(struct afi_objects *o, size_t size)
{
	const size_t align = _Alignof(max_align_t) - 1;

	afi_list_init(&o->idle);
	afi_list_init(&o->chunks);
	o->size = (size + align) & ~align;
}

static void objects_grow(struct afi_objects *o)
{
	struct chunk *chunk = malloc(sizeof(*chunk) + AFI_CHUNK * o->size);
	u32 i;

	if (!chunk)
		return;
	afi_list_add(&o->chunks, &chunk->link);
	for (i = 0; i < AFI_CHUNK; i++)
		afi_objects_give(o, chunk->objects + i * o->size);
}

/* Return: an object, not initialized; NULL: no memory. */
void *afi_objects_take(struct afi_objects *o)
{
	struct afi_link *link;

	if (afi_list_empty(&o->idle))
		objects_grow(o);
	if (afi_list_empty(&o->idle))
		return NULL;
	/* The object freed last is likely to be in the processor's cache. */
	link = o->idle.prev;
	afi_list_del(link);
	ASAN_UNPOISON_MEMORY_REGION(link, o->size);
	return link;
}

void afi_objects_give(struct afi_objects *o, void *object)
{
	struct afi_link *link = object;

	afi_list_add(&o->idle, link);
	ASAN_POISON_MEMORY_REGION(link + 1, o->size - sizeof(*link));
}

/* Frees all objects, including those in use. */
void afi_objects_free(struct afi_objects *o)
{
	while (o->chunks.next && !afi_list_empty(&o->chunks)) {
		struct chunk *chunk = afi_of(o->chunks.next, struct chunk, link);

		afi_list_del(&chunk->link);
		ASAN_UNPOISON_MEMORY_REGION(chunk->objects,
					    AFI_CHUNK * o->size);
		free(chunk);
	}
}
