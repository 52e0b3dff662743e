// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Symmetric memory: the heap, and data and bss of the program.  Each is one
 * region with the same key at all PEs; an address is its offset in the region,
 * so that PEs may have them at different addresses.
 */
#include <link.h>

#include "shi.h"

static uintptr_t later(uintptr_t a, uintptr_t b)
{
	return a > b ? a : b;
}

/*
 * The first object is the program.  Its writable segment begins with what the
 * dynamic linker has made read-only.
 */
static int program_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct shi_region *r = arg;
	uintptr_t from = UINTPTR_MAX, to = 0, relro = 0;
	unsigned int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
			from = at < from ? at : from;
			to = later(to, at + p->p_memsz);
		} else if (p->p_type == PT_GNU_RELRO) {
			relro = at + p->p_memsz;
		}
	}
	from = later(from, relro);
	r->base = to > from ? (char *)from : NULL;
	r->len = to > from ? to - from : 0;
	return 1;
}

void shi_globals_find(struct shi_region *r)
{
	dl_iterate_phdr(program_find, r);
}

static bool within(const struct shi_region *r, const void *addr)
{
	return (uintptr_t)addr - (uintptr_t)r->base < r->len;
}

/* Return: region; NULL: the address is not symmetric. */
const struct shi_region *shi_region_of(const void *addr)
{
	if (within(&shi.heap, addr))
		return &shi.heap;
	return within(&shi.globals, addr) ? &shi.globals : NULL;
}

struct shi_local shi_local_of(const void *addr, size_t len)
{
	const struct shi_region *r = shi_region_of(addr);
	struct shi_local l = { .off = (uintptr_t)addr };

	if (r && len <= r->len - (size_t)((const char *)addr - r->base)) {
		l.mr = r->mr;
		l.off = (uint64_t)((const char *)addr - r->base);
	}
	return l;
}

/**
 * shi_at_pe() - the place of a symmetric object at a PE
 * @c: context, in whose team @pe is
 * @addr: address of the object at this PE
 * @len: bytes
 * @pe: PE
 * @what: routine, for messages
 * @at: out
 */
void shi_at_pe(const struct shmemi_ctx *c, const void *addr, size_t len, int pe,
	       const char *what, struct shi_at *at)
{
	const struct shi_region *r = shi_region_of(addr);
	size_t off;

	if ((unsigned int)pe >= c->n_pes) {
		shi_need();
		shi_die("%s: PE %d is not from 0 to %u", what, pe, c->n_pes - 1);
	}
	if (!r)
		shi_die("%s: %p is not symmetric: neither of shmem_malloc() nor a global "
			"or static variable of the program", what, addr);
	off = (size_t)((const char *)addr - r->base);
	if (len > r->len - off)
		shi_die("%s: %zu bytes at %p exceed the %s by %zu", what, len, addr,
			r == &shi.heap ? "symmetric heap" : "program's variables",
			len - (r->len - off));
	at->peer = shi.cards[c->pes ? c->pes[pe] : pe].peer;
	at->key = r->key;
	at->off = off;
}
