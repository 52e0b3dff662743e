// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of a trace, matched: where an injected packet arrives, which links it
 * crosses, and what answers it.
 */
#include "replay.h"

/*
 * Type of the key of a result that the root's Reducer gives to the root's own
 * host.
 */
#define GIVEN	ANG_PKT_NUM

/**
 * struct key - identity of a packet in a trace
 * @type: ANG_PKT_*, or GIVEN
 * @from: node that injected it; tree of a result
 * @seq: number as in the record
 * @len: bytes of payload: it distinguishes operations of a node that run at the
 *	same time, whose packets have the same numbers
 * @index: index of the record
 */
struct key {
	u32 type;
	u32 from;
	u32 seq;
	u32 len;
	u32 index;
};

static int key_compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool same_packets(const struct key *a, const struct key *b)
{
	return a->type == b->type && a->from == b->from && a->seq == b->seq &&
	       a->len == b->len;
}

/*
 * Does the record say that a root's Reducer has given the result of a reduce?
 */
static bool is_given(const struct ang_trace *r)
{
	return r->event == ANG_TR_RESULT && r->type == ANG_PKT_RESULT;
}

/* Key of a record's packet; a reduction arrives as its result. */
static struct key key_of(const struct replay *w, u32 i)
{
	const struct ang_trace *r = &w->rec[i];
	u32 type = r->type == ANG_PKT_REDUCE ? ANG_PKT_RESULT : r->type;

	return (struct key){
		.type = type, .seq = r->seq, .len = r->len, .index = i,
		.from = type == ANG_PKT_RESULT ? r->tree : r->src,
	};
}

