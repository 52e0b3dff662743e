// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trees whose rows are set by management packets, when packets are lost, links
 * go down and other managers write at any moment. For selftests/host/inband.t,
 * linked with --wrap=ang_device_open, so that each packet of the first manager
 * passes through this program. Argument: the fabric, which ANGARA_FABRIC must
 * name, too. With a second argument, a key, the program only sets this key at
 * all routers.
 *
 * After each attempt the rows are read without faults: all are there, or none
 * except those that are reported as left.  Prints TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/fabric.h>
#include <angara/manage.h>
#include <angara/topo.h>

#include "check.h"
#include "embed/embed.h"
#include "lib.h"

#define TREE	5
#define EPOCH	4321
#define OTHER	1234	/* epoch of the other manager's rows */
#define PKEY	0x77
#define KEY	0x1122334455667788ULL
#define NEVER	UINT32_MAX

/**
 * struct faults - what happens to the packets of the first manager
 * @active: faults are on
 * @sent: packets so far
 * @sets: SET requests among them
 * @at: number of the packet that is lost, NEVER: none
 * @executed: the router executes the lost request; only its answer is lost
 * @forever: later packets to the same router are lost, too
 * @dead: path of the router of @forever
 * @event: what happens before packet @at instead
 * @lost: what happens after the loss of packet @at
 */
static struct {
	bool active;
	u32 sent;
	u32 sets;
	u32 at;
	bool executed;
	bool forever;
	struct angara_mgmt dead;
	void (*event)(void);
	void (*lost)(void);
} faults;

static struct angara_manager *mine, *others;
static struct ang_dev *hooked;
static const struct ang_dev_ops *real;
static struct angara_fabric *fabric;
static struct angara_map *map;
static struct angara_tree_row *rows;
static u32 size, last, in_tree;
static const struct angara_cable *cut;
static unsigned int count, failed;

static void ok(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++count, what);
	failed += !good;
}

static bool same_router(const struct angara_mgmt *a, const struct angara_mgmt *b)
{
	return a->hops == b->hops && !memcmp(a->path, b->path, a->hops);
}

static int test_cmd(struct ang_dev *dev, unsigned int nr, void *arg)
{
	const struct angara_manage *m = arg;
	u32 now = faults.sent;

	if (!faults.active || nr != ANGARA_IOCTL_MANAGE)
		return real->cmd(dev, nr, arg);
	faults.sent++;
	faults.sets += m->pkt.method == ANGARA_MGMT_SET;
	if (now == faults.at && faults.event) {
		faults.event();
		return real->cmd(dev, nr, arg);
	}
	if (now == faults.at) {
		faults.dead = m->pkt;
		if (faults.executed)
			real->cmd(dev, nr, arg);
		if (faults.lost)
			faults.lost();
		return -ETIMEDOUT;
	}
	if (faults.forever && now > faults.at && same_router(&m->pkt, &faults.dead))
		return -ETIMEDOUT;
	return real->cmd(dev, nr, arg);
}

int __real_ang_device_open(const char *device, struct ang_spec *spec, struct ang_dev *dev);
int __wrap_ang_device_open(const char *device, struct ang_spec *spec, struct ang_dev *dev);

int __wrap_ang_device_open(const char *device, struct ang_spec *spec, struct ang_dev *dev)
{
	static struct ang_dev_ops ops;
	int ret = __real_ang_device_open(device, spec, dev);

	if (ret || hooked)
		return ret;
	hooked = dev;
	real = dev->ops;
	ops = *real;
	ops.cmd = test_cmd;
	dev->ops = &ops;
	return 0;
}

static const struct angara_path *path_to(u32 router)
{
	for (u32 i = 0; i < map->nrouters; i++)
		if (map->routers[i].router == router)
			return &map->routers[i].path;
	errx(1, "no path to router %u", router);
}

/*
 * Reads the row of a router, without faults. Return: the row's epoch, or 0 if
 * the router has no row.
 */
