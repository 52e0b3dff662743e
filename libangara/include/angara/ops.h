/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: one-sided operations, atomic operations, completion.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_OPS_H
#define ANGARA_OPS_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every operation has two forms.  The form whose name ends in _nbi never waits:
 * it starts the operation, or returns -EAGAIN when the queues are full, and
 * angara_poll() returns the completion.  The other form returns when the
 * operation is complete.
 *
 * One-sided operations.  The target process does not take part.  A put is
 * complete when the data is in the target's memory, a get when it is in local
 * memory.
 */

/**
 * angara_put_nbi() - write to a peer's memory
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @src: local region, not to be changed until the operation is complete; NULL:
 *	memory that is not registered
 * @src_off: offset in it; with NULL an address
 * @len: bytes, up to ANGARA_MAX_OP_BYTES; 0 only notifies
 * @op: options and completion, or NULL
 *
 * The library registers unregistered memory on first use and holds it until the
 * operation is complete, as with angara_mr_hold().
 *
 * Return: 0; -EAGAIN the queues are full now; -EINVAL a value out of range;
 * -ENODEV the device is gone; with NULL also as angara_mr_hold().  The
 * completion reports errors of the target.
 */
int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		   uint64_t dst_key, uint64_t dst_off, const struct angara_mr *src,
		   uint64_t src_off, size_t len, const struct angara_op *op);
/*
 * angara_put() - write to a peer's memory, and wait until it is complete
 *
 * Return: 0; -EINVAL a value out of range; -ENODEV the device is gone; the
 * errno of the operation's status, see angara_status_errno().
 */
int angara_put(struct angara_ctx *ctx, struct angara_peer peer,
	       uint64_t dst_key, uint64_t dst_off, const struct angara_mr *src,
	       uint64_t src_off, size_t len);
/*
 * angara_put_inline_nbi() - write at most ANGARA_MAX_INLINE bytes
 * @data: anywhere in memory, copied
 *
 * Return: as angara_put_nbi().
 */
int angara_put_inline_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			  uint64_t dst_key, uint64_t dst_off, const void *data,
			  size_t len, const struct angara_op *op);
/** As angara_put() for at most ANGARA_MAX_INLINE bytes anywhere in memory. */
int angara_put_inline(struct angara_ctx *ctx, struct angara_peer peer,
		      uint64_t dst_key, uint64_t dst_off, const void *data,
		      size_t len);
/*
 * angara_get_nbi() - read a peer's memory
 * @src_key: region at the target, with ANGARA_ACCESS_REMOTE_READ
 * @dst: local region, with ANGARA_ACCESS_LOCAL_WRITE; NULL: @dst_off is an
 *	address, as for angara_put_nbi()
 *
 * Return: as angara_put_nbi().
 */
int angara_get_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		   uint64_t src_key, uint64_t src_off, const struct angara_mr *dst,
		   uint64_t dst_off, size_t len, const struct angara_op *op);
/** Read a peer's memory, and wait for the data.  Return: as angara_put(). */
int angara_get(struct angara_ctx *ctx, struct angara_peer peer,
	       uint64_t src_key, uint64_t src_off, const struct angara_mr *dst,
	       uint64_t dst_off, size_t len);
/*
 * angara_get_inline() - read at most ANGARA_MAX_INLINE bytes, and wait for them
 * @data: out: anywhere in memory
 *
 * Return: as angara_put(); -ENOMEM.
 */
int angara_get_inline(struct angara_ctx *ctx, struct angara_peer peer,
		      uint64_t src_key, uint64_t src_off, void *data,
		      size_t len);

/* angara_signal.op */
#define ANGARA_SIGNAL_SET	0
#define ANGARA_SIGNAL_ADD	1

/**
 * struct angara_signal - a word at the target to change after the data is
 * written
 * @size: sizeof(struct angara_signal)
 * @op: ANGARA_SIGNAL_SET, ANGARA_SIGNAL_ADD
 * @key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE
 * @off: offset in it of the word, 64 bits, aligned
 * @value: new value, or value to add
 */
