/* SPDX-License-Identifier: GPL-2.0-only */
/* Angara adapter: notice of regions that have become stale; see watch.c. */
#ifndef ANG_WATCH_H
#define ANG_WATCH_H

#include "ang_file.h"

struct ang_watch;

int ang_watch_start(void);
void ang_watch_stop(void);
struct ang_watch *ang_watch_new(struct ang_domain *dom, unsigned long addr,
				u32 num_pages);
void ang_watch_begin(struct ang_watch *w);
bool ang_watch_changed(struct ang_watch *w);
void ang_watch_show(struct ang_watch *w, u32 slot);
void ang_watch_none(struct ang_domain *dom, u32 slot);
void ang_watch_end(struct ang_watch *w);
int ang_watch_init(struct ang_domain *dom);
void ang_watch_exit(struct ang_domain *dom);
int ang_watch_mmap(struct file *filp, struct vm_area_struct *vma);

#endif /* ANG_WATCH_H */
