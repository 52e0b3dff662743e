// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Making and ending a team.
 *
 * Its members make a team, and nobody else takes part:
 *
 *   of a job	  exchange cards through the launcher, judge them (each by itself,
 *		  all alike)
 *   of a team	  addresses are known, and the number follows from that of the
 *		  parent and the list of members: nothing is exchanged
 *
 * From here on the members have software collectives, and agree by them
 * (team_agree.c).  Then they try to get a tree:
 *
 *   coordinator  program the rows		  all: agree on the outcome
 *		  (those that it has no device for: see team_apart.c)
 *   members	  JOIN			  all: agree on the outcome
 *
 * Without a tree the team works by software, unless the caller wants one.  Every
 * step that can fail somewhere is followed by an agreement, so the result is the
 * same at all members.
 *
 * An exchange of the program's own may let another thread use the context, so
 * nothing of the context's is remembered across one but the pool, which stays.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "coll_run.h"
#include "sized.h"

#define CARD_TAG	(3ULL << 32)
#define END_TAG		(1ULL << 32)

static void team_free(struct angara_team *team)
{
	free(team->ranks);
	free(team->blocks);
	free(team->peers);
	free(team->made);
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
	team->peers = calloc(size, sizeof(*team->peers));
	if (team->peers)
		return team;
	team_free(team);
	return NULL;
}

/* What exchanges of the program's own need.  Return: 0; -ENOMEM. */
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
	       !(attr->flags & ~(ANGARA_TEAM_TREE | ANGARA_TEAM_SOFTWARE)) &&
	       !(attr->flags & ANGARA_TEAM_SOFTWARE &&
		 (attr->flags & ANGARA_TEAM_TREE || attr->tree));
}

/* The coordinator is the process whose node is the root. */
static int lay_tree(struct angara_team *team, const struct angara_team_attr *attr)
{
	struct ang_outcome mine = { 0 }, its;
	struct ang_rows *rows = &team->rows;
	int ret;

	if (team->rank == attr->root) {
		mine.err = ang_rows_plan(rows, team->ctx,
					 team->peers[attr->root].node,
					 team->peers, team->size);
		if (!mine.err && !rows->missing)
			mine.err = ang_rows_propose(rows, attr->tree);
		mine.n = rows->n;
		mine.missing = rows->missing;
		mine.why = rows->why;
		mine.tree = rows->tree;
		mine.epoch = rows->epoch;
	}
	ret = ang_team_agree(team, &mine, attr->root, &its);
	if (!ret && its.missing)
		ret = ang_team_lay_apart(team, attr->root, attr->tree, &its);
	if (!ret) {
		team->tree = its.tree;
		team->epoch = its.epoch;
	}
	return ret;
}

static void leave(struct angara_team *team)
{
	struct angara_join arg = ANG_CMD_INIT(struct angara_join);

	arg.tree = team->tree;
	ang_dev_cmd(&team->ctx->dev, ANGARA_IOCTL_LEAVE, &arg);
	team->ctx->trees &= ~(1ULL << team->tree);
}

/*
 * Its place among the members on its node goes by rank, not by which joins first:
 * the same members on the same nodes sum floats up in the same order.
 */
static u32 place(const struct angara_team *team)
{
	u32 before = 0;
	u32 i;

	for (i = 0; i < team->rank; i++)
		before += team->peers[i].node == team->peers[team->rank].node;
	return before;
}

/* Return: 0 or -errno; then it is no member. */
static int enter(struct angara_team *team)
{
	struct angara_join arg = ANG_CMD_INIT(struct angara_join);
	struct angara_ctx *ctx = team->ctx;
	int ret;

	/* One that was made meanwhile, and whose rows were cleared already. */
	if (ctx->trees >> team->tree & 1)
		return -EBUSY;
	arg.tree = team->tree;
	arg.flags = ANGARA_JOIN_PLACE;
	arg.place = place(team);
	ret = ang_dev_cmd(&ctx->dev, ANGARA_IOCTL_JOIN, &arg);
	if (ret)
		return ret;
	ctx->trees |= 1ULL << team->tree;
	/* Nobody broadcasts before all know that all have joined. */
	team->received = ang_counter(ctx, ANGARA_CTR_BCAST(team->tree));
	team->rx_errors = ang_counter(ctx, ANGARA_CTR_RX_ERRORS(team->tree));
	return 0;
}

