/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by mesh*.c: the ranks of a job, each with its thread. */
#ifndef TESTS_MESH_H
#define TESTS_MESH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "job_conn.h"
#include "job_mesh.h"
#include "job_net.h"

#define MAX_RANKS	7
#define BLOCK		100
#define WORD_TEXT	(2 * ANG_SIPHASH_KEY)	/* bytes of the word in a card */
#define SAID_MAX	4096

/**
 * struct part - a rank
 * @cards: cards that this rank gets
 * @asked: requests for the card of each rank
 * @delay_ms: delay before the rank takes part
 * @deadline_s: deadline of its exchanges, 0: the common one
 * @fill: byte that fills its block
 * @all: blocks received
 * @ret: result of its exchange
 */
struct part {
	struct ang_mesh *mesh;
	const char *cards[MAX_RANKS];
	unsigned int asked[MAX_RANKS];
	unsigned int rank, size;
	unsigned int delay_ms;
	u32 deadline_s;
	unsigned char fill;
	unsigned char all[MAX_RANKS * BLOCK];
	int ret;
	pthread_t thread;
};

extern struct part parts[MAX_RANKS];
extern u32 deadline_s;

/* mesh.c */
void ok(bool good, const char *what);
int read_card(void *arg, u32 rank, char card[ANG_MESH_CARD]);
void *part_main(void *arg);
bool make(unsigned int size, bool here);
void drop(void);
void exchange(unsigned int size, unsigned char fill);
bool got(unsigned int to, unsigned int size, unsigned char fill);
double seconds(void);
const char *places(unsigned int rank);
int connect_to(const char *where);
size_t read_some(int fd, void *to, size_t size);
void said_start(void);
unsigned int said_end(char line[SAID_MAX]);

/* mesh_relay.c */
void test_repeat(void);
void test_change(void);
void test_loss(void);

/* mesh_strangers.c */
void test_strangers(void);

#endif /* TESTS_MESH_H */
