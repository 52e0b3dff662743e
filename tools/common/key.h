/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys of routers for in-band management. */
#ifndef KEY_H
#define KEY_H

#include <stdint.h>

/**
 * key_read() - read the key of routers from a file
 * @path: file, with a number from 1 to 2^64 - 1 such as 0x1F in its first line
 * @key: out
 *
 * A key on the command line could be read by every user.
 * Return: 0; FAILED, with a message.
 */
int key_read(const char *path, uint64_t *key);

#endif /* KEY_H */
