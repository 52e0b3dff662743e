/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer of the driver's interface.
 *
 * A program is a list of calls; a call is an operation of the table in model.c
 * with a number for each of its fields.  Any numbers make a program: a field
 * defines what its numbers mean, and which of them are worth trying.  So one
 * table generates, changes and parses programs.
 *
 * Every program runs in its own process, which starts and ends without open
 * files.  State that outlives the process, rows of trees and fabrics, is
 * restored by its parent.
 */
#ifndef KFUZZ_H
#define KFUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KF_CALLS	32	/* maximum of calls in a program */
#define KF_FIELDS	18	/* maximum of fields of an operation */
#define KF_FILES	4
#define KF_MAPS		4
#define KF_EVENTFDS	2
#define KF_THREADS	2
#define KF_NAME		48

struct kf_state;

/* Meanings of the numbers of a field. */
enum kf_kind {
	KF_BELOW,	/* number below @arg */
	KF_BITS,	/* set of bits of @arg */
	KF_ZERO,	/* 0, the only valid number */
	KF_POW2,	/* power of two from 8 on */
	KF_AREA,	/* bytes of a receive buffer, or 0 */
	KF_LENGTH,	/* size or offset in bytes, up to @arg */
	KF_PKEY,
	KF_ANY,
};

/**
 * struct kf_field - a field of an operation
 * @name: name in a program's text
 * @kind: meaning of its numbers
 * @arg: argument of @kind
 * @edge: the first invalid number, if that is not @arg
 * @offset: its offset in the structure of an ioctl
 * @width: its bytes in that structure, 0 if it is not a member
 */
struct kf_field {
	const char *name;
	enum kf_kind kind;
	uint64_t arg;
	uint64_t edge;
	unsigned int offset;
	unsigned int width;
};

/* State of an operation that may outlive the process. */
#define KF_LEAVES_TREES		1U
#define KF_LEAVES_FABRICS	2U

/**
 * struct kf_op - an operation
 * @name: name in a program's text
 * @weight: its share in generated programs, of all weights
 * @leaves: KF_LEAVES_*
 * @nr: number of an ioctl
 * @size: size of that ioctl's structure
 * @field: the fields, the last one without a name
 * @run: execute it. Return: 0 or more, or -errno
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
 * @name: name for readers
 * @threads: number of threads, each of which runs all calls
 * @calls: number of calls
 * @call: the calls
 */
struct kf_prog {
	char name[KF_NAME];
	unsigned int threads;
	unsigned int calls;
	struct kf_call call[KF_CALLS];
};

/* Programs in the order in which they were added. */
struct kf_corpus {
	struct kf_prog *prog;
	unsigned int count;
	unsigned int room;
};

/* model.c: the table */
extern const struct kf_op kf_ops[];
extern const unsigned int kf_num_ops;
unsigned int kf_fields(const struct kf_op *op);

/* mutate.c: generating programs; equal seeds make equal programs */
uint64_t kf_rand(uint64_t *seed);
uint64_t kf_below(uint64_t *seed, uint64_t n);
void kf_make(struct kf_prog *p, uint64_t *seed);
void kf_mutate(struct kf_prog *p, const struct kf_corpus *from, uint64_t *seed);
void kf_remove(struct kf_prog *p, unsigned int at);

/* text.c: programs as text */
/* Return: number of characters. */
int kf_print_call(FILE *out, const struct kf_call *c);
void kf_print(FILE *out, const struct kf_prog *p);
/* Return: 0, or -1 after printing the error in the file. */
int kf_read(struct kf_corpus *to, const char *path);
void kf_add(struct kf_corpus *to, const struct kf_prog *p);
int kf_write(const struct kf_corpus *from, const char *path);

/* cover.c: places in the modules that a program reaches */
struct kf_set {
	unsigned int count;
	unsigned int room;
	uint32_t *id;
};

/* Return: whether the kernel records coverage. */
bool kf_cover_init(void);
/* Called by thread number @lane, which is below KF_THREADS * 2. */
void kf_cover_start(unsigned int lane);
void kf_cover_stop(unsigned int lane);
void kf_cover_clear(void);
/*
 * Stores the places that the last program has reached: all in @all, if it is
 * not NULL, and the new ones in @fresh.
 */
void kf_cover_take(struct kf_set *all, struct kf_set *fresh);
/* Removes from @set all places that are not in @other. */
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
/* Return: NULL, or a fault of the kernel, or leftover state. */
const char *kf_exec(const struct kf_prog *p, struct kf_result *result);

/* watch.c: the kernel's log, and the programs that ran */
int kf_watch_init(const char *dir);
void kf_journal(const struct kf_prog *p);
/* A report in the kernel's log, or NULL. */
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
/* Writes the fewest programs that reach all places. */
int kf_merge(const struct kf_corpus *corpus, const char *path);

#endif /* KFUZZ_H */
