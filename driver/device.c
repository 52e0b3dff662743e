// SPDX-License-Identifier: GPL-2.0-only
/*
 * An adapter exists from the transport's ang_dev_alloc() to its ang_dev_put().
 * After ang_dev_unregister() open files only answer -ENODEV; closing the last
 * of them frees the structure.
 *
 * While an adapter is registered, the transport may stop it with ang_dev_down()
 * and start it again with ang_dev_up(), around a reset or while the machine
 * sleeps.  Files that were open at that time are stale: the adapter has lost
 * their objects.
 */
#include <linux/slab.h>

#include "ang_file.h"
#include "trace.h"

/*
 * How long the driver waits for an answer.  This is long, since an emulated
 * adapter may wait for a processor.
 */
#define TIMEOUT		(60 * HZ)
/* Maximum age of cached counters for readers without privilege. */
#define KEEP	(HZ / 10)

static int nums_init(struct ang_nums *nums, u32 max)
{
	nums->used = bitmap_zalloc(max, GFP_KERNEL);
	nums->uids = kcalloc(max, sizeof(*nums->uids), GFP_KERNEL);
	return nums->used && nums->uids ? 0 : -ENOMEM;
}

static void nums_free(struct ang_nums *nums)
{
	bitmap_free(nums->used);
	kfree(nums->uids);
}

static void dev_release(struct device *dev)
{
	struct ang_dev *adev = to_ang_dev(dev);

	ang_dev_counters_forget_all(adev);
	ang_dev_trees_free(adev);
	ang_graph_put(adev->graph);
	nums_free(&adev->ctx_nums);
	nums_free(&adev->dom_nums);
	kfree(adev->ctxs);
	kfree(adev);
}

/**
 * ang_dev_alloc() - allocate an adapter
 * @ops: operations of the transport
 * @parent: the adapter's parent in the device tree
 * @priv: private data of the transport
 *
 * Return: the device, which belongs to the caller until ang_dev_put(), or an
 * error pointer.
 * Context: process; may sleep.
 */
struct ang_dev *ang_dev_alloc(const struct ang_bus_ops *ops,
			      struct device *parent, void *priv)
{
	struct ang_dev *adev;
	int ret;

	adev = kzalloc(sizeof(*adev), GFP_KERNEL);
	if (!adev)
		return ERR_PTR(-ENOMEM);
	adev->ops = ops;
	adev->priv = priv;
	adev->gone = true;
	adev->timeout = TIMEOUT;
	adev->keep = KEEP;
	adev->ctx_limit = ANG_MAX_CTXS;
	if (ops->doorbell)
		adev->caps = ANGARA_CAP_DOORBELL_MMAP;
	init_rwsem(&adev->registration_lock);
	spin_lock_init(&adev->files_lock);
	INIT_LIST_HEAD(&adev->files);
	mutex_init(&adev->break_lock);
	mutex_init(&adev->tree_lock);
	mutex_init(&adev->mgmt_lock);
	mutex_init(&adev->kept_lock);
	xa_init(&adev->kept);
	xa_init(&adev->switches);
	init_rwsem(&adev->map_lock);
	ang_adm_setup(adev);
	ang_aeq_setup(adev);

	device_initialize(&adev->dev);
	adev->dev.parent = parent;
	adev->dev.release = dev_release;

	ret = ang_dev_add(adev);
	if (ret)
		goto err_put;
	ret = ang_file_name(adev);
	if (ret)
		goto err_del;
	return adev;

err_del:
	ang_dev_del(adev);
err_put:
	put_device(&adev->dev);
	return ERR_PTR(ret);
}
ANG_EXPORT(ang_dev_alloc);

/**
 * ang_dev_put() - drop the transport's reference to an adapter
 * @adev: device, not registered; ang_irq() is no longer called for it
 *
 * Context: process; may sleep.
 */
void ang_dev_put(struct ang_dev *adev)
{
	ang_dev_del(adev);
	cancel_work_sync(&adev->aeq_work);
	put_device(&adev->dev);
}
ANG_EXPORT(ang_dev_put);

/**
 * struct identity - identity registers of an adapter
 * @node: number of its node
 * @nodes: nodes in the fabric
 * @ports: ports of its router
 * @max_ctxs: contexts that can be created
 * @trees: trees per node
 * @fabric_id: number of the fabric
 */
struct identity {
	u32 node;
	u32 nodes;
	u32 ports;
	u32 max_ctxs;
	u32 trees;
	u64 fabric_id;
};

