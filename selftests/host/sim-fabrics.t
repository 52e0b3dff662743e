#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator on fabrics of every kind: times of packets on idle fabrics,
# traffic compared with its bounds, all packets arrive once, and a deadlock is
# found if routes allow it.

set -u
. selftests/tap.sh
. selftests/sim.sh

TOPO=$OUT/bin/angara-topo

# Fabrics of every kind, among them two-level assemblies, more than four dimensions, more than 64
# sources per router, and several modules.
KINDS=('torus:5x3' 'torus:3x2x2x2x2' 'mesh:3x4' 'hypercube:4' 'mkns:8x4,m=2'
	'mkns:4x3x3' 'mkns:4x13,ports=6' 'kns:3x3' 'kns:13x2,ports=6'
	'fattree:4,3,nodes=7' 'fattree:40,2,nodes=50' "file:$TAP_TMP/graph")

# A ring of eight with a chord, and a switch with three nodes.
make_graph()
{
	local i

	echo 'graph example'
	for i in 0 1 2 3 4 5 6 7; do
		echo "node n$i"
	done
	echo 'switch s'
	for i in 0 1 2 3 4 5 6 7; do
		echo "n$i:0 n$(((i + 1) % 8)):1"
	done
	echo 'n0:2 n4:2'
	for i in 1 3 6; do
		echo "n$i:9 s:$i"
	done
}

# Prints pairs of nodes, evenly chosen, with the first and the last.
some_pairs()
{
	local nodes=$1 i

	for ((i = 0; i < 14; i++)); do
		echo "$((i * 7 % nodes)) $(((nodes - 1 + i * 3) % nodes))"
	done | awk '$1 != $2'
}

# A packet takes twice 300 ns, 4 ns into the network, 37 ns through PCIe, and on
# each hop the cable and the next router: 150 ns and 7 cycles for switches here,
# else 80 ns and 2 cycles.
idle()
{
	local fabric=$1 nodes from to want got bad=0

	"$SIM" pairs --fabric "$fabric" --routing deterministic --switch 7 \
		--switch-latency 150ns --format csv >"$TAP_TMP/times" || return
	nodes=$(tail -n +2 "$TAP_TMP/times" | cut -d, -f1 | sort -u | wc -l)
	while read -r from to; do
		want=$("$TOPO" route "$fabric" "$from" "$to" | awk 'NR > 1 {
			here = $2 ~ /^s[0-9]/
			if (NR > 2)
				ns += (here || before ? 150 : 80) + (here ? 14 : 4)
			before = here
			hops = NR - 2
		} END { printf("%d,%.3f", hops, ns + 641) }')
		got=$(sed -n "s/^$from,$to,//p" "$TAP_TMP/times")
		[ "$got" = "$want" ] && continue
		echo "$from to $to: $got, expected $want"
		bad=1
	done < <(some_pairs "$nodes")
	[ "$nodes" -gt 2 ] && return $bad
}

# Simulated times equal those of the plan: to the nanosecond for one packet,
# except for clock edges; within 1 % for long operations over one tree, within
# 10 % over several trees.
expected()
{
	"$SIM" stripe --fabric "$1" --bytes 256,64KiB --trees 1,2,5,16 \
		--format csv | sed 's/"[^"]*"/fabric/' | awk -F, 'NR > 1 {
			most = $4 == 256 ? 0.0001 : $5 == 1 ? 0.01 : 0.1
			if ($7 > (1 + most) * $6 || $7 < (1 - most) * $6)
				bad = 1
			n++
			print
		} END { exit bad || n != 16 }'
}

# gains TORUS BYTES LEAST: allreduces over 16 trees are at least LEAST times as
# fast as over one, as planned; broadcasts, which PCIe limits, are not faster.
gains()
{
	"$SIM" stripe --torus "$1" --bytes "$2" --trees 1,16 --format csv |
		awk -F, -v least="$3" 'NR > 1 {
			if ($5 == 1)
				expected = $7
			else if ($3 == "bcast" ? $8 > 1 : $8 < least ||
				 $8 < 0.9 * expected / $7 || $8 > 1.1 * expected / $7)
				bad = 1
			n++
			print
		} END { exit bad || n != 4 }'
}

