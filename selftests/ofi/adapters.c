// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of the entries of fi_getinfo() for adapters, and of the adapters'
 * descriptions.  Includes the provider's own sources, to describe adapters that this
 * machine does not have.
 */
#include <stdlib.h>
#include <string.h>

#include "calls/nic.c"
#include "util/unused.c"

#include "fi.h"

static struct fi_info *entries(const char *domain)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, domain), *info = NULL;

	expect(fi_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	fi_freeinfo(hints);
	return info;
}

static struct angara_adapter adapter_at(const struct angara_adapters *list, u32 i)
{
	struct angara_adapter a = { .size = sizeof(a) };

	expect(angara_adapters_query(list, i, &a), 0);
	return a;
}

/* Does the entry describe the adapter, and does fi_domain() open that adapter? */
static bool describes(struct fi_info *info, const struct angara_adapter *a)
{
	char name[32], node[16];
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	bool ok;

	snprintf(name, sizeof(name), "angara%u", a->number);
	snprintf(node, sizeof(node), "%u", a->node);
	ok = expect(strcmp(info->domain_attr->name, name), 0) &&
	     expect(info->nic != NULL, true) &&
	     expect(strcmp(info->nic->link_attr->address, node), 0) &&
	     expect(info->nic->bus_attr->bus_type == FI_BUS_PCI,
		    a->kind == ANGARA_ADAPTER_PCI) &&
	     expect(info->nic->device_attr->driver != NULL,
		    a->kind != ANGARA_ADAPTER_EMBEDDED) &&
	     expect(strcmp(info->nic->device_attr->name, name) == 0,
		    a->kind != ANGARA_ADAPTER_EMBEDDED);
	if (!ok)
		return false;
	ok = expect(fi_fabric(info->fabric_attr, &fabric, NULL), 0) &&
	     expect(fi_domain(fabric, info, &domain, NULL), 0) &&
	     expect(fi_endpoint(domain, info, &ep, NULL), 0) &&
	     expect(name_of(ep).node, a->node);
	return ok && closed(&ep->fid) && closed(&domain->fid) &&
	       closed(&fabric->fid);
}

/*
 * The first entry, "angara", is for the adapter that a process opens by default; one
 * entry for each adapter follows.
 */
static bool each(void)
{
	struct fi_info *info = entries(NULL), *entry;
	struct angara_adapters *list;
	bool ok;
	u32 i;

	if (!info || !expect(angara_adapters_open(&list), 0))
		return false;
	ok = expect(strcmp(info->domain_attr->name, "angara"), 0) &&
	     expect(angara_adapters_count(list) > 1, true);
	entry = info->next;
	for (i = 0; ok && i < angara_adapters_count(list); i++) {
		const struct angara_adapter a = adapter_at(list, i);

		ok = expect(entry != NULL, true) && describes(entry, &a);
		entry = entry ? entry->next : NULL;
	}
	ok = ok && expect(entry == NULL, true);
	angara_adapters_close(list);
	fi_freeinfo(info);
	return ok;
}

/*
 * Expects a single entry, with the description of adapter @number; -1: without a
 * description.
 */
static bool only(const char *domain, const char *name, int number)
{
	struct fi_info *info = entries(domain);
	bool ok = info && expect(info->next == NULL, true) &&
		  expect(strcmp(info->domain_attr->name, name), 0) &&
		  expect(info->nic != NULL, number >= 0) &&
		  (number < 0 ||
		   expect(atoi(info->nic->link_attr->address), number));

	fi_freeinfo(info);
	return ok;
}

/* The hints, a launcher or the user choose the adapter. */
static bool chosen(void)
{
	bool ok = only("angara3", "angara3", 3);

	setenv("ANGARA_DEVICE", "2", 1);
	ok = ok && only(NULL, "angara", 2) && only("angara", "angara", 2) &&
	     only("angara1", "angara1", 1);
	setenv("FI_ANGARA_DEVICE", "1", 1);
	ok = ok && only(NULL, "angara", 1);
	unsetenv("ANGARA_DEVICE");
	ok = ok && only(NULL, "angara", 1);
	unsetenv("FI_ANGARA_DEVICE");
	setenv("PMIX_NAMESPACE", "job", 1);
	ok = ok && only(NULL, "angara", -1);
	unsetenv("PMIX_NAMESPACE");
	return ok;
}

/* Does the text have these lines, in this order? */
static bool has_lines(const char *text, const char *const *lines)
{
	for (; *lines; lines++) {
		const char *found = strstr(text, *lines);

		if (!found) {
			printf("# no \"%s\" in: %s\n", *lines, text);
			return false;
		}
		text = found + strlen(*lines);
	}
	return true;
}

