// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Address vectors that processes of one user share, by name.  The table is in
 * shared memory; each process has a copy, updated on use.  Other processes may
 * write arbitrary data, so entries are checked when they are copied.
 *
 * A process that has the table open holds a shared flock(2) on it.  If a
 * process finds no other holder when it opens the table, it is the first and
 * creates it; when it closes the table, it is the last and removes it.  An
 * fcntl(2) lock excludes concurrent writers.  The kernel releases both locks
 * when their process ends.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "afi.h"

#define AFI_SHARE_MAGIC	0x31766172616e6761ULL
#define AFI_SHARE_MS	1000	/* longest wait for another process */

/**
 * struct share_entry - an entry in the shared memory
 * @name: address
 * @used: 1: the entry is valid
 * @reserved: 0
 */
struct share_entry {
	struct afi_name name;
	u32 used;
	u32 reserved;
};

/**
 * struct share_table - the shared memory
 * @magic: AFI_SHARE_MAGIC
 * @fabric_id: fabric of all addresses
 * @size: number of @entries
 * @num: entries used so far, including removed ones
 * @seq: counts changes; odd during a change
 * @reserved: 0
 * @entries: the entries
 */
struct share_table {
	u64 magic;
	u64 fabric_id;
	u32 size;
	u32 num;
	u32 seq;
	u32 reserved;
	struct share_entry entries[];
};

static_assert(sizeof(struct share_entry) == 32, "all processes must have the same layout");

/**
 * struct afi_share - this process's view of a shared table
 * @change: held from afi_share_begin() to afi_share_end(), since the file's lock
 *	does not exclude threads of one process
 * @table: shared memory
 * @size: checked number of entries
 * @next: entry from which the search for a free one begins
 * @seq: @seq of the table when the vector last had all its entries
 * @fd: file
 * @writable: this process may change it
 * @path: name of the file
 */
struct afi_share {
	pthread_mutex_t change;
	struct share_table *table;
	u32 size;
	u32 next;
	u32 seq;
	int fd;
	bool writable;
	char path[AFI_SHARE_NAME + 32];
};

static size_t bytes_of(u32 size)
{
	return sizeof(struct share_table) + size * sizeof(struct share_entry);
}

/*
 * Sets the path. Return: 0; -FI_EINVAL the name is not valid in a file name.
 */