static u32 row_epoch(u32 router, u8 *state)
{
	struct angara_path path = *path_to(router);
	struct angara_mgmt_row row;
	int ret = angara_manage_get(others, &path, ANGARA_MGMT_ROW, TREE, &row, sizeof(row),
				    NULL);

	if (ret && ret != -ENOENT)
		errx(1, "cannot read the row of router %u: %s", router, strerror(-ret));
	*state = ret ? ANGARA_TREE_STATE_UNSET : row.state;
	return ret ? 0 : le16_to_cpu(row.epoch);
}

/* Counts the rows of epoch @epoch, and those among them that are up. */
static u32 rows_there(u32 epoch, u32 *up)
{
	u32 there = 0;
	u8 state;

	*up = 0;
	for (u32 i = 0; i < size; i++) {
		if (row_epoch(i, &state) != epoch)
			continue;
		there++;
		*up += state == ANGARA_TREE_STATE_UP;
	}
	return there;
}

static int lay(struct angara_tree_failure *failure)
{
	int ret;

	*failure = (struct angara_tree_failure){ .size = sizeof(*failure) };
	faults.active = true;
	faults.sent = 0;
	faults.sets = 0;
	ret = angara_manage_tree_set(mine, map, rows, failure);
	faults.active = false;
	return ret;
}

/* Clears the tree without faults.  Return: number of rows that were cleared. */
static int lift(void)
{
	return angara_manage_tree_clear(others, map, TREE, NULL);
}

/*
 * Has an attempt that returned @ret left all rows or none? After success all
 * rows are set. After an error at most the row is left that @f reports.
 */
static bool all_or_none(int ret, const struct angara_tree_failure *f)
{
	u32 up, there = rows_there(EPOCH, &up);
	bool good = ret ? there <= f->left && f->left <= 1 && f->router < size :
			  there == in_tree && up == in_tree;

	if (!good)
		printf("# packet %u, ret %d, router %u, %u rows, %u up, %u left\n", faults.at,
		       ret, f->router, there, up, f->left);
	return good && lift() == (int)there;
}

static void plain(void)
{
	struct angara_tree_failure f;
	int ret;

	faults.at = NEVER;
	ret = lay(&f);
	ok(!ret && rows_there(EPOCH, &(u32){ 0 }) == in_tree, "all rows are set");
	ok(lay(&f) == -EEXIST && f.router == 0 && f.answered == 0 && !f.left &&
	   rows_there(EPOCH, &(u32){ 0 }) == in_tree, "a tree that is set stays");
	ok(lift() == (int)in_tree && !lift(), "all rows are cleared");
}

/* The tree is set even if any one packet is lost. */
static void lost_once(bool executed)
{
	struct angara_tree_failure f;
	bool good = true;

	faults.executed = executed;
	faults.forever = false;
	for (faults.at = 0; good; faults.at++) {
		int ret = lay(&f);

		good = !ret && all_or_none(ret, &f);
		if (faults.sent <= faults.at)
			break;
	}
	ok(good && faults.at >= 3 * in_tree, executed ? "any one answer is lost" :
						       "any one request is lost");
}

/* A router stops answering at some moment. */
static void lost_forever(bool executed)
{
	struct angara_tree_failure f;
	bool good = true, named = true;
	u32 errors = 0, left = 0;

	faults.executed = executed;
	faults.forever = true;
	for (faults.at = 0; good; faults.at++) {
		int ret = lay(&f);

		if (ret) {
			errors++;
			left += f.left;
			named = named && ret == -ETIMEDOUT && f.answered == UINT32_MAX &&
				path_to(f.router)->hops == faults.dead.hops &&
				!memcmp(path_to(f.router)->port, faults.dead.path,
					faults.dead.hops);
		}
		good = all_or_none(ret, &f);
		if (faults.sent <= faults.at)
			break;
	}
	faults.forever = false;
	ok(good && errors >= 3 * in_tree && left, executed ?
	   "a router dies after any request: no other row stays" :
	   "a router dies before any request: no other row stays");
	ok(named, "and is named");
}

static void link_set(const struct angara_cable *c, u8 what)
{
	u32 router = map->routers[c->from].router;
	u32 node = angara_fabric_keeper(fabric, router);
	struct emb_dev *d = hooked->priv;
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_LINK_SET,
		.link = { .port = cpu_to_le32(c->port), .router = cpu_to_le32(router),
			  .what = what },
	};
	struct angara_adm_cpl cpl;

	CHECK(emb_node_lock(&d->run, node));
	CHECK(emb_exec(&d->run, node, &cmd, &cpl));
	emb_node_unlock(&d->run, node);
}

