// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages to the server, and checks of the server's state; see client.h.
 */
#include <fcntl.h>
#include <poll.h>
#include <dirent.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

struct cl *cl_open(u32 node)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct cl *cl = calloc(1, sizeof(*cl));

	snprintf(name.sun_path, sizeof(name.sun_path), "%s/node%u.sock",
		 getenv("VFIO_DIR"), node);
	cl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT(cl->fd >= 0);
	EXPECT(!connect(cl->fd, (struct sockaddr *)&name, sizeof(name)));
	return cl;
}

int cl_version(struct cl *cl, u32 major, u32 minor, const char *json)
{
	u8 body[1024] = { (u8)major, (u8)(major >> 8), (u8)minor };
	u32 len = 4;

	if (json) {
		memcpy(body + 4, json, strlen(json) + 1);
		len += (u32)strlen(json) + 1;
	}
	return cl_call(cl, VFU_VERSION, body, len);
}

/* A refused client retries, since its predecessor may not be detached yet. */
struct cl *cl_attach(u32 node)
{
	for (;;) {
		struct cl *cl = cl_open(node);
		int ret = cl_version(cl, 0, 0, "{\"capabilities\":{}}");

		if (!ret)
			return cl;
		EXPECT_EQ(ret, CLOSED);
		cl_close(cl);
		usleep(1000);
	}
}

void cl_close(struct cl *cl)
{
	close(cl->fd);
	free(cl);
}

void cl_bytes(struct cl *cl, const void *bytes, size_t len, const int *fds,
	      u32 num_fds)
{
	char control[CMSG_SPACE(253 * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)bytes, len };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	if (num_fds) {
		hdr.msg_control = control;
		hdr.msg_controllen = CMSG_SPACE(num_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&hdr);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(num_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, num_fds * sizeof(int));
	}
	n = sendmsg(cl->fd, &hdr, MSG_NOSIGNAL);
	/* The server has closed the connection: cl_recv() reports it. */
	if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
		return;
	EXPECT_EQ(n, len);
}

void cl_send(struct cl *cl, u32 command, u32 flags, const void *body, u32 len,
	     const int *fds, u32 num_fds)
{
	struct vfu_hdr hdr = { .id = ++cl->id, .command = (u16)command,
		.size = (u32)sizeof(hdr) + len, .flags = flags };
	u8 *bytes = malloc(sizeof(hdr) + len);

	memcpy(bytes, &hdr, sizeof(hdr));
	if (len)
		memcpy(bytes + sizeof(hdr), body, len);
	cl_bytes(cl, bytes, sizeof(hdr) + len, fds, num_fds);
	free(bytes);
}

static bool get(struct cl *cl, void *to, size_t len)
{
	ssize_t n = len ? recv(cl->fd, to, len, MSG_WAITALL) : 0;

	return n == (ssize_t)len;
}

int cl_recv(struct cl *cl)
{
	if (!get(cl, &cl->hdr, sizeof(cl->hdr)))
		return CLOSED;
	EXPECT(cl->hdr.size >= sizeof(cl->hdr) &&
	       cl->hdr.size <= sizeof(cl->hdr) + sizeof(cl->body));
	EXPECT_EQ(cl->hdr.flags & VFU_TYPE, VFU_REPLY);
	cl->len = cl->hdr.size - (u32)sizeof(cl->hdr);
	if (!get(cl, cl->body, cl->len))
		return CLOSED;
	if (!(cl->hdr.flags & VFU_ERROR)) {
		EXPECT_EQ(cl->hdr.error, 0);
		return 0;
	}
	/* An error has no body. */
	EXPECT_EQ(cl->len, 0);
	EXPECT(cl->hdr.error);
	return (int)cl->hdr.error;
}

int cl_call_fds(struct cl *cl, u32 command, const void *body, u32 len,
		const int *fds, u32 num_fds)
{
	int ret;

	cl_send(cl, command, 0, body, len, fds, num_fds);
	ret = cl_recv(cl);
	if (ret == CLOSED)
		return ret;
	EXPECT_EQ(cl->hdr.id, cl->id);
	EXPECT_EQ(cl->hdr.command, command & 0xFFFF);
	return ret;
}

int cl_call(struct cl *cl, u32 command, const void *body, u32 len)
{
	return cl_call_fds(cl, command, body, len, NULL, 0);
}