# Shortest routes are never slower than deterministic ones.
adaptive_idle()
{
	join -t, -j1 <(pair_times "$1" deterministic) <(pair_times "$1" adaptive) |
		awk -F, '$3 > $2 + 0.001 { print; bad = 1 } END { exit bad || !NR }'
}

pair_times()
{
	"$SIM" pairs --fabric "$1" --routing "$2" --format csv |
		awk -F, 'NR > 1 { print $1 "-" $2 "," $4 }' | sort -t, -k1,1
}

# cells COLUMNS ARGUMENT...: prints columns of the last row; names of fabrics
# may contain commas.
cells()
{
	local columns=$1

	shift
	"$SIM" "$@" --format csv | tail -n 1 | sed 's/"[^"]*"/fabric/' |
		cut -d, -f"$columns"
}

# overloaded FABRIC ROUTING [OPTION]...: prints accepted flits per cycle and
# module under overload, if hosts are no limit.
overloaded()
{
	cells 2 traffic --fabric "$1" --routing "$2" --load 3 \
		--host-rate 640Gbit/s --time 20us "${@:3}"
}

# within VALUE LEAST MOST: is the value in this range?
within()
{
	echo "$1, expected from $2 to $3"
	awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a >= b && a <= c) }'
}

# load FABRIC VALUE: does the most loaded channel have this load by uniform
# traffic, if each module sends one flit? The value is known in closed form.
load()
{
	local got

	got=$(cells 7 capacity --fabric "$1" --pattern uniform)
	within "$got" "$(awk "BEGIN { print $2 - 0.0001 }")" \
		"$(awk "BEGIN { print $2 + 0.0001 }")"
}

# Uniform traffic: accepted traffic is below the bounds of the routes, of all
# channels, and of a channel from the host, but not far below.
bounded()
{
	local fabric=$1 routes distances got bound

	IFS=, read -r routes distances < <(cells 8,9 capacity --fabric "$fabric" \
		--pattern uniform)
	bound=$(awk "BEGIN { b = $routes; print b < 1.1719 ? b : 1.1719 }")
	got=$(overloaded "$fabric" deterministic)
	within "$got" "$(awk "BEGIN { print 0.5 * $bound }")" \
		"$(awk "BEGIN { print 1.01 * $bound }")" || return
	bound=$(awk "BEGIN { b = $distances; print b < 1.1719 ? b : 1.1719 }")
	got=$(overloaded "$fabric" adaptive)
	within "$got" "$(awk "BEGIN { print 0.4 * $bound }")" \
		"$(awk "BEGIN { print 1.01 * $bound }")"
}

# One switch with input queues: the head of a queue blocks the packets behind
# it.  Karol, Hluchyj and Morgan (1987): 0.6013 of the links' rate with 16
# inputs, 0.5858 with very many.
head_of_line()
{
	local nodes=$1 least=$2 most=$3

	within "$(overloaded "fattree:$((2 * nodes)),1" deterministic \
		--time 100us)" "$(awk "BEGIN { print $least * 75 / 64 }")" \
		"$(awk "BEGIN { print $most * 75 / 64 }")"
}

# According to BookSim 2, with packets of 17 flits, dimension order with a date line, and 64 flits
# per virtual channel, traffic is steady exactly up to this share of the links' rate.
booksim()
{
	within "$(overloaded "$1" deterministic --time 40us)" \
		"$(awk "BEGIN { print 0.9 * $2 * 75 / 64 }")" \
		"$(awk "BEGIN { print 1.1 * $2 * 75 / 64 }")"
}

# Packets of a pattern cross as many cables as the routes to their targets have.
ways()
{
	local fabric=$1 pattern=$2 want got

	want=$(cells 4 capacity --fabric "$fabric" --pattern "$pattern")
	got=$(cells 5 traffic --fabric "$fabric" --pattern "$pattern" --load 0.1 \
		--routing deterministic --time 60us)
	within "$got" "$(awk "BEGIN { print 0.98 * $want }")" \
		"$(awk "BEGIN { print 1.02 * $want }")"
}

