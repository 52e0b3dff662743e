// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lists the links of this machine's adapters that are down.  The driver shows links to all users by
 * its family of generic netlink.
 *
 * Only messages from the kernel are answers: those of other senders are dropped.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/angara_nl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "links.h"

#define NETLINK_BYTES	16384	/* the kernel starts dumps with at most 8 KiB per datagram */

/**
 * struct request - a request of generic netlink
 * @nlh: head
 * @genl: command
 * @attr: head of the only attribute
 * @value: its value
 */
struct request {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	struct nlattr attr;
	char value[GENL_NAMSIZ];
};

/**
 * struct answers - handles answers
 * @take: handles the attributes of a message.  Return: 0; -errno
 * @arg: argument of @take
 */
struct answers {
	int (*take)(void *arg, const char *attrs, size_t len);
	void *arg;
};

static void request_init(struct request *q, u16 family, u16 flags, u8 cmd, u16 attr,
			 const void *value, u16 len)
{
	*q = (struct request){
		.nlh = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | flags,
			 .nlmsg_len = (u32)offsetof(struct request, value) +
				      NLA_ALIGN(len) },
		.genl = { .cmd = cmd, .version = 1 },
		.attr = { .nla_type = attr, .nla_len = (u16)(NLA_HDRLEN + len) },
	};
	memcpy(q->value, value, len);
}

/*
 * Finds an attribute of at least @len bytes, and copies its first bytes.
 * Return: false: there is none.
 */
static bool attr_get(const char *attrs, size_t left, u16 type, void *value, size_t len)
{
	while (left >= NLA_HDRLEN) {
		struct nlattr a;
		size_t step;

		memcpy(&a, attrs, sizeof(a));
		if (a.nla_len < NLA_HDRLEN || a.nla_len > left)
			return false;
		if ((a.nla_type & NLA_TYPE_MASK) == type && a.nla_len >= NLA_HDRLEN + len) {
			memcpy(value, attrs + NLA_HDRLEN, len);
			return true;
		}
		step = NLA_ALIGN(a.nla_len);
		if (step >= left)
			return false;
		attrs += step;
		left -= step;
	}
	return false;
}

/*
 * Handles one message.  @over: out: the message is the last one.  Return: 0; an error that the
 * kernel reports; an error of @to->take.
 */
static int message_take(const struct answers *to, const struct nlmsghdr *nlh, bool *over)
{
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;
	s32 err = 0;

	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
		*over = true;
		if (nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(err)))
			memcpy(&err, NLMSG_DATA(nlh), sizeof(err));
		return err < 0 ? err : 0;
	}
	*over = !(nlh->nlmsg_flags & NLM_F_MULTI);
	if (nlh->nlmsg_len < head)
		return 0;
	return to->take(to->arg, (const char *)nlh + head, nlh->nlmsg_len - head);
}

/* Handles all messages of a datagram.  Return: as message_take(). */
static int datagram_take(const struct answers *to, const char *buf, size_t left, bool *over)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
	int ret = 0;

	while (!ret && !*over && NLMSG_OK(nlh, left)) {
		ret = message_take(to, nlh, over);
		nlh = NLMSG_NEXT(nlh, left);
	}
	return ret;
}

static int netlink_ask(int fd, const struct request *q, const struct answers *to)
{
	char buf[NETLINK_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK }, from;
	bool over = false;
	int ret = 0;

	if (sendto(fd, q, q->nlh.nlmsg_len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	while (!ret && !over) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), MSG_TRUNC,
				     (struct sockaddr *)&from, &len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		if ((size_t)n > sizeof(buf))
			return -EMSGSIZE;
		if (!from.nl_pid)
			ret = datagram_take(to, buf, (size_t)n, &over);
	}
	return ret;
}

static int family_take(void *arg, const char *attrs, size_t len)
{
	return attr_get(attrs, len, CTRL_ATTR_FAMILY_ID, arg, sizeof(u16)) ? 0 : -EIO;
}

static int port_take(void *arg, const char *attrs, size_t len)
{
	struct ang_end near, far;
	u8 down, port, far_port;

	if (!attr_get(attrs, len, ANGARA_A_PORT_DOWN, &down, sizeof(down)) || !down ||
	    !attr_get(attrs, len, ANGARA_A_PORT_ROUTER, &near.router, sizeof(u32)) ||
	    !attr_get(attrs, len, ANGARA_A_PORT_ID, &port, sizeof(port)) ||
	    !attr_get(attrs, len, ANGARA_A_PORT_NEIGHBOR, &far.router, sizeof(u32)) ||
	    !attr_get(attrs, len, ANGARA_A_PORT_NEIGHBOR_PORT, &far_port,
		      sizeof(far_port)))
		return 0;
	near.port = port;
	far.port = far_port;
	return ang_links_add(arg, near, far);
}

static int links_ask(int fd, u64 fabric_id, struct ang_links *links)
{
	u16 family = 0;
	const struct answers family_to = { family_take, &family };
	const struct answers ports_to = { port_take, links };
	struct request q;
	int ret;

	request_init(&q, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		     ANGARA_GENL_NAME, sizeof(ANGARA_GENL_NAME));
	ret = netlink_ask(fd, &q, &family_to);
	if (ret)
		return ret;
	request_init(&q, family, NLM_F_DUMP, ANGARA_CMD_PORT_GET, ANGARA_A_PORT_FABRIC,
		     &fabric_id, sizeof(fabric_id));
	return netlink_ask(fd, &q, &ports_to);
}

/**
 * ang_netlink_links() - list the links of this machine's adapters that are down
 * @fabric_id: fabric
 * @links: out: the links are added
 *
 * Return: 0; -ENOMEM; -ENOENT there is no driver, or this process is not in the initial network
 * namespace, where the driver's family is; other errors of netlink.
 */
int ang_netlink_links(u64 fabric_id, struct ang_links *links)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = links_ask(fd, fabric_id, links);
	close(fd);
	return ret;
}
