// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests of collectives that this library executes, and the functions that
 * wait for requests.
 *
 * A non-blocking collective has a generalized request of the MPI; so handles,
 * also those of Fortran, work as without this library, and arrays may also
 * contain requests of the MPI.  For an error of such a request the MPI would
 * call the error handler of MPI_COMM_WORLD.  So the request succeeds, and the
 * functions below return the error; the status identifies the request that has
 * failed.
 *
 * The MPI has no persistent generalized requests.  A persistent collective has
 * the request of a persistent receive of an empty message from this process
 * itself: MPI_Start() starts the collective and the receive, and this library
 * sends the message when the collective has ended.  The functions below return
 * the error of the collective, as for non-blocking ones.
 *
 * Only threads of the program that call this library complete these requests.
 * So while collectives are in progress, functions that wait do not wait in the
 * MPI, but test repeatedly.
 */
#include <errno.h>
#include <stdlib.h>

#include "ami.h"

#define BUCKETS	256U

/**
 * struct kept - a persistent collective
 * @next: next in its bucket, or in the list of free ones
 * @handle: its request
 * @k: call
 * @held: copies of its datatypes, which the program may free; MPI_DATATYPE_NULL:
 *	none is needed
 * @tag: tag of its message
 * @failed: error class of the last start, until it is reported to the program
 */
struct kept {
	struct kept *next;
	MPI_Request handle;
	struct ami_call k;
	MPI_Datatype held[2];
	int tag;
	int failed;
};

/*
 * Error class of a failed collective whose request was queried by the MPI function
 * that this thread has called.  The status of the request has the tag
 * MPI_UNDEFINED - class.
 */
static __thread int failed_class;

static pthread_mutex_t ami_requests_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *buckets[BUCKETS];	/* hash table by handle */
static struct kept *unused;
static int last_tag = AMI_TAG_LONG;
static u32 num_kept;			/* atomic */
static u32 num_failed;			/* persistent collectives with an error; atomic */

static int request_query(void *extra, MPI_Status *status)
{
	const struct ami_work *w = extra;

	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED - w->err;
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	if (w->err)
		failed_class = w->err;
	return MPI_SUCCESS;
}

/**
 * ami_failed_none() - reset the error before a call of an MPI function that
 * tests requests
 *
 * Called after ami_progress(): error handlers may wait for requests.
 */
void ami_failed_none(void)
{
	failed_class = MPI_SUCCESS;
}

/*
 * Return: error class, if the status belongs to a failed collective, else
 * MPI_SUCCESS.  Resets the tag of the status.
 */
static int status_class(MPI_Status *status)
{
	int class = MPI_UNDEFINED - status->MPI_TAG;

	if (status->MPI_SOURCE != MPI_UNDEFINED || class <= MPI_SUCCESS ||
	    class > MPI_ERR_LASTCODE)
		return MPI_SUCCESS;
	status->MPI_TAG = MPI_UNDEFINED;
	return class;
}

static int request_free(void *extra)
{
	free(extra);
	return MPI_SUCCESS;
}

/* MPI forbids cancelling collectives. */
static int request_cancel(void *extra, int complete)
{
	(void)extra;
	return complete ? MPI_SUCCESS : MPI_ERR_REQUEST;
}

/**
 * ami_request_begin() - create the request of an operation before it starts
 * @w: operation, which the request then owns
 * @end: AMI_END_REQUEST, or AMI_END_MESSAGE: the request exists already
 * @req: out: request
 *
 * Return: MPI_SUCCESS, or an error class.
 */
int ami_request_begin(struct ami_work *w, enum ami_end end, MPI_Request *req)
{
	int ret = end == AMI_END_MESSAGE ? MPI_SUCCESS :
		  PMPI_Grequest_start(request_query, request_free,
				      request_cancel, w, req);

	if (ret)
		return ret;
	w->end = end;
	if (req)
		w->request = *req;
	ami_pending_add();
	return MPI_SUCCESS;
}

static struct kept **kept_bucket(MPI_Request handle)
{
	u64 hash = (u64)(uintptr_t)handle * 0x9E3779B97F4A7C15ULL;

	return &buckets[hash >> 56];
}

static struct kept **kept_find(MPI_Request handle)
{
	struct kept **at = kept_bucket(handle);

	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	return at;
}

