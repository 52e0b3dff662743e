// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Switches: routers without a processing element.
 *
 * A switch has rows of trees and counters, but no queues.  One node, the keeper
 * of the switch (ang_topo_keeper()), programs and reads it.  If the keeper's
 * driver sends a command for the switch, the keeper puts the command into the
 * switch's box, the view that holds the switch executes the command, and then
 * the keeper continues with its admin queue.  A switch does not access host
 * memory, so the keeper writes the switch's counters there.  A reset of the
 * keeper clears the rows of its switches, too.
 *
 * Memory order: one side writes the box, then releases its state; the other
 * side acquires the state, then reads.  The state determines which side owns
 * the box.
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
 * ang_switch_of() - find a switch that a node keeps
 * @v: view
 * @n: node
 * @router: any number
 *
 * Return: the switch; NULL if @n keeps no switch of this number.
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
 * ang_switch_call() - make a switch execute a command
 * @v: view
 * @n: keeper, held
 * @s: switch that @n keeps
 * @cmd: command; pass the same command until it is answered
 * @cpl: out: answer of the switch
 *
 * Return: true; false if the switch has not answered yet: the keeper is woken
 * when it answers.
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

/* Reset one switch.  Return: true if its rows are cleared. */
static bool switch_reset(struct ang_view *v, struct ang_node *s)
{
	u32 state = ang_load_acquire(&s->box.state);

	if (s->box.reset)
		return state == ANG_BOX_DONE;
	/*
	 * Let the switch finish a command in progress first, and drop its
	 * answer.
	 */
	if (state == ANG_BOX_ASKED)
		return false;
	s->box.reset = 1;
	box_pass(v, s, ANG_BOX_RESET, s);
	return false;
}

/**
 * ang_switches_reset() - clear the rows of a node's switches
 * @v: view
 * @n: node
 *
 * Return: true; false if rows are not cleared yet; then the caller calls again.
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

/* Clear rows.  Return: false if the step's work is used up and rows remain. */
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
 * ang_switch_serve() - execute the command of the keeper
 * @v: view
 * @s: switch that is held
 *
 * Return: false if the command has to wait, for the next step or for room on a
 * link.
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
