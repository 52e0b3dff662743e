/* SPDX-License-Identifier: GPL-2.0-only */
/* angaractl: in-band management through one device; see angara/manage.h. */
#ifndef ANGARACTL_MANAGER_H
#define ANGARACTL_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

struct angara_manager;
struct angara_map;
struct args;

/**
 * struct manager_args - arguments of in-band management
 * @has_dev: @dev is given; else the first device is used
 * @dev: number of the device
 * @key: key of all routers, 0 for none
 */
struct manager_args {
	bool has_dev;
	uint32_t dev;
	uint64_t key;
};

int manager_allowed(void);
int manager_args(struct args *args, struct manager_args *given);
int manager_open(const struct manager_args *given, struct angara_manager **manager);
int manager_map(struct angara_manager *manager, uint64_t key, struct angara_map **map);

#endif /* ANGARACTL_MANAGER_H */
