// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Creating and destroying a team.
 *
 * Only the members of a team take part in its creation:
 *
 *   of a job	  exchange cards through the launcher, check them (each member
 *		  by itself, with the same result)
 *   of a team	  addresses are known, and the team's number is computed from
 *		  the number of the parent and the list of members: no exchange
 *		  is needed, but a member that has no memory notifies the others
 *
 * From here on the members have software collectives, and use them to agree
 * (team_agree.c).  Then they try to get a tree (team_stripes.c adds more):
 *
 *   coordinator  program the rows		  all: agree on the outcome
 *		  (without devices for all rows: see team_apart.c)
 *   members	  JOIN			  all: agree on the outcome
 *
 * Without a tree the team works in software, unless the caller requires a tree.
 * After every step that can fail at some member the members agree, so the
 * result is the same at all of them.
 *
 * An exchange function of the program may let another thread use the context.
 * So except for the pool, which stays, the code keeps no copy of the context's
 * state across such a call.
 *
 * The calls of programs are in team_calls.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "coll_run.h"

#define CARD_TAG	(3ULL << 32)

static void team_free(struct angara_team *team)
{
	u32 i;

	for (i = 0; i < ANG_NUMBERED_NUM; i++)
		free(team->numbers[i]);
	free(team->ranks);
	free(team->blocks);
	free(team->peers);
	free(team->order);
	free(team->made);
	free(team->checker);
	free(team->kin);
	free(team);
}

static struct angara_team *team_new(struct angara_ctx *ctx, u32 size)
{
	struct angara_team *team = calloc(1, sizeof(*team));

	if (!team)
		return NULL;
	team->ctx = ctx;
	team->size = size;
	team->rank = size;
	team->wanted = 1;
	team->parts = 1;
	team->peers = calloc(size, sizeof(*team->peers));
	team->order = calloc(size, sizeof(*team->order));
	team->checker = calloc(1, sizeof(*team->checker));
	if (team->peers && team->order && team->checker)
		return team;
	team_free(team);
	return NULL;
}

/*
 * Gives a team its job.  If the job has an exchange function of the program, allocates memory for
 * exchanges.  Return: 0; -ENOMEM.
 */
static int team_give(struct angara_team *team, struct angara_job *job,
		     const unsigned int *ranks)
{
	u32 i;

	team->job = job;
	team->given = job->given;
	if (!team->given)
		return 0;
	team->ranks = calloc(team->size, sizeof(*team->ranks));
	team->blocks = calloc(team->size, ANG_AGREE_BYTES);
	if (!team->ranks || !team->blocks)
		return -ENOMEM;
	for (i = 0; i < team->size; i++)
		team->ranks[i] = ranks[i];
	return 0;
}

static bool attr_ok(const struct angara_team_attr *attr, u32 n)
{
	return attr->root < n &&
	       attr->tree <= ANGARA_MAX_TREES &&
	       (attr->stripes <= ANGARA_MAX_STRIPES ||
		attr->stripes == ANGARA_STRIPES_AUTO) &&
	       !(attr->flags & ~(ANGARA_TEAM_TREE | ANGARA_TEAM_SOFTWARE)) &&
	       !(attr->flags & ANGARA_TEAM_SOFTWARE &&
		 (attr->flags & ANGARA_TEAM_TREE || attr->tree));
}