struct angara_signal {
	uint32_t size;
	uint32_t op;
	uint64_t key;
	uint64_t off;
	uint64_t value;
};

/*
 * angara_put_signal_nbi() - write to a peer's memory, then change a word there
 * @sig: word; a process that reads the changed value also reads the new data
 * @op: options of put and signal, which have one completion, or NULL;
 *	ANGARA_NOTIFY counts the signal, which wakes the target
 *
 * The word changes even if the target refuses the data; only the completion at
 * the caller reports the refusal.  The signal has ANGARA_FENCE: it also waits
 * for earlier collectives of the context, such as a barrier.
 *
 * Return: as angara_put_nbi().
 */
int angara_put_signal_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			  uint64_t dst_key, uint64_t dst_off,
			  const struct angara_mr *src, uint64_t src_off,
			  size_t len, const struct angara_signal *sig,
			  const struct angara_op *op);
/** As angara_put_signal_nbi(), and wait for both.  Return: as angara_put(). */
int angara_put_signal(struct angara_ctx *ctx, struct angara_peer peer,
		      uint64_t dst_key, uint64_t dst_off,
		      const struct angara_mr *src, uint64_t src_off, size_t len,
		      const struct angara_signal *sig);
/** As angara_put_signal_nbi(), with data as in angara_put_inline_nbi(). */
int angara_put_signal_inline_nbi(struct angara_ctx *ctx,
				 struct angara_peer peer, uint64_t dst_key,
				 uint64_t dst_off, const void *data, size_t len,
				 const struct angara_signal *sig,
				 const struct angara_op *op);
/** As angara_put_signal_inline_nbi(), and wait.  Return: as angara_put(). */
int angara_put_signal_inline(struct angara_ctx *ctx, struct angara_peer peer,
			     uint64_t dst_key, uint64_t dst_off,
			     const void *data, size_t len,
			     const struct angara_signal *sig);

/**
 * angara_put_strided() - write elements at equal distances, and wait
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target
 * @dst_off: offset in it of the first element
 * @dst_stride: bytes from one element to the next, may be negative
 * @src: local region; NULL: memory that is not registered
 * @src_off: offset in it of the first element; with NULL an address
 * @src_stride: bytes from one element to the next
 * @len: bytes of an element
 * @n: elements
 *
 * Return: as angara_put(); -EINVAL a local element is outside of its region:
 * then no element is written; if @src is NULL, also as angara_mr_hold(): then
 * some elements may be written.
 */
int angara_put_strided(struct angara_ctx *ctx, struct angara_peer peer,
		       uint64_t dst_key, uint64_t dst_off, int64_t dst_stride,
		       const struct angara_mr *src, uint64_t src_off,
		       int64_t src_stride, size_t len, size_t n);
/** Read elements at equal distances, and wait. */
int angara_get_strided(struct angara_ctx *ctx, struct angara_peer peer,
		       uint64_t src_key, uint64_t src_off, int64_t src_stride,
		       const struct angara_mr *dst, uint64_t dst_off,
		       int64_t dst_stride, size_t len, size_t n);
/** As angara_put_strided(), with the offset or address of each element. */
int angara_put_indexed(struct angara_ctx *ctx, struct angara_peer peer,
		       uint64_t dst_key, const uint64_t *dst_offs,
		       const struct angara_mr *src, const uint64_t *src_offs,
		       size_t len, size_t n);
/** As angara_get_strided(), with the offset or address of each element. */
int angara_get_indexed(struct angara_ctx *ctx, struct angara_peer peer,
		       uint64_t src_key, const uint64_t *src_offs,
		       const struct angara_mr *dst, const uint64_t *dst_offs,
		       size_t len, size_t n);

/* angara_words.cmp: relation of the word to the value */
#define ANGARA_CMP_EQ		0
#define ANGARA_CMP_NE		1
#define ANGARA_CMP_GT		2
#define ANGARA_CMP_GE		3
#define ANGARA_CMP_LT		4
#define ANGARA_CMP_LE		5

