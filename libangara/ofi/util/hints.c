// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Checks of attributes that a program asks for.  A refused attribute is logged, since
 * fi_getinfo() reports only that there is no entry.
 */
#include <stdio.h>

#include "afi.h"

#define TEXT	1024	/* for the names of all bits of an attribute */

/**
 * afi_hint() - check an attribute
 * @name: the attribute, for the log
 * @ok: it is supported
 * @wanted: its value, for the log
 * @supported: the supported values, for the log
 *
 * Return: @ok.
 */
bool afi_hint(const char *name, bool ok, const char *wanted, const char *supported)
{
	if (!ok)
		AFI_INFO(CORE, "%s: %s is not supported; supported: %s\n", name,
			 wanted, supported);
	return ok;
}

/** afi_hint_most() - check that a number is at most @most.  Return: whether it is. */
bool afi_hint_most(const char *name, u64 wanted, u64 most)
{
	char number[24], limit[32];

	if (wanted <= most)
		return true;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)wanted);
	snprintf(limit, sizeof(limit), "0 to %llu", (unsigned long long)most);
	return afi_hint(name, false, number, most ? limit : "0");
}

/**
 * afi_hint_bits() - check that an attribute has only supported bits
 * @name: the attribute, for the log
 * @wanted: its value
 * @given: supported bits
 * @type: kind of bits, such as FI_TYPE_CAPS; libfabric does not name all of them
 *
 * Return: whether @wanted has no other bits.
 */
bool afi_hint_bits(const char *name, u64 wanted, u64 given, enum fi_type type)
{
	char refused[TEXT], supported[TEXT];

	wanted &= ~given;
	if (!wanted)
		return true;
	fi_tostr_r(refused, sizeof(refused), &wanted, type);
	if (!*refused)
		snprintf(refused, sizeof(refused), "0x%llx",
			 (unsigned long long)wanted);
	fi_tostr_r(supported, sizeof(supported), &given, type);
	return afi_hint(name, false, refused, *supported ? supported : "none");
}
