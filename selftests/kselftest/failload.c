// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading the modules with allocations that fail: the first fails, then the
 * second, and so on until the module loads.  Most allocations are the kernel's
 * own; it continues without some of them.
 */
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "angtest.h"
#include "fail.h"
#include "module.h"

static void __attribute__((constructor)) require_injection(void)
{
	at_fail_require(AT_ROOT | AT_DEVICE | AT_LOOP);
}

/* Numbers of attempts and of failed attempts. */
struct tally {
	unsigned int tried;
	unsigned int failed;
};

/* Sweeps over loading @module with @args. Return: NULL, or the error. */
static const char *sweep(const char *module, const char *args, struct tally *t)
{
	int nth_fd = at_fail_open();
	int fd = at_module_open(module);
	const char *why = NULL;
	unsigned int nth;
	bool hit = true;
	int ret;

	for (nth = 1; !why && hit && nth < AT_ENDLESS; nth++) {
		ret = at_fail_arm(nth_fd, nth);
		if (!ret)
			ret = at_module_load(fd, args);
		hit = at_fail_disarm(nth_fd);
		t->tried++;
		t->failed += !!ret;
		if (!ret && at_module_unload(module))
			why = "the module cannot be unloaded";
		else if (ret && !hit)
			why = "loading fails, but no allocation has failed";
		else if (ret && !at_fail_says_so(ret))
			why = strerror(-ret);
	}
	close(fd);
	close(nth_fd);
	return nth == AT_ENDLESS ? "loading makes too many allocations" : why;
}

FIXTURE(module) {
	char reload[128];
};

FIXTURE_SETUP(module)
{
	const char *why = at_module_begin(self->reload, sizeof(self->reload));

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(module)
{
	if (self->reload[0])
		EXPECT_EQ(0, at_run_command(self->reload));
}

FIXTURE_VARIANT(module) {
	const char *name;
	const char *args;
	bool core;
};

/* With two nodes, the first has to be removed again if the second one fails. */
FIXTURE_VARIANT_ADD(module, loop_with_fabric) {
	.name = "angara_loop", .args = "fabric=2",
};

FIXTURE_VARIANT_ADD(module, core) {
	.name = "angara", .args = "", .core = true,
};

TEST_F_TIMEOUT(module, until_it_loads, 900)
{
	struct tally t = { 0 };
	const char *why;

	if (variant->core)
		ASSERT_EQ(0, at_module_unload("angara"));
	why = sweep(variant->name, variant->args, &t);
	TH_LOG("%u tries, %u failed", t.tried, t.failed);
	EXPECT_EQ(NULL, why) {
		TH_LOG("%s, try %u: %s", variant->name, t.tried, why);
	}
}

TEST_HARNESS_MAIN
