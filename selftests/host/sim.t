#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator: times compared with closed formulas and the paper's ratios, the
# same bits for any number of threads and processes, and errors for bad input.

set -u
. selftests/tap.sh
. selftests/sim.sh

# The time of a broadcast by messages, divided by that in the network, is the paper's (section 4.1)
# within 3 percent.
ratios()
{
	"$SIM" coll --op bcast --sizes 2x2x2,16x16x32,8x8x8x16 --format csv |
		awk -F, 'BEGIN { want["2x2x2"] = 2.39; want["16x16x32"] = 6.97
				 want["8x8x8x16"] = 6.18 }
		NR > 1 && $4 == "offload" { t[$1] = $6 }
		NR > 1 && $4 == "p2p" {
			ratio = $6 / t[$1]
			print $1, ratio, "expected", want[$1]
			off = ratio / want[$1] - 1
			if (off > 0.03 || off < -0.03)
				bad = 1
			n++
		}
		END { exit bad || n != 3 }'
}

every_torus()
{
	local x y z list=

	for x in 1 2 3 4; do
		for y in 1 2 3 4; do
			for z in 1 2 3 4; do
				list+=,${x}x${y}x$z
			done
		done
	done
	echo "${list#,}"
}

# Without contention the time to the farthest node is known. By the adapters, it
# is the sum of injection, PEGroup, links and routers, the length of the packet,
# and ejection. By messages, each hop takes injection, a link, the length of the
# packet and ejection, and starts at a clock edge (2 ns). In a ring of three, a
# node sends to one neighbor after the other, so the second waits for the first
# packet. A packet of 17 flits and 24 bytes more takes 37 ns through PCIe.
# formula EJECTION [OPTION]...: compares all times in ns
formula()
{
	"$SIM" coll --op bcast --sizes "$(every_torus)" --format csv \
		--eject "$1ns" "${@:2}" | awk -F, -v out="$1" 'NR > 1 {
			n++
			split($1, k, "x")
			depth = t = 0
			for (d = 1; d <= 3; d++)
				for (i = 0; i < int(k[d] / 2); i++) {
					depth++
					t += (k[d] == 3) * 37 + 300
					t = int((t + 1) / 2) * 2 + 88 + 37 + out
				}
			if ($4 == "offload")
				t = 300 + 20 + depth * 84 + 37 + out
			if ($6 * 1000 - t > 0.5 || $6 * 1000 - t < -0.5) {
				print $1, $4, $6 * 1000, "expected", t
				bad = 1
			}
		}
		END { exit bad || n != 128 }'
}

# The table in the documentation is the program's.
origins()
{
	"$SIM" params --origins --format csv | selftests/origins-rst \
		>"$TAP_TMP/origins" &&
		diff "$TAP_TMP/origins" <(sed -n \
		'/^\.\. list-table::/,/^By default three parameters/p' \
		Documentation/published.rst | head -n -2)
}

# Every parameter has an origin, except those that define the simulated case.
no_origin()
{
	"$SIM" params | sed -nE 's/^# ([a-z-]+) .*\(([^()]*)\)$/\1 \2/p' |
		grep -Ev ' [^ ]*, (given|fitted|chosen|free)$' | cut -d ' ' -f 1 | xargs
}

# Removes the time of the run from the output.
results()
{
	local threads=$1

	shift
	"$@" traffic --torus 5x4x3 --load 0.3,0.9 --time 8us --format csv \
		--routing adaptive --threads "$threads" | cut -d, -f1-7
	"$@" coll --op allreduce --torus 5x3x2 --trees 5 --bytes 8KiB \
		--root 17 --format csv --threads "$threads" | cut -d, -f1-8
	# Timers send credits to the hosts, late compared with other events.
	"$@" coll --op allreduce --torus 4x3x2 --bytes 32KiB --mode offload \
		--format csv --threads "$threads" | cut -d, -f1-8
}

same_bits()
{
	diff "$TAP_TMP/one" <(results "$@")
}

# A data race ends the run with an error.
without_races()
{
	variant tsan libangara tools/sim &&
		same_bits 3 env TSAN_OPTIONS=halt_on_error=1 "$VARIANTS/tsan/bin/angara-sim"
}

sum()
{
	"$SIM" coll --op "$1" --torus 4x3x2 --bytes 16KiB --trees "$2" \
		"${@:3}"
}

