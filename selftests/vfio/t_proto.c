// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: the description of the device, and invalid messages.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

static void infos(void)
{
	struct cl *cl = cl_attach(1);
	u32 info[4] = { 16 };
	struct vfio_region_info r;
	u32 i;

	EXPECT_EQ(cl_call(cl, VFU_DEVICE_GET_INFO, info, 16), 0);
	memcpy(info, cl->body, 16);
	EXPECT_EQ(info[0], 16);
	EXPECT_EQ(info[1], VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
	EXPECT_EQ(info[2], VFIO_PCI_NUM_REGIONS);
	EXPECT_EQ(info[3], VFIO_PCI_NUM_IRQS);
	for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		/*
		 * Region 0 has room for 16 contexts and the page of registers.
		 */
		u64 want = i == 0 ? 32 * 4096 : i == 2 ? 8192 :
			   i == CONFIG ? 4096 : 0;

		r = (struct vfio_region_info){ .argsz = 1000, .index = i };
		EXPECT_EQ(cl_call(cl, VFU_GET_REGION_INFO, &r, sizeof(r)), 0);
		memcpy(&r, cl->body, sizeof(r));
		EXPECT_EQ(r.argsz, sizeof(r));
		EXPECT_EQ(r.index, i);
		EXPECT_EQ(r.size, want);
		EXPECT_EQ(r.flags, want ? 3 : 0);
		EXPECT_EQ(r.cap_offset, 0);
	}
	for (i = 0; i < VFIO_PCI_NUM_IRQS; i++) {
		u32 irq[4] = { 16, 0, i };
		u32 want = i == VFIO_PCI_INTX_IRQ_INDEX ? 1 :
			   i == VFIO_PCI_MSIX_IRQ_INDEX ? 17 : 0;

		EXPECT_EQ(cl_call(cl, VFU_GET_IRQ_INFO, irq, 16), 0);
		memcpy(irq, cl->body, 16);
		EXPECT_EQ(irq[3], want);
		EXPECT_EQ(irq[1], i == VFIO_PCI_INTX_IRQ_INDEX ? 7 : !!want);
	}
	cl_close(cl);
}

/* Indices out of range, and buffers that are too small. */
static void infos_bad(void)
{
	static const u32 bad[] = { 9, 10, 0x7fffffff, 0xffffffff };
	struct cl *cl = cl_attach(1);
	u32 body[8] = { 0 };
	u32 i;

	for (i = 0; i < 32; i += 4) {
		body[0] = i;
		EXPECT_EQ(cl_call(cl, VFU_GET_REGION_INFO, body, 32), EINVAL);
		if (i >= 16)
			continue;
		EXPECT_EQ(cl_call(cl, VFU_GET_IRQ_INFO, body, 16), EINVAL);
		EXPECT_EQ(cl_call(cl, VFU_DEVICE_GET_INFO, body, 16), EINVAL);
	}
	for (i = 0; i < NUM(bad); i++) {
		body[0] = 32;
		body[2] = bad[i];
		EXPECT_EQ(cl_call(cl, VFU_GET_REGION_INFO, body, 32), EINVAL);
		EXPECT_EQ(cl_call(cl, VFU_GET_IRQ_INFO, body, 16), EINVAL);
	}
	cl_close(cl);
}

static void unknown(void)
{
	static const u32 none[] = { 0, 6, 11, 12, 14, 16, 17, 18, 19, 255, 65535 };
	struct cl *cl = cl_attach(1);
	u8 body[64] = { 64 };
	u32 i, type;

	for (i = 0; i < NUM(none); i++) {
		EXPECT_EQ(cl_call(cl, none[i], NULL, 0), EOPNOTSUPP);
		EXPECT_EQ(cl_call(cl, none[i], body, 64), EOPNOTSUPP);
	}
	for (type = 1; type < 16; type++) {
		cl_send(cl, VFU_DEVICE_RESET, type, NULL, 0, NULL, 0);
		EXPECT_EQ(cl_recv(cl), EINVAL);
	}
	EXPECT_EQ(cl_get(cl, CONFIG, 0, 4), 0x10f01af4);
	cl_close(cl);
}

