#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kselftests, failing allocations, races, and a hundred loads of the
# modules, on a kernel that checks memory, locks and leaks.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh
. selftests/debug/gate.sh

# Kernel debug runs fewer rounds than the default: kernel kcsan, which is faster, runs all.
ANGARA_TEST_ROUNDS=${ANGARA_TEST_ROUNDS:-30}

check 'the modules build for kernel debug' tools/vm/build modules debug
sed 's/#.*//' selftests/debug/suite.list | grep '[a-z]' >"$TAP_TMP/suite"
check 'selftests/debug/suite.list names programs' [ -s "$TAP_TMP/suite" ]
echo "==> kernel debug: $(wc -w <"$TAP_TMP/suite") programs" >&2
gates debug 3000 <"$TAP_TMP/suite"
plan
