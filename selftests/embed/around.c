// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Teams get trees around links that are down. For selftests/host/around.t, under
 * angara-run, linked with --wrap=ang_pool_hold.
 *
 *	around FABRIC [EVERY [apart]]
 *
 * FABRIC is the description of the embedded fabric. Each EVERY-th cable fails, then each
 * EVERY-th router without a process, with all its cables. Each failure happens while a team
 * reduces. Then the processes make a team, routes are repaired, and the processes make a team
 * with three trees. With "apart", each process has only the devices of some nodes, and sees
 * only their links, as if each process were on a machine of its own. Rank 0 prints TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/fabric.h>

#include "check.h"
#include "embed/embed.h"
#include "pool.h"
#include "team.h"

#define ROUNDS		12	/* reductions of a team, during which the failure happens */
#define FAIL_AT		4	/* round before which the failure happens */
#define COUNT		2000U	/* elements: enough for three trees */

static struct angara_job *job;
static struct angara_domain *dom;
static struct angara_ctx *ctx;
static struct angara_fabric *graph;
static uint32_t rank, size, routers, ports;
static bool apart;
static uint16_t *pe;
static uint64_t in[COUNT], out[COUNT];
static const struct ang_dev_ops *real;

/**
 * struct counts - results of this process
 * @tried: failures
 * @hit: teams whose tree went down
 * @laid: teams with trees around the failure
 * @none: failures that leave no tree
 * @bad: wrong results
 */
static struct {
	uint32_t tried;
	uint32_t hit;
	uint32_t laid;
	uint32_t none;
	uint32_t bad;
} counts;

static bool expect(const char *what, long long got, long long want)
{
	if (got == want)
		return true;
	printf("# rank %u, failure %u: %s: %lld, not %lld\n", rank, counts.tried, what, got,
	       want);
	counts.bad++;
	return false;
}

/*
 * Does this process have the device of a node?  Nodes without a process are distributed
 * among all processes.
 */
static bool is_mine(uint32_t node)
{
	return !apart || (pe[node] ? node == dom->query.node : node % size == rank);
}

int __real_ang_pool_hold(struct ang_pool *pool, u32 node);
int __wrap_ang_pool_hold(struct ang_pool *pool, u32 node);

int __wrap_ang_pool_hold(struct ang_pool *pool, u32 node)
{
	return is_mine(node) ? __real_ang_pool_hold(pool, node) : -ENODEV;
}

static int some_links_down(struct ang_dev *dev, u64 fabric_id, struct ang_links *links)
{
	struct ang_links all = { 0 };
	int ret = real->links_down(dev, fabric_id, &all);

	for (uint32_t i = 0; !ret && i < all.n; i++) {
		struct ang_end a = { all.link[i].router, all.link[i].port }, b;

		b.router = angara_fabric_peer(graph, a.router, a.port, &b.port);
		if (is_mine(angara_fabric_keeper(graph, a.router)) ||
		    is_mine(angara_fabric_keeper(graph, b.router)))
			ret = ang_links_add(links, b, a);
	}
	ang_links_free(&all);
	return ret;
}

/* Runs an administrator's command on the adapter of any node. */
static void command(uint32_t node, struct angara_adm_cmd *cmd)
{
	struct emb_dev *d = dom->dev.priv;
	struct angara_adm_cpl cpl;

	CHECK(emb_node_lock(&d->run, node));
	CHECK(emb_exec(&d->run, node, cmd, &cpl));
	emb_node_unlock(&d->run, node);
}

static void link_set(struct angara_failure f, uint8_t what)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_LINK_SET,
		.link = { .port = cpu_to_le32(f.port), .router = cpu_to_le32(f.router),
			  .what = what },
	};

	command(angara_fabric_keeper(graph, f.router), &cmd);
}

static void failure_set(struct angara_failure f, uint8_t what)
{
	struct angara_failure cable = f;

	if (f.port != ANGARA_FAILED_ROUTER)
		link_set(f, what);
	for (cable.port = 0; f.port == ANGARA_FAILED_ROUTER && cable.port < ports; cable.port++)
		if (angara_fabric_peer(graph, f.router, cable.port, NULL) != UINT32_MAX)
			link_set(cable, what);
}

static void row_give(uint32_t router)
{
	struct emb_dev *d = dom->dev.priv;
	const struct emb_head *head = d->fab->head;
	struct angara_mgmt *place = &emb_admin(d->fab, emb_copy(d->fab), 0)->mgmt;
	int bytes = angara_fabric_row(graph, router, place, sizeof(*place));
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_ROUTE_SET,
		.route = {
			.router = cpu_to_le32(router), .length = cpu_to_le32((uint32_t)bytes),
			.addr = cpu_to_le64(head->copy_at + head->adm_off +
					    offsetof(struct emb_admin, mgmt)),
			.what = ANGARA_ROUTE_ROW,
		},
	};

	if (bytes < 0)
		errx(1, "row of router %u: %s", router, strerror(-bytes));
	command(0, &cmd);
}

