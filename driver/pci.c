// SPDX-License-Identifier: GPL-2.0-only
/*
 * The adapter on PCI Express: registers, DMA, reset, suspend, removal.
 *
 * Process and adapter access shared memory at any time, so memory that the
 * adapter reaches only through bounce buffers is not mapped.
 *
 * ang_dev_down() is called before every reset, and ang_dev_up() after every
 * reset.  If an adapter leaves the bus without notice, its registers read as
 * all ones.  A periodic read detects that, since no other code reads a register
 * while the adapter works.
 *
 * An adapter that does not answer may still write to memory.  So the driver
 * enables bus mastering only while the adapter is up, from ang_pci_dma_enable()
 * to ang_pci_dma_disable().
 */
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "pci.h"

#define BAR_REGS	ANGARA_PCI_BAR_REGS
#define HEALTH_PERIOD	HZ
#define STOP_TIMEOUT_US	(10 * USEC_PER_SEC)

static struct ang_pci *to_pci(struct ang_dev *adev)
{
	return adev->priv;
}

static u32 ang_pci_read32(struct ang_dev *adev, u32 off)
{
	return readl(to_pci(adev)->bar + off);
}

static void ang_pci_write32(struct ang_dev *adev, u32 off, u32 val)
{
	writel(val, to_pci(adev)->bar + off);
}

static void ang_pci_dma_enable(struct ang_dev *adev)
{
	pci_set_master(to_pci(adev)->pdev);
}

/* Does the upstream port report that no device is connected to it? */
static bool link_is_down(struct pci_dev *pdev)
{
	struct pci_dev *port = pci_upstream_bridge(pdev);
	u32 cap = 0;
	u16 status = 0;

	if (!port ||
	    pcie_capability_read_dword(port, PCI_EXP_LNKCAP, &cap) ||
	    pcie_capability_read_word(port, PCI_EXP_LNKSTA, &status) ||
	    PCI_POSSIBLE_ERROR(status))
		return false;
	return (cap & PCI_EXP_LNKCAP_DLLLARC) &&
	       !(status & PCI_EXP_LNKSTA_DLLLA);
}

/*
 * Is the device unplugged, so that it cannot write? Either the hotplug driver
 * or the state of the link says so.
 */
static bool is_unplugged(struct pci_dev *pdev)
{
	return pdev->error_state == pci_channel_io_perm_failure ||
	       link_is_down(pdev);
}

/*
 * Disables DMA.  Reading the command register flushes earlier writes of the
 * adapter.  If the adapter does not answer this read, it may not have received
 * the write that disables bus mastering.
 */
static int ang_pci_dma_disable(struct ang_dev *adev)
{
	struct pci_dev *pdev = to_pci(adev)->pdev;
	u16 command;

	pci_clear_master(pdev);
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command))
		return is_unplugged(pdev) ? 0 : -ENODEV;
	if (command & PCI_COMMAND_MASTER)
		return -EIO;
	return pci_wait_for_pending_transaction(pdev) ? 0 : -EIO;
}

static void *ang_pci_dma_alloc(struct ang_dev *adev, size_t size, u64 *addr)
{
	dma_addr_t dma;
	void *mem;

	mem = dma_alloc_coherent(&to_pci(adev)->pdev->dev, PAGE_ALIGN(size),
				 &dma, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (mem)
		*addr = dma;
	return mem;
}

static void ang_pci_dma_free(struct ang_dev *adev, size_t size, void *mem,
			     u64 addr)
{
	dma_free_coherent(&to_pci(adev)->pdev->dev, PAGE_ALIGN(size), mem, addr);
}

static void ang_pci_dma_unmap(struct ang_dev *adev, struct sg_table *sgt,
			      enum dma_data_direction dir)
{
	dma_unmap_sgtable(&to_pci(adev)->pdev->dev, sgt, dir,
			  DMA_ATTR_SKIP_CPU_SYNC);
}

/*
 * Maps memory.  Neither CPU nor device reports its writes, so the driver cannot
 * copy or synchronize the memory after a write: refuse memory that needs this.
 */
static int ang_pci_dma_map(struct ang_dev *adev, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
	struct device *dev = &to_pci(adev)->pdev->dev;
	struct scatterlist *sg;
	u32 i;
	int ret;

	ret = dma_map_sgtable(dev, sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret)
		return ret == -EREMOTEIO ? -ENOMEM : ret;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (!ang_dma_need_sync(dev, sg_dma_address(sg)))
			continue;
		ang_pci_dma_unmap(adev, sgt, dir);
		return -EREMOTEIO;
	}
	return 0;
}

static phys_addr_t ang_pci_doorbell(struct ang_dev *adev, u32 ctx)
{
	return to_pci(adev)->bar_addr + ANGARA_DB_PAGE(ctx);
}