# Injects the packets of the model's golden trace again: the same packets cross
# the same links, blocks and hosts.  Clocks, the source of a sum (the first of
# several to arrive), and the number in credit packets are not compared.  The
# last chapter has a fault.
events_of()
{
	sed -nE '/row of node 3/q
		/^#/d
		s/^[0-9]+ //
		/ (REDUCE|RESULT|ALLREDUCE) from/s/ from [0-9]+,/,/
		/ CREDIT from/s/ seq [0-9]+,//
		p' "$1" | sort
}

golden()
{
	local trace=selftests/model/golden.txt

	sed '/row of node 3/,$d' "$trace" >"$TAP_TMP/chapters"
	"$SIM" replay --file "$TAP_TMP/chapters" --torus 2x2x2 --acks yes \
		--routing deterministic --trace "$TAP_TMP/replayed" "$@" || return
	events_of "$trace" >"$TAP_TMP/want"
	[ "$(wc -l <"$TAP_TMP/want")" -gt 400 ] &&
		diff "$TAP_TMP/want" <(events_of "$TAP_TMP/replayed")
}

# A replay of ten times as many records takes about ten times as long; if it
# searched all records for each one, it would take a hundred times as long. Each
# packet arrives at its own target, though two packets of one node have the same
# number. The trace lacks the answers to atomic operations.
# requests TYPE COUNT [NUMBERS]: prints a trace of them; the packets of a node have
# this many numbers in turn (default: each number twice)
requests()
{
	awk -v type="$1" -v n="$2" -v numbers="${3:-$2}" 'BEGIN {
		for (i = 0; i < n; i++) {
			from = i % 4
			to = (from + 1 + int(i / 4) % 2) % 4
			seq = int(i / 8) % numbers
			printf("%d node %d: INJECT %s from %d, tree 0, seq %d, 1 x 64 bytes\n", i, from, type, from, seq)
			printf("%d node %d: EJECT %s from %d, tree 0, seq %d, 1 x 64 bytes\n", i, to, type, from, seq)
		}
	}'
}

seconds_of()
{
	requests "$@" >"$TAP_TMP/requests"
	local TIMEFORMAT=%U

	{ time "$SIM" replay --file "$TAP_TMP/requests" --torus 2x2 --threads 1 \
		--format csv >"$TAP_TMP/replayed"; } 2>&1
}

# long_trace TYPE COUNT [NUMBERS]: as for requests
long_trace()
{
	local type=$1 count=$2 short long

	short=$(seconds_of "$type" "$((count / 10))" "${@:3}")
	long=$(seconds_of "$type" "$count" "${@:3}")
	cat "$TAP_TMP/replayed"
	echo "$short s, ten times as long $long s"
	# Half of the requests go to the next node, one or two links away, the others to the node
	# after it, one link away.
	awk -F, -v n="$count" 'NR > 1 { exit $1 != n || $3 != 1.25 * n || $4 != n }' \
		"$TAP_TMP/replayed" &&
		awk -v a="$short" -v b="$long" 'BEGIN { exit b > 40 * (a + 0.01) }'
}

# Prints requests in both directions: messages, atomic operations with and
# without returned data, and notices of full queues between adapters, which are
# not simulated.
two_sided()
{
	cat <<-'END'
		# cpu header
		1 node 0: INJECT SEND from 0, tree 0, seq 4, 1 x 100 bytes
		9 node 3: EJECT SEND from 0, tree 0, seq 4, 1 x 100 bytes
		9 node 3: INJECT RNR from 3, tree 0, seq 4, 1 x 0 bytes
		12 node 0: EJECT RNR from 3, tree 0, seq 4, 1 x 0 bytes
		20 node 3: INJECT READY from 3, tree 0, seq 0, 1 x 0 bytes
		22 node 0: EJECT READY from 3, tree 0, seq 0, 1 x 0 bytes
		22 node 0: INJECT READY_ACK from 0, tree 0, seq 0, 1 x 1 bytes
		25 node 0: INJECT SEND from 0, tree 0, seq 4, 1 x 100 bytes
		29 node 3: EJECT SEND from 0, tree 0, seq 4, 1 x 100 bytes
		29 node 3: INJECT ACK from 3, tree 0, seq 4, 1 x 100 bytes
		40 node 1: INJECT ATOMIC from 1, tree 0, seq 7, 1 x 8 bytes
		41 node 1: INJECT ATOMIC from 1, tree 0, seq 8, 1 x 16 bytes
		42 node 1: INJECT OPEN from 1, tree 63, seq 8, 1 x 16 bytes
		49 node 2: EJECT ATOMIC from 1, tree 0, seq 7, 1 x 8 bytes
		49 node 2: INJECT ACK from 2, tree 0, seq 7, 1 x 8 bytes
		51 node 2: EJECT ATOMIC from 1, tree 0, seq 8, 1 x 16 bytes
		51 node 2: INJECT DATA from 2, tree 0, seq 8, 1 x 8 bytes
	END
}

