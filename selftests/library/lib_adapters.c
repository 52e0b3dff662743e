// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The list of adapters, compared with the domains that they open; their buses,
 * as folders of sysfs describe them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/limits.h>

#include "lib.h"
#include "scan.h"

static struct angara_adapter adapter_at(const struct angara_adapters *list,
					uint32_t i)
{
	struct angara_adapter a = { .size = sizeof(a) };

	expect("angara_adapters_query", angara_adapters_query(list, i, &a), 0);
	return a;
}

/* Does the adapter's domain have the node and the fabric that the list gives? */
static bool opens_as(const struct angara_adapter *a)
{
	struct angara_domain_info info = { .size = sizeof(info) };
	struct angara_domain *d;
	char name[16];
	bool ok;

	snprintf(name, sizeof(name), "%u", a->number);
	if (!expect(name, angara_domain_open(name, NULL, &d), 0))
		return false;
	angara_domain_query(d, &info);
	angara_domain_close(d);
	ok = expect("node", info.node, a->node);
	return embedded() ? expect("no fabric", (long long)a->fabric_id, 0) && ok :
			    expect("fabric", (long long)info.fabric_id,
				   (long long)a->fabric_id) && ok;
}

/*
 * Return: the kind of bus of /dev/angaraN, found by another path than the
 * library's.
 */
static uint32_t kind_of(uint32_t number)
{
	char path[80], target[PATH_MAX];
	ssize_t n;

	if (embedded())
		return ANGARA_ADAPTER_EMBEDDED;
	snprintf(path, sizeof(path), "/sys/class/angara/angara%u/device/subsystem",
		 number);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = 0;
	return strstr(target, "/pci") ? ANGARA_ADAPTER_PCI :
	       strstr(target, "/angara_loop") ? ANGARA_ADAPTER_LOOP :
	       ANGARA_ADAPTER_UNKNOWN;
}

/*
 * All nodes of this process's fabric are in the list; one of them is the
 * process's own node.
 */
static bool all_adapters(void)
{
	const struct angara_domain_info mine = alone_about(ctx);
	struct angara_adapters *list;
	uint32_t i, here = 0, own = 0, chosen = 0, cards = 0;
	bool ok = true;

	if (!expect("angara_adapters_open", angara_adapters_open(&list), 0))
		return false;
	for (i = 0; i < angara_adapters_count(list); i++) {
		const struct angara_adapter a = adapter_at(list, i);

		ok = expect("kind", a.kind, kind_of(a.number)) && ok;
		chosen += a.chosen;
		if (!embedded() && a.fabric_id != mine.fabric_id)
			continue;
		here++;
		cards += a.kind == ANGARA_ADAPTER_PCI;
		own += a.chosen && a.node == mine.node;
		/*
		 * Each process opens some of the adapters, so that few domains are
		 * open at once.
		 */
		if (i % size == rank)
			ok = opens_as(&a) && ok;
		ok = expect("PCI", a.kind == ANGARA_ADAPTER_PCI,
			    a.pci_vendor_id != 0) && ok;
		ok = expect("driver", a.driver[0] != 0,
			    a.kind != ANGARA_ADAPTER_EMBEDDED) && ok;
	}
	angara_adapters_close(list);
	/* Cards of other nodes may be in other machines. */
	return expect("nodes", cards || here == mine.nodes, true) &
	       expect("chosen adapters", chosen, 1) &
	       expect("chosen adapters of this node", own, 1) & ok;
}

static bool adapters_wrong(void)
{
	struct angara_adapter a = { .size = sizeof(a) };
	struct {
		struct angara_adapter a;
		uint32_t later;
	} longer = { .a.size = sizeof(longer), .later = 7 };
	struct angara_adapters *list;
	uint32_t n;
	bool ok;

	if (rank)
		return true;
	if (!expect("angara_adapters_open", angara_adapters_open(&list), 0))
		return false;
	n = angara_adapters_count(list);
	ok = expect("beyond the last", angara_adapters_query(list, n, &a), -EINVAL) &
	     expect("far beyond", angara_adapters_query(list, UINT32_MAX, &a),
		    -EINVAL);
	a.size--;
	ok &= expect("too small", angara_adapters_query(list, 0, &a), -EINVAL);
	ok &= expect("larger", angara_adapters_query(list, n - 1, &longer.a), 0) &
	      expect("unknown fields", longer.later, 0);
	angara_adapters_close(list);
	angara_adapters_close(NULL);
	return ok;
}

/* @value: value of ANGARA_FABRIC. Return: number of adapters, or -errno */
static int listed(const char *value, uint32_t *chosen)
{
	const char *fabric = getenv("ANGARA_FABRIC");
	char *saved = fabric ? strdup(fabric) : NULL;
	struct angara_adapters *list;
	uint32_t i;
	int ret;

	setenv("ANGARA_FABRIC", value, 1);
	ret = angara_adapters_open(&list);
	*chosen = UINT32_MAX;
	if (!ret) {
		ret = (int)angara_adapters_count(list);
		for (i = 0; i < angara_adapters_count(list); i++)
			if (adapter_at(list, i).chosen)
				*chosen = i;
		angara_adapters_close(list);
	} else if (!expect("no list", list == NULL, true)) {
		ret = -EINVAL - 1000;
	}
	if (saved)
		setenv("ANGARA_FABRIC", saved, 1);
	else
		unsetenv("ANGARA_FABRIC");
	free(saved);
	return ret;
}

