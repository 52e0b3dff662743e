// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of a domain's regions.  It begins with one page.  To double it, the
 * driver passes a larger copy to the device; once the device has answered, it
 * no longer uses the old table.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "ang_file.h"

/**
 * ang_table_alloc() - allocate a table
 * @dom: domain that will use the table
 * @mem: out: the table
 * @slots: entries
 *
 * Return: 0 or -ENOMEM.
 * Context: process; may sleep.
 */
int ang_table_alloc(struct ang_domain *dom, struct ang_mem *mem, u32 slots)
{
	const u32 sizes[ANG_MEM_NUM] = {
		[ANG_MEM_MRT] = slots * sizeof(struct angara_hw_mr),
	};

	return ang_mem_alloc(dom->adev, mem, sizes);
}

/**
 * ang_table_free() - free a table that the device does not use
 * @dom: domain
 * @mem: the table
 */
void ang_table_free(struct ang_domain *dom, struct ang_mem *mem)
{
	ang_mem_unmap(dom->adev, mem);
	ang_mem_free(mem);
	*mem = (struct ang_mem){};
}

/**
 * ang_table_post() - pass a table to the device
 * @dom: domain
 * @opcode: ANGARA_ADM_DOMAIN_CREATE, or ANGARA_ADM_DOMAIN_TABLE for a larger one
 * @mem: the table
 * @slots: entries
 *
 * Return: as ang_adm_exec().
 * Context: process; may sleep.
 */
int ang_table_post(struct ang_domain *dom, u8 opcode,
		   const struct ang_mem *mem, u32 slots)
{
	bool create = opcode == ANGARA_ADM_DOMAIN_CREATE;
	struct angara_adm_cmd cmd = {
		.opcode = opcode,
		.ctx = cpu_to_le16(dom->num),
		.domain = {
			.job = cpu_to_le64(create ? dom->job : 0),
			.mrt = cpu_to_le64(ang_mem_list(mem, ANG_MEM_MRT)),
			.mrs = cpu_to_le32(slots),
			.pkey = cpu_to_le32(create ? dom->pkey : 0),
		},
	};
	struct angara_adm_cpl cpl;

	return ang_adm_exec(dom->adev, &cmd, &cpl);
}

static void table_copy(struct ang_mem *to, const struct ang_mem *from)
{
	u32 i;

	for (i = 0; i < from->num[ANG_MEM_MRT]; i++)
		memcpy(ang_mem_at(to, ANG_MEM_MRT, (size_t)i << PAGE_SHIFT),
		       ang_mem_at(from, ANG_MEM_MRT, (size_t)i << PAGE_SHIFT),
		       PAGE_SIZE);
}

/**
 * ang_domain_grow() - enlarge a domain's table
 * @dom: domain; its device is entered
 * @slots: entries that the table must have at least; at most ANG_MAX_MRS
 *
 * Return: 0; -ENOMEM; -EIO, also if the outcome of an earlier attempt is
 * unknown; an error for which ang_adm_undecided() is true.
 * Context: process; may sleep; mr_lock held.
 */
int ang_domain_grow(struct ang_domain *dom, u32 slots)
{
	struct ang_mem mem = {};
	int ret;

	lockdep_assert_held(&dom->mr_lock);

	if (dom->spare.count)
		return -EIO;
	if (slots <= dom->slots)
		return 0;
	slots = roundup_pow_of_two(slots);
	ret = ang_table_alloc(dom, &mem, slots);
	if (ret)
		return ret;
	table_copy(&mem, &dom->mem);
	ret = ang_table_post(dom, ANGARA_ADM_DOMAIN_TABLE, &mem, slots);
	if (ang_adm_undecided(ret)) {
		dom->spare = mem;
		return ret;
	}
	if (ret) {
		ang_table_free(dom, &mem);
		return ret;
	}
	ang_table_free(dom, &dom->mem);
	dom->mem = mem;
	dom->slots = slots;
	return 0;
}

/**
 * ang_domain_put() - give back a reference
 * @dom: domain; freed with the last reference
 */
void ang_domain_put(struct ang_domain *dom)
{
	if (refcount_dec_and_test(&dom->refs))
		kfree_rcu(dom, rcu);
}