int cl_region_read(struct cl *cl, u32 region, u64 off, void *buf, u32 len)
{
	struct vfu_region at = { .offset = off, .region = region, .count = len };
	int ret = cl_call(cl, VFU_REGION_READ, &at, sizeof(at));

	if (ret)
		return ret;
	EXPECT_EQ(cl->len, sizeof(at) + len);
	EXPECT(!memcmp(cl->body, &at, sizeof(at)));
	memcpy(buf, cl->body + sizeof(at), len);
	return 0;
}

int cl_region_write(struct cl *cl, u32 region, u64 off, const void *buf, u32 len)
{
	struct vfu_region at = { .offset = off, .region = region, .count = len };
	u8 *body = malloc(sizeof(at) + len);
	int ret;

	memcpy(body, &at, sizeof(at));
	memcpy(body + sizeof(at), buf, len);
	ret = cl_call(cl, VFU_REGION_WRITE, body, (u32)sizeof(at) + len);
	free(body);
	if (!ret)
		EXPECT(cl->len == sizeof(at) && !memcmp(cl->body, &at, sizeof(at)));
	return ret;
}

u32 cl_get(struct cl *cl, u32 region, u64 off, u32 len)
{
	u32 val = 0;

	EXPECT_EQ(cl_region_read(cl, region, off, &val, len), 0);
	return val;
}

void cl_put(struct cl *cl, u32 region, u64 off, u32 len, u32 val)
{
	EXPECT_EQ(cl_region_write(cl, region, off, &val, len), 0);
}

void cl_post(struct cl *cl, u64 off, u32 val)
{
	struct vfu_region at = { .offset = off, .count = 4 };
	u8 body[sizeof(at) + 4];

	memcpy(body, &at, sizeof(at));
	memcpy(body + sizeof(at), &val, 4);
	cl_send(cl, VFU_REGION_WRITE, VFU_NO_REPLY, body, sizeof(body), NULL, 0);
}

int cl_dma_map(struct cl *cl, u64 iova, u64 size, u64 offset, u32 flags, int fd)
{
	struct vfu_dma_map map = { .argsz = sizeof(map), .flags = flags,
		.offset = offset, .iova = iova, .size = size };

	return cl_call_fds(cl, VFU_DMA_MAP, &map, sizeof(map), &fd, fd >= 0);
}

int cl_dma_unmap(struct cl *cl, u64 iova, u64 size, u32 flags)
{
	struct vfu_dma_unmap unmap = { .argsz = sizeof(unmap), .flags = flags,
		.iova = iova, .size = size };

	return cl_call(cl, VFU_DMA_UNMAP, &unmap, sizeof(unmap));
}

int cl_irqs(struct cl *cl, u32 flags, u32 index, u32 start, u32 count,
	    const void *data, u32 len, const int *fds, u32 num_fds)
{
	u32 body[5 + 64] = { 20 + len, flags, index, start, count };

	EXPECT(len <= 256);
	if (len)
		memcpy(body + 5, data, len);
	return cl_call_fds(cl, VFU_SET_IRQS, body, 20 + len, fds, num_fds);
}

int cl_wire(struct cl *cl, u32 index, u32 vector)
{
	int fd = eventfd_new();

	EXPECT_EQ(cl_irqs(cl, VFIO_IRQ_SET_DATA_EVENTFD |
			  VFIO_IRQ_SET_ACTION_TRIGGER, index, vector, 1, NULL,
			  0, &fd, 1), 0);
	return fd;
}

int memfd(u64 size, bool sealed)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	EXPECT(fd >= 0 && !ftruncate(fd, (off_t)size));
	if (sealed)
		EXPECT(!fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK |
			      F_SEAL_SEAL));
	return fd;
}

int eventfd_new(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	EXPECT(fd >= 0);
	return fd;
}

u64 eventfd_wait(int fd)
{
	u64 count = 0;

	EXPECT_EQ(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

bool eventfd_quiet(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static bool in_log(const char *text)
{
	FILE *file = fopen(getenv("VFIO_LOG"), "r");
	char line[1024];
	bool found = false;

	EXPECT(file);
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	fclose(file);
	return found;
}

bool said(const char *text)
{
	int i;

	for (i = 0; i < 5000; i++) {
		if (in_log(text))
			return true;
		usleep(1000);
	}
	return false;
}

u32 server_fds(void)
{
	char path[64];
	struct dirent *e;
	u32 n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", getenv("VFIO_PID"));
	dir = opendir(path);
	EXPECT(dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

u32 server_maps(void)
{
	char line[512];
	u32 n = 0;
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%s/maps", getenv("VFIO_PID"));
	file = fopen(line, "r");
	EXPECT(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, "/memfd:guest") != NULL;
	fclose(file);
	return n;
}