/* angara_words.flags */
#define ANGARA_WORDS_EACH	(1U << 0) /* one value per word */

/**
 * struct angara_words - words in this process's memory that peers write
 * @size: sizeof(struct angara_words)
 * @flags: ANGARA_WORDS_EACH
 * @type: ANGARA_TYPE_INT32, UINT32, INT64, UINT64
 * @cmp: ANGARA_CMP_*
 * @n: number of words
 * @reserved: must be 0
 * @words: words, aligned to their size
 * @values: the value to compare with, or one for each word
 * @skip: for each word: not 0: skip the word; NULL: skip none
 */
struct angara_words {
	uint32_t size;
	uint32_t flags;
	uint32_t type;
	uint32_t cmp;
	uint32_t n;
	uint32_t reserved;
	const void *words;
	const void *values;
	const int *skip;
};

/**
 * angara_wait_all() - wait until a comparison holds for all words
 * @ctx: context
 * @words: words
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * When it returns, data written before the words is visible.
 *
 * Return: 0; -ETIMEDOUT; -EINVAL; -ENODEV the device is gone.
 */
int angara_wait_all(struct angara_ctx *ctx, const struct angara_words *words,
		    int timeout_ms);
/**
 * angara_wait_some() - wait until a comparison holds for any word
 * @ctx: context
 * @words: words, of which not all are skipped
 * @timeout_ms: deadline, or ANGARA_FOREVER
 * @index: out: indices of the words for which the comparison holds
 * @max: capacity of @index, 1 to wait for any one
 *
 * Return: number of indices; -ETIMEDOUT; -EINVAL; -ENODEV the device is gone.
 */
int angara_wait_some(struct angara_ctx *ctx, const struct angara_words *words,
		     int timeout_ms, uint32_t *index, uint32_t max);
/**
 * angara_words_find() - test words once, without a context
 * @words: words
 * @index: out: indices of the words for which the comparison holds; NULL: test
 *	all words
 * @max: capacity of @index
 *
 * Does not use a context, so threads that share a context may call this function
 * without the lock of the context.
 *
 * Return: length of @index; without it, 1 if the comparison holds for all words, or 0;
 * -EINVAL.
 */
int angara_words_find(const struct angara_words *words, uint32_t *index, uint32_t max);
/** Test all words once.  Return: 1: the comparison holds for all; 0; -EINVAL; -ENODEV. */
int angara_test_all(struct angara_ctx *ctx, const struct angara_words *words);
/** Find words without waiting.  Return: length of @index; -EINVAL; -ENODEV. */
int angara_test_some(struct angara_ctx *ctx, const struct angara_words *words,
		     uint32_t *index, uint32_t max);

/*
 * Atomic operations on a peer's memory, or the caller's own.  An operation
 * applies to @count consecutive elements, each aligned to its size, element by
 * element.  The operations are atomic with respect to operations of the same
 * adapter, but not to loads and stores of processors.
 */

/**
 * angara_atomic_nbi() - change elements at a peer
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @x: operands, @count elements, copied
 * @count: elements, 1 or more, ANGARA_MAX_ATOMIC bytes at most
 * @type: ANGARA_TYPE_INT32 .. ANGARA_TYPE_DOUBLE
 * @op: ANGARA_ATOMIC_SUM .. ANGARA_ATOMIC_WRITE, not ANGARA_ATOMIC_READ
 * @how: options and completion, or NULL
 *
 * Return: 0; -EAGAIN the queues are full now; -EINVAL a value out of range, or
 * @type does not have @op; -ENOTSUP the device has no atomic operations;
 * -ENODEV the device is gone.
 */
int angara_atomic_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		      uint64_t dst_key, uint64_t dst_off, const void *x,
		      size_t count, unsigned int type, unsigned int op,
		      const struct angara_op *how);
