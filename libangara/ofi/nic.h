/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adapters as libfabric describes them. */
#ifndef AFI_NIC_H
#define AFI_NIC_H

#include "afi.h"

struct fid_nic *afi_nic_new(const struct angara_adapter *adapter);

#endif /* AFI_NIC_H */
