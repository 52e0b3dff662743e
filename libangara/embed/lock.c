// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * File locks on the segment, one byte each.
 *
 * A lock belongs to an open file description, that is, to one open(2) of the
 * segment by one process; the kernel releases the lock when that description is
 * closed.  A process that waits for a lock polls it, so the process can give up
 * if the holder is stopped.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "embed.h"

u64 emb_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

u64 emb_now_ms(void)
{
	return emb_now_ns() / 1000000;
}

/* Sleeps, so that other processes can run; longer at each call. */
void emb_nap(u32 *turn)
{
	struct timespec ts = { .tv_nsec = 20000L << (*turn < 6 ? *turn : 6) };

	++*turn;
	nanosleep(&ts, NULL);
}

/* Return: 0; -EAGAIN another open file description holds the lock; -errno. */
int emb_try_lock(int fd, u32 what)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = what, .l_len = 1,
	};

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

/**
 * emb_lock() - take a lock
 * @fd: segment
 * @what: EMB_GATE or EMB_LOCK_*
 * @head: the segment; NULL: do not check whether it is broken
 *
 * Return: 0; -ENODEV the fabric is broken; -EIO the holder does not release the
 * lock; -errno.
 */
int emb_lock(int fd, u32 what, const struct emb_head *head)
{
	u64 end = 0;
	u32 turn = 0;
	int ret;

	while ((ret = emb_try_lock(fd, what)) == -EAGAIN) {
		u64 now = emb_now_ms();

		if (head && READ_ONCE(head->broken))
			return -ENODEV;
		if (!end)
			end = now + EMB_LOCK_MS;
		if (now >= end)
			return -EIO;
		emb_nap(&turn);
	}
	return ret;
}

void emb_unlock(int fd, u32 what)
{
	struct flock lock = {
		.l_type = F_UNLCK, .l_whence = SEEK_SET,
		.l_start = what, .l_len = 1,
	};

	fcntl(fd, F_OFD_SETLK, &lock);
}

/* Does another open file description hold one of these locks? */
bool emb_locked(int fd, u32 first, u32 count)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = first, .l_len = count,
	};

	return fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type != F_UNLCK;
}

/* Has the process that took the slot ended? */
bool emb_is_dead(const struct emb_fab *fab, u32 slot)
{
	const struct emb_slot *s = emb_slot(fab, slot);

	if (!ang_load_acquire(&s->used))
		return false;
	return READ_ONCE(s->dying) ||
	       (slot != fab->slot && !emb_locked(fab->fd, EMB_LOCK_SLOT(slot), 1));
}
