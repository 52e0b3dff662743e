// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of endpoints.  Endpoints have no connections. */
#include "coll.h"

/*
 * Gets the address of an endpoint.  A context has the address of its endpoint.
 */
static int cm_getname(fid_t fid, void *addr, size_t *addrlen)
{
	const struct afi_ep *ep = afi_of(fid, struct afi_handle, fid.fid)->ep;

	return afi_name_give(ep->sep ? &ep->sep->name : &ep->name, addr, addrlen);
}

/* The adapter determines the name, so the program cannot set it. */
AFI_NO_CALL(int, no_setname, fid_t fid, void *addr, size_t addrlen)
AFI_NO_CALL(int, no_getpeer, struct fid_ep *ep, void *addr, size_t *addrlen)
AFI_NO_CALL(int, no_connect, struct fid_ep *ep, const void *addr,
	    const void *param, size_t paramlen)
AFI_NO_CALL(int, no_listen, struct fid_pep *pep)
AFI_NO_CALL(int, no_accept, struct fid_ep *ep, const void *param,
	    size_t paramlen)
AFI_NO_CALL(int, no_reject, struct fid_pep *pep, fid_t handle,
	    const void *param, size_t paramlen)
AFI_NO_CALL(int, no_shutdown, struct fid_ep *ep, uint64_t flags)

struct fi_ops_cm afi_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = no_setname,
	.getname = cm_getname,
	.getpeer = no_getpeer,
	.connect = no_connect,
	.listen = no_listen,
	.accept = no_accept,
	.reject = no_reject,
	.shutdown = no_shutdown,
	.join = afi_join,
};
