// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fi_getinfo(): the provider's capabilities, and whether they match the hints.
 *
 * There is no entry for hints that cannot be met completely, or for endpoint
 * types other than FI_EP_RDM: otherwise libfabric would add its own layers on
 * top.  A line of the log names the first attribute that cannot be met.
 */
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "op.h"
#include "service.h"

static const struct fi_tx_attr tx_limits = {
	.caps = AFI_TX_CAPS,
	.op_flags = AFI_TX_FLAGS,
	.msg_order = AFI_ORDER,
	.inject_size = AFI_INJECT_SIZE,
	.size = AFI_TX_SIZE,
	.iov_limit = AFI_IOV_LIMIT,
	.rma_iov_limit = AFI_RMA_IOV_LIMIT,
};

static const struct fi_rx_attr rx_limits = {
	.caps = AFI_RX_CAPS,
	.op_flags = AFI_RX_FLAGS,
	.msg_order = AFI_ORDER,
	.size = AFI_RX_SIZE,
	.iov_limit = AFI_IOV_LIMIT,
};

bool afi_tx_ok(const struct fi_tx_attr *tx)
{
	return !tx || (afi_hint_bits("tx_attr->caps", tx->caps, AFI_CAPS, FI_TYPE_CAPS) &&
		       afi_hint_bits("tx_attr->msg_order", tx->msg_order,
				     AFI_ORDER | AFI_ORDER_MEM, FI_TYPE_MSG_ORDER) &&
		       afi_hint_bits("tx_attr->comp_order", tx->comp_order, 0,
				     FI_TYPE_MSG_ORDER) &&
		       afi_hint_bits("tx_attr->op_flags", tx->op_flags,
				     tx_limits.op_flags, FI_TYPE_OP_FLAGS) &&
		       afi_hint_most("tx_attr->inject_size", tx->inject_size,
				     tx_limits.inject_size) &&
		       afi_hint_most("tx_attr->size", tx->size, tx_limits.size) &&
		       afi_hint_most("tx_attr->iov_limit", tx->iov_limit,
				     tx_limits.iov_limit) &&
		       afi_hint_most("tx_attr->rma_iov_limit", tx->rma_iov_limit,
				     tx_limits.rma_iov_limit));
}

static bool rx_ok(const struct fi_rx_attr *rx)
{
	return !rx || (afi_hint_bits("rx_attr->caps", rx->caps, AFI_CAPS, FI_TYPE_CAPS) &&
		       afi_hint_bits("rx_attr->msg_order", rx->msg_order,
				     AFI_ORDER | AFI_ORDER_MEM, FI_TYPE_MSG_ORDER) &&
		       afi_hint_bits("rx_attr->comp_order", rx->comp_order, 0,
				     FI_TYPE_MSG_ORDER) &&
		       afi_hint_bits("rx_attr->op_flags", rx->op_flags,
				     rx_limits.op_flags, FI_TYPE_OP_FLAGS) &&
		       afi_hint_most("rx_attr->total_buffered_recv",
				     rx->total_buffered_recv, 0) &&
		       afi_hint_most("rx_attr->size", rx->size, rx_limits.size) &&
		       afi_hint_most("rx_attr->iov_limit", rx->iov_limit,
				     rx_limits.iov_limit));
}

/* Return: orders of reads, writes and atomic operations in the hints. */
static u64 order_of(const struct fi_info *hints)
{
	u64 order = 0;

	if (hints && hints->tx_attr)
		order |= hints->tx_attr->msg_order;
	if (hints && hints->rx_attr)
		order |= hints->rx_attr->msg_order;
	return order & AFI_ORDER_MEM;
}

/* Sets the sizes up to which orders hold: all sizes for each order in @order. */
static void set_order(struct fi_ep_attr *ep, u64 order)
{
	const u64 raw = FI_ORDER_RAW | FI_ORDER_RMA_RAW | FI_ORDER_ATOMIC_RAW;
	const u64 war = FI_ORDER_WAR | FI_ORDER_RMA_WAR | FI_ORDER_ATOMIC_WAR;
	const u64 waw = FI_ORDER_WAW | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_WAW;

	ep->max_order_raw_size = order & raw ? ANGARA_MAX_OP_BYTES : 0;
	ep->max_order_war_size = order & war ? ANGARA_MAX_OP_BYTES : 0;
	ep->max_order_waw_size = order & waw ? ANGARA_MAX_OP_BYTES : 0;
}