/* Records the error of the collective whose message has this tag. */
static void kept_fail(int tag, int class)
{
	struct kept *p;
	u32 i;

	pthread_mutex_lock(&ami_requests_lock);
	for (i = 0; i < BUCKETS; i++)
		for (p = buckets[i]; p; p = p->next)
			if (p->tag == tag && !p->failed) {
				p->failed = class;
				ang_fetch_add(&num_failed, 1);
			}
	pthread_mutex_unlock(&ami_requests_lock);
}

/**
 * ami_request_end() - complete the request of an operation
 * @w: operation; freed with the request
 * @class: MPI_SUCCESS, or an error class
 */
void ami_request_end(struct ami_work *w, int class)
{
	if (w->end == AMI_END_MESSAGE) {
		if (class)
			kept_fail(w->tag, class);
		PMPI_Send(&w->tag, 0, MPI_BYTE, 0, w->tag, ami.self);
		free(w);
	} else {
		w->err = class;
		PMPI_Grequest_complete(w->request);
	}
	ami_pending_end();
}

/*
 * Return: error class of a persistent collective that has ended.  Resets the
 * class.
 */
static int kept_failed(MPI_Request handle)
{
	struct kept *p;
	int class = MPI_SUCCESS;

	pthread_mutex_lock(&ami_requests_lock);
	p = *kept_find(handle);
	if (p && p->failed) {
		class = p->failed;
		p->failed = MPI_SUCCESS;
		ang_fetch_add(&num_failed, -1);
	}
	pthread_mutex_unlock(&ami_requests_lock);
	return class;
}

/*
 * As kept_failed(), for request @i of those that an MPI function has completed.
 */
static int done_failed(const struct ami_done *d, int i)
{
	int at = d->places ? d->places[i] - d->base : i;

	if (at < 0 || !ang_load_acquire(&num_failed))
		return MPI_SUCCESS;
	return kept_failed(d->reqs ? d->reqs[at] : PMPI_Request_f2c(d->freqs[at]));
}

/**
 * ami_failed_one() - get the result of a function that completes one request
 * @ret: result of the MPI
 * @d: the request, if it is complete
 * @status: status of the request, or MPI_STATUS_IGNORE
 */
int ami_failed_one(int ret, struct ami_done d, MPI_Status *status)
{
	if (ret)
		return ret;
	if (failed_class && status != MPI_STATUS_IGNORE)
		status_class(status);
	return failed_class ? failed_class : d.num > 0 ? done_failed(&d, 0) :
							 MPI_SUCCESS;
}

/**
 * ami_failed_some() - get the result of a function that completes several
 * requests
 * @ret: result of the MPI
 * @d: the requests that are complete
 * @statuses: statuses of these, or MPI_STATUSES_IGNORE
 */
int ami_failed_some(int ret, struct ami_done d, MPI_Status *statuses)
{
	bool failed = failed_class, ignore = statuses == MPI_STATUSES_IGNORE;
	int i;

	if ((ret && ret != MPI_ERR_IN_STATUS) ||
	    (!failed && !ang_load_acquire(&num_failed)))
		return ret;
	for (i = 0; i < d.num; i++) {
		int class = done_failed(&d, i);

		if (!class && !ignore)
			class = status_class(&statuses[i]);
		failed |= class != MPI_SUCCESS;
		if (!ignore && (class || !ret))
			statuses[i].MPI_ERROR = class;
	}
	return failed ? MPI_ERR_IN_STATUS : ret;
}

static struct kept *kept_new(void)
{
	struct kept *p = unused;

	if (p) {
		unused = p->next;
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (p)
		p->tag = ++last_tag;
	return p;
}

static int kept_hold(MPI_Datatype *type, bool used, MPI_Datatype *held)
{
	int ret;

	*held = MPI_DATATYPE_NULL;
	if (!used || ami_type_flat(*type))
		return MPI_SUCCESS;
	ret = PMPI_Type_dup(*type, held);
	if (!ret)
		*type = *held;
	return ret;
}

static void kept_drop(struct kept *p)
{
	u32 i;

	if (p->failed)
		ang_fetch_add(&num_failed, -1);
	p->failed = MPI_SUCCESS;
	for (i = 0; i < 2; i++)
		if (p->held[i] != MPI_DATATYPE_NULL)
			PMPI_Type_free(&p->held[i]);
	p->next = unused;
	unused = p;
}

static int kept_open(struct kept *p, const struct ami_call *k, MPI_Request *req)
{
	int ret;

	p->k = *k;
	p->held[1] = MPI_DATATYPE_NULL;
	ret = kept_hold(&p->k.type, ami_call_uses(k, true), &p->held[0]);
	if (!ret)
		ret = kept_hold(&p->k.otype, ami_call_uses(k, false), &p->held[1]);
	return ret ? ret : PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, p->tag, ami.self, req);
}

