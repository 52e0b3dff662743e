#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The libfabric provider on the adapters of a guest.

set -u
. selftests/tap.sh

OUT=build/guest-user

# Nests the results of the guest below one result of this test.
guest()
{
	local name=$1 status=0

	echo "==> $name" >&2
	tools/vm/run --timeout 1500 --kernel 6.12 --mem 4G --loop 2x2x2 \
		--env "LONG=${LONG:-}" \
		--env "FI_PROVIDER_PATH=/angara/$OUT/lib/libfabric" \
		-- selftests/ofi/in-guest >"$TAP_TMP/out" 2>"$TAP_TMP/why" ||
		status=$?
	sed 's/^/    /' "$TAP_TMP/out"
	{ grep -q '^1\.\.' "$TAP_TMP/out" &&
		! grep -q '^not ok ' "$TAP_TMP/out"; } || status=1
	result "$status" "$name"
}

check 'library and tests build' tools/vm/build user
guest 'the provider on adapters'
plan
