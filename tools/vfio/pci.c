// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space.
 *
 * A write changes the bits of a byte that are set in the mask; other bits keep
 * the value that pci_reset() set.  After each write apply() evaluates the bits
 * for memory, bus mastering and interrupts.
 *
 * The client (QEMU) emulates sizes and addresses of BARs for its guest, so this
 * file keeps BARs only to return what was written.
 */
#include <linux/pci_regs.h>

#include "card.h"

#define CAP_PM		0x40
#define CAP_MSIX	0x48
#define CAP_EXP		0x60
#define EXP_VERSION	2
#define EXP_SIZE	0x3c	/* bytes of a capability of EXP_VERSION */

/*
 * Bits that a write changes; 0 for bytes not listed.  Bits that are cleared by
 * writing 1 are never set, so they need no code.
 */
static const u8 writable[256] = {
	[PCI_COMMAND] = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
			PCI_COMMAND_PARITY,
	[PCI_COMMAND + 1] = (PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE) >> 8,
	[PCI_CACHE_LINE_SIZE] = 0xff,
	[PCI_INTERRUPT_LINE] = 0xff,
	[CAP_PM + PCI_PM_CTRL] = PCI_PM_CTRL_STATE_MASK,
	[CAP_MSIX + PCI_MSIX_FLAGS + 1] =
		(PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) >> 8,
	[CAP_EXP + PCI_EXP_DEVCTL] = 0xff,
	/* FLR reads as 0. */
	[CAP_EXP + PCI_EXP_DEVCTL + 1] = (PCI_EXP_DEVCTL_READRQ |
		PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_EXT_TAG) >> 8,
	[CAP_EXP + PCI_EXP_LNKCTL] = PCI_EXP_LNKCTL_ASPMC |
		PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC,
};

static void put16(u8 *at, u32 val)
{
	at[0] = (u8)val;
	at[1] = (u8)(val >> 8);
}

static void put32(u8 *at, u32 val)
{
	put16(at, val);
	put16(at + 2, val >> 16);
}

static u32 get16(const u8 *at)
{
	return at[0] | (u32)at[1] << 8;
}

static void put_header(u8 *s)
{
	put16(s + PCI_VENDOR_ID, ANGARA_PCI_VENDOR);
	put16(s + PCI_DEVICE_ID, ANGARA_PCI_DEVICE);
	put16(s + PCI_STATUS, PCI_STATUS_CAP_LIST);
	s[PCI_REVISION_ID] = ANGARA_PCI_REVISION;
	put16(s + PCI_CLASS_DEVICE, ANGARA_PCI_CLASS);
	put32(s + PCI_BASE_ADDRESS_0 + 4 * ANGARA_PCI_BAR_REGS,
	      PCI_BASE_ADDRESS_MEM_TYPE_64);
	put32(s + PCI_BASE_ADDRESS_0 + 4 * ANGARA_PCI_BAR_MSIX,
	      PCI_BASE_ADDRESS_MEM_TYPE_64);
	put16(s + PCI_SUBSYSTEM_VENDOR_ID, ANGARA_PCI_SUBVENDOR);
	put16(s + PCI_SUBSYSTEM_ID, ANGARA_PCI_SUBDEVICE);
	s[PCI_CAPABILITY_LIST] = CAP_PM;
	s[PCI_INTERRUPT_PIN] = 1;
}

/* A link of 8 GT/s, 16 lanes: drivers warn of slower links. */
static void put_express(u8 *s)
{
	u32 link = PCI_EXP_LNKCAP_SLS_8_0GB | 16U << 4;

	s[0] = PCI_CAP_ID_EXP;
	put16(s + PCI_EXP_FLAGS, EXP_VERSION | PCI_EXP_TYPE_ENDPOINT << 4);
	put32(s + PCI_EXP_DEVCAP, 1 | PCI_EXP_DEVCAP_EXT_TAG |
	      PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR);
	put16(s + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_READRQ_512B |
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN);
	put32(s + PCI_EXP_LNKCAP, link);
	put16(s + PCI_EXP_LNKSTA, link);
	put32(s + PCI_EXP_LNKCAP2, PCI_EXP_LNKCAP2_SLS_2_5GB |
	      PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB);
	put16(s + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS_8_0GT);
}

