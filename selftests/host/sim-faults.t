#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator: links that lose, corrupt and delay packets.

set -u
. selftests/tap.sh
. selftests/sim.sh

sim_builds tools/sim
# Go-back-N on one link, by its closed formula: with T the time of a packet, and
# a loss that costs T and a round trip R, a link carries (1 - p) / (1 + p R / T)
# of its rate; a single packet takes p / (1 - p) (T + R) longer.
# loses SHARE OPTION: does a link lose this share, in packets of 10^9?
loses()
{
	local full alone idle packets

	full=$("$SIM" traffic --torus 8 --pattern neighbor --routing deterministic \
		--load 2 "$2" "$1" --buffer 64 --host-rate 640Gbit/s --time 200us \
		--format csv | awk -F, 'NR > 1 { print $2 }')
	read -r idle _ alone packets < <(for loss in 0 "$1"; do
		"$SIM" traffic --torus 8 --pattern neighbor --routing deterministic \
			--load 0.002 "$2" "$loss" --time 20ms --format csv |
			awk -F, 'NR > 1 { print $3, $6 }'
	done | xargs)
	awk -v p="$1e-9" -v full="$full" -v idle="$idle" -v alone="$alone" \
			-v packets="$packets" 'BEGIN {
		T = 17 * 128 / 75
		R = 2 * 80
		rate = 17 * 2 / T * (1 - p) / (1 + p * R / T)
		wait = p / (1 - p) * (T + R)
		# Three standard deviations of the number of losses.
		share = 3 / sqrt(packets * p)
		print full, "flits per cycle for", rate, "and", alone - idle, "ns for", wait
		exit !(full < 1.02 * rate && full > 0.98 * rate &&
		       alone - idle < (1 + share) * wait && alone - idle > (1 - share) * wait)
	}'
}

for loss in 10000000 50000000 200000000; do
	check "links that lose packets: $loss of 10^9" loses $loss --loss
done
check 'links that corrupt packets' loses 50000000 --corrupt

# Of eight links in a ring one loses and corrupts a fifth of its packets: it
# follows the formula above, the others carry their full rate.
one_faulty()
{
	local healthy one

	printf '# the link of node 3 in direction X+\n3 0 150000000 50000000 0\n' \
		>"$TAP_TMP/faults"
	read -r healthy one < <(for file in /dev/null "$TAP_TMP/faults"; do
		"$SIM" traffic --torus 8 --pattern neighbor --routing deterministic \
			--load 2 --faults "$file" --buffer 64 --host-rate 640Gbit/s \
			--time 200us --format csv | awk -F, 'NR > 1 { print $2 }'
	done | xargs)
	awk -v healthy="$healthy" -v one="$one" 'BEGIN {
		want = healthy * (7 + 0.8 / (1 + 0.2 * 160 / (17 * 128 / 75))) / 8
		print one, "flits per cycle for", want
		exit !(one < 1.005 * want && one > 0.995 * want)
	}'
}

# A delay of 100 cycles adds 200 ns in its direction, and nothing in the other.
delayed()
{
	local way

	echo '0 0 0 0 100' >"$TAP_TMP/delay"
	for way in '0 1 200' '1 0 0'; do
		read -r from to more <<<"$way"
		paste -d, <("$SIM" pairs --torus 8 --from "$from" --to "$to" --format csv) \
			<("$SIM" pairs --torus 8 --from "$from" --to "$to" --format csv \
				--faults "$TAP_TMP/delay") |
			awk -F, -v more="$more" 'NR == 1 {
				for (i = 1; $i !~ /ns/; i++)
					;
				next
			}
			{
				print $i, $(i + NF / 2)
				n++
				bad = $(i + NF / 2) - $i != more
			} END { exit bad || n != 1 }' || return
	done
}

check 'one link loses and corrupts packets' one_faulty
check 'one link delays packets' delayed
for line in '0 0 1 2' '0 0 1 2 -3' '0 0 1 2 4294967296' '0 0 1 2 3 4' '0 0 1 2 3x' '0 0 # 1 2 3'; do
	echo "$line" >"$TAP_TMP/bad.faults"
	check "faults: a line '$line'" fails ':1: must be a router, a port' coll \
		--faults "$TAP_TMP/bad.faults"
done
printf '0 6 1 2 3\n' >"$TAP_TMP/bad.faults"
check 'faults: no such link' fails ':1: the port is joined to nothing' coll \
	--faults "$TAP_TMP/bad.faults"
check 'faults: too many' refused 'more than half' coll --loss 400000000 \
	--corrupt 200000000
check 'links that lose packets: all arrives' "$SIM" stress --count 20 --loss 100000000
plan
