// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads inputs of fuzz targets; see input.h.
 */
#include <string.h>

#include "input.h"

/* Small inputs allocate little memory, and are frequent. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "malloc_context_size=4:quarantine_size_mb=4";
}

u8 in_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

u16 in_u16(struct input *in)
{
	u16 low = in_u8(in);

	return (u16)(low | in_u8(in) << 8);
}

u32 in_u32(struct input *in)
{
	u32 low = in_u16(in);

	return low | (u32)in_u16(in) << 16;
}

u64 in_u64(struct input *in)
{
	u64 low = in_u32(in);

	return low | (u64)in_u32(in) << 32;
}

u32 in_below(struct input *in, u32 n)
{
	return in_u8(in) % n;
}

u32 in_size(struct input *in)
{
	u8 first = in_u8(in);

	if (first < 0xC0)
		return first;
	if (first < 0xFC)
		return (u32)(first & 0x3F) << 8 | in_u8(in);
	return in_u32(in);
}

void in_bytes(struct input *in, void *to, u32 len)
{
	u8 *bytes = to;

	while (len--)
		*bytes++ = in_u8(in);
}
