/* SPDX-License-Identifier: GPL-2.0-only */
/* Angara adapter on PCI Express: declarations shared by pci.c and pci_irq.c. */
#ifndef ANG_PCI_H
#define ANG_PCI_H

#include <linux/pci.h>

#include "ang_dev.h"

/**
 * struct ang_pci_vector - an interrupt vector in use; constant
 * @pci: adapter of the vector
 * @num: ANGARA_VEC_*
 */
struct ang_pci_vector {
	struct ang_pci *pci;
	u32 num;
};

/**
 * struct ang_pci - an adapter on PCI Express
 * @pdev: PCI device; constant, as all members down to @intx
 * @adev: adapter
 * @bar: BAR 0
 * @bar_addr: physical address of BAR 0
 * @ctxs: contexts that can be created: limited by the adapter, by the size of BAR
 *	0, and by the number of vectors
 * @num_vectors: vectors in use; 1 without MSI-X
 * @vector: the vectors in use
 * @intx: the adapter uses an interrupt line instead of MSI-X vectors
 * @health: checks periodically that the adapter is present
 */
struct ang_pci {
	struct pci_dev *pdev;
	struct ang_dev *adev;
	void __iomem *bar;
	phys_addr_t bar_addr;
	u32 ctxs;
	u32 num_vectors;
	struct ang_pci_vector *vector;
	bool intx;
	struct delayed_work health;
};

/* pci_irq.c */
int ang_pci_irqs_init(struct ang_pci *pci);
void ang_pci_irqs_free(struct ang_pci *pci);

#endif /* ANG_PCI_H */
