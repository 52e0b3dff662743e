/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of named embedded fabrics; shared with angara-run. */
#ifndef ANG_EMBED_NAME_H
#define ANG_EMBED_NAME_H

#include "fabric.h"

#define EMB_PATH_BYTES	(ANG_NAME_BYTES + 32)

void emb_name_path(const char *name, char path[EMB_PATH_BYTES]);
void emb_name_sweep(const char *name);
void emb_name_remove(int fd, const char *path);
void emb_remove_if_last(int fd, const char *path);

#endif /* ANG_EMBED_NAME_H */