# Each request arrives at its target, once per injection, and is answered.
replay_sides()
{
	"$SIM" replay --torus 2x2 --file <(two_sided) --acks yes \
		--trace "$TAP_TMP/sides" "$@" || return
	grep -oE 'node [0-9]: EJECT [A-Z]+ from [0-9], tree 0, seq [0-9], 1 x [0-9]+' \
		"$TAP_TMP/sides" | sort >"$TAP_TMP/sides.ends"
	diff "$TAP_TMP/sides.ends" - <<-'END'
		node 0: EJECT ACK from 3, tree 0, seq 4, 1 x 100
		node 0: EJECT ACK from 3, tree 0, seq 4, 1 x 100
		node 1: EJECT ACK from 2, tree 0, seq 7, 1 x 8
		node 1: EJECT DATA from 2, tree 0, seq 8, 1 x 8
		node 2: EJECT ATOMIC from 1, tree 0, seq 7, 1 x 8
		node 2: EJECT ATOMIC from 1, tree 0, seq 8, 1 x 16
		node 3: EJECT SEND from 0, tree 0, seq 4, 1 x 100
		node 3: EJECT SEND from 0, tree 0, seq 4, 1 x 100
	END
}

# The golden trace's trees, moved to the last of 64 trees, give the same events.
last_trees()
{
	sed -E '/^#/!s/, tree ([0-9]+),/, tree 6\1,/' "$TAP_TMP/chapters" >"$TAP_TMP/last"
	grep -q 'tree 62' "$TAP_TMP/last" &&
		diff <("$SIM" replay --acks yes --torus 2x2x2 --file "$TAP_TMP/last" \
			--format csv) \
		<("$SIM" replay --acks yes --torus 2x2x2 --file "$TAP_TMP/chapters" \
			--format csv)
}

# A checkpoint is valid only for unchanged input files.
other_file()
{
	local run=("$SIM" gather --algo ring --torus 4x4 --bytes 20000 --threads 1
		--routes "$TAP_TMP/ways")

	echo '0 1 0' >"$TAP_TMP/ways"
	"${run[@]}" --checkpoint "$TAP_TMP/of-ways" --stop-at 20us || return
	"${run[@]}" --restore "$TAP_TMP/of-ways" || return
	echo '0 1 2' >"$TAP_TMP/ways"
	says 'made with another command line' 2 "${run[@]}" --restore "$TAP_TMP/of-ways"
}

# Tests the completion of words: commands, their options, and parameters.
completion()
{
	local script=$TAP_TMP/completion

	"$SIM" --bash-completion >"$script" && bash -n "$script" || return
	for word in coll replay --torus --pattern --json 'cut-through store-and-forward'; do
		grep -qF -- "$word" "$script" || {
			echo "no $word"
			return 1
		}
	done
}

same_words()
{
	"$SIM" -V | grep -q '^angara-sim [0-9]' && "$SIM" coll -V >"$TAP_TMP/version" &&
		"$SIM" -h | grep -q '^  coll ' && "$SIM" coll -h | grep -q -- '--trees' &&
		diff <("$SIM" pairs --torus 2 --from 0 -j) \
			<("$SIM" pairs --torus 2 --from 0 --format json)
}

# Replays traffic with both routings from its trace: each packet reaches the
# same target over as many links.
routed()
{
	local routing=$1 file

	shift
	"$SIM" traffic --torus 4x3x2 --load 0.6 --warmup 0us --time 4us \
		--routing "$routing" --trace "$TAP_TMP/routed" "$@" &&
		"$SIM" replay --file "$TAP_TMP/routed" --torus 4x3x2 \
			--routing "$routing" --trace "$TAP_TMP/again" "$@" || return
	for file in routed again; do
		sed -nE 's/^[0-9]+ (node [0-9]+: EJECT PUT from [0-9]+),.*(seq [0-9]+),.*/\1 \2/p' \
			"$TAP_TMP/$file" | sort >"$TAP_TMP/$file.ends"
		grep -c 'SEND PUT' "$TAP_TMP/$file" >>"$TAP_TMP/$file.ends"
	done
	if [ "$routing" = adaptive ]; then
		grep -q ' on ADAPT' "$TAP_TMP/routed" || return
	fi
	[ "$(wc -l <"$TAP_TMP/routed.ends")" -gt 1000 ] &&
		diff "$TAP_TMP/routed.ends" "$TAP_TMP/again.ends"
}

