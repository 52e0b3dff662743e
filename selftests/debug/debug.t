#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kselftests, allocations that fail, races, and modules loaded and
# unloaded a hundred times, on a kernel that watches memory, locks and leaks.

set -u
. selftests/tap.sh
. selftests/debug/gate.sh

check 'the modules build for kernel debug' tools/vm/build modules debug
read -ra programs < <(sed 's/#.*//' selftests/debug/suite.list | tr '\n' ' ')
[ ${#programs[@]} -gt 0 ]
result $? 'selftests/debug/suite.list names programs'
echo "==> kernel debug: ${#programs[@]} programs" >&2
gate debug 3000 100 "${programs[@]}"
plan
