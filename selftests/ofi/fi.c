// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the libfabric provider, call by call.  Reports in TAP.
 *
 * 	fi-test [PART]
 * 	fi-test cost OPERATION COUNT	does OPERATION COUNT times
 * 	fi-test sep RANK FD		is one of two processes
 */
#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sep.h"

bool expect_at(const char *file, int line, const char *what, long long got,
	       long long want)
{
	if (got == want)
		return true;
	printf("# %s:%d: %s: %lld, not %lld\n", file, line, what, got, want);
	return false;
}

static unsigned char at(size_t i, unsigned int seed)
{
	return (unsigned char)((i * 131 + i / 256) ^ (seed * 29 + 7));
}

void fill(void *to, size_t len, unsigned int seed)
{
	unsigned char *p = to;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = at(i, seed);
}

bool filled(const void *from, size_t len, unsigned int seed)
{
	const unsigned char *p = from;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != at(i, seed)) {
			printf("# byte %zu of %zu is not that of %u\n", i, len,
			       seed);
			return false;
		}
	return true;
}

static void must(const char *what, int ret)
{
	if (!ret)
		return;
	printf("Bail out! %s: %s\n", what, fi_strerror(-ret));
	exit(1);
}

struct fi_info *hints_of(const struct how *how, const char *domain)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = how->caps;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = how->mr_mode;
	hints->domain_attr->data_progress = how->progress;
	hints->domain_attr->threading = how->threading;
	hints->tx_attr->msg_order = how->order;
	hints->domain_attr->name = domain ? strdup(domain) : NULL;
	hints->fabric_attr->prov_name = strdup("angara");
	return hints;
}

void open_side(struct side *s, const struct how *how, const char *domain)
{
	struct fi_cq_attr cq = {
		.size = how->cq_size,
		.format = FI_CQ_FORMAT_TAGGED,
		.wait_obj = how->wait,
	};
	struct fi_cntr_attr cntr = { .wait_obj = how->wait };
	struct fi_av_attr av = { .type = FI_AV_UNSPEC };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *hints = hints_of(how, domain);
	uint64_t flags = FI_TRANSMIT | FI_RECV;

	if (how->selective)
		flags |= FI_SELECTIVE_COMPLETION;
	must("fi_getinfo", fi_getinfo(how->version ? how->version : API, NULL,
				      NULL, 0, hints, &s->info));
	fi_freeinfo(hints);
	/*
	 * The provider does not require FI_MR_PROV_KEY; a program may still
	 * choose it.
	 */
	s->info->domain_attr->mr_mode |= how->mr_mode & FI_MR_PROV_KEY;
	must("fi_fabric", fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	must("fi_domain", fi_domain(s->fabric, s->info, &s->domain, NULL));
	must("fi_av_open", fi_av_open(s->domain, &av, &s->av, NULL));
	must("fi_cq_open", fi_cq_open(s->domain, &cq, &s->cq, NULL));
	must("fi_cntr_open", fi_cntr_open(s->domain, &cntr, &s->cntr, NULL));
	must("fi_endpoint", fi_endpoint(s->domain, s->info, &s->ep, NULL));
	must("fi_ep_bind, address vector", fi_ep_bind(s->ep, &s->av->fid, 0));
	must("fi_ep_bind, completion queue", fi_ep_bind(s->ep, &s->cq->fid, flags));
	must("fi_ep_bind, counter", fi_ep_bind(s->ep, &s->cntr->fid,
				     FI_SEND | FI_READ | FI_WRITE));
	s->eq = NULL;
	if (how->caps & FI_COLLECTIVE) {
		must("fi_eq_open", fi_eq_open(s->fabric, &eq, &s->eq, NULL));
		must("fi_ep_bind, event queue", fi_ep_bind(s->ep, &s->eq->fid, 0));
	}
	must("fi_enable", fi_enable(s->ep));
}

bool closed(struct fid *fid)
{
	return expect(fi_close(fid), 0);
}

void close_side(struct side *s)
{
	must("close ep", fi_close(&s->ep->fid));
	if (s->eq)
		must("close eq", fi_close(&s->eq->fid));
	must("close cntr", fi_close(&s->cntr->fid));
	must("close cq", fi_close(&s->cq->fid));
	must("close av", fi_close(&s->av->fid));
	must("close domain", fi_close(&s->domain->fid));
	must("close fabric", fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

struct ep_name name_of(struct fid_ep *ep)
{
	struct ep_name name;
	size_t len = sizeof(name);

	must("fi_getname", fi_getname(&ep->fid, &name, &len));
	return name;
}

fi_addr_t insert(struct fid_av *av, const struct ep_name *name)
{
	fi_addr_t addr;

	must("fi_av_insert", fi_av_insert(av, name, 1, &addr, 0, NULL) != 1);
	return addr;
}

void introduce(struct side *to, struct side *who, fi_addr_t *addr)
{
	const struct ep_name name = name_of(who->ep);

	*addr = insert(to->av, &name);
}

void open_pair(struct side s[2], const struct how *how)
{
	int i;

	open_side(&s[0], how, "angara0");
	open_side(&s[1], how, "angara3");
	for (i = 0; i < 2; i++) {
		introduce(&s[i], &s[!i], &s[i].peer);
		introduce(&s[i], &s[i], &s[i].self);
	}
}

void close_pair(struct side s[2])
{
	close_side(&s[0]);
	close_side(&s[1]);
}

void open_pair_mem(struct side s[2], const struct how *how, char *mem[2],
		   size_t len)
{
	int i;

	open_pair(s, how);
	for (i = 0; i < 2; i++) {
		mem[i] = calloc(1, len);
		must("allocate", !mem[i]);
	}
}

/* Frees the memory last: the adapter may use it until the endpoints are closed. */
void close_pair_mem(struct side s[2], char *mem[2])
{
	close_pair(s);
	free(mem[0]);
	free(mem[1]);
}

struct fid_mr *reg(struct side *s, void *addr, size_t len, uint64_t access,
		   uint64_t key)
{
	struct fid_mr *mr;

	must("fi_mr_reg", fi_mr_reg(s->domain, addr, len, access, 0, key, 0,
				    &mr, NULL));
	return mr;
}

uint64_t start_of(const struct side *s, const void *addr)
{
	return s->info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | OLD_BASIC) ?
		       (uintptr_t)addr : 0;
}

/* Polls for a completion until the time limit. */
static ssize_t look(struct side *s, struct fi_cq_tagged_entry *entry)
{
	ssize_t ret = -FI_EAGAIN;
	int ms;

	for (ms = 0; ret == -FI_EAGAIN && ms < LONG_MS; ms++) {
		int spins = 1000;

		while (ret == -FI_EAGAIN && spins--)
			ret = fi_cq_read(s->cq, entry, 1);
		if (ret == -FI_EAGAIN)
			poll(NULL, 0, 1);
	}
	return ret;
}

bool completion(struct side *s, struct fi_cq_tagged_entry *entry)
{
	ssize_t ret = look(s, entry);
	struct fi_cq_err_entry err = { 0 };

	if (ret == 1)
		return true;
	if (ret == -FI_EAVAIL && fi_cq_readerr(s->cq, &err, 0) == 1)
		printf("# error %s, %s\n", fi_strerror(err.err),
		       fi_cq_strerror(s->cq, err.prov_errno, NULL, NULL, 0));
	return expect(ret, 1);
}

bool error(struct side *s, int err, void *context)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry e = { 0 };

	return expect(look(s, &entry), -FI_EAVAIL) &&
	       expect(fi_cq_readerr(s->cq, &e, 0), 1) && expect(e.err, err) &&
	       expect(e.op_context == context, true);
}

bool nothing(struct side *s)
{
	struct fi_cq_tagged_entry entry;

	return expect(fi_cq_read(s->cq, &entry, 1), -FI_EAGAIN);
}

/* Reads the state and the blocked signals of a thread.  Return: 0; -1: it has ended. */
static int thread_status(const char *tid, char *state, uint64_t *blocked)
{
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	status = fopen(path, "re");
	if (!status)
		return -1;
	while (fgets(line, sizeof(line), status)) {
		sscanf(line, "State: %c", state);
		if (sscanf(line, "SigBlk: %" SCNx64, blocked) == 1)
			break;
	}
	fclose(status);
	return 0;
}

/*
 * Does a thread block all signals?  The C library blocks them while it starts a thread,
 * so only the mask of a thread that sleeps is known to be its own.
 */
static bool blocks_signals(const char *tid)
{
	/* All signals but SIGKILL, SIGSTOP and two of the C library. */
	const uint64_t none = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) |
			      3ULL << (32 - 1);
	uint64_t blocked = 0;
	char state = 0;
	int ms;

	for (ms = 0; state != 'S' && ms < LONG_MS; ms++) {
		if (thread_status(tid, &state, &blocked))
			return true;
		usleep(1000);
	}
	return expect(state, 'S') && expect((long long)(blocked | none), -1);
}

