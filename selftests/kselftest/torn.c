// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library to preload: marks the first TORN netlink dumps that a program
 * receives as inconsistent.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <linux/netlink.h>

/* Marks the messages of a dump in @buf.  Return: does @buf have the end of the dump? */
static int tear(void *buf, size_t len)
{
	struct nlmsghdr *nlh = buf;
	int last = 0;

	for (; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
		if (!(nlh->nlmsg_flags & NLM_F_MULTI))
			continue;
		nlh->nlmsg_flags |= NLM_F_DUMP_INTR;
		last |= nlh->nlmsg_type == NLMSG_DONE;
	}
	return last;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	static ssize_t (*next)(int fd, struct msghdr *msg, int flags);
	static int left = -1;
	ssize_t len;

	if (!next) {
		const char *torn = getenv("TORN");

		next = (ssize_t (*)(int, struct msghdr *, int))
			dlsym(RTLD_NEXT, "recvmsg");
		left = torn ? atoi(torn) : 0;
	}
	len = next(fd, msg, flags);
	if (len > 0 && left && !(flags & MSG_PEEK) && msg->msg_iovlen == 1 &&
	    tear(msg->msg_iov->iov_base, (size_t)len))
		left--;
	return len;
}