/* Programs the tree.  The coordinator is the member whose node is the root. */
static int lay_tree(struct angara_team *team, const struct angara_team_attr *attr)
{
	struct ang_outcome mine = { 0 }, its;
	struct ang_rows *rows = &team->rows;
	int ret;

	if (team->rank == attr->root) {
		mine.err = ang_down_look(team);
		if (!mine.err)
			mine.err = ang_rows_plan(rows, team, attr->root);
		/*
		 * Other members can set the rows that this member cannot set, except that of its
		 * own node, whose device is on this machine.
		 */
		if (!mine.err && !rows->held[rows->root] &&
		    rows->nodes[rows->root] == team->peers[team->rank].node)
			mine.err = rows->why;
		if (!mine.err && !rows->missing)
			mine.err = ang_lease_lay(team, attr->tree);
		mine.n = rows->n;
		mine.missing = rows->missing;
		mine.why = rows->why;
		mine.tree = rows->tree;
		mine.epoch = rows->epoch;
	}
	ret = ang_team_agree(team, &mine, attr->root, &its);
	if (!ret && its.missing)
		ret = ang_team_lay_apart(team, attr->root, attr->tree, &its);
	/*
	 * Report this only if the program requires a tree.  Teams of further trees (@part) have
	 * ANGARA_TEAM_TREE, too, but the program requires none of these.
	 */
	if (ret == -ENETDOWN && rows->down.n && team->rank == attr->root &&
	    attr->flags & ANGARA_TEAM_TREE && !team->part)
		ang_down_say(team, attr->root);
	if (!ret) {
		team->tree = its.tree;
		team->epoch = its.epoch;
	}
	return ret;
}

static void team_leave(struct angara_team *team)
{
	struct angara_join arg = ANG_CMD_INIT(struct angara_join);

	arg.tree = team->tree;
	ang_dev_cmd(&team->ctx->dev, ANGARA_IOCTL_LEAVE, &arg);
	team->ctx->trees &= ~(1ULL << team->tree);
}

/*
 * Return: place of this member among the members of the team on its node, by rank and not by
 * the order of joining.  So the same members on the same nodes always sum
 * floats in the same order.
 */
static u32 team_place(const struct angara_team *team)
{
	u32 before = 0;
	u32 i;

	for (i = 0; i < team->rank; i++)
		before += team->peers[i].node == team->peers[team->rank].node;
	return before;
}

/* Joins the tree.  Return: 0; after -errno this member has not joined. */
static int team_enter(struct angara_team *team)
{
	struct angara_join arg = ANG_CMD_INIT(struct angara_join);
	struct angara_ctx *ctx = team->ctx;
	int ret;

	/*
	 * The rows may have been cleared, and another team with this TreeId
	 * created meanwhile.
	 */
	if (ctx->trees >> team->tree & 1)
		return -EBUSY;
	arg.tree = team->tree;
	arg.flags = ANGARA_JOIN_PLACE;
	arg.place = team_place(team);
	ret = ang_dev_cmd(&ctx->dev, ANGARA_IOCTL_JOIN, &arg);
	if (ret)
		return ret;
	ctx->trees |= 1ULL << team->tree;
	/*
	 * No broadcast has been counted yet: members broadcast only when all
	 * have joined.
	 */
	team->received = ang_counter(ctx, ANGARA_CTR_BCAST(team->tree));
	team->rx_errors = ang_counter(ctx, ANGARA_CTR_RX_ERRORS(team->tree));
	return 0;
}

static int team_join(struct angara_team *team)
{
	struct ang_outcome mine = { .err = team_enter(team) }, its;
	int ret = ang_team_agree(team, &mine, 0, &its);

	if (ret && !mine.err)
		team_leave(team);
	return ret;
}

static_assert(ANGARA_MAX_TREES * sizeof(u32) <= ANG_AGREE_BYTES,
	      "members agree on all TreeIds at once");

/*
 * Collects the TreeIds of all members' teams: teams that share a member must
 * not get the same TreeId.
 */
static int trees_taken(struct angara_team *team)
{
	u32 unused[ANGARA_MAX_TREES];
	u32 i;
	int ret;

	for (i = 0; i < ANGARA_MAX_TREES; i++)
		unused[i] = !(team->ctx->trees >> i & 1);
	ret = ang_team_min(team, unused, ANGARA_MAX_TREES, ANGARA_TYPE_UINT32);
	team->broken = ret;
	for (i = 0; i < ANGARA_MAX_TREES; i++)
		if (!unused[i])
			team->rows.taken |= 1ULL << i;
	return ret;
}

/*
 * Tries to get a tree.  Return: 0; the error because of which there is no tree,
 * the same at all members.
 */