/* Sends every command with bodies of every wrong length. */
static void lengths(void)
{
	static const struct {
		u32 command, len;
	} fixed[] = {
		{ VFU_DMA_MAP, 32 }, { VFU_DMA_UNMAP, 24 },
		{ VFU_DEVICE_GET_INFO, 16 }, { VFU_GET_REGION_INFO, 32 },
		{ VFU_GET_IRQ_INFO, 16 }, { VFU_REGION_READ, 16 },
		{ VFU_DEVICE_RESET, 0 },
	};
	static const struct {
		u32 command, least;
	} open[] = {
		{ VFU_VERSION, 4 }, { VFU_SET_IRQS, 20 },
		{ VFU_REGION_WRITE, 16 }, { VFU_WRITE_MULTI, 8 },
	};
	struct cl *cl = cl_attach(1);
	u8 body[8192] = { 0 };
	u32 i, len;

	for (i = 0; i < NUM(fixed); i++) {
		for (len = 0; len < 80; len++)
			if (len != fixed[i].len)
				EXPECT_EQ(cl_call(cl, fixed[i].command, body,
						  len), EINVAL);
		EXPECT_EQ(cl_call(cl, fixed[i].command, body, 8176), EINVAL);
	}
	for (i = 0; i < NUM(open); i++) {
		for (len = 0; len < open[i].least; len++)
			EXPECT_EQ(cl_call(cl, open[i].command, body, len), EINVAL);
		EXPECT_EQ(cl_call(cl, open[i].command, body, 8176), EINVAL);
	}
	cl_close(cl);
}

/* The server cannot find the next message, so it closes the connection. */
static void sizes(void)
{
	static const u32 bad[] = { 0, 1, 15, VFU_MAX_MSG + 1, 0x7fffffff,
				   0xffffffff };
	u32 i;

	for (i = 0; i < NUM(bad); i++) {
		struct cl *cl = cl_attach(1);
		struct vfu_hdr hdr = { .command = VFU_DEVICE_GET_INFO,
			.size = bad[i] };

		cl_bytes(cl, &hdr, sizeof(hdr), NULL, 0);
		EXPECT_EQ(cl_recv(cl), CLOSED);
		cl_close(cl);
	}
	EXPECT(said("the client sent a message of 15 bytes"));
}

static u32 pack(u8 *to, u32 n)
{
	struct {
		struct vfu_hdr hdr;
		struct vfu_region at;
	} one = {
		{ .id = (u16)n, .command = VFU_REGION_READ, .size = 32 },
		{ .region = CONFIG, .count = 4 },
	};

	memcpy(to, &one, 32);
	return 32;
}

/* Messages sent in pieces of any length, and many messages in one piece. */
static void pieces(void)
{
	struct cl *cl = cl_attach(1);
	u8 bytes[32 * 64];
	u32 len = 0, at, i, step;

	for (i = 0; i < 64; i++)
		len += pack(bytes + len, i);
	for (step = 1; step <= len; step = step * 3 + 1) {
		for (at = 0; at < len; at += step)
			cl_bytes(cl, bytes + at,
				 len - at < step ? len - at : step, NULL, 0);
		for (i = 0; i < 64; i++) {
			EXPECT_EQ(cl_recv(cl), 0);
			EXPECT_EQ(cl->hdr.id, i);
			EXPECT_EQ(cl->len, 20);
		}
	}
	/* The client disconnects in the middle of a message. */
	cl_bytes(cl, bytes, 31, NULL, 0);
	cl_close(cl);
	cl_close(cl_attach(1));
}

static void no_reply(void)
{
	struct cl *cl = cl_attach(1);
	u32 i;

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	for (i = 0; i < 1000; i++)
		cl_post(cl, ANGARA_REG_ASQ_LO, i);
	/* With VFU_NO_REPLY even errors have no reply. */
	cl_send(cl, 99, VFU_NO_REPLY, NULL, 0, NULL, 0);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ASQ_LO, 4), 999);
	cl_close(cl);
}