bool threads_take_no_signals(int least)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	bool ok = expect(tasks != NULL, true);
	int n = 0;

	while (ok && (task = readdir(tasks)))
		if (task->d_name[0] != '.' && atoi(task->d_name) != gettid()) {
			n++;
			ok = blocks_signals(task->d_name);
		}
	if (tasks)
		closedir(tasks);
	return ok && expect(n >= least, true);
}

static const struct part *const parts[] = {
	info_parts, nic_parts, table_parts, service_parts, rma_parts, key_parts,
	late_parts,
	queue_parts, msg_parts, load_parts, greedy_parts, cache_parts,
	atomic_parts, event_parts, lost_parts, order_parts, share_parts,
	trigger_parts, alias_parts, sep_parts, sepfail_parts, sepload_parts,
	many_parts, shared_parts,
	coll_parts, crowd_parts, colltype_parts, collset_parts, collfail_parts, gone_parts,
};

int main(int argc, char **argv)
{
	const struct part *part;
	int n = 0, failed = 0;
	size_t i;

	if (argc == 4 && !strcmp(argv[1], "cost"))
		return cost(argv[2], atoi(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "sep"))
		return sep_process(atoi(argv[2]), atoi(argv[3]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *lacks = parts[i] == gone_parts ? gone_lacks() :
							     NULL;

		for (part = parts[i]; part->name; part++) {
			bool ok;

			if (argc > 1 && strcmp(argv[1], part->name))
				continue;
			if (lacks) {
				printf("ok %d - %s # SKIP %s\n", ++n,
				       part->name, lacks);
				continue;
			}
			ok = part->run();
			printf("%sok %d - %s\n", ok ? "" : "not ", ++n,
			       part->name);
			failed += !ok;
		}
	}
	printf("1..%d\n", n);
	return failed || !n;
}
