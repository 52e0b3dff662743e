// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space, and the registers in BARs.
 */
#include "client.h"

#define CAP_EXP	0x60

static u32 find_cap(struct cl *cl, u32 id)
{
	u32 at = cl_get(cl, CONFIG, PCI_CAPABILITY_LIST, 1);
	u32 n;

	for (n = 0; at && n < 48; n++) {
		EXPECT(at >= 0x40 && at % 4 == 0);
		if (cl_get(cl, CONFIG, at, 1) == id)
			return at;
		at = cl_get(cl, CONFIG, at + 1, 1);
	}
	EXPECT(!at);
	return 0;
}

static void identity(void)
{
	struct cl *cl = cl_attach(0);
	u32 msix, exp;

	EXPECT_EQ(cl_get(cl, CONFIG, PCI_VENDOR_ID, 2), ANGARA_PCI_VENDOR);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_DEVICE_ID, 2), ANGARA_PCI_DEVICE);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_REVISION_ID, 1), ANGARA_PCI_REVISION);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_CLASS_DEVICE, 2), ANGARA_PCI_CLASS);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_SUBSYSTEM_VENDOR_ID, 2),
		  ANGARA_PCI_SUBVENDOR);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_SUBSYSTEM_ID, 2), ANGARA_PCI_SUBDEVICE);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_HEADER_TYPE, 1), 0);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_INTERRUPT_PIN, 1), 1);
	EXPECT(cl_get(cl, CONFIG, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST);
	EXPECT(find_cap(cl, PCI_CAP_ID_PM));
	msix = find_cap(cl, PCI_CAP_ID_MSIX);
	EXPECT(msix);
	EXPECT_EQ(cl_get(cl, CONFIG, msix + PCI_MSIX_FLAGS, 2), 16);
	EXPECT_EQ(cl_get(cl, CONFIG, msix + PCI_MSIX_TABLE, 4), 2);
	EXPECT_EQ(cl_get(cl, CONFIG, msix + PCI_MSIX_PBA, 4), 0x1002);
	exp = find_cap(cl, PCI_CAP_ID_EXP);
	EXPECT_EQ(exp, CAP_EXP);
	EXPECT_EQ(cl_get(cl, CONFIG, exp + PCI_EXP_FLAGS, 2), 2);
	EXPECT(cl_get(cl, CONFIG, exp + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	EXPECT_EQ(find_cap(cl, PCI_CAP_ID_MSI), 0);
	/* The device has no extended capabilities. */
	EXPECT_EQ(cl_get(cl, CONFIG, 256, 4), 0);
	cl_close(cl);
}

/*
 * Return: the bits of a byte that a guest may change, from the specification.
 */
static u8 may_change(u32 off)
{
	/* Two 64-bit BARs of 128 KiB and 8 KiB; there is no third BAR. */
	static const u8 bars[24] = {
		0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
		0, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};

	if (off >= PCI_BASE_ADDRESS_0 && off < PCI_BASE_ADDRESS_0 + 24)
		return bars[off - PCI_BASE_ADDRESS_0];
	switch (off) {
	case PCI_COMMAND: /* memory, bus master, parity */
		return 0x46;
	case PCI_COMMAND + 1: /* SERR, INTx disable */
		return 0x05;
	case PCI_CACHE_LINE_SIZE:
	case PCI_INTERRUPT_LINE:
	case CAP_EXP + PCI_EXP_DEVCTL:
		return 0xff;
	case CAP_EXP + PCI_EXP_DEVCTL + 1: /* not FLR, phantom, aux */
		return 0x79;
	case 0x40 + PCI_PM_CTRL:
		return 0x03;
	case 0x48 + PCI_MSIX_FLAGS + 1:
		return 0xc0;
	case CAP_EXP + PCI_EXP_LNKCTL:
		return 0x4b;
	default:
		return 0;
	}
}

static void masks(void)
{
	struct cl *cl = cl_attach(0);
	u8 before[4096], now[4096], ones[4096];
	u32 i;

	memset(ones, 0xff, sizeof(ones));
	ones[CAP_EXP + PCI_EXP_DEVCTL + 1] = 0x7f;
	EXPECT_EQ(cl_region_read(cl, CONFIG, 0, before, 4096), 0);
	EXPECT_EQ(cl_region_write(cl, CONFIG, 0, ones, 4096), 0);
	EXPECT_EQ(cl_region_read(cl, CONFIG, 0, now, 4096), 0);
	for (i = 0; i < 4096; i++)
		if (now[i] != (u8)(before[i] | may_change(i)))
			test_fail(__FILE__, __LINE__, "0x%x: %02x became %02x",
				  i, before[i], now[i]);
	memset(ones, 0, sizeof(ones));
	EXPECT_EQ(cl_region_write(cl, CONFIG, 0, ones, 4096), 0);
	EXPECT_EQ(cl_region_read(cl, CONFIG, 0, now, 4096), 0);
	for (i = 0; i < 4096; i++)
		EXPECT_EQ(now[i], before[i] & ~may_change(i));
	/* After a reset, all registers are as after power on. */
	EXPECT_EQ(cl_call(cl, VFU_DEVICE_RESET, NULL, 0), 0);
	EXPECT_EQ(cl_region_read(cl, CONFIG, 0, now, 4096), 0);
	EXPECT(!memcmp(now, before, 4096));
	cl_close(cl);
}

static void bounds(void)
{
	static const struct {
		u32 region;
		u64 off;
		u32 len;
	} bad[] = {
		{ CONFIG, 4095, 2 }, { CONFIG, 4096, 1 }, { CONFIG, 0, 0 },
		{ CONFIG, ~0ULL, 1 }, { CONFIG, ~0ULL - 1, 4 },
		{ CONFIG, 0, 4097 }, { CONFIG, 0, ~0U }, { CONFIG, 1, ~0U },
		{ 0, 32 * 4096, 4 }, { 0, 32 * 4096 - 2, 4 }, { 0, 0, 0 },
		{ 0, ~0ULL - 3, 8 }, { 0, 1ULL << 32, 4 }, { 2, 8192, 1 },
		{ 2, 8190, 4 }, { 1, 0, 1 }, { 3, 0, 1 }, { 6, 0, 1 },
		{ 8, 0, 1 }, { 9, 0, 1 }, { ~0U, 0, 1 },
	};
	struct cl *cl = cl_attach(0);
	u8 body[16 + 4097] = { 0 };
	u32 i;

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	for (i = 0; i < NUM(bad); i++) {
		struct vfu_region at = { .offset = bad[i].off,
			.region = bad[i].region, .count = bad[i].len };

		EXPECT_EQ(cl_call(cl, VFU_REGION_READ, &at, 16), EINVAL);
		memcpy(body, &at, 16);
		EXPECT_EQ(cl_call(cl, VFU_REGION_WRITE, body, 16 +
				  (bad[i].len > 4097 ? 4 : bad[i].len)), EINVAL);
	}
	EXPECT_EQ(cl_get(cl, CONFIG, 4095, 1), 0);
	EXPECT_EQ(cl_get(cl, 0, 32 * 4096 - 4, 4), ~0U);
	cl_close(cl);
}

static void registers(void)
{
	struct cl *cl = cl_attach(3);
	u32 more[4];
	u64 val;
	u32 i;

	/* Registers do not answer before they are enabled. */
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_MAGIC, 4), ~0U);
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_MAGIC, 4), ANGARA_HW_MAGIC);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_VERSION, 4), ANGARA_HW_VERSION);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_NODE, 4), 3);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_NODES, 4), 4);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_CONTEXTS, 4), 16);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_STATUS, 4), 0);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ISR, 4), 0);
	/* A read may cover two registers, but not a part of one, and not more. */
	EXPECT_EQ(cl_region_read(cl, 0, ANGARA_REG_MAGIC, &val, 8), 0);
	EXPECT_EQ(val, (u64)ANGARA_HW_VERSION << 32 | ANGARA_HW_MAGIC);
	for (i = 1; i < 4; i++) {
		EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_MAGIC + i, 4), ~0U);
		EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_MAGIC, i), ~0U >> (32 - 8 * i));
		cl_put(cl, 0, ANGARA_REG_ASQ_LO, i, 0x55);
		cl_put(cl, 0, ANGARA_REG_ASQ_LO + i, 4, 0x55);
	}
	for (i = 12; i <= sizeof(more); i += 4) {
		memset(more, 0, sizeof(more));
		EXPECT_EQ(cl_region_read(cl, 0, ANGARA_REG_MAGIC, more, i), 0);
		EXPECT_EQ(more[0], ~0U);
		EXPECT_EQ(more[i / 4 - 1], ~0U);
		EXPECT_EQ(cl_region_write(cl, 0, ANGARA_REG_ASQ_LO, more, i), 0);
	}
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ASQ_LO, 4), 0);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_DB_PAGE(0), 4), ~0U);
	/* In D3 the device does not answer, and keeps its state. */
	cl_put(cl, 0, ANGARA_REG_ASQ_LO, 4, 0x1000);
	cl_put(cl, CONFIG, 0x40 + PCI_PM_CTRL, 2, 3);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_MAGIC, 4), ~0U);
	cl_put(cl, 0, ANGARA_REG_ASQ_LO, 4, 0x2000);
	cl_put(cl, CONFIG, 0x40 + PCI_PM_CTRL, 2, 1);
	EXPECT_EQ(cl_get(cl, CONFIG, 0x40 + PCI_PM_CTRL, 2) & 3, 3);
	cl_put(cl, CONFIG, 0x40 + PCI_PM_CTRL, 2, 0);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ASQ_LO, 4), 0x1000);
	cl_close(cl);
}