static int set_path(struct afi_share *sh, const char *name)
{
	static const char good[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t len = strlen(name);

	if (!len || len > AFI_SHARE_NAME || strspn(name, good) != len)
		return -FI_EINVAL;
	snprintf(sh->path, sizeof(sh->path), "/angara-av-%u-%s", geteuid(),
		 name);
	return 0;
}

/* Checks a file: it is not trusted if another user owns it or may change it. */
static int check_file(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       !(st->st_mode & (0077)) ? 0 : -FI_EACCES;
}

/*
 * Creates the table; no other process uses it yet.  Allocates all of its
 * memory, since a process that later writes to a missing page would be killed.
 */
static int share_make(int fd, u32 size, u64 fabric_id)
{
	const struct share_table head = {
		.magic = AFI_SHARE_MAGIC,
		.fabric_id = fabric_id,
		.size = size,
	};

	ssize_t done;
	int ret;

	if (ftruncate(fd, 0))
		return -errno;
	ret = -posix_fallocate(fd, 0, (off_t)bytes_of(size));
	if (ret)
		return ret;
	done = pwrite(fd, &head, sizeof(head), 0);
	if (done < 0)
		return -errno;
	return done == (ssize_t)sizeof(head) ? 0 : -FI_ENOSPC;
}

static int share_map(struct afi_share *sh, const struct stat *st, u64 fabric_id)
{
	struct share_table head;
	void *at;

	if (pread(sh->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    head.magic != AFI_SHARE_MAGIC || !head.size ||
	    head.size > AFI_AV_MAX ||
	    st->st_size != (off_t)bytes_of(head.size) ||
	    head.fabric_id != fabric_id)
		return -FI_EINVAL;
	at = mmap(NULL, bytes_of(head.size),
		  sh->writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		  sh->fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	sh->table = at;
	sh->size = head.size;
	return 0;
}

/*
 * Opens the table, or creates it. Return: 0; 1 try again; -FI_ENOENT there is
 * no table.
 */
static int try_open(struct afi_share *sh, u32 size, u64 fabric_id)
{
	struct stat st;
	bool first;
	int ret;

	sh->fd = shm_open(sh->path, sh->writable ? O_RDWR | O_CREAT : O_RDONLY,
			  0600);
	if (sh->fd < 0)
		return -errno;
	ret = check_file(sh->fd, &st);
	if (ret)
		goto close;
	first = !flock(sh->fd, LOCK_EX | LOCK_NB);
	ret = -FI_ENOENT;
	if (first && !sh->writable)
		goto close;
	ret = first ? share_make(sh->fd, size, fabric_id) : 0;
	/* Remove the file only if it still has this name. */
	if (first && ret && !fstat(sh->fd, &st) && st.st_nlink)
		shm_unlink(sh->path);
	/*
	 * If the lock is held, another process is creating the table: try
	 * again.
	 */
	if (!ret && flock(sh->fd, LOCK_SH | LOCK_NB))
		ret = errno == EWOULDBLOCK ? 1 : -errno;
	if (!ret)
		ret = check_file(sh->fd, &st);
	if (!ret)
		ret = st.st_nlink ? share_map(sh, &st, fabric_id) : 1;
	if (!ret)
		return 0;
close:
	close(sh->fd);
	return ret;
}

/**
 * afi_share_open() - create a table, or open an existing one
 * @name: its name
 * @read_only: do not create or change it
 * @size: entries, if it is created
 * @fabric_id: fabric of all addresses
 * @out: out
 *
 * Return: 0; -FI_EINVAL bad name, or the table of another fabric; -FI_ENOENT
 * there is none to read; -FI_EACCES it belongs to another user; -FI_EAGAIN a
 * process has stopped while creating it; -FI_ENOSPC there is no memory for it.
 */
int afi_share_open(const char *name, bool read_only, size_t size, u64 fabric_id,
		   struct afi_share **out)
{
	struct afi_share *sh = calloc(1, sizeof(*sh));
	int ret, i;

	if (!sh)
		return -FI_ENOMEM;
	pthread_mutex_init(&sh->change, NULL);
	sh->writable = !read_only;
	ret = set_path(sh, name);
	for (i = 0; !ret && i < AFI_SHARE_MS; i++) {
		ret = try_open(sh, (u32)size, fabric_id);
		if (!ret) {
			*out = sh;
			return 0;
		}
		if (ret == 1)
			ret = poll(NULL, 0, 1) < 0 ? -errno : 0;
	}
	pthread_mutex_destroy(&sh->change);
	free(sh);
	return ret ? ret : -FI_EAGAIN;
}

void afi_share_close(struct afi_share *sh)
{
	if (!sh)
		return;
	munmap(sh->table, bytes_of(sh->size));
	if (!flock(sh->fd, LOCK_EX | LOCK_NB))
		shm_unlink(sh->path);
	close(sh->fd);
	pthread_mutex_destroy(&sh->change);
	free(sh);
}

u32 afi_share_size(const struct afi_share *sh)
{
	return sh->size;
}

static int share_lock(struct afi_share *sh, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };
	int i;

	for (i = 0; i < AFI_SHARE_MS; i++) {
		if (!fcntl(sh->fd, F_OFD_SETLK, &l))
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		poll(NULL, 0, 1);
	}
	return -FI_EAGAIN;
}

/**
 * afi_share_begin() - exclude others from changing a table
 * @sh: table
 *
 * Waits for other processes, so the caller must not hold the domain's lock.
 *
 * Return: 0: the table is locked until afi_share_end(); -FI_EACCES it is read
 * only; -FI_EAGAIN a process has stopped while changing it.
 */
int afi_share_begin(struct afi_share *sh)
{
	int ret;

	if (!sh->writable)
		return -FI_EACCES;
	pthread_mutex_lock(&sh->change);
	ret = share_lock(sh, F_WRLCK);
	if (ret)
		pthread_mutex_unlock(&sh->change);
	return ret;
}

/*
 * Marks that a change is in progress, until afi_share_end().  A process that
 * died during a change may have left the mark.
 */
void afi_share_change(struct afi_share *sh)
{
	struct share_table *t = sh->table;

	__atomic_store_n(&t->seq, t->seq | 1, __ATOMIC_SEQ_CST);
}

void afi_share_end(struct afi_share *sh)
{
	struct share_table *t = sh->table;

	__atomic_store_n(&t->seq, (t->seq | 1) + 1, __ATOMIC_SEQ_CST);
	share_lock(sh, F_UNLCK);
	pthread_mutex_unlock(&sh->change);
}

/* Adds an entry.  Return: 0; -FI_ENOMEM the table is full. */
int afi_share_add(struct afi_share *sh, const struct afi_name *name,
		  fi_addr_t *addr)
{
	struct share_table *t = sh->table;
	u32 left = sh->size;
	u32 i = sh->next;

	for (; left && t->entries[i].used; left--)
		i = (i + 1) % sh->size;
	if (!left)
		return -FI_ENOMEM;
	sh->next = (i + 1) % sh->size;
	t->entries[i].name = *name;
	t->entries[i].used = 1;
	if (t->num <= i)
		t->num = i + 1;
	*addr = i;
	return 0;
}

void afi_share_remove(struct afi_share *sh, fi_addr_t addr)
{
	if (addr >= sh->size)
		return;
	sh->table->entries[addr].used = 0;
	sh->next = (u32)addr;
}

/**
 * afi_share_news() - has a table changed?
 * @sh: table
 * @seq: out: for afi_share_seen()
 *
 * Return: number of entries to read; -1 it has not changed, or a change is in
 * progress.
 */
int afi_share_news(struct afi_share *sh, u32 *seq)
{
	u32 num;

	*seq = __atomic_load_n(&sh->table->seq, __ATOMIC_ACQUIRE);
	if (*seq == sh->seq || (*seq & 1))
		return -1;
	num = __atomic_load_n(&sh->table->num, __ATOMIC_RELAXED);
	return (int)(num < sh->size ? num : sh->size);
}

/*
 * Reads an entry. Return: true if it is valid. @name: out: copy of it, not
 * checked.
 */
bool afi_share_get(const struct afi_share *sh, u32 i, struct afi_name *name)
{
	const struct share_entry *e = &sh->table->entries[i];

	memcpy(name, &e->name, sizeof(*name));
	return __atomic_load_n(&e->used, __ATOMIC_RELAXED);
}

/*
 * Records that the vector has all changes of the table, unless another change
 * has begun since afi_share_news().
 */
void afi_share_seen(struct afi_share *sh, u32 seq)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&sh->table->seq, __ATOMIC_RELAXED) == seq)
		sh->seq = seq;
}