static bool order_ok(const struct fi_info *hints)
{
	const struct fi_ep_attr *ep = hints->ep_attr;
	struct fi_ep_attr given;

	set_order(&given, order_of(hints));
	return !ep || (afi_hint_most("ep_attr->max_order_raw_size",
				     ep->max_order_raw_size,
				     given.max_order_raw_size) &&
		       afi_hint_most("ep_attr->max_order_war_size",
				     ep->max_order_war_size,
				     given.max_order_war_size) &&
		       afi_hint_most("ep_attr->max_order_waw_size",
				     ep->max_order_waw_size,
				     given.max_order_waw_size));
}

static bool ctx_cnt_ok(const char *name, size_t n)
{
	return n == FI_SHARED_CONTEXT || afi_hint_most(name, n, AFI_EP_CTXS);
}

static bool ep_ok(const struct fi_ep_attr *ep)
{
	return !ep || (afi_hint("ep_attr->type", ep->type == FI_EP_UNSPEC ||
				ep->type == FI_EP_RDM, "another type", "FI_EP_RDM") &&
		       afi_hint("ep_attr->protocol", !ep->protocol ||
				ep->protocol == AFI_PROTO, "another protocol",
				"that of the provider") &&
		       afi_hint_most("ep_attr->protocol_version",
				     ep->protocol_version, AFI_PROTO_VERSION) &&
		       afi_hint_most("ep_attr->max_msg_size", ep->max_msg_size,
				     ANGARA_MAX_OP_BYTES) &&
		       afi_hint_most("ep_attr->msg_prefix_size",
				     ep->msg_prefix_size, 0) &&
		       ctx_cnt_ok("ep_attr->tx_ctx_cnt", ep->tx_ctx_cnt) &&
		       ctx_cnt_ok("ep_attr->rx_ctx_cnt", ep->rx_ctx_cnt) &&
		       afi_hint_most("ep_attr->auth_key_size", ep->auth_key_size, 0));
}

/*
 * Return: the minimum of required mode bits.  Memory has to be mapped before it
 * is registered (FI_MR_ALLOCATED), but programs whose hints lack this bit get
 * an entry, too.
 */
static int mr_mode(const struct fi_domain_attr *want, u32 version)
{
	int wanted = want ? want->mr_mode : 0;

	if (wanted == AFI_MR_BASIC || wanted == AFI_MR_SCALABLE)
		return wanted;
	if (FI_VERSION_LT(version, FI_VERSION(1, 5)))
		return AFI_MR_SCALABLE;
	return wanted & FI_MR_ALLOCATED;
}

static size_t mr_cnt(int mode)
{
	return mode == AFI_MR_BASIC ? AFI_VIRT_REGIONS : AFI_CHOSEN_REGIONS;
}

/* Checks the numbers of a domain's objects. */
static bool counts_ok(const struct fi_domain_attr *dom, u32 version)
{
	return afi_hint_most("domain_attr->ep_cnt", dom->ep_cnt, AFI_EPS) &&
	       afi_hint_most("domain_attr->tx_ctx_cnt", dom->tx_ctx_cnt, AFI_EPS) &&
	       afi_hint_most("domain_attr->rx_ctx_cnt", dom->rx_ctx_cnt, AFI_EPS) &&
	       afi_hint_most("domain_attr->max_ep_tx_ctx", dom->max_ep_tx_ctx,
			     AFI_EP_CTXS) &&
	       afi_hint_most("domain_attr->max_ep_rx_ctx", dom->max_ep_rx_ctx,
			     AFI_EP_CTXS) &&
	       afi_hint_most("domain_attr->max_ep_stx_ctx", dom->max_ep_stx_ctx,
			     AFI_EPS) &&
	       afi_hint_most("domain_attr->max_ep_srx_ctx", dom->max_ep_srx_ctx,
			     AFI_EPS) &&
	       afi_hint_most("domain_attr->mr_iov_limit", dom->mr_iov_limit, 1) &&
	       afi_hint_most("domain_attr->mr_cnt", dom->mr_cnt,
			     mr_cnt(mr_mode(dom, version)));
}

