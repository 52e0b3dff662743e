// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Commands of an embedded fabric that the adapter answers too late, and calls
 * in the child of a fork.  A delayed command runs after its caller has timed
 * out.  Linked with --wrap=emb_submit,--wrap=emb_now_ms.
 *
 *	doubt
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/angara.h>

#include "ang_types.h"
#include "embed/embed.h"

#define MUST(x) do {							\
	if (!(x)) {							\
		fprintf(stderr, "%s:%d: not %s\n", __func__, __LINE__, #x); \
		exit(1);						\
	}								\
} while (0)

#define MEM_BYTES	ANGARA_PAGE_SIZE
#define FAR_SLOT	2000	/* slot beyond the end of a domain's first table */

static struct ang_spec spec;
static struct {
	bool on;
	struct angara_adm_cmd cmd;
	u32 node;
	u32 pi;
} held;

void __real_emb_submit(struct emb_run *r, u32 node,
		       const struct angara_adm_cmd *cmd, u32 pi);
void __wrap_emb_submit(struct emb_run *r, u32 node,
		       const struct angara_adm_cmd *cmd, u32 pi);
u64 __real_emb_now_ms(void);
u64 __wrap_emb_now_ms(void);

/* Gives the delayed command to the adapter. */
static void let_go(struct emb_run *r)
{
	if (held.pi)
		__real_emb_submit(r, held.node, &held.cmd, held.pi);
	held.on = false;
	held.pi = 0;
}

/*
 * Commands stay in order: the next command gives the delayed one to the adapter
 * first.
 */
void __wrap_emb_submit(struct emb_run *r, u32 node,
		       const struct angara_adm_cmd *cmd, u32 pi)
{
	if (held.on && !held.pi) {
		held.cmd = *cmd;
		held.node = node;
		held.pi = pi;
		return;
	}
	let_go(r);
	__real_emb_submit(r, node, cmd, pi);
}

/* While a command is delayed, the clock of the library runs fast. */
u64 __wrap_emb_now_ms(void)
{
	static u64 ahead;

	if (held.on)
		ahead += EMB_LOCK_MS / 4;
	return __real_emb_now_ms() + ahead;
}

static void hold(void)
{
	held.on = true;
}

static int domain_create(struct ang_dev *dev)
{
	struct angara_domain_create arg = ANG_CMD_INIT(struct angara_domain_create);

	return ang_dev_cmd(dev, ANGARA_IOCTL_DOMAIN_CREATE, &arg);
}

static int mr_reg(struct ang_dev *dev, void *mem, u64 key)
{
	struct angara_mr_register arg = {
		.size = sizeof(arg), .flags = ANGARA_MR_KEY,
		.addr = (uintptr_t)mem, .length = MEM_BYTES,
		.access = ANGARA_ACCESS_ALL, .key = key,
	};

	return ang_dev_cmd(dev, ANGARA_IOCTL_MR_REG, &arg);
}

static int mr_dereg(struct ang_dev *dev, u64 key)
{
	struct angara_mr_deregister arg = { .size = sizeof(arg), .key = key };

	return ang_dev_cmd(dev, ANGARA_IOCTL_MR_DEREG, &arg);
}

static int ctx_create(struct ang_dev *dev, struct ang_dev *ctx)
{
	struct angara_ctx_create arg = {
		.size = sizeof(arg), .sq_entries = 8, .cq_entries = 8,
	};

	return dev->ops->ctx_open(dev, &arg, ctx);
}

/*
 * If the adapter creates a domain too late, the number of the domain stays in
 * use until its device is closed.
 */
static void late_domain(struct ang_dev *dev, struct ang_dev *other)
{
	struct emb_dev *d = other->priv;

	hold();
	MUST(domain_create(dev) == -EIO);
	let_go(&d->run);
	MUST(domain_create(other) == 0);
	ang_dev_close(dev);
	MUST(!emb_node(d->fab, d->node)->ctx[0].domain);
	MUST(!ang_dev_open(dev, &spec, "0"));
	MUST(domain_create(dev) == 0);
	MUST(((struct emb_dev *)dev->priv)->dom->num == 0);
}

/* Return: the entry of a key in the table that the adapter uses. */
static const struct angara_hw_mr *entry_in_use(const struct ang_dev *dev, u64 key)
{
	const struct emb_dev *d = dev->priv;
	struct ang_fabric *model = emb_model(d->fab, emb_copy(d->fab));
	const struct ang_dom *dom = ang_dom(model, ang_node(model, d->node),
					    d->dom->num);
	const __le64 *list = emb_at(d->fab, dom->mrt.list);
	const struct angara_hw_mr *mrt = emb_at(d->fab, le64_to_cpu(list[0]));

	MUST(dom->mrs > FAR_SLOT);
	return &mrt[ANGARA_MR_SLOT(key)];
}

/* If a command to set a table is late, an entry is withdrawn in both tables. */
static void late_table(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	static char mem[MEM_BYTES];

	MUST(mr_reg(dev, mem, 1) == 0);
	hold();
	MUST(mr_reg(dev, mem, FAR_SLOT) == -EIO);
	let_go(&d->run);
	MUST(entry_in_use(dev, 1)->valid);
	MUST(mr_reg(dev, mem, 2) == -EIO);
	MUST(mr_dereg(dev, 1) == 0);
	MUST(!entry_in_use(dev, 1)->valid);
}

/* A context that is created too late is destroyed with its handle. */
static void late_context(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	struct ang_dev ctx;

	hold();
	MUST(ctx_create(dev, &ctx) == -EIO);
	let_go(&d->run);
	MUST(ctx_create(dev, &ctx) == 0);
	ang_dev_close(&ctx);
}

/* A lock that the parent holds stays held in the child of a fork. */
static void forked(struct ang_dev *dev)
{
	struct emb_dev *d = dev->priv;
	struct ang_dev ctx;
	int status;
	pid_t pid;

	pthread_mutex_lock(&d->fab->mutex);
	pid = fork();
	if (!pid) {
		alarm(10);
		_exit(ctx_create(dev, &ctx) != -ENODEV);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	pthread_mutex_unlock(&d->fab->mutex);
	MUST(status == 0);
}

int main(void)
{
	struct ang_dev dev, other;
	struct emb_fab *fab;
	const char *why;

	MUST(!ang_spec_parse("embedded:2", &spec, &why));
	MUST(!emb_attach(&spec, &fab));
	MUST(!ang_dev_open(&dev, &spec, "0"));
	MUST(!ang_dev_open(&other, &spec, "0"));
	late_domain(&dev, &other);
	late_table(&dev);
	late_context(&dev);
	forked(&dev);
	ang_dev_close(&dev);
	ang_dev_close(&other);
	/* All objects of late commands have been released. */
	MUST(!fab->heap);
	emb_detach(fab);
	return 0;
}
