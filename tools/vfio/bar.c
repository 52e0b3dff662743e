// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions of a card: registers of the model, and MSI-X.
 *
 * The client keeps the MSI-X table: it identifies the vectors of its guest by
 * the eventfds that it sets.  This file has only the pending bits.
 */
#include <errno.h>
#include <linux/vfio.h>

#include "card.h"

/**
 * bar_size() - bytes of a region, VFIO_PCI_*_REGION_INDEX; 0: no such region
 */
u64 bar_size(const struct card *c, u32 region)
{
	u64 size = ANGARA_PAGE_SIZE;

	switch (region) {
	case ANGARA_PCI_BAR_REGS:
		while (size < (c->ctxs + 1ULL) * ANGARA_PAGE_SIZE)
			size *= 2;
		return size;
	case ANGARA_PCI_BAR_MSIX:
		return CARD_BAR_MSIX_SIZE;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return sizeof(c->pci.space);
	default:
		return 0;
	}
}

static u32 reg_read(struct card *c, u64 off)
{
	if (off == ANGARA_REG_ISR)
		return irq_isr(c);
	return fabric_read(c->fabric, c->node, (u32)off);
}

/*
 * Registers are accessed by 32 or 64 aligned bits.  Other reads return ones, other writes do
 * nothing.
 */
static bool is_regs_access(u64 off, u32 len)
{
	return off % 4 == 0 && (len == 4 || len == 8);
}

static void regs_read(struct card *c, u64 off, u8 *to, u32 len)
{
	u32 word;

	memset(to, 0xff, len);
	if (!is_regs_access(off, len))
		return;
	for (; len; off += 4, to += 4, len -= 4) {
		word = cpu_to_le32(reg_read(c, off));
		memcpy(to, &word, 4);
	}
}

static void regs_write(struct card *c, u64 off, const u8 *from, u32 len)
{
	__le32 word;

	if (!is_regs_access(off, len))
		return;
	for (; len; off += 4, from += 4, len -= 4) {
		memcpy(&word, from, 4);
		fabric_write(c->fabric, c->node, (u32)off, le32_to_cpu(word));
	}
}

static void pba_read(const struct card *c, u64 off, u8 *to, u32 len)
{
	u32 i;

	memset(to, 0, len);
	for (i = 0; i < len; i++) {
		u64 byte = off + i - CARD_PBA;

		if (off + i >= CARD_PBA && byte < 8 * CARD_VECTOR_WORDS)
			to[i] = (u8)(c->irq.pending[byte / 8] >> (byte % 8 * 8));
	}
}

static bool in_region(const struct card *c, u32 region, u64 off, u32 len)
{
	u64 size = bar_size(c, region);

	return len && off <= size && len <= size - off;
}

/**
 * bar_read() - read from a region
 * @c: card
 * @region: VFIO_PCI_*_REGION_INDEX, or any other number
 * @off: offset, any value
 * @buf: out
 * @len: bytes
 *
 * Return: 0, or -EINVAL if the range is outside of the region.
 */
int bar_read(struct card *c, u32 region, u64 off, void *buf, u32 len)
{
	if (!in_region(c, region, off, len))
		return -EINVAL;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		pci_read(c, off, buf, len);
	else if (!c->pci.memory)
		memset(buf, 0xff, len);
	else if (region == ANGARA_PCI_BAR_REGS)
		regs_read(c, off, buf, len);
	else
		pba_read(c, off, buf, len);
	return 0;
}

/** bar_write() - write to a region; arguments and result as for bar_read() */
int bar_write(struct card *c, u32 region, u64 off, const void *buf, u32 len)
{
	if (!in_region(c, region, off, len))
		return -EINVAL;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		pci_write(c, off, buf, len);
	else if (c->pci.memory && region == ANGARA_PCI_BAR_REGS)
		regs_write(c, off, buf, len);
	return 0;
}