static const struct ang_bus_ops ang_pci_ops = {
	.name = "pci",
	.owner = THIS_MODULE,
	.read32 = ang_pci_read32,
	.write32 = ang_pci_write32,
	.dma_enable = ang_pci_dma_enable,
	.dma_disable = ang_pci_dma_disable,
	.dma_alloc = ang_pci_dma_alloc,
	.dma_free = ang_pci_dma_free,
	.dma_map = ang_pci_dma_map,
	.dma_unmap = ang_pci_dma_unmap,
	.doorbell = ang_pci_doorbell,
};

/* Start and stop */

static void health_start(struct ang_pci *pci)
{
	schedule_delayed_work(&pci->health, HEALTH_PERIOD);
}

static void health_work(struct work_struct *work)
{
	struct ang_pci *pci = container_of(to_delayed_work(work),
					   struct ang_pci, health);

	if (readl(pci->bar + ANGARA_REG_MAGIC) != ANGARA_HW_MAGIC)
		ang_dev_break(pci->adev, "the adapter has left the bus");
	else if (readl(pci->bar + ANGARA_REG_STATUS) & ANGARA_STATUS_FATAL)
		ang_dev_break(pci->adev, "the adapter cannot access the admin queues by DMA");
	else
		health_start(pci);
}

/*
 * Stops the adapter. If the adapter has left the bus, health_work() detects
 * that and ends waits for the adapter, so cancel health_work() last.
 */
static void pause_dev(struct ang_pci *pci)
{
	ang_dev_down(pci->adev);
	cancel_delayed_work_sync(&pci->health);
}

static int revive_dev(struct ang_pci *pci)
{
	int ret = ang_dev_up(pci->adev);

	if (ret) {
		dev_err(&pci->pdev->dev, "the adapter failed to restart: %d\n", ret);
		return ret;
	}
	/* pci_restore_state() has discarded the saved state: save it again. */
	pci_save_state(pci->pdev);
	health_start(pci);
	return 0;
}

/* Stops the adapter: a previous driver may have left it running. */
static int ang_pci_quiesce(struct ang_pci *pci)
{
	u32 status;
	int ret;

	writel(0, pci->bar + ANGARA_REG_CONTROL);
	ret = readl_poll_timeout(pci->bar + ANGARA_REG_STATUS, status,
				 !(status & ANGARA_STATUS_READY) ||
				 PCI_POSSIBLE_ERROR(status),
				 USEC_PER_MSEC, STOP_TIMEOUT_US);
	return PCI_POSSIBLE_ERROR(status) ? -ENODEV : ret;
}

/* Can the adapter access any page without bounce buffers? */
static int dma_probe(struct device *dev)
{
	struct page *page = alloc_page(GFP_KERNEL);
	dma_addr_t addr;
	int ret = 0;

	if (!page)
		return -ENOMEM;
	addr = dma_map_page_attrs(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL,
				  DMA_ATTR_SKIP_CPU_SYNC);
	if (dma_mapping_error(dev, addr)) {
		ret = -ENOMEM;
		goto out_page;
	}
	if (ang_dma_need_sync(dev, addr))
		ret = -EREMOTEIO;
	dma_unmap_page_attrs(dev, addr, PAGE_SIZE, DMA_BIDIRECTIONAL,
			     DMA_ATTR_SKIP_CPU_SYNC);
out_page:
	__free_page(page);
	return ret;
}

static int dma_init(struct ang_pci *pci)
{
	struct device *dev = &pci->pdev->dev;
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(dev, ret, "64-bit DMA is not available\n");
	dma_set_max_seg_size(dev, UINT_MAX);
	ret = dma_probe(dev);
	if (ret == -EREMOTEIO)
		dev_err(dev, "DMA needs bounce buffers, which the driver cannot use (swiotlb=force?)\n");
	return ret;
}

static int bar_init(struct ang_pci *pci)
{
	struct pci_dev *pdev = pci->pdev;
	resource_size_t pages = pci_resource_len(pdev, BAR_REGS) / ANGARA_PAGE_SIZE;
	int ret;

	if (pages < 2 || !(pci_resource_flags(pdev, BAR_REGS) & IORESOURCE_MEM))
		return dev_err_probe(&pdev->dev, -ENODEV, "BAR 0: must be a memory BAR of at least two pages\n");
	ret = pci_request_selected_regions(pdev, BIT(BAR_REGS), KBUILD_MODNAME);
	if (ret)
		return ret;
	pci->bar = pci_ioremap_bar(pdev, BAR_REGS);
	if (!pci->bar) {
		ret = -ENOMEM;
		goto err_regions;
	}
	pci->bar_addr = pci_resource_start(pdev, BAR_REGS);
	/* ang_dev_register() checks the other registers. */
	pci->ctxs = readl(pci->bar + ANGARA_REG_CONTEXTS);
	pci->ctxs = clamp_t(u32, pci->ctxs, 1,
			    min_t(u64, pages - 1, ANG_MAX_CTXS));
	ret = ang_pci_quiesce(pci);
	if (ret) {
		dev_err(&pdev->dev, "the adapter does not respond to reset\n");
		goto err_unmap;
	}
	return 0;

err_unmap:
	iounmap(pci->bar);
err_regions:
	pci_release_selected_regions(pdev, BIT(BAR_REGS));
	return ret;
}