static void multi(void)
{
	struct {
		u64 count;
		struct vfu_write w[3];
	} body = { 3, {
		{ ANGARA_REG_ASQ_LO, 0, 4, { 1, 2, 3, 4 } },
		{ ANGARA_REG_ACQ_LO, 0, 8, { 5, 6, 7, 8, 9, 10, 11, 12 } },
		{ PCI_INTERRUPT_LINE, CONFIG, 1, { 13 } },
	} };
	struct cl *cl = cl_attach(1);
	u32 i;

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	EXPECT_EQ(cl_call(cl, VFU_WRITE_MULTI, &body, sizeof(body)), 0);
	EXPECT(cl->len == 8 && cl->body[0] == 3);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ASQ_LO, 4), 0x04030201);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ACQ_HI, 4), 0x0c0b0a09);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_INTERRUPT_LINE, 1), 13);
	for (i = 0; i < sizeof(body); i++)
		EXPECT_EQ(cl_call(cl, VFU_WRITE_MULTI, &body, i), EINVAL);
	body.w[2].count = 9;
	EXPECT_EQ(cl_call(cl, VFU_WRITE_MULTI, &body, sizeof(body)), EINVAL);
	/* 24 times this count is 72, modulo 2^64. */
	body.w[2].count = 1;
	body.count = 3 + (1ULL << 61);
	EXPECT_EQ(cl_call(cl, VFU_WRITE_MULTI, &body, sizeof(body)), EINVAL);
	cl_close(cl);
}

/* The server closes file descriptors that are unexpected, or too many. */
static void descriptors(void)
{
	struct cl *cl = cl_attach(1);
	u32 before = server_fds();
	u32 info[4] = { 16 };
	u32 set[5] = { 20, VFIO_IRQ_SET_DATA_EVENTFD |
		VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_PCI_MSIX_IRQ_INDEX, 0, 16 };
	int fds[253];
	u32 i;

	for (i = 0; i < NUM(fds); i++)
		fds[i] = eventfd_new();
	EXPECT_EQ(cl_call_fds(cl, VFU_DEVICE_GET_INFO, info, 16, fds, 1), EINVAL);
	EXPECT_EQ(cl_call_fds(cl, VFU_DEVICE_GET_INFO, info, 16, fds, 16), EINVAL);
	EXPECT_EQ(cl_call_fds(cl, VFU_DEVICE_RESET, NULL, 0, fds, 1), EINVAL);
	EXPECT_EQ(cl_call_fds(cl, VFU_SET_IRQS, set, 20, fds, 17), EINVAL);
	EXPECT_EQ(cl_call_fds(cl, VFU_SET_IRQS, set, 20, fds, 253), EINVAL);
	EXPECT_EQ(cl_call_fds(cl, 99, NULL, 0, fds, 5), EOPNOTSUPP);
	EXPECT_EQ(server_fds(), before);
	/*
	 * A message comes incomplete, with descriptors; then the client
	 * disconnects.
	 */
	cl_bytes(cl, info, 8, fds, 9);
	cl_close(cl);
	cl = cl_attach(1);
	EXPECT_EQ(server_fds(), before);
	for (i = 0; i < NUM(fds); i++)
		close(fds[i]);
	cl_close(cl);
}

/*
 * A client that has not negotiated less may transfer 1 MiB at once.  The
 * regions are smaller, so no transfer is that large.  Registers answer wide accesses
 * by ones, and ignore them.
 */
static void large(void)
{
	static u8 all[1 << 20];
	struct cl *cl = cl_attach(2);
	u32 bar = 32 * 4096;
	struct vfu_hdr hdr = { .command = VFU_REGION_WRITE,
		.size = sizeof(hdr) + sizeof(struct vfu_region) + (1 << 20) + 1 };

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	EXPECT_EQ(cl_region_read(cl, 0, 0, all, bar), 0);
	EXPECT_EQ(all[0], 0xff);
	EXPECT_EQ(all[bar - 1], 0xff);
	memset(all, 0, bar);
	EXPECT_EQ(cl_region_write(cl, 0, 0, all, bar), 0);
	EXPECT_EQ(cl_region_write(cl, 2, 0, all, 8192), 0);
	EXPECT_EQ(cl_region_read(cl, 2, 0, all, 8192), 0);
	/* An access beyond the region is an error, but the connection stays open. */
	EXPECT_EQ(cl_region_read(cl, 0, 0, all, 1 << 20), EINVAL);
	EXPECT_EQ(cl_region_write(cl, 0, 0, all, 1 << 20), EINVAL);
	EXPECT_EQ(cl_region_read(cl, 0, 0, all, (1 << 20) + 1), EINVAL);
	EXPECT_EQ(cl_get(cl, CONFIG, 0, 4), 0x10f01af4);
	cl_bytes(cl, &hdr, sizeof(hdr), NULL, 0);
	EXPECT_EQ(cl_recv(cl), CLOSED);
	cl_close(cl);
}

