// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-fm: routes between nodes, around links that are down.
 *
 * When a link goes down or comes up, the manager changes the routes of its
 * fabric, as "angaractl route repair" does, and repairs its trees (trees.c).  It
 * waits for SETTLE_NS before that: a node that dies takes several links down.
 * When the manager starts, it sets routes and repairs trees of each fabric, since
 * links may have changed while there was no manager.
 *
 * The computation of routes may take seconds, and the adapters change routes only
 * when no packet follows them.  So a child process changes routes, and then another
 * one repairs trees, and the manager serves its clients meanwhile.  It leases no
 * tree that is being repaired.  If the manager dies, so does a child that changes
 * routes.  A child that repairs trees goes on: a tree whose rows are cleared has to
 * get its new rows, since no other manager knows its participants.  The child keeps
 * the manager's lock until it ends, so no other manager works on trees meanwhile.
 *
 * Events are multicast messages of the driver.  If some are lost, or if there are
 * new devices, the manager looks at all fabrics.  It ends when the driver is
 * unloaded; its service starts it again.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "fm.h"

#define SETTLE_NS	(100 * FM_MS)	/* from the last event to a change */
#define SETTLE_MOST_NS	FM_NS		/* from the first event to a change */
#define RETRY_NS	FM_NS		/* until a change is tried again */
#define FABRICS		64	/* fabrics that a change can name; if more: all */
#define BUSY		3	/* exit status of a child: the change has to be tried again */

/**
 * struct change - fabrics whose routes have to be set
 * @all: all fabrics of this machine, even if no link is down or comes up
 * @ids: fabrics, if @all is not set
 * @count: number of @ids
 */
struct change {
	bool all;
	uint64_t ids[FABRICS];
	size_t count;
};

static const struct fm_opts *opts;
static int lock_fd;
static struct nl events;	/* socket for events */
static struct change wanted;	/* the next change */
static uint64_t due;		/* its time; 0: none is wanted */
static uint64_t since;		/* time of the first event since the last change; 0: none */
static struct change doing;	/* the change of the child */
static struct fm_down repaired[FABRICS];	/* trees that the child repairs */
static size_t num_repaired;	/* number of elements; 0: the child changes routes */
static pid_t child;		/* process; 0: none */
static int child_fd = -1;	/* becomes readable when the child ends */
static bool unloaded;		/* the driver has been unloaded */
static bool appeared;		/* a device may have appeared, see routes_devices() */

/*
 * Plans the change that an event needs.  Other events may follow, but a link that goes up and down
 * for ever must not put the change off for ever.
 */
static void change_soon(void)
{
	uint64_t now = fm_now();

	if (!since)
		since = now;
	due = now + SETTLE_NS < since + SETTLE_MOST_NS ? now + SETTLE_NS : since + SETTLE_MOST_NS;
}

static void change_add(struct change *c, uint64_t id)
{
	size_t i = 0;

	while (i < c->count && c->ids[i] != id)
		i++;
	if (i == FABRICS)
		c->all = true;
	else if (i == c->count)
		c->ids[c->count++] = id;
}

/* Has the netlink family of the driver been removed? */
static bool routes_removed(struct nlmsghdr *header)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1];

	return genlmsg_hdr(header)->cmd == CTRL_CMD_DELFAMILY &&
	       !genlmsg_parse(header, 0, tb, CTRL_ATTR_MAX, NULL) &&
	       tb[CTRL_ATTR_FAMILY_ID] &&
	       nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]) == events.family;
}

static int routes_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct json_object *record;

	(void)arg;
	if (header->nlmsg_type == GENL_ID_CTRL) {
		unloaded |= routes_removed(header);
		return NL_OK;
	}
	record = record_of(header);
	if (!record)
		return NL_OK;
	switch (record_number(record, "event")) {
	case ANGARA_AEV_LINK_DOWN:
	case ANGARA_AEV_LINK_UP:
		change_add(&wanted, record_fabric(record));
		change_soon();
		break;
	case ANGARA_NLE_DEV_NEW:
	case ANGARA_NLE_LOST:
		wanted.all = true;
		appeared = true;
		change_soon();
		break;
	}
	json_object_put(record);
	return NL_OK;
}

/**
 * routes_start() - receive events, and set the routes of all fabrics
 * @given: options
 * @lock: file that is locked while this manager leads
 *
 * Return: DONE; FAILED, with a message.
 */
int routes_start(const struct fm_opts *given, int lock)
{
	int err, group;

	opts = given;
	lock_fd = lock;
	if (ctl_start(&events))
		return FAILED;
	nl_socket_modify_cb(events.sock, NL_CB_VALID, NL_CB_CUSTOM, routes_event, NULL);
	group = genl_ctrl_resolve_grp(events.sock, "nlctrl", "notify");
	err = group < 0 ? group : ctl_listen(&events, ANGARA_GENL_MCGRP);
	if (!err)
		err = nl_socket_add_membership(events.sock, group);
	if (!err)
		err = nl_socket_set_nonblocking(events.sock);
	if (err)
		return fail("cannot receive events: %s", nl_geterror(err));
	wanted.all = true;
	due = fm_now();
	return DONE;
}

/*
 * Sets the routes of a fabric.  Prints nothing if no link is down and the change
 * concerns all fabrics.  Return: DONE; FAILED, with a message; BUSY.
 */
static int routes_set(struct nl *nl, struct fabric *fabric)
{
	int status = fabric_avoid(nl, fabric), ret;

	if (status)
		return status;
	ret = fabric_reroute(nl, fabric);
	if (ret == -EBUSY)
		return BUSY;
	if (doing.all && !fabric->around)
		return DONE;
	if (ret)
		return fail("fabric 0x%llx: routes: %s", (unsigned long long)fabric->id,
			    nl->error);
	printf("angara-fm: fabric 0x%llx: ", (unsigned long long)fabric->id);
	if (fabric->around)
		fabric_routes_say(fabric, "avoid");
	else
		puts("no link is down: the routes are those of the topology");
	return DONE;
}