# Delays rise with loads; all offered traffic arrives below saturation only.
curve()
{
	"$SIM" curve --fabric "$1" --pattern uniform --step 0.2 --least 0.05 \
		--seeds 2 --time 5us --format csv | sed 's/"[^"]*"/fabric/' |
		awk -F, 'NR > 1 {
			if ($12 == "no" && ($5 < 0.9 * $4 - 0.01 || seen))
				bad = 1
			if ($12 == "no" && $7 < 0.98 * last)
				bad = 1
			seen = $12 == "yes"
			last = $7
			n++
			print
		} END { exit bad || !seen || n < 5 }'
}

# The same seed gives the same curve, another seed a different one.
seeds()
{
	local run=("$SIM" curve --fabric 'mkns:8x4,m=2' --load '0.3,0.5' --seeds 2
		--time 5us --format csv)

	diff <("${run[@]}" | sed 's/[0-9.]*,[0-9.]*$//') \
		<("${run[@]}" --threads 1 | sed 's/[0-9.]*,[0-9.]*$//') &&
		! diff -q <("${run[@]}" | sed 's/[0-9.]*,[0-9.]*$//') \
			<("${run[@]}" --seed 9 | sed 's/[0-9.]*,[0-9.]*$//') >/dev/null
}

# Removes the time of the run from the output.
results()
{
	local threads=$1

	shift
	"$@" traffic --fabric mkns:8x4,m=2 --load 0.3,0.9 --time 8us --format csv \
		--threads "$threads" | cut -d, -f1-7
	"$@" coll --op allreduce --fabric fattree:4,3 --trees 5 --bytes 8KiB \
		--root 5 --roots spread --format csv --threads "$threads" |
		sed 's/"[^"]*"/fabric/' | cut -d, -f1-8
	"$@" gather --algo doubling --fabric hypercube:4 --format csv \
		--threads "$threads" | cut -d, -f1-8
}

same_bits()
{
	diff "$TAP_TMP/one" <(results "$@")
}

# Replays a trace of reductions on trees and a trace of traffic. The replay of the first
# trace has the same events, at any times. In the replay of the second, packets reach the
# same targets, over as many links in total.
replayed()
{
	local trace=$TAP_TMP/events file

	"$SIM" coll --op allreduce --fabric "$1" --bytes 4KiB --mode offload --trees 3 \
		--roots spread --trace "$trace" &&
		"$SIM" replay --fabric "$1" --file "$trace" --trace "$trace.again" || return
	for file in "$trace" "$trace.again"; do
		sed -E 's/^[0-9]+ //
			/ (REDUCE|RESULT|ALLREDUCE) from/s/ from [0-9]+,/,/
			/ CREDIT from/s/ seq [0-9]+,//' "$file" | sort >"$file.sorted"
	done
	[ "$(wc -l <"$trace.sorted")" -gt 1000 ] &&
		diff "$trace.sorted" "$trace.again.sorted" || return
	"$SIM" traffic --fabric "$1" --load 0.3 --warmup 0us --time 3us \
		--trace "$trace" &&
		"$SIM" replay --fabric "$1" --file "$trace" --trace "$trace.again" || return
	for file in "$trace" "$trace.again"; do
		sed -nE 's/^[0-9]+ (node [0-9]+: EJECT PUT from [0-9]+),.*(seq [0-9]+),.*/\1 \2/p' \
			"$file" | sort >"$file.sorted"
		grep -c ' SEND PUT ' "$file" >>"$file.sorted"
	done
	grep -q ' on ADAPT' "$trace" && [ "$(wc -l <"$trace.sorted")" -gt 200 ] &&
		diff "$trace.sorted" "$trace.again.sorted"
}

