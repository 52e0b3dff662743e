// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libfabric's calls on address vectors. */
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "service.h"

static struct afi_av *av_of(struct fid_av *fid)
{
	return afi_of(fid, struct afi_av, fid);
}

/*
 * Reports an event of an insertion with FI_EVENT.  @err: error for the address of
 * index @data; 0: the insertion has ended, with @data addresses
 */
static int av_report(struct afi_av *av, void *context, u64 data, int err)
{
	const struct fi_eq_err_entry failed = {
		.fid = &av->fid.fid,
		.context = context,
		.data = data,
		.err = err,
	};
	const struct fi_eq_entry done = {
		.fid = &av->fid.fid,
		.context = context,
		.data = data,
	};
	size_t len = err ? sizeof(failed) : sizeof(done);
	struct afi_event *ev = malloc(sizeof(*ev) + len);

	if (!ev)
		return -FI_ENOMEM;
	*ev = (struct afi_event){
		.event = FI_AV_COMPLETE,
		.error = err,
		.len = len,
	};
	memcpy(ev->data, err ? (const void *)&failed : &done, len);
	afi_eq_append(av->eq, ev);
	return 0;
}

static int av_insert_all(struct afi_av *av, const char *from, size_t count,
			 fi_addr_t *fi_addr, u64 flags, void *context)
{
	int *errs = flags & FI_SYNC_ERR ? context : NULL;
	int done = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		struct afi_name name;
		fi_addr_t got;
		int ret;

		memcpy(&name, from + i * sizeof(name), sizeof(name));
		ret = afi_av_add(av, &name, &got);
		if (fi_addr)
			fi_addr[i] = got;
		if (errs)
			errs[i] = -ret;
		if (ret && av->events)
			av_report(av, context, i, -ret);
		done += !ret;
	}
	return av->events ? av_report(av, context, (u64)done, 0) : done;
}

/*
 * If an address fails, later addresses are still inserted; FI_SYNC_ERR reports
 * each result.
 */
static int av_insert(struct fid_av *fid, const void *addr, size_t count,
		     fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct afi_av *av = av_of(fid);
	int ret;

	if ((count && !addr) || (flags & ~(FI_MORE | FI_SYNC_ERR)) ||
	    (av->events && (flags & FI_SYNC_ERR)))
		return -FI_EINVAL;
	ret = av->share ? afi_share_begin(av->share) : 0;
	if (ret)
		return ret;
	afi_lock(av->domain);
	if (av->share)
		afi_share_change(av->share);
	ret = av->events && !av->eq ? -FI_ENOEQ :
	      av_insert_all(av, addr, count, fi_addr, flags, context);
	if (av->share)
		afi_share_end(av->share);
	afi_unlock(av->domain);
	return ret;
}

/*
 * Inserts the service of a host or, without @service, the address that @node is, as
 * fi_av_straddr() writes it.
 */
static int av_insertsvc(struct fid_av *fid, const char *node,
			const char *service, fi_addr_t *fi_addr, uint64_t flags,
			void *context)
{
	struct afi_name name;

	if (!node || (service ? afi_service_ask(node, service, &name) :
				afi_name_parse(node, &name)))
		return -FI_EINVAL;
	return av_insert(fid, &name, 1, fi_addr, flags, context);
}

/* Not supported: addresses do not follow from consecutive names of nodes. */
AFI_NO_CALL(int, av_insertsym, struct fid_av *fid, const char *node,
	    size_t nodecnt, const char *service, size_t svccnt,
	    fi_addr_t *fi_addr, uint64_t flags, void *context)

static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count,
		     uint64_t flags)
{
	struct afi_av *av = av_of(fid);
	int ret;
	size_t i;

	if (flags)
		return -FI_EINVAL;
	ret = av->share ? afi_share_begin(av->share) : 0;
	if (ret)
		return ret;
	afi_lock(av->domain);
	/*
	 * The program knows the addresses from the shared table: apply the
	 * changes of other processes first.
	 */
	afi_av_sync(av);
	if (av->share)
		afi_share_change(av->share);
	for (i = 0; i < count; i++) {
		struct afi_peer *peer = afi_av_peer(av, fi_addr[i]);

		if (!peer)
			ret = -FI_EINVAL;
		else if (av->share)
			afi_share_remove(av->share, fi_addr[i]);
		else
			afi_av_drop(av, peer);
	}
	if (av->share)
		afi_share_end(av->share);
	afi_unlock(av->domain);
	return ret;
}