/* Lists all fabrics of this machine in @c. */
static int routes_list(struct nl *nl, struct change *c)
{
	const struct about about = { .has_dev = false };
	struct json_object *devs;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_DEV_GET, &about, &devs);

	if (status)
		return status;
	c->count = 0;
	for (size_t i = 0; i < json_object_array_length(devs); i++)
		change_add(c, record_fabric(json_object_array_get_idx(devs, i)));
	json_object_put(devs);
	return DONE;
}

/* Runs in a child: sets the routes of the fabrics in @doing.  Return: exit status, or BUSY. */
static int routes_change(void)
{
	struct nl nl;
	int status = ctl_start(&nl), worst = DONE;

	if (!status && doing.all)
		status = routes_list(&nl, &doing);
	for (size_t i = 0; !status && i < doing.count; i++) {
		const struct about about = { .has_fabric = true, .fabric = doing.ids[i] };
		struct fabric fabric;
		int ret = fabric_find(&nl, &about, &fabric);

		if (!ret) {
			ret = routes_set(&nl, &fabric);
			fabric_free(&fabric);
		}
		worst = ret > worst ? ret : worst;
	}
	return status ? status : worst;
}

/*
 * Runs in a child: repairs trees.  It must complete each repair that it has begun, so it
 * ignores signals to the process group of the manager, or to its unit.
 */
static int routes_repair(void)
{
	static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_PDEATHSIG, 0);
	return trees_heal(repaired, num_repaired);
}

/* Starts a child.  Return: whether it runs. */
static bool child_start(int (*work)(void))
{
	const pid_t parent = getpid();

	fflush(NULL);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(STDERR_FILENO + 1, lock_fd - 1, 0);
		close_range(lock_fd + 1, ~0U, 0);
		if (getppid() != parent)
			_exit(FAILED);
		exit(work());
	}
	child_fd = child > 0 ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
	if (child_fd >= 0)
		return true;
	fail("no process can change routes or trees: %s", strerror(errno));
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	return false;
}

/* Repairs trees that are down, after the routes were changed. */
static void routes_trees(void)
{
	if (opts->keep_trees)
		return;
	num_repaired = trees_down(repaired, FABRICS);
	if (num_repaired && !child_start(routes_repair))
		num_repaired = 0;
}

/* Tries the change again later, since the child has not carried it out. */
static void change_again(void)
{
	wanted.all |= doing.all;
	for (size_t i = 0; i < doing.count; i++)
		change_add(&wanted, doing.ids[i]);
	if (!due)
		due = fm_now() + RETRY_NS;
}

/* Starts the change that is due. */
static void routes_start_change(void)
{
	doing = wanted;
	wanted = (struct change){ .count = 0 };
	due = 0;
	since = 0;
	if (opts->keep_routes)
		routes_trees();
	else if (!child_start(routes_change))
		change_again();
}

/*
 * Takes the result of the child.  If another program was changing routes, or the child was
 * killed, repeats the change.
 */
static void routes_join(void)
{
	bool trees = num_repaired;
	int status;

	waitpid(child, &status, 0);
	close(child_fd);
	child = 0;
	child_fd = -1;
	num_repaired = 0;
	if (!WIFEXITED(status))
		fail(trees ? "trees: the process that repairs them was killed; they may be incomplete, see angaractl tree show" :
			     "routes: the process that changes them was killed");
	if (trees)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == BUSY)
		change_again();
	routes_trees();
}

/** routes_repaired() - trees of a fabric that are being repaired, a bit for each TreeId */
uint64_t routes_repaired(uint64_t fabric)
{
	for (size_t i = 0; i < num_repaired; i++)
		if (repaired[i].fabric == fabric)
			return repaired[i].trees;
	return 0;
}

/**
 * routes_poll() - prepare poll(2)
 * @polled: out: FM_ROUTES_POLLED entries
 *
 * Return: milliseconds until routes_run() has work; -1: none without an event.
 */
int routes_poll(struct pollfd *polled)
{
	uint64_t now = fm_now();

	polled[0] = (struct pollfd){ .fd = -1, .events = POLLIN };
	polled[1] = (struct pollfd){ .fd = child_fd, .events = POLLIN };
	if (!events.sock)
		return -1;
	polled[0].fd = nl_socket_get_fd(events.sock);
	if (!due || child)
		return -1;
	return due <= now ? 0 : (int)((due - now + FM_MS - 1) / FM_MS);
}

/** routes_devices() - may a device have appeared since the last call? */
bool routes_devices(void)
{
	bool some = appeared;

	appeared = false;
	return some;
}

/**
 * routes_run() - take events, and change routes
 * @polled: entries of routes_poll(), after poll(2)
 *
 * Return: DONE; FAILED, with a message: the driver has been unloaded.
 */
int routes_run(const struct pollfd *polled)
{
	int err = 0;

	if (polled[0].revents)
		do {
			err = nl_recvmsgs_default(events.sock);
			/* The socket's buffer was full. */
			if (err == -NLE_NOMEM) {
				wanted.all = true;
				appeared = true;
				change_soon();
				err = 0;
			}
		} while (!err && !unloaded);
	if (unloaded)
		return fail("the module angara was unloaded");
	if (err && err != -NLE_AGAIN)
		return fail("cannot receive events: %s", nl_geterror(err));
	if (child && polled[1].revents)
		routes_join();
	if (due && !child && due <= fm_now())
		routes_start_change();
	return DONE;
}