static int read_identity(struct ang_dev *adev, struct identity *id)
{
	u32 magic = ang_read32(adev, ANGARA_REG_MAGIC);
	u32 version = ang_read32(adev, ANGARA_REG_VERSION);

	if (magic != ANGARA_HW_MAGIC || version != ANGARA_HW_VERSION) {
		dev_err(&adev->dev, "unknown adapter: magic %#x version %u\n",
			magic, version);
		return -ENODEV;
	}
	id->node = ang_read32(adev, ANGARA_REG_NODE);
	id->nodes = ang_read32(adev, ANGARA_REG_NODES);
	id->ports = ang_read32(adev, ANGARA_REG_PORTS);
	id->max_ctxs = ang_read32(adev, ANGARA_REG_CONTEXTS);
	id->trees = ang_read32(adev, ANGARA_REG_TREES);
	id->fabric_id = ang_read32(adev, ANGARA_REG_FABRIC_LO) |
			(u64)ang_read32(adev, ANGARA_REG_FABRIC_HI) << 32;
	if (!id->nodes || id->nodes > ANG_MAX_NODES || id->node >= id->nodes ||
	    !id->ports || id->ports > ANGARA_MAX_PORTS ||
	    !id->max_ctxs || id->max_ctxs > ANG_MAX_CTXS ||
	    !id->trees || id->trees > ANGARA_MAX_TREES) {
		dev_err(&adev->dev, "identity registers out of range: node %u of %u, %u ports, %u contexts, %u trees\n",
			id->node, id->nodes, id->ports, id->max_ctxs, id->trees);
		return -ENODEV;
	}
	id->max_ctxs = min(id->max_ctxs, adev->ctx_limit);
	return 0;
}

/* A restart must not change the identity, which is read without a lock. */
static int check_identity(struct ang_dev *adev, const struct identity *id)
{
	if (id->node == adev->node && id->fabric_id == adev->fabric_id &&
	    id->max_ctxs == adev->max_ctxs && id->trees == adev->own.rows.num &&
	    id->nodes == adev->nodes && id->ports == adev->ports)
		return 0;
	dev_err(&adev->dev, "another adapter has replaced this one: unbind and bind the driver\n");
	return -ENODEV;
}

static int take_identity(struct ang_dev *adev, const struct identity *id)
{
	adev->node = id->node;
	adev->fabric_id = id->fabric_id;
	adev->nodes = id->nodes;
	adev->ports = id->ports;
	adev->own.router = id->node;
	adev->own.rows.num = id->trees;
	adev->ctxs = kcalloc(id->max_ctxs, sizeof(*adev->ctxs), GFP_KERNEL);
	if (!adev->ctxs || nums_init(&adev->ctx_nums, id->max_ctxs) ||
	    nums_init(&adev->dom_nums, id->max_ctxs))
		return -ENOMEM;
	/*
	 * Publishes @ctxs with its length: pairs with the acquire in ang_irq().
	 */
	smp_store_release(&adev->max_ctxs, id->max_ctxs);
	return 0;
}

static void dev_stop(struct ang_dev *adev)
{
	lockdep_assert_held_write(&adev->registration_lock);

	ang_dev_reset(adev);
	ang_adm_free(adev);
}

/* Return: the fabric's description, to be freed by the caller, or an error. */
static char *dev_read_text(struct ang_dev *adev)
{
	u32 size = ANG_DESCRIBE_BYTES;
	char *text;
	u32 at;
	int ret;

	text = kzalloc(ANG_MAX_TEXT + ANG_DESCRIBE_BYTES + 1, GFP_KERNEL);
	if (!text)
		return ERR_PTR(-ENOMEM);
	for (at = 0; at < size; at += ANG_DESCRIBE_BYTES) {
		ret = ang_adm_describe(adev, at, text + at, &size);
		if (!ret && (!size || size > ANG_MAX_TEXT))
			ret = -ENODEV;
		if (ret) {
			kfree(text);
			return ERR_PTR(ret);
		}
	}
	/* Beyond the text, the last command may have copied bytes of an earlier one. */
	text[size] = 0;
	/*
	 * ang_graph.text has no newline at its end; code that shows the text
	 * adds one.
	 */
	if (text[size - 1] == '\n')
		text[size - 1] = 0;
	return text;
}

/* Return: the described fabric, undo with ang_graph_put(), or an error. */
static struct ang_graph *dev_graph(struct ang_dev *adev, const char *text)
{
	struct ang_topo_why why = {};
	struct ang_graph *graph = ang_graph_get(text, &why);

