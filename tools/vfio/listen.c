// SPDX-License-Identifier: GPL-2.0-only
/* Sockets in a folder, by name: create, take over from a dead server, remove. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "card.h"

static int address(const char *dir, const char *name, struct sockaddr_un *addr)
{
	addr->sun_family = AF_UNIX;
	if (snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s", dir,
		     name) < (int)sizeof(addr->sun_path))
		return 0;
	say("'%s/%s' is too long for a socket: at most %zu characters", dir,
	    name, sizeof(addr->sun_path) - 1);
	return -ENAMETOOLONG;
}

/* The name exists: remove it if it is a socket without a listener. */
static int clear_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, ret;

	if (!lstat(addr->sun_path, &st) && !S_ISSOCK(st.st_mode)) {
		say("'%s' exists and is not a socket", addr->sun_path);
		return -EEXIST;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ?
	      errno : 0;
	close(fd);
	if (ret == ECONNREFUSED && !unlink(addr->sun_path))
		return 0;
	if (!ret || ret == EAGAIN)
		say("'%s' is in use by another server: end that, or use another --socket-dir",
		    addr->sun_path);
	else
		say("cannot replace '%s': %s", addr->sun_path, strerror(ret));
	return -EADDRINUSE;
}

static int try_bind(int fd, const struct sockaddr_un *addr)
{
	const struct sockaddr *any = (const struct sockaddr *)addr;
	int ret;

	if (!bind(fd, any, sizeof(*addr)))
		return 0;
	if (errno == EADDRINUSE) {
		ret = clear_stale(addr);
		if (ret)
			return ret;
		if (!bind(fd, any, sizeof(*addr)))
			return 0;
	}
	ret = -errno;
	say("cannot make the socket '%s': %s", addr->sun_path, strerror(-ret));
	return ret;
}

/**
 * listener_open() - make a socket that clients find by name
 * @l: out
 * @dir: folder
 * @name: name in that folder
 * @mode: permissions, as for chmod(2); 0: as the umask allows
 *
 * Return: 0 or -errno, after a message.
 */
int listener_open(struct listener *l, const char *dir, const char *name,
		  u32 mode)
{
	struct sockaddr_un addr = { 0 };
	struct stat st = { 0 };
	int ret = address(dir, name, &addr);
	int fd;

	if (ret)
		return ret;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		ret = -errno;
		say("cannot create a socket: %s", strerror(-ret));
		return ret;
	}
	ret = try_bind(fd, &addr);
	/* Clients cannot connect before listen(2). */
	if (!ret && ((mode && chmod(addr.sun_path, mode)) || listen(fd, 4) ||
		     lstat(addr.sun_path, &st))) {
		ret = -errno;
		say("cannot listen on '%s': %s", addr.sun_path, strerror(-ret));
	}
	if (ret) {
		close(fd);
		return ret;
	}
	l->fd = fd;
	l->inode = st.st_ino;
	return 0;
}

/** listener_close() - remove the socket, if it exists and is still ours */
void listener_close(struct listener *l, const char *dir, const char *name)
{
	struct sockaddr_un addr = { 0 };
	struct stat st;

	if (l->fd < 0 || address(dir, name, &addr))
		return;
	if (!lstat(addr.sun_path, &st) && st.st_ino == l->inode)
		unlink(addr.sun_path);
	close(l->fd);
	l->fd = -1;
}
