// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's log, and a journal of programs: each program is written to a
 * file before it runs, so it survives a crash of the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfuzz.h"

#define PER_FILE	1000	/* programs per file */

/*
 * Reports at which kfuzz stops, so that the program that caused the report is
 * known. The script that runs the guest finally decides which lines are
 * reports.
 */
static const char *const reports[] = {
	"BUG: ", "WARNING: ", "UBSAN: ", "INFO: ", "Oops: ", "kernel BUG at",
	"general protection fault", "unreferenced object",
	/* Messages of the driver that an adapter without faults must not cause. */
	"the adapter is disabled", "the adapter does not respond to reset",
};

static int kmsg = -1;
static int journal = -1;
static unsigned int written;
static char journal_path[PATH_MAX], journal_before[PATH_MAX];

static int journal_open(void)
{
	if (journal >= 0)
		close(journal);
	rename(journal_path, journal_before);
	journal = open(journal_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		       0644);
	return journal < 0 ? -errno : 0;
}

int kf_watch_init(const char *dir)
{
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0 || lseek(kmsg, 0, SEEK_END) < 0) {
		perror("kfuzz: /dev/kmsg");
		return -1;
	}
	if (!dir)
		return 0;
	snprintf(journal_path, PATH_MAX, "%s/journal.txt", dir);
	snprintf(journal_before, PATH_MAX, "%s/journal-before.txt", dir);
	if (journal_open()) {
		perror(journal_path);
		return -1;
	}
	return 0;
}

/* Writes a program to the host before it runs, since the kernel may crash then. */
void kf_journal(const struct kf_prog *p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (journal < 0)
		return;
	if (written++ == PER_FILE) {
		written = 1;
		journal_open();
	}
	out = open_memstream(&text, &len);
	if (!out)
		return;
	kf_print(out, p);
	fclose(out);
	if (write(journal, text, len) != (ssize_t)len || fsync(journal))
		perror(journal_path);
	free(text);
}

static bool is_report(const char *line)
{
	unsigned int i;

	for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
		if (strstr(line, reports[i]))
			return true;
	return false;
}

const char *kf_watch(void)
{
	static char line[8192];
	char *text;
	ssize_t len;

	/* If a slow reader has lost records, the next read succeeds. */
	while ((len = read(kmsg, line, sizeof(line) - 1)) >= 0 ||
	       errno == EPIPE || errno == EINTR) {
		if (len < 0)
			continue;
		line[len] = 0;
		text = strchr(line, ';');
		text = text ? text + 1 : line;
		text[strcspn(text, "\n")] = 0;
		if (is_report(text))
			return text;
	}
	return NULL;
}
