// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ticket locks: PEs get a lock in the order of their requests.  Only the word
 * at one PE is used.  The offset of the lock selects this PE, so that the locks
 * of a program are spread over PEs.  The lower half of the word is the ticket
 * that holds the lock, the upper half the next free ticket.  The value 0 is an
 * unlocked lock, as the specification requires.
 */
#include <stdlib.h>
#include <time.h>

#include "shi.h"

#define LOCK_NEXT	(1ULL << 32)
#define LOCK_NAP_NS	20000	/* sleep per PE ahead in the queue */
#define LOCK_NAP_MAX	50	/* most PEs ahead that are counted */
#define LOCK_PATIENCE	16	/* a sleep grows to a 16th of the time waited so far */

static int lock_home(const long *lock)
{
	const struct shi_region *r = shi_region_of(lock);

	shi_need();
	return r ? (int)((size_t)((const char *)lock - r->base) / sizeof(*lock) % shi.n) : 0;
}

static struct shi_amo lock_op(const long *lock, unsigned int op)
{
	_Static_assert(sizeof(long) == sizeof(uint64_t), "two halves");
	return (struct shi_amo){ lock, ANGARA_TYPE_UINT64, op, sizeof(*lock) };
}

static uint64_t lock_read(const long *lock)
{
	uint64_t v;

	shi_amo_fetch(SHMEM_CTX_DEFAULT, lock_op(lock, ANGARA_ATOMIC_READ), NULL, NULL, &v,
		      lock_home(lock));
	return v;
}

/**
 * struct lock_held - with SHMEM_DEBUG: a lock that this PE holds
 * @lock: address
 * @next: next held lock
 */
struct lock_held {
	const long *lock;
	struct lock_held *next;
};

static struct lock_held *locks_held;	/* under shi.lock */

static void lock_got(const long *lock)
{
	struct lock_held *held;

	if (!shi.debug)
		return;
	held = malloc(sizeof(*held));
	if (!held)
		shi_die("lock: no memory for the checks of SHMEM_DEBUG");
	held->lock = lock;
	pthread_mutex_lock(&shi.lock);
	held->next = locks_held;
	locks_held = held;
	pthread_mutex_unlock(&shi.lock);
}

/* With SHMEM_DEBUG: ends the program if this PE does not hold the lock. */
static void lock_given(const long *lock)
{
	struct lock_held **at, *held;

	if (!shi.debug)
		return;
	pthread_mutex_lock(&shi.lock);
	for (at = &locks_held; *at && (*at)->lock != lock; at = &(*at)->next)
		;
	held = *at;
	if (held)
		*at = held->next;
	pthread_mutex_unlock(&shi.lock);
	if (!held)
		shi_die("shmem_clear_lock: this PE does not hold the lock at %p",
			(const void *)lock);
	free(held);
}

/*
 * Return: nanoseconds to sleep before the lock is read again.  @before: number of PEs
 * that get the lock before this PE; @waited: nanoseconds that this PE has slept so far.
 * The sleep grows with the time waited, so that a lock that is held for long costs little.
 */
static uint64_t lock_nap(uint32_t before, uint64_t waited)
{
	uint64_t nap = LOCK_NAP_NS * (before < LOCK_NAP_MAX ? before : LOCK_NAP_MAX);

	if (nap < waited / LOCK_PATIENCE)
		nap = waited / LOCK_PATIENCE;
	return nap < SHI_NAP_MS * 1000000ULL ? nap : SHI_NAP_MS * 1000000ULL;
}

SHI_DEF(void, set_lock, (long *lock))
{
	const uint64_t next = LOCK_NEXT;
	uint64_t v, waited = 0;
	uint32_t mine;

	shi_amo_fetch(SHMEM_CTX_DEFAULT, lock_op(lock, ANGARA_ATOMIC_SUM), &next, NULL, &v,
		      lock_home(lock));
	for (mine = (uint32_t)(v >> 32); (uint32_t)v != mine; v = lock_read(lock)) {
		uint64_t nap = lock_nap(mine - (uint32_t)v, waited);

		nanosleep(&(struct timespec){ .tv_nsec = (long)nap }, NULL);
		waited += nap;
		shi_turn();
		shi_missed("lock");
	}
	lock_got(lock);
}

/* Increments only the lower half, which wraps around without a carry. */
SHI_DEF(void, clear_lock, (long *lock))
{
	const uint32_t one = 1;
	struct shi_amo served = {
		.addr = lock,
		.type = ANGARA_TYPE_UINT32,
		.op = ANGARA_ATOMIC_SUM,
		.size = sizeof(one),
	};

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lower half first");
	lock_given(lock);
	shi_quiet(&shi.def);
	shi_amo(SHMEM_CTX_DEFAULT, served, &one, lock_home(lock));
	shi_quiet(&shi.def);
}

SHI_DEF(int, test_lock, (long *lock))
{
	uint64_t v = lock_read(lock), next, old;

	if ((uint32_t)v != (uint32_t)(v >> 32)) {
		shi_turn();
		shi_missed("test_lock");
		return 1;
	}
	next = v + LOCK_NEXT;
	shi_amo_fetch(SHMEM_CTX_DEFAULT, lock_op(lock, ANGARA_ATOMIC_CSWAP), &next, &v, &old,
		      lock_home(lock));
	if (old != v)
		return 1;
	lock_got(lock);
	return 0;
}