/** Change elements at a peer, and wait until the operation is complete. */
int angara_atomic(struct angara_ctx *ctx, struct angara_peer peer,
		  uint64_t dst_key, uint64_t dst_off, const void *x,
		  size_t count, unsigned int type, unsigned int op);
/**
 * angara_fetch_nbi() - change elements at a peer, and return the old values
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_READ and, except
 *	for ANGARA_ATOMIC_READ, ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @x: operands, copied; NULL for ANGARA_ATOMIC_READ
 * @count: elements, 1 or more, ANGARA_MAX_ATOMIC bytes at most
 * @type: ANGARA_TYPE_INT32 .. ANGARA_TYPE_DOUBLE
 * @op: ANGARA_ATOMIC_SUM .. ANGARA_ATOMIC_WRITE
 * @old: local region for the old values, with ANGARA_ACCESS_LOCAL_WRITE; NULL:
 *	memory that is not registered
 * @old_off: offset in it; with NULL an address
 * @how: options and completion, or NULL
 *
 * Return: as angara_atomic_nbi(); with NULL also as angara_mr_hold().
 */
int angara_fetch_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		     uint64_t dst_key, uint64_t dst_off, const void *x,
		     size_t count, unsigned int type, unsigned int op,
		     const struct angara_mr *old, uint64_t old_off,
		     const struct angara_op *how);
/*
 * angara_fetch() - change elements at a peer, and wait for the old values
 * @old: out: @count elements, anywhere in memory
 */
int angara_fetch(struct angara_ctx *ctx, struct angara_peer peer,
		 uint64_t dst_key, uint64_t dst_off, const void *x,
		 size_t count, unsigned int type, unsigned int op, void *old);
/**
 * angara_compare_nbi() - change elements at a peer if a comparison holds
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE, and with
 *	ANGARA_ACCESS_REMOTE_READ if the old values are returned
 * @dst_off: offset in it
 * @x: values to write, @count elements, copied
 * @y: values to compare with, copied
 * @count: elements, 1 or more, half of ANGARA_MAX_ATOMIC bytes at most
 * @type: ANGARA_TYPE_INT32 .. ANGARA_TYPE_DOUBLE
 * @op: ANGARA_ATOMIC_CSWAP .. ANGARA_ATOMIC_MSWAP
 * @old: local region for the old values, or NULL
 * @old_off: offset in it; with NULL an address, or 0: the old values are not
 *	returned
 * @how: options and completion, or NULL
 *
 * Return: as angara_atomic_nbi().
 */
int angara_compare_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		       uint64_t dst_key, uint64_t dst_off, const void *x,
		       const void *y, size_t count, unsigned int type,
		       unsigned int op, const struct angara_mr *old,
		       uint64_t old_off, const struct angara_op *how);
/*
 * angara_compare() - as angara_compare_nbi(), and wait for the old values
 * @old: out: @count elements, anywhere in memory, or NULL
 */
int angara_compare(struct angara_ctx *ctx, struct angara_peer peer,
		   uint64_t dst_key, uint64_t dst_off, const void *x,
		   const void *y, size_t count, unsigned int type,
		   unsigned int op, void *old);
/** Return: 1 if @type (ANGARA_TYPE_*) has @op (ANGARA_ATOMIC_*), else 0. */
int angara_atomic_valid(unsigned int op, unsigned int type);

/* Completions. */

/**
 * struct angara_completion - result of an operation
 * @cookie: angara_op.cookie
 * @length: bytes completed
 * @status: ANGARA_ST_*
 * @node: node at fault if @status is not ANGARA_ST_OK
 * @reserved: 0
 */
struct angara_completion {
	uint64_t cookie;
	uint64_t length;
	uint32_t status;
	uint32_t node;
	uint64_t reserved;
};

/**
 * angara_poll() - take completions
 * @ctx: context
 * @out: out: completions, in the order in which the operations ended
 * @n: capacity of @out
 *
 * Makes no system call while there are completions.  About one in a thousand
 * calls that find none may check with a system call that the device still
 * exists.
 *
 * Return: number of completions, 0 if there is none; -ENODEV there is none and
 * the device is gone.
 */
