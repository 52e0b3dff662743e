// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text files, line by line; see lines.h.
 */
#include <errno.h>
#include <string.h>
#include "lines.h"
#include "options.h"

#define BLANKS	" \t\r\n"

int sim_lines_open(struct sim_lines *l, const char *path, unsigned int most, char *err,
		   size_t len)
{
	l->most = most;
	l->path = path;
	l->number = 0;
	l->f = fopen(path, "re");
	if (l->f)
		return 0;
	snprintf(err, len, "%s: %s", path, strerror(errno));
	return -EINVAL;
}

void sim_lines_close(struct sim_lines *l)
{
	fclose(l->f);
}

int sim_lines_next(struct sim_lines *l, char *err, size_t len)
{
	int ret = 0;
	size_t n;

	if (fgets(l->text, sizeof(l->text), l->f)) {
		l->number++;
		n = strlen(l->text);
		if (l->number > l->most) {
			snprintf(err, len, "%s: more than %u lines", l->path, l->most);
			sim_lines_close(l);
			return -EINVAL;
		}
		/* The last line may lack its newline; a NUL in a line is an error. */
		if (n && (l->text[n - 1] == '\n' || feof(l->f)))
			return 1;
		snprintf(err, len, "%s:%u: not a line of text of at most %zu bytes",
			 l->path, l->number, sizeof(l->text) - 2);
		ret = -EINVAL;
	} else if (ferror(l->f)) {
		snprintf(err, len, "%s: %s", l->path, strerror(errno));
		ret = -EINVAL;
	}
	sim_lines_close(l);
	return ret;
}

const char *sim_lines_numbers(const char *line, uint32_t most, uint32_t *value,
			      uint32_t *n)
{
	for (*n = 0; ; ++*n) {
		const char *end;
		uint64_t number;

		line += strspn(line, BLANKS);
		if (*line == '#')
			return "";
		end = *n < most ? opts_digits(line, UINT32_MAX, &number) : NULL;
		/* The end of the text, which strchr() finds too, ends a number. */
		if (!end || !strchr(BLANKS "#", *end))
			return line;
		value[*n] = (uint32_t)number;
		line = end;
	}
}

bool sim_lines_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(text, word, len))
		return false;
	text += len;
	text += strspn(text, BLANKS);
	return !*text || *text == '#';
}
