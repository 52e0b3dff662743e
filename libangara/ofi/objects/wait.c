// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sleeping until there may be an event.
 *
 * Every wait object is an epoll(7) descriptor over three descriptors: the
 * context's, which reports events of the adapter; an eventfd(2), which reports
 * events that another thread's progress has produced; and the timer of probe.c.
 *
 * To lose no event, a thread that is about to sleep does this under the
 * domain's lock: clear the eventfd, make progress, arm the context, check for
 * events.  Then it sleeps without the lock.  A program that never sleeps skips
 * all of this, so its operations need no system call.
 *
 * Several threads may sleep on one object.  A thread that was woken looks at the
 * eventfd again, and sleeps on if another thread has cleared it.  So the eventfd
 * stays readable as long as there is something to wake a thread for: an entry
 * of the queue, or a thread whose wait for the counter has ended.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "afi.h"

/* Return: true if the kind is supported.  @waits: out: it has a descriptor */
bool afi_wait_kind(enum fi_wait_obj obj, bool *waits)
{
	*waits = obj != FI_WAIT_NONE;
	return obj == FI_WAIT_NONE || obj == FI_WAIT_UNSPEC ||
	       obj == FI_WAIT_FD || obj == FI_WAIT_YIELD;
}

static int wait_watch(const struct afi_wait *w, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0)
		return fd;
	return epoll_ctl(w->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/*
 * Opens the epoll descriptor of the domain, which watches the context's
 * descriptor.  All wait objects watch this epoll descriptor, so the context can
 * be removed from all of them at once, see afi_wait_gone().
 */
static int ctx_events(struct afi_domain *d)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = angara_ctx_fd(d->ctx);

	if (d->has_events || fd < 0)
		return d->has_events ? d->events_fd : fd;
	d->events_fd = epoll_create1(EPOLL_CLOEXEC);
	if (d->events_fd < 0)
		return -errno;
	if (epoll_ctl(d->events_fd, EPOLL_CTL_ADD, fd, &ev)) {
		close(d->events_fd);
		return -errno;
	}
	d->has_events = true;
	return d->events_fd;
}

/*
 * Removes the descriptor of an adapter that is gone: it stays readable for
 * ever, or never becomes readable, and must not wake any thread again.
 */
void afi_wait_gone(struct afi_domain *d)
{
	if (d->has_events)
		epoll_ctl(d->events_fd, EPOLL_CTL_DEL, angara_ctx_fd(d->ctx),
			  NULL);
}

void afi_wait_end(struct afi_domain *d)
{
	if (d->has_events)
		close(d->events_fd);
	d->has_events = false;
}

/* Wakes all threads that sleep for events of a domain, which is locked. */
void afi_wait_wake_all(struct afi_domain *d)
{
	struct afi_link *link;

	for (link = d->waits.next; link != &d->waits; link = link->next)
		afi_wait_wake(afi_of(link, struct afi_wait, link));
}

/*
 * Opens a wait object. @d: domain whose events wake the threads, locked; or
 * NULL
 */
int afi_wait_open(struct afi_wait *w, struct afi_domain *d)
{
	int ret;

	afi_list_init(&w->link);
	w->raised = false;
	w->evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->evfd < 0)
		return -errno;
	w->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epfd < 0) {
		ret = -errno;
		goto close_evfd;
	}
	ret = wait_watch(w, w->evfd);
	if (!ret && d)
		ret = wait_watch(w, ctx_events(d));
	if (!ret && d)
		ret = wait_watch(w, d->probe_fd);
	if (!ret && d)
		afi_list_add(&d->waits, &w->link);
	if (!ret)
		return 0;
	close(w->epfd);
close_evfd:
	close(w->evfd);
	return ret;
}

/* Closes a wait object; its domain, if any, is locked. */
void afi_wait_close(struct afi_wait *w)
{
	afi_list_del(&w->link);
	close(w->epfd);
	close(w->evfd);
}

/*
 * Wakes threads. One write is enough until the sleeping thread clears the
 * eventfd.
 */
void afi_wait_wake(struct afi_wait *w)
{
	if (!__atomic_exchange_n(&w->raised, true, __ATOMIC_SEQ_CST))
		eventfd_write(w->evfd, 1);
}

void afi_wait_quiet(struct afi_wait *w)
{
	eventfd_t count;

	if (__atomic_load_n(&w->raised, __ATOMIC_SEQ_CST)) {
		eventfd_read(w->evfd, &count);
		__atomic_store_n(&w->raised, false, __ATOMIC_SEQ_CST);
	}
}

/*
 * Call this with the domain locked before a thread sleeps: handles past events,
 * and arms the adapter for later ones.
 */
void afi_wait_arm(struct afi_domain *d)
{
	int ret;

	do {
		afi_progress(d);
		ret = d->dead ? 0 : angara_ctx_arm(d->ctx);
	} while (ret == -EAGAIN && !d->has_held);
	/*
	 * While a message cannot be handled yet, -EAGAIN does not tell whether
	 * other events came before the context was armed: handle them, if any.
	 */
	if (ret == -EAGAIN)
		afi_progress(d);
}

/* Implements fi_control() of objects with a wait object. */
int afi_wait_control(const struct afi_wait *w, bool waits, int command,
		     void *arg)
{
	switch (command) {
	case FI_GETWAIT:
		if (!waits)
			return -FI_ENODATA;
		*(int *)arg = w->epfd;
		return 0;
	case FI_GETWAITOBJ:
		*(enum fi_wait_obj *)arg = waits ? FI_WAIT_FD : FI_WAIT_NONE;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

/* Sleeps.  Return: 0 there may be an event, or the time is over; -FI_EINTR. */
int afi_wait_sleep(const struct afi_wait *w, u64 end)
{
	struct pollfd p = { .fd = w->epfd, .events = POLLIN };

	if (poll(&p, 1, afi_left(end)) < 0)
		return -errno;
	return 0;
}
