// SPDX-License-Identifier: GPL-2.0-only
/* Angara adapter: the module. */
#include <linux/init.h>
#include <linux/module.h>

#include "ang_file.h"
#include "watch.h"

static int __init ang_init(void)
{
	int ret;

	ret = ang_watch_start();
	if (ret)
		return ret;
	ret = ang_handle_start();
	if (ret)
		goto err_watch;
	ret = ang_file_start();
	if (ret)
		goto err_handle;
	ret = ang_nl_init();
	if (ret)
		goto err_file;
	ang_debugfs_init();
	ret = ang_pci_init();
	if (ret)
		goto err_debugfs;
	return 0;

err_debugfs:
	ang_debugfs_exit();
	ang_nl_exit();
err_file:
	ang_file_stop();
err_handle:
	ang_handle_stop();
err_watch:
	ang_watch_stop();
	return ret;
}

static void __exit ang_exit(void)
{
	ang_pci_exit();
	ang_debugfs_exit();
	ang_nl_exit();
	ang_handle_stop();
	/*
	 * Call this after ang_handle_stop(), since closing a file queues work that
	 * removes watches.
	 */
	ang_watch_stop();
	ang_file_stop();
	rcu_barrier(); /* wait for callbacks in this module, which free contexts */
}

module_init(ang_init);
module_exit(ang_exit);

MODULE_DESCRIPTION("Angara collective-offload adapter");
MODULE_LICENSE("GPL");
ANG_IMPORT_NS();