static bool domain_ok(const struct fi_domain_attr *dom, u32 version)
{
	const char *device;

	if (!dom)
		return true;
	if (!afi_hint_most("domain_attr->threading", dom->threading,
			   FI_THREAD_ENDPOINT) ||
	    !afi_hint_most("domain_attr->control_progress",
			   (u32)dom->control_progress, AFI_PROGRESS_UNIFIED) ||
	    !afi_hint_most("domain_attr->data_progress", dom->data_progress,
			   FI_PROGRESS_MANUAL) ||
	    !afi_hint_most("domain_attr->av_type", dom->av_type, FI_AV_TABLE) ||
	    !afi_hint_most("domain_attr->auth_key_size", dom->auth_key_size, 0))
		return false;
	/* Before version 1.5, the mode is one of three values; later, a set of bits. */
	if (FI_VERSION_LT(version, FI_VERSION(1, 5)) &&
	    !afi_hint_most("domain_attr->mr_mode", (u32)dom->mr_mode,
			   AFI_MR_SCALABLE))
		return false;
	return afi_hint("domain_attr->name", afi_domain_device(dom->name, &device),
			dom->name, "angara, angara0 and so on") &&
	       afi_hint_bits("domain_attr->caps", dom->caps, AFI_DOMAIN_CAPS,
			     FI_TYPE_CAPS) &&
	       afi_hint_most("domain_attr->mr_key_size", dom->mr_key_size,
			     sizeof(u64)) &&
	       afi_hint_most("domain_attr->cq_data_size", dom->cq_data_size,
			     AFI_CQ_DATA_SIZE) &&
	       counts_ok(dom, version);
}

/* Is there no name, or is it the provider's? */
static bool name_ok(const char *attr, const char *name)
{
	return !name || afi_hint(attr, !strcmp(name, AFI_NAME), name, AFI_NAME);
}

static bool fabric_ok(const struct fi_fabric_attr *fab)
{
	return !fab || (name_ok("fabric_attr->name", fab->name) &&
			name_ok("fabric_attr->prov_name", fab->prov_name));
}

static bool info_several(size_t ctx_cnt)
{
	return ctx_cnt > 1 && ctx_cnt != FI_SHARED_CONTEXT;
}

/* Do the hints request an endpoint with several contexts? */
static bool info_scalable(const struct fi_info *hints)
{
	return hints && hints->ep_attr && (info_several(hints->ep_attr->tx_ctx_cnt) ||
					   info_several(hints->ep_attr->rx_ctx_cnt));
}

/*
 * Refuses groups with several contexts: a member of a group is an endpoint with one
 * context of each kind.
 */
static bool groups_ok(const struct fi_info *hints)
{
	u64 caps = hints->caps;

	if (hints->tx_attr)
		caps |= hints->tx_attr->caps;
	if (hints->rx_attr)
		caps |= hints->rx_attr->caps;
	return afi_hint("caps", !(caps & FI_COLLECTIVE) || !info_scalable(hints),
			"FI_COLLECTIVE with several contexts",
			"with one context of each kind");
}

static bool hints_ok(const struct fi_info *hints, u32 version)
{
	return afi_hint_bits("caps", hints->caps, AFI_CAPS, FI_TYPE_CAPS) &&
	       afi_tx_ok(hints->tx_attr) && rx_ok(hints->rx_attr) &&
	       ep_ok(hints->ep_attr) && order_ok(hints) &&
	       domain_ok(hints->domain_attr, version) && groups_ok(hints) &&
	       fabric_ok(hints->fabric_attr) &&
	       afi_hint("addr_format", hints->addr_format == FI_FORMAT_UNSPEC ||
			hints->addr_format == AFI_ADDR_FORMAT, "another format",
			"that of the provider");
}

/* Does the program, or the user, select this provider by name? */
static bool info_chosen(const struct fi_info *hints)
{
	const char *env = getenv("FI_PROVIDER");

	if (hints && hints->fabric_attr && hints->fabric_attr->prov_name)
		return true;
	return env && env[0] != '^' && strstr(env, AFI_NAME);
}

/*
 * Is the provider offered?  An emulated fabric is offered only to programs that
 * select the provider by name.
 */
static bool info_meant(const struct fi_info *hints)
{
	return afi_hint("fabric_attr->prov_name",
			info_chosen(hints) || angara_fabric_present(),
			"no name, and neither adapters nor ANGARA_FABRIC,", AFI_NAME);
}