static int team_offload(struct angara_team *team, const struct angara_team_attr *attr)
{
	int ret = trees_taken(team);

	if (!ret)
		ret = lay_tree(team, attr);
	if (!ret)
		ret = team_join(team);
	if (ret)
		ang_rows_clear(&team->rows);
	else
		team->offloaded = true;
	return ret;
}

/*
 * Completes a team whose members have each other's addresses.  The members
 * agree first, so no member continues before all of them accept messages of the
 * team.
 * Return: as angara_team_create(); after an error the team is freed.
 */
static int team_raise(struct angara_team *team,
		      const struct angara_team_attr *attr,
		      struct angara_team **out)
{
	const struct ang_outcome mine = { 0 };
	struct ang_outcome its;
	int ret;

	team->root = attr->root;
	ang_talk_open(team);
	if (attr->flags & ANGARA_TEAM_SOFTWARE)
		ret = ang_team_agree(team, &mine, 0, &its);
	else
		ret = team_offload(team, attr);
	if (ret && !team->broken && !attr->tree &&
	    !(attr->flags & ANGARA_TEAM_TREE))
		ret = 0;
	if (!ret) {
		*out = team;
		return 0;
	}
	ang_coll_leave(team, !team->broken);
	team_free(team);
	return ret;
}

/*
 * Draws a number for the team; all members use the number that the first member
 * has drawn.
 */
static u64 team_draw(void)
{
	u64 v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return ang_hash(ang_hash(ANG_HASH_INIT, (u32)ang_now_ns()),
			(u32)(uintptr_t)&v);
}

static int rank_compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Sorts the members by rank, as exchanges need them.
 * @list: out; has room for @size
 * Return: 0; -EINVAL the list is empty, or has a rank twice or out of range.
 */
static int sorted_list(const struct ang_picks *p, u32 size, u32 *list)
{
	u32 i;

	if (!p->n || p->n > size)
		return -EINVAL;
	for (i = 0; i < p->n; i++)
		list[i] = ang_pick(p, i);
	qsort(list, p->n, sizeof(*list), rank_compare);
	for (i = 0; i < p->n; i++)
		if (list[i] >= size || (i && list[i] == list[i - 1]))
			return -EINVAL;
	return 0;
}

/* Are the members of @p in the order of the sorted @list? */
static bool in_order(const struct ang_picks *p, const u32 *list)
{
	u32 i;

	for (i = 0; i < p->n && list[i] == ang_pick(p, i); i++)
		;
	return i == p->n;
}

static u32 index_of(const u32 *list, u32 n, u32 rank)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (list[i] == rank)
			break;
	return i;
}

static struct ang_team_card make_card(const struct angara_ctx *ctx,
				      const unsigned int *ranks, u32 n,
				      const struct angara_team_attr *attr)
{
	struct ang_team_card card = { .n = n, .id = team_draw() };

	card.list = ranks ? ang_ranks_hash(ranks, n) : 0;
	card.root = attr->root;
	card.tree = attr->tree;
	card.flags = attr->flags;
	card.stripes = attr->stripes;
	if (!attr_ok(attr, n) || !ctx) {
		card.err = -EINVAL;
		return card;
	}
	if (!ctx->create.msg_bytes)
		card.err = -ENOTSUP;
	card.fabric_id = ctx->dom->query.fabric_id;
	card.pkey = ctx->dom->pkey;
	card.node = ctx->dom->query.node;
	card.ctx = ctx->create.ctx;
	return card;
}

/* Checks the cards; every member gets the same result.  Return: 0 or -errno. */
static int judge_cards(const struct ang_team_card *cards, u32 n)
{
	u32 i, k;

	for (i = 0; i < n; i++)
		if (cards[i].err)
			return cards[i].err;
	for (i = 1; i < n; i++) {
		if (cards[i].n != cards[0].n || cards[i].list != cards[0].list ||
		    cards[i].root != cards[0].root ||
		    cards[i].tree != cards[0].tree ||
		    cards[i].flags != cards[0].flags ||
		    cards[i].stripes != cards[0].stripes ||
		    cards[i].fabric_id != cards[0].fabric_id ||
		    cards[i].pkey != cards[0].pkey)
			return -EINVAL;
		for (k = 0; k < i; k++)
			if (cards[i].node == cards[k].node &&
			    cards[i].ctx == cards[k].ctx)
				return -EINVAL;
	}
	return 0;
}

