// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every ioctl, swept: structure sizes, flags, reserved fields, pointers,
 * unknown numbers. After each refused call the valid one must still work, and
 * no context, region or pinned page may be left.
 */
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "at_harness.h"
#include "calls.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE)

#define TAIL		64
#define BUF_MAX		512

FIXTURE(sweep) {
	struct state s;
	struct at_usage use;
};

FIXTURE_VARIANT(sweep) {
	const struct call *call;
};

#define VARIANT(_name)							\
	FIXTURE_VARIANT_ADD(sweep, _name) { .call = &call_##_name }

VARIANT(query);
VARIANT(domain_create);
VARIANT(ctx_create);
VARIANT(mr_reg);
VARIANT(mr_dereg);
VARIANT(tree_set);
VARIANT(tree_get);
VARIANT(tree_clear);
VARIANT(tree_delegate);
VARIANT(tree_check);
VARIANT(manage);
VARIANT(join);
VARIANT(leave);
VARIANT(kick);
VARIANT(eventfd);

FIXTURE_SETUP(sweep)
{
	ASSERT_EQ(0, state_init(&self->s));
	if (variant->call->before) {
		ASSERT_EQ(0, variant->call->before(&self->s));
	}
	ASSERT_EQ(0, at_usage(&self->use));
}

FIXTURE_TEARDOWN(sweep)
{
	at_tree_clear(self->s.fd, self->s.tree);
	state_close(&self->s);
}

/* A valid request of @size bytes that ends where the mapped page ends. */
static void *request(struct state *s, const struct call *c, uint32_t size)
{
	char whole[BUF_MAX] = { 0 }, *buf;
	unsigned int room = size < sizeof(size) ? sizeof(size) : size;

	c->fill(s, whole);
	memcpy(whole, &size, sizeof(size));
	buf = s->end - room;
	memcpy(buf, whole, room);
	return buf;
}

/* Refused calls have changed nothing, and the valid call works. */
static int unchanged(struct state *s, const struct call *c,
		     const struct at_usage *use)
{
	struct at_usage now;
	void *buf;
	int ret;

	ret = at_usage(&now);
	if (ret)
		return ret;
	if (memcmp(&now, use, sizeof(now)))
		return -EUCLEAN;
	buf = request(s, c, c->size);
	ret = state_call(s, c, buf);
	return ret ? ret : c->after(s, buf);
}

TEST_F(sweep, sizes)
{
	const struct call *c = variant->call;
	char copy[BUF_MAX], zeros[TAIL] = { 0 };
	uint32_t size, first = c->first ? c->first : c->size;
	char *buf;

	for (size = 0; size < first; size++) {
		buf = request(&self->s, c, size);
		memcpy(copy, buf, size);
		ASSERT_EQ(-EINVAL, state_call(&self->s, c, buf)) {
			TH_LOG("size %u", size);
		}
		ASSERT_EQ(0, memcmp(copy, buf, size));
	}
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
	for (; size <= c->size + TAIL; size++) {
		if (c->before) {
			ASSERT_EQ(0, c->before(&self->s));
		}
		buf = request(&self->s, c, size);
		ASSERT_EQ(0, state_call(&self->s, c, buf)) {
			TH_LOG("size %u", size);
		}
		if (size > c->size) {
			ASSERT_EQ(0, memcmp(buf + c->size, zeros,
					    size - c->size));
		}
		ASSERT_EQ(0, c->after(&self->s, buf));
	}
}

TEST_F(sweep, tail_not_zero)
{
	const struct call *c = variant->call;
	unsigned int i, size;
	char *buf;

	for (i = 0; i < TAIL; i++) {
		for (size = c->size + i + 1; size <= c->size + TAIL;
		     size += TAIL / 2) {
			buf = request(&self->s, c, size);
			buf[c->size + i] = 1;
			ASSERT_EQ(-E2BIG, state_call(&self->s, c, buf)) {
				TH_LOG("byte %u after the structure", i);
			}
		}
	}
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
}

/* The structure has a size beyond the readable memory. */
TEST_F(sweep, size_lies)
{
	static const uint32_t more[] = { 1, 8, 4096, 1U << 31, 0xFFFFFF00U };
	const struct call *c = variant->call;
	uint32_t size;
	unsigned int i;
	char *buf;
	int ret;

	for (i = 0; i < ARRAY_SIZE(more); i++) {
		buf = request(&self->s, c, c->size);
		size = c->size + more[i];
		memcpy(buf, &size, sizeof(size));
		ret = state_call(&self->s, c, buf);
		/* The kernel need not check a tail beyond a page for zeros. */
		EXPECT_TRUE(ret == -EFAULT || (size > AT_PAGE && ret == -E2BIG)) {
			TH_LOG("size %u gave %d", size, ret);
		}
	}
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
}

TEST_F(sweep, flags)
{
	const struct call *c = variant->call;
	unsigned int bit;
	uint32_t flags;
	char *buf;

	for (bit = 0; bit < 32; bit++) {
		if (c->flags & (1U << bit))
			continue;
		buf = request(&self->s, c, c->size);
		memcpy(&flags, buf + 4, sizeof(flags));
		flags |= 1U << bit;
		memcpy(buf + 4, &flags, sizeof(flags));
		ASSERT_EQ(-EOPNOTSUPP, state_call(&self->s, c, buf)) {
			TH_LOG("flag bit %u", bit);
		}
	}
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
}

TEST_F(sweep, reserved)
{
	const struct call *c = variant->call;
	unsigned int r, i;
	char *buf;

	for (r = 0; r < ARRAY_SIZE(c->reserved); r++) {
		for (i = 0; i < c->reserved[r].len; i++) {
			buf = request(&self->s, c, c->size);
			buf[c->reserved[r].off + i] = 1;
			ASSERT_EQ(-EOPNOTSUPP,
				  state_call(&self->s, c, buf)) {
				TH_LOG("reserved byte %u",
				       c->reserved[r].off + i);
			}
		}
	}
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
}

TEST_F(sweep, bad_pointers)
{
	static const uint64_t bad[] = {
		0, 1, 0xFFFFFFFF81000000ULL, 0xFFFF888000000000ULL,
		1ULL << 63, ~0ULL, ~0ULL - 7, ~0ULL - 4095,
	};
	const struct call *c = variant->call;
	unsigned int i;
	char *buf;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EFAULT, state_call(&self->s, c,
					    (void *)(uintptr_t)bad[i])) {
			TH_LOG("pointer %llx", (unsigned long long)bad[i]);
		}
	}
	/* The end of the mapped page truncates the structure. */
	for (i = 0; i < c->size; i++) {
		buf = request(&self->s, c, c->size);
		memmove(buf + c->size - i, buf, i);
		ASSERT_EQ(-EFAULT, state_call(&self->s, c,
					    buf + c->size - i)) {
			TH_LOG("%u bytes of the structure can be read", i);
		}
	}
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
}

