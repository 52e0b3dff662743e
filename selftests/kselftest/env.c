// SPDX-License-Identifier: GPL-2.0-only
/*
 * The environment of the tests: what the machine offers, the kernel's
 * accounting, fabrics made and removed through sysfs, processes of other users.
 */
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "angtest.h"

#define LOOP_DIR	"/sys/bus/angara_loop/"
#define LOOP_DIMS	"/sys/module/angara_loop/parameters/fabric"

static void skip_all(const char *fmt, ...)
{
	va_list args;

	printf("TAP version 13\n1..0 # SKIP ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(4);
}

/* Counts the adapters that the driver has on PCI Express. */
static size_t cards(void)
{
	size_t n;
	glob_t g;

	if (glob("/sys/bus/pci/drivers/angara/*:*", 0, NULL, &g))
		return 0;
	n = g.gl_pathc;
	globfree(&g);
	return n;
}

void at_require(unsigned int what)
{
	struct at_fabric f;
	int ret;

	if ((what & AT_ROOT) && geteuid() != 0)
		skip_all("needs root");
	if ((what & AT_DEVICE) && !at_devices())
		skip_all("there is no /dev/angara*: is angara_loop loaded?");
	if (what & AT_TORUS) {
		ret = at_fabric_find(&f, 8);
		if (ret)
			skip_all("no fabric of 8 to %d nodes with all its devices here (%s)",
				 AT_MAX_NODES, strerror(-ret));
	}
	if ((what & AT_LOOP) && access(LOOP_DIR "new_fabric", W_OK))
		skip_all(LOOP_DIR "new_fabric: %s", strerror(errno));
	if ((what & AT_CARD) && cards() < 2)
		skip_all("needs two adapters on PCI Express");
	if ((what & AT_HUGE) &&
	    (access("/proc/sys/vm/nr_hugepages", W_OK) ||
	     at_proc_bytes("/proc/meminfo", "Hugepagesize") != 2 << 20))
		skip_all("the system has no huge pages of 2 MiB");
}

unsigned int at_scale(unsigned int n)
{
	const char *text = getenv("ANGARA_TEST_SCALE");
	unsigned long long percent = text ? strtoul(text, NULL, 10) : 100;
	unsigned long long scaled = n * percent / 100;

	return scaled ? scaled : 1;
}

unsigned long at_seed(void)
{
	const char *text = getenv("ANGARA_TEST_SEED");
	unsigned long seed = text ? strtoul(text, NULL, 0) :
				    (unsigned long)time(NULL);

	return seed ? seed : 1;
}

unsigned int at_rand(unsigned long *state, unsigned int below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 16) % below;
}

uint64_t at_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

void at_sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

long at_proc_bytes(const char *file, const char *name)
{
	size_t len = strlen(name);
	long kb = -ENOENT;
	char line[256];
	FILE *f;

	f = fopen(file, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':')
			kb = strtol(line + len + 1, NULL, 10);
	fclose(f);
	return kb < 0 ? kb : kb * 1024;
}

long at_charged(void)
{
	long locked = at_proc_bytes("/proc/self/status", "VmLck");
	long pinned = at_proc_bytes("/proc/self/status", "VmPin");

	return locked < 0 ? locked : pinned < 0 ? pinned : locked + pinned;
}

long at_charged_soon(long allowed)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	long charged;

	while ((charged = at_charged()) > allowed && at_now_ms() < end)
		at_sleep_ms(50);
	return charged;
}

long at_memory(void)
{
	return at_proc_bytes("/proc/meminfo", "MemAvailable");
}

long at_memory_lost(long before, long allowed)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	long lost;

	while ((lost = before - at_memory()) > allowed && at_now_ms() < end)
		at_sleep_ms(50);
	return lost;
}

int at_write_file(const char *path, const char *text)
{
	ssize_t n;
	int fd;

	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

const char *at_failing_init(void)
{
	static const char *const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
		{ "fail_usercopy/verbose", "0" },
	};
	static char path[128];
	unsigned int i;

	if (access(AT_FAIL_NTH, W_OK))
		return AT_FAIL_NTH;
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s",
			 settings[i][0]);
		if (at_write_file(path, settings[i][1]) < 0)
			return path;
	}
	return NULL;
}

int at_loop_list(struct at_loop *list, unsigned int max)
{
	char line[256];
	unsigned int n;
	FILE *f;

	f = fopen(LOOP_DIR "fabrics", "r");
	if (!f)
		return -errno;
	for (n = 0; n < max && fgets(line, sizeof(line), f); n++)
		if (sscanf(line, "%u %*s %u %*u %" SCNx64, &list[n].num,
			   &list[n].nodes, &list[n].id) != 3)
			break;
	fclose(f);
	return n;
}

static bool listed(const struct at_loop *list, int n, uint64_t id)
{
	while (n-- > 0)
		if (list[n].id == id)
			return true;
	return false;
}

int at_loop_add(const char *dims, struct at_loop *made)
{
	struct at_loop before[AT_MAX_LOOPS], after[AT_MAX_LOOPS];
	int i, n, had, ret;

	had = at_loop_list(before, AT_MAX_LOOPS);
	if (had < 0)
		return had;
	ret = at_write_file(LOOP_DIR "new_fabric", dims);
	if (ret < 0)
		return ret;
	n = at_loop_list(after, AT_MAX_LOOPS);
	for (i = 0; i < n; i++) {
		if (listed(before, had, after[i].id))
			continue;
		*made = after[i];
		return 0;
	}
	return -ENOENT;
}

int at_loop_del(const char *num)
{
	int ret = at_write_file(LOOP_DIR "del_fabric", num);

	return ret < 0 ? ret : 0;
}

int at_loop_remove(const struct at_loop *loop)
{
	char num[16];

	snprintf(num, sizeof(num), "%u", loop->num);
	return at_loop_del(num);
}

int at_run_command(const char *command)
{
	int status = system(command);

	if (status < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void at_loop_dims(char *dims, size_t len)
{
	FILE *f = fopen(LOOP_DIMS, "r");

	dims[0] = 0;
	if (!f)
		return;
	if (!fgets(dims, len, f) || dims[0] == '(')
		dims[0] = 0;
	dims[strcspn(dims, "\n")] = 0;
	fclose(f);
}

int at_reload(void)
{
	char command[256], dims[64];

	at_loop_dims(dims, sizeof(dims));
	if (at_run_command("modprobe -r angara_loop") ||
	    at_run_command("modprobe -r angara"))
		return -EBUSY;
	snprintf(command, sizeof(command), "modprobe angara_loop %s%s",
		 dims[0] ? "fabric=" : "", dims);
	return at_run_command(command) ? -EIO : 0;
}

int at_become(unsigned int uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

int at_wait_child(pid_t pid, unsigned int ms)
{
	uint64_t end = at_now_ms() + ms;
	int status;
	pid_t got;

	while (!(got = waitpid(pid, &status, WNOHANG)) && at_now_ms() < end)
		usleep(1000);
	if (got < 0)
		return -errno;
	if (!got) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return -ETIMEDOUT;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