/*
 * Fills in the members' addresses and the team's number.  @order: ranks of the members in the job,
 * in the order of @cards
 */
static void take_cards(struct angara_team *team, const struct ang_team_card *cards,
		       const u32 *order, const unsigned int *ranks, u32 self)
{
	u32 i;

	for (i = 0; i < team->size; i++) {
		u32 rank = ranks ? ranks[i] : i;
		const struct ang_team_card *card =
			&cards[index_of(order, team->size, rank)];

		team->peers[i].node = card->node;
		team->peers[i].ctx = (u16)card->ctx;
		if (rank == self)
			team->rank = i;
		if (!i)
			team->id = card->id;
	}
}

/**
 * ang_team_of_job() - create a team with one tree from processes of a job
 * @job: job
 * @ctx: context of this member
 * @ranks: ranks in the job, or NULL for all
 * @n: number of members
 * @attr: attributes, equal at all members
 * @err: error of this member, to be sent to the others, or 0
 * @out: out
 *
 * Return: as angara_team_create().
 */
int ang_team_of_job(struct angara_job *job, struct angara_ctx *ctx,
		    const unsigned int *ranks, unsigned int n,
		    const struct angara_team_attr *attr, int err,
		    struct angara_team **out)
{
	const struct ang_picks picks = {
		.ranks = ranks, .stride = 1, .n = ranks ? n : job->size,
	};
	u32 *order = job->order;
	struct angara_team *team;
	struct ang_team_card card;
	int ret;

	n = picks.n;
	ret = sorted_list(&picks, job->size, order);
	if (ret)
		return ret;
	if (index_of(order, n, job->rank) == n ||
	    (job->given && !in_order(&picks, order)))
		return -EINVAL;
	card = make_card(ctx, ranks, n, attr);
	if (err)
		card.err = err;
	team = team_new(ctx, n);
	if (!team || team_give(team, job, order))
		card.err = -ENOMEM;
	ret = ang_job_exchange(job, n < job->size ? order : NULL,
			       n < job->size ? n : 0, CARD_TAG, &card,
			       sizeof(card), job->cards);
	if (!ret)
		ret = judge_cards(job->cards, n);
	if (ret) {
		if (team)
			team_free(team);
		return ret;
	}
	take_cards(team, job->cards, order, ranks, job->rank);
	team->wanted = attr->stripes;
	return team_raise(team, attr, out);
}

/*
 * Counts the teams that were created from the same members of the parent.  The
 * count is the same at all of these members.
 */
static int made_count(struct angara_team *parent, u64 list, u32 *num)
{
	struct ang_made *made;
	u32 i;

	for (i = 0; i < parent->nmade; i++)
		if (parent->made[i].list == list) {
			*num = ++parent->made[i].num;
			return 0;
		}
	made = realloc(parent->made, (i + 1) * sizeof(*made));
	if (!made)
		return -ENOMEM;
	parent->made = made;
	made[i] = (struct ang_made){ .list = list };
	parent->nmade = i + 1;
	*num = 0;
	return 0;
}

static u64 picks_hash(const struct ang_picks *p)
{
	u64 h = ANG_HASH_INIT;
	u32 i;

	for (i = 0; i < p->n; i++)
		h = ang_hash(h, ang_pick(p, i));
	return h;
}

static u64 child_id(const struct angara_team *parent, u64 list, u32 num)
{
	u64 h = ang_hash(ANG_HASH_INIT, (u32)parent->id);

	h = ang_hash(h, (u32)(parent->id >> 32));
	h = ang_hash(h, (u32)list);
	h = ang_hash(h, (u32)(list >> 32));
	return ang_hash(h, num);
}

/*
 * Allocates a team of members of @parent.  Return: the team; NULL: no memory.
 */
