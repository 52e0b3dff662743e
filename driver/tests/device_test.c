// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of bringing an adapter up, of the arguments of ioctls, and of the
 * number of contexts that a user may have.
 */
#include <linux/mm.h>

#include "fake.h"

/* A register value that makes the driver reject the adapter. */
struct stranger {
	const char *name;
	u32 reg;
	u32 val;
};

static const struct stranger strangers[] = {
	{ "magic", ANGARA_REG_MAGIC, ANGARA_HW_MAGIC + 1 },
	{ "all ones", ANGARA_REG_MAGIC, U32_MAX },
	{ "version", ANGARA_REG_VERSION, ANGARA_HW_VERSION + 1 },
	{ "node", ANGARA_REG_NODE, 8 },
	{ "no contexts", ANGARA_REG_CONTEXTS, 0 },
	{ "contexts", ANGARA_REG_CONTEXTS, ANG_MAX_CTXS + 1 },
	{ "no trees", ANGARA_REG_TREES, 0 },
	{ "trees", ANGARA_REG_TREES, ANGARA_MAX_TREES + 1 },
	{ "no ports", ANGARA_REG_PORTS, 0 },
	{ "ports", ANGARA_REG_PORTS, ANGARA_MAX_PORTS + 1 },
	{ "no nodes", ANGARA_REG_NODES, 0 },
};

static void stranger_name(const struct stranger *s, char *name)
{
	strscpy(name, s->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(stranger, strangers, stranger_name);

static void strangers_are_refused(struct kunit *test)
{
	const struct stranger *s = test->param_value;
	struct fake *f = test->priv;

	f->reg[s->reg / 4] = s->val;
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_register(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_ASQ_LO / 4]);
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_CONTROL / 4]);
}