/* Adds all specific capabilities that a general one includes. */
static u64 all_of(u64 caps)
{
	const u64 rma = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	const u64 msg = FI_SEND | FI_RECV;

	if ((caps & (FI_RMA | FI_ATOMIC)) && !(caps & rma))
		caps |= rma;
	if ((caps & (FI_MSG | FI_TAGGED)) && !(caps & msg))
		caps |= msg;
	if (!(caps & (FI_LOCAL_COMM | FI_REMOTE_COMM)))
		caps |= FI_LOCAL_COMM | FI_REMOTE_COMM;
	return caps;
}

/*
 * Return: capabilities of an object: @wanted, or all of @may if @wanted is 0.
 */
u64 afi_caps_of(u64 may, u64 wanted)
{
	return wanted ? may & all_of(wanted) : may;
}

/**
 * afi_rx_take() - set the attributes of a receive context
 * @ep: context
 * @may: capabilities that it may have
 * @attr: in: attributes that the program requests; out: granted ones; or NULL
 *
 * Return: 0; -FI_EINVAL.
 */
int afi_rx_take(struct afi_ep *ep, u64 may, struct fi_rx_attr *attr)
{
	ep->caps = afi_caps_of(may, attr ? attr->caps : 0);
	if (!attr)
		return 0;
	if (!rx_ok(attr))
		return -FI_EINVAL;
	ep->own.rx_flags = attr->op_flags;
	attr->caps = ep->caps;
	attr->mode = 0;
	attr->msg_order |= AFI_ORDER;
	attr->size = attr->size ? attr->size : AFI_RX_SIZE;
	attr->iov_limit = AFI_IOV_LIMIT;
	return 0;
}

static u64 caps_of(const struct fi_info *hints)
{
	u64 all = AFI_CAPS & ~AFI_ASKED_CAPS;

	if (hints && hints->caps)
		return all_of(hints->caps);
	return all_of(info_scalable(hints) ? all & ~FI_COLLECTIVE : all);
}

static void fill_domain(struct fi_domain_attr *dom, const struct fi_info *hints,
			u32 version)
{
	const struct fi_domain_attr *want = hints ? hints->domain_attr : NULL;

	dom->threading = FI_THREAD_SAFE;
	dom->control_progress = FI_PROGRESS_AUTO;
	dom->data_progress = want && want->data_progress ? want->data_progress :
							   FI_PROGRESS_MANUAL;
	if (want && want->threading)
		dom->threading = want->threading;
	if (want && want->control_progress)
		dom->control_progress = want->control_progress;
	dom->resource_mgmt = FI_RM_ENABLED;
	/*
	 * Both types of address vectors are possible, unless the hints request
	 * one.
	 */
	dom->av_type = want ? want->av_type : FI_AV_UNSPEC;
	dom->mr_mode = mr_mode(want, version);
	dom->mr_key_size = sizeof(u64);
	dom->cq_data_size = AFI_CQ_DATA_SIZE;
	dom->cq_cnt = AFI_EPS * 4;
	dom->ep_cnt = AFI_EPS;
	dom->tx_ctx_cnt = AFI_EPS;
	dom->rx_ctx_cnt = AFI_EPS;
	dom->max_ep_tx_ctx = AFI_EP_CTXS;
	dom->max_ep_rx_ctx = AFI_EP_CTXS;
	dom->max_ep_stx_ctx = AFI_EPS;
	dom->max_ep_srx_ctx = AFI_EPS;
	dom->cntr_cnt = AFI_EPS * 4;
	dom->mr_iov_limit = 1;
	dom->caps = AFI_DOMAIN_CAPS;
	dom->mr_cnt = mr_cnt(dom->mr_mode);
}

static void fill_ep(struct fi_info *info, const struct fi_info *hints)
{
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->protocol = AFI_PROTO;
	info->ep_attr->protocol_version = AFI_PROTO_VERSION;
	info->ep_attr->max_msg_size = ANGARA_MAX_OP_BYTES;
	info->ep_attr->mem_tag_format = AFI_TAG_FORMAT;
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 1;
	if (hints && hints->ep_attr && hints->ep_attr->tx_ctx_cnt)
		info->ep_attr->tx_ctx_cnt = hints->ep_attr->tx_ctx_cnt;
	if (hints && hints->ep_attr && hints->ep_attr->rx_ctx_cnt)
		info->ep_attr->rx_ctx_cnt = hints->ep_attr->rx_ctx_cnt;
	*info->tx_attr = tx_limits;
	*info->rx_attr = rx_limits;
	info->tx_attr->caps &= info->caps;
	info->rx_attr->caps &= info->caps;
	info->tx_attr->msg_order |= order_of(hints);
	info->rx_attr->msg_order |= order_of(hints);
	set_order(info->ep_attr, order_of(hints));
	info->tx_attr->op_flags = 0;
	info->rx_attr->op_flags = 0;
	if (hints && hints->tx_attr) {
		info->tx_attr->op_flags = hints->tx_attr->op_flags;
		if (hints->tx_attr->size)
			info->tx_attr->size = hints->tx_attr->size;
	}
	if (hints && hints->rx_attr) {
		info->rx_attr->op_flags = hints->rx_attr->op_flags;
		if (hints->rx_attr->size)
			info->rx_attr->size = hints->rx_attr->size;
	}
}