static void bar_exit(struct ang_pci *pci)
{
	iounmap(pci->bar);
	pci_release_selected_regions(pci->pdev, BIT(BAR_REGS));
}

/*
 * Interrupts may arrive as soon as they are enabled, so allocate the adapter
 * first.
 */
static int adapter_init(struct ang_pci *pci)
{
	int ret;

	pci->adev = ang_dev_alloc(&ang_pci_ops, &pci->pdev->dev, pci);
	if (IS_ERR(pci->adev))
		return PTR_ERR(pci->adev);
	ret = ang_pci_irqs_init(pci);
	if (ret)
		goto err_put;
	pci->adev->ctx_limit = pci->ctxs;
	ret = ang_dev_register(pci->adev);
	if (ret)
		goto err_irqs;
	return 0;

err_irqs:
	ang_pci_irqs_free(pci);
err_put:
	ang_dev_put(pci->adev);
	return ret;
}

static int ang_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ang_pci *pci;
	int ret;

	pci = kzalloc(sizeof(*pci), GFP_KERNEL);
	if (!pci)
		return -ENOMEM;
	pci->pdev = pdev;
	INIT_DELAYED_WORK(&pci->health, health_work);
	ret = pci_enable_device_mem(pdev);
	if (ret)
		goto err_free;
	pci_clear_master(pdev); /* a previous driver may have enabled bus mastering */
	ret = bar_init(pci);
	if (ret)
		goto err_disable;
	ret = dma_init(pci);
	if (ret)
		goto err_bar;
	ret = adapter_init(pci);
	if (ret)
		goto err_bar;
	pci_set_drvdata(pdev, pci);
	pci_save_state(pdev); /* for ang_pci_slot_reset() */
	health_start(pci);
	return 0;

err_bar:
	bar_exit(pci);
err_disable:
	pci_disable_device(pdev);
err_free:
	kfree(pci);
	return ret;
}

static void ang_pci_remove(struct pci_dev *pdev)
{
	struct ang_pci *pci = pci_get_drvdata(pdev);

	ang_dev_unregister(pci->adev);
	cancel_delayed_work_sync(&pci->health);
	ang_pci_irqs_free(pci);
	ang_dev_put(pci->adev);
	bar_exit(pci);
	pci_disable_device(pdev);
	kfree(pci);
}

/* Stop the adapter before the next kernel starts (kexec). */
static void ang_pci_shutdown(struct pci_dev *pdev)
{
	pause_dev(pci_get_drvdata(pdev));
}

/* Errors and resets */

static pci_ers_result_t ang_pci_error_detected(struct pci_dev *pdev,
					       pci_channel_state_t state)
{
	struct ang_pci *pci = pci_get_drvdata(pdev);

	/* End commands in flight, since they will get no answer. */
	if (state != pci_channel_io_normal)
		ang_dev_break(pci->adev, "the PCI bus reported an error");
	if (state == pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_DISCONNECT;
	pause_dev(pci);
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t ang_pci_slot_reset(struct pci_dev *pdev)
{
	struct ang_pci *pci = pci_get_drvdata(pdev);

	pci_restore_state(pdev);
	pci_save_state(pdev);
	pci_clear_master(pdev);
	if (!ang_pci_quiesce(pci))
		return PCI_ERS_RESULT_RECOVERED;
	ang_dev_break(pci->adev, "the adapter does not respond after a reset, or does not stop");
	return PCI_ERS_RESULT_DISCONNECT;
}

static void ang_pci_resume_io(struct pci_dev *pdev)
{
	revive_dev(pci_get_drvdata(pdev));
}

static void ang_pci_reset_prepare(struct pci_dev *pdev)
{
	pause_dev(pci_get_drvdata(pdev));
}

static void ang_pci_reset_done(struct pci_dev *pdev)
{
	revive_dev(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers ang_pci_errors = {
	.error_detected = ang_pci_error_detected,
	.slot_reset = ang_pci_slot_reset,
	.resume = ang_pci_resume_io,
	.reset_prepare = ang_pci_reset_prepare,
	.reset_done = ang_pci_reset_done,
};

static int ang_pci_suspend(struct device *dev)
{
	pause_dev(dev_get_drvdata(dev));
	return 0;
}

static int ang_pci_resume(struct device *dev)
{
	return revive_dev(dev_get_drvdata(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(ang_pci_pm, ang_pci_suspend, ang_pci_resume);

static const struct pci_device_id ang_pci_ids[] = {
	{ PCI_DEVICE(ANGARA_PCI_VENDOR, ANGARA_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ang_pci_ids);

static struct pci_driver ang_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ang_pci_ids,
	.probe = ang_pci_probe,
	.remove = ang_pci_remove,
	.shutdown = ang_pci_shutdown,
	.err_handler = &ang_pci_errors,
	.driver.pm = pm_sleep_ptr(&ang_pci_pm),
};

int __init ang_pci_init(void)
{
	return pci_register_driver(&ang_pci_driver);
}

void ang_pci_exit(void)
{
	pci_unregister_driver(&ang_pci_driver);
}
