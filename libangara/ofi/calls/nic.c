// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Adapters as libfabric describes them: fi_info.nic.  What an adapter does not
 * have is left out: nodes of embedded fabrics have no driver, and only cards
 * have an address on a bus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/angara.h>

#include "info.h"
#include "nic.h"

#define NIC_NUMBER	16	/* bytes of a number as text, with its NUL */
#define NIC_TEXT	256	/* bytes of the description of a bus */

/**
 * struct afi_nic - description of an adapter, in one block of memory
 * @fid: the program's handle, which points to the members that follow
 * @device: device
 * @bus: bus
 * @link: link
 * @name: name of the device
 * @type: type of a card
 * @revision: its revision
 * @vendor: its vendor
 * @driver: kernel driver
 * @address: node
 * @network: kind of network
 */
struct afi_nic {
	struct fid_nic fid;
	struct fi_device_attr device;
	struct fi_bus_attr bus;
	struct fi_link_attr link;
	char name[2 * NIC_NUMBER];
	char type[NIC_NUMBER];
	char revision[NIC_NUMBER];
	char vendor[NIC_NUMBER];
	char driver[ANGARA_ADAPTER_DRIVER];
	char address[NIC_NUMBER];
	char network[NIC_NUMBER];
};

static char *nic_text(char *text)
{
	return text[0] ? text : NULL;
}

/* Sets the pointers within the structure, after it was filled or copied. */
static void nic_point(struct afi_nic *nic)
{
	nic->device = (struct fi_device_attr){
		.name = nic_text(nic->name),
		.device_id = nic_text(nic->type),
		.device_version = nic_text(nic->revision),
		.vendor_id = nic_text(nic->vendor),
		.driver = nic_text(nic->driver),
	};
	nic->link.address = nic->address;
	nic->link.network_type = nic->network;
	nic->fid.device_attr = &nic->device;
	nic->fid.bus_attr = &nic->bus;
	nic->fid.link_attr = &nic->link;
}

static int nic_close(struct fid *fid)
{
	free(afi_of(fid, struct afi_nic, fid.fid));
	return 0;
}

static int nic_control(struct fid *fid, int command, void *arg)
{
	struct afi_nic *copy;

	if (command != FI_DUP)
		return -FI_ENOSYS;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -FI_ENOMEM;
	*copy = *afi_of(fid, struct afi_nic, fid.fid);
	nic_point(copy);
	*(struct fid_nic **)arg = &copy->fid;
	return 0;
}

static const char *nic_or_none(const char *text)
{
	return text ? text : "(null)";
}

static void nic_print_bus(const struct afi_nic *nic, char text[NIC_TEXT])
{
	const struct fi_pci_attr *pci = &nic->bus.attr.pci;

	if (nic->bus.bus_type == FI_BUS_PCI)
		snprintf(text, NIC_TEXT,
			 "            bus_type: FI_BUS_PCI\n"
			 "            fi_pci_attr:\n"
			 "                domain_id: %u\n"
			 "                bus_id: %u\n"
			 "                device_id: %u\n"
			 "                function_id: %u\n",
			 pci->domain_id, pci->bus_id, pci->device_id,
			 pci->function_id);
	else
		snprintf(text, NIC_TEXT, "            bus_type: FI_BUS_UNKNOWN\n");
}

/*
 * Appends to the text in @buf.  Some versions of libfabric pass the size of
 * @buf as @len, others the bytes that are left after the text.  A text as long
 * as @len fits only in the second case.
 */
static int nic_tostr(const struct fid *fid, char *buf, size_t len)
{
	const struct afi_nic *nic =
		afi_of((struct fid *)(uintptr_t)fid, struct afi_nic, fid.fid);
	const struct fi_device_attr *dev = &nic->device;
	size_t at = strlen(buf);
	char bus[NIC_TEXT];

	nic_print_bus(nic, bus);
	snprintf(buf + at, at < len ? len - at : len,
		 "    nic:\n"
		 "        fi_device_attr:\n"
		 "            name: %s\n"
		 "            device_id: %s\n"
		 "            device_version: %s\n"
		 "            vendor_id: %s\n"
		 "            driver: %s\n"
		 "            firmware: %s\n"
		 "        fi_bus_attr:\n"
		 "%s"
		 "        fi_link_attr:\n"
		 "            address: %s\n"
		 "            mtu: %zu\n"
		 "            speed: %zu\n"
		 "            state: FI_LINK_UNKNOWN\n"
		 "            network_type: %s\n",
		 nic_or_none(dev->name), nic_or_none(dev->device_id),
		 nic_or_none(dev->device_version), nic_or_none(dev->vendor_id),
		 nic_or_none(dev->driver), nic_or_none(dev->firmware), bus,
		 nic->address, nic->link.mtu, nic->link.speed, nic->network);
	return 0;
}

static struct fi_ops nic_ops = {
	.size = sizeof(struct fi_ops),
	.close = nic_close,
	.bind = afi_no_bind,
	.control = nic_control,
	.ops_open = afi_no_ops_open,
	.tostr = nic_tostr,
	.ops_set = afi_no_ops_set,
};

static void nic_card(struct afi_nic *nic, const struct angara_adapter *a)
{
	snprintf(nic->type, NIC_NUMBER, "0x%04x", a->pci_device_id);
	snprintf(nic->revision, NIC_NUMBER, "0x%02x", a->pci_revision);
	snprintf(nic->vendor, NIC_NUMBER, "0x%04x", a->pci_vendor_id);
	nic->bus.bus_type = FI_BUS_PCI;
	nic->bus.attr.pci = (struct fi_pci_attr){
		.domain_id = (uint16_t)a->pci_domain,
		.bus_id = a->pci_bus,
		.device_id = a->pci_device,
		.function_id = a->pci_function,
	};
}

/**
 * afi_nic_new() - describe an adapter
 * @a: adapter
 *
 * The link's data rate is 0 and its state unknown: libangara does not know
 * them.
 *
 * Return: description, which fi_close() frees; NULL: no memory.
 */
struct fid_nic *afi_nic_new(const struct angara_adapter *a)
{
	struct afi_nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	snprintf(nic->name, sizeof(nic->name), "%s%u",
		 a->kind == ANGARA_ADAPTER_EMBEDDED ? "embedded" : AFI_NAME,
		 a->number);
	memcpy(nic->driver, a->driver, sizeof(nic->driver));
	if (a->kind == ANGARA_ADAPTER_PCI)
		nic_card(nic, a);
	snprintf(nic->address, sizeof(nic->address), "%u", a->node);
	snprintf(nic->network, sizeof(nic->network), "Angara");
	nic->link.mtu = ANGARA_PACKET_BYTES;
	nic->link.state = FI_LINK_UNKNOWN;
	nic_point(nic);
	nic->fid.fid.fclass = FI_CLASS_NIC;
	nic->fid.fid.ops = &nic_ops;
	return &nic->fid;
}