static void cut_link(void)
{
	link_set(cut, ANGARA_LINK_DOWN);
}

static bool is_of_tree(const struct angara_cable *c)
{
	return ang_row_uses(&rows[map->routers[c->from].router], c->port);
}

/* A link goes down before packet faults.at. */
static bool cut_once(u32 *errors)
{
	struct angara_tree_failure f;
	u32 there, up, sent;
	int ret = lay(&f);
	bool good;

	sent = faults.sent;
	if (sent > faults.at)
		link_set(cut, ANGARA_LINK_UP);
	there = rows_there(EPOCH, &up);
	good = ret ? there == f.left && f.router < size : there == in_tree;
	/* All rows are read after the last one is set. */
	if (!ret && faults.at < 2 * in_tree && (is_of_tree(cut) || up != in_tree))
		good = false;
	if (!good || (ret && ret != -ENETDOWN))
		printf("# router %u port %u, packet %u of %u: ret %d, %u rows, %u left\n",
		       map->routers[cut->from].router, cut->port, faults.at, sent, ret, there,
		       f.left);
	*errors += ret == -ENETDOWN;
	return good && (!ret || ret == -ENETDOWN) && lift() == (int)there;
}

static void cut_links(void)
{
	u32 errors = 0;
	bool good = true;

	faults.event = cut_link;
	for (u32 i = 0; good && i < map->ncables; i++) {
		cut = &map->cables[i];
		for (faults.at = i % 3; good; faults.at += 3) {
			good = cut_once(&errors);
			if (faults.sent <= faults.at)
				break;
		}
	}
	faults.event = NULL;
	ok(good && errors > in_tree, "any link goes down at any moment");
}

/* The map shows a link of the tree that is down: no packet is sent. */
static void known_cut(void)
{
	struct angara_map *whole = map;
	struct angara_tree_failure f;
	u32 i = 0;
	int ret;

	while (!is_of_tree(&map->cables[i]))
		i++;
	cut = &map->cables[i];
	cut_link();
	CHECK(angara_discover(mine, 0, &map));
	faults.at = NEVER;
	ret = lay(&f);
	ok((ret == -ENETDOWN || ret == -EHOSTUNREACH) && f.router < size && !faults.sent &&
	   !f.left, "a link of the tree that is down is known before");
	link_set(&whole->cables[i], ANGARA_LINK_UP);
	angara_map_free(map);
	map = whole;
}

static void other_row(u32 router)
{
	struct angara_mgmt_row row = {
		.pkey = cpu_to_le32(PKEY), .epoch = cpu_to_le16(OTHER),
		.to_root = rows[router].to_root, .is_root = rows[router].is_root,
		.ports = cpu_to_le64(rows[router].ports), .port_sum = rows[router].port_sum,
		.pe = cpu_to_le16(rows[router].pe),
	};
	int ret = angara_manage_set(others, path_to(router), ANGARA_MGMT_ROW_CLEAR, TREE, NULL,
				    0, NULL);

	if (ret && ret != -ENOENT)
		errx(1, "clear: %s", strerror(-ret));
	CHECK(angara_manage_set(others, path_to(router), ANGARA_MGMT_ROW, TREE, &row,
				sizeof(row), NULL));
}

static void write_first(void)
{
	other_row(0);
}

/*
 * Another manager has set the row of the last router. At any moment it also
 * sets the row of the first router.
 */
static void others_write(void)
{
	struct angara_tree_failure f;
	bool good = true;
	u32 up, there;
	u8 state;

	faults.event = write_first;
	for (faults.at = 0; good; faults.at++) {
		other_row(last);
		good = lay(&f) == -EEXIST && !f.left && (f.router == 0 || f.router == last) &&
		       row_epoch(last, &state) == OTHER && !rows_there(EPOCH, &up);
		if (faults.sent > faults.at)
			good = good && row_epoch(0, &state) == OTHER;
		there = rows_there(OTHER, &up);
		good = good && lift() == (int)there;
		if (faults.sent <= faults.at)
			break;
	}
	faults.event = NULL;
	ok(good && faults.at > in_tree, "rows of another manager stay, whenever it sets them");
}

