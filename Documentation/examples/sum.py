#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""angara-run -n 4 ./sum.py: the sum of the ranks, computed in the network."""

import ctypes
import os

lib = ctypes.CDLL("libangara.so.1")
lib.angara_mr_addr.restype = ctypes.c_void_p

INT64, SUM, FOREVER = 2, 0, -1  # ANGARA_TYPE_INT64, ANGARA_RED_SUM, ANGARA_FOREVER


def check(ret):
    if ret:
        raise OSError(-ret, os.strerror(-ret))


def made(make, *args):
    """Returns the object that a library function stores in its last argument."""
    out = ctypes.c_void_p()
    check(make(*args, ctypes.byref(out)))
    return out


job = made(lib.angara_job_init)
dom = made(lib.angara_domain_open, None, None)
ctx = made(lib.angara_ctx_open, dom, None)
team = made(lib.angara_team_create, job, ctx, None, 0, None)
mr = made(lib.angara_malloc, dom, ctypes.c_size_t(8))
value = ctypes.c_int64.from_address(lib.angara_mr_addr(mr))
offset = ctypes.c_uint64(0)

value.value = lib.angara_job_rank(job)
check(lib.angara_allreduce_nbi(team, mr, offset, mr, offset, ctypes.c_size_t(1),
                               INT64, SUM, None))
check(lib.angara_quiet(ctx, FOREVER))
print(f"rank {lib.angara_job_rank(job)}: {value.value}")

check(lib.angara_team_destroy(team))
lib.angara_ctx_close(ctx)
lib.angara_domain_close(dom)
lib.angara_job_finalize(job)
