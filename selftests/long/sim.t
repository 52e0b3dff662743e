#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Long tests of the simulator: many random scenarios, the throughput of a loaded
# torus compared with its bound, a million nodes, and the speed, in events per
# second.

set -u
. selftests/tap.sh

OUT=${O:-$PWD/build/host}
SIM=$OUT/bin/angara-sim
SCENARIOS=${SCENARIOS:-10000}

# accepted LOAD OPTION...: flits per cycle and node
accepted()
{
	local load=$1

	shift
	"$SIM" traffic --torus 8x8x8 --load "$load" --time 30us --format csv \
		--host-rate 640Gbit/s "$@" | awk -F, 'NR > 1 { print $2 }'
}

# Each node's packets cross 6 of 6 links per node on average (511/512 of the
# mean distance of all pairs); a link carries 2 / 1.7067 flits per cycle.
bounded()
{
	local share=$1 got

	shift
	got=$(accepted 1.5 "$@")
	awk -v got="$got" -v share="$share" 'BEGIN {
		bound = 75 * 2 / 128 * 511 / 512
		print got, "of", bound, "at most, at least", share
		exit !(got <= bound && got >= share * bound)
	}'
}

# At half the bound all of the offered load is accepted.
half()
{
	local got

	got=$(accepted 0.55 "$@")
	echo "accepted $got of 0.55"
	awk -v got="$got" 'BEGIN { exit !(got > 0.53 && got < 0.57) }'
}

million()
{
	/usr/bin/env time -f '%M kB' -o "$TAP_TMP/memory" "$SIM" coll \
		--mode offload --torus 100x100x100 || return
	cat "$TAP_TMP/memory"
	awk '{ exit !($1 < 24 * 1024 * 1024) }' "$TAP_TMP/memory"
}

check 'the simulator builds' make -s -C tools/sim "O=$OUT" all
check "$SCENARIOS random scenarios: all arrives" \
	"$SIM" stress --count "$SCENARIOS"
check 'uniform traffic: adaptive, near the bound' bounded 0.7
check 'uniform traffic: deterministic, under the bound' bounded 0.4 \
	--routing deterministic
check 'uniform traffic: below saturation all is accepted' half
if command -v time >/dev/null; then
	check 'a million nodes in less than 24 GiB' million
else
	skip 'a million nodes in less than 24 GiB' 'no time: install it'
fi
plan
