// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Symmetric memory: the heap, and data and bss of the program and of shared
 * libraries that declare symmetric variables.  Each of these is one region with
 * the same key at all PEs.  An address is translated to an offset in the
 * region, so PEs may have the regions at different addresses.
 */
#include <link.h>
#include <string.h>

#include "shi.h"

static uintptr_t later(uintptr_t a, uintptr_t b)
{
	return a > b ? a : b;
}

/*
 * Finds the writable segments of an object, without the part at their beginning
 * that the dynamic linker makes read-only (RELRO).
 */
static void object_take(const struct dl_phdr_info *info, struct shi_region *r)
{
	uintptr_t from = UINTPTR_MAX, to = 0, relro = 0;
	unsigned int i;

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
}

/* Finds the program, which is the first object. */
static int program_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	object_take(info, arg);
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

static uint64_t libs_hash = 14695981039346656037ULL;

/*
 * Hash of a library. The folders of its path are left out, since each PE may
 * have its own copy of the library.
 */
static uint64_t lib_hash(uint64_t hash, const struct dl_phdr_info *info,
			 const struct shi_region *r)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *c = slash ? slash + 1 : info->dlpi_name;

	for (; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
	return (hash ^ r->len) * 1099511628211ULL;
}

/**
 * struct lib_search - search for an object
 * @addr: a variable of the object
 * @region: out: variables of the object
 * @hash: out: the next value of libs_hash
 */
struct lib_search {
	const void *addr;
	struct shi_region region;
	uint64_t hash;
};

static int lib_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct lib_search *s = arg;

	(void)size;
	object_take(info, &s->region);
	if (!within(&s->region, s->addr))
		return 0;
	s->hash = lib_hash(libs_hash, info, &s->region);
	return 1;
}

/*
 * Called by constructors, before shmem_init().  The dynamic linker runs
 * constructors in the same order at all PEs.
 */
void shi_lib_add(const void *addr)
{
	struct lib_search s = { .addr = addr };
	struct shi_region program = { 0 };
	unsigned int i;

	if (shi.up || shi.finalized)
		shi_die("a shared library with symmetric variables is loaded after "
			"shmem_init()");
	shi_globals_find(&program);
	if (within(&program, addr))
		return;
	for (i = 0; i < shi.n_libs; i++)
		if (within(&shi.libs[i], addr))
			return;
	if (!dl_iterate_phdr(lib_find, &s))
		shi_die("symmetric variables: %p is not a writable variable of a shared "
			"library", addr);
	if (shi.n_libs == SHI_LIBS)
		shi_die("more than %u shared libraries have symmetric variables", SHI_LIBS);
	shi.libs[shi.n_libs++] = s.region;
	libs_hash = s.hash;
}

/*
 * Hash that is equal at PEs with libraries of the same names and sizes, in the
 * same order.
 */
uint64_t shi_libs_hash(void)
{
	return libs_hash;
}

/* Return: region; NULL: the address is not symmetric. */
const struct shi_region *shi_region_of(const void *addr)
{
	unsigned int i;

	if (within(&shi.heap, addr))
		return &shi.heap;
	if (within(&shi.globals, addr))
		return &shi.globals;
	for (i = 0; i < shi.n_libs; i++)
		if (within(&shi.libs[i], addr))
			return &shi.libs[i];
	return NULL;
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
 * shi_at_pe() - find the location of a symmetric object at a PE
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
		shi_die("%s: %p is not symmetric: it is neither in the symmetric heap nor a "
			"global or static variable of the program, or of a shared library "
			"with SHMEMX_SYMMETRIC_LIBRARY", what, addr);
	off = (size_t)((const char *)addr - r->base);
	if (len > r->len - off)
		shi_die("%s: %zu bytes at %p exceed the %s by %zu", what, len, addr,
			r == &shi.heap ? "symmetric heap" :
			r == &shi.globals ? "program's variables" : "library's variables",
			len - (r->len - off));
	at->peer = shi.cards[c->pes ? c->pes[pe] : pe].peer;
	at->key = r->key;
	at->off = off;
}