static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr,
		     size_t *addrlen)
{
	struct afi_av *av = av_of(fid);
	size_t room = *addrlen;
	const struct afi_peer *peer;
	int ret = -FI_EINVAL;

	afi_lock(av->domain);
	peer = afi_av_peer(av, fi_addr);
	if (peer) {
		ret = 0;
		*addrlen = sizeof(peer->name);
		memcpy(addr, &peer->name,
		       room < *addrlen ? room : sizeof(peer->name));
	}
	afi_unlock(av->domain);
	return ret;
}

static const char *av_straddr(struct fid_av *fid, const void *addr, char *buf,
			      size_t *len)
{
	struct afi_name name;

	(void)fid;
	memcpy(&name, addr, sizeof(name));
	*len = (size_t)afi_name_print(&name, buf, *len);
	return buf;
}

static struct fi_ops_av av_ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = av_insert,
	.insertsvc = av_insertsvc,
	.insertsym = av_insertsym,
	.remove = av_remove,
	.lookup = av_lookup,
	.straddr = av_straddr,
	.av_set = afi_av_set_open,
};

static int av_close(struct fid *fid)
{
	struct afi_av *av = afi_of(fid, struct afi_av, fid.fid);

	if (afi_busy(&av->refs))
		return -FI_EBUSY;
	if (av->eq)
		afi_unref(&av->eq->refs);
	afi_share_close(av->share);
	afi_unref(&av->domain->refs);
	free(av->map);
	afi_hash_free(&av->found);
	free(av->peers);
	free(av);
	return 0;
}

static int av_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct afi_av *av = afi_of(fid, struct afi_av, fid.fid);
	struct afi_eq *eq = afi_of(bfid, struct afi_eq, fid.fid);
	int ret = -FI_EINVAL;

	if (bfid->fclass != FI_CLASS_EQ || flags)
		return -FI_EINVAL;
	afi_lock(av->domain);
	if (av->events && !av->eq && eq->fabric == av->domain->fabric) {
		av->eq = eq;
		afi_ref(&eq->refs);
		ret = 0;
	}
	afi_unlock(av->domain);
	return ret;
}

static struct fi_ops av_fi_ops =
	AFI_FI_OPS(av_close, av_bind, afi_no_control);

/* Fills map_addr of fi_av(3): the addresses of a shared table, in order. */
static int map_entries(struct afi_av *av)
{
	u32 i;

	av->map = calloc(av->size, sizeof(*av->map));
	if (!av->map)
		return -FI_ENOMEM;
	for (i = 0; i < av->size; i++)
		av->map[i] = i;
	return 0;
}

int afi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		struct fid_av **out, void *context)
{
	struct afi_av *av;
	int ret = 0;

	if (attr && (attr->type > FI_AV_TABLE || attr->count > AFI_AV_MAX ||
		     attr->rx_ctx_bits < 0 ||
		     attr->rx_ctx_bits > AFI_RX_CTX_BITS ||
		     (attr->flags & ~(FI_EVENT | FI_READ)) ||
		     ((attr->flags & FI_READ) && !attr->name)))
		return -FI_EINVAL;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	if (attr && attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	av->domain = afi_domain_of(domain);
	av->events = attr && (attr->flags & FI_EVENT);
	av->ctx_bits = attr ? (u32)attr->rx_ctx_bits : 0;
	if (attr && attr->name)
		ret = afi_share_open(attr->name, attr->flags & FI_READ,
				     attr->count ? attr->count : AFI_SHARE_SIZE,
				     av->domain->about.fabric_id, &av->share);
	/*
	 * Grow to the full size now: later entries of other processes must not
	 * move the table while an address is in use.
	 */
	while (!ret && av->share && av->size < afi_share_size(av->share))
		ret = afi_av_grow(av);
	if (!ret && av->share)
		ret = map_entries(av);
	if (ret) {
		afi_share_close(av->share);
		free(av->peers);
		free(av);
		return ret;
	}
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &av_fi_ops;
	av->fid.ops = &av_ops;
	if (attr && av->share)
		attr->map_addr = av->map;
	afi_ref(&av->domain->refs);
	*out = &av->fid;
	return 0;
}