static struct angara_team *child_new(struct angara_team *parent,
				     const struct ang_picks *p)
{
	struct angara_team *team = team_new(parent->ctx, p->n);
	u32 i;

	if (!team)
		return NULL;
	for (i = 0; i < p->n; i++) {
		team->peers[i] = parent->peers[ang_pick(p, i)];
		if (ang_pick(p, i) == parent->rank)
			team->rank = i;
	}
	if (parent->given && team_give(team, parent->job, parent->order)) {
		team_free(team);
		return NULL;
	}
	return team;
}

/*
 * Does each member have the memory that team @id needs?  If the job has an
 * exchange function of the program, every member reports; otherwise only a
 * member without memory notifies the others.
 * Return: 0; -errno.
 */
static int child_agree(struct angara_team *parent, const struct ang_picks *p,
		       u64 id, int err)
{
	u32 self = 0;
	int ret;

	if (parent->given) {
		ret = ang_team_agree_given(parent, parent->order, p->n, err);
		return err ? err : ret;
	}
	while (ang_pick(p, self) != parent->rank)
		self++;
	if (err)
		ang_talk_refuse(parent, p, id, self);
	return err;
}

static int team_of(struct angara_team *parent, const struct ang_picks *p,
		   const struct angara_team_attr *attr, u32 part, u32 parts,
		   struct angara_team **out)
{
	u64 list = picks_hash(p), id;
	struct angara_team *team;
	u32 num = 0;
	u32 i;
	int ret;

	if (!attr_ok(attr, p->n) || parent->lost)
		return parent->lost ? -ENOTCONN : -EINVAL;
	for (i = 0; parent->given && i < p->n; i++)
		parent->order[i] = parent->ranks[ang_pick(p, i)];
	ret = made_count(parent, list, &num);
	id = child_id(parent, list, num);
	/*
	 * Lose the parent: otherwise this member's count of teams differs from
	 * the count of the others.
	 */
	if (ret)
		ang_coll_lose(parent);
	team = ret ? NULL : child_new(parent, p);
	ret = child_agree(parent, p, id, team ? 0 : -ENOMEM);
	if (ret) {
		if (team)
			team_free(team);
		return ret;
	}
	team->id = id;
	team->wanted = attr->stripes ? attr->stripes : parent->wanted;
	team->part = part;
	team->parts = parts;
	team->parent = parent;
	return team_raise(team, attr, out);
}

/**
 * ang_team_of_team() - create a team with one tree from members of another team
 * @parent: parent team; only the chosen members call this
 * @p: chosen members
 * @attr: attributes
 * @out: out; its @parent is set
 *
 * Return: as angara_team_subset().
 */
int ang_team_of_team(struct angara_team *parent, const struct ang_picks *p,
		     const struct angara_team_attr *attr,
		     struct angara_team **out)
{
	int ret = sorted_list(p, parent->size, parent->order);

	if (ret)
		return ret;
	if (index_of(parent->order, p->n, parent->rank) == p->n ||
	    (parent->given && !in_order(p, parent->order)))
		return -EINVAL;
	return team_of(parent, p, attr, 0, 1, out);
}

/**
 * ang_team_twin() - create a team of the same members with another tree
 * @team: team; all members call
 * @root: rank whose node is the root
 * @part: index of the new team's tree among the trees of these members
 * @parts: number of these trees
 * @twin: out: the new team
 *
 * Return: as angara_team_subset().
 */
int ang_team_twin(struct angara_team *team, u32 root, u32 part, u32 parts,
		  struct angara_team **twin)
{
	const struct ang_picks all = { .stride = 1, .n = team->size };
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE, .root = root,
		.stripes = 1,
	};

	int ret = team_of(team, &all, &attr, part, parts, twin);

	if (!ret)
		(*twin)->parent = NULL;
	return ret;
}

/**
 * ang_team_end() - leave a team with one tree, and clear the rows that this
 * member has set
 * @team: freed
 * @quietly: as for ang_coll_leave()
 */
void ang_team_end(struct angara_team *team, bool quietly)
{
	ang_coll_leave(team, quietly);
	if (team->offloaded)
		team_leave(team);
	ang_rows_clear(&team->rows);
	team_free(team);
}
