// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls without an open file: netlink, sysfs, debugfs; and calls that change
 * how the next ones run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "angtest.h"
#include "nl.h"
#include "state.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define LOOP		"/sys/bus/angara_loop/"

static long answer(long ret)
{
	return ret < 0 ? -errno : ret;
}

/* Return: bytes of an attribute in requests for an object; most have 4. */
static size_t attr_width(unsigned int object, unsigned int type)
{
	static const struct {
		uint8_t object, type, width;
	} widths[] = {
		{ KF_NL_PORT, ANGARA_A_PORT_ID, 1 },
		{ KF_NL_TREE, ANGARA_A_TREE_ID, 1 },
		{ KF_NL_TREE, ANGARA_A_TREE_IS_ROOT, 1 },
		{ KF_NL_TREE, ANGARA_A_TREE_TO_ROOT, 1 },
		{ KF_NL_TREE, ANGARA_A_TREE_PORTS, 8 },
		{ KF_NL_TREE, ANGARA_A_TREE_PE, 2 },
		{ KF_NL_TREE, ANGARA_A_TREE_EPOCH, 2 },
	};
	unsigned int i;

	if (type == AT_NL_FABRIC)
		return 8;
	for (i = 0; i < ARRAY_SIZE(widths); i++)
		if (widths[i].object == object && widths[i].type == type)
			return widths[i].width;
	return 4;
}

long kf_attr(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	uint64_t value = v[1];
	size_t len = v[2] ? v[2] % 64 : attr_width(v[3], v[0]);
	struct nlattr a = {
		.nla_type = v[0], .nla_len = NLA_HDRLEN + len,
	};

	(void)op;
	if (v[0] == AT_NL_FABRIC && !value)
		value = s->fabric;
	if (s->attrs_len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(s->attrs))
		return -ENOSPC;
	memset(s->attrs + s->attrs_len, 0, NLA_HDRLEN + NLA_ALIGN(len));
	memcpy(s->attrs + s->attrs_len, &a, sizeof(a));
	memcpy(s->attrs + s->attrs_len + NLA_HDRLEN, &value,
	       len < sizeof(value) ? len : sizeof(value));
	s->attrs_len += NLA_HDRLEN + NLA_ALIGN(len);
	return 0;
}

static int nl_socket(struct kf_state *s)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	int on = 1, slot = KF_FD_NETLINK + s->lane;
	int fd;

	if (fcntl(slot, F_GETFD) >= 0)
		return slot;
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    dup2(fd, slot) < 0)
		slot = -errno;
	close(fd);
	return slot;
}

/* Reads @count answers.  Return: error or length of the last one. */
static long nl_take(int fd, unsigned int count)
{
	char buf[32768] __attribute__((aligned(8)));
	struct nlmsghdr *n = (void *)buf;
	long ret = 0;

	while (count--) {
		ssize_t len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (len < (ssize_t)sizeof(*n))
			break;
		ret = len;
		if (n->nlmsg_type == NLMSG_ERROR)
			ret = ((struct nlmsgerr *)NLMSG_DATA(n))->error;
	}
	return ret;
}

/*
 * Sends a message.  Fields: "take" is the number of answers to read, 3 for all;
 * "cut" is the number of bytes that the message lacks.
 */
long kf_nl(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		char attrs[sizeof(s->attrs)];
	} m = {
		.n = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + s->attrs_len,
			.nlmsg_type = s->family,
			.nlmsg_flags = NLM_F_REQUEST | v[1],
		},
		.g = {
			.cmd = v[0],
			.version = v[2] ? v[2] : ANGARA_GENL_VERSION,
		},
	};
	int fd = nl_socket(s);
	size_t len = m.n.nlmsg_len;
	long ret;

	(void)op;
	if (fd < 0)
		return fd;
	memcpy(m.attrs, s->attrs, s->attrs_len);
	s->attrs_len = 0;
	m.n.nlmsg_len -= v[4];
	ret = send(fd, &m, len, MSG_DONTWAIT);
	if (ret < 0)
		return -errno;
	return nl_take(fd, v[3] >= 3 ? 64 : v[3]);
}

