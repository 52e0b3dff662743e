// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs as text. A program starts with a line "== NAME", perhaps with
 * " threads=2"; then calls follow, each on a line or after a ';': its name and
 * its non-zero fields. '#' starts a comment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kfuzz.h"

#define LINE	1024
#define LINE_WIDTH	70

int kf_print_call(FILE *out, const struct kf_call *c)
{
	const struct kf_op *op = &kf_ops[c->op];
	int len = fprintf(out, "%s", op->name);
	unsigned int i;

	for (i = 0; i < kf_fields(op); i++)
		if (c->v[i])
			len += fprintf(out, c->v[i] < 10000 ? " %s=%" PRIu64 :
				       " %s=0x%" PRIx64, op->field[i].name,
				       c->v[i]);
	return len;
}

/* Prints a program in lines that are not much longer than @width. */
static void print(FILE *out, const struct kf_prog *p, int width)
{
	unsigned int i;
	int len = 0;

	fprintf(out, "== %s", p->name[0] ? p->name : "-");
	if (p->threads > 1)
		fprintf(out, " threads=%u", p->threads);
	fputc('\n', out);
	for (i = 0; i < p->calls; i++) {
		len += kf_print_call(out, &p->call[i]);
		if (len < width && i + 1 < p->calls) {
			len += fprintf(out, "; ");
		} else {
			fputc('\n', out);
			len = 0;
		}
	}
}

void kf_print(FILE *out, const struct kf_prog *p)
{
	print(out, p, 0);
}

void kf_add(struct kf_corpus *to, const struct kf_prog *p)
{
	if (to->count == to->room) {
		to->room = to->room ? 2 * to->room : 64;
		to->prog = realloc(to->prog, to->room * sizeof(*p));
		if (!to->prog)
			abort();
	}
	to->prog[to->count++] = *p;
}

/* Position in a file. */
struct place {
	const char *path;
	unsigned int line;
};

static int __attribute__((format(printf, 2, 3)))
wrong(const struct place *at, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "kfuzz: %s:%u: ", at->path, at->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

static int parse_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno || end == text || *end ? -1 : 0;
}

static int parse_field(const struct place *at, struct kf_call *c, char *word)
{
	const struct kf_op *op = &kf_ops[c->op];
	char *text = strchr(word, '=');
	unsigned int i;

	if (!text)
		return wrong(at, "'%s' is not of the form FIELD=NUMBER", word);
	*text++ = 0;
	for (i = 0; i < kf_fields(op); i++)
		if (!strcmp(op->field[i].name, word))
			break;
	if (i == kf_fields(op))
		return wrong(at, "%s has no field '%s'", op->name, word);
	if (parse_number(text, &c->v[i]))
		return wrong(at, "'%s' is not a number", text);
	return 0;
}

static int parse_call(const struct place *at, struct kf_prog *p, char *line)
{
	struct kf_call *c = &p->call[p->calls];
	char *save, *word = strtok_r(line, " \t", &save);

	if (!word)
		return 0;
	if (p->calls == KF_CALLS)
		return wrong(at, "a program has at most %u calls", KF_CALLS);
	memset(c, 0, sizeof(*c));
	while (c->op < kf_num_ops && strcmp(kf_ops[c->op].name, word))
		c->op++;
	if (c->op == kf_num_ops)
		return wrong(at, "unknown call '%s'", word);
	while ((word = strtok_r(NULL, " \t", &save)))
		if (parse_field(at, c, word))
			return -1;
	p->calls++;
	return 0;
}

static int parse_calls(const struct place *at, struct kf_prog *p, char *line)
{
	char *next;

	for (; line; line = next) {
		next = strchr(line, ';');
		if (next)
			*next++ = 0;
		if (parse_call(at, p, line))
			return -1;
	}
	return 0;
}

static int parse_head(const struct place *at, struct kf_prog *p, char *line)
{
	char *threads = strstr(line, " threads=");
	uint64_t n = 1;

	if (threads) {
		*threads = 0;
		if (parse_number(threads + strlen(" threads="), &n) || !n ||
		    n > KF_THREADS)
			return wrong(at, "threads: 1 to %u", KF_THREADS);
	}
	memset(p, 0, sizeof(*p));
	p->threads = n;
	line += strlen("== ");
	if (strlen(line) >= sizeof(p->name))
		return wrong(at, "a name has less than %u characters", KF_NAME);
	memcpy(p->name, line, strlen(line));
	return 0;
}

static int parse(struct kf_corpus *to, FILE *in, struct place *at)
{
	struct kf_prog p = { .calls = 0 };
	bool started = false;
	char line[LINE];

	while (fgets(line, sizeof(line), in)) {
		at->line++;
		line[strcspn(line, "#\n")] = 0;
		if (!line[strspn(line, " \t")])
			continue;
		if (!strncmp(line, "== ", 3)) {
			if (p.calls)
				kf_add(to, &p);
			if (parse_head(at, &p, line))
				return -1;
			started = true;
		} else if (!started) {
			return wrong(at, "a program begins with '== NAME'");
		} else if (parse_calls(at, &p, line)) {
			return -1;
		}
	}
	if (p.calls)
		kf_add(to, &p);
	return 0;
}

int kf_read(struct kf_corpus *to, const char *path)
{
	struct place at = { .path = path };
	FILE *in = fopen(path, "r");
	int ret;

	if (!in) {
		fprintf(stderr, "kfuzz: %s: %s\n", path, strerror(errno));
		return -1;
	}
	ret = parse(to, in, &at);
	fclose(in);
	return ret;
}

int kf_write(const struct kf_corpus *from, const char *path)
{
	FILE *out = fopen(path, "w");
	unsigned int i;
	int bad;

	if (!out) {
		fprintf(stderr, "kfuzz: %s: %s\n", path, strerror(errno));
		return -1;
	}
	fputs("# SPDX-License-Identifier: GPL-2.0-only\n", out);
	for (i = 0; i < from->count; i++)
		print(out, &from->prog[i], LINE_WIDTH);
	bad = ferror(out);
	bad |= fclose(out);
	if (bad)
		fprintf(stderr, "kfuzz: %s: could not write all of it\n", path);
	return bad ? -1 : 0;
}
