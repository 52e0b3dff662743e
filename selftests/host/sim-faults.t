#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator: links that lose, corrupt and delay packets and answers, and
# links that are down.

set -u
. selftests/tap.sh
. selftests/sim.sh

TOPO=$OUT/bin/angara-topo

sim_builds tools/sim libangara tools/topo
# Go-back-N on one link, by its closed formula.  T is the time of a packet, R a
# round trip; packets and answers are lost with probability p.  On a full link a
# loss costs T for the lost packet, T for each packet behind it until one packet
# and its answer arrive, 1 / (1 - p)^2 of them, and R.  For each packet that is
# taken, p / (1 - p) packets are lost.  If no packet follows the lost one, each of
# its losses costs T, R and the timeout of 1024 cycles.
# rate LOSS: share of the rate of a full link, LOSS of 10^9
rate()
{
	awk -v p="$1e-9" 'BEGIN {
		T = 17 * 128 / 75
		R = 2 * 80
		print 1 / (1 + p / (1 - p) * (1 + 1 / (1 - p)^2 + R / T))
	}'
}

# loses SHARE OPTION: does a link lose this share, in packets of 10^9?
loses()
{
	local full alone idle packets

	full=$("$SIM" traffic --torus 8 --pattern neighbor --routing deterministic \
		--load 2 "$2" "$1" --buffer 64 --host-rate 640Gbit/s --time 2ms \
		--format csv | awk -F, 'NR > 1 { print $2 }')
	read -r idle _ alone packets < <(for loss in 0 "$1"; do
		"$SIM" traffic --torus 8 --pattern neighbor --routing deterministic \
			--load 0.0005 "$2" "$loss" --time 80ms --format csv |
			awk -F, 'NR > 1 { print $3, $6 }'
	done | xargs)
	awk -v p="$1e-9" -v full="$full" -v idle="$idle" -v alone="$alone" \
			-v packets="$packets" -v share="$(rate "$1")" 'BEGIN {
		T = 17 * 128 / 75
		R = 2 * 80
		rate = 17 * 2 / T * share
		wait = p / (1 - p) * (T + R + 2048)
		# Three standard deviations of the number of losses.
		share = 3 / sqrt(packets * p)
		print full, "flits per cycle for", rate, "and", alone - idle, "ns for", wait
		exit !(full < 1.01 * rate && full > 0.99 * rate &&
		       alone - idle < (1 + share) * wait && alone - idle > (1 - share) * wait)
	}'
}

for loss in 10000000 50000000 200000000; do
	check "links that lose packets: $loss of 10^9" loses $loss --loss
done
check 'links that corrupt packets' loses 50000000 --corrupt

# Of eight links in a ring one loses or corrupts a fifth of its packets: its rate is
# that of rate(), and the other links carry their full rate.
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
	awk -v healthy="$healthy" -v one="$one" -v share="$(rate 200000000)" 'BEGIN {
		want = healthy * (7 + share) / 8
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

# The link between nodes 0 and 1 of a ring of eight is down.  Routes lead around
# it: the ring is the line 1, 2, ... 7, 0.
around()
{
	awk 'BEGIN {
		for (from = 0; from < 8; from++)
			for (to = 0; to < 8; to++)
				if (from != to)
					print from, to, ((from + 7) % 8 > (to + 7) % 8)
	}' >"$TAP_TMP/around"
	"$SIM" traffic --torus 8 --load 0.1 --routing "$1" --faults "$TAP_TMP/down" \
		--routes "$TAP_TMP/around" --heatmap "$TAP_TMP/links" || return
	awk -F, 'NR == 1 {
			for (i = 1; i <= NF; i++)
				at[$i] = i
			next
		}
		{ flits[$at["node"] " " $at["direction"]] = $at["flits"] }
		END {
			print flits["0 X+"], flits["1 X-"], flits["0 X-"]
			exit !(flits["0 X+"] == 0 && flits["1 X-"] == 0 && flits["0 X-"] > 0)
		}' "$TAP_TMP/links"
}

echo '0 0 down # to node 1' >"$TAP_TMP/down"
for pair in '0 1' '1 0' '7 2'; do
	check "a link is down: no way from ${pair% *} to ${pair#* }" fails \
		'1 operations failed: their routes cross links that are down' pairs \
		--torus 8 --from "${pair% *}" --to "${pair#* }" --faults "$TAP_TMP/down"
done
check 'a link is down: others carry packets' "$SIM" pairs --torus 8 --from 1 --to 4 \
	--faults "$TAP_TMP/down"
