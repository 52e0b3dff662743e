// SPDX-License-Identifier: GPL-2.0-only
/*
 * ofi-rate: latency and rate of libfabric operations over any provider, for
 * tools/bench/ofi.
 *
 *	ofi-rate [-d DOMAIN,DOMAIN] PROVIDER OPERATION WINDOW SAMPLES BATCH BYTES...
 *
 * The program runs two processes on this machine, each on a processor of its own
 * if there are two.  With -d, rank 0 has its endpoint in the first DOMAIN, rank 1
 * in the second.  Operations are
 *
 *	pingpong	tagged messages in turn; each message counts as an
 *			operation; WINDOW is 1
 *	message		WINDOW tagged messages to posted receives, and an empty
 *			message in return when all have been received
 *	write		WINDOW writes to memory of the peer, until all have been
 *			delivered, FI_DELIVERY_COMPLETE
 *
 * The output is the CSV of angara-bench.  After the samples of a size, one more
 * window is checked.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "bench.h"
#include "cpu.h"
#include "number.h"

#define WARMUP_MIN	4
#define MAX_BYTES	(1L << 26)
#define MAX_NAME	512
#define KEY		1	/* of memory, unless the provider chooses one */
#define TAG		7
#define ENTRIES		16U	/* completions read at once */

/**
 * struct hello - what a process sends to its peer first
 * @len: bytes of @name
 * @name: address
 * @addr: start of its memory, as peers use it
 * @key: key of its memory
 */
struct hello {
	size_t len;
	char name[MAX_NAME];
	uint64_t addr;
	uint64_t key;
};

/**
 * struct side - this process
 * @rank: 0 or 1
 * @sock: socket to the other process, for use outside of measurements
 * @info: what the provider offers
 * @fabric: objects of libfabric, up to @mr
 * @peer: address of the peer
 * @to: hello of the peer
 * @mem: source of @max bytes, then destination of the same size
 * @max: largest size
 * @bytes: size of the operation
 * @window: operations in flight at a time
 * @started: sends and writes of this process
 * @sent: how many of them have completed
 * @received: messages that have been received
 * @taken: how many of them @run and @serve have waited for
 */
struct side {
	int rank;
	int sock;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	fi_addr_t peer;
	struct hello to;
	unsigned char *mem;
	size_t max;
	size_t bytes;
	unsigned int window;
	uint64_t started;
	uint64_t sent;
	uint64_t received;
	uint64_t taken;
};

/**
 * struct ofi_op - an operation to measure
 * @name: name on the command line
 * @caps: FI_* that it needs
 * @flags: default flags of operations
 * @each: number of operations that one @run counts as
 * @run: carries out a window at rank 0
 * @serve: carries out a window at rank 1; NULL: rank 1 only polls
 * @post: rank 1 has posted receives of a window before it begins
 */
struct ofi_op {
	const char *name;
	uint64_t caps;
	uint64_t flags;
	unsigned int each;
	void (*run)(struct side *s);
	void (*serve)(struct side *s);
	bool post;
};