static void routes_use(uint8_t what)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_ROUTE_SET, .route.what = what };

	for (uint32_t r = 0; what == ANGARA_ROUTE_USE && r < routers; r++)
		row_give(r);
	command(0, &cmd);
}

/* Does this process know rows of the tree that lead over the failure? */
static bool rows_use(const struct ang_rows *r, struct angara_failure f)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->routers[i] == f.router &&
		    (f.port == ANGARA_FAILED_ROUTER || ang_row_uses(&r->rows[i], f.port)))
			return true;
	return false;
}

/* Does any process know rows of any tree of the team that lead over the failure? */
static bool team_uses(const struct angara_team *team, struct angara_failure f)
{
	bool mine = rows_use(&team->rows, f), any = false;
	bool *all = calloc(size, sizeof(*all));

	for (uint32_t i = 0; i < team->nstripes; i++)
		mine |= rows_use(&team->stripes[i]->rows, f);
	if (!all)
		err(1, "calloc");
	CHECK(angara_job_allgather(job, &mine, sizeof(mine), all));
	for (uint32_t i = 0; i < size; i++)
		any |= all[i];
	free(all);
	return any;
}

static int reduce_all(struct angara_team *team, uint32_t count, uint32_t seed)
{
	int ret;

	for (uint32_t i = 0; i < count; i++)
		in[i] = (uint64_t)(rank + 1) * (i + seed);
	ret = angara_allreduce(team, NULL, (uintptr_t)out, NULL, (uintptr_t)in, count,
			       ANGARA_TYPE_UINT64, ANGARA_RED_SUM);
	for (uint32_t i = 0; !ret && i < count; i++)
		if (out[i] != (uint64_t)size * (size + 1) / 2 * (i + seed))
			return -EBADMSG;
	return ret;
}

static int copy(struct angara_team *team, uint32_t root)
{
	int ret;

	for (uint32_t i = 0; i < COUNT; i++)
		out[i] = rank == root ? i * 77 + root : 0;
	ret = angara_broadcast(team, NULL, (uintptr_t)out, COUNT * sizeof(*out), root);
	for (uint32_t i = 0; !ret && i < COUNT; i++)
		if (out[i] != i * 77 + root)
			return -EBADMSG;
	return ret;
}

static void works(struct angara_team *team)
{
	for (uint32_t i = 0; i < 3; i++) {
		expect("allreduce", reduce_all(team, i ? COUNT : 1, 5 + i), 0);
		expect("broadcast", copy(team, (counts.tried + i) % size), 0);
		expect("barrier", angara_barrier(team), 0);
	}
}

static struct angara_team *team_make(uint32_t flags, uint32_t stripes, int want)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = flags, .root = counts.tried % size,
		.stripes = stripes,
	};
	struct angara_team *team = NULL;

	expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), want);
	return team;
}

static unsigned int trees_of(const struct angara_team *team)
{
	struct angara_team_info info = { .size = sizeof(info) };

	CHECK(angara_team_query(team, &info));
	return info.trees;
}

/* Reduces while the parts fail: the team's operations end with an error, or are right. */
static void fail_during(struct angara_team *team, struct angara_failure f)
{
	bool used = team_uses(team, f);
	uint32_t node;
	int ret = 0;

	for (uint32_t i = 0; i < ROUNDS && !ret; i++) {
		if (i == FAIL_AT && rank == 0)
			failure_set(f, ANGARA_LINK_DOWN);
		ret = reduce_all(team, 100, i);
	}
	expect("during the failure", ret, used ? -ECONNRESET : 0);
	counts.hit += used;
	CHECK(angara_job_barrier(job));
	if (used)
		expect("check", angara_team_check(team, &node), -ECONNRESET);
}

/*
 * While routes lead over the failure, a new team works, or its creation fails at some
 * members.  No member waits forever.
 */
static void make_early(void)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .root = counts.tried % size,
	};
	struct angara_team *team = NULL;
	int ret = angara_team_create(job, ctx, NULL, 0, &attr, &team);

	if (ret)
		expect("create before the repair", ret, -ECONNRESET);
	else
		angara_team_leave(team);
	CHECK(angara_job_barrier(job));
}

/* With the routes repaired, a team gets a tree if there is one. */
static void make_again(struct angara_failure f, bool possible)
{
	struct angara_team *team = team_make(ANGARA_TEAM_TREE, size > 1 ? 3 : 1,
					     possible ? 0 : -ENETDOWN);

	if (!possible)
		team = team_make(0, 1, 0);
	if (!team)
		return;
	counts.laid += possible;
	counts.none += !possible;
	expect("trees", trees_of(team), possible ? 3 : 0);
	expect("leads over the failure", team_uses(team, f), false);
	works(team);
	expect("destroy", angara_team_destroy(team), 0);
}

/* Do the failures leave routes between all members? */
static bool is_joined(void)
{
	for (uint32_t a = 0; a < angara_fabric_nodes(graph); a++)
		for (uint32_t b = 0; pe[a] && b < angara_fabric_nodes(graph); b++)
			if (a != b && pe[b] && angara_fabric_route(graph, a, b) == UINT32_MAX)
				return false;
	return true;
}

