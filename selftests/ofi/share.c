// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Address vectors that are shared by name, and those that report to event
 * queues.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fi.h"

#define COUNT	100

static struct side s[2];
static char name[64], path[160];
static char addr[2][64];

static void setup(void)
{
	const struct how how = { 0 };
	size_t len;
	int i;

	open_pair(s, &how);
	for (i = 0; i < 2; i++) {
		len = sizeof(addr[i]);
		expect(fi_getname(&s[i].ep->fid, addr[i], &len), 0);
	}
	snprintf(name, sizeof(name), "fi-test-%d", getpid());
	snprintf(path, sizeof(path), "/angara-av-%u-%s", geteuid(), name);
}

static int open_av(int side, const char *what, uint64_t flags, size_t count,
		   struct fid_av **av)
{
	struct fi_av_attr attr = {
		.name = what,
		.flags = flags,
		.count = count,
	};

	return fi_av_open(s[side].domain, &attr, av, NULL);
}

static bool looks_up(struct fid_av *av, fi_addr_t at, const char *want)
{
	char got[64];
	size_t len = sizeof(got);

	return expect(fi_av_lookup(av, at, got, &len), 0) &&
	       expect(memcmp(got, want, len), 0);
}

static bool gone(struct fid_av *av, fi_addr_t at)
{
	char got[64];
	size_t len = sizeof(got);

	return expect(fi_av_lookup(av, at, got, &len), -FI_EINVAL);
}

/*
 * All processes see the entries that one process inserts and removes, at the
 * same addresses.
 */
static bool same_for_all(void)
{
	struct fid_av *one, *other, *reader, *late;
	fi_addr_t a[2], b, c;
	int fd;
	bool ok;

	setup();
	ok = expect((s[0].info->caps & FI_SHARED_AV) != 0, true) &&
	     expect(open_av(1, name, FI_READ, 0, &reader), -FI_ENOENT) &&
	     expect(open_av(0, name, 0, COUNT, &one), 0) &&
	     expect(open_av(1, name, 0, 7, &other), 0) &&
	     expect(open_av(1, name, FI_READ, 0, &reader), 0) &&
	     expect(fi_av_insert(one, addr[0], 1, &a[0], 0, NULL), 1) &&
	     expect(fi_av_insert(other, addr[1], 1, &a[1], 0, NULL), 1) &&
	     expect(a[0] != a[1], true) && looks_up(one, a[1], addr[1]) &&
	     looks_up(reader, a[0], addr[0]) &&
	     looks_up(reader, a[1], addr[1]) &&
	     expect(fi_av_insert(reader, addr[0], 1, &b, 0, NULL),
		    -FI_EACCES) &&
	     expect(fi_av_remove(reader, a, 1, 0), -FI_EACCES) &&
	     expect(fi_av_remove(other, &a[0], 1, 0), 0) &&
	     gone(one, a[0]) && gone(reader, a[0]) &&
	     looks_up(reader, a[1], addr[1]);
	/* Another address reuses the entry. */
	ok = ok && expect(fi_av_insert(one, addr[1], 1, &b, 0, NULL), 1) &&
	     looks_up(reader, b, addr[1]) && closed(&one->fid) &&
	     expect(open_av(0, name, FI_READ, 0, &late), 0) &&
	     looks_up(late, a[1], addr[1]) && closed(&late->fid) &&
	     closed(&other->fid) && looks_up(reader, a[1], addr[1]) &&
	     closed(&reader->fid);
	/* The last user removes the table. */
	fd = shm_open(path, O_RDONLY, 0);
	ok = ok && expect(fd, -1) &&
	     expect(open_av(0, name, 0, 2, &one), 0) && gone(one, a[1]) &&
	     expect(fi_av_insert(one, addr[0], 1, &a[0], 0, NULL), 1) &&
	     expect(fi_av_insert(one, addr[1], 1, &a[1], 0, NULL), 1) &&
	     expect(fi_av_insert(one, addr[1], 1, &c, 0, NULL), 0) &&
	     expect(c == FI_ADDR_NOTAVAIL, true) && closed(&one->fid);
	close_pair(s);
	return ok;
}

/*
 * @held: fcntl() fails as if another process were changing the table.  @attempts: how
 * often the provider has tried to lock the table while @held is set.
 */
static bool held;
static int attempts;