check 'a link is down: the answer has no way' fails '1 operations failed' replay \
	--torus 4 --faults "$TAP_TMP/down" --file <(printf '%s\n' \
	'1 node 2: INJECT PUT from 2, tree 0, seq 0, 1 x 8 bytes' \
	'2 node 0: EJECT PUT from 2, tree 0, seq 0, 1 x 8 bytes')
# no_tree ARGUMENT...: a command whose tree needs the link fails, and prints no table. Routes around
# the link do not change this.
no_tree()
{
	"$TOPO" avoid torus:8 --failed 0:0 --routes >"$TAP_TMP/avoid" || return
	for with in '' "--routes=$TAP_TMP/avoid"; do
		# shellcheck disable=SC2086 # one option or none
		says 'angara-sim: tree 0 needs port 0 of router 0, whose link is down' 1 \
			"$SIM" "$@" --torus 8 --faults "$TAP_TMP/down" $with || return
	done
}

# angara-topo plans a tree of seven cables around the link, the line 1, 2, ... 7, 0: the routers at
# its ends use only their port to the other cable.
planned()
{
	"$TOPO" tree torus:8 --failed 0:0 >"$TAP_TMP/tree" || return
	cat "$TAP_TMP/tree"
	grep -qE '^ *0  0 +1 +1 +-$' "$TAP_TMP/tree" &&
		grep -qE '^ *0  1 +1 +0 +-$' "$TAP_TMP/tree" &&
		grep -A 1 '^tree  root' "$TAP_TMP/tree" | grep -qE '^ *0  4 +4 +7 '
}

check 'a link is down: no broadcast over it' no_tree coll --op bcast --mode offload
check 'a link is down: no allreduce over it' no_tree coll --op allreduce --mode offload
check 'a link is down: no messages along a tree over it' no_tree coll --mode p2p
check 'a link is down: no stripes over it' no_tree stripe --bytes 4KiB --trees 1,2
check 'a link is down: no allgather over trees over it' no_tree gather --algo trees
check 'a link is down: a tree around it is planned' planned
for routing in deterministic adaptive; do
	check "a link is down: routes around it, $routing" around $routing
done
# A switch of MKNS has no routes to nodes whose packets do not cross the switch. If links are down,
# adaptive packets to these nodes avoid the switch.
around_switch()
{
	"$TOPO" avoid mkns:4x2x2 --failed s0:0 --routes >"$TAP_TMP/avoid" &&
		"$SIM" traffic --fabric mkns:4x2x2 --load 0.1 --time 5us \
			--faults <(echo '16 0 down') --routes "$TAP_TMP/avoid"
}

check 'a link is down: routes around it, adaptive, switches without routes' around_switch
# Links draw their own numbers: of eight packets that each cross one link, some are
# lost and some are not.
apart()
{
	"$SIM" gather --op allgather --algo ring --torus 8 --bytes 16 --loss 300000000 \
		--trace "$TAP_TMP/apart" || return
	awk '/ EJECT / && !seen[$3]++ { print; times += !time[$1]++ }
		END { exit times < 2 }' <(sort -n "$TAP_TMP/apart")
}

check 'links draw their own numbers' apart

# Results are the same to the bit for any number of threads, and after a
# checkpoint.
same()
{
	local run=("$SIM" coll --op allreduce --mode offload --torus 4x3x2 --bytes 32KiB
		--loss 100000000 --corrupt 50000000 --format csv) whole

	whole=$("${run[@]}" --threads 1 | cut -d, -f1-8)
	diff <(echo "$whole") <("${run[@]}" --threads 3 | cut -d, -f1-8) &&
		"${run[@]}" --threads 1 --checkpoint "$TAP_TMP/part" --stop-at 30us &&
		diff <(echo "$whole") <("${run[@]}" --threads 1 \
			--restore "$TAP_TMP/part" | cut -d, -f1-8)
}

check 'the same bits for threads and from a checkpoint' same
check 'one link loses and corrupts packets' one_faulty
check 'one link delays packets' delayed
for line in '0 0 1 2' '0 0 1 2 -3' '0 0 1 2 4294967296' '0 0 1 2 3 4' '0 0 1 2 3x' '0 0 # 1 2 3' \
	'0 0 downs' '0 0 down 1' '0 0 1 down'; do
	echo "$line" >"$TAP_TMP/bad.faults"
	check "faults: a line '$line'" refused ':1: must be a router, a port' coll \
		--faults "$TAP_TMP/bad.faults"
done
printf '0 6 1 2 3\n' >"$TAP_TMP/bad.faults"
check 'faults: no such link' refused ':1: the port has no cable' coll \
	--faults "$TAP_TMP/bad.faults"
check 'faults: too many' refused 'more than half' coll --loss 400000000 \
	--corrupt 200000000
check 'links that lose packets: all arrives' "$SIM" stress --count 20 --loss 100000000
plan
