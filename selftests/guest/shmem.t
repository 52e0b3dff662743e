#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# OpenSHMEM on the driver's adapters: a loopback, with LONG=1 also four cards; the steps
# in each guest are in selftests/shmem/in-guest.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

# guest NAME PES OPTION...: runs a guest; nests its results below one result of this
# test.
guest()
{
	local name=$1 pes=$2 status=0

	shift 2
	echo "==> OpenSHMEM on $name" >&2
	tools/vm/run --kernel 6.12 --timeout 1500 --env "LONG=${LONG:-}" "$@" -- \
		selftests/shmem/in-guest "$pes" >"$TAP_TMP/out" 2>"$TAP_TMP/why" ||
		status=$?
	sed 's/^/    /' "$TAP_TMP/out"
	grep -q '^1\.\.' "$TAP_TMP/out" || status=1
	result "$status" "OpenSHMEM on $name"
}

check 'library, launcher and programs build' tools/vm/build user
guest 'a loopback of 2x2x2' "$(amount 4 8)" --loop 2x2x2
if ! long_form; then
	plan
	exit
fi
check 'the server builds' variant plain tools/vfio
check 'a server of 2x2 starts' server_start "$VARIANTS/plain/bin/angara-vfio" \
	"$TAP_TMP/cards" --fabric torus:2x2
cards=()
for node in 0 1 2 3; do
	cards+=(--card "$TAP_TMP/cards/node$node.sock")
done
guest 'four cards' 4 "${cards[@]}"
plan