/* A request to the first router is lost, and another manager sets its row. */
static void others_win(void)
{
	struct angara_tree_failure f;
	bool good = true;
	u32 up;
	u8 state;

	faults.executed = false;
	faults.lost = write_first;
	for (faults.at = 0; good && faults.at <= 2 * in_tree; faults.at++) {
		int ret = lay(&f);

		good = (ret == -EEXIST || ret == -EBUSY) && f.router == 0 && !f.left &&
		       row_epoch(0, &state) == OTHER && !rows_there(EPOCH, &up) && lift() == 1;
	}
	faults.lost = NULL;
	ok(good, "another manager sets a row before the repeated request");
}

/* A row cannot be set, and a packet is lost at any moment: no row stays. */
static void lost_undo(bool executed)
{
	struct angara_tree_failure f;
	bool good = true;
	u32 up;

	faults.executed = executed;
	other_row(last);
	for (faults.at = 0; good; faults.at++) {
		good = lay(&f) == -EEXIST && f.router == last && !f.left &&
		       !rows_there(EPOCH, &up);
		if (faults.sent <= faults.at)
			break;
	}
	ok(good && faults.at > 2 * in_tree && lift() == 1, executed ?
	   "any one answer is lost, also while rows are cleared" :
	   "any one request is lost, also while rows are cleared");
}

/* Another manager clears the row of the first router. */
static void clear_first(void)
{
	angara_manage_set(others, path_to(0), ANGARA_MGMT_ROW_CLEAR, TREE, NULL, 0, NULL);
}

/* If another manager clears a row after it was set, the attempt of the first manager fails. */
static void others_clear(void)
{
	struct angara_tree_failure f;
	u32 up;

	faults.event = clear_first;
	faults.at = 2 * in_tree;
	ok(lay(&f) == -EBUSY && f.router == 0 && !rows_there(EPOCH, &up),
	   "a row that is missing at the end: no other row stays");
	faults.event = NULL;
}

static void set_key(u32 router, u64 old, u64 new)
{
	const struct angara_mgmt_key key = { .key = cpu_to_le64(new) };
	struct angara_path path = *path_to(router);

	path.key = old;
	CHECK(angara_manage_set(others, &path, ANGARA_MGMT_KEY, 0, &key, sizeof(key), NULL));
}

static void keys(void)
{
	struct angara_tree_failure f;
	struct angara_map *whole = map, *keyed;
	u32 i, up;
	int ret;

	faults.at = NEVER;
	set_key(last, 0, KEY);
	ok(lay(&f) == -EACCES && f.router == last && f.answered == last && !f.left &&
	   !rows_there(EPOCH, &up), "one router has a key: no row stays");
	for (i = 0; i < size; i++)
		if (i != last)
			set_key(i, 0, KEY);
	CHECK(angara_discover(mine, KEY ^ 1, &map));
	ret = lay(&f);
	ok(ret == -EACCES && f.router == 0 && !rows_there(EPOCH, &up), "a wrong key");
	angara_map_free(map);
	CHECK(angara_discover(mine, KEY, &keyed));
	map = keyed;
	ok(!lay(&f) && rows_there(EPOCH, &up) == in_tree, "the right key");
	f.size = sizeof(f);
	ret = angara_manage_tree_clear(mine, whole, TREE, &f);
	ok(ret == -EACCES && f.router == 0 && f.left == in_tree && rows_there(EPOCH, &up) == in_tree,
	   "no row is cleared without the key");
	ok(lift() == (int)in_tree, "nor left with it");
	map = whole;
	for (i = 0; i < size; i++)
		set_key(i, KEY, 0);
	angara_map_free(keyed);
}

/*
 * The router of the last row dies while rows are cleared: the rows of all other
 * routers are cleared, only its own row stays.
 */
