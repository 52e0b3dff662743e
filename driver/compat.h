/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara adapter: what differs among the kernels that the driver supports, 6.1
 * to 7.2. No other file of the driver depends on the version. A comment that
 * starts with a version is true from that kernel on.
 */
#ifndef ANG_COMPAT_H
#define ANG_COMPAT_H

#include <linux/device/bus.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/eventfd.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/version.h>

/* 6.13: the namespace of an exported symbol is a string. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define ANG_EXPORT(sym)	EXPORT_SYMBOL_NS_GPL(sym, "ANGARA")
#define ANG_IMPORT_NS()		MODULE_IMPORT_NS("ANGARA")
#else
#define ANG_EXPORT(sym)	EXPORT_SYMBOL_NS_GPL(sym, ANGARA)
#define ANG_IMPORT_NS()		MODULE_IMPORT_NS(ANGARA)
#endif

/* 6.8: eventfd_signal() always adds one. */
static inline void ang_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

/* 6.3: vm_flags is written through functions. */
static inline void ang_vm_flags_mod(struct vm_area_struct *vma,
				    unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * 6.2: a long-term pin for reading breaks copy-on-write by itself. Before 6.2,
 * the driver has to pin for writing; else the owner's next write would go to
 * another page.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define ANG_GUP_READ		0
#else
#define ANG_GUP_READ		(FOLL_WRITE | FOLL_FORCE)
#endif

/* 6.4: functions of bus attributes get a const struct bus_type. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define ang_attr_bus		const struct bus_type
#else
#define ang_attr_bus		struct bus_type
#endif

/* 6.6: struct genl_dumpit_info has its attributes in a struct genl_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define ang_dump_attrs(_cb)	(genl_dumpit_info(_cb)->info.attrs)
#else
#define ang_dump_attrs(_cb)	(genl_dumpit_info(_cb)->attrs)
#endif

/* 6.8: PCI_IRQ_LEGACY is called PCI_IRQ_INTX. */
#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX		PCI_IRQ_LEGACY
#endif

/*
 * 6.10: dma_need_sync() returns false for a device that accesses memory coherently
 * through an IOMMU. Before 6.10 it returns true for any device behind an IOMMU, even
 * for mappings of whole pages, which are never copied.
 */
static inline bool ang_dma_need_sync(struct device *dev, dma_addr_t addr)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0) && defined(CONFIG_IOMMU_API)
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (domain && iommu_is_dma_domain(domain) && dev_is_dma_coherent(dev))
		return false;
#endif
	return dma_need_sync(dev, addr);
}

/*
 * Kconfig selects MMU_NOTIFIER, but a module built outside of the kernel tree
 * cannot select options.  A kernel without MMU_NOTIFIER reports no changes
 * of address spaces: then every watched region counts as changed.
 */
#ifdef CONFIG_MMU_NOTIFIER
#define ang_range_event(range)	((range)->event)
#else
#define ang_range_event(range)	MMU_NOTIFY_CLEAR

static inline int
mmu_interval_notifier_insert(struct mmu_interval_notifier *mni,
			     struct mm_struct *mm, unsigned long start,
			     unsigned long length,
			     const struct mmu_interval_notifier_ops *ops)
{
	mni->mm = mm;
	return 0;
}

static inline void
mmu_interval_notifier_remove(struct mmu_interval_notifier *mni)
{
}

static inline void mmu_interval_set_seq(struct mmu_interval_notifier *mni,
					unsigned long cur_seq)
{
}

static inline unsigned long
mmu_interval_read_begin(struct mmu_interval_notifier *mni)
{
	return 0;
}

static inline bool mmu_interval_read_retry(struct mmu_interval_notifier *mni,
					   unsigned long seq)
{
	return true;
}
#endif

#endif /* ANG_COMPAT_H */