static const struct angara_adapter card = {
	.kind = ANGARA_ADAPTER_PCI, .number = 7, .node = 12, .fabric_id = 1,
	.pci_domain = 1, .pci_bus = 0xaf, .pci_device = 31, .pci_function = 2,
	.pci_revision = 0x1c, .pci_vendor_id = 0x1d94, .pci_device_id = 0x0a75,
	.driver = "angara",
};

static bool is_card(const struct fid_nic *nic)
{
	const struct fi_device_attr *dev = nic->device_attr;
	const struct fi_pci_attr *pci = &nic->bus_attr->attr.pci;

	return expect(nic->fid.fclass, FI_CLASS_NIC) &&
	       expect(strcmp(dev->name, "angara7"), 0) &&
	       expect(strcmp(dev->device_id, "0x0a75"), 0) &&
	       expect(strcmp(dev->device_version, "0x1c"), 0) &&
	       expect(strcmp(dev->vendor_id, "0x1d94"), 0) &&
	       expect(strcmp(dev->driver, "angara"), 0) &&
	       expect(dev->firmware == NULL, true) &&
	       expect(nic->bus_attr->bus_type, FI_BUS_PCI) &&
	       expect(pci->domain_id, 1) && expect(pci->bus_id, 0xaf) &&
	       expect(pci->device_id, 31) && expect(pci->function_id, 2) &&
	       expect(strcmp(nic->link_attr->address, "12"), 0) &&
	       expect(strcmp(nic->link_attr->network_type, "Angara"), 0) &&
	       expect(nic->link_attr->mtu, ANGARA_PACKET_BYTES) &&
	       expect(nic->link_attr->state, FI_LINK_UNKNOWN) &&
	       expect(nic->link_attr->speed, 0);
}

/* A copy is complete without the original; so is the copy of an entry. */
static bool copies(void)
{
	struct fid_nic *nic = afi_nic_new(&card), *copy = NULL;
	struct fi_info *info = entries("angara3"), *twin;
	bool ok = is_card(nic) &&
		  expect(fi_control(&nic->fid, FI_DUP, &copy), 0) &&
		  expect(fi_control(&nic->fid, FI_GETWAIT, &copy), -FI_ENOSYS);

	closed(&nic->fid);
	ok = ok && is_card(copy);
	if (copy)
		closed(&copy->fid);
	info->nic->bus_attr->bus_type = FI_BUS_PCI;
	twin = fi_dupinfo(info);
	fi_freeinfo(info);
	ok = ok && expect(twin->nic->bus_attr->bus_type, FI_BUS_PCI) &&
	     expect(strcmp(twin->nic->link_attr->address, "3"), 0);
	fi_freeinfo(twin);
	return ok;
}

/* fi_tostr() shows a description, however long the text before it is. */
static bool texts(void)
{
	static const char *const of_card[] = {
		"name: angara7\n", "device_id: 0x0a75\n", "vendor_id: 0x1d94\n",
		"driver: angara\n", "firmware: (null)\n", "bus_type: FI_BUS_PCI\n",
		"domain_id: 1\n", "bus_id: 175\n", "function_id: 2\n",
		"address: 12\n", "mtu: 256\n", "network_type: Angara\n", NULL,
	};
	static const char *const of_node[] = {
		"network_type: Angara\n", NULL,
	};
	struct fid_nic *nic = afi_nic_new(&card);
	struct fi_info *info = entries("angara3");
	char text[8192] = "x", small[16] = "0123456789";
	bool ok;

	ok = expect(nic->fid.ops->tostr(&nic->fid, text, sizeof(text)), 0) &&
	     expect(text[0], 'x') && has_lines(text, of_card) &&
	     has_lines(fi_tostr(info, FI_TYPE_INFO), of_node);
	/* The buffer is too small: the text is cut. */
	nic->fid.ops->tostr(&nic->fid, small, sizeof(small));
	ok = ok && expect(strcmp(small, "0123456789    n"), 0);
	/* Some versions of libfabric pass the length of the remaining room. */
	memset(text, 'y', 6000);
	text[6000] = 0;
	nic->fid.ops->tostr(&nic->fid, text, sizeof(text) - 6000);
	ok = ok && has_lines(text, of_card);
	closed(&nic->fid);
	fi_freeinfo(info);
	return ok;
}

const struct part nic_parts[] = {
	{ "nic: an entry for each adapter", each },
	{ "nic: the adapter that is chosen", chosen },
	{ "nic: copies", copies },
	{ "nic: as text", texts },
	{ 0 },
};
