#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator: collectives by the schedules of libangara/algo. Messages and bytes are
# those of the table in algo.h.

set -u
. selftests/tap.sh
. selftests/sim.sh

# Each node receives the bytes of all blocks except its own.
gather()
{
	local algo=$1 torus=$2

	shift 2
	"$SIM" gather --algo "$algo" --torus "$torus" --bytes 2560 --format csv \
		"$@" | awk -F, -v own="$([ "$algo" = trees ] || echo 1)" '
		NR > 1 { print; right = $6 == 10 * $2 * ($2 - own) }
		END { exit !right }'
}

# Packets of an allreduce: each message of the schedule has one.
allreduce()
{
	"$SIM" gather --op allreduce --algo "$1" --torus "$2" --bytes 240 --format csv |
		awk -F, -v want="$3" 'NR == 2 { print $6, "packets"; right = $6 == want }
			END { exit !right }'
}

# scheduled OP ALGORITHM FABRIC MESSAGES BYTES OPTION...: messages and bytes of a
# collective equal those of the table in libangara/algo/algo.h. FABRIC is a torus if it has no kind.
scheduled()
{
	local on=(--torus "$3")

	[[ $3 != *:* ]] || on=(--fabric "$3")
	"$SIM" gather --op "$1" --algo "$2" "${on[@]}" --bytes 240 --packet 64KiB \
		--format csv "${@:6}" | sed 's/"[^"]*"/fabric/' |
		awk -F, -v messages="$4" -v bytes="$5" 'NR == 2 {
			print $6, "messages for", messages, $8, "bytes for", bytes
			right = $6 == messages && $8 == bytes
		} END { exit !right }'
}

# ring_links FABRIC: the messages of a ring cross the links of the routes between neighbours of the
# ring, and each of n nodes sends n - 1 of them.
ring_links()
{
	local want

	want=$("$SIM" pairs --fabric "$1" --format csv | awk -F, 'NR > 1 {
		hops[$1, $2] = $3
		n = $1 >= n ? $1 + 1 : n
	} END {
		for (i = 0; i < n; i++)
			sum += hops[i, (i + 1) % n]
		print sum * (n - 1)
	}')
	"$SIM" gather --algo ring --fabric "$1" --bytes 240 --format csv |
		sed 's/"[^"]*"/fabric/' | awk -F, -v want="$want" 'NR == 2 {
			print $7, "links for", want
			right = $7 == want
		} END { exit !right }'
}

# Each renumbered node sends its block once more.
exchanged()
{
	"$SIM" gather --algo "$1" --torus 4x4 --bytes 240 --packet 64KiB --moved \
		--exchange --format csv | awk -F, 'NR == 2 {
			moved = $6 - 16 * 4
			print moved, "moved,", $8, "bytes"
			right = moved > 0 && moved <= 16 && $8 == (16 * 15 + moved) * 240
		} END { exit !right }'
}

# On 16 nodes doubling combines four times, three times before the last packet.
combines()
{
	local way=("$SIM" gather --op allreduce --algo doubling --torus 4x4 --bytes 240
		--format csv --combine)

	paste -d, <("${way[@]}" 0s) <("${way[@]}" 10us) | awk -F, 'NR == 2 {
			print $15 - $5
			right = $15 - $5 > 29.99 && $15 - $5 < 30.01
		}
		END { exit !right }'
}

sim_builds tools/sim
for torus in 4x4x2 5x3; do
	for algo in trees ring bruck; do
		check "allgather: $algo on $torus" gather $algo $torus
	done
done
check 'allgather: doubling, ranks along the last dimension' \
	gather doubling 2x4x8 --ranks last
# Numbers of messages by the table in libangara/algo/algo.h.
check 'allreduce: doubling' allreduce doubling 4x4x2 $((32 * 5))
check 'allreduce: doubling on 6 nodes' allreduce doubling 3x2 $((4 * 2 + 2 * 2))
check 'allreduce: combining takes time' combines
# Symbols as in algo.h: n = 12 or 16 members, m = 240 bytes.
check 'schedule: barrier' scheduled barrier dissemination 4x3 $((12 * 4)) 0
for op in bcast reduce; do
	check "schedule: $op" scheduled $op binomial 4x3 11 $((11 * 240)) --root 5
	check "schedule: $op around a torus" scheduled $op ring 4x3 $((11 * 4)) \
		$((11 * 240)) --dims torus --cut 60 --root 7
done
check 'schedule: bcast by scatter' scheduled bcast scatter-allgather 4x4 \
	$((15 + 16 * 15 - 8 * 4)) $((15 * 240))
check 'schedule: allreduce around a torus' scheduled allreduce ring 4x3 \
	$((12 * 2 * (3 + 2))) $((2 * 11 * 240)) --dims 4x3