# links FILE: prints, sorted, the source, number and count of links of each put of a trace.
# All puts of a node have different numbers in these traces.
links()
{
	awk '/ SEND PUT /{
		match($0, /from [0-9]+,/)
		from = substr($0, RSTART + 5, RLENGTH - 6)
		match($0, /seq [0-9]+,/)
		count[from " " substr($0, RSTART + 4, RLENGTH - 5)]++
	}
	END { for (put in count) print put, count[put] }' "$1" | sort
}

# warned TRACE ARGUMENT...: the replay prints its table, and one line that warns of
# puts that cross more or fewer links than in the trace. The line has the number
# of these puts, both numbers of links, and the difference.
warned()
{
	local want others

	"$SIM" replay "${@:2}" --file "$1" --trace "$1.again" >"$TAP_TMP/table" \
		2>"$TAP_TMP/said" || return
	cat "$TAP_TMP/table" "$TAP_TMP/said"
	[ "$(wc -l <"$TAP_TMP/table")" = 3 ] || return
	others=$(diff <(links "$1") <(links "$1.again") | grep -c '^<')
	want=$(awk -v others="$others" -v old="$(grep -c ' SEND PUT ' "$1")" \
		-v new="$(grep -c ' SEND PUT ' "$1.again")" 'BEGIN {
			printf("%d packets cross more or fewer links than in the trace; ", others)
			printf("all packets: %d links instead of %d ", new, old)
			printf("(%+d, %+.2f %%): ", new - old, 100 * (new - old) / old)
		}')
	echo "expected: $want"
	[ "$others" -gt 0 ] && sed 's/: [^:]*$/: /' "$TAP_TMP/said" |
		diff - <(echo "angara-sim: warning: $want")
}

# On this graph, routes may be longer than shortest paths, so adaptive packets may
# cross another number of links in a replay, which warns of them. With deterministic
# routing, packets cross as many links as in the trace.
longer_routes()
{
	local trace=$TAP_TMP/events

	awk 'BEGIN {
		print "graph chords"
		for (i = 0; i < 16; i++)
			print "node n" i
		for (i = 0; i < 16; i++)
			print "n" i ":0 n" (i + 1) % 16 ":1"
		for (i = 0; i < 16; i += 2) {
			j = (3 * i + 5) % 16
			print "n" i ":" 2 + ports[i]++ " n" j ":" 2 + ports[j]++
		}
	}' >"$TAP_TMP/chords"
	set -- --fabric "file:$TAP_TMP/chords"
	"$SIM" traffic "$@" --load 1 --warmup 0us --time 6us --trace "$trace" &&
		warned "$trace" "$@" && grep -q 'adaptive routes depend on time' "$TAP_TMP/said" ||
		return
	"$SIM" traffic "$@" --load 1 --warmup 0us --time 6us --routing deterministic \
		--trace "$trace" && unwarned "$trace" "$@" --routing deterministic
}

# unwarned TRACE ARGUMENT...: each put of the replay crosses as many links as in the
# trace.
unwarned()
{
	"$SIM" replay "${@:2}" --file "$1" --trace "$1.again" 2>"$TAP_TMP/said" || return
	cat "$TAP_TMP/said"
	[ ! -s "$TAP_TMP/said" ] && [ "$(links "$1" | wc -l)" -gt 100 ] &&
		diff <(links "$1") <(links "$1.again")
}

