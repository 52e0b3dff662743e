#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Long tests of the simulator: many random scenarios, the throughput of a loaded
# torus compared with its bound, and a million nodes.

set -u
. selftests/tap.sh
. selftests/sim.sh

SCENARIOS=${SCENARIOS:-10000}

# accepted LOAD OPTION...: prints accepted flits per cycle and node
accepted()
{
	local load=$1

	shift
	"$SIM" traffic --torus 8x8x8 --load "$load" --time 30us --format csv \
		--host-rate 640Gbit/s "$@" | awk -F, 'NR > 1 { print $2 }'
}

# In the torus of 8x8x8 a packet crosses 6 * 512 / 511 links on average, and
# each node has 6 links. A link of 75 Gbit/s carries 75 * 2 / 128 flits of 128
# bits per cycle of 2 ns.
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

# million OP PACKETS US: each of 10^6 nodes but the root sends a packet up, down, or
# both ways, by the shortest tree; memory per node is bounded.
million()
{
	/usr/bin/env time -f '%M' -o "$TAP_TMP/memory" "$SIM" coll --op "$1" \
		--mode offload --torus 100x100x100 --format csv >"$TAP_TMP/million" ||
		return
	cat "$TAP_TMP/million" "$TAP_TMP/memory"
	awk -F, -v packets="$2" -v us="$3" 'NR == 2 {
		n++
		bad = $6 != us || $7 != packets
	} END { exit bad || n != 1 }' "$TAP_TMP/million" &&
		awk '{ exit !($1 * 1024 / 1000000 < 5000) }' "$TAP_TMP/memory"
}

# The document has the times of SpMV's allgather if the torus's longest dimension is the first, and
# the gain that follows from them and from the computing time of 1250 rows at 591 MFlop/s.
shape_documented()
{
	diff <("$SIM" gather --algo trees,doubling --torus 8x4x4x4 --bytes 10000 --format csv |
			awk -F, '$3 == "trees" { trees = $5 }
				$3 == "doubling" { doubling = $5 }
				END {
					ts = 1250 * 10 * 2 / 591
					printf("%.0f %.0f %.0f\n", doubling, trees,
					       100 * ((ts + doubling) / (ts + trees) - 1))
				}') \
		<(tr -s '\n ' ' ' <Documentation/published.rst | sed -E 's/.*on 8x4x4x4 .* takes '`
			`'([0-9]+) us by messages and ([0-9]+) us in the network, so the gain is '`
			`'(-?[0-9]+) % instead.*/\1 \2 \3/'; echo)
}

sim_builds tools/sim
check "$SCENARIOS random scenarios: all arrives" \
	"$SIM" stress --count "$SCENARIOS"
check 'uniform traffic: adaptive, near the bound' bounded 0.7
check 'uniform traffic: deterministic, under the bound' bounded 0.4 \
	--routing deterministic
check 'uniform traffic: below saturation all is accepted' half
check 'SpMV on 512 nodes: the longest dimension first' shape_documented
if command -v time >/dev/null; then
	# In ns: 300 + 20 + 150 * 84 + 37 + 300; the tree is 150 hops deep, and a
	# hop takes 84 ns.
	check 'a broadcast on a million nodes' million bcast 999999 13.257
	check 'an allreduce on a million nodes' million allreduce 1999998 36.137
else
	skip 'a million nodes' 'no time: install it'
fi
plan
