/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara adapter: a transport for KUnit tests of the driver's core, with an
 * adapter that a test controls: it can answer wrongly, give no answer, or fail
 * to stop.
 *
 * The transport checks the memory that the core passes to the adapter.  Except
 * with fake.merges, no DMA address is also a physical address of memory.  If
 * memory is freed with wrong arguments, or not freed in the end, the test fails.
 */
#ifndef ANG_TESTS_FAKE_H
#define ANG_TESTS_FAKE_H

#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/xarray.h>
#include <linux/angara_nl.h>

#include "ang_file.h"
#include "ang_hw.h"

#define FAKE_CTXS	8U
#define FAKE_TREES	16U
#define FAKE_NODE	5U		/* number of the adapter's node */
#define FAKE_FABRIC	0x1122334455667788ULL
#define FAKE_REGS	(ANGARA_REG_ISR / 4 + 1)
#define FAKE_FILES	12

/**
 * struct fake_mem - memory that the core got from dma_alloc
 * @entry: in fake.mems
 * @mem: address for the CPU
 * @size: bytes
 * @addr: DMA address
 */
struct fake_mem {
	struct list_head entry;
	void *mem;
	size_t size;
	u64 addr;
};

/**
 * struct fake - an adapter emulated by a test.  Only one thread at a time uses
 * it, not counting threads that wait for the answer to a held command
 * @test: the test
 * @parent: device above the adapter
 * @adev: the core's device; NULL after ang_dev_put()
 * @registered: @adev is registered
 * @reg: registers; a test may change them before fake_register()
 * @answers: number of completions so far
 * @count: number of commands taken, by opcode
 * @last: last command, by opcode
 * @status: status to answer with, by opcode
 * @text: description of the fabric, NULL for a torus of 2x2x2
 * @mute: the adapter does not answer
 * @holds: the adapter answers commands only when the test calls fake_answer()
 * @held: held commands
 * @num_held: number of @held
 * @row: rows of the adapter's node; the state of a row that is not set is 0
 * @lives: angara_hw_row.life assigned last
 * @wrong_tag: completions do not have the tags of their commands
 * @unready: the adapter does not become ready
 * @absent: the adapter is not on the bus: all registers read all ones, and
 *	commands are lost
 * @unstoppable: a reset does not stop the adapter
 * @master: the adapter can access memory
 * @uncuttable: the adapter can still access memory after dma_disable
 * @guarded: the core must free no memory while the adapter can access memory
 * @on_command: called before a command is answered, or NULL
 * @aeq_pi: events posted so far
 * @lost: events that each event reports as lost
 * @ci_writes: number of writes to the event queue's consumer index
 * @mems: memory from dma_alloc
 * @mapped: number of mappings of each page, by page frame number
 * @bus: page frame number of each mapped page, by page number of the DMA
 *	address
 * @merges: if not 0, each mapping is contiguous, as with an IOMMU, and the next
 *	mapping starts at this DMA address
 * @unmaps: calls of dma_unmap so far
 * @fail: 1: the next call of dma_alloc or dma_map fails; 2: the call after the
 *	next fails, and so on; 0: no call fails
 * @db_sq: last doorbell of each context
 * @db_arm: last arming of each context
 * @file: open files of the adapter
 * @ctx: per entry of @file, the file of the newest context in its domain
 * @ubuf: two pages of user memory for arguments; the second cannot be accessed
 * @creds: credentials that fake_as() has set, or NULL
 * @own_creds: credentials before fake_as()
 */
struct fake {
	struct kunit *test;
	struct device *parent;
	struct ang_dev *adev;
	bool registered;
	const char *text;

	u32 reg[FAKE_REGS];
	u32 answers;
	u32 count[ANGARA_ADM_NUM];
	struct angara_adm_cmd last[ANGARA_ADM_NUM];
	u8 status[ANGARA_ADM_NUM];
	bool mute;
	bool holds;
	struct angara_adm_cmd held[ANG_ADM_ENTRIES];
	u32 num_held;
	struct angara_hw_row row[FAKE_TREES];
	u16 lives;
	bool wrong_tag;
	bool unready;
	bool absent;
	bool unstoppable;
	bool master;
	bool uncuttable;
	bool guarded;
	void (*on_command)(struct fake *f, const struct angara_adm_cmd *cmd);
	u32 aeq_pi;
	u8 lost;
	u32 ci_writes;

