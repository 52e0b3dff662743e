/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files with descriptions of fabrics. */
#ifndef ANG_TOPO_TEXT_H
#define ANG_TOPO_TEXT_H

int ang_text_load(const char *path, char **text);

#endif /* ANG_TOPO_TEXT_H */
