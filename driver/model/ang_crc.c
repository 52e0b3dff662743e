// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checksum of the frames on a link with faults. */
#include "ang_int.h"

/* CRC of each four-bit value, for the polynomial of Ethernet. */
static const u32 crc_table[16] = {
	0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
	0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
	0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

/**
 * ang_frame_sum() - compute the checksum of a frame: CRC-32 as in Ethernet
 * @data: frame
 * @len: bytes of the frame before the checksum
 */
u32 ang_frame_sum(const void *data, u32 len)
{
	const u8 *at = data;
	u32 crc = ~0U;

	while (len--) {
		crc ^= *at++;
		crc = crc >> 4 ^ crc_table[crc & 15];
		crc = crc >> 4 ^ crc_table[crc & 15];
	}
	return ~crc;
}