check 'schedule: allreduce, Rabenseifner' scheduled allreduce rabenseifner 4x4 \
	$((2 * 16 * 4)) $((2 * 15 * 240))
for op in gather scatter; do
	check "schedule: $op" scheduled $op linear 4x3 11 $((11 * 240)) --root 11
	check "schedule: $op by a tree" scheduled $op binomial 4x4 15 \
		$((8 * 4 * 240))
done
check 'schedule: alltoall' scheduled alltoall pairwise 4x3 $((12 * 11)) \
	$((12 * 11 * 240))
for algo in pairwise ring; do
	check "schedule: reduce_scatter by $algo" scheduled reduce_scatter $algo 4x3 \
		$((12 * 11)) $((12 * 11 * 240))
done
for op in scan exscan; do
	check "schedule: $op" scheduled $op doubling 4x3 $((11 + 10 + 8 + 4)) \
		$(((11 + 10 + 8 + 4) * 240))
done
for algo in bruck doubling; do
	check "schedule: allgather by $algo" scheduled allgather $algo 4x4 $((16 * 4)) \
		$((16 * 15 * 240))
	name="schedule: allgather by $algo, numbers that suit the torus"
	if "$SIM" gather --algo $algo --torus 4x4 --moved 2>&1 | grep -q 'cannot compute numbers'; then
		skip "$name" 'no METIS; install libmetis-dev'
		continue
	fi
	check "$name, exchanged" exchanged $algo
	check "$name, reordered" scheduled allgather $algo 4x4 $((16 * 4)) \
		$((16 * 15 * 240)) --moved
done
# Fabrics with switches; nodes of a fat tree whose number is no power of two.
for fabric in 'mkns:4x4 16 4' 'mkns:8x4,m=2 32 5' 'fattree:4,3 8 3' 'fattree:4,3,nodes=7 7 3'; do
	# Rounds are the logarithm of the number of nodes, rounded up.
	read -r fabric n rounds <<<"$fabric"
	all=$((n * (n - 1)))
	check "barrier on $fabric" scheduled barrier dissemination "$fabric" $((n * rounds)) 0
	for op in bcast reduce; do
		check "$op on $fabric" scheduled $op binomial "$fabric" $((n - 1)) \
			$(((n - 1) * 240)) --root 3
	done
	for op in gather scatter; do
		check "$op on $fabric" scheduled $op linear "$fabric" $((n - 1)) \
			$(((n - 1) * 240)) --root 5
	done
	check "allgather on $fabric: ring" scheduled allgather ring "$fabric" $all $((all * 240))
	check "allgather on $fabric: bruck" scheduled allgather bruck "$fabric" \
		$((n * rounds)) $((all * 240))
	check "allreduce on $fabric" scheduled allreduce ring "$fabric" $((2 * all)) \
		$((2 * (n - 1) * 240))
	check "alltoall on $fabric" scheduled alltoall pairwise "$fabric" $all $((all * 240))
	check "reduce_scatter on $fabric" scheduled reduce_scatter ring "$fabric" $all \
		$((all * 240))
	for op in scan exscan; do
		sent=$((n * rounds - (1 << rounds) + 1))
		check "$op on $fabric" scheduled $op doubling "$fabric" $sent $((sent * 240))
	done
	check "a ring on $fabric crosses the links of its routes" ring_links "$fabric"
done
check 'allreduce: ring' allreduce ring 5x3 $((2 * 15 * 14))
check 'allreduce: Rabenseifner' allreduce rabenseifner 4x4 $((2 * 16 * 4))
check 'doubling on 6 nodes' refused 'must be a power of two' gather \
	--algo doubling --torus 3x2
check 'trees that reduce' refused "'coll --op' has other collectives" gather \
	--op allreduce --algo trees
check 'no such algorithm' refused "neither trees nor an algorithm" gather --algo x
check 'no scan by ring' refused "--algo 'ring': the library has no scan of this name" gather \
	--op scan --algo ring
check 'dimensions of other nodes' refused 'sizes whose product is 16' gather \
	--op bcast --algo ring --torus 4x4 --dims 3x5
check 'dimensions of a binomial tree' refused 'and --algo ring' gather --op bcast \
	--algo binomial --torus 4x4 --dims 4x4
check 'moved numbers of a ring' refused '--algo doubling or bruck' gather \
	--algo ring --moved
check 'moved numbers on another fabric' refused '--moved: needs a --torus' gather \
	--algo doubling --fabric mkns:8x4 --moved
check 'an exchange of nothing' refused 'only with --moved' gather --exchange
check 'no such root of a gather' refused "--root '16': not a node from 0 to 15" gather --op gather \
	--torus 4x4 --root 16
plan