/* Return: index of the first of @n sorted keys that is not less than @key. */
static u32 key_find(const struct key *list, u32 n, const struct key *key)
{
	u32 lo = 0, hi = n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (key_compare(&list[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Sorts ejections by key. */
static u32 keys(struct replay *w, struct key *injection)
{
	u32 i, n = 0;

	w->ejections = 0;
	for (i = 0; i < w->n; i++) {
		if (w->rec[i].event == ANG_TR_EJECT || is_given(&w->rec[i]))
			w->ejected[w->ejections++] = key_of(w, i);
		if (is_given(&w->rec[i]))
			w->ejected[w->ejections - 1].type = GIVEN;
		else if (injected(&w->rec[i]) && has_target(&w->rec[i]))
			injection[n++] = key_of(w, i);
	}
	qsort(w->ejected, w->ejections, sizeof(*w->ejected), key_compare);
	qsort(injection, n, sizeof(*injection), key_compare);
	return n;
}

/* Return: record of the arrival of the @nth packet with a key, or ANG_NONE. */
static u32 arrival(const struct replay *w, struct key key, u32 nth)
{
	u32 at;

	key.index = 0;
	at = key_find(w->ejected, w->ejections, &key) + nth;
	if (at < w->ejections && same_packets(&w->ejected[at], &key))
		return w->ejected[at].index;
	if (key.type != ANG_PKT_RESULT)
		return ANG_NONE;
	/*
	 * The root's own host gets the result from the Reducer, without a
	 * packet.
	 */
	key.type = GIVEN;
	return arrival(w, key, nth);
}

/*
 * The n-th packet that is injected with a key is the n-th that arrives with
 * this key.  All contributions to a reduction match its first result.
 */
void replay_targets(struct replay *w)
{
	struct key *injection = sim_zalloc(w->n, sizeof(*injection));
	u32 i, n, nth = 0;

	w->ejected = sim_zalloc(w->n, sizeof(*w->ejected));
	w->arrival = sim_zalloc(w->n, sizeof(*w->arrival));
	n = keys(w, injection);
	for (i = 0; i < n; i++) {
		nth = i && injection[i].type != ANG_PKT_RESULT &&
		      same_packets(&injection[i - 1], &injection[i]) ? nth + 1 : 0;
		w->arrival[injection[i].index] = arrival(w, injection[i], nth);
	}
	free(injection);
	free(w->ejected);
}

/**
 * struct moving - a packet between its injection and its arrival
 * @at: router that it has reached
 * @links: links that it has crossed
 * @next: packet that reached the router after it, or ANG_NONE
 */
struct moving {
	u32 at;
	u32 links;
	u32 next;
};

/**
 * struct places - packets with one key, by the router that they have reached
 * @m: packets, in the order of their injection
 * @first: by router: the packet that reached it first, or ANG_NONE
 * @last: by router: the packet that reached it last; valid if there is a first
 */
struct places {
	struct moving *m;
	u32 *first;
	u32 *last;
};

static void places_add(struct places *s, u32 packet, u32 router)
{
	s->m[packet].at = router;
	s->m[packet].next = ANG_NONE;
	if (s->first[router] == ANG_NONE)
		s->first[router] = packet;
	else
		s->m[s->last[router]].next = packet;
	s->last[router] = packet;
}

/* Removes the packet that reached a router first.  Return: this packet, or ANG_NONE. */
static u32 places_take(struct places *s, u32 router)
{
	u32 packet = s->first[router];

	if (packet != ANG_NONE)
		s->first[router] = s->m[packet].next;
	return packet;
}

/* Follows packets with one key through the @n records of @list, in the order of the trace. */
static void links_follow(struct replay *w, const struct ang_topo *topo,
			 const struct key *list, u32 n, struct places *s)
{
	u32 i, found, to, far, injections = 0;

	for (i = 0; i < n; i++) {
		const struct ang_trace *r = &w->rec[list[i].index];

		if (r->event == ANG_TR_INJECT) {
			s->m[injections].links = 0;
			places_add(s, injections++, r->node);
			continue;
		}
		found = places_take(s, r->node);
		if (found == ANG_NONE)
			continue;
		if (r->event == ANG_TR_SEND) {
			s->m[found].links++;
			to = ang_topo_peer(topo, r->node, r->port, &far);
			if (to < topo->routers)
				places_add(s, found, to);
		} else {
			w->links[list[i].index] = s->m[found].links;
		}
	}
	/* Empty all lists for the next key: only routers in s->m[].at still have packets. */
	for (i = 0; i < injections; i++)
		s->first[s->m[i].at] = ANG_NONE;
}

static bool is_moved(const struct ang_trace *r)
{
	return sim_is_request(r->type) &&
	       (r->event == ANG_TR_INJECT || r->event == ANG_TR_SEND ||
		r->event == ANG_TR_EJECT);
}

/*
 * Packets of a node may have the same key, and a link's record names no target.  A packet is at
 * the router to which its last link leads.  So a record belongs to a packet with the record's key
 * that is at the record's router.
 */
void replay_links(struct replay *w, const struct ang_topo *topo)
{
	struct key *list = sim_zalloc(w->n, sizeof(*list));
	struct places s = {
		.m = sim_zalloc(w->n, sizeof(*s.m)),
		.first = sim_zalloc(topo->routers, sizeof(*s.first)),
		.last = sim_zalloc(topo->routers, sizeof(*s.last)),
	};
	u32 i, n = 0, end;

	w->links = sim_zalloc(w->n, sizeof(*w->links));
	memset(s.first, 0xFF, topo->routers * sizeof(*s.first));
	for (i = 0; i < w->n; i++)
		if (is_moved(&w->rec[i]))
			list[n++] = key_of(w, i);
	qsort(list, n, sizeof(*list), key_compare);
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && same_packets(&list[i], &list[end]); end++)
			;
		links_follow(w, topo, &list[i], end - i, &s);
	}
	free(list);
	free(s.m);
	free(s.first);
	free(s.last);
}

static bool is_answer(const struct ang_trace *r)
{
	return r->event == ANG_TR_INJECT &&
	       (r->type == ANG_PKT_DATA || r->type == ANG_PKT_ACK);
}

static struct key answer_key(const struct ang_trace *r, u32 i)
{
	return (struct key){ .from = r->node, .seq = r->seq, .index = i };
}

/* Sorts answers by key. */
void replay_answers(struct replay *w)
{
	u32 i;

	w->answer = sim_zalloc(w->n, sizeof(*w->answer));
	for (i = 0; i < w->n; i++)
		if (is_answer(&w->rec[i]))
			w->answer[w->answers++] = answer_key(&w->rec[i], i);
	qsort(w->answer, w->answers, sizeof(*w->answer), key_compare);
}

/*
 * Return: bytes of the data that answers the atomic operation of record @i.  A node answers a
 * request before it serves the next request.  So the answer is the first record with the
 * request's number after the arrival of the request.
 */
u32 replay_fetched(const struct replay *w, u32 i)
{
	const struct ang_trace *to = &w->rec[w->arrival[i]], *r;
	struct key key = answer_key(to, w->arrival[i]);
	u32 at = key_find(w->answer, w->answers, &key);

	if (at == w->answers || !same_packets(&w->answer[at], &key))
		return 0;
	r = &w->rec[w->answer[at].index];
	return r->type == ANG_PKT_DATA ? r->len : 0;
}