/**
 * ami_request_keep() - create the request of a persistent collective
 * @k: call
 * @req: out: request
 *
 * Return: MPI_SUCCESS, or an error class.
 */
int ami_request_keep(const struct ami_call *k, MPI_Request *req)
{
	struct kept *p, **at;
	int ret;

	pthread_mutex_lock(&ami_requests_lock);
	p = kept_new();
	ret = p ? kept_open(p, k, req) : MPI_ERR_NO_MEM;
	if (!ret) {
		p->handle = *req;
		at = kept_bucket(*req);
		p->next = *at;
		*at = p;
		ang_fetch_add(&num_kept, 1);
	} else if (p) {
		kept_drop(p);
	}
	pthread_mutex_unlock(&ami_requests_lock);
	return ret;
}

/*
 * Starts the collective of a persistent request, after the MPI has started the
 * request itself.  On failure, completes the request, so it is inactive.
 */
static int kept_start(MPI_Request *req)
{
	MPI_Request handle = *req;
	struct ami_call k;
	struct kept *p;
	int tag = 0, ret;

	pthread_mutex_lock(&ami_requests_lock);
	p = *kept_find(handle);
	if (p) {
		k = p->k;
		tag = p->tag;
	}
	pthread_mutex_unlock(&ami_requests_lock);
	ret = p ? ami_call_again(&k, tag) : MPI_SUCCESS;
	if (ret) {
		PMPI_Send(&tag, 0, MPI_BYTE, 0, tag, ami.self);
		PMPI_Wait(req, MPI_STATUS_IGNORE);
	}
	return ret;
}

static void kept_free(MPI_Request handle)
{
	struct kept **at, *p;

	pthread_mutex_lock(&ami_requests_lock);
	at = kept_find(handle);
	p = *at;
	if (p) {
		*at = p->next;
		kept_drop(p);
		ang_fetch_add(&num_kept, -1);
	}
	pthread_mutex_unlock(&ami_requests_lock);
}

/**
 * ami_requests_forget() - prevent the start of the persistent collectives of a
 * communicator that is about to be freed
 * @c: data of the communicator
 *
 * Their requests exist until the program frees them.
 */
void ami_requests_forget(const struct ami_comm *c)
{
	struct kept *p;
	u32 i;

	pthread_mutex_lock(&ami_requests_lock);
	for (i = 0; i < BUCKETS; i++)
		for (p = buckets[i]; p; p = p->next)
			if (p->k.c == c)
				p->k.c = NULL;
	pthread_mutex_unlock(&ami_requests_lock);
}

EXPORT int MPI_Start(MPI_Request *req)
{
	int ret = PMPI_Start(req);

	return ret || !ang_load_acquire(&num_kept) ? ret : kept_start(req);
}

EXPORT int MPI_Startall(int n, MPI_Request reqs[])
{
	int ret = PMPI_Startall(n, reqs), first = ret, i;

	/*
	 * If one request fails, start the next ones, too: other members may wait
	 * for their collectives.
	 */
	for (i = 0; i < n && !ret && ang_load_acquire(&num_kept); i++) {
		int err = kept_start(&reqs[i]);

		first = first ? first : err;
	}
	return first;
}

EXPORT int MPI_Request_free(MPI_Request *req)
{
	/* Remove the collective before another thread gets the same handle. */
	if (ang_load_acquire(&num_kept))
		kept_free(*req);
	return PMPI_Request_free(req);
}

/**
 * ami_requests_wait() - wait until all requests of an array are complete
 * @d: array
 *
 * Used only while requests of this library are in progress.  Each request is
 * tested separately: MPI_Testall() of MPICH 4 fails while a persistent
 * collective of the MPI is in progress.  Errors are not reported here: the
 * caller then calls a function that completes the requests.
 */
void ami_requests_wait(struct ami_done d)
{
	u32 turns = 0;
	int i = 0;

	while (i < d.num && (d.reqs || d.freqs) && ami_pending()) {
		MPI_Request req = d.reqs ? d.reqs[i] : PMPI_Request_f2c(d.freqs[i]);
		int flag = 1;

		if (PMPI_Request_get_status(req, &flag, MPI_STATUS_IGNORE) || flag) {
			i++;
			continue;
		}
		ami_relax(turns++);
		ami_progress();
	}
}