/* Replaces the C library's function, for the provider as well. */
int fcntl(int fd, int cmd, ...)
{
	int (*real)(int fd, int cmd, ...);
	void *at = dlsym(RTLD_NEXT, "fcntl");
	va_list args;
	void *arg;

	memcpy(&real, &at, sizeof(real));
	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	if (cmd == F_OFD_SETLK && __atomic_load_n(&held, __ATOMIC_SEQ_CST)) {
		__atomic_add_fetch(&attempts, 1, __ATOMIC_SEQ_CST);
		errno = EAGAIN;
		return -1;
	}
	return real(fd, cmd, arg);
}

static void *insert_one(void *arg)
{
	fi_addr_t at;

	return fi_av_insert(arg, addr[0], 1, &at, 0, NULL) == 1 ? arg : NULL;
}

/* A call that waits for other processes does not block the domain. */
static bool waits_alone(void)
{
	pthread_t threads[2];
	struct fid_av *av;
	void *done[2] = { 0 };
	bool ok;
	int i;

	setup();
	ok = expect(open_av(0, name, 0, COUNT, &av), 0);
	attempts = 0;
	__atomic_store_n(&held, true, __ATOMIC_SEQ_CST);
	for (i = 0; ok && i < 2; i++)
		ok = expect(pthread_create(&threads[i], NULL, insert_one, av), 0);
	while (ok && !__atomic_load_n(&attempts, __ATOMIC_SEQ_CST))
		;
	fi_cq_read(s[0].cq, NULL, 0);
	__atomic_store_n(&held, false, __ATOMIC_SEQ_CST);
	for (i = 0; ok && i < 2; i++)
		pthread_join(threads[i], &done[i]);
	ok = ok && expect(done[0] == av, true) && expect(done[1] == av, true) &&
	     looks_up(av, 0, addr[0]) && looks_up(av, 1, addr[0]) &&
	     gone(av, 2) && closed(&av->fid);
	close_pair(s);
	return ok;
}

/* Messages can be sent to addresses of a shared vector, and back. */
static bool used(void)
{
	struct fid_av *av, *reader;
	struct fid_ep *ep = NULL;
	struct fi_cq_tagged_entry e;
	fi_addr_t a[COUNT], src;
	char buf[8];
	ssize_t ret;
	bool ok;
	int i;

	setup();
	ok = expect(open_av(0, name, 0, COUNT, &av), 0) &&
	     expect(open_av(1, name, FI_READ, 0, &reader), 0) &&
	     expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0) &&
	     expect(fi_ep_bind(ep, &reader->fid, 0), 0) &&
	     expect(fi_ep_bind(ep, &s[1].cq->fid, FI_TRANSMIT | FI_RECV), 0) &&
	     expect(fi_enable(ep), 0) && expect(fi_close(&reader->fid), -FI_EBUSY);
	for (i = 0; ok && i < COUNT; i++)
		ok = expect(fi_av_insert(av, addr[0], 1, &a[i], 0, NULL), 1);
	ok = ok && expect(fi_av_remove(av, a, COUNT - 1, 0), 0) &&
	     expect(fi_send(ep, "abc", 4, NULL, a[0], NULL), -FI_EINVAL) &&
	     expect(fi_recv(s[0].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf),
		    0) &&
	     expect(fi_send(ep, "abc", 4, NULL, a[COUNT - 1], NULL), 0) &&
	     completion(&s[0], &e) && expect(strcmp(buf, "abc"), 0) &&
	     completion(&s[1], &e);
	/* The sender is reported by the address in the shared vector. */
	ok = ok && expect(fi_recv(ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC,
				  buf), 0);
	if (ok) {
		char to[64];
		size_t len = sizeof(to);
		fi_addr_t back;

		ok = expect(fi_getname(&ep->fid, to, &len), 0) &&
		     expect(fi_av_insert(s[0].av, to, 1, &back, 0, NULL), 1) &&
		     expect(fi_send(s[0].ep, "def", 4, NULL, back, NULL), 0);
	}
	do {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_readfrom(s[1].cq, &e, 1, &src);
	} while (ok && ret == -FI_EAGAIN);
	ok = ok && expect(ret, 1) && expect(src == a[COUNT - 1], true);
	closed(&ep->fid);
	closed(&reader->fid);
	closed(&av->fid);
	close_pair(s);
	return ok;
}

