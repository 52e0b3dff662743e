// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fi_getinfo(): a request for unsupported features gets nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "fi.h"
#include "limits.h"

static int ask(uint32_t version, const char *node, uint64_t flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	*info = NULL;
	return fi_getinfo(version, node, NULL, flags, hints, info);
}

/* A domain's entry has all capabilities, without libfabric's layers. */
static bool plain(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, "angara"), *info;
	bool ok = expect(ask(API, NULL, 0, hints, &info), 0) &&
		  expect(info->next == NULL, true) &&
		  expect(strcmp(info->fabric_attr->prov_name, "angara"), 0) &&
		  expect(info->ep_attr->type, FI_EP_RDM) &&
		  expect((info->caps & FI_RMA) != 0, true) &&
		  expect((long long)info->mode, 0) &&
		  expect(info->domain_attr->resource_mgmt, FI_RM_ENABLED) &&
		  expect(info->domain_attr->av_type, FI_AV_UNSPEC) &&
		  expect(info->tx_attr->inject_size >= 64, true);

	fi_freeinfo(info);
	fi_freeinfo(hints);
	return ok;
}

static void ep_msg(struct fi_info *h) { h->ep_attr->type = FI_EP_MSG; }
static void ep_dgram(struct fi_info *h) { h->ep_attr->type = FI_EP_DGRAM; }
static void multicast(struct fi_info *h) { h->caps = FI_MULTICAST; }
static void pmem(struct fi_info *h) { h->caps = FI_RMA | FI_RMA_PMEM; }
static void hmem(struct fi_info *h) { h->caps = FI_RMA | FI_HMEM; }
static void big_inject(struct fi_info *h) { h->tx_attr->inject_size = 257; }
static void big_tx(struct fi_info *h) { h->tx_attr->size = 257; }
static void big_iov(struct fi_info *h) { h->tx_attr->iov_limit = 5; }
static void order(struct fi_info *h) { h->tx_attr->msg_order = FI_ORDER_SAW; }
static void comp(struct fi_info *h) { h->tx_attr->comp_order = 0x1FF; }
static void rx_order(struct fi_info *h) { h->rx_attr->msg_order = FI_ORDER_WAS; }
static void unordered(struct fi_info *h) { h->ep_attr->max_order_raw_size = 1; }
static void big_msg(struct fi_info *h) { h->ep_attr->max_msg_size = 2UL << 30; }
static void many_tx(struct fi_info *h) { h->ep_attr->tx_ctx_cnt = 17; }
static void many_rx(struct fi_info *h) { h->ep_attr->rx_ctx_cnt = 17; }
static void max_tx(struct fi_info *h) { h->domain_attr->max_ep_tx_ctx = 17; }
static void max_rx(struct fi_info *h) { h->domain_attr->max_ep_rx_ctx = 17; }
static void commit(struct fi_info *h) { h->tx_attr->op_flags = FI_COMMIT_COMPLETE; }
static void many_mrs(struct fi_info *h) { h->domain_attr->mr_cnt = 5000; }
static void big_data(struct fi_info *h) { h->domain_attr->cq_data_size = 16; }
static void format(struct fi_info *h) { h->addr_format = FI_SOCKADDR_IN; }

static void shares(struct fi_info *h)
{
	h->domain_attr->max_ep_stx_ctx = AFI_EPS + 1;
}

static void scalable_group(struct fi_info *h)
{
	h->ep_attr->rx_ctx_cnt = 2;
	h->caps |= FI_COLLECTIVE;
}

static void other_domain(struct fi_info *h)
{
	h->domain_attr->name = strdup("eth0");
}

static void no_adapter(struct fi_info *h)
{
	h->domain_attr->name = strdup("angara4999");
}

static void other_fabric(struct fi_info *h)
{
	h->fabric_attr->name = strdup("elsewhere");
}