/*
 * Defines MPI_<name>(), which waits: it calls @test in a loop while requests of
 * this library are in progress, then the MPI's own function.  @tested: @test
 * has found the requests that the caller waits for.  @result: value to return
 * if the MPI returns @ret.
 */
#define WAIT(name, params, args, test, tested, result)			\
EXPORT int MPI_##name params						\
{									\
	int ret, flag = 0;						\
	u32 turns = 0;							\
									\
	(void)flag;							\
	for (; ami_pending(); ami_relax(turns++)) {			\
		ami_progress();						\
		ami_failed_none();					\
		ret = test;						\
		if (ret || (tested))					\
			return result;					\
	}								\
	ami_failed_none();						\
	ret = PMPI_##name args;						\
	return result;							\
}

/* Defines MPI_<name>(), which tests: it makes progress, then calls the MPI's own function. */
#define TEST(name, params, args, result)				\
EXPORT int MPI_##name params						\
{									\
	int ret;							\
									\
	if (ami_pending())						\
		ami_progress();						\
	ami_failed_none();						\
	ret = PMPI_##name args;						\
	return result;							\
}

#define ARRAY(many, ...)		((struct ami_done){ .num = (many), __VA_ARGS__ })
#define NONE			ARRAY(0, .reqs = NULL)
#define THIS(done, req)		ARRAY(done, .reqs = (req))
#define ANY(done)		ARRAY(done, .places = index, .reqs = reqs)
#define ALL(done)		ARRAY((done) ? n : 0, .reqs = reqs)
#define SOME			ARRAY(*num, .places = indices, .reqs = reqs)
#define ONE_OF(done)		ami_failed_one(ret, done, status)
#define SOME_OF(done)		ami_failed_some(ret, done, statuses)

WAIT(Wait, (MPI_Request *req, MPI_Status *status), (req, status),
     PMPI_Test(req, &flag, status), flag, ONE_OF(THIS(1, req)))
WAIT(Waitany, (int n, MPI_Request reqs[], int *index, MPI_Status *status),
     (n, reqs, index, status), PMPI_Testany(n, reqs, index, &flag, status), flag,
     ONE_OF(ANY(1)))
WAIT(Waitsome, (int n, MPI_Request reqs[], int *num, int indices[],
		MPI_Status *statuses), (n, reqs, num, indices, statuses),
     PMPI_Testsome(n, reqs, num, indices, statuses), *num, SOME_OF(SOME))

EXPORT int MPI_Waitall(int n, MPI_Request reqs[], MPI_Status *statuses)
{
	int ret;

	ami_requests_wait(ALL(true));
	ami_failed_none();
	ret = PMPI_Waitall(n, reqs, statuses);
	return SOME_OF(ALL(true));
}

TEST(Test, (MPI_Request *req, int *flag, MPI_Status *status),
     (req, flag, status), ONE_OF(THIS(*flag, req)))
/*
 * MPICH queries complete requests even if others are not complete: report errors only if
 * all are complete.
 */
TEST(Testall, (int n, MPI_Request reqs[], int *flag, MPI_Status *statuses),
     (n, reqs, flag, statuses), *flag ? SOME_OF(ALL(true)) : ret)
TEST(Testany, (int n, MPI_Request reqs[], int *index, int *flag,
	       MPI_Status *status), (n, reqs, index, flag, status),
     ONE_OF(ANY(*flag)))
TEST(Testsome, (int n, MPI_Request reqs[], int *num, int indices[],
		MPI_Status *statuses), (n, reqs, num, indices, statuses),
     SOME_OF(SOME))
TEST(Request_get_status, (MPI_Request req, int *flag, MPI_Status *status),
     (req, flag, status), ONE_OF(NONE))

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
TEST(Request_get_status_all, (int n, MPI_Request reqs[], int *flag,
			      MPI_Status *statuses), (n, reqs, flag, statuses),
     *flag ? SOME_OF(NONE) : ret)
TEST(Request_get_status_any, (int n, MPI_Request reqs[], int *index,
			      int *flag, MPI_Status *status),
     (n, reqs, index, flag, status), ONE_OF(NONE))
TEST(Request_get_status_some, (int n, MPI_Request reqs[], int *num, int indices[],
			       MPI_Status *statuses),
     (n, reqs, num, indices, statuses), SOME_OF(NONE))
#endif
