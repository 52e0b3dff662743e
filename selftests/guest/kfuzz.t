#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The fuzzer of the driver, itself; what the guest does is in
# selftests/kfuzz/check-in-guest.

set -u
. selftests/tap.sh

status=0
tools/vm/run --timeout 300 --ignore 'BUG: made for a test of kfuzz' -- \
	selftests/kfuzz/check-in-guest >"$TAP_TMP/out" 2>"$TAP_TMP/why" ||
	status=$?
sed 's/^/    /' "$TAP_TMP/out"
! grep -q '^not ok' "$TAP_TMP/out" || status=1
result "$status" 'kfuzz'
plan