static bool not_there(void)
{
	static void (*const demands[])(struct fi_info *hints) = {
		ep_msg, ep_dgram, multicast, pmem, hmem, big_inject, big_tx,
		big_iov, order, comp, rx_order, unordered, big_msg, many_tx, many_rx,
		max_tx, max_rx, shares, scalable_group,
		commit, many_mrs, big_data, format, other_domain, no_adapter,
		other_fabric,
	};
	const struct how how = { .caps = FI_RMA };
	struct fi_info *info;
	bool ok = true;
	size_t i;

	for (i = 0; i < sizeof(demands) / sizeof(*demands); i++) {
		struct fi_info *hints = hints_of(&how, NULL);

		demands[i](hints);
		if (!expect(ask(API, NULL, 0, hints, &info), -FI_ENODATA)) {
			expect(-1, (long long)i);
			ok = false;
			fi_freeinfo(info);
		}
		fi_freeinfo(hints);
	}
	return ok;
}

/* The result has the requested capabilities and those they imply. */
static bool granted(void)
{
	const struct how how = { .caps = FI_RMA | FI_WRITE,
				 .progress = FI_PROGRESS_AUTO,
				 .mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED };
	struct fi_info *hints = hints_of(&how, "angara5"), *info;
	bool ok;

	hints->domain_attr->av_type = FI_AV_MAP;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->tx_attr->size = 16;
	ok = expect(ask(API, NULL, 0, hints, &info), 0) &&
	     expect((info->caps & FI_READ) != 0, false) &&
	     expect((info->caps & (FI_LOCAL_COMM | FI_REMOTE_COMM)) != 0, true) &&
	     expect(info->domain_attr->data_progress, FI_PROGRESS_AUTO) &&
	     expect(info->domain_attr->mr_mode, FI_MR_ALLOCATED) &&
	     expect(info->domain_attr->av_type, FI_AV_MAP) &&
	     expect(info->tx_attr->size, 16) &&
	     expect(strcmp(info->domain_attr->name, "angara5"), 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
	return ok;
}

/*
 * An entry has as many contexts as requested; one with several has no groups.
 */
static bool contexts(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL), *info;
	bool ok;

	ok = expect(ask(API, NULL, 0, hints, &info), 0) &&
	     expect((long long)info->ep_attr->tx_ctx_cnt, 1) &&
	     expect((long long)info->ep_attr->rx_ctx_cnt, 1) &&
	     expect((long long)info->domain_attr->max_ep_tx_ctx, 16) &&
	     expect((long long)info->domain_attr->max_ep_rx_ctx, 16) &&
	     expect((info->caps & FI_COLLECTIVE) != 0, true) &&
	     expect((info->caps & FI_NAMED_RX_CTX) != 0, true);
	fi_freeinfo(info);
	hints->ep_attr->tx_ctx_cnt = 16;
	hints->ep_attr->rx_ctx_cnt = 3;
	hints->domain_attr->max_ep_tx_ctx = 16;
	ok = ok && expect(ask(API, NULL, 0, hints, &info), 0) &&
	     expect((long long)info->ep_attr->tx_ctx_cnt, 16) &&
	     expect((long long)info->ep_attr->rx_ctx_cnt, 3) &&
	     expect((info->caps & FI_COLLECTIVE) != 0, false) &&
	     expect((info->tx_attr->caps & FI_COLLECTIVE) != 0, false);
	fi_freeinfo(info);
	hints->caps = FI_MSG | FI_NAMED_RX_CTX;
	ok = ok && expect(ask(API, NULL, 0, hints, &info), 0) &&
	     expect((info->tx_attr->caps & FI_NAMED_RX_CTX) != 0, true) &&
	     expect((info->rx_attr->caps & FI_NAMED_RX_CTX) != 0, false);
	fi_freeinfo(info);
	hints->rx_attr->caps = FI_RECV | FI_COLLECTIVE;
	ok = ok && expect(ask(API, NULL, 0, hints, &info), -FI_ENODATA);
	fi_freeinfo(hints);
	return ok;
}

/*
 * The provider requires only modes that it cannot do without, and promises no more
 * regions than it has.
 */
