// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of an adapter on PCI Express.
 *
 * With MSI-X there is one vector for the admin queues and one per context, in
 * the order of ANGARA_VEC_*.  A machine may have fewer vectors, and may report
 * that only when a vector is requested: then fewer contexts can be created,
 * since contexts cannot share a vector.  Without MSI-X all sources share the
 * interrupt line, and a register tells which sources have raised it.
 */
#include <linux/interrupt.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "pci.h"

static bool use_intx;
module_param_named(intx, use_intx, bool, 0444);
MODULE_PARM_DESC(intx, "use the interrupt line even if the adapter has MSI-X (default: no)");

static irqreturn_t vector_handler(int irq, void *arg)
{
	struct ang_pci_vector *vector = arg;

	ang_irq(vector->pci->adev, vector->num);
	return IRQ_HANDLED;
}

/*
 * If the adapter is gone, all bits of its registers are ones.  All bits of
 * ANGARA_REG_ISR may also be sources, so another register decides.
 */
static bool adapter_gone(struct ang_pci *pci, u32 isr)
{
	return PCI_POSSIBLE_ERROR(isr) &&
	       readl(pci->bar + ANGARA_REG_MAGIC) != ANGARA_HW_MAGIC;
}

/* Handles INTx.  Reading ANGARA_REG_ISR deasserts the line. */
static irqreturn_t line_handler(int irq, void *arg)
{
	struct ang_pci_vector *vector = arg;
	struct ang_pci *pci = vector->pci;
	u32 isr = readl(pci->bar + ANGARA_REG_ISR);
	u32 ctx;

	if (!isr || adapter_gone(pci, isr))
		return IRQ_NONE;
	if (isr & ANGARA_ISR_ADMIN)
		ang_irq(pci->adev, ANGARA_VEC_ADMIN);
	for (ctx = 0; ctx < pci->ctxs; ctx++)
		if (isr & ANGARA_ISR_CTX(ctx))
			ang_irq(pci->adev, ANGARA_VEC_CTX(ctx));
	return IRQ_HANDLED;
}

/* Spreads vectors of contexts over processors, near the adapter first. */
static void vector_spread(struct ang_pci *pci, u32 num)
{
	unsigned int cpu;

	if (pci->intx || num == ANGARA_VEC_ADMIN)
		return;
	cpu = cpumask_local_spread(num - ANGARA_VEC_CTX(0),
				   dev_to_node(&pci->pdev->dev));
	irq_set_affinity_and_hint(pci_irq_vector(pci->pdev, num),
				  cpumask_of(cpu));
}

static void vector_free(struct ang_pci *pci, u32 num)
{
	irq_update_affinity_hint(pci_irq_vector(pci->pdev, num), NULL);
	pci_free_irq(pci->pdev, num, &pci->vector[num]);
}

static int vector_request(struct ang_pci *pci, u32 num)
{
	struct ang_pci_vector *vector = &pci->vector[num];
	const char *name = dev_name(&pci->adev->dev);
	int ret;

	vector->pci = pci;
	vector->num = num;
	if (pci->intx)
		ret = pci_request_irq(pci->pdev, num, line_handler, NULL,
				      vector, "%s", name);
	else if (num == ANGARA_VEC_ADMIN)
		ret = pci_request_irq(pci->pdev, num, vector_handler, NULL,
				      vector, "%s-admin", name);
	else
		ret = pci_request_irq(pci->pdev, num, vector_handler, NULL,
				      vector, "%s-ctx%u", name,
				      num - ANGARA_VEC_CTX(0));
	if (!ret)
		vector_spread(pci, num);
	return ret;
}

/* Requests the vectors; if the machine has no more, uses fewer. */
static int vectors_request(struct ang_pci *pci)
{
	u32 num;
	int ret;

	for (num = 0; num < pci->num_vectors; num++) {
		ret = vector_request(pci, num);
		if (!ret)
			continue;
		if (ret != -ENOSPC || num <= ANGARA_VEC_CTX(0))
			goto err_free;
		break;
	}
	pci->num_vectors = num;
	return 0;

err_free:
	while (num--)
		vector_free(pci, num);
	return ret;
}

/* Return: number of vectors, or -errno. */
static int vectors_alloc(struct ang_pci *pci)
{
	int ret = -ENODEV;

	if (!use_intx)
		ret = pci_alloc_irq_vectors(pci->pdev, ANGARA_VEC_CTX(0) + 1,
					    ANGARA_VEC_CTX(pci->ctxs),
					    PCI_IRQ_MSIX);
	if (ret > 0)
		return ret;
	pci->intx = true;
	return pci_alloc_irq_vectors(pci->pdev, 1, 1, PCI_IRQ_INTX);
}

/**
 * ang_pci_irqs_init() - allocate interrupts and enable them
 * @pci: adapter; its contexts are limited to the number of vectors
 *
 * Return: 0 or -errno.
 * Context: process; may sleep.
 */
int ang_pci_irqs_init(struct ang_pci *pci)
{
	int ret;

	ret = vectors_alloc(pci);
	if (ret < 0)
		return dev_err_probe(&pci->pdev->dev, ret,
				     "neither MSI-X nor an interrupt line is available\n");
	pci->num_vectors = ret;
	pci->vector = kcalloc(pci->num_vectors, sizeof(*pci->vector), GFP_KERNEL);
	if (!pci->vector) {
		ret = -ENOMEM;
		goto err_vectors;
	}
	ret = vectors_request(pci);
	if (ret)
		goto err_free;
	if (!pci->intx && pci->num_vectors < ANGARA_VEC_CTX(pci->ctxs)) {
		dev_info(&pci->pdev->dev, "only %u interrupt vectors: %u contexts can be created instead of %u\n",
			 pci->num_vectors,
			 pci->num_vectors - ANGARA_VEC_CTX(0), pci->ctxs);
		pci->ctxs = pci->num_vectors - ANGARA_VEC_CTX(0);
	}
	return 0;

err_free:
	kfree(pci->vector);
err_vectors:
	pci_free_irq_vectors(pci->pdev);
	return ret;
}

/**
 * ang_pci_irqs_free() - free interrupts
 * @pci: adapter; no interrupt arrives after the return
 *
 * Context: process; may sleep.
 */
void ang_pci_irqs_free(struct ang_pci *pci)
{
	u32 num;

	for (num = 0; num < pci->num_vectors; num++)
		vector_free(pci, num);
	kfree(pci->vector);
	pci_free_irq_vectors(pci->pdev);
}
