/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adapters on PCI Express: their addresses on the bus, and pairs of contexts on
 * two cards that move data and ring doorbells by stores.
 *
 * Functions return 0 or -errno unless they say otherwise.
 */
#ifndef ANGTEST_CARDS_H
#define ANGTEST_CARDS_H

#include "angtest.h"

#define AT_BDF		32	/* room for an address on the bus */
/* Memory of a pair: data goes from its first half to its second. */
#define AT_PAIR_LEN	(1U << 16)
#define AT_PAIR_HALF	(AT_PAIR_LEN / 2)

/* The address of a device on the bus. */
int at_card_bdf(unsigned int dev, char bdf[AT_BDF]);
/* The address of the root port above a card. */
int at_card_port(const char *bdf, char port[AT_BDF]);
/* Writes to a file of a PCI device. */
int at_card_poke(const char *bdf, const char *file, const char *text);
int at_card_reset(const char *bdf);

/* Rings the doorbell of the card by a store. */
void at_card_ring(struct at_ctx *x);
/* Maps @len bytes at offset @off of the doorbell page, and unmaps them. */
int at_card_map(struct at_ctx *x, size_t len, int flags, uint64_t off);
/*
 * Checks that the file returns -ESTALE for good after a reset. Return: NULL, or
 * what it does instead.
 */
const char *at_card_stale(struct at_ctx *x);

/* Opens a context on each of the first two cards, with @mem as a region. */
int at_pair_open(const struct at_fabric *f, struct at_ctx x[2], char *mem);
void at_pair_close(struct at_ctx x[2]);
/* Moves data between the cards, by doorbell. Return: as at_do(). */
int at_pair_move(struct at_ctx x[2], char *mem, unsigned int seed);

#endif /* ANGTEST_CARDS_H */
