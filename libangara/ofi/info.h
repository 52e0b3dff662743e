/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities and attributes of the provider. */
#ifndef AFI_INFO_H
#define AFI_INFO_H

#include "afi.h"

#define AFI_NAME		"angara"
#define AFI_PROTO		(AFI_PROV_SPECIFIC | 0x616e67)
#define AFI_PROTO_VERSION	2
#define AFI_ADDR_FORMAT		(AFI_PROV_SPECIFIC | 0x616e67)
#define AFI_CQ_DATA_SIZE	8
#define AFI_TAG_FORMAT		0xAAAAAAAAAAAAAAAAULL /* a tag may have any bits */

#define AFI_TX_CAPS	(FI_MSG | FI_TAGGED | FI_SEND | \
			 FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_FENCE | \
			 FI_COLLECTIVE | FI_TRIGGER | FI_NAMED_RX_CTX)
#define AFI_RX_CAPS	(FI_MSG | FI_TAGGED | FI_RECV | FI_MULTI_RECV | \
			 FI_DIRECTED_RECV | FI_SOURCE | \
			 FI_RMA | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE | \
			 FI_RMA_EVENT | FI_COLLECTIVE | FI_TRIGGER)
#define AFI_DOMAIN_CAPS	(FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SHARED_AV)
#define AFI_CAPS	(AFI_TX_CAPS | AFI_RX_CAPS | AFI_DOMAIN_CAPS)
/* Capabilities with a cost for every operation are granted only on request. */
#define AFI_ASKED_CAPS	FI_RMA_EVENT

#define AFI_TX_FLAGS	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define AFI_RX_FLAGS	(FI_COMPLETION | FI_MULTI_RECV)
#define AFI_ORDER	FI_ORDER_SAS	/* always granted; other orders on request */

/* info.c */
bool afi_tx_ok(const struct fi_tx_attr *tx);
u64 afi_caps_of(u64 may, u64 wanted);
int afi_rx_take(struct afi_ep *ep, u64 may, struct fi_rx_attr *attr);

/* entries.c */
bool afi_domain_device(const char *name, const char **device);
struct fi_info *afi_info_copy(const struct fi_info *info);
void afi_info_free(struct fi_info *info);
int afi_info_adapters(struct fi_info *info, const struct fi_info *hints);

#endif /* AFI_INFO_H */
