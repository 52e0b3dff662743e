#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Races, on a kernel that checks locks and the memory accesses of driver and
# model.

set -u
. selftests/tap.sh
. selftests/debug/gate.sh

check 'the modules build for kernel kcsan' tools/vm/build modules kcsan
echo "==> kernel kcsan: races" >&2
LOADS=5 gate kcsan 1500 race races p2p msg flow tree members poll kill survivors netlink reload
plan