static void clear_dead(void)
{
	struct angara_tree_failure f;
	u32 up, at = NEVER;
	int ret;

	faults.at = NEVER;
	CHECK(lay(&f));
	for (u32 i = 0; i < map->nrouters && at == NEVER; i++)
		if (map->routers[i].router == last)
			at = i;
	faults.executed = false;
	faults.forever = true;
	faults.sent = 0;
	/*
	 * Packet faults.at is the first one to the dead router. Each earlier
	 * router in the map gets three packets if it has a row, else one.
	 */
	faults.at = 0;
	for (u32 i = 0; i < at; i++)
		faults.at += angara_tree_has(&rows[map->routers[i].router]) ? 3 : 1;
	faults.active = true;
	ret = angara_manage_tree_clear(mine, map, TREE, &f);
	faults.active = false;
	faults.forever = false;
	ok(ret == -ETIMEDOUT && f.router == last && f.left == 1 &&
	   rows_there(EPOCH, &up) == 1, "a dead router keeps its row alone");
	lift();
}

static void wrong_rows(void)
{
	struct angara_tree_failure f = { .size = 4 };
	u8 up = rows[last].to_root;

	faults.at = NEVER;
	rows[last].epoch++;
	ok(lay(&f) == -EINVAL && f.rule == ANGARA_TREE_RULE_SHARED && f.router < size &&
	   !faults.sent, "rows of different epochs");
	rows[last].epoch--;
	rows[last].to_root = ANGARA_PORT_NONE;
	ok(lay(&f) == -EINVAL && f.rule == ANGARA_TREE_RULE_LINK && !faults.sent,
	   "a row is missing");
	rows[last].to_root = up;
	f.size = 4;
	ok(angara_manage_tree_set(mine, map, rows, &f) == -EINVAL &&
	   angara_manage_tree_clear(mine, map, TREE, &f) == -EINVAL, "a wrong size");
	map->nrouters--;
	ok(lay(&f) == -EHOSTUNREACH && f.router == map->routers[map->nrouters].router &&
	   !faults.sent, "a router that the map lacks");
	map->nrouters++;
}

static void fabric_open(const char *name)
{
	char *text;
	u16 *pe;

	CHECK(angara_manager_open("0", &mine));
	CHECK(angara_manager_open("0", &others));
	CHECK(angara_manager_describe(mine, &text));
	if (strncmp(text, name, strlen(name)))
		errx(1, "the fabric \"%s\" is described as \"%s\"", name, text);
	CHECK(angara_fabric_open(text, &fabric, NULL, 0));
	free(text);
	size = angara_fabric_routers(fabric);
	rows = calloc(size, sizeof(*rows));
	pe = calloc(angara_fabric_nodes(fabric), sizeof(*pe));
	for (u32 i = 0; i < angara_fabric_nodes(fabric); i++)
		pe[i] = 1;
	/*
	 * A tree over all nodes leaves out some links: those that are not on
	 * the path to any router.
	 */
	if (angara_fabric_tree(fabric, angara_fabric_nodes(fabric) - 1, pe, NULL, rows) < 2)
		errx(1, "cannot build a tree of all nodes");
	free(pe);
	for (u32 i = 0; i < size; i++) {
		rows[i].tree = TREE;
		rows[i].epoch = EPOCH;
		rows[i].pkey = PKEY;
		if (!angara_tree_has(&rows[i]))
			continue;
		in_tree++;
		last = rows[i].is_root ? last : i;
	}
	CHECK(angara_discover(mine, 0, &map));
}

/* Sets the keys of a fabric that another process keeps open. */
static int keys_given(const char *key)
{
	for (u32 i = 0; i < size; i++)
		set_key(i, 0, strtoull(key, NULL, 0));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		errx(1, "usage: inband FABRIC [KEY]");
	fabric_open(argv[1]);
	if (argc == 3)
		return keys_given(argv[2]);
	plain();
	lost_once(false);
	lost_once(true);
	lost_forever(false);
	lost_forever(true);
	cut_links();
	known_cut();
	others_write();
	others_win();
	others_clear();
	lost_undo(false);
	lost_undo(true);
	keys();
	clear_dead();
	wrong_rows();
	angara_map_free(map);
	angara_fabric_close(fabric);
	free(rows);
	angara_manager_close(others);
	angara_manager_close(mine);
	printf("1..%u\n", count);
	return failed > 0;
}
