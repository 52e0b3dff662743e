/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Intrusive doubly linked lists. */
#ifndef AFI_LIST_H
#define AFI_LIST_H

#include <stdbool.h>
#include <stddef.h>

#define afi_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/**
 * struct afi_link - link of a list
 * @next: next link
 * @prev: previous link
 */
struct afi_link {
	struct afi_link *next;
	struct afi_link *prev;
};

static inline void afi_list_init(struct afi_link *list)
{
	list->next = list;
	list->prev = list;
}

static inline void afi_list_add(struct afi_link *list, struct afi_link *link)
{
	link->next = list;
	link->prev = list->prev;
	list->prev->next = link;
	list->prev = link;
}

static inline void afi_list_del(struct afi_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

static inline bool afi_list_empty(const struct afi_link *list)
{
	return list->next == list;
}

#endif /* AFI_LIST_H */
