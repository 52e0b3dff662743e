#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Races, on a kernel that watches the driver's and the model's accesses to
# memory, and locks.

set -u
. selftests/tap.sh
. selftests/debug/gate.sh

check 'the modules build for kernel kcsan' tools/vm/build modules kcsan
echo "==> kernel kcsan: races" >&2
LOADS=5 gate kcsan 1500 race races p2p msg flow tree members poll kill netlink reload
plan