	if (IS_ERR(graph) && PTR_ERR(graph) != -ENODEV)
		return graph;
	if (IS_ERR(graph) && why.line) {
		dev_err(&adev->dev, "fabric: line %u: %s\n", why.line, why.what);
		return graph;
	}
	if (!IS_ERR(graph) && graph->topo.nodes == adev->nodes &&
	    ang_topo_ports(&graph->topo) == adev->ports)
		return graph;
	dev_err(&adev->dev, "fabric '%.64s': unknown kind, or its number of nodes or ports is not that of the adapter\n", text);
	if (!IS_ERR(graph))
		ang_graph_put(graph);
	return ERR_PTR(-ENODEV);
}

/* Reads the description of the fabric; a restart must report the same text. */
static int dev_describe(struct ang_dev *adev)
{
	char *text = dev_read_text(adev);
	struct ang_graph *graph;
	int ret = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (adev->graph) {
		ret = strcmp(text, adev->graph->text) ? -ENODEV : 0;
		goto out_free;
	}
	graph = dev_graph(adev, text);
	if (IS_ERR(graph))
		ret = PTR_ERR(graph);
	else
		adev->graph = graph;
out_free:
	kfree(text);
	return ret;
}

static int dev_start(struct ang_dev *adev)
{
	struct identity id = {};
	int ret;

	lockdep_assert_held_write(&adev->registration_lock);

	ret = read_identity(adev, &id);
	if (ret)
		return ret;
	ret = adev->max_ctxs ? check_identity(adev, &id) :
			       take_identity(adev, &id);
	if (ret)
		return ret;

	ang_write32(adev, ANGARA_REG_CONTROL, 0);
	ret = ang_dev_wait_ready(adev, 0);
	if (ret)
		return ret;
	WRITE_ONCE(adev->stuck, false);
	WRITE_ONCE(adev->broken, false);
	ret = ang_adm_init(adev);
	if (ret)
		return ret;
	if (adev->ops->dma_enable)
		adev->ops->dma_enable(adev);
	ang_write32(adev, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	ret = ang_dev_wait_ready(adev, ANGARA_STATUS_READY);
	if (ret)
		dev_err(&adev->dev, "the adapter did not become ready in time\n");
	else
		ret = dev_describe(adev);
	if (ret)
		dev_stop(adev);
	return ret;
}

static void files_make_stale(struct ang_dev *adev)
{
	struct ang_handle *h;

	down_write(&adev->map_lock);
	list_for_each_entry(h, &adev->files, entry) {
		/*
		 * Write @stale after @gone: pairs with the acquire in
		 * ang_handle_glance().
		 */
		smp_store_release(&h->stale, true);
	}
	up_write(&adev->map_lock);
	if (adev->ops->doorbell)
		ang_doorbells_unmap(adev);
}

/* End the waits for commands in flight, and let later commands fail. */
static void dev_end_commands(struct ang_dev *adev, int why)
{
	WRITE_ONCE(adev->stopping, why);
	wake_up_all(&adev->adm_wait);
}

/* Commands end first, so their callers release registration_lock. */
static void dev_lock_to_stop(struct ang_dev *adev, int why)
{
	dev_end_commands(adev, why);
	down_write(&adev->registration_lock);
}

static void dev_unlock_stopped(struct ang_dev *adev)
{
	WRITE_ONCE(adev->stopping, 0);
	up_write(&adev->registration_lock);
	wake_up_all(&adev->adm_wait);
}

/* Stop the device, and only then free the objects that files have on it. */
static void dev_take(struct ang_dev *adev)
{
	struct ang_handle *h;

	lockdep_assert_held_write(&adev->registration_lock);

	/*
	 * The list of files does not change here: files are added and removed
	 * only with registration_lock held for reading.
	 */
	files_make_stale(adev);
	ang_dev_reset(adev);
	list_for_each_entry(h, &adev->files, entry) {
		ang_handle_take(h); /* cannot fail: the device is stopped */
		ang_handle_wake(h, EPOLLHUP | EPOLLERR);
	}
	ang_dev_trees_forget(adev);
	ang_dev_counters_forget_all(adev);
	ang_adm_free(adev);
}

/* Stop the device for good.  Return: false if it was down already. */
static bool dev_remove(struct ang_dev *adev)
{
	bool down;

	dev_lock_to_stop(adev, -ENODEV);
	WRITE_ONCE(adev->gone, true);
	down = adev->down;
	if (!down)
		dev_take(adev);
	dev_unlock_stopped(adev);
	return !down;
}

/**
 * ang_dev_register() - bring an adapter up and show it to users
 * @adev: device from ang_dev_alloc()
 *
 * Return: 0; -ENODEV this driver does not support the adapter; -EIO the adapter
 * does not become ready; -ENOMEM.
 * Context: process; may sleep.
 */
int ang_dev_register(struct ang_dev *adev)
{
	int ret;

	down_write(&adev->registration_lock);
	ret = dev_start(adev);
	if (!ret)
		WRITE_ONCE(adev->gone, false);
	up_write(&adev->registration_lock);
	if (ret)
		return ret;

	ret = ang_file_add(adev);
	if (ret)
		goto err_remove;
	ang_debugfs_dev_new(adev);
	ang_nl_dev_new(adev);
	return 0;

err_remove:
	/* A process may have opened the device through a file that it made by mknod(2). */
	dev_remove(adev);
	return ret;
}
ANG_EXPORT(ang_dev_register);

/**
 * ang_dev_unregister() - stop an adapter and remove its device file
 * @adev: device; ang_irq() may still be called for it
 *
 * When this returns, the device is reset and uses no memory, and the core no
 * longer calls the transport.  If the device cannot be reset, the memory that
 * it may use is never freed.
 * Context: process; may sleep.
 */
void ang_dev_unregister(struct ang_dev *adev)
{
	/*
	 * ang_debugfs_dev_del() waits for readers of debugfs, which may wait for
	 * commands.
	 */
	dev_end_commands(adev, -ENODEV);
	ang_debugfs_dev_del(adev);
	cdev_device_del(&adev->cdev, &adev->dev);
	if (dev_remove(adev))
		ang_nl_dev_del(adev);
}
ANG_EXPORT(ang_dev_unregister);

/**
 * ang_dev_down() - stop an adapter until ang_dev_up()
 * @adev: device, registered; ang_irq() may still be called for it
 *
 * When this returns, the device is reset and uses no memory, as after
 * ang_dev_unregister().  Open files answer -ESTALE from then on, and the device
 * cannot be opened.  If the device is down already, nothing changes.
 * Context: process; may sleep.
 */
void ang_dev_down(struct ang_dev *adev)
{
	bool down;

	dev_lock_to_stop(adev, -ESTALE);
	down = adev->down;
	adev->down = true;
	if (!down)
		dev_take(adev);
	/* While the device is down, @broken means that a restart has failed. */
	WRITE_ONCE(adev->broken, false);
	dev_unlock_stopped(adev);

	if (!down)
		ang_nl_dev_del(adev);
}
ANG_EXPORT(ang_dev_down);

/**
 * ang_dev_up() - start an adapter that ang_dev_down() has stopped
 * @adev: device, registered
 *
 * Clears the broken state.  A device that does not start stays down; the
 * transport may call this again.
 *
 * Return: 0, also if the device is up already; -ENODEV it does not answer, or
 * another adapter has replaced it; -EIO it does not become ready; -ENOMEM.
 * Context: process; may sleep.
 */
int ang_dev_up(struct ang_dev *adev)
{
	bool down;
	int ret = 0;

	down_write(&adev->registration_lock);
	down = adev->down;
	if (down)
		ret = dev_start(adev);
	if (ret)
		WRITE_ONCE(adev->broken, true);
	else
		adev->down = false;
	up_write(&adev->registration_lock);

	if (down && !ret)
		ang_nl_dev_new(adev);
	return ret;
}
ANG_EXPORT(ang_dev_up);

/**
 * ang_irq() - handle an interrupt of an adapter
 * @adev: device; ang_dev_put() was not called yet
 * @vector: ANGARA_VEC_*
 *
 * Context: any.
 */
void ang_irq(struct ang_dev *adev, u32 vector)
{
	u32 ctx = vector - ANGARA_VEC_CTX(0);
	struct ang_uctx *uctx;

	if (vector == ANGARA_VEC_ADMIN) {
		ang_adm_irq(adev);
		return;
	}
	/*
	 * Read @ctxs after its length @max_ctxs: pairs with the release in
	 * take_identity().
	 */
	if (ctx >= smp_load_acquire(&adev->max_ctxs))
		return;
	rcu_read_lock();
	uctx = rcu_dereference(adev->ctxs[ctx]);
	if (uctx)
		ang_uctx_signal(uctx);
	rcu_read_unlock();
}
ANG_EXPORT(ang_irq);