int angara_poll(struct angara_ctx *ctx, struct angara_completion *out,
		unsigned int n);
/**
 * angara_poll_wait() - take completions, and wait for the first
 * @ctx: context
 * @out: out: completions
 * @n: capacity of @out, not 0
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Spins briefly, then sleeps.
 *
 * Return: number of completions; -ETIMEDOUT; -ENODEV the device is gone;
 * -EINVAL.
 */
int angara_poll_wait(struct angara_ctx *ctx, struct angara_completion *out,
		     unsigned int n, int timeout_ms);
/**
 * angara_flush() - ring the doorbell that operations with ANGARA_MORE have
 * deferred
 * @ctx: context
 *
 * Return: 0; -ENODEV the device is gone.
 */
int angara_flush(struct angara_ctx *ctx);
/**
 * angara_quiet() - wait until all operations of a context are complete
 * @ctx: context
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * angara_poll() still returns their completions.
 *
 * Return: 0; -ETIMEDOUT; -ENODEV the device is gone; the errno of the first failed
 * operation among those that have no completion of their own.
 */
int angara_quiet(struct angara_ctx *ctx, int timeout_ms);

/*
 * Sleeping.  A program that has its own event loop arms the context, as with
 * ibv_req_notify_cq(), and sleeps in poll(2):
 *
 *	while ((n = angara_poll(ctx, out, 16)) == 0)
 *		if (!angara_ctx_arm(ctx))
 *			poll(&(struct pollfd){ angara_ctx_fd(ctx), POLLIN },
 *			     1, -1);
 *
 * While a context is not armed, events cause no system calls.
 */

/**
 * angara_ctx_fd() - descriptor for poll(2)
 * @ctx: context
 *
 * On an embedded fabric the first call starts a thread, which ends with the
 * context.
 *
 * Return: the descriptor, which the library owns; -ENODEV; -EMFILE; -ENOMEM, also
 * if the thread cannot be created.
 */
int angara_ctx_fd(struct angara_ctx *ctx);
/**
 * angara_ctx_arm() - let the next event make the descriptor readable
 * @ctx: context
 *
 * Events are completions, messages, broadcasts that arrive, and user counters.
 * Each call arms one event: the descriptor stays readable until the context is
 * armed again.  Functions that wait, such as angara_quiet(), may take the event for
 * which the context is armed: arm it again after them.
 *
 * Return: 0; -EAGAIN there is a completion or a message already, and the
 * context is armed nevertheless; -ENODEV the device is gone; as angara_ctx_fd().
 */
int angara_ctx_arm(struct angara_ctx *ctx);

/**
 * typedef angara_turn_fn - let other threads use a context
 * @arg: argument given to angara_ctx_turns()
 *
 * The function releases the lock by which the program protects the context, and
 * takes it again.
 */
typedef void (*angara_turn_fn)(void *arg);

/**
 * angara_ctx_turns() - share a context among threads whose calls wait
 * @ctx: context
 * @turn: called at least once a millisecond by a call that sleeps; NULL: never
 * @arg: passed to @turn
 *
 * Threads that share a context must protect it by a lock.  Without @turn, a
 * thread that waits for other processes, such as in angara_team_subset(), keeps
 * the lock; then threads that need each other's calls in different orders wait
 * for ever.  While one thread waits, other threads may call all functions
 * except those that return a few bytes by value (angara_get_inline(),
 * angara_fetch(), angara_compare()), the strided functions, and collectives of
 * the same team.
 */
void angara_ctx_turns(struct angara_ctx *ctx, angara_turn_fn turn, void *arg);

/** Read user counter @n; the data that it counts is visible after the call. */
uint64_t angara_counter(struct angara_ctx *ctx, unsigned int n);
/** Wait until user counter @n is at least @value. */
int angara_counter_wait(struct angara_ctx *ctx, unsigned int n, uint64_t value,
			int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_OPS_H */
