// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters on PCI Express, and pairs of contexts on them.
 */
#include <endian.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "cards.h"

#define GONE	(POLLHUP | POLLERR)

static int link_of(const char *path, char target[256])
{
	ssize_t len = readlink(path, target, 255);

	if (len < 0)
		return -errno;
	target[len] = 0;
	return 0;
}

int at_card_bdf(unsigned int dev, char bdf[AT_BDF])
{
	char path[64], target[256];
	int ret;

	snprintf(path, sizeof(path), "/sys/class/angara/angara%u/device", dev);
	ret = link_of(path, target);
	if (!ret)
		snprintf(bdf, AT_BDF, "%s", strrchr(target, '/') + 1);
	return ret;
}

int at_card_port(const char *bdf, char port[AT_BDF])
{
	char path[64], target[256];
	int ret;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", bdf);
	ret = link_of(path, target);
	if (ret)
		return ret;
	*strrchr(target, '/') = 0;
	snprintf(port, AT_BDF, "%s", strrchr(target, '/') + 1);
	return 0;
}

int at_card_poke(const char *bdf, const char *file, const char *text)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", bdf, file);
	ret = at_write_file(path, text);
	return ret < 0 ? ret : 0;
}

int at_card_reset(const char *bdf)
{
	return at_card_poke(bdf, "reset", "1");
}

void at_card_ring(struct at_ctx *x)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*x->db = htole32(x->pi);
}

int at_card_map(struct at_ctx *x, size_t len, int flags, uint64_t off)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, x->fd,
		       x->c.db_offset + off);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, len);
	return 0;
}

const char *at_card_stale(struct at_ctx *x)
{
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	char *mem = at_pages(AT_PAGE);
	struct angara_query q;
	int key = at_mr(x, mem, AT_PAGE, ANGARA_ACCESS_ALL);

	munmap(mem, AT_PAGE);
	if (key != -ESTALE)
		return "registers memory";
	if (at_query(x->dom, &q) != -ESTALE)
		return "answers queries";
	if (at_kick(x) != -ESTALE)
		return "takes kicks";
	if (at_card_map(x, AT_PAGE, MAP_SHARED, 0) != -ESTALE)
		return "maps a doorbell";
	if (poll(&p, 1, 0) != 1 || (p.revents & GONE) != GONE)
		return "does not report it by poll(2)";
	/* The doorbell has no effect, and the queues are still readable. */
	at_card_ring(x);
	at_card_ring(x);
	x->ctl->sq_pi = x->sq[0].opcode;
	(void)at_counter(x, ANGARA_CTR_SQ_CI);
	return NULL;
}

int at_pair_open(const struct at_fabric *f, struct at_ctx x[2], char *mem)
{
	int ret;

	memset(x, 0, 2 * sizeof(*x));
	ret = at_ctx_open(&x[0], f->dev[0], NULL);
	if (!ret)
		ret = at_ctx_open(&x[1], f->dev[1], NULL);
	if (!ret)
		ret = at_mr(&x[0], mem, AT_PAIR_LEN, ANGARA_ACCESS_ALL);
	if (!ret)
		ret = at_mr(&x[1], mem, AT_PAIR_LEN, ANGARA_ACCESS_ALL);
	return ret;
}

void at_pair_close(struct at_ctx x[2])
{
	at_ctx_close(&x[0]);
	at_ctx_close(&x[1]);
}

int at_pair_move(struct at_ctx x[2], char *mem, unsigned int seed)
{
	struct angara_wqe put = at_put(&x[1], 0, AT_PAIR_HALF, 0, 0,
				       AT_PAIR_HALF);
	struct angara_cqe cqe;
	int ret;

	at_fill(mem, AT_PAIR_HALF, seed);
	ret = at_post(&x[0], &put, NULL);
	if (ret)
		return ret;
	at_card_ring(&x[0]);
	ret = at_wait_cqe(&x[0], &cqe, AT_DEADLINE_MS);
	if (ret)
		return ret;
	ret = le16toh(cqe.status);
	return ret || at_filled(mem + AT_PAIR_HALF, AT_PAIR_HALF, seed) ?
	       ret : -EBADMSG;
}