# Prints lines of a tracepoint as in tracefs.
tracefs()
{
	perl -ne 'BEGIN { %vc = (REQ => 0, RSP => 1, UP => 2, DOWN => 3) }
		next unless /^(\d+) node (\d+): (\w+) (\w+) from (\d+), tree (\d+), seq (\d+), (\d+) x (\d+) bytes(?:, port (\d+) on (\w+))?/;
		printf("prog-1 [000] .... 1.5: angara_packet: fabric=0x1 cycle=%d node=%d %s %s port=%d vc=%d tree=%d src=%d seq=%d npkts=%d len=%d status=0\n",
			$1, $2, lc $3, lc $4, $10 // -1, $vc{$11 // "REQ"},
			$6, $5, $7, $8, $9)' "$1"
}

json()
{
	"$SIM" coll --op allreduce --mode offload --torus 3x2 \
		--trace "$TAP_TMP/trace.json" --watch 0,4 &&
		python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
spans = [e for e in events if e["ph"] == "X"]
assert {e["pid"] for e in spans} == {0, 4}
assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans)
assert any(e["name"] == "ALLREDUCE" for e in spans)' "$TAP_TMP/trace.json"
}

# Signals are declared before they change; time never decreases.
vcd()
{
	"$SIM" coll --op allreduce --mode offload --torus 3x2 \
		--trace "$TAP_TMP/trace.vcd" --watch 1 &&
		awk '$1 == "$var" { known[$4] = 1; vars++ }
		/^#/ { if (substr($1, 2) + 0 < t) bad = 1
		       t = substr($1, 2) + 0 }
		/^[01]./ { if (!known[substr($1, 2)]) bad = 1; n++ }
		/^[bs][^ ]+ / { if (!known[$2]) bad = 1; n++ }
		END { print vars, n, t, bad; exit bad || vars < 20 || n < 50 }' \
		"$TAP_TMP/trace.vcd"
}

# Each of the links of a broadcast's tree carries one packet of 17 flits.
heatmap()
{
	"$SIM" coll --mode offload --torus 4x3x2 --heatmap "$TAP_TMP/heat.csv" &&
		awk -F, 'NR > 1 { flits += $8; packets += $13 }
		END { print NR, flits, packets
		      exit NR != 24 * 6 + 1 || flits != 23 * 17 || packets != 23 }' \
		"$TAP_TMP/heat.csv"
}

# gain CELLS NODES: prints the gain of the heat equation
gain()
{
	"$SIM" heat2d --cells "$1" --from "$2" --to "$2" --format csv |
		awk -F, 'NR > 1 { print $9 }'
}

# within VALUE WANTED SHARE: does the value differ by less than this share?
within()
{
	echo "$1, expected $2"
	awk -v a="$1" -v b="$2" -v share="$3" \
		'BEGIN { exit !(a > b * (1 - share) && a < b * (1 + share)) }'
}

# Two nodes have 4000 rows each, whose time is in the table. Four nodes have
# 2000 rows each, whose time is interpolated by a power law.
table()
{
	printf '# rows seconds\n1000 0.001\n4000 0.002\n' >"$TAP_TMP/table"
	"$SIM" spmv --rows 8000 --table "$TAP_TMP/table" --to 4 --format csv |
		awk -F, 'NR == 2 && $3 != 2000.000 { bad = 1 }
		NR == 3 && ($3 < 1413.5 || $3 > 1414.5) { bad = 1 }
		{ print } END { exit bad || NR != 3 }'
}

# column NUMBER ARGUMENT...: prints a column of the last row
column()
{
	"$SIM" "${@:2}" --format csv | tail -n 1 | cut -d, -f"$1"
}

# Applications pass this option on to their collectives: two values give different times by
# messages, each equal to that of the collective alone.
same_choice()
{
	local option=$1 value times=()

	for value in "$2" "$3"; do
		if [ "$option" = ranks ]; then
			times+=("$(column 5 spmv --from 128 --to 128 --dims 3 \
				--rows 128000 --ranks "$value")")
			[ "${times[-1]}" = "$(column 5 gather --torus 4x4x8 \
				--algo doubling --bytes 8000 --ranks "$value")" ]
		else
			times+=("$(column 6 heat2d --from 512 --to 512 \
				--children "$value")")
			[ "${times[-1]}" = "$(column 6 coll --torus 4x4x4x8 \
				--op allreduce --mode p2p --bytes 8 \
				--children "$value")" ]
		fi || return
	done
	echo "${times[*]}"
	[ "${times[0]}" ] && [ "${times[0]}" != "${times[1]}" ]
}