/*
 * Stops the server, and waits until all its threads have stopped: what is sent from
 * now on stays in its sockets until SIGCONT.
 */
static void server_halt(pid_t server)
{
	char path[300], line[512];
	struct dirent *e;
	bool runs = true;

	EXPECT(!kill(server, SIGSTOP));
	while (runs) {
		DIR *tasks;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)server);
		tasks = opendir(path);
		EXPECT(tasks);
		runs = false;
		while ((e = readdir(tasks))) {
			FILE *f;

			snprintf(path, sizeof(path), "/proc/%d/task/%s/stat",
				 (int)server, e->d_name);
			f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
			if (!f)
				continue;
			/* The state follows the name in parentheses. */
			if (fgets(line, sizeof(line), f) && strrchr(line, ')'))
				runs |= !strchr("Tt", strrchr(line, ')')[2]);
			fclose(f);
		}
		closedir(tasks);
		usleep(1000);
	}
}

/*
 * Return: a socket whose last close(2) takes an hour; @other is its other end.
 */
static int lingering(int *other)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct linger hour = { 1, 3600 };
	socklen_t len = sizeof(at);
	char bytes[4096] = { 0 };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	EXPECT(!bind(listener, (struct sockaddr *)&at, len));
	EXPECT(!listen(listener, 1));
	EXPECT(!getsockname(listener, (struct sockaddr *)&at, &len));
	EXPECT(!connect(fd, (struct sockaddr *)&at, len));
	*other = accept(listener, NULL, NULL);
	EXPECT(*other >= 0);
	close(listener);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	EXPECT(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &hour, sizeof(hour)));
	return fd;
}

/*
 * The next client gets the card while descriptors of the previous one are still
 * being closed.
 */
static void slow_descriptors(void)
{
	struct vfu_region at = { .region = 0, .count = 32 * 4096 };
	struct cl *cl = cl_attach(1);
	int fds[4], other[4];
	struct pollfd p = { .fd = cl->fd, .events = POLLIN };
	u32 i;

	for (i = 0; i < NUM(fds); i++)
		fds[i] = lingering(&other[i]);
	/* The server receives the first descriptor with a message. */
	cl_send(cl, VFU_DEVICE_RESET, 0, NULL, 0, fds, 1);
	close(fds[0]);
	EXPECT_EQ(poll(&p, 1, 20000), 1);
	EXPECT_EQ(cl_recv(cl), EINVAL);
	/*
	 * The server leaves these messages in the queue, since the client takes no
	 * replies.
	 */
	for (i = 0; i < 16; i++)
		cl_send(cl, VFU_REGION_READ, 0, &at, sizeof(at), NULL, 0);
	cl_bytes(cl, "", 1, fds + 1, 3);
	for (i = 1; i < NUM(fds); i++)
		close(fds[i]);
	EXPECT_EQ(poll(&p, 1, 20000), 1);
	cl_close(cl);
	for (i = 0; i < 200; i++) {
		int ret;

		cl = cl_open(1);
		p.fd = cl->fd;
		cl_send(cl, VFU_VERSION, 0, "\0\0\0", 4, NULL, 0);
		EXPECT_EQ(poll(&p, 1, 20000), 1);
		ret = cl_recv(cl);
		cl_close(cl);
		if (!ret)
			break;
		usleep(100000);
	}
	EXPECT(i < 200);
	for (i = 0; i < NUM(other); i++)
		close(other[i]);
}

/*
 * The server has room for 16 descriptors of a message.  The kernel closes another
 * one, which takes long, while the server receives the message.
 */
static void slow_excess(void)
{
	struct cl *cl = cl_attach(2);
	struct pollfd p = { .fd = cl->fd, .events = POLLIN };
	pid_t server = atoi(getenv("VFIO_PID"));
	int fds[17], other;
	u32 i;

	for (i = 0; i < 16; i++)
		fds[i] = eventfd_new();
	fds[16] = lingering(&other);
	/* The server has to close the last reference, not this process. */
	server_halt(server);
	cl_send(cl, VFU_DEVICE_RESET, 0, NULL, 0, fds, 17);
	for (i = 0; i < NUM(fds); i++)
		close(fds[i]);
	EXPECT(!kill(server, SIGCONT));
	EXPECT_EQ(poll(&p, 1, 20000), 1);
	EXPECT_EQ(cl_recv(cl), EINVAL);
	cl_close(cl);
	close(other);
}

