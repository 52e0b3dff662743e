// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Source and completion of entries that are executed at once, without an
 * operation: ang_express.c, ang_last.c, ang_cast.c.
 */
#include "ang_int.h"

/**
 * ang_entry_source() - read the data of a context's next entry
 * @v: view
 * @n: node
 * @c: context
 * @w: the entry, which is valid
 * @to: out: data
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_entry_source(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		     const struct angara_wqe *w, void *to)
{
	u32 len = (u32)ang_wqe_payload(w);

	if (!len)
		return ANGARA_ST_OK;
	if (w->flags & ANGARA_WQE_INLINE)
		return ang_read_inline(v, n, c, to, len);
	return ang_mr_give(v, n, c, le32_to_cpu(w->lkey), le64_to_cpu(w->loff),
			   len, to);
}

/** ang_entry_done() - end an entry, and report it to the context if requested */
void ang_entry_done(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    const struct angara_wqe *w, u32 status)
{
	struct angara_cqe cqe = {
		.cookie = w->cookie, .length = w->length, .opcode = w->opcode,
	};

	if (status) {
		cqe.status = cpu_to_le16((u16)status);
		cqe.node = cpu_to_le32(n->id);
		cqe.length = 0;
	}
	if (status || !(w->flags & ANGARA_WQE_QUIET))
		ang_complete(v, n, c, &cqe);
}
