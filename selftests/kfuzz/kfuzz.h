/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer of the driver's interface.
 *
 * A program is a list of calls, a call is an operation of the table in model.c
 * with a number for each of its fields. Any numbers make a program: a field
 * says what they mean, and what is worth trying. So programs are made up,
 * changed and read by one table.
 *
 * Every program runs in a process of its own, which starts with no file open
 * and ends with none. What outlives a process, rows of trees and fabrics, is
 * put back by who started it.
 */
#ifndef KFUZZ_H
#define KFUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KF_CALLS	32	/* in a program */
#define KF_FIELDS	18	/* of an operation */
#define KF_FILES	4
#define KF_MAPS		4
#define KF_EVENTFDS	2
#define KF_THREADS	2
#define KF_NAME		48

struct kf_state;

/* What the numbers of a field are. */
enum kf_kind {
	KF_BELOW,	/* below @arg */
	KF_BITS,	/* a set of the bits of @arg */
	KF_ZERO,	/* 0 is right */
	KF_POW2,	/* a power of two from 8 on */
	KF_AREA,	/* bytes of a message area, or 0 */
	KF_LENGTH,	/* bytes: where something begins or ends; up to @arg */
	KF_PKEY,
	KF_ANY,
};

/**
 * struct kf_field - a field of an operation
 * @name: in a program's text
 * @kind: what its numbers are
 * @arg: see there
 * @edge: the first number that is wrong, where that is not @arg
 * @offset: where it stands in the structure of an ioctl
 * @width: bytes that it has there, 0 if it does not stand there
 */
struct kf_field {
	const char *name;
	enum kf_kind kind;
	uint64_t arg;
	uint64_t edge;
	unsigned int offset;
	unsigned int width;
};

/* What an operation may leave to others. */
#define KF_LEAVES_TREES		1U
#define KF_LEAVES_FABRICS	2U

/**
 * struct kf_op - an operation
 * @name: in a program's text
 * @weight: how often it is made up, of all weights
 * @leaves: KF_LEAVES_*
 * @nr: of an ioctl
 * @size: of its structure
 * @field: the fields, the last one without a name
 * @run: does it. Return: 0 or more, or -errno
 */
struct kf_op {
	const char *name;
	unsigned int weight;
	unsigned int leaves;
	unsigned int nr;
	unsigned int size;
	struct kf_field field[KF_FIELDS + 1];
	long (*run)(struct kf_state *s, const struct kf_op *op,
		    const uint64_t *v);
};

struct kf_call {
	unsigned int op;
	uint64_t v[KF_FIELDS];
};

/**
 * struct kf_prog - a program
 * @name: for those who read it
 * @threads: that run it at the same time, each all of it
 * @calls: how many
 * @call: the calls
 */
struct kf_prog {
	char name[KF_NAME];
	unsigned int threads;
	unsigned int calls;
	struct kf_call call[KF_CALLS];
};

/* Programs in the order of their coming. */
struct kf_corpus {
	struct kf_prog *prog;
	unsigned int count;
	unsigned int room;
};

/* model.c: the table */
extern const struct kf_op kf_ops[];
extern const unsigned int kf_num_ops;
unsigned int kf_fields(const struct kf_op *op);

/* mutate.c: making programs up; equal seeds make equal ones */
uint64_t kf_rand(uint64_t *seed);
uint64_t kf_below(uint64_t *seed, uint64_t n);
void kf_make(struct kf_prog *p, uint64_t *seed);
void kf_mutate(struct kf_prog *p, const struct kf_corpus *from, uint64_t *seed);
void kf_remove(struct kf_prog *p, unsigned int at);

/* text.c: programs as text */
/* Return: characters. */
int kf_print_call(FILE *out, const struct kf_call *c);
void kf_print(FILE *out, const struct kf_prog *p);
/* Return: 0, or -1 having said what is wrong with the file. */
int kf_read(struct kf_corpus *to, const char *path);
void kf_add(struct kf_corpus *to, const struct kf_prog *p);
int kf_write(const struct kf_corpus *from, const char *path);

/* cover.c: the places in the modules that a program comes to */
struct kf_set {
	unsigned int count;
	unsigned int room;
	uint32_t *id;
};

/* Return: whether the kernel tells. */
bool kf_cover_init(void);
/* To be called by the thread that runs as number @lane, below KF_THREADS * 2. */
void kf_cover_start(unsigned int lane);
void kf_cover_stop(unsigned int lane);
void kf_cover_clear(void);
/* What the last program did: @all of it, if it is asked for, and what is new. */
void kf_cover_take(struct kf_set *all, struct kf_set *fresh);
/* Keeps in @set only what is in @other. */
void kf_set_keep(struct kf_set *set, const struct kf_set *other);
bool kf_set_within(const struct kf_set *set, const struct kf_set *other);
unsigned int kf_cover_places(void);
int kf_cover_write(const char *path);

/* exec.c: running a program */
struct kf_result {
	unsigned int calls;
	long answer[KF_CALLS];
};

/* Return: NULL, or what is missing. */
const char *kf_exec_init(void);
/* Return: NULL, or what is wrong with the kernel or with what was left. */
const char *kf_exec(const struct kf_prog *p, struct kf_result *result);

/* watch.c: what the kernel says, and what was running when it said it */
int kf_watch_init(const char *dir);
void kf_journal(const struct kf_prog *p);
/* A line by which the kernel reports, or NULL. */
const char *kf_watch(void);

/* loop.c: fuzzing */
struct kf_options {
	uint64_t seed;
	unsigned long runs;
	unsigned long seconds;
	unsigned int threads;
	const char *out;
};

int kf_fuzz(struct kf_corpus *corpus, const struct kf_options *o);
/* The fewest programs that come to all places that all come to. */
int kf_merge(const struct kf_corpus *corpus, const char *path);

#endif /* KFUZZ_H */