static bool least_modes(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL), *info;
	bool ok;

	ok = expect(ask(API, NULL, 0, hints, &info), 0) &&
	     expect(info->domain_attr->mr_mode, 0) &&
	     expect((long long)info->domain_attr->mr_cnt, AFI_CHOSEN_REGIONS);
	fi_freeinfo(info);
	hints->domain_attr->mr_mode = BASIC | FI_MR_ENDPOINT | FI_MR_RAW;
	hints->domain_attr->mr_cnt = AFI_CHOSEN_REGIONS;
	ok = ok && expect(ask(API, NULL, 0, hints, &info), 0) &&
	     expect(info->domain_attr->mr_mode, FI_MR_ALLOCATED);
	fi_freeinfo(info);
	hints->domain_attr->mr_cnt++;
	ok = ok && expect(ask(API, NULL, 0, hints, &info), -FI_ENODATA);
	fi_freeinfo(info);
	fi_freeinfo(hints);
	return ok;
}

/* Old programs use the old names of registration modes. */
static bool old_modes(void)
{
	const struct how how = { .mr_mode = OLD_BASIC };
	struct fi_info *hints = hints_of(&how, NULL), *info;
	bool ok;

	ok = expect(ask(FI_VERSION(1, 4), NULL, 0, hints, &info), 0) &&
	     expect(info->domain_attr->mr_mode, OLD_BASIC);
	fi_freeinfo(info);
	hints->domain_attr->mr_mode = OLD_SCALABLE;
	ok = ok && expect(ask(FI_VERSION(1, 4), NULL, 0, hints, &info), 0) &&
	     expect(info->domain_attr->mr_mode, OLD_SCALABLE);
	fi_freeinfo(info);
	hints->domain_attr->mr_mode = BASIC;
	ok = ok && expect(ask(FI_VERSION(1, 4), NULL, 0, hints, &info),
			  -FI_ENODATA);
	fi_freeinfo(hints);
	return ok;
}

static bool ours(const struct fi_info *info)
{
	while (info && strcmp(info->fabric_attr->prov_name, "angara"))
		info = info->next;
	return info;
}

static bool nodes(void)
{
	const struct how how = { 0 };
	struct fi_info *hints = hints_of(&how, NULL), *info;
	struct side s;
	char name[64], text[128];
	size_t len = sizeof(name), size = sizeof(text);
	bool ok;

	open_side(&s, &how, NULL);
	ok = expect(fi_getname(&s.ep->fid, name, &len), 0);
	fi_av_straddr(s.av, name, text, &size);
	ok = ok && expect(ask(API, text, 0, hints, &info), 0) &&
	     expect(info->dest_addrlen, len) &&
	     expect(memcmp(info->dest_addr, name, len), 0);
	fi_freeinfo(info);
	/* A host name without a service gives no address. */
	ok = ok && expect(ask(API, "localhost", 0, hints, &info), 0) &&
	     expect(info->dest_addr == NULL, true);
	fi_freeinfo(info);
	ok = ok && expect(ask(API, "no host", 0, hints, &info), -FI_ENODATA) &&
	     expect(ask(API, text, FI_SOURCE, hints, &info), -FI_ENODATA);
	free(hints->fabric_attr->prov_name);
	hints->fabric_attr->prov_name = NULL;
	ok = ok && expect(ask(API, "localhost", 0, hints, &info), 0) &&
	     expect(ours(info), false);
	fi_freeinfo(info);
	close_side(&s);
	fi_freeinfo(hints);
	return ok;
}

const struct part info_parts[] = {
	{ "getinfo: supported features", plain },
	{ "getinfo: unsupported features", not_there },
	{ "getinfo: granted capabilities", granted },
	{ "getinfo: several contexts", contexts },
	{ "getinfo: the fewest registration modes", least_modes },
	{ "getinfo: old registration modes", old_modes },
	{ "getinfo: nodes", nodes },
	{ 0 },
};
