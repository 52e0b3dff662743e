// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The state of a thread that runs the model: its view, and its seat in the process's slot.
 */
#include "embed.h"

/** emb_view_init() - prepare the view of a thread for the copy emb_run.copy */
void emb_view_init(struct emb_run *r)
{
	ang_view_init(&r->view, emb_model(r->fab, r->copy), &emb_ops, r);
	r->view.packets = r->fab->packets;
	r->view.calm = EMB_CALM;
}

/**
 * emb_run_init() - prepare to run the model
 * @r: out
 * @fab: fabric
 */
void emb_run_init(struct emb_run *r, struct emb_fab *fab)
{
	r->fab = fab;
	r->own = emb_slot(fab, fab->slot);
	r->seat = &r->own->seat[ang_fetch_add(&fab->seats, 1) % EMB_SEATS];
	r->num_wakes = 0;
	r->looks = 0;
	r->in_vain = 0;
	r->sleep_until = 0;
	r->rest = 1;
	r->beside = false;
	r->copy = emb_copy(fab);
	emb_view_init(r);
}