	struct list_head mems;
	struct xarray mapped;
	struct xarray bus;
	u64 merges;
	u32 unmaps;
	u32 fail;

	u32 db_sq[FAKE_CTXS];
	u32 db_arm[FAKE_CTXS];

	struct file *file[FAKE_FILES];
	struct file *ctx[FAKE_FILES];
	unsigned long ubuf;
	const struct cred *creds;
	const struct cred *own_creds;
};

extern struct kunit_suite queue_suite, mr_suite, admin_suite, device_suite,
	tree_suite, restart_suite;

/* Functions of a suite: init, exit, suite_init, suite_exit. */
int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);
int fake_suite_init(struct kunit_suite *suite);
void fake_suite_exit(struct kunit_suite *suite);

struct fake *fake_new(struct kunit *test);
int fake_register(struct fake *f);
/* Removes the adapter; files stay open. */
void fake_unregister(struct fake *f);
/* Answers held commands, and stops holding commands. */
void fake_answer(struct fake *f);
void fake_event(struct fake *f, u8 type, u32 index, u32 value);

/* Return: bytes or pages that the core has allocated and not freed. */
size_t fake_bytes(struct fake *f);
u32 fake_pages(struct fake *f);
/* Return: pinned pages charged to this process. */
unsigned long fake_pinned(void);
bool fake_is_mapped(struct fake *f, unsigned long pfn);
/*
 * Return: memory at DMA address @addr; fails the test if @addr is not mapped.
 */
void *fake_at(struct fake *f, u64 addr, size_t len);
/* Return: page frame number of a DMA address, or 0. */
unsigned long fake_pfn(struct fake *f, u64 addr);
/* Return: page frame number of entry @i of a list of pages. */
unsigned long fake_list_pfn(struct fake *f, u64 list, u32 i);
/*
 * Frees memory that the core never frees, since the adapter was stuck.  Return:
 * number of pages.
 */
u32 fake_forget(struct fake *f);

struct file *fake_open(struct fake *f);
void fake_close(struct fake *f, struct file *filp);
/*
 * Drops a reference.  If it was the last, the file is closed before this
 * returns.
 */
void fake_fput(struct file *filp);
/* Closes the file of the newest context of @filp, but not @filp. */
void fake_close_ctx(struct fake *f, struct file *filp);
struct file *fake_ctx_of(struct fake *f, struct file *filp);
/* Waits until the core has destroyed the objects of all closed files. */
void fake_settle(struct fake *f);
int fake_domain(struct fake *f, struct file *filp, u32 pkey);
int fake_ctx_in(struct fake *f, struct file *filp, u32 sq, u32 cq,
		struct angara_ctx_create *c);
long fake_ioctl(struct fake *f, struct file *filp, u32 cmd, void *arg,
		size_t len);
int fake_ctx(struct fake *f, struct file *filp, u32 sq, u32 cq);
struct file *fake_open_ctx(struct fake *f);
__poll_t fake_poll(struct file *filp, struct poll_table_struct *wait);
int fake_mr(struct fake *f, struct file *filp, u64 addr, u64 len, u32 flags,
	    u64 *key);
int fake_dereg(struct fake *f, struct file *filp, u64 key);
int fake_tree_set(struct fake *f, struct file *filp, u32 tree, u32 pkey,
		  u32 flags);
int fake_tree_clear(struct fake *f, struct file *filp, u32 tree, u32 flags);
int fake_tree_get(struct fake *f, struct file *filp, u32 tree,
		  struct angara_tree_get *get);
int fake_delegate(struct fake *f, struct file *filp, u32 tree, u32 pkey);

/*
 * Return: address of zeroed memory of the process that has loaded the module.
 */
unsigned long fake_user(struct fake *f, size_t len);
/* Acts as user @uid until fake_as_self(). */
void fake_as(struct fake *f, u32 uid, bool admin);
void fake_as_self(struct fake *f);

#endif /* ANG_TESTS_FAKE_H */
