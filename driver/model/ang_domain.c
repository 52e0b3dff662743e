// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Domains: partition, job and memory regions that contexts share.  The table of
 * regions is in host memory; the driver writes it.
 */
#include "ang_int.h"

/**
 * ang_domain_get() - find a domain
 * @v: view
 * @n: node
 * @dom: number, any value
 *
 * Return: the domain or NULL.
 */
struct ang_dom *ang_domain_get(struct ang_view *v, struct ang_node *n, u32 dom)
{
	struct ang_dom *d;

	if (dom >= v->fab->cfg.ctxs)
		return NULL;
	d = ang_dom(v->fab, n, dom);
	return d->pkey ? d : NULL;
}

static void table_set(struct ang_dom *d, const struct angara_adm_domain *arg)
{
	d->mrt.list = le64_to_cpu(arg->mrt);
	d->mrt.index = 0;
	d->mrs = le32_to_cpu(arg->mrs);
}

/**
 * ang_domain_create() - ANGARA_ADM_DOMAIN_CREATE
 * @v: view
 * @n: node
 * @dom: number
 * @arg: argument of the command
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_domain_create(struct ang_view *v, struct ang_node *n, u32 dom,
		      const struct angara_adm_domain *arg)
{
	struct ang_dom *d;

	if (dom >= v->fab->cfg.ctxs || !arg->pkey ||
	    le32_to_cpu(arg->mrs) > ANGARA_MR_MAX)
		return ANGARA_ADM_ST_PARAM;
	if (ang_domain_get(v, n, dom))
		return ANGARA_ADM_ST_EXISTS;
	d = ang_dom(v->fab, n, dom);
	d->ctxs = 0;
	d->job = le64_to_cpu(arg->job);
	d->pkey = le32_to_cpu(arg->pkey);
	table_set(d, arg);
	return ANGARA_ADM_ST_OK;
}

/**
 * ang_domain_destroy() - ANGARA_ADM_DOMAIN_DESTROY
 * @v: view
 * @n: node
 * @dom: number
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_domain_destroy(struct ang_view *v, struct ang_node *n, u32 dom)
{
	struct ang_dom *d = ang_domain_get(v, n, dom);

	if (!d)
		return ANGARA_ADM_ST_ABSENT;
	if (d->ctxs)
		return ANGARA_ADM_ST_EXISTS;
	d->pkey = 0;
	return ANGARA_ADM_ST_OK;
}

/**
 * ang_domain_table() - ANGARA_ADM_DOMAIN_TABLE
 * @v: view
 * @n: node
 * @dom: number
 * @arg: argument of the command
 *
 * Every train reads the entry of its region again, so the device no longer
 * reads the previous table when this returns.
 *
 * Return: ANGARA_ADM_ST_*.
 */
u32 ang_domain_table(struct ang_view *v, struct ang_node *n, u32 dom,
		     const struct angara_adm_domain *arg)
{
	struct ang_dom *d = ang_domain_get(v, n, dom);

	if (arg->job || arg->pkey || le32_to_cpu(arg->mrs) > ANGARA_MR_MAX)
		return ANGARA_ADM_ST_PARAM;
	if (!d)
		return ANGARA_ADM_ST_ABSENT;
	table_set(d, arg);
	return ANGARA_ADM_ST_OK;
}
