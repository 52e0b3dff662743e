#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# OpenSHMEM on the driver's adapters: a loopback, and four cards; the steps in
# each guest are in selftests/shmem/in-guest.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

# guest NAME 'PES [brief]' OPTION...: runs a guest; nests its results below one result
# of this test.
guest()
{
	local name=$1 status=0 arguments

	read -ra arguments <<<"$2"
	shift 2
	echo "==> OpenSHMEM on $name" >&2
	tools/vm/run --kernel 6.12 --timeout 1500 --env "LONG=${LONG:-}" "$@" -- \
		selftests/shmem/in-guest "${arguments[@]}" >"$TAP_TMP/out" 2>"$TAP_TMP/why" ||
		status=$?
	sed 's/^/    /' "$TAP_TMP/out"
	grep -q '^1\.\.' "$TAP_TMP/out" || status=1
	result "$status" "OpenSHMEM on $name"
}

check 'the server builds' variant plain tools/vfio
check 'library, launcher and programs build' tools/vm/build user
guest 'a loopback of 2x2x2' "$(amount 4 8)" --loop 2x2x2
check 'a server of 2x2 starts' server_start "$VARIANTS/plain/bin/angara-vfio" \
	"$TAP_TMP/cards" --fabric torus:2x2
cards=()
for node in 0 1 2 3; do
	cards+=(--card "$TAP_TMP/cards/node$node.sock")
done
guest 'four cards' "$(amount '4 brief' 4)" "${cards[@]}"
plan
