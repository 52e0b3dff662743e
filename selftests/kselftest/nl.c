// SPDX-License-Identifier: GPL-2.0-only
/*
 * A small client of the generic netlink family.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "angtest.h"
#include "nl.h"

struct msg {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attrs[512];
};

typedef void (*attr_fn)(void *arg, unsigned int type, const void *data,
			size_t len);

static int nl_socket(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -errno;
	}
	return fd;
}

static void msg_init(struct msg *m, unsigned int family, unsigned int cmd,
		     unsigned int flags)
{
	memset(m, 0, sizeof(*m));
	m->n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m->n.nlmsg_type = family;
	m->n.nlmsg_flags = NLM_F_REQUEST | flags;
	m->g.cmd = cmd;
	m->g.version = ANGARA_GENL_VERSION;
}

static void msg_put(struct msg *m, unsigned int type, const void *data,
		    size_t len)
{
	struct nlattr *a = (void *)((char *)m + NLMSG_ALIGN(m->n.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((char *)a + NLA_HDRLEN, data, len);
	m->n.nlmsg_len = NLMSG_ALIGN(m->n.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static void nested_each(const void *attrs, size_t len, attr_fn fn, void *arg)
{
	const struct nlattr *a;
	size_t off = 0;

	while (off + NLA_HDRLEN <= len) {
		a = (const void *)((const char *)attrs + off);
		if (a->nla_len < NLA_HDRLEN || off + a->nla_len > len)
			break;
		fn(arg, a->nla_type & NLA_TYPE_MASK,
		   (const char *)a + NLA_HDRLEN, a->nla_len - NLA_HDRLEN);
		off += NLA_ALIGN(a->nla_len);
	}
}

static void attrs_each(const struct nlmsghdr *n, attr_fn fn, void *arg)
{
	size_t head = NLMSG_LENGTH(GENL_HDRLEN);

	if (n->nlmsg_len >= head)
		nested_each((const char *)n + head, n->nlmsg_len - head, fn, arg);
}

/*
 * Sends @m and passes each answer to @fn until the acknowledgement or the end
 * of the dump.
 */