# rerouted FABRIC CABLE: routes of angara-topo lead all packets around a failed cable, over
# as many cables as angara-topo counts. The replay of a trace needs these routes: without
# them, it warns that packets cross other numbers of links, and names --routes.
rerouted()
{
	local fabric=$1 failed=$2 trace=$TAP_TMP/events routes=$TAP_TMP/around

	"$TOPO" avoid "$fabric" --failed "$failed" --routes >"$routes" &&
		echo "${failed/:/ } down" >"$TAP_TMP/down" || return
	set -- --fabric "$fabric" --routing deterministic
	! "$SIM" pairs "$@" --faults "$TAP_TMP/down" >"$TAP_TMP/said" 2>&1 &&
		grep -q 'cross links that are down' "$TAP_TMP/said" || return
	"$SIM" pairs "$@" --faults "$TAP_TMP/down" --routes "$routes" --format csv |
		awk -F, 'NR > 1 { n++; sum += $3 } END { printf "%.3f\n", sum / n }' >"$TAP_TMP/hops" &&
		"$TOPO" avoid "$fabric" --failed "$failed" | awk 'END { print $NF }' |
		diff - "$TAP_TMP/hops" || return
	"$SIM" traffic "$@" --faults "$TAP_TMP/down" --routes "$routes" --load 0.2 \
		--warmup 0us --time 4us --trace "$trace" &&
		unwarned "$trace" "$@" --routes "$routes" --faults "$TAP_TMP/down" &&
		warned "$trace" "$@" && grep -q -e '--routes gives them' "$TAP_TMP/said"
}

# A pair of nodes without a route is a comment in the list of routes.
unreachable()
{
	"$TOPO" avoid mesh:3 --failed 1:0 --routes >"$TAP_TMP/around" &&
		cat "$TAP_TMP/around" &&
		[ "$(grep -c '^# no route: ' "$TAP_TMP/around")" = 4 ] &&
		! grep -v '^#' "$TAP_TMP/around"
}

# The options --torus and --fabric give the same torus.
same_torus()
{
	diff <("$SIM" coll --op allreduce --torus 4x3x2 --bytes 8KiB --trees 3 \
		--format csv | cut -d, -f1-8) \
		<("$SIM" coll --op allreduce --fabric torus:4x3x2 --bytes 8KiB \
		--trees 3 --format csv | cut -d, -f1-8)
}

# Makes a ring of eight nodes, and a file of shortest routes for it, which deadlock under
# load: around the ring, packets wait for each other.
ring_of_eight()
{
	local i j

	{
		echo 'graph ring'
		for i in 0 1 2 3 4 5 6 7; do
			echo "node n$i"
		done
		for i in 0 1 2 3 4 5 6 7; do
			echo "n$i:0 n$(((i + 1) % 8)):1"
		done
	} >"$TAP_TMP/ring"
	echo '# shortest ways, which wait for each other in a circle' >"$TAP_TMP/routes"
	for i in 0 1 2 3 4 5 6 7; do
		for j in 1 2 3 4 5 6 7; do
			echo "$i $(((i + j) % 8)) $((j > 4))"
		done
	done >>"$TAP_TMP/routes"
}

# flood ARGUMENT...: simulates an overload.
flood()
{
	"$SIM" traffic --fabric "file:$TAP_TMP/ring" --load 2 --buffer 4 \
		--host-rate 640Gbit/s --time 20us "$@"
}

circle()
{
	! flood --routing deterministic --routes "$TAP_TMP/routes" 2>"$TAP_TMP/said" ||
		return 1
	cat "$TAP_TMP/said"
	[ "$(wc -l <"$TAP_TMP/said")" = 1 ] &&
		grep -q 'deadlock: packets wait in a cycle: router .*(8 buffers)$' \
			"$TAP_TMP/said"
}

# A run that is interrupted half way and restored gives the same result.
checkpoint()
{
	local run=("$SIM" coll --op allreduce --fabric 'mkns:4x4,m=2' --bytes 32KiB
		--threads 2 --format csv)

	"${run[@]}" --checkpoint "$TAP_TMP/checkpoint" --stop-at 20us &&
		diff <("${run[@]}" | sed 's/[0-9.]*,[0-9.]*$//') \
			<("${run[@]}" --restore "$TAP_TMP/checkpoint" |
				sed 's/[0-9.]*,[0-9.]*$//')
}

# Each cable of a broadcast's tree carries one packet of 17 flits.
heatmap()
{
	"$SIM" coll --fabric fattree:4,3 --heatmap "$TAP_TMP/heat" &&
		awk -F, 'NR > 1 { flits += $4; packets += $9; used += $4 > 0 }
		END { print NR, flits, packets, used
		      exit flits != used * 17 || packets != used || used < 8 }' \
			"$TAP_TMP/heat"
}