/* Invalid names, and files of other users. */
static bool bad_names(void)
{
	static const char *const bad[] = {
		"", "../x", "a/b", "a b", "\xff",
		"1234567890123456789012345678901234567890123456789012345678901"
		"2345",
	};
	struct fid_av *av, *reader;
	bool ok = true;
	size_t i;
	int fd;

	setup();
	for (i = 0; ok && i < sizeof(bad) / sizeof(*bad); i++)
		ok = expect(open_av(0, bad[i], 0, 0, &av), -FI_EINVAL);
	ok = ok && expect(open_av(0, NULL, FI_READ, 0, &av), -FI_EINVAL);
	/* a file that other users may write to */
	fd = shm_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	ok = ok && expect(fchmod(fd, 0666), 0) &&
	     expect(open_av(0, name, 0, 0, &av), -FI_EACCES) &&
	     expect(fchmod(fd, 0600), 0) &&
	     /*
	      * A file that no process has open is replaced, whatever its
	      * content is.
	      */
	     expect(write(fd, "nonsense", 8), 8) &&
	     expect(open_av(0, name, 0, 10, &av), 0);
	/* The provider checks the contents of the table. */
	if (ok) {
		uint32_t huge = 0xfffffffe;
		char got[64];
		size_t len = sizeof(got);

		ok = expect(pwrite(fd, &huge, 4, 20), 4) &&
		     expect(pwrite(fd, &huge, 4, 24), 4) &&
		     expect(fi_av_lookup(av, 0, got, &len), -FI_EINVAL) &&
		     expect(open_av(1, name, FI_READ, 0, &reader), 0) &&
		     closed(&reader->fid) && closed(&av->fid);
	}
	close(fd);
	shm_unlink(path);
	close_pair(s);
	return ok;
}

#define MOST	(1U << 20)	/* entries, of 32 bytes */

/*
 * Opens a vector of the largest size.  Without memory for it, the first open
 * fails, not a later write; and no file is left.
 */
static bool largest(void)
{
	struct statvfs fs;
	struct fid_av *av;
	fi_addr_t a;
	bool ok;

	setup();
	ok = expect(statvfs("/dev/shm", &fs), 0);
	if (ok && fs.f_bavail * fs.f_frsize > 64ULL * MOST)
		ok = expect(open_av(0, name, 0, MOST, &av), 0) &&
		     expect(fi_av_insert(av, addr[0], 1, &a, 0, NULL), 1) &&
		     looks_up(av, a, addr[0]) && closed(&av->fid);
	else
		ok = ok && expect(open_av(0, name, 0, MOST, &av), -FI_ENOSPC);
	ok = ok && expect(shm_open(path, O_RDONLY, 0), -1) &&
	     expect(open_av(0, name, 0, COUNT, &av), 0) && closed(&av->fid);
	close_pair(s);
	return ok;
}

/* Insertions that are reported as events. */
static bool events(void)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_entry done = { 0 };
	struct fid_av *av;
	struct fid_eq *eq;
	char both[128];
	fi_addr_t a[2];
	uint32_t event;
	bool ok;

	setup();
	memcpy(both, addr[0], 24);
	memcpy(both + 24, addr[1], 24);
	both[0] ^= 1;
	ok = expect(fi_eq_open(s[0].fabric, &attr, &eq, NULL), 0) &&
	     expect(fi_av_bind(s[0].av, &eq->fid, 0), -FI_EINVAL) &&
	     expect(open_av(0, NULL, FI_EVENT, 0, &av), 0) &&
	     expect(fi_av_insert(av, both, 2, a, 0, both), -FI_ENOEQ) &&
	     expect(fi_av_bind(av, &eq->fid, 0), 0) &&
	     expect(fi_close(&eq->fid), -FI_EBUSY) &&
	     expect(fi_av_insert(av, both, 2, a, 0, both), 0) &&
	     expect(fi_eq_read(eq, &event, &done, sizeof(done), 0),
		    -FI_EAVAIL) &&
	     expect(fi_eq_readerr(eq, &err, 0), sizeof(err)) &&
	     expect(err.err, FI_EINVAL) && expect((long long)err.data, 0) &&
	     expect(err.context == both, true) &&
	     expect(err.fid == &av->fid, true) &&
	     expect(fi_eq_read(eq, &event, &done, sizeof(done), 0),
		    sizeof(done)) &&
	     expect(event, FI_AV_COMPLETE) && expect((long long)done.data, 1) &&
	     expect(done.context == both, true) &&
	     expect(a[0] == FI_ADDR_NOTAVAIL, true) &&
	     looks_up(av, a[1], addr[1]) && closed(&av->fid) &&
	     closed(&eq->fid);
	close_pair(s);
	return ok;
}

const struct part share_parts[] = {
	{ "av: shared by name", same_for_all },
	{ "av: messages by a shared vector", used },
	{ "av: waits for a shared vector", waits_alone },
	{ "av: invalid names", bad_names },
	{ "av: the largest size", largest },
	{ "av: events", events },
	{ 0 },
};
