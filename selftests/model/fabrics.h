/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabrics of every kind, of 16 to 36 nodes.
 */
#ifndef TEST_FABRICS_H
#define TEST_FABRICS_H

/* Return: description number @index, NULL after the last. */
const char *fabric_of(u32 index);

#endif /* TEST_FABRICS_H */