perfetto()
{
	"$SIM" coll --fabric mkns:8x4,m=2 --op allreduce --watch 0,32 \
		--trace "$TAP_TMP/trace.json" &&
		python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
assert {e["pid"] for e in events} == {0, 32}
names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert "to port 7" in names and "to Reducer" in names, names' "$TAP_TMP/trace.json"
}

# The simulator can read the configuration that it prints.
params()
{
	diff <("$SIM" params --fabric mkns:8x4,m=2 | grep -v '^#') \
		<("$SIM" params --config <("$SIM" params --fabric mkns:8x4,m=2) |
		grep -v '^#') &&
		"$SIM" params --fabric mkns:8x4,m=2 | grep -qx 'fabric = mkns:8x4,m=2'
}

make_graph >"$TAP_TMP/graph"
ring_of_eight
sim_builds tools/sim libangara tools/topo
for fabric in "${KINDS[@]}"; do
	check "times on idle ${fabric##*/}" idle "$fabric"
	check "shortest routes on idle ${fabric##*/}" adaptive_idle "$fabric"
	check "random scenarios on ${fabric##*/}: all arrives" "$SIM" stress \
		--count 6 --fabric "$fabric"
	for op in bcast reduce allreduce; do
		check "$op on ${fabric##*/}" "$SIM" coll --op $op --fabric "$fabric" \
			--mode offload --trees 4 --roots spread --bytes 4KiB
	done
done
for fabric in torus:4x4x4 torus:3x2x2x2x2 mesh:7 hypercube:6 mkns:8x4,m=2 \
	mkns:4x13,ports=6 fattree:40,2,nodes=64; do
	check "expected times on $fabric" expected "$fabric"
done
check 'stripes over 16 trees on 512 nodes' gains 8x8x8 64KiB 6
check 'stripes over 16 trees on 8192 nodes' gains 16x16x32 8KiB 1.9
# Loads of channels in closed form. Even ring: the sum of distances, where packets to the opposite
# node go by "+". Hypercube: half of the numbers differ in a digit. MKNS: 48 of 63 modules are in
# another line of eight, and two modules share a cable. Mesh: the middle cable.
check 'channel load of a ring' load torus:8 '10 / 7'
check 'channel load of a hypercube' load hypercube:6 '32 / 63'
check 'channel load of MKNS' load mkns:8x4,m=2 '2 * 48 / 63'
check 'channel load of a mesh' load mesh:4x4 '16 / 15'
check 'channel load of a fat tree' load fattree:40,2,nodes=64 1
for fabric in torus:8x8 mesh:4x4 hypercube:6 mkns:8x4,m=2 kns:4x4 fattree:4,3 \
	fattree:40,2,nodes=64; do
	check "uniform traffic on $fabric: near its bounds" bounded "$fabric"
done
check 'a switch of 16 inputs: heads of line' head_of_line 16 0.585 0.62
check 'a switch of 30 inputs: heads of line' head_of_line 30 0.58 0.605
check 'a torus accepts what BookSim says: 8x8' booksim torus:8x8 0.497
check 'a torus accepts what BookSim says: 4x4x4' booksim torus:4x4x4 0.768
for pattern in uniform transpose neighbor reverse matrix grid alltoall; do
	check "each packet of '$pattern' arrives once" "$SIM" traffic \
		--pattern $pattern --fabric mkns:8x4,m=2 --load 0.4 --time 10us
done
for pattern in uniform neighbor reverse matrix grid alltoall; do
	check "targets of '$pattern'" ways mkns:8x4,m=2 $pattern
done
check 'a curve of MKNS' curve mkns:8x4,m=2
check 'a curve of a fat tree' curve fattree:40,2,nodes=64
check 'seeds' seeds
check 'messages along a tree, without switches' "$SIM" coll --mode p2p \
	--op allreduce --fabric torus:3x2x2x2x2