/* No state of a guest is visible to the next. */
static void fresh(void)
{
	struct cl *cl = cl_attach(3);
	u32 off;

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	for (off = ANGARA_REG_ASQ_LO; off <= ANGARA_REG_AEQ_ENTRIES; off += 4)
		cl_put(cl, 0, off, 4, 0xdeadbeef);
	cl_put(cl, CONFIG, PCI_INTERRUPT_LINE, 1, 7);
	cl_close(cl);
	cl = cl_attach(3);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_COMMAND, 2), 0);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_INTERRUPT_LINE, 1), 0);
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	for (off = ANGARA_REG_ASQ_LO; off <= ANGARA_REG_AEQ_ENTRIES; off += 4)
		EXPECT_EQ(cl_get(cl, 0, off, 4), 0);
	cl_close(cl);
}

/* A function level reset clears the state of the guest. */
static void flr(void)
{
	struct cl *cl = cl_attach(3);

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	cl_put(cl, 0, ANGARA_REG_ASQ_LO, 4, 0x1000);
	cl_put(cl, CONFIG, CAP_EXP + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR);
	EXPECT_EQ(cl_get(cl, CONFIG, PCI_COMMAND, 2), 0);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_MAGIC, 4), ~0U);
	EXPECT(!(cl_get(cl, CONFIG, CAP_EXP + PCI_EXP_DEVCTL, 2) &
		 PCI_EXP_DEVCTL_BCR_FLR));
	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_ASQ_LO, 4), 0);
	cl_close(cl);
}

const struct test_case pci_cases[] = {
	{ "pci: identity and capabilities", identity },
	{ "pci: writable bits", masks },
	{ "pci: no access beyond a region", bounds },
	{ "pci: registers", registers },
	{ "pci: a guest sees no state of the last one", fresh },
	{ "pci: reset of the function", flr },
	{ NULL, NULL },
};
