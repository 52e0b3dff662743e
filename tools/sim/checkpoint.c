// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checkpoints: all state of a simulation that changes, as it is between two windows.
 *
 * A restored run makes fabric, trees and parameters of the workload from its
 * command line.  So a checkpoint holds only arrays, and the command line of its
 * run for comparison.  There is one file per process; a checksum at its end
 * shows whether it is complete.
 */
#include <errno.h>
#include <unistd.h>
#include "sim.h"

#define MAGIC	"angara-sim checkpoint 6\n"

struct file {
	FILE *f;
	u64 sum;
	bool writing;
	bool bad;
};

/* FNV-1a over words: fast, and sufficient to detect accidental damage. */
static void add_up(struct file *c, const void *data, size_t len)
{
	const unsigned char *at = data;
	u64 word = 0;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		c->sum = (c->sum ^ word) * 0x100000001B3ULL;
	}
	for (; len; len--)
		c->sum = (c->sum ^ *at++) * 0x100000001B3ULL;
}

static void transfer(struct file *c, void *data, size_t len)
{
	if (c->bad || !len)
		return;
	if (c->writing)
		c->bad = fwrite(data, 1, len, c->f) != len;
	else
		c->bad = fread(data, 1, len, c->f) != len;
	add_up(c, data, len);
}

/* Writes a number; or reads a number, and checks that it is the same as in this run. */
static bool same(struct file *c, u64 val)
{
	u64 there = val;

	transfer(c, &there, sizeof(there));
	return !c->bad && there == val;
}

static void evs(struct file *c, struct sim_evs *v)
{
	u32 n = v->n;

	transfer(c, &n, sizeof(n));
	if (c->bad || (!c->writing && n > 1U << 30)) {
		c->bad = true;
		return;
	}
	if (n > v->size) {
		v->ev = realloc(v->ev, n * sizeof(*v->ev));
		if (!v->ev) {
			c->bad = true;
			return;
		}
		v->size = n;
	}
	v->n = n;
	transfer(c, v->ev, n * sizeof(*v->ev));
}

static void pool(struct file *c, void **pool, u32 *count, u32 *head, u32 *live,
		 size_t size)
{
	u32 n = *count;

	transfer(c, &n, sizeof(n));
	transfer(c, head, sizeof(*head));
	transfer(c, live, sizeof(*live));
	if (c->bad)
		return;
	if (n != *count) {
		free(*pool);
		*pool = calloc(n, size);
		*count = n;
		c->bad = !*pool;
	}
	transfer(c, *pool, n * size);
}

static void partition(struct file *c, struct sim_part *p)
{
	u32 i;

	transfer(c, &p->now, sizeof(p->now));
	transfer(c, &p->end, sizeof(p->end));
	transfer(c, &p->pending, sizeof(p->pending));
	transfer(c, &p->pushes, sizeof(p->pushes));
	transfer(c, &p->acc, sizeof(p->acc));
	pool(c, (void **)&p->pkt, &p->pkts, &p->pkt_free, &p->pkt_live,
	     sizeof(*p->pkt));
	pool(c, (void **)&p->op, &p->ops, &p->op_free, &p->op_live,
	     sizeof(*p->op));
	pool(c, (void **)&p->cr, &p->crs, &p->cr_free, &p->cr_live,
	     sizeof(*p->cr));
	for (i = 0; i < SIM_WINDOWS; i++)
		evs(c, &p->win[i]);
	evs(c, &p->heap);
}

static void arrays(struct file *c, struct sim *s)
{
	size_t n = s->nodes;

	transfer(c, s->fifo, n * s->nsrc * sizeof(*s->fifo));
	transfer(c, s->out, n * SIM_OUT_NUM(s) * s->out_stride);
	transfer(c, s->vc, n * s->nports * SIM_NVC * sizeof(*s->vc));
	transfer(c, s->nic, n * sizeof(*s->nic));
	transfer(c, s->inj_free, n * s->modules * sizeof(*s->inj_free));
	transfer(c, s->pe_free, n * s->modules * sizeof(*s->pe_free));
	if (s->retry)
		transfer(c, s->retry, n * s->nports * sizeof(*s->retry));
	if (s->tree)
		transfer(c, s->tree, n * s->ntrees * sizeof(*s->tree));
	if (s->state)
		transfer(c, s->state, n * s->state_size);
}

/*
 * Write what identifies this run; or compare this run with the run that wrote the checkpoint.
 * Return: NULL, or the difference.
 */
static const char *header(struct file *c, struct sim *s)
{
	char magic[sizeof(MAGIC)] = MAGIC;
	size_t len = strlen(s->what);
	char *what = sim_zalloc(len + 1, 1);
	bool equal;

	transfer(c, magic, sizeof(magic));
	if (c->bad || memcmp(magic, MAGIC, sizeof(MAGIC)))
		return "not a checkpoint of this version";
	memcpy(what, s->what, len);
	equal = same(c, len);
	if (equal)
		transfer(c, what, len);
	equal = equal && !c->bad && !memcmp(what, s->what, len);
	free(what);
	if (!equal)
		return "made with another command line or other parameters";
	if (!same(c, s->nparts) || !same(c, s->threads) || !same(c, s->part0))
		return "made with another number of threads or processes";
	if (!same(c, sizeof(struct sim_pkt) + sizeof(struct sim_tree) * 1000ULL))
		return "made by another build of the simulator";
	return NULL;
}

static void body(struct file *c, struct sim *s)
{
	u32 i;

	arrays(c, s);
	for (i = 0; i < s->threads; i++)
		partition(c, &s->part[i]);
}

static void file_name(const struct sim *s, const char *path, char *buf,
		      size_t len)
{
	if (s->nparts > s->threads)
		snprintf(buf, len, "%s.%u", path, s->part0 / s->threads);
	else
		snprintf(buf, len, "%s", path);
}

/**
 * sim_checkpoint_write() - write a checkpoint; no thread may run
 * @s: simulation
 * @path: file; with several processes the number of each is appended
 *
 * An old checkpoint is replaced when the new one is complete.
 * Return: 0 or -errno.
 */
int sim_checkpoint_write(struct sim *s, const char *path)
{
	struct file c = { .writing = true };
	char name[512], tmp[520];
	u64 sum;
	int err;

	file_name(s, path, name, sizeof(name));
	snprintf(tmp, sizeof(tmp), "%s.new", name);
	c.f = fopen(tmp, "wb");
	if (!c.f)
		return -errno;
	header(&c, s);
	body(&c, s);
	sum = c.sum;
	transfer(&c, &sum, sizeof(sum));
	err = c.bad || fflush(c.f) || fsync(fileno(c.f)) ? -errno : 0;
	if (fclose(c.f) && !err)
		err = -errno;
	if (!err && rename(tmp, name))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}

/**
 * sim_checkpoint_read() - continue from a checkpoint
 * @s: simulation, set up as in the run that wrote it
 * @path: file
 *
 * Return: NULL, or what is wrong with the file.
 */
const char *sim_checkpoint_read(struct sim *s, const char *path)
{
	struct file c = { .writing = false };
	const char *wrong;
	char name[512];
	u64 sum, there = 0;

	file_name(s, path, name, sizeof(name));
	c.f = fopen(name, "rb");
	if (!c.f)
		return strerror(errno);
	wrong = header(&c, s);
	if (!wrong) {
		body(&c, s);
		sum = c.sum;
		transfer(&c, &there, sizeof(there));
		if (c.bad || there != sum || fgetc(c.f) != EOF)
			wrong = "truncated or damaged";
	}
	fclose(c.f);
	return wrong;
}