static void try(struct angara_failure f)
{
	struct angara_detours detours = { .size = sizeof(detours) };
	struct angara_team *team;

	CHECK(angara_fabric_avoid(graph, &f, 1, &detours));
	if (!is_joined())
		return;
	counts.tried++;
	team = team_make(ANGARA_TEAM_TREE, 1, 0);
	if (!team)
		exit(1);
	fail_during(team, f);
	angara_team_leave(team);
	make_early();
	if (rank == 0)
		routes_use(ANGARA_ROUTE_USE);
	CHECK(angara_job_barrier(job));
	make_again(f, angara_fabric_root(graph, pe, NULL) >= 0);
	CHECK(angara_job_barrier(job));
	if (rank == 0) {
		failure_set(f, ANGARA_LINK_UP);
		routes_use(ANGARA_ROUTE_OWN);
	}
	CHECK(angara_job_barrier(job));
	team = team_make(ANGARA_TEAM_TREE, 1, 0);
	if (!team)
		exit(1);
	works(team);
	expect("destroy", angara_team_destroy(team), 0);
}

static void try_all(uint32_t every)
{
	uint32_t at = 0;

	for (uint32_t r = 0; r < routers; r++) {
		for (uint32_t port = 0; port < ports; port++) {
			uint32_t far, to = angara_fabric_peer(graph, r, port, &far);

			if (to != UINT32_MAX && (r < to || (r == to && port < far)) &&
			    at++ % every == 0)
				try((struct angara_failure){ r, port });
		}
	}
	for (uint32_t r = 0; r < routers; r++)
		if ((r >= angara_fabric_nodes(graph) || !pe[r]) && at++ % every == 0)
			try((struct angara_failure){ r, ANGARA_FAILED_ROUTER });
}

/*
 * Does member @r see a link of @router in agreed()?  The links that a member sees do not
 * fit into one exchange.
 */
static bool sees(uint32_t r, uint32_t router)
{
	return router % size == r || router % 3 == r % 3;
}

/* All members get the union of their lists, whatever each of them sees. */
static void agreed(void)
{
	struct angara_team *team = team_make(ANGARA_TEAM_SOFTWARE, 1, 0);
	const uint32_t most = 1000;
	struct ang_links *l;

	if (!team)
		exit(1);
	l = &team->rows.down;
	for (uint32_t i = most; i-- > 0;) {
		const struct ang_end a = { i, rank % 2 + 1 }, b = { i + 1, 0 };

		if (sees(rank, i))
			CHECK(ang_links_add(l, i % 2 ? a : b, i % 2 ? b : a));
	}
	expect("agree", ang_down_agree(team), 0);
	for (uint32_t i = 0, at = 0; i < most; i++)
		for (uint32_t port = 1; port < 3; port++) {
			bool any = false;

			for (uint32_t r = port - 1; r < size; r += 2)
				any |= sees(r, i);
			if (any && expect("agreed", at < l->n, true)) {
				expect("router", l->link[at].router, i);
				expect("port", l->link[at++].port, port);
			}
			if (i == most - 1 && port == 2)
				expect("links", l->n, at);
		}
	ang_links_free(l);
	expect("destroy", angara_team_destroy(team), 0);
}

static void begin(const char *text)
{
	static struct ang_dev_ops ops;
	uint32_t *nodes;

	CHECK(angara_job_init(&job));
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	CHECK(angara_domain_open(NULL, NULL, &dom));
	CHECK(angara_ctx_open(dom, NULL, &ctx));
	CHECK(angara_fabric_open(text, &graph, NULL, 0));
	routers = angara_fabric_routers(graph);
	ports = angara_fabric_ports(graph);
	pe = calloc(angara_fabric_nodes(graph), sizeof(*pe));
	nodes = calloc(size, sizeof(*nodes));
	if (!pe || !nodes)
		err(1, "calloc");
	CHECK(angara_job_allgather(job, &dom->query.node, sizeof(*nodes), nodes));
	for (uint32_t i = 0; i < size; i++)
		pe[nodes[i]]++;
	free(nodes);
	real = dom->dev.ops;
	ops = *real;
	ops.links_down = some_links_down;
	dom->dev.ops = &ops;
}

int main(int argc, char **argv)
{
	uint32_t bad = 0, *all;

	if (argc < 2)
		errx(2, "usage: around FABRIC [EVERY [apart]]");
	apart = argc > 3;
	begin(argv[1]);
	agreed();
	try_all(argc > 2 ? (uint32_t)atoi(argv[2]) : 1);
	all = calloc(size, sizeof(*all));
	if (!all)
		err(1, "calloc");
	CHECK(angara_job_allgather(job, &counts.bad, sizeof(bad), all));
	for (uint32_t i = 0; i < size; i++)
		bad += all[i];
	if (rank == 0)
		printf("tried %u hit %u laid %u none %u bad %u\n", counts.tried, counts.hit,
		       counts.laid, counts.none, bad);
	free(all);
	free(pe);
	angara_fabric_close(graph);
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	angara_job_finalize(job);
	return bad || !counts.tried;
}
