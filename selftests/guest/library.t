#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# libangara and angara-run on the adapters of guests; the steps in each guest
# are in selftests/library/in-guest.

set -u
. selftests/tap.sh

OUT=build/guest-user
PROGRAM=$OUT/tests/libangara-test

# guest NAME OPTION...: runs a guest; nests its results below one result of this
# test.
guest()
{
	local name=$1 status=0

	shift
	echo "==> the library on $name" >&2
	tools/vm/run --timeout 3000 --env "LONG=${LONG:-}" "$@" -- \
		selftests/library/in-guest "/angara/$PROGRAM" \
		>"$TAP_TMP/out" 2>"$TAP_TMP/why" || status=$?
	sed 's/^/    /' "$TAP_TMP/out"
	result "$status" "the library on $name"
}

check 'library, launcher and test build' tools/vm/build user
guest '2x2x2, kernel 6.12' --kernel 6.12 --loop 2x2x2
plan
