/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exchanges over direct connections between the processes, for launchers that
 * can only distribute one card per process.
 */
#ifndef ANG_JOB_MESH_H
#define ANG_JOB_MESH_H

#include "ang_env.h"

#define ANG_MESH_CARD	512	/* bytes of the longest card, with its NUL */

struct ang_mesh;

/**
 * typedef ang_mesh_card_fn - get the card of another process
 * @arg: as given to ang_mesh_exchange()
 * @rank: rank of that process
 * @card: out: text
 *
 * Return: 0 or -errno.
 */
typedef int (*ang_mesh_card_fn)(void *arg, u32 rank, char card[ANG_MESH_CARD]);

int ang_mesh_new(u32 rank, u32 size, bool here, struct ang_mesh **mesh);
void ang_mesh_free(struct ang_mesh *mesh);
const char *ang_mesh_card(const struct ang_mesh *mesh);
int ang_mesh_exchange(struct ang_mesh *mesh, ang_mesh_card_fn card, void *arg,
		      u32 timeout_s, const u32 *ranks, u32 nranks, u64 tag,
		      const void *mine, size_t len, void *all);

#endif /* ANG_JOB_MESH_H */
