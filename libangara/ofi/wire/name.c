// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses of endpoints, and their text form. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "afi.h"

#define AFI_NAME_FORMAT	"fi_addr_angara://%llx/%u/%u/%u/%x"

/*
 * Writes the text of an address. Return: bytes of the complete text, with NUL.
 */
int afi_name_print(const struct afi_name *name, char *text, size_t len)
{
	return 1 + snprintf(text, len, AFI_NAME_FORMAT,
			    (unsigned long long)name->fabric_id, name->node,
			    name->ctx, name->ep, name->serial);
}

/* Parses the text of an address.  Return: 0; -FI_EINVAL it is not valid. */
int afi_name_parse(const char *text, struct afi_name *name)
{
	unsigned long long fabric_id;
	unsigned int node, ctx, ep, serial;
	char again[128];

	if (sscanf(text, AFI_NAME_FORMAT, &fabric_id, &node, &ctx, &ep,
		   &serial) != 5 || ctx > UINT16_MAX || ep > UINT16_MAX)
		return -FI_EINVAL;
	*name = (struct afi_name){
		.fabric_id = fabric_id,
		.node = node,
		.ctx = (u16)ctx,
		.ep = (u16)ep,
		.serial = serial,
	};
	afi_name_print(name, again, sizeof(again));
	return strcmp(text, again) ? -FI_EINVAL : 0;
}

/* Copies an address as far as it fits, as fi_getname() does. */
int afi_name_give(const struct afi_name *name, void *addr, size_t *len)
{
	size_t room = *len;

	*len = sizeof(*name);
	if (room)
		memcpy(addr, name, room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

/*
 * Return: a random number; without a source of random numbers, one from the
 * clock. It need not be secret.
 */
u32 afi_any_number(const void *salt)
{
	u32 v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return (u32)afi_deadline(0) * 2654435761U ^ (u32)getpid() ^
	       (u32)(uintptr_t)salt;
}