static void put_capabilities(const struct card *c, u8 *s)
{
	s[CAP_PM] = PCI_CAP_ID_PM;
	s[CAP_PM + 1] = CAP_MSIX;
	put16(s + CAP_PM + PCI_PM_PMC, 3);
	/* The adapter keeps its state in D3. */
	put16(s + CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);

	s[CAP_MSIX] = PCI_CAP_ID_MSIX;
	s[CAP_MSIX + 1] = CAP_EXP;
	put16(s + CAP_MSIX + PCI_MSIX_FLAGS, c->irq.vectors - 1);
	put32(s + CAP_MSIX + PCI_MSIX_TABLE, ANGARA_PCI_BAR_MSIX);
	put32(s + CAP_MSIX + PCI_MSIX_PBA, CARD_PBA | ANGARA_PCI_BAR_MSIX);

	put_express(s + CAP_EXP);
}

/* Apply the guest's configuration. */
static void apply(struct card *c)
{
	struct pci *p = &c->pci;
	u32 command = get16(p->space + PCI_COMMAND);
	u32 msix = get16(p->space + CAP_MSIX + PCI_MSIX_FLAGS);
	bool awake = !(p->space[CAP_PM + PCI_PM_CTRL] & PCI_PM_CTRL_STATE_MASK);
	bool master = awake && command & PCI_COMMAND_MASTER;

	if (master != p->master)
		dma_enable(&c->dma, master);
	p->master = master;
	p->memory = awake && command & PCI_COMMAND_MEMORY;
	p->intx = awake && !(command & PCI_COMMAND_INTX_DISABLE);
	p->msix = msix & PCI_MSIX_FLAGS_ENABLE;
	p->msix_masked = msix & PCI_MSIX_FLAGS_MASKALL;
	irq_deliver(c);
	irq_update(c);
}

/** pci_reset() - set the configuration space to its state after power-on */
void pci_reset(struct card *c)
{
	struct pci *p = &c->pci;

	memset(p->space, 0, sizeof(p->space));
	put_header(p->space);
	put_capabilities(c, p->space);
	apply(c);
}

/* Writable bits of a base address: the bits above its size. */
static u8 bar_mask(const struct card *c, u32 off)
{
	u32 byte = off - PCI_BASE_ADDRESS_0;
	u64 size = bar_size(c, byte / 8 * 2);

	return size ? (u8)(~(size - 1) >> (byte % 8 * 8)) : 0;
}

static u8 mask_of(const struct card *c, u64 off)
{
	if (off >= PCI_BASE_ADDRESS_0 && off <= PCI_BASE_ADDRESS_5 + 3)
		return bar_mask(c, (u32)off);
	return off < sizeof(writable) ? writable[off] : 0;
}

/**
 * pci_read() - read configuration space; bar_read() has checked @off and @len
 */
void pci_read(struct card *c, u64 off, void *buf, u32 len)
{
	u8 *to = buf;

	irq_deliver(c);
	memcpy(to, c->pci.space + off, len);
	/* PCI_STATUS_INTERRUPT is the only bit that the adapter changes. */
	if (c->irq.isr && !c->pci.msix && off <= PCI_STATUS &&
	    off + len > PCI_STATUS)
		to[PCI_STATUS - off] |= PCI_STATUS_INTERRUPT;
}

/** pci_write() - write configuration space; bar_write() has checked @off and @len */
void pci_write(struct card *c, u64 off, const void *buf, u32 len)
{
	const u8 *from = buf;
	u8 *power = c->pci.space + CAP_PM + PCI_PM_CTRL;
	u8 before = *power;
	bool flr = false;
	u32 i;

	for (i = 0; i < len; i++) {
		u8 *at = c->pci.space + off + i;
		u8 mask = mask_of(c, off + i);

		*at = (u8)((*at & ~mask) | (from[i] & mask));
		flr |= off + i == CAP_EXP + PCI_EXP_DEVCTL + 1 &&
		       from[i] & PCI_EXP_DEVCTL_BCR_FLR >> 8;
	}
	/* The card has only the power states D0 and D3. */
	if (*power % 4 == 1 || *power % 4 == 2)
		*power = before;
	if (flr)
		card_reset(c);
	else
		apply(c);
}