/* Generic netlink has few groups, and angara's is one of the first. */
long kf_nl_join(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	int how = v[0] ? NETLINK_DROP_MEMBERSHIP : NETLINK_ADD_MEMBERSHIP;
	int group, fd = nl_socket(s);

	(void)op;
	if (fd < 0)
		return fd;
	for (group = 1; group < 24; group++)
		setsockopt(fd, SOL_NETLINK, how, &group, sizeof(group));
	return 0;
}

long kf_fabric_new(struct kf_state *s, const struct kf_op *op,
		   const uint64_t *v)
{
	static const char *const dims[] = {
		"2", "1", "2x2", "1x1x1x2", "3", " 2\n", "", "0", "2x", "x2",
		"1x1x1x1x2", "99999999999",
	};

	(void)s;
	(void)op;
	return at_write_file(LOOP "new_fabric", dims[v[0] % ARRAY_SIZE(dims)]);
}

/* The first fabric is slow to make again, so it is the last of the 16. */
long kf_fabric_del(struct kf_state *s, const struct kf_op *op,
		   const uint64_t *v)
{
	uint64_t num = v[0] < 16 ? (v[0] + 1) % 16 : v[0];
	char text[24];

	(void)s;
	(void)op;
	snprintf(text, sizeof(text), "%" PRIu64, num);
	return at_loop_del(text);
}

long kf_contexts(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	char text[24];

	(void)s;
	(void)op;
	snprintf(text, sizeof(text), "%" PRIu64, v[0]);
	return at_write_file("/sys/module/angara_loop/parameters/contexts", text);
}

long kf_debugfs(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	static const char *const files[] = {
		"registers", "contexts", "trees", "counters",
	};
	char path[80], buf[KF_PAGE];
	ssize_t len;
	int fd;

	(void)s;
	(void)op;
	snprintf(path, sizeof(path), "/sys/kernel/debug/angara/angara%u/%s",
		 (unsigned int)v[0] % 256, files[v[1] % ARRAY_SIZE(files)]);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	len = answer(read(fd, buf, v[2] % sizeof(buf) + 1));
	close(fd);
	return len;
}

long kf_trace(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	(void)s;
	(void)op;
	return at_write_file("/sys/kernel/tracing/events/angara/enable",
			     v[0] ? "1" : "0");
}

/* Changes the calling thread only, unlike the function of the C library. */
long kf_as(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	static const unsigned int who[] = { 0, AT_NOBODY, 1000, 0x80000001, 0 };

	(void)s;
	(void)op;
	return answer(syscall(SYS_setresuid, -1,
			      who[v[0] % ARRAY_SIZE(who)], -1));
}

long kf_wait(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	(void)s;
	(void)op;
	return answer(usleep(v[0] % 2000));
}

long kf_fail(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	(void)op;
	s->fail = v[0] % 1000 + 1;
	return 0;
}

static void run_child(struct kf_state *s, unsigned int end)
{
	long answers[KF_CALLS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	s->lane += KF_THREADS;
	s->fail_fd = -1;
	s->at++;
	kf_cover_start(s->lane);
	kf_run_calls(s, end, answers);
	_exit(0);
}

long kf_child(struct kf_state *s, const struct kf_op *op, const uint64_t *v)
{
	unsigned int end = s->at + 1 + v[0] % KF_CALLS;
	int status;
	pid_t pid;

	(void)op;
	if (s->lane >= KF_THREADS)
		return -EAGAIN;
	if (end > s->p->calls)
		end = s->p->calls;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		run_child(s, end);
	s->at = end - 1;
	if (v[1]) {
		usleep(v[2] % 5000);
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}
