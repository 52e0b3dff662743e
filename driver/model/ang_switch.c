// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Switches: routers without a processing element.
 *
 * A switch has rows of trees and counters, and no queues.  It is programmed and
 * read by commands of one node, its keeper (ang_topo_keeper()), whose driver names
 * it.  The keeper puts such a command into the switch's box, the view that holds
 * the switch carries it out, and the keeper then continues with its admin queue.
 * A switch does not access host memory, so the keeper writes counters there.  A
 * reset of the keeper clears the rows of its switches, too.
 *
 * Memory order: either side writes the box, then releases its state; the other
 * one acquires the state, then reads.  The state says whose turn it is.
 */
#include "ang_int.h"

static void box_pass(struct ang_view *v, struct ang_node *s, u32 state,
		     struct ang_node *to)
{
	ang_store_release(&s->box.state, state);
	ang_store_release(&to->db_admin, 1);
	ang_wake(v, to, 0);
}

/**
 * ang_switch_of() - a switch that a node keeps
 * @v: view
 * @n: node
 * @router: any number
 *
 * Return: the switch; NULL if @n keeps none of this number.
 */
struct ang_node *ang_switch_of(struct ang_view *v, const struct ang_node *n,
			       u32 router)
{
	struct ang_node *s;

	if (router < v->topo.nodes || router >= v->topo.routers)
		return NULL;
	s = ang_node(v->fab, router);
	return s->keeper == n->id ? s : NULL;
}

/**
 * ang_switch_call() - have a switch carry out a command
 * @v: view
 * @n: keeper, held
 * @s: its switch
 * @cmd: command; the same at each call until it is answered
 * @cpl: out: what it answers
 *
 * Return: false if it has not answered yet: the keeper is woken when it has.
 */
bool ang_switch_call(struct ang_view *v, struct ang_node *n, struct ang_node *s,
		     const struct angara_adm_cmd *cmd,
		     struct angara_adm_cpl *cpl)
{
	u32 state = ang_load_acquire(&s->box.state);

	if (state == ANG_BOX_DONE) {
		*cpl = s->box.cpl;
		if (cmd->opcode == ANGARA_ADM_COUNTERS && !cpl->status)
			cpl->status = (u8)ang_counters_give(v, n, &cmd->counters,
							    &s->box.counters);
		ang_store_release(&s->box.state, ANG_BOX_EMPTY);
		return true;
	}
	if (state == ANG_BOX_EMPTY) {
		s->box.cmd = *cmd;
		box_pass(v, s, ANG_BOX_ASKED, s);
	}
	return false;
}

/* One switch.  Return: true if it has forgotten its rows. */
static bool switch_reset(struct ang_view *v, struct ang_node *s)
{
	u32 state = ang_load_acquire(&s->box.state);

	if (s->box.reset)
		return state == ANG_BOX_DONE;
	/* A command in progress is finished first; its answer is dropped. */
	if (state == ANG_BOX_ASKED)
		return false;
	s->box.reset = 1;
	box_pass(v, s, ANG_BOX_RESET, s);
	return false;
}

/**
 * ang_switches_reset() - have the switches of a node forget their rows
 * @v: view
 * @n: node
 *
 * Return: false if some have not yet; to be called again.
 */
bool ang_switches_reset(struct ang_view *v, struct ang_node *n)
{
	bool all = true;
	u32 i;

	for (i = v->topo.nodes; i < v->topo.routers; i++) {
		struct ang_node *s = ang_switch_of(v, n, i);

		if (s)
			all &= switch_reset(v, s);
	}
	for (i = v->topo.nodes; all && i < v->topo.routers; i++) {
		struct ang_node *s = ang_switch_of(v, n, i);

		if (!s)
			continue;
		s->box.reset = 0;
		ang_store_release(&s->box.state, ANG_BOX_EMPTY);
	}
	return all;
}

/* Return: false if the step has done enough, and there are rows left. */
static bool rows_clear(struct ang_view *v, struct ang_node *s)
{
	u32 i;

	for (i = 0; i < v->fab->cfg.trees; i++) {
		if (ang_spent(v))
			return false;
		ang_tree_clear(v, s, i);
	}
	return true;
}

/**
 * ang_switch_serve() - carry out the command of the keeper
 * @v: view
 * @s: switch that is held
 *
 * Return: false if it has to wait, for the next step or room on a link.
 */
bool ang_switch_serve(struct ang_view *v, struct ang_node *s)
{
	u32 state = ang_load_acquire(&s->box.state);

	if (state == ANG_BOX_ASKED) {
		if (!ang_command(v, s, &s->box.cmd, &s->box.cpl))
			return false;
	} else if (state == ANG_BOX_RESET) {
		if (!rows_clear(v, s)) {
			ang_store_release(&s->db_admin, 1);
			return true;
		}
		if (!ang_faults_reset(v, s))
			return false;
	} else {
		return true;
	}
	box_pass(v, s, ANG_BOX_DONE, ang_node(v->fab, s->keeper));
	return true;
}