static int join(struct angara_team *team)
{
	struct ang_outcome mine = { .err = enter(team) }, its;
	int ret = ang_team_agree(team, &mine, 0, &its);

	if (ret && !mine.err)
		leave(team);
	return ret;
}

static_assert(ANGARA_MAX_TREES * sizeof(u32) <= ANG_AGREE_BYTES,
	      "members agree on all TreeIds at once");

/* No team that shares a member with another gets its TreeId. */
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

/* Return: 0; why there is no tree, the same at all members. */
static int offload(struct angara_team *team, const struct angara_team_attr *attr)
{
	int ret = trees_taken(team);

	if (!ret)
		ret = lay_tree(team, attr);
	if (!ret)
		ret = join(team);
	if (ret)
		ang_rows_clear(&team->rows);
	else
		team->offloaded = true;
	return ret;
}

/*
 * A team whose members know each other gets what it works with.
 * Return: as angara_team_create(); then it is gone.
 */
static int team_raise(struct angara_team *team,
		      const struct angara_team_attr *attr,
		      struct angara_team **out)
{
	int ret = ang_talk_open(team);

	if (ret) {
		team_free(team);
		return ret;
	}
	if (!(attr->flags & ANGARA_TEAM_SOFTWARE))
		ret = offload(team, attr);
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

/* A number for the team, if it is this member's that counts. */
static u64 draw(void)
{
	u64 v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return ang_hash(ang_hash(ANG_HASH_INIT, (u32)ang_now_ns()),
			(u32)(uintptr_t)&v);
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Members in the order of ranks, as exchanges want them.
 * Return: 0; -EINVAL the list names nobody, one twice, or one that is not there;
 * -ENOMEM.
 */
static int sorted_list(const unsigned int *ranks, u32 n, u32 size, u32 **out)
{
	u32 *list;
	u32 i;

	*out = NULL;
	if (!n || n > size)
		return -EINVAL;
	list = malloc(n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		list[i] = ranks ? ranks[i] : i;
	qsort(list, n, sizeof(*list), compare);
	for (i = 0; i < n; i++)
		if (list[i] >= size || (i && list[i] == list[i - 1])) {
			free(list);
			return -EINVAL;
		}
	*out = list;
	return 0;
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
	struct ang_team_card card = { .n = n, .id = draw() };

	card.list = ranks ? ang_ranks_hash(ranks, n) : 0;
	card.root = attr->root;
	card.tree = attr->tree;
	card.flags = attr->flags;
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

/* Every member comes to the same verdict.  Return: 0 or -errno. */
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

/* Fills in addresses and number.  @order: members in the order of cards. */
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

/* Return: 0; -EINVAL; -E2BIG. */
static int attr_take(struct angara_team_attr *known,
		     const struct angara_team_attr *attr)
{
	return ang_sized_take(known, sizeof(*known), attr,
			      ANG_SIZED_FIRST(angara_team_attr, tree));
}

ANG_PUBLIC int angara_team_create(struct angara_job *job, struct angara_ctx *ctx,
				  const unsigned int *ranks, unsigned int n,
				  const struct angara_team_attr *attr,
				  struct angara_team **out)
{
	struct angara_team *team = NULL;
	struct angara_team_attr known;
	struct ang_team_card card;
	u32 *order;
	int ret, err;

	*out = NULL;
	if (!ranks)
		n = job->size;
	ret = sorted_list(ranks, n, job->size, &order);
	if (ret)
		return ret;
	ret = -EINVAL;
	if (index_of(order, n, job->rank) == n)
		goto free_order;
	if (job->given && ranks && memcmp(order, ranks, n * sizeof(*order)))
		goto free_order;
	err = attr_take(&known, attr);
	card = make_card(ctx, ranks, n, &known);
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
	if (ret)
		goto free_team;
	take_cards(team, job->cards, order, ranks, job->rank);
	free(order);
	return team_raise(team, &known, out);

free_team:
	if (team)
		team_free(team);
free_order:
	free(order);
	return ret;
}

/* How many teams of the same members there were, as all of these know. */
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

static u64 child_id(const struct angara_team *parent, u64 list, u32 num)
{
	u64 h = ang_hash(ANG_HASH_INIT, (u32)parent->id);

	h = ang_hash(h, (u32)(parent->id >> 32));
	h = ang_hash(h, (u32)list);
	h = ang_hash(h, (u32)(list >> 32));
	return ang_hash(h, num);
}

/* @ranks are those of the parent, in the order of the new team. */
static int team_of(struct angara_team *parent, const u32 *ranks, u32 n,
		   const struct angara_team_attr *attr, struct angara_team **out)
{
	u64 list = ang_ranks_hash(ranks, n);
	struct angara_team *team;
	u32 i, num;
	int ret;

	if (!attr_ok(attr, n) || parent->lost)
		return parent->lost ? -ENOTCONN : -EINVAL;
	ret = made_count(parent, list, &num);
	if (ret)
		return ret;
	team = team_new(parent->ctx, n);
	if (!team)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		team->peers[i] = parent->peers[ranks[i]];
		if (ranks[i] == parent->rank)
			team->rank = i;
	}
	team->id = child_id(parent, list, num);
	if (parent->given) {
		unsigned int *job_ranks = malloc(n * sizeof(*job_ranks));

		for (i = 0; job_ranks && i < n; i++)
			job_ranks[i] = parent->ranks[ranks[i]];
		ret = job_ranks ? team_give(team, parent->job, job_ranks) :
				  -ENOMEM;
		free(job_ranks);
	}
	if (ret) {
		team_free(team);
		return ret;
	}
	return team_raise(team, attr, out);
}

ANG_PUBLIC int angara_team_subset(struct angara_team *parent,
				  const unsigned int *ranks, unsigned int n,
				  const struct angara_team_attr *attr,
				  struct angara_team **out)
{
	struct angara_team_attr known;
	u32 *order;
	u32 i;
	int ret;

	*out = NULL;
	ret = attr_take(&known, attr);
	if (ret)
		return ret;
	if (!ranks)
		n = parent->size;
	ret = sorted_list(ranks, n, parent->size, &order);
	if (ret)
		return ret;
	if (index_of(order, n, parent->rank) == n ||
	    (parent->given && ranks && memcmp(order, ranks, n * sizeof(*order))))
		ret = -EINVAL;
	for (i = 0; ranks && i < n; i++)
		order[i] = ranks[i];
	if (!ret)
		ret = team_of(parent, order, n, &known, out);
	free(order);
	return ret;
}

ANG_PUBLIC int angara_team_strided(struct angara_team *parent,
				   unsigned int start, unsigned int stride,
				   unsigned int n,
				   const struct angara_team_attr *attr,
				   struct angara_team **out)
{
	unsigned int *ranks;
	unsigned int i;
	bool member = false;
	int ret = 0;

	*out = NULL;
	if (!n || !stride || start >= parent->size ||
	    n - 1 > (parent->size - 1 - start) / stride)
		return -EINVAL;
	ranks = malloc(n * sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ranks[i] = start + i * stride;
		member |= ranks[i] == parent->rank;
	}
	if (member)
		ret = angara_team_subset(parent, ranks, n, attr, out);
	free(ranks);
	return ret;
}

/** struct seat - a member of the parent, as it wants to be in a part of it */
struct seat {
	u32 key;
	u32 rank;
};

static int compare_seats(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

ANG_PUBLIC int angara_team_split(struct angara_team *parent, unsigned int color,
				 unsigned int key,
				 const struct angara_team_attr *attr,
				 struct angara_team **out)
{
	u64 *all = calloc(parent->size, sizeof(*all));
	struct seat *seats = calloc(parent->size, sizeof(*seats));
	u32 *ranks = calloc(parent->size, sizeof(*ranks));
	u32 i, n = 0;
	int ret = -ENOMEM;

	*out = NULL;
	if (!all || !seats || !ranks)
		goto out;
	ret = ang_team_collect(parent, (u64)color << 32 | key, all);
	if (ret || color == ANGARA_NO_COLOR)
		goto out;
	for (i = 0; i < parent->size; i++)
		if (all[i] >> 32 == color)
			seats[n++] = (struct seat){ .key = (u32)all[i], .rank = i };
	qsort(seats, n, sizeof(*seats), compare_seats);
	for (i = 0; i < n; i++)
		ranks[i] = seats[i].rank;
	ret = angara_team_subset(parent, ranks, n, attr, out);
out:
	free(ranks);
	free(seats);
	free(all);
	return ret;
}

static bool drained(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;

	return !team->ops && (!team->offloaded ||
			      ctx->by_tree[1 + team->tree] == 0);
}

/* After this no operation of any member is under way, and all have arrived. */
static int finish_ops(struct angara_team *team)
{
	u64 tag = END_TAG | (u64)team->epoch << 8 | team->tree;
	int ret, err;

	ret = ang_wait_until(team->ctx, drained, team, ANGARA_FOREVER);
	if (!ret && team->offloaded)
		ret = angara_barrier(team);
	if (team->given)
		err = ang_job_exchange(team->job, team->ranks, team->size, tag,
				       NULL, 0, NULL);
	else
		err = team->lost ? -ECONNRESET : ang_team_meet(team);
	return ret ? ret : err;
}

static void team_end(struct angara_team *team, bool quietly)
{
	ang_coll_leave(team, quietly);
	if (team->offloaded)
		leave(team);
	ang_rows_clear(&team->rows);
	team_free(team);
}

ANG_PUBLIC int angara_team_destroy(struct angara_team *team)
{
	int ret;

	if (!team)
		return 0;
	ret = finish_ops(team);
	team_end(team, !ret || team->given);
	return ret;
}

ANG_PUBLIC void angara_team_leave(struct angara_team *team)
{
	if (team)
		team_end(team, team->given);
}

ANG_PUBLIC unsigned int angara_team_rank(const struct angara_team *team)
{
	return team->rank;
}

ANG_PUBLIC unsigned int angara_team_size(const struct angara_team *team)
{
	return team->size;
}

ANG_PUBLIC unsigned int angara_team_tree(const struct angara_team *team)
{
	return team->offloaded ? team->tree : ANGARA_NO_TREE;
}

ANG_PUBLIC int angara_team_query(const struct angara_team *team,
				 struct angara_team_info *info)
{
	const struct angara_team_info known = {
		.rank = team->rank,
		.members = team->size,
		.offloaded = team->offloaded,
		.tree = angara_team_tree(team),
		.lost = team->lost ? team->culprit : ANGARA_NO_RANK,
		.by_device = team->by_device,
		.by_software = team->by_software,
		.messages = team->messages,
	};

	return ang_sized_give(info, &known, sizeof(known),
			      ANG_SIZED_FIRST(angara_team_info, messages));
}

ANG_PUBLIC struct angara_peer angara_team_peer(const struct angara_team *team,
					       unsigned int rank)
{
	if (rank >= team->size)
		return (struct angara_peer){ .node = 0xFFFFFFFFU, .ctx = 0xFFFF };
	return team->peers[rank];
}
