#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The applications, see selftests/kselftest/apps.sh, on trees that pass through nodes
# without processes; selftests/guest/kselftest.t runs them on a torus that they
# fill, and selftests/host/embed.t on embedded fabrics.

set -u
. selftests/tap.sh

# guest NAME OPTION...: nests the results of the guest below one result of this
# test.
guest()
{
	local name=$1 status=0

	shift
	echo "==> the applications on $name" >&2
	tools/vm/run --kernel 6.12 --timeout 900 --env PROGRAM_TIMEOUT=800 \
		"$@" -- selftests/in-guest /angara/selftests/kselftest apps.sh \
		>"$TAP_TMP/out" 2>"$TAP_TMP/why" || status=$?
	grep -v '^\(not \)\{0,1\}ok ' "$TAP_TMP/out"
	grep -q '^ok ' "$TAP_TMP/out" || status=1
	result "$status" "the applications on $name"
}

check 'the applications build' tools/vm/build user
guest 5x1x3x2 --loop 5x1x3x2
plan