check 'a torus by either option' same_torus
check 'the routes of the topology have no deadlock' flood --routing deterministic
check 'adaptive routing has no deadlock' flood --routing adaptive
check 'routes in a circle deadlock' circle
results 1 "$SIM" >"$TAP_TMP/one"
check 'the results have all lines' test "$(wc -l <"$TAP_TMP/one")" = 7
for threads in 2 3; do
	check "the same bits by $threads threads" same_bits $threads "$SIM"
done
if [ -x "$SIM-mpi" ] && command -v mpirun >/dev/null; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	check 'the same bits by 3 processes' same_bits 1 mpirun --oversubscribe \
		-n 3 "$SIM-mpi"
else
	skip 'the same bits by several processes' 'no mpicc or no mpirun: install libopenmpi-dev and openmpi-bin'
fi
check 'a checkpoint' checkpoint
check 'load of links' heatmap
check 'trace for Perfetto' perfetto
check 'parameters are what params prints' params
check 'an unknown kind' refused 'kind: unknown' coll --fabric ring:5
check 'too many ports' refused 'more than 61 ports' coll --fabric fattree:64,2
check 'no such file' refused 'No such file' coll --fabric file:/nonexistent
check 'too many participants' refused '18 participants' coll \
	--fabric mkns:8,m=2 --local 9
check 'stripes over too many trees' refused "--trees '17'" stripe --trees 1,17
check 'stripes out of order' refused 'ascending' stripe --trees 4,2
check 'stripes of no length' refused "--bytes 'x'" stripe --bytes x
check 'stripes of an unknown operation' refused "--op 'gather'" stripe --op gather
check 'stripes for no goal' refused "--goal 'x'" stripe --goal x
check 'stripes from no node' refused 'not a node from 0 to 63' stripe --root 64
check 'a block on another fabric' refused 'mkns:8x4' coll --fabric mkns:8x4 \
	--block 2x2
check 'messages along a tree with switches' fails 'no participant' coll \
	--fabric mkns:8x4 --mode p2p
check 'an application of tori' refused 'mkns:8x4' heat2d --fabric mkns:8x4
check 'too many pairs' refused 'select one node with' pairs --fabric mkns:8x10x10x10
check 'capacity of a hot spot' refused 'hotspot' capacity --pattern hotspot
check 'no seeds' refused 'from 1 to 10' curve --seeds 0
check 'an invalid step' refused "--step 'x'" curve --step x
check 'no window' refused 'not a time from 1ps to' curve --time 0ns
check 'no such node' refused 'not a node from 0 to 31' pairs --fabric mkns:8x4 --from 32
echo '0 3 9' >"$TAP_TMP/bad"
check 'a route by a port without a cable' refused ':1: the port has no cable' \
	traffic --fabric "file:$TAP_TMP/ring" --routes "$TAP_TMP/bad"
echo '9 3 0' >"$TAP_TMP/bad"
check 'a route from a missing router' refused ':1: router 9: not from 0 to 7' \
	traffic --fabric "file:$TAP_TMP/ring" --routes "$TAP_TMP/bad"
printf '1 0 0\n2 0 1\n' >"$TAP_TMP/bad"
check 'a route in a circle' refused 'from router 1 to node 0 goes in a cycle' \
	traffic --fabric "file:$TAP_TMP/ring" --routes "$TAP_TMP/bad"
for fabric in fattree:4,3 mkns:4x4,m=2 mesh:4x4 hypercube:4 torus:2x2x2x2x2; do
	check "a trace is injected again: $fabric" replayed $fabric
done
check 'a replay by other numbers of links warns' longer_routes
for failed in 'mesh:4x4 5:0' 'torus:4x4x4 21:2' 'mkns:4x4 5:0' 'hypercube:4 3:1'; do
	read -r fabric cable <<<"$failed"
	check "routes around a cable: $fabric" rerouted "$fabric" "$cable"
done
check 'routes to nodes out of reach' unreachable
check 'routes around nothing' says 'needs --failed' 2 "$TOPO" avoid torus:4 --routes
check 'routes as JSON' says 'prints no JSON' 2 "$TOPO" avoid torus:4 --failed 1 --routes -j
plan
