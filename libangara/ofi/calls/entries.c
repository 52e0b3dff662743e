// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries of fi_getinfo() for adapters. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "nic.h"

/*
 * libfabric frees the copy in the layout of its own version.  So the newest
 * version of fi_dupinfo() in the loaded libfabric must make the copy.  A direct
 * call would bind to the version that was newest at build time.
 */
struct fi_info *afi_info_copy(const struct fi_info *info)
{
	struct fi_info *(*dup)(const struct fi_info *info);

	*(void **)&dup = dlsym(RTLD_DEFAULT, "fi_dupinfo");
	return dup ? dup(info) : NULL;
}

void afi_info_free(struct fi_info *info)
{
	void (*freeinfo)(struct fi_info *info);

	*(void **)&freeinfo = dlsym(RTLD_DEFAULT, "fi_freeinfo");
	if (freeinfo)
		freeinfo(info);
}

/*
 * Return: whether a name of a domain is valid: "angara", or "angara3" for adapter 3.
 * @device: out: number of the adapter as text, NULL: none is named
 */
bool afi_domain_device(const char *name, const char **device)
{
	size_t len = strlen(AFI_NAME);

	*device = NULL;
	if (!name || !strcmp(name, AFI_NAME))
		return true;
	if (strncmp(name, AFI_NAME, len) ||
	    strspn(name + len, "0123456789") != strlen(name + len))
		return false;
	*device = name + len;
	return true;
}

/*
 * Sets the name of the domain and, if the domain's adapter @a is known, its
 * description.
 */
static int set_domain(struct fi_info *info, const char *name,
		      const struct angara_adapter *a)
{
	free(info->domain_attr->name);
	info->domain_attr->name = strdup(name);
	if (a)
		info->nic = afi_nic_new(a);
	return info->domain_attr->name && (info->nic || !a) ? 0 : -FI_ENOMEM;
}

/*
 * Has a launcher or the user chosen the adapter?  In a job the adapter depends
 * on the rank, which is not known yet.
 */
static bool is_placed(void)
{
	char *device;

	return getenv("ANGARA_DEVICE") || getenv("PMIX_NAMESPACE") ||
	       !fi_param_get_str(&afi_provider, "device", &device);
}

static void adapter_get(const struct angara_adapters *list, u32 i,
			struct angara_adapter *a)
{
	*a = (struct angara_adapter){ .size = sizeof(*a) };
	angara_adapters_query(list, i, a);
}

/*
 * Finds the adapter of a domain: the one that @device names or, without
 * @device, the one that a process opens by default.  Return: NULL: there is
 * none, or it is not known before the domain is opened.
 */
static const struct angara_adapter *adapter_find(const struct angara_adapters *list,
						 const char *device,
						 struct angara_adapter *a)
{
	u32 n = list ? angara_adapters_count(list) : 0;
	char path[32];
	char *param;
	u32 i;

	if (!device && !fi_param_get_str(&afi_provider, "device", &param))
		device = param;
	if (!device && !getenv("ANGARA_DEVICE") && getenv("PMIX_NAMESPACE"))
		return NULL;
	for (i = 0; i < n; i++) {
		adapter_get(list, i, a);
		snprintf(path, sizeof(path), "/dev/angara%u", a->number);
		if (device ? !strcmp(device, path) ||
			     !strcmp(device, path + strlen("/dev/angara")) :
			     a->chosen)
			return a;
	}
	return NULL;
}

/*
 * Appends an entry for each adapter to the first entry, unless a launcher or the
 * user has chosen the adapter.
 */
static int add_adapters(struct fi_info *info, const struct angara_adapters *list)
{
	u32 n = list && !is_placed() ? angara_adapters_count(list) : 0;
	struct fi_info *last = info;
	struct angara_adapter a;
	char name[32];
	u32 i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		adapter_get(list, i, &a);
		last->next = afi_info_copy(info);
		if (!last->next)
			return -FI_ENOMEM;
		last = last->next;
		last->next = NULL;
		snprintf(name, sizeof(name), AFI_NAME "%u", a.number);
		ret = set_domain(last, name, &a);
	}
	return ret;
}

/**
 * afi_info_adapters() - add the adapters to the result of fi_getinfo()
 * @info: entry without a domain; becomes the first entry
 * @hints: the program's hints, or NULL
 *
 * If the hints name a domain, its entry is the only one.
 *
 * Return: 0; -FI_ENODATA there is no such adapter; -FI_ENOMEM.
 */
int afi_info_adapters(struct fi_info *info, const struct fi_info *hints)
{
	const char *name = hints && hints->domain_attr ? hints->domain_attr->name :
							 NULL;
	struct angara_adapters *list;
	const struct angara_adapter *found;
	struct angara_adapter a;
	const char *device;
	int ret = angara_adapters_open(&list);

	/*
	 * Go on without a list: an error is reported when the domain is opened.
	 */
	if (ret == -ENOMEM)
		return ret;
	afi_domain_device(name, &device);
	found = adapter_find(list, device, &a);
	if (!afi_hint("domain_attr->name", !device || !list || found, device,
		      "adapters of this machine"))
		ret = -FI_ENODATA;
	else if (name)
		ret = set_domain(info, name, found);
	else
		ret = add_adapters(info, list);
	if (!ret && !name)
		ret = set_domain(info, AFI_NAME, found);
	angara_adapters_close(list);
	return ret;
}
