// SPDX-License-Identifier: GPL-2.0-only
/*
 * The modules, loaded and unloaded repeatedly: objects that are left behind
 * disturb the next round, or a kernel with a leak detector reports them.
 *
 * ANGARA_TEST_LOADS says how often, 10 times by default.
 */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "at_harness.h"
#include "angtest.h"
#include "module.h"

AT_REQUIRE(AT_ROOT | AT_DEVICE | AT_LOOP)

static unsigned int loads(void)
{
	const char *text = getenv("ANGARA_TEST_LOADS");
	unsigned long n = text ? strtoul(text, NULL, 10) : 10;

	return n && n <= INT_MAX ? n : 10;
}

FIXTURE(module) {
	char reload[128];
	int core;
	int loop;
};

FIXTURE_SETUP(module)
{
	const char *why = at_module_begin(self->reload, sizeof(self->reload));

	if (why)
		SKIP(return, "%s", why);
	self->core = at_module_open("angara");
	self->loop = at_module_open("angara_loop");
	ASSERT_GE(self->core, 0);
	ASSERT_GE(self->loop, 0);
	ASSERT_EQ(0, at_module_unload("angara"));
}

FIXTURE_TEARDOWN(module)
{
	if (self->reload[0])
		EXPECT_EQ(0, at_run_command(self->reload));
}

/* Two nodes are enough to test loading; more take longer. */
TEST_F_TIMEOUT(module, loaded_and_unloaded, 900)
{
	unsigned int i, n = loads();
	int fd;

	for (i = 1; i <= n; i++) {
		ASSERT_EQ(0, at_module_load(self->core, "")) {
			TH_LOG("angara, load %u", i);
		}
		ASSERT_EQ(0, at_module_load(self->loop, "fabric=2")) {
			TH_LOG("angara_loop, load %u", i);
		}
		ASSERT_EQ(2U, at_devices());
		fd = at_open(1);
		ASSERT_GE(fd, 0);
		close(fd);
		ASSERT_EQ(0, at_module_unload("angara_loop")) {
			TH_LOG("angara_loop, load %u", i);
		}
		ASSERT_EQ(0U, at_devices());
		ASSERT_EQ(0, at_module_unload("angara")) {
			TH_LOG("angara, load %u", i);
		}
	}
	TH_LOG("loaded %u times", n);
}

TEST_HARNESS_MAIN