TEST_F(sweep, read_only_argument)
{
	const struct call *c = variant->call;
	char *page = self->s.end - AT_PAGE, *buf;
	int ret;

	buf = request(&self->s, c, c->size);
	ASSERT_EQ(0, mprotect(page, AT_PAGE, PROT_READ));
	ret = state_call(&self->s, c, buf);
	ASSERT_EQ(0, mprotect(page, AT_PAGE, PROT_READ | PROT_WRITE));
	if (c->answers) {
		EXPECT_EQ(-EFAULT, ret);
		ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
	} else {
		EXPECT_EQ(0, ret);
		EXPECT_EQ(0, c->after(&self->s, buf));
	}
}

/*
 * Each number belongs to one kind of file; a missing domain or context is
 * reported first.
 */
TEST_F(sweep, other_files)
{
	const struct call *c = variant->call;
	int bare = at_open(self->s.dev);
	struct angara_ctx_create x = {
		.size = sizeof(x), .sq_entries = 8, .cq_entries = 8,
	};
	void *buf;

	ASSERT_LE(0, bare);
	buf = request(&self->s, c, c->size);
	if (c->on_ctx) {
		EXPECT_EQ(-ENOTTY, at_ioctl(bare, c->cmd, buf));
		EXPECT_EQ(-ENOTTY, at_ioctl(self->s.fd, c->cmd, buf));
	} else if (c->needs_domain) {
		EXPECT_EQ(-ENXIO, at_ioctl(bare, c->cmd, buf));
	}
	if (!c->on_ctx) {
		ASSERT_LE(0, at_domain_create(bare, 0));
		ASSERT_EQ(0, at_ioctl(bare, ANGARA_IOCTL_CTX_CREATE, &x));
		EXPECT_EQ(-ENOTTY, at_ioctl(x.fd, c->cmd, buf));
		close(x.fd);
	}
	close(bare);
	ASSERT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
	ASSERT_EQ(0, unchanged(&self->s, c, &self->use));
}

TEST_HARNESS_MAIN