/*
 * Connections that the server refuses have descriptors that are slow to close.
 * The card's client does not notice.
 */
static void slow_refusal(void)
{
	struct cl *cl = cl_attach(2);
	struct pollfd p = { .fd = cl->fd, .events = POLLIN };
	pid_t server = atoi(getenv("VFIO_PID"));
	struct cl *two;
	int fd, other;
	u32 i;

	for (i = 0; i < 2; i++) {
		fd = lingering(&other);
		/* The message arrives before the connection is refused. */
		server_halt(server);
		two = cl_open(2);
		cl_bytes(two, "", 1, &fd, 1);
		close(fd);
		EXPECT(!kill(server, SIGCONT));
		EXPECT_EQ(cl_recv(two), CLOSED);
		cl_close(two);
		cl_send(cl, VFU_DEVICE_RESET, 0, NULL, 0, NULL, 0);
		EXPECT_EQ(poll(&p, 1, 20000), 1);
		EXPECT_EQ(cl_recv(cl), 0);
		close(other);
	}
	EXPECT_EQ(cl_call(cl, VFU_DEVICE_RESET, NULL, 0), 0);
	cl_close(cl);
}

/* A client that takes no replies blocks only itself. */
static void deaf(void)
{
	struct cl *cl = cl_attach(1);
	struct cl *other = cl_attach(2);
	struct pollfd p = { .fd = cl->fd, .events = POLLOUT };
	struct vfu_region at = { .region = CONFIG, .count = 4096 };
	u32 sent = 0, i;

	EXPECT(!fcntl(cl->fd, F_SETFL, O_NONBLOCK));
	while (sent < 100000 && poll(&p, 1, 200) == 1) {
		cl_send(cl, VFU_REGION_READ, 0, &at, sizeof(at), NULL, 0);
		sent++;
	}
	EXPECT(sent > 1 && sent < 100000);
	for (i = 0; i < 100; i++)
		EXPECT_EQ(cl_get(other, CONFIG, 0, 4), 0x10f01af4);
	cl_close(other);
	EXPECT(!fcntl(cl->fd, F_SETFL, 0));
	for (i = 0; i < sent; i++) {
		EXPECT_EQ(cl_recv(cl), 0);
		EXPECT_EQ(cl->len, 16 + 4096);
	}
	cl_close(cl);
}

static void second(void)
{
	struct cl *cl = cl_attach(3);
	struct cl *two = cl_open(3);

	EXPECT_EQ(cl_version(two, 0, 0, NULL), CLOSED);
	EXPECT(said("node 3: in use: refused a second client"));
	EXPECT_EQ(cl_get(cl, CONFIG, 0, 4), 0x10f01af4);
	cl_close(two);
	cl_close(cl);
}

/* Messages about a client do not fill the log, even after earlier cases. */
static void rate(void)
{
	char line[512];
	u32 n = 0, i;
	FILE *file;

	for (i = 0; i < 100; i++) {
		struct cl *cl = cl_attach(0);
		u32 hdr[4] = { 0 };

		cl_bytes(cl, hdr, sizeof(hdr), NULL, 0);
		EXPECT_EQ(cl_recv(cl), CLOSED);
		cl_close(cl);
	}
	file = fopen(getenv("VFIO_LOG"), "r");
	EXPECT(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, "node 0: ") != NULL;
	fclose(file);
	EXPECT(n >= 1 && n <= 90);
}

const struct test_case proto_cases[] = {
	{ "proto: device, regions, interrupts", infos },
	{ "proto: no such region or interrupt", infos_bad },
	{ "proto: unknown commands", unknown },
	{ "proto: bodies of every length", lengths },
	{ "proto: messages of impossible size", sizes },
	{ "proto: a whole region in one message", large },
	{ "proto: messages in pieces", pieces },
	{ "proto: no reply wanted", no_reply },
	{ "proto: several writes in one", multi },
	{ "proto: unexpected descriptors", descriptors },
	{ "proto: descriptors that are slow to close", slow_descriptors },
	{ "proto: one descriptor too many, slow to close", slow_excess },
	{ "proto: refused connections that are slow to close", slow_refusal },
	{ "proto: a client that takes no replies", deaf },
	{ "proto: a second client", second },
	{ "proto: the log does not overflow", rate },
	{ NULL, NULL },
};