static int transact(int fd, struct msg *m,
		    void (*fn)(void *arg, const struct nlmsghdr *n), void *arg)
{
	char buf[32768] __attribute__((aligned(8)));
	struct nlmsghdr *n;
	ssize_t len;

	if (send(fd, m, m->n.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		len = recv(fd, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (n = (void *)buf; NLMSG_OK(n, (size_t)len);
		     n = NLMSG_NEXT(n, len)) {
			if (n->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(n))->error;
			if (n->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(n);
			fn(arg, n);
		}
	}
}

static void take_family(void *arg, unsigned int type, const void *data,
			size_t len)
{
	if (type == CTRL_ATTR_FAMILY_ID && len == sizeof(uint16_t))
		*(unsigned int *)arg = *(const uint16_t *)data;
}

static void family_answer(void *arg, const struct nlmsghdr *n)
{
	attrs_each(n, take_family, arg);
}

static int find_family(int fd)
{
	unsigned int family = 0;
	struct msg m;
	int ret;

	msg_init(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	msg_put(&m, CTRL_ATTR_FAMILY_NAME, ANGARA_GENL_NAME,
		sizeof(ANGARA_GENL_NAME));
	ret = transact(fd, &m, family_answer, &family);
	return ret ? ret : family ? (int)family : -ENOENT;
}

struct group {
	const char *name;
	char seen[GENL_NAMSIZ];	/* name of the current group */
	unsigned int id;
	unsigned int found;
};

/* Attributes of a group come in any order. */
static void take_group_attr(void *arg, unsigned int type, const void *data,
			    size_t len)
{
	struct group *group = arg;

	if (type == CTRL_ATTR_MCAST_GRP_ID && len == sizeof(uint32_t))
		memcpy(&group->id, data, sizeof(uint32_t));
	else if (type == CTRL_ATTR_MCAST_GRP_NAME && len <= sizeof(group->seen))
		memcpy(group->seen, data, len);
}

static void take_group(void *arg, unsigned int type, const void *data, size_t len)
{
	struct group *group = arg;

	(void)type;
	memset(group->seen, 0, sizeof(group->seen));
	nested_each(data, len, take_group_attr, arg);
	if (!strncmp(group->seen, group->name, sizeof(group->seen)))
		group->found = group->id;
}

static void take_groups(void *arg, unsigned int type, const void *data,
			size_t len)
{
	if (type == CTRL_ATTR_MCAST_GROUPS)
		nested_each(data, len, take_group, arg);
}

static void groups_answer(void *arg, const struct nlmsghdr *n)
{
	attrs_each(n, take_groups, arg);
}

static int find_group(int fd, const char *name)
{
	struct group group = { .name = name };
	struct msg m;
	int ret;

	msg_init(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	msg_put(&m, CTRL_ATTR_FAMILY_NAME, ANGARA_GENL_NAME,
		sizeof(ANGARA_GENL_NAME));
	ret = transact(fd, &m, groups_answer, &group);
	return ret ? ret : group.found ? (int)group.found : -ENOENT;
}

static void take_counter(void *arg, unsigned int type, const void *data,
			 size_t len)
{
	struct at_nl_obj *obj = arg;

	if (type < AT_NL_ATTRS && len == sizeof(obj->cnt[type]))
		memcpy(&obj->cnt[type], data, len);
}

/* Return: true if the attribute holds the counters of the object. */
static bool take_counters(struct at_nl_obj *obj, unsigned int type,
			  const void *data, size_t len)
{
	static const unsigned int counters[ANGARA_CMD_MAX + 1] = {
		[ANGARA_CMD_DEV_GET] = ANGARA_A_DEV_COUNTERS,
		[ANGARA_CMD_PORT_GET] = ANGARA_A_PORT_COUNTERS,
		[ANGARA_CMD_TREE_GET] = ANGARA_A_TREE_COUNTERS,
		[ANGARA_CMD_CTX_GET] = ANGARA_A_CTX_COUNTERS,
	};

	if (obj->cmd > ANGARA_CMD_MAX || counters[obj->cmd] != type)
		return false;
	nested_each(data, len, take_counter, obj);
	return true;
}

static void take_attr(void *arg, unsigned int type, const void *data,
		      size_t len)
{
	struct at_nl_obj *obj = arg;

	if (type >= AT_NL_ATTRS)
		return;
	obj->has[type] = 1;
	if (!take_counters(obj, type, data, len) &&
	    len <= sizeof(obj->val[type]))
		memcpy(&obj->val[type], data, len);
}

static void take_object(struct at_nl_obj *obj, const struct nlmsghdr *n)
{
	memset(obj, 0, sizeof(*obj));
	obj->cmd = ((const struct genlmsghdr *)NLMSG_DATA(n))->cmd;
	attrs_each(n, take_attr, obj);
}

struct sink {
	at_nl_fn fn;
	void *arg;
};

static void object_answer(void *arg, const struct nlmsghdr *n)
{
	struct sink *sink = arg;
	struct at_nl_obj obj;

	take_object(&obj, n);
	sink->fn(sink->arg, &obj);
}

/* Sends one request; @m has no family yet. */
static int request(struct msg *m, at_nl_fn fn, void *arg)
{
	struct sink sink = { .fn = fn, .arg = arg };
	int fd, ret;

	fd = nl_socket();
	if (fd < 0)
		return fd;
	ret = find_family(fd);
	if (ret > 0) {
		m->n.nlmsg_type = ret;
		ret = transact(fd, m, object_answer, &sink);
	}
	close(fd);
	return ret;
}

static void keep(void *arg, const struct at_nl_obj *obj)
{
	*(struct at_nl_obj *)arg = *obj;
}

int at_nl_dev(unsigned int dev, struct at_nl_obj *obj)
{
	uint32_t d = dev;
	struct msg m;

	memset(obj, 0, sizeof(*obj));
	msg_init(&m, 0, ANGARA_CMD_DEV_GET, NLM_F_ACK);
	msg_put(&m, ANGARA_A_DEV_ID, &d, sizeof(d));
	return request(&m, keep, obj);
}

int at_nl_tree(unsigned int dev, unsigned int tree, struct at_nl_obj *obj)
{
	uint32_t d = dev;
	uint8_t t = tree;
	struct msg m;

	memset(obj, 0, sizeof(*obj));
	msg_init(&m, 0, ANGARA_CMD_TREE_GET, NLM_F_ACK);
	msg_put(&m, AT_NL_DEV, &d, sizeof(d));
	msg_put(&m, AT_NL_ID, &t, sizeof(t));
	return request(&m, keep, obj);
}

int at_nl_ctx(unsigned int dev, unsigned int ctx, struct at_nl_obj *obj)
{
	uint32_t d = dev, c = ctx;
	struct msg m;

	memset(obj, 0, sizeof(*obj));
	msg_init(&m, 0, ANGARA_CMD_CTX_GET, NLM_F_ACK);
	msg_put(&m, ANGARA_A_CTX_DEV, &d, sizeof(d));
	msg_put(&m, ANGARA_A_CTX_ID, &c, sizeof(c));
	return request(&m, keep, obj);
}

int at_nl_tree_cmd(unsigned int cmd, unsigned int dev, unsigned int tree)
{
	struct at_nl_obj ignored;
	uint32_t d = dev;
	uint8_t t = tree;
	struct msg m;

	msg_init(&m, 0, cmd, NLM_F_ACK);
	msg_put(&m, AT_NL_DEV, &d, sizeof(d));
	msg_put(&m, AT_NL_ID, &t, sizeof(t));
	return request(&m, keep, &ignored);
}

int at_nl_dump(unsigned int cmd, at_nl_fn fn, void *arg)
{
	struct msg m;

	msg_init(&m, 0, cmd, NLM_F_DUMP);
	return request(&m, fn, arg);
}

int at_nl_family(void)
{
	int fd = nl_socket(), ret;

	if (fd < 0)
		return fd;
	ret = find_family(fd);
	close(fd);
	return ret;
}

static int ask(unsigned int cmd, unsigned int flags, const struct at_nl_attr *attrs,
	       unsigned int n, struct at_nl_obj *obj)
{
	struct msg m;

	msg_init(&m, 0, cmd, flags);
	for (; n; n--, attrs++)
		msg_put(&m, attrs->type, &attrs->val, attrs->size);
	return request(&m, keep, obj);
}

int at_nl_get(unsigned int cmd, const struct at_nl_attr *attrs, unsigned int n,
	      struct at_nl_obj *obj)
{
	memset(obj, 0, sizeof(*obj));
	return ask(cmd, NLM_F_ACK, attrs, n, obj);
}

int at_nl_ask(unsigned int cmd, bool dump, const struct at_nl_attr *attrs,
	      unsigned int n)
{
	struct at_nl_obj ignored;

	return ask(cmd, dump ? NLM_F_DUMP : NLM_F_ACK, attrs, n, &ignored);
}

int at_nl_listen(const char *name)
{
	int fd = nl_socket(), group, ret = 0;

	if (fd < 0)
		return fd;
	group = find_group(fd, name);
	if (group < 0)
		ret = group;
	else if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
			    sizeof(group)))
		ret = -errno;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int at_nl_hear(int fd, struct at_nl_obj *obj)
{
	char buf[8192] __attribute__((aligned(8)));
	ssize_t len = recv(fd, buf, sizeof(buf), 0);

	if (len < 0)
		return -errno;
	take_object(obj, (void *)buf);
	return 0;
}

static void sum_tree(void *arg, const struct at_nl_obj *obj)
{
	struct at_trees *trees = arg;

	trees->rows += obj->val[ANGARA_A_TREE_STATE] != ANGARA_TREE_STATE_UNSET;
	trees->delegated += obj->val[ANGARA_A_TREE_DELEGATED] != 0;
}

int at_trees(struct at_trees *trees)
{
	memset(trees, 0, sizeof(*trees));
	return at_nl_dump(ANGARA_CMD_TREE_GET, sum_tree, trees);
}

static void sum_dev(void *arg, const struct at_nl_obj *obj)
{
	struct at_usage *use = arg;

	use->contexts += obj->val[ANGARA_A_DEV_CONTEXTS_USED];
}

static void sum_ctx(void *arg, const struct at_nl_obj *obj)
{
	struct at_usage *use = arg;

	use->mrs += obj->val[ANGARA_A_CTX_MRS];
	use->pinned += obj->val[ANGARA_A_CTX_PINNED];
}

int at_usage(struct at_usage *use)
{
	int ret;

	memset(use, 0, sizeof(*use));
	ret = at_nl_dump(ANGARA_CMD_DEV_GET, sum_dev, use);
	return ret ? ret : at_nl_dump(ANGARA_CMD_CTX_GET, sum_ctx, use);
}

int at_usage_wait(const struct at_usage *want, unsigned int ms)
{
	uint64_t end = at_now_ms() + ms;
	struct at_usage use;
	int ret;

	for (;;) {
		ret = at_usage(&use);
		if (ret)
			return ret;
		if (use.contexts <= want->contexts && use.mrs <= want->mrs &&
		    use.pinned <= want->pinned)
			return 0;
		if (at_now_ms() >= end)
			return -ETIMEDOUT;
		usleep(5000);
	}
}