/* The environment selects the fabric and the adapter. */
static bool adapters_selected(void)
{
	const char *device = getenv("ANGARA_DEVICE");
	uint32_t chosen;
	char *saved;
	bool ok;

	if (rank)
		return true;
	saved = device ? strdup(device) : NULL;
	setenv("ANGARA_DEVICE", "5", 1);
	ok = expect("3x2", listed("embedded:3x2", &chosen), 6) &&
	     expect("chosen", chosen, 5) &&
	     expect("beyond", listed("embedded:2", &chosen), 2) &&
	     expect("none chosen", chosen, UINT32_MAX) &&
	     expect("no fabric", listed("embedded:0x", &chosen), -EINVAL);
	setenv("ANGARA_DEVICE", "nowhere", 1);
	ok = ok && expect("a path", listed("embedded:2", &chosen) <= 0 ||
			  !embedded(), true);
	unsetenv("ANGARA_DEVICE");
	if (saved)
		setenv("ANGARA_DEVICE", saved, 1);
	free(saved);
	return ok;
}

static char sysfs[] = "/tmp/angara-sysfs-XXXXXX";

static void sysfs_path(char *path, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", sysfs, name);
}

static bool sysfs_link(const char *name, const char *target)
{
	char path[PATH_MAX];

	sysfs_path(path, name);
	unlink(path);
	return expect(name, symlink(target, path), 0);
}

static bool sysfs_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	sysfs_path(path, name);
	file = fopen(path, "w");
	return expect(name, file && fputs(text, file) >= 0 && !fclose(file), true);
}

static struct angara_adapter read_sysfs(void)
{
	struct angara_adapter a = { .size = sizeof(a) };
	char path[PATH_MAX];

	sysfs_path(path, "device");
	ang_sysfs_adapter(path, &a);
	return a;
}

static bool sysfs_card(void)
{
	struct angara_adapter a;

	/* The link to the device is a folder of another folder, as in sysfs. */
	if (!sysfs_link("device", "0001:af:1f.7") ||
	    !sysfs_link("0001:af:1f.7/subsystem", "../../bus/pci") ||
	    !sysfs_link("0001:af:1f.7/driver", "../../bus/pci/drivers/angara") ||
	    !sysfs_file("0001:af:1f.7/vendor", "0x1d94\n") ||
	    !sysfs_file("0001:af:1f.7/device", "0xa7a5\n") ||
	    !sysfs_file("0001:af:1f.7/revision", "0x1c\n"))
		return false;
	a = read_sysfs();
	return expect("kind", a.kind, ANGARA_ADAPTER_PCI) &
	       expect("domain", a.pci_domain, 1) & expect("bus", a.pci_bus, 0xaf) &
	       expect("device", a.pci_device, 0x1f) &
	       expect("function", a.pci_function, 7) &
	       expect("vendor", a.pci_vendor_id, 0x1d94) &
	       expect("type", a.pci_device_id, 0xa7a5) &
	       expect("revision", a.pci_revision, 0x1c) &
	       expect("driver", strcmp(a.driver, "angara"), 0);
}

static bool sysfs_others(void)
{
	struct angara_adapter a;
	bool ok;

	a = read_sysfs();
	ok = expect("no link", a.kind, ANGARA_ADAPTER_UNKNOWN);
	ok &= sysfs_link("device", "fabric0") &&
	      sysfs_link("fabric0/subsystem", "../../bus/angara_loop");
	a = read_sysfs();
	ok &= expect("loopback", a.kind, ANGARA_ADAPTER_LOOP) &
	      expect("vendor", a.pci_vendor_id, 0) &
	      expect("driver", strcmp(a.driver, "angara_loop"), 0);
	ok &= sysfs_link("fabric0/subsystem", "../../bus/usb");
	a = read_sysfs();
	ok &= expect("another bus", a.kind, ANGARA_ADAPTER_UNKNOWN) &
	      expect("no driver", a.driver[0], 0);
	/* The folder's name is no PCI address, and the card has no driver. */
	ok &= sysfs_link("fabric0/subsystem", "../../bus/pci");
	a = read_sysfs();
	ok &= expect("no address", a.kind, ANGARA_ADAPTER_UNKNOWN) &
	      expect("no driver", a.driver[0], 0);
	return ok;
}

static bool buses(void)
{
	static const char *const made[] = {
		"0001:af:1f.7/subsystem", "0001:af:1f.7/driver",
		"0001:af:1f.7/vendor", "0001:af:1f.7/device",
		"0001:af:1f.7/revision", "fabric0/subsystem", "device",
	};
	static const char *const folders[] = { "0001:af:1f.7", "fabric0" };
	char path[PATH_MAX];
	bool ok;
	size_t i;

	if (rank)
		return true;
	if (!expect("mkdtemp", mkdtemp(sysfs) != NULL, true))
		return false;
	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		sysfs_path(path, folders[i]);
		expect(path, mkdir(path, 0700), 0);
	}
	ok = sysfs_others() & sysfs_card();
	for (i = 0; i < sizeof(made) / sizeof(*made); i++) {
		sysfs_path(path, made[i]);
		unlink(path);
	}
	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		sysfs_path(path, folders[i]);
		rmdir(path);
	}
	return expect("rmdir", rmdir(sysfs), 0) && ok;
}

const struct part adapters_parts[] = {
	{ "adapters: all of the fabric", all_adapters },
	{ "adapters: bad arguments", adapters_wrong },
	{ "adapters: those that the environment selects", adapters_selected },
	{ "adapters: their buses", buses },
	{ 0 },
};
