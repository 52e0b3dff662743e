// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Jobs of angara-run: exchanges over the socket inherited from it, see job.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "job.h"

/*
 * Copies the inherited descriptor, since run_close() closes the copy only: the process can open the
 * job again.  Copy and original are closed on exec, so programs that the process starts do not keep
 * the job's connection open.
 */
static int job_socket(u32 inherited)
{
	int type;
	socklen_t len = sizeof(type);
	int fd;

	if (getsockopt((int)inherited, SOL_SOCKET, SO_TYPE, &type, &len) ||
	    type != SOCK_STREAM)
		return -EINVAL;
	fcntl((int)inherited, F_SETFD, FD_CLOEXEC);
	fd = fcntl((int)inherited, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static int run_open(struct angara_job *job)
{
	int no_rank = ang_env_number(ANG_ENV_RANK, ANG_JOB_MAX_SIZE - 1, &job->rank);
	int no_size = ang_env_number(ANG_ENV_SIZE, ANG_JOB_MAX_SIZE, &job->size);
	u32 fd;

	if (no_rank == -ENOENT && no_size == -ENOENT)
		return -ENOENT;
	if (no_rank || no_size || job->rank >= job->size ||
	    ang_env_number(ANG_ENV_FD, 0x7FFFFFFF, &fd))
		return -EINVAL;
	job->fd = job_socket(fd);
	return job->fd < 0 ? job->fd : 0;
}

static void run_close(struct angara_job *job)
{
	close(job->fd);
}

static void iov_advance(struct iovec **iov, int *n, size_t done)
{
	while (*n && done >= (*iov)->iov_len) {
		done -= (*iov)->iov_len;
		++*iov;
		--*n;
	}
	if (*n) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + done;
		(*iov)->iov_len -= done;
	}
}

static int send_all(int fd, struct iovec *iov, int n)
{
	iov_advance(&iov, &n, 0);
	while (n) {
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)n };
		ssize_t done = sendmsg(fd, &msg, MSG_NOSIGNAL);

		if (done < 0 && errno != EINTR)
			return -EPIPE;
		if (done > 0)
			iov_advance(&iov, &n, (size_t)done);
	}
	return 0;
}

static int recv_all(int fd, void *buf, size_t len)
{
	char *to = buf;

	while (len) {
		ssize_t done = recv(fd, to, len, 0);

		if (done == 0 || (done < 0 && errno != EINTR))
			return -EPIPE;
		if (done > 0) {
			to += done;
			len -= (size_t)done;
		}
	}
	return 0;
}

static int run_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			u64 tag, const void *mine, size_t len, void *all)
{
	struct ang_job_request req = {
		.magic = ANG_JOB_MAGIC,
		.nranks = ranks ? nranks : 0,
		.len = (u32)len,
		.tag = tag,
	};
	struct iovec iov[] = {
		{ .iov_base = &req, .iov_len = sizeof(req) },
		{ .iov_base = (void *)(uintptr_t)ranks,
		  .iov_len = req.nranks * sizeof(*ranks) },
		{ .iov_base = (void *)(uintptr_t)mine, .iov_len = len },
	};
	u64 want = (u64)len * (ranks ? nranks : job->size);
	struct ang_job_reply rep = { 0 };
	int ret;

	ret = send_all(job->fd, iov, 3);
	if (!ret)
		ret = recv_all(job->fd, &rep, sizeof(rep));
	if (!ret && (rep.magic != ANG_JOB_MAGIC || rep.status > 0 ||
		     rep.len != (rep.status ? 0 : want)))
		ret = -EPIPE;
	if (!ret && !rep.status)
		ret = recv_all(job->fd, all, want);
	/*
	 * The position in the stream is unknown after an error, so all users of
	 * the connection must stop.
	 */
	if (ret)
		shutdown(job->fd, SHUT_RDWR);
	return ret ? ret : rep.status;
}

const struct ang_job_ops ang_job_run = {
	.open = run_open,
	.exchange = run_exchange,
	.close = run_close,
};