/* The driver must reject these descriptions of fabrics. */
static void unknown_fabrics(struct kunit *test)
{
	static const char *const texts[] = {
		"", "torus", "torus:", "torus:2x2\n", "torus:2x2x0\n", "torus:8\n",
		"maze:2x2x2\n", "torus:2x2x2x1x1\n", " torus:2x2x2\n",
	};
	struct fake *f = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		f->text = texts[i];
		KUNIT_EXPECT_EQ_MSG(test, -ENODEV, fake_register(f), "'%s'", texts[i]);
		KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
	}
	f->status[ANGARA_ADM_DESCRIBE] = ANGARA_ADM_ST_OPCODE;
	KUNIT_EXPECT_EQ(test, -EIO, fake_register(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
}

/*
 * The description has more parts than there are slots for commands.  Its last part,
 * which is short, comes in a buffer that an earlier part has filled.
 */
static void long_fabric(struct kunit *test)
{
	u32 i, len, size = (ANG_ADM_ENTRIES + 2) * ANG_DESCRIBE_BYTES - 10;
	struct fake *f = test->priv;
	char *text = kunit_kzalloc(test, size + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	len = scnprintf(text, size, "graph test\n");
	for (i = 0; i < 8; i++)
		len += scnprintf(text + len, size - len, "node n%u\n", i);
	for (i = 0; i < 7; i++)
		len += scnprintf(text + len, size - len, "n%u:0 n%u:5\n", i, i + 1);
	memset(text + len, '#', size - len);
	text[size - 1] = '\n';
	f->text = text;
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	text[size - 1] = 0;
	KUNIT_EXPECT_STREQ(test, text, f->adev->graph->text);
}

static void never_ready(struct kunit *test)
{
	struct fake *f = test->priv;

	f->unready = true;
	KUNIT_EXPECT_EQ(test, -EIO, fake_register(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
}

static void never_stops(struct kunit *test)
{
	struct fake *f = test->priv;

	f->unstoppable = true;
	KUNIT_EXPECT_EQ(test, -EIO, fake_register(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_ASQ_LO / 4]);
}

static void no_memory_for_queues(struct kunit *test)
{
	struct fake *f = test->priv;

	f->fail = 1;
	KUNIT_EXPECT_EQ(test, -ENOMEM, fake_register(f));
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_CONTROL / 4]);
}

static void query_tells_the_registers(struct kunit *test)
{
	struct angara_query q = { .size = sizeof(q) };
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_ioctl(f, filp, ANGARA_IOCTL_QUERY, &q,
					    sizeof(q)));
	KUNIT_EXPECT_EQ(test, FAKE_NODE, q.node);
	KUNIT_EXPECT_EQ(test, 8, q.nodes);
	KUNIT_EXPECT_EQ(test, 6, q.ports);
	KUNIT_EXPECT_EQ(test, FAKE_TREES, q.max_trees);
	KUNIT_EXPECT_EQ(test, FAKE_FABRIC, q.fabric_id);
	KUNIT_EXPECT_EQ(test, FAKE_CTXS, q.max_contexts);
}

/* Properties of every ioctl: first published size, current size, flags. */
struct call {
	const char *name;
	u32 cmd;
	u32 first;
	u32 size;
	u32 flags;
	bool needs_domain;
	bool on_ctx;
};

#define GREW(_name, _type, _last, _flags, ...)				\
	{ #_name, ANGARA_IOCTL_##_name,					\
	  offsetofend(struct angara_##_type, _last),			\
	  sizeof(struct angara_##_type), _flags, __VA_ARGS__ }

#define CALL(_name, _type, _flags, ...)					\
	{ #_name, ANGARA_IOCTL_##_name, sizeof(struct angara_##_type),	\
	  sizeof(struct angara_##_type), _flags, __VA_ARGS__ }

static const struct call calls[] = {
	GREW(QUERY, query, caps, 0),
	CALL(DOMAIN_CREATE, domain_create, ANGARA_DOMAIN_PKEY),
	GREW(CTX_CREATE, ctx_create, db_offset, 0, .needs_domain = true),
	CALL(MR_REG, mr_register, ANGARA_MR_KEY | ANGARA_MR_WATCH, .needs_domain = true),
	CALL(MR_DEREG, mr_deregister, 0, .needs_domain = true),
	GREW(TREE_SET, tree_set, row,
	     ANGARA_TREE_OWNED | ANGARA_TREE_JOB | ANGARA_TREE_ROUTER),
	GREW(TREE_GET, tree_get, delegated, ANGARA_TREE_ROUTER),
	CALL(TREE_CLEAR, tree_clear, ANGARA_TREE_CLEAR_OWNED | ANGARA_TREE_ROUTER),
	CALL(TREE_DELEGATE, tree_delegate, 0),
	CALL(TREE_CHECK, tree_verify, 0),
	CALL(MANAGE, manage, 0),
	CALL(JOIN, join, ANGARA_JOIN_PLACE, .on_ctx = true),
	CALL(LEAVE, join, 0, .on_ctx = true),
	CALL(KICK, kick, ANGARA_KICK_SQ | ANGARA_KICK_ARM, .on_ctx = true),
	CALL(EVENTFD, eventfd, 0, .on_ctx = true),
};

static void call_name(const struct call *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(call, calls, call_name);

static void sizes_and_flags(struct kunit *test)
{
	const struct call *c = test->param_value;
	struct fake *f = test->priv;
	struct file *filp;
	u32 *arg, len, bit;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = c->on_ctx ? fake_ctx_of(f, fake_open_ctx(f)) : fake_open(f);
	arg = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, arg);
	for (len = 0; len < c->first; len++) {
		arg[0] = len;
		KUNIT_EXPECT_EQ(test, -EINVAL, fake_ioctl(f, filp, c->cmd, arg,
							  PAGE_SIZE));
	}
	/* An unknown flag is rejected in a longer structure, too. */
	arg[1] = BIT(31);
	for (len = c->first; len <= PAGE_SIZE; len += len < 256 ? 1 : 128) {
		arg[0] = len;
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
				fake_ioctl(f, filp, c->cmd, arg, PAGE_SIZE));
	}
	arg[0] = PAGE_SIZE + 1;
	KUNIT_EXPECT_EQ(test, -E2BIG, fake_ioctl(f, filp, c->cmd, arg, PAGE_SIZE));
	arg[0] = PAGE_SIZE;
	((u8 *)arg)[c->size] = 1;
	KUNIT_EXPECT_EQ(test, -E2BIG, fake_ioctl(f, filp, c->cmd, arg, PAGE_SIZE));
	/* The argument extends beyond the user's memory. */
	arg[0] = c->size + 8;
	KUNIT_EXPECT_EQ(test, -EFAULT, fake_ioctl(f, filp, c->cmd, arg,
						  ALIGN(c->size, 8)));
	memset(arg, 0, PAGE_SIZE);
	arg[0] = c->size;
	for (bit = 0; bit < 32; bit++) {
		arg[1] = BIT(bit);
		if (!(c->flags & arg[1]))
			KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
					fake_ioctl(f, filp, c->cmd, arg, c->size));
	}
}

static void without_domain_or_adapter(struct kunit *test)
{
	const struct call *c = test->param_value;
	struct fake *f = test->priv;
	u32 arg[64] = { c->size };
	struct file *filp, *other;

	KUNIT_ASSERT_LE(test, c->size, sizeof(arg));
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	other = fake_ctx_of(f, fake_open_ctx(f));
	if (c->on_ctx)
		swap(filp, other);
	KUNIT_EXPECT_EQ(test, -ENOTTY, fake_ioctl(f, other, c->cmd, arg, c->size));
	if (c->cmd == ANGARA_IOCTL_CTX_CREATE)
		arg[2] = arg[3] = ANG_MIN_ENTRIES;
	if (c->needs_domain)
		KUNIT_EXPECT_EQ(test, -ENXIO, fake_ioctl(f, filp, c->cmd, arg,
							 c->size));
	fake_unregister(f);
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_ioctl(f, filp, c->cmd, arg, c->size));
	arg[0] = 0;
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_ioctl(f, filp, c->cmd, arg, c->size));
	KUNIT_EXPECT_EQ(test, -ENODEV, PTR_ERR_OR_ZERO(fake_open(f)));
}

static bool is_known(u32 nr, bool on_ctx)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (_IOC_NR(calls[i].cmd) == nr && calls[i].on_ctx == on_ctx)
			return true;
	return false;
}

static void unknown_numbers(struct kunit *test)
{
	struct angara_query q = { .size = sizeof(q) };
	struct fake *f = test->priv;
	struct file *file[2];
	u32 nr, on_ctx;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	file[0] = fake_open_ctx(f);
	file[1] = fake_ctx_of(f, file[0]);
	for (on_ctx = 0; on_ctx < 2; on_ctx++) {
		struct file *filp = file[on_ctx];

		for (nr = 0; nr < 256; nr++)
			if (!is_known(nr, on_ctx))
				KUNIT_EXPECT_EQ(test, -ENOTTY,
						fake_ioctl(f, filp,
							   _IO(ANGARA_IOC_TYPE, nr),
							   &q, sizeof(q)));
		KUNIT_EXPECT_EQ(test, -ENOTTY,
				fake_ioctl(f, filp, _IO(ANGARA_IOC_TYPE + 1, 0),
					   &q, sizeof(q)));
		KUNIT_EXPECT_EQ(test, -ENOTTY,
				fake_ioctl(f, filp, _IOW(ANGARA_IOC_TYPE, 0, u32),
					   &q, sizeof(q)));
	}
}

static const u32 ctxs[] = { 1, 2, 3, 4, 5, 8 };

static void ctxs_name(const u32 *n, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%u contexts", *n);
}

KUNIT_ARRAY_PARAM(ctxs, ctxs, ctxs_name);

/*
 * Creates contexts until one is refused.  Return: number of contexts.  @ret:
 * out: the last result.
 */
static u32 take_all(struct fake *f, u32 uid, bool admin, int *ret)
{
	struct file *filp;
	u32 taken;

	fake_as(f, uid, admin);
	for (taken = 0; ; taken++) {
		filp = fake_open(f);
		KUNIT_ASSERT_FALSE(f->test, IS_ERR(filp));
		*ret = fake_ctx(f, filp, 8, 8);
		if (*ret < 0)
			break;
	}
	fake_close(f, filp);
	fake_as_self(f);
	return taken;
}

/*
 * A user gets half of the free contexts, rounded up; administrators get the rest.
 */
static void shares_of_users(struct kunit *test)
{
	u32 n = *(const u32 *)test->param_value;
	u32 first = DIV_ROUND_UP(n, 2);
	u32 second = DIV_ROUND_UP(n - first, 2);
	u32 rest = n - first - second;
	u32 last_uid = rest ? 0 : second ? 1001 : 1000;
	struct fake *f = test->priv;
	struct angara_adm_cmd *dom = &f->last[ANGARA_ADM_DOMAIN_CREATE];
	struct angara_adm_cmd *last = &f->last[ANGARA_ADM_CTX_CREATE];
	int ret;

	f->reg[ANGARA_REG_CONTEXTS / 4] = n;
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	KUNIT_EXPECT_EQ(test, first, take_all(f, 1000, false, &ret));
	KUNIT_EXPECT_EQ(test, -EBUSY, ret);
	KUNIT_EXPECT_EQ(test, second, take_all(f, 1001, false, &ret));
	KUNIT_EXPECT_EQ(test, -EBUSY, ret);
	KUNIT_EXPECT_EQ(test, rest, take_all(f, 0, true, &ret));
	KUNIT_EXPECT_EQ(test, -EBUSY, ret);
	KUNIT_EXPECT_EQ(test, n, f->count[ANGARA_ADM_CTX_CREATE]);
	KUNIT_EXPECT_EQ(test, ANGARA_PKEY_UID(last_uid),
			le32_to_cpu(dom->domain.pkey));
	KUNIT_EXPECT_EQ(test, n - 1, le16_to_cpu(last->ctx));
	/* A number that one user frees can be used by another. */
	fake_close(f, f->file[0]);
	KUNIT_EXPECT_EQ(test, 1, take_all(f, 1002, false, &ret));
	KUNIT_EXPECT_EQ(test, 0, le16_to_cpu(last->ctx));
	KUNIT_EXPECT_EQ(test, ANGARA_PKEY_UID(1002), le32_to_cpu(dom->domain.pkey));
}

static void administrators_have_no_share(struct kunit *test)
{
	struct fake *f = test->priv;
	int ret;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	KUNIT_EXPECT_EQ(test, FAKE_CTXS, take_all(f, 1000, true, &ret));
	KUNIT_EXPECT_EQ(test, -EBUSY, ret);
}

/* The highest user ids have no default partition. */
static void no_partition_no_domain(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	fake_as(f, ANGARA_PKEY_UID_MAX + 1, false);
	KUNIT_EXPECT_EQ(test, -EPERM, fake_domain(f, filp, 0));
	KUNIT_EXPECT_EQ(test, -EPERM, fake_domain(f, filp, 1));
	fake_as_self(f);
	fake_as(f, ANGARA_PKEY_UID_MAX + 1, true);
	KUNIT_EXPECT_EQ(test, 0, fake_domain(f, filp, 1));
	fake_as_self(f);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE_PARAM(strangers_are_refused, stranger_gen_params),
	KUNIT_CASE(unknown_fabrics),
	KUNIT_CASE(long_fabric),
	KUNIT_CASE(never_ready),
	KUNIT_CASE(never_stops),
	KUNIT_CASE(no_memory_for_queues),
	KUNIT_CASE(query_tells_the_registers),
	KUNIT_CASE_PARAM(sizes_and_flags, call_gen_params),
	KUNIT_CASE_PARAM(without_domain_or_adapter, call_gen_params),
	KUNIT_CASE(unknown_numbers),
	KUNIT_CASE_PARAM(shares_of_users, ctxs_gen_params),
	KUNIT_CASE(administrators_have_no_share),
	KUNIT_CASE(no_partition_no_domain),
	{}
};

struct kunit_suite device_suite = {
	.name = "angara_device",
	.suite_init = fake_suite_init,
	.suite_exit = fake_suite_exit,
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = device_cases,
};