static void must(ssize_t ret, const char *what)
{
	if (ret < 0)
		errx(EXIT_FAILURE, "%s: %s", what, fi_strerror((int)-ret));
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void poll_cq(struct side *s)
{
	struct fi_cq_msg_entry entries[ENTRIES];
	struct fi_cq_err_entry error = { 0 };
	ssize_t n = fi_cq_read(s->cq, entries, ENTRIES), i;

	if (n == -FI_EAVAIL && fi_cq_readerr(s->cq, &error, 0) == 1)
		errx(EXIT_FAILURE, "completion: %s", fi_strerror(error.err));
	if (n == -FI_EAGAIN)
		return;
	must(n, "fi_cq_read");
	for (i = 0; i < n; i++)
		if (entries[i].flags & FI_RECV)
			s->received++;
		else
			s->sent++;
}

/* Polls until all sends and writes have completed. */
static void finish(struct side *s)
{
	while (s->sent < s->started)
		poll_cq(s);
}

/* Polls until @count more messages have been received. */
static void take(struct side *s, unsigned int count)
{
	s->taken += count;
	while (s->received < s->taken)
		poll_cq(s);
}

/* Repeats a call while the queue has no room; any other failure ends the program. */
#define POST(s, call)							\
	do {								\
		ssize_t ret_;						\
									\
		while ((ret_ = (call)) == -FI_EAGAIN)			\
			poll_cq(s);					\
		must(ret_, #call);					\
	} while (0)

static void *desc_of(const struct side *s)
{
	return fi_mr_desc(s->mr);
}

static void post_receives(struct side *s, unsigned int count)
{
	while (count--)
		POST(s, fi_trecv(s->ep, s->mem + s->max, s->bytes, desc_of(s),
				 s->peer, TAG, 0, NULL));
}

static void send_messages(struct side *s, size_t bytes, unsigned int count)
{
	s->started += count;
	while (count--)
		POST(s, fi_tsend(s->ep, s->mem, bytes, desc_of(s), s->peer, TAG,
				 NULL));
}

/* Posts the receive before the send, so before the peer can answer. */
static void run_pingpong(struct side *s)
{
	post_receives(s, 1);
	send_messages(s, s->bytes, 1);
	take(s, 1);
	finish(s);
}

static void serve_pingpong(struct side *s)
{
	take(s, 1);
	post_receives(s, 1);
	send_messages(s, s->bytes, 1);
	finish(s);
}

static void run_message(struct side *s)
{
	post_receives(s, 1);
	send_messages(s, s->bytes, s->window);
	take(s, 1);
	finish(s);
}

static void serve_message(struct side *s)
{
	take(s, s->window);
	post_receives(s, s->window);
	send_messages(s, 0, 1);
	finish(s);
}

static void run_write(struct side *s)
{
	unsigned int i;

	s->started += s->window;
	for (i = 0; i < s->window; i++)
		POST(s, fi_write(s->ep, s->mem, s->bytes, desc_of(s), s->peer,
				 s->to.addr + s->max, s->to.key, NULL));
	finish(s);
}

static const struct ofi_op ops[] = {
	{ "pingpong", FI_TAGGED, 0, 2, run_pingpong, serve_pingpong, true },
	{ "message", FI_TAGGED, 0, 1, run_message, serve_message, true },
	{ "write", FI_RMA, FI_DELIVERY_COMPLETE, 1, run_write, NULL, false },
};

#define NUM_OPS (sizeof(ops) / sizeof(ops[0]))

static void tell(struct side *s, const void *data, size_t len)
{
	if (send(s->sock, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		err(EXIT_FAILURE, "cannot send to the other process");
}

/*
 * Receives data from the other process by the socket.  Polls the queue meanwhile, since the
 * endpoint makes progress only then.
 */
static void hear(struct side *s, void *data, size_t len)
{
	ssize_t n;

	do {
		if (s->ep)
			poll_cq(s);
		n = recv(s->sock, data, len, s->ep ? MSG_DONTWAIT : 0);
	} while (n < 0 && errno == EAGAIN);
	if (n != (ssize_t)len)
		errx(EXIT_FAILURE, "the other process has ended");
}

static void meet(struct side *s)
{
	char c = 0;

	tell(s, &c, 1);
	hear(s, &c, 1);
}

static struct fi_info *find(const char *provider, const char *domain,
			    const struct ofi_op *op)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	int ret;

	if (!hints)
		errx(EXIT_FAILURE, "fi_allocinfo: no memory for the properties of an endpoint");
	hints->caps = op->caps;
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->op_flags = op->flags;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->name = domain ? strdup(domain) : NULL;
	hints->fabric_attr->prov_name = strdup(provider);
	ret = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
	must(ret, provider);
	fi_freeinfo(hints);
	return info;
}

static void exchange(struct side *s)
{
	struct hello mine = { .len = MAX_NAME, .key = fi_mr_key(s->mr) };

	if (s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		mine.addr = (uintptr_t)s->mem;
	must(fi_getname(&s->ep->fid, mine.name, &mine.len), "fi_getname");
	tell(s, &mine, sizeof(mine));
	hear(s, &s->to, sizeof(s->to));
	if (fi_av_insert(s->av, s->to.name, 1, &s->peer, 0, NULL) != 1)
		errx(EXIT_FAILURE, "fi_av_insert: the other process's address was not accepted");
}

static void open_side(struct side *s, const struct ofi_op *op)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_MSG };
	struct fi_av_attr av = { .type = FI_AV_MAP };

	if (posix_memalign((void **)&s->mem, 4096, 2 * s->max))
		errx(EXIT_FAILURE, "no memory for buffers");
	memset(s->mem, 0, 2 * s->max);
	must(fi_fabric(s->info->fabric_attr, &s->fabric, NULL), "fi_fabric");
	must(fi_domain(s->fabric, s->info, &s->domain, NULL), "fi_domain");
	must(fi_av_open(s->domain, &av, &s->av, NULL), "fi_av_open");
	cq.size = 2 * (size_t)s->window + ENTRIES;
	must(fi_cq_open(s->domain, &cq, &s->cq, NULL), "fi_cq_open");
	must(fi_mr_reg(s->domain, s->mem, 2 * s->max,
		       op->caps & FI_RMA ? FI_WRITE | FI_REMOTE_WRITE :
					   FI_SEND | FI_RECV,
		       0, KEY, 0, &s->mr, NULL), "fi_mr_reg");
	must(fi_endpoint(s->domain, s->info, &s->ep, NULL), "fi_endpoint");
	must(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
	must(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV),
	     "fi_ep_bind");
	must(fi_enable(s->ep), "fi_enable");
	exchange(s);
}

static void close_side(struct side *s)
{
	must(fi_close(&s->ep->fid), "fi_close");
	must(fi_close(&s->mr->fid), "fi_close");
	must(fi_close(&s->cq->fid), "fi_close");
	must(fi_close(&s->av->fid), "fi_close");
	must(fi_close(&s->domain->fid), "fi_close");
	must(fi_close(&s->fabric->fid), "fi_close");
	fi_freeinfo(s->info);
	free(s->mem);
}

static void windows(struct side *s, const struct ofi_op *op, unsigned int count)
{
	while (count--) {
		if (!s->rank)
			op->run(s);
		else if (op->serve)
			op->serve(s);
	}
}

static unsigned char element(int rank, size_t at)
{
	return (unsigned char)(at * 7 + at / 251 + (size_t)rank + 1);
}

/* Data goes from rank 0 to rank 1, and back in a pingpong. */
static void check(struct side *s, const struct ofi_op *op)
{
	size_t i;

	for (i = 0; i < s->bytes; i++)
		s->mem[i] = element(s->rank, i);
	memset(s->mem + s->max, 0, s->bytes);
	meet(s);
	windows(s, op, 1);
	meet(s);
	for (i = 0; i < s->bytes; i++)
		if ((s->rank || op->run == run_pingpong) &&
		    s->mem[s->max + i] != element(!s->rank, i))
			errx(EXIT_FAILURE, "wrong result: %s of %zu bytes, byte %zu",
			     op->name, s->bytes, i);
	meet(s);
}

static void report(const struct side *s, const struct ofi_op *op,
		   const struct bench_stamp *stamps, struct bench_row *row)
{
	uint64_t *room = calloc(row->iters, sizeof(*room));
	double ops_per_s;

	if (!room)
		err(EXIT_FAILURE, "samples");
	bench_stats(stamps, 1, BENCH_OWN, room, row);
	ops_per_s = row->median > 0 ? 1e9 * s->window / row->median : 0;
	printf("%s,%s,2,%zu,%u,%u,%u,%.3f,%.3f,%.3f,%.0f,%.1f,%.3f,%.3f\n",
	       op->name, s->window > 1 ? "bw" : "lat", row->bytes, s->window,
	       row->iters, row->batch, row->min / 1e3, row->median / 1e3,
	       row->p99 / 1e3, ops_per_s, ops_per_s * (double)row->bytes / 1e6,
	       row->avg / 1e3, row->max / 1e3);
	fflush(stdout);
	free(room);
}

static void measure(struct side *s, const struct ofi_op *op, unsigned int iters,
		    unsigned int batch)
{
	struct bench_row row = {
		.bytes = s->bytes,
		.iters = iters,
		.batch = batch * op->each,
	};
	unsigned int warmup = iters / 10 > WARMUP_MIN ? iters / 10 : WARMUP_MIN;
	struct bench_stamp *stamps = calloc(iters, sizeof(*stamps));
	unsigned int i;

	if (!stamps)
		err(EXIT_FAILURE, "samples");
	if (s->rank && op->post)
		post_receives(s, s->window);
	meet(s);
	windows(s, op, warmup);
	for (i = 0; i < iters; i++) {
		stamps[i].start = now_ns();
		windows(s, op, batch);
		stamps[i].end = now_ns();
	}
	meet(s);
	if (!s->rank)
		report(s, op, stamps, &row);
	check(s, op);
	free(stamps);
}

/*
 * The receives of the last size are still posted at rank 1: rank 0 sends an empty message to each
 * of them.
 */
static void take_last(struct side *s, const struct ofi_op *op)
{
	if (!op->post)
		return;
	if (s->rank)
		take(s, s->window);
	else
		send_messages(s, 0, s->window);
	finish(s);
	meet(s);
}

static const struct ofi_op *find_op(const char *name)
{
	size_t i;

	for (i = 0; i < NUM_OPS; i++)
		if (!strcmp(name, ops[i].name))
			return &ops[i];
	errx(EXIT_USAGE, "unknown operation '%s': there are pingpong, message, "
	     "write", name);
}

/* A child that fails ends its parent, which may wait for messages from it. */
static void on_child(int sig)
{
	int status;

	(void)sig;
	if (waitpid(-1, &status, WNOHANG) > 0 && status)
		_exit(EXIT_FAILURE);
}

/* Waits for the child, which may fail after its last message. */
static void await_child(const struct side *s)
{
	int status;

	if (!s->rank && wait(&status) > 0 && status)
		exit(EXIT_FAILURE);
}

/* Creates the second process.  Each process then starts libfabric for itself. */
static void split(struct side *s)
{
	int pair[2];
	pid_t parent = getpid(), child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		err(EXIT_FAILURE, "socketpair");
	signal(SIGCHLD, on_child);
	child = fork();
	if (child < 0)
		err(EXIT_FAILURE, "fork");
	s->rank = !child;
	s->sock = pair[s->rank];
	close(pair[!s->rank]);
	if (s->rank && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		exit(EXIT_FAILURE);
	if (cpu_bind(s->rank))
		err(EXIT_FAILURE, "cannot bind to a processor");
}

static void usage(void)
{
	errx(EXIT_USAGE, "usage: ofi-rate [-d DOMAIN,DOMAIN] PROVIDER OPERATION "
	     "WINDOW SAMPLES BATCH BYTES...");
}

/* Names of the domains of both ranks, or NULL. */
static void domains(char *text, char *names[2])
{
	names[0] = text;
	names[1] = text ? strchr(text, ',') : NULL;
	if (text && !names[1])
		usage();
	if (text)
		*names[1]++ = '\0';
}

int main(int argc, char **argv)
{
	struct side s = { 0 };
	const struct ofi_op *op;
	unsigned int iters, batch;
	char *names[2], *text = NULL;
	int i, o;

	while ((o = getopt(argc, argv, "d:")) != -1) {
		if (o != 'd')
			usage();
		text = optarg;
	}
	domains(text, names);
	argc -= optind;
	argv += optind;
	if (argc < 6)
		usage();
	op = find_op(argv[1]);
	s.window = (unsigned int)number("window", argv[2], 1,
					op->each > 1 ? 1 : BENCH_MAX_WINDOW);
	iters = (unsigned int)number("samples", argv[3], 1, BENCH_MAX_ITERS);
	batch = (unsigned int)number("batch", argv[4], 1, BENCH_MAX_BATCH);
	for (i = 5; i < argc; i++)
		if (number("bytes", argv[i], 1, MAX_BYTES) > (long)s.max)
			s.max = (size_t)atol(argv[i]);
	split(&s);
	s.info = find(argv[0], names[s.rank], op);
	open_side(&s, op);
	for (i = 5; i < argc; i++) {
		s.bytes = (size_t)atol(argv[i]);
		measure(&s, op, iters, batch);
		take_last(&s, op);
	}
	close_side(&s);
	await_child(&s);
	return 0;
}