# A run that is interrupted half way and restored gives the same result.
checkpoint()
{
	local run=("$SIM" "$@" --threads 2 --format csv)
	local file=$TAP_TMP/checkpoint

	rm -f "$file"
	"${run[@]}" --checkpoint "$file" --stop-at 40us && [ -s "$file" ] &&
		diff <("${run[@]}" | cut -d, -f1-8) \
		<("${run[@]}" --restore "$file" | cut -d, -f1-8)
}

# A host that sends to its neighbour enters the ring, so it uses 3 of 4 buffers.
# A buffer is free again after 500 + 4 ns for the packet, 37 ns to drain it and
# 500 ns for the credit: 3 x 17 flits per 520.5 cycles.
credits()
{
	within "$("$SIM" traffic --torus 8 --pattern neighbor --buffer 4 \
		--routing deterministic \
		--link-latency 500ns --load 0.5 --time 200us --format csv |
		awk -F, 'NR > 1 { print $2 }')" 0.098 0.03
}

# A broadcast along a row of nodes is in one half of them at a time, so two
# threads are no faster than one; each has half of the events.
balance()
{
	local threads

	for threads in 1 2 4; do
		"$SIM" coll --mode offload --fabric mesh:32 --threads $threads --format csv |
			awk -F, -v threads=$threads 'NR == 2 {
				print threads, $10
				exit !($10 > 0.9 / threads && $10 < 1.15 / threads)
			}' || return
	done
}

# Eight nodes send to one host's PCIe; the longest wait is near the mean.
fair()
{
	"$SIM" traffic --torus 3x3 --pattern hotspot --hot 100 --load 0.14 \
		--time 40us --routing deterministic --format csv | awk -F, 'NR > 1 {
			print "mean", $3, "longest", $4
			exit $4 > 5 * $3
		}'
}

# The table has the median and the spread of the runs of a program that takes 30, 20, 90, 25 and 21
# us in turn for the rows and columns that are asked for; the simulator accepts this table.
measure()
{
	local bin=$TAP_TMP/measured

	mkdir "$bin"
	cat >"$bin/angara-spmv" <<-'END'
		#!/bin/sh
		[ "$3 $4 $5 $6" = '--rows 640 --n 5000' ] || exit
		echo x >>"$0.runs"
		us=$(echo 30 20 90 25 21 | cut -d ' ' -f "$(wc -l <"$0.runs")")
		echo "{\"n\":$6,\"us_multiply\":$us.000,\"mflops\":1}"
	END
	chmod +x "$bin/angara-spmv"
	BIN=$bin tools/sim/measure spmv --columns 5000 640 >"$TAP_TMP/medians" || return
	cat "$TAP_TMP/medians"
	[ "$(tail -n 1 "$TAP_TMP/medians")" = \
		'640 0.000025000 # 0.000020000 to 0.000090000' ] &&
		[ "$("$SIM" spmv --rows 1280 --to 2 --table "$TAP_TMP/medians" \
			--format csv | awk -F, 'NR == 2 { print $3 }')" = 25.000 ]
}

# before_links COPIES: prints how many copies of packets hosts get before the packet has left by all
# links of its tree, in an allgather by broadcasts.
before_links()
{
	"$SIM" gather --algo trees --torus 4x4 --bytes 2000 --copies "$1" \
		--trace "$TAP_TMP/copies" >/dev/null &&
		awk '$5 != "BCAST" { next }
		{
			at = $3 $7 $9	# node, source and tree
			down = $4 == "SEND" && $19 == "DOWN"
		}
		NR == FNR {
			if (down && !seen[at, $17]++)
				ports[at] = ports[at] " " $17
			next
		}
		down { sent[at, $17]++ }
		$4 == "EJECT" {
			got[at]++
			split(ports[at], of, " ")
			for (i in of)
				if (sent[at, of[i]] < got[at]) {
					early++
					break
				}
		}
		END { print early + 0 }' "$TAP_TMP/copies" "$TAP_TMP/copies"
}

# A host's copy of a packet waits for the links with links-first only.
hosts_wait()
{
	local first once

	first=$(before_links links-first)
	once=$(before_links at-once)
	echo "before a link: links first $first, at once $once copies"
	[ "$first" = 0 ] && [ "$once" -gt 0 ]
}

