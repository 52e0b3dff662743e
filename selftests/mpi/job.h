/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A collective with the result that each member must get; see job.c, mix.c. */
#ifndef JOB_H
#define JOB_H

#include <mpi.h>
#include <stddef.h>

#include "world.h"

#define MAX_MEMBERS	32
#define GUARD	(-77)

enum coll {
	BARRIER, BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK,
	REDUCE_SCATTER, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV,
	ALLTOALL, ALLTOALLV, COLLS
};

enum form { BLOCKING, NONBLOCKING, PERSIST, LARGE, FORMS };

enum { SUM, MAX, LAND, USER, OPS };
enum { INT, DOUBLE, SHORT, TYPES };

/**
 * struct job - a collective
 * @coll: function
 * @form: form of the call; start() replaces LARGE by another form
 * @large: this member calls the form with large counts
 * @c: communicator
 * @n: number of members of the communicator
 * @me: rank of this member
 * @root: rank of the root
 * @count: elements
 * @salt: makes the numbers of this job differ from those of other jobs
 * @type: type of a reduction
 * @op: operation of a reduction
 * @in_place: with MPI_IN_PLACE
 * @gaps: elements of this member's input and output have gaps
 * @in: contribution
 * @out: result
 * @want: expected result
 * @len: bytes of each
 * @icounts: this and the next three: arrays of a call with int counts
 * @wide_icounts: this and the next three: arrays of a call with large counts, which the
 *	call may read until it is complete
 * @req: request, until it is complete
 */
struct job {
	enum coll coll;
	enum form form;
	int large;
	int c, n, me, root, count, salt, type, op, in_place, gaps[2];
	char *in, *out, *want;
	size_t len;
	int icounts[MAX_MEMBERS], idispls[MAX_MEMBERS];
	int ocounts[MAX_MEMBERS], odispls[MAX_MEMBERS];
	MPI_Count wide_icounts[MAX_MEMBERS], wide_ocounts[MAX_MEMBERS];
	MPI_Aint wide_idispls[MAX_MEMBERS], wide_odispls[MAX_MEMBERS];
	MPI_Request req;
};

extern int bad;
extern MPI_Op user_op;		/* associative, not commutative */

void ops_make(void);
void ops_free(void);
MPI_Op op_of(const struct job *j);
int num(const struct job *j, int from, int to);
int is_v(enum coll coll);
void fill(struct job *j);
void prepare(struct job *j);
void check(int good, const char *what, int n);
void verify(struct job *j);
void release(struct job *j);

#endif /* JOB_H */
