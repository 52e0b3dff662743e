// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bus of an adapter, as sysfs describes it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/limits.h>

#include <angara/domain.h>

#include "scan.h"

#define SYSFS_NUMBER	32	/* bytes of a file that contains a number */

/*
 * Gets the last part of a link's target in @name; empty: the link does not
 * exist.
 */
static void sysfs_target(const char *dir, const char *link, char name[NAME_MAX + 1])
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n = -1;

	if (snprintf(path, sizeof(path), "%s%s", dir, link) < (int)sizeof(path))
		n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = 0;
	last = strrchr(target, '/');
	snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, last ? last + 1 : target);
}

/* Return: the number in a file, such as 0x1234; 0: the file cannot be read. */
static u32 sysfs_number(const char *dir, const char *file)
{
	char path[PATH_MAX], text[SYSFS_NUMBER];
	ssize_t n = -1;
	int fd = -1;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) < (int)sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = 0;
	return (u32)strtoul(text, NULL, 16);
}

static void sysfs_pci(const char *dir, struct angara_adapter *adapter)
{
	char name[NAME_MAX + 1];
	unsigned int domain, bus, device, function;

	sysfs_target(dir, "", name);
	if (sscanf(name, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return;
	adapter->kind = ANGARA_ADAPTER_PCI;
	adapter->pci_domain = domain;
	adapter->pci_bus = (u8)bus;
	adapter->pci_device = (u8)device;
	adapter->pci_function = (u8)function;
	adapter->pci_vendor_id = (u16)sysfs_number(dir, "vendor");
	adapter->pci_device_id = (u16)sysfs_number(dir, "device");
	adapter->pci_revision = (u8)sysfs_number(dir, "revision");
}

/**
 * ang_sysfs_adapter() - get the bus of an adapter
 * @dir: link of sysfs to the device on its bus
 * @adapter: out: members that describe the bus; unchanged without sysfs
 */
void ang_sysfs_adapter(const char *dir, struct angara_adapter *adapter)
{
	char name[NAME_MAX + 1];

	sysfs_target(dir, "/subsystem", name);
	if (!strcmp(name, "pci"))
		sysfs_pci(dir, adapter);
	else if (!strcmp(name, "angara_loop"))
		adapter->kind = ANGARA_ADAPTER_LOOP;
	/* The loopback has no separate driver for its bus. */
	if (adapter->kind == ANGARA_ADAPTER_PCI)
		sysfs_target(dir, "/driver", name);
	else if (adapter->kind != ANGARA_ADAPTER_LOOP)
		return;
	snprintf(adapter->driver, sizeof(adapter->driver), "%.*s",
		 (int)sizeof(adapter->driver) - 1, name);
}