measure_says()
{
	local text=$1

	shift
	! tools/sim/measure "$@" >"$TAP_TMP/said" 2>&1 &&
		[ "$(wc -l <"$TAP_TMP/said")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/said"
}

sim_builds tools/sim
check "the paper's ratios of a broadcast" ratios
check 'times of all tori up to 4x4x4' formula 300
check 'times of all tori up to 4x4x4, hosts far off' formula 10000
for op in bcast reduce allreduce barrier; do
	check "$op: one tree" sum $op 1
	check "$op: 16 trees, 3 participants each, store and forward" \
		sum $op 16 --local 3 --vc store-and-forward
	check "$op: reduced by flit" sum $op 5 --reduce flit
	check "$op: 16 trees, copies at once" sum $op 16 --local 3 --copies at-once
done
check 'times of all tori up to 4x4x4, copies at once' formula 300 --copies at-once
check 'copies at once: hosts do not wait for links' hosts_wait

check 'balance of events, window by window' balance

check 'golden trace: events are those of the functional model' golden
check 'golden trace: with store and forward, by 3 threads' \
	golden --vc store-and-forward --threads 3
tracefs "$TAP_TMP/chapters" >"$TAP_TMP/tracefs"
check 'golden trace: as lines of the tracepoint' diff \
	<("$SIM" replay --acks yes --torus 2x2x2 --gap 0s --file \
	<(grep -v '^#' "$TAP_TMP/chapters")) \
	<("$SIM" replay --acks yes --torus 2x2x2 --gap 0s \
	--file "$TAP_TMP/tracefs")
check 'golden trace: trees up to number 63' last_trees
check 'a trace of messages and atomic operations' replay_sides
check 'a trace of messages and atomic operations, adaptive' replay_sides \
	--routing adaptive --threads 2
check 'trace for Perfetto' json
check 'trace for GTKWave' vcd
check 'load of links' heatmap

check 'buffers hold a flow back by the round trip of credits' credits
check 'no node starves if all send to one' fair
check 'random scenarios: all arrives' "$SIM" stress --count 60
check 'adaptive routing does not deadlock' "$SIM" traffic --torus 8 --load 2 \
	--routing adaptive --buffer 4 --host-rate 640Gbit/s --time 10us
# Compare with the published gains at 32768 nodes, section 4.3.
check 'heat2d: gain with 40960000 cells' within "$(gain 40960000 32768)" 3.0 0.1
check 'heat2d: gain with 81920000 cells' within "$(gain 81920000 32768)" 2.7 0.1
check 'heat2d: gain with 163840000 cells' \
	within "$(gain 163840000 32768)" 2.7 0.1
check 'heat2d: hardly a gain up to 64 nodes' within "$(gain 40960000 64)" 1 0.01
check 'spmv: times from a table' table
check 'spmv: where ranks are' same_choice ranks first last
check 'heat2d: order of messages' same_choice children deepest shallowest
check 'measure: the median and the spread' measure
check 'measure: bad number of runs' env RUNS=0 bash -c \
	'! tools/sim/measure spmv 10 2>&1 | grep -v "not a number from 1 to 99"'
check 'measure: what?' measure_says "'dance': neither spmv nor heat2d" dance
check 'measure: bad number' measure_says "'1k': not a number" spmv 1k
check 'measure: no number of columns' measure_says "'': not a number" spmv --columns
check 'measure: more rows than columns' measure_says '9 rows: more than the 8 columns' \
	spmv --columns 8 8 9
check 'measure: columns of a grid' measure_says "'--columns': not a number" heat2d --columns 8
check 'measure: no program' env BIN=/none bash -c \
	'! tools/sim/measure heat2d 100 2>&1 | grep -v "no /none/angara-heat2d"'
check 'a checkpoint, with timers' checkpoint coll --op allreduce \
	--mode offload --torus 4x3x2 --bytes 32KiB
check 'a checkpoint of messages' checkpoint gather --algo doubling \
	--torus 4x4x2 --bytes 10000

results 1 "$SIM" >"$TAP_TMP/one"
check 'the results have all lines' test "$(wc -l <"$TAP_TMP/one")" = 8
for threads in 2 3 8; do
	check "the same bits by $threads threads" same_bits $threads "$SIM"
done
check 'the same bits by 3 threads, without data races' without_races
if [ -x "$SIM-mpi" ] && command -v mpirun >/dev/null; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	for n in 1 3; do
		check "the same bits by $n processes of 2 threads" \
			same_bits 2 mpirun --oversubscribe -n $n "$SIM-mpi"
	done
	check 'random scenarios by 3 processes: all packets arrive' mpirun \
		--oversubscribe -n 3 "$SIM-mpi" stress --count 10 --threads 2
else
	skip 'the same bits by several processes' 'no mpicc or no mpirun: install libopenmpi-dev and openmpi-bin'
fi

printf 'link-latency = 80ns\n\nclock = fast # MHz\n' >"$TAP_TMP/bad.conf"
printf '1 2\n3 x\n' >"$TAP_TMP/table.bad"
printf 'torus = 2x2x2 # small\nlink-latency=1us\n' >"$TAP_TMP/good.conf"
check 'a configuration file, and the command line over it' \
	grep -q 2x2x2.*offload.*3.669 <("$SIM" coll --inject 600ns \
	--config "$TAP_TMP/good.conf" --eject 0ns)
check 'parameters are what params prints' \
	diff <("$SIM" params --config "$TAP_TMP/good.conf" | grep -v '^#') \
	<("$SIM" params --config <("$SIM" params --config "$TAP_TMP/good.conf") |
	grep -v '^#')
for routing in deterministic adaptive; do
	check "a trace of traffic: $routing" routed $routing
	check "a trace of traffic: $routing, acknowledged" routed $routing --acks yes
done
check 'cells: refused before anything is simulated' refused "--cells '1x'" heat2d \
	--to 32768 --cells 5,1x
check 'where parameters come from, in the documentation' origins
check 'every parameter has an origin' test "$(no_origin)" = \
	'torus fabric modules local accuracy seed'
check 'help' "$SIM" coll --help
check 'no command' refused 'no command'
check 'unknown command' refused "unknown command 'dance'" dance
check 'unknown option' refused "unknown option '--bogus'" coll --bogus 3
check 'no option' refused "unexpected argument 'bogus'" coll bogus
check 'option without argument' refused "'--bytes' wants a value" coll --bytes
check 'words of all tools: -h, -V, -j' same_words
check 'completion of words' completion
check 'sizes as of all tools' diff <("$SIM" coll --torus 2 --bytes 4K | cut -c 1-50) \
	<("$SIM" coll --torus 2 --bytes 4KiB | cut -c 1-50)
check 'a size with a fraction' refused 'not a number of bytes' coll --bytes 1.5K
check 'bad torus' refused 'not 1 to 4 sizes' coll --torus 4x0
check 'bad time' refused "not a time from 1ns to 1s" coll --link-latency 80
check 'bad rate' refused "not a rate from 1Mbit/s" coll --link-rate 75Gb
check 'bad choice' refused 'not cut-through|store-and-forward' coll --vc maybe
check 'out of range' refused "buffer '3': not a number from 4 to 1024" coll --buffer 3
check 'time out of range' refused 'not a time from 1ns to 1s' coll --link-latency 2s
check 'frequency out of range' refused 'not a frequency from 1MHz to 1000GHz' coll \
	--clock 1kHz
check 'nothing is measured' refused "--time '0us': not a time from 1ps to 1000000s" traffic --time 0us
check 'no packet is measured' fails '--load 1e-9: no packet is measured' \
	traffic --torus 2 --load 1e-9
check 'more nodes than at most' refused "--from '64': more than --to '32'" \
	spmv --from 64 --to 32
check 'more nodes than at most, heat2d' refused \
	"--from '64': more than --to '32'" heat2d --from 64 --to 32
check 'rate without a bound' refused 'not a number of MFlop/s' heat2d --rate inf
for option in 'coll --config' 'spmv --table' 'replay --file'; do
	# shellcheck disable=SC2086 # command and option
	check "endless: $option" refused '/dev/zero:1: not a line of text' \
		$option /dev/zero
done
check 'endless: traffic --routes' refused '/dev/zero:1: not a line of text' \
	traffic --routes /dev/zero
check 'a table that is a folder' refused 'Is a directory' spmv --table /tmp
check 'a long trace of puts: time is proportional' long_trace PUT 60000
check 'a long trace of puts with one number: time is proportional' \
	long_trace PUT 600000 1
check 'a long trace of atomic operations: time is proportional' long_trace ATOMIC 120000
check 'bad operation' refused 'not one of bcast, reduce' coll --op scatter
check 'bad mode' refused "--mode 'x': not one of" coll --mode offload,x
check 'too many trees' refused 'not a number from 1 to 16' coll --trees 17
check 'no such root' refused "--root '64': not a node from 0 to 63" coll --root 64
check 'no such root: 2^32' refused "--root '4294967296': not a node from 0 to 63" coll \
	--root 4294967296
check 'no such source: 2^32 + 1' refused "--source '4294967297': not a node from 0 to 63" \
	coll --source 4294967297
check 'bad pattern' refused 'not one of uniform' traffic --pattern none
check 'bad load' refused 'not a number above 0' traffic --load 0.1,x
check 'load of 100' refused 'above 0 and below 100' traffic --load 100
check 'times that overflow' refused "--warmup '10000000s': not a time from 0ps to 1000000s" \
	traffic --warmup 10000000s --time 10000000s
check 'one node only' refused 'two nodes or more' traffic --torus 1
check 'bad line of a file' refused "bad.conf:3: clock 'fast': not a frequency" \
	coll --config "$TAP_TMP/bad.conf"
check 'missing file' refused 'No such file' coll --config "$TAP_TMP/none"
check 'no trace to replay' refused 'needs --file' replay
check 'trace of another torus' refused 'node 2 is not in the fabric' \
	replay --torus 2 --file selftests/model/golden.txt
check 'trace without injections' refused 'the trace has no packet that a host injects' \
	replay --file <(echo '# nothing')
check 'no trace' refused 'lines are not records of packets, the first is line 1' \
	replay --file README.md
check 'a trace with a cut line' refused \
	'1 lines are not records of packets, the first is line 3' replay --torus 2x2x2 \
	--file <(sed '3s/bytes.*//' "$TAP_TMP/chapters")
check 'a trace of more trees than there are' refused 'are not records' replay \
	--torus 2x2x2 --file <(sed 's/, tree 2,/, tree 64,/' "$TAP_TMP/chapters")
check 'a trace that is too long' refused 'longer than 10^6 s' replay --torus 2x2x2 \
	--file <(sed '3s/^[0-9]*/18446744073709551615/' "$TAP_TMP/chapters")
# Acknowledgements do not count as messages: results are the same, with twice as
# many packets.
acked()
{
	diff <("$SIM" "$@" --acks no --format csv | cut -d, -f7 | awk 'NR > 1 { print 2 * $0 }') \
		<("$SIM" "$@" --acks yes --format csv | cut -d, -f7 | tail -n +2)
}

for op in bcast reduce allreduce; do
	check "messages of a $op, acknowledged" acked coll --op $op --mode p2p --sizes 2x2x2,4x4x4
done
check 'an allgather, acknowledged' "$SIM" gather --sizes 4x4 --acks yes
check 'SpMV, acknowledged' "$SIM" spmv --to 64 --rows 64000 --acks yes
check 'half a tree' refused 'lacks a part of tree 2' \
	replay --torus 2x2x2 --file \
	<(grep -Ev 'node 0: SEND|on UP' "$TAP_TMP/chapters")
check 'missing trace' refused 'No such file' replay --file "$TAP_TMP/none"
check 'bad table' refused "table.bad:2: not 'UNITS SECONDS'" spmv --table \
	"$TAP_TMP/table.bad"
check 'bad number of nodes' refused "--to '3': not a power of two" spmv --to 3
check 'bad rate of a node' refused 'not a number of MFlop/s' heat2d --rate fast
check 'checkpoint of other parameters' refused 'made with another command line' gather \
	--algo doubling --torus 4x4x2 --restore "$TAP_TMP/checkpoint"
head -c 20000 "$TAP_TMP/checkpoint" >"$TAP_TMP/cut"
check 'checkpoint of another file of routes' other_file
check 'checkpoint with a pipe' refused 'has to be a regular file' replay \
	--torus 2x2x2 --file <(cat "$TAP_TMP/chapters") --checkpoint "$TAP_TMP/piped"
check 'half a checkpoint' refused 'truncated or damaged' gather --algo doubling \
	--torus 4x4x2 --bytes 10000 --threads 2 --restore "$TAP_TMP/cut"
check 'no checkpoint' refused 'not a checkpoint' coll --mode p2p --restore README.md
check 'trace of two simulations' refused 'need a single simulation' coll \
	--trace "$TAP_TMP/t.txt"
check 'watch a node that is not there' refused 'not nodes from 0 to 63' coll \
	--mode p2p --trace "$TAP_TMP/t.txt" --watch 64
check 'bad format' refused 'not table, csv or json' coll --format xml
plan
