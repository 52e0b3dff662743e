// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a fuzz target over files, without libFuzzer: any compiler will do.
 *
 *   TARGET-replay FILE...
 *
 * Prints the name of each input before it runs, so that the last one is the one
 * that ended the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

#define MAX_INPUT	65536

static int replay(const char *name)
{
	static u8 data[MAX_INPUT];
	FILE *file = fopen(name, "rb");
	u8 *copy;
	size_t size;

	if (!file) {
		perror(name);
		return 1;
	}
	fprintf(stderr, "input: %s\n", name);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	/*
	 * The buffer is exactly as long as the input, so that reading past the
	 * end is detected.
	 */
	copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int i;

	for (i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("%d inputs\n", argc - 1);
	return failed;
}