static int copy_addr(const struct afi_name *name, void **addr, size_t *len)
{
	*addr = malloc(sizeof(*name));
	if (!*addr)
		return -FI_ENOMEM;
	memcpy(*addr, name, sizeof(*name));
	*len = sizeof(*name);
	return 0;
}

/*
 * Sets the source address: the service at which endpoints listen, if any.  A
 * source address in the hints is the result of an earlier call, or an address
 * in the program's own format, which is ignored.
 */
static int set_source(struct fi_info *info, const char *node,
		      const char *service, const struct fi_info *hints)
{
	struct afi_name name;
	int ret;

	if (!node && !service && hints && hints->src_addr &&
	    hints->src_addrlen == sizeof(name)) {
		memcpy(&name, hints->src_addr, sizeof(name));
	} else {
		ret = afi_service_source(node, service, &name);
		if (ret)
			return ret;
	}
	return copy_addr(&name, &info->src_addr, &info->src_addrlen);
}

/*
 * Sets the address of the peer, from the text of fi_av_straddr() or the service
 * of a host.  If the program does not name a provider, the server may belong to
 * another provider, so it is not queried.  A host without a service may have
 * many endpoints, so it determines no address.
 */
static int set_dest(struct fi_info *info, const char *node, const char *service,
		    const struct fi_info *hints)
{
	struct afi_name name;
	int ret = 0;

	if (service)
		ret = node && info_chosen(hints) ?
		      afi_service_ask(node, service, &name) : -FI_ENODATA;
	else if (node && afi_name_parse(node, &name))
		return info_chosen(hints) ? afi_service_host(node) : -FI_ENODATA;
	else if (node)
		ret = 0;
	else if (!hints || !hints->dest_addr)
		return 0;
	else if (hints->dest_addrlen == sizeof(name))
		memcpy(&name, hints->dest_addr, sizeof(name));
	else
		ret = -FI_ENODATA;
	return ret ? ret :
	       copy_addr(&name, &info->dest_addr, &info->dest_addrlen);
}

static int set_addrs(struct fi_info *info, const char *node,
		     const char *service, bool source,
		     const struct fi_info *hints)
{
	const char *host = source ? NULL : node;
	int ret;

	info->addr_format = AFI_ADDR_FORMAT;
	ret = set_source(info, source ? node : NULL, source ? service : NULL,
			 hints);
	return ret ? ret :
	       set_dest(info, host, source ? NULL : service, hints);
}

/* Fills in everything but the adapter. */
static int fill_info(struct fi_info *info, uint32_t version, const char *node,
		     const char *service, uint64_t flags,
		     const struct fi_info *hints)
{
	info->caps = caps_of(hints);
	fill_domain(info->domain_attr, hints, version);
	fill_ep(info, hints);
	info->fabric_attr->name = strdup(AFI_NAME);
	info->fabric_attr->prov_version = afi_provider.version;
	info->fabric_attr->api_version = version;
	return info->fabric_attr->name ?
		       set_addrs(info, node, service, flags & FI_SOURCE, hints) :
		       -FI_ENOMEM;
}

int afi_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints, struct fi_info **out)
{
	struct fi_info *info;
	int ret;

	if (!info_meant(hints) || (hints && !hints_ok(hints, version)))
		return -FI_ENODATA;
	info = afi_info_copy(NULL);
	if (!info)
		return -FI_ENOMEM;
	ret = fill_info(info, version, node, service, flags, hints);
	if (!ret)
		ret = afi_info_adapters(info, hints);
	if (!ret) {
		*out = info;
		return 0;
	}
	afi_info_free(info);
	return ret;
}
