#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator's flit engine: compared with another simulator
# (selftests/sim/booksim2.csv) and with the packet engine.  Flits and credits
# are conserved; the same seed gives the same bits.  SET=full, which make
# check-sim sets, compares all numbers, all patterns with hosts, and larger fabrics.

set -u
. selftests/tap.sh
. selftests/sim.sh

FACTS=selftests/sim/booksim2.csv
# Estimated load at which each network saturates. The table has it for 17 flits and
# buffers of 64; else it lies between the last steady and the first saturated load.
declare -A FULL=([4x4x4,1,64]=0.67 [4x4x4,17,64]=0.77 [4x4x4,1,8]=0.62
	[4x4x4,17,8]=0.51 [8x8,1,64]=0.34 [8x8,17,64]=0.5 [8x8,1,8]=0.31
	[8x8,17,8]=0.33 [8x8x8,1,64]=0.34)
# Cells of the table that are near saturation, with torus, flits, buffers and nominal load, and the
# loads at which they are simulated. Packets wait at their hosts ever longer, so mean latencies
# depend on the seed and on the length of the measurement. 4x4x4 does not accept the nominal load.
# The load that 8x8 was offered is between the load that it accepted and 1 % above the nominal load:
# other cells accepted up to 1.3 % more than the nominal load.
declare -A NEAR=([4x4x4,17,64,0.8]='0.8' [8x8,17,64,0.5]='0.4969,0.505')
# Warm-up and measured cycles of the other simulator.
THEIRS='--warmup 15000 --cycles 30000'
PATTERNS=(uniform transpose hotspot)
# shellcheck disable=SC2054 # commas belong to loads and fabrics
declare -A LOADS=(
	[uniform]=0.05,0.2,0.3,0.4,0.45,0.5,0.55,0.6,0.7,0.8,0.9,1,1.1
	[transpose]=0.05,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.7,0.8,0.9,1,1.1
	[hotspot]=0.05,0.08,0.1,0.12,0.14,0.16,0.2,0.22,0.24,0.25,0.3,0.35,0.4,0.45,0.5,0.6,0.65,0.7)
if [ "${SET:-}" = full ]; then
	PERIOD=$THEIRS
	ROWS=.
	# shellcheck disable=SC2054
	FABRICS=(torus:4x4x4 torus:8x8 torus:4x6x4 torus:3x2x2x2x2 mesh:4x4 mesh:4x4x4
		hypercube:6 fattree:4,3 fattree:40,2,nodes=64 mkns:4x4 mkns:4x4,m=2
		mkns:8x8 kns:4x4)
	# Some patterns saturate early: simulate more small loads.
	LOADS[transpose]=0.02,0.04,0.08,0.1,0.13,0.16,${LOADS[transpose]#*,}
	LOADS[hotspot]=0.02,0.04,0.06,0.08,0.09,0.1,0.11,0.12,0.13,${LOADS[hotspot]#*,*,*,*,}
	TIME=40us
	# Adaptive routes: the queue at a hot spot needs this long to fill the network, so
	# that the load that saturates it does not depend on the time any more.
	HOT_TIME=200us
else
	PERIOD='--warmup 5000 --cycles 30000'
	ROWS='^4x4x4,(1,64,0.[258]|17,64,0.[258]|17,8,0.[46])|^8x8,(1,64,0.[234]|17,64,0.5|17,8,0.2)'
	# shellcheck disable=SC2054
	FABRICS=(torus:4x4x4 mesh:4x4 fattree:4,3 mkns:4x4,m=2)
	# In 20 us, too few packets cross mesh:4x4: the load that saturates it varies by 5 %
	# between seeds.
	TIME=40us
	HOT_TIME=20us
fi

# fact LINE: simulates a line of the table at its accepted load, or at its nominal load if the other
# simulator's network was saturated. Results are equal within 3 % up to 80 % of saturation, above
# within 8 %.
fact()
{
	local torus flits depth load latency network accepted

	IFS=, read -r torus flits depth load latency network accepted <<<"$1"
	# shellcheck disable=SC2086
	"$SIM" flits --torus "$torus" --flits "$flits" --depth "$depth" --seed 7 \
		--load "${accepted:-$load}" $PERIOD --format csv | tail -n +2 |
		awk -F, -v latency="$latency" -v network="$network" \
			-v accepted="$accepted" -v top="${FULL[$torus,$flits,$depth]}" '
			function off(got, want, most) {
				print got, "for", want
				return got > (1 + most) * want || got < (1 - most) * want
			}
			{
				n++
				print
				if (latency == "saturated")
					exit bad = $7 != "yes"
				margin = accepted <= 0.8 * top ? 0.03 : 0.08
				bad = $7 != "no" || off($3, latency, margin) ||
				      off($4, network, margin)
			}
			END { exit bad || n != 1 }'
}

# near LINE LOADS: simulates a line of a cell of NEAR at each of the loads with four seeds. Each run
# accepts the load of the line within 3 %, and both latencies of the line are in the range of the
# runs. At a single load, each run has the line's latency in the network within 3 %.
near()
{
	local torus flits depth latency network accepted seed

	IFS=, read -r torus flits depth _ latency network accepted <<<"$1"
	for seed in 7 1 2 3; do
		# shellcheck disable=SC2086
		"$SIM" flits --torus "$torus" --flits "$flits" --depth "$depth" \
			--seed $seed --load "$2" $THEIRS --format csv || return
	done | awk -F, -v latency="$latency" -v network="$network" -v accepted="$accepted" \
		-v loads="$2" '
		function off(got, want) {
			return got > 1.03 * want || got < 0.97 * want
		}
		$1 == "load" { next }
		{
			n++
			print
			bad = bad || off($2, accepted)
			bad = bad || loads !~ /,/ && off($4, network)
			later += $3 >= latency
			slower += $4 >= network
		}
		END {
			print later, "of", n, "runs have", latency, "cycles or more;",
				slower, "have", network, "or more in the network"
			exit bad || n != 4 * split(loads, of, ",") || !later || later == n ||
				!slower || slower == n
		}'
}

# The cells in which packets of the table wait at their host longer than half of their
# time in the network are those of NEAR.
waiting()
{
	diff <(printf '%s\n' "${!NEAR[@]}" | sort) \
		<(awk -F, '!/^#/ && $5 != "saturated" && $5 > 1.5 * $6 {
			print $1 "," $2 "," $3 "," $4 }' "$FACTS" | sort)
}

facts()
{
	grep -E "$ROWS" "$FACTS" | grep -v '^#'
}

# shown ROW: a row of the document's table, without its last column, has the latency of BookSim 2
# and that of a simulation of as many cycles.
shown()
{
	local torus load flits depth theirs ours latency accepted

	read -r torus load flits depth theirs ours <<<"${1//,/}"
	IFS=, read -r _ _ _ _ latency _ accepted < <(grep "^$torus,$flits,$depth,$load," "$FACTS")
	latency=$(printf '%.2f' "$latency")
	echo "BookSim 2: $latency, in the document $theirs; angara-sim: in the document $ours"
	# shellcheck disable=SC2086
	"$SIM" flits --torus "$torus" --flits "$flits" --depth "$depth" --seed 7 \
		--load "$accepted" $THEIRS --format csv | tee "$TAP_TMP/shown"
	[ "$latency" = "$theirs" ] && [ "$(sed -n 2p "$TAP_TMP/shown" | cut -d, -f3)" = "$ours" ]
}

# The document says how many cells of the table there are, how many of them have numbers, and how
# many are saturated; those of NEAR are not within its bounds.
cells()
{
	local all saturated

	all=$(grep -c '^[^#]' "$FACTS")
	saturated=$(grep -c ',saturated$' "$FACTS")
	echo "$all cells, $saturated saturated, ${#NEAR[@]} near saturation"
	tr '\n' ' ' <Documentation/simulator.rst | grep -qF "$((all - ${#NEAR[@]})) of the $all cells "`
		`"agree: $saturated are saturated, and $((all - saturated - ${#NEAR[@]})) have numbers"
}

# Prints the rows of the document's table of BookSim's numbers.
rows()
{
	sed -n '/^Cycles, at load /,/^$/s/^\([0-9x]*, [0-9.]* .*[0-9]\)  *[^ ]* %$/\1/p' \
		Documentation/simulator.rst
}

# The document's ratios to the speed of BookSim 2 follow from its speeds, and flit-hops of BookSim 2
# and of the textbook's routers are router-cycles x load x 6 links per packet.
ratios()
{
	sed -n '/^Simulator, November /,/^$/s/^\(BookSim 2\|``\)/\1/p' Documentation/simulator.rst |
		sed 's/ to /-/g; s/, /,/g; s/^BookSim 2/BookSim/' | awk '
		function off(got, want) {
			return got < want - 0.51 || got > want + 0.51
		}
		function ratio(times, rate, base,  t) {
			split(times, t, "-")
			return off(t[1], rate / base[2]) || off(t[2], rate / base[1])
		}
		function hops(got, rate, load) {
			return got < 0.99 * rate * load * 6 || got > 1.01 * rate * load * 6
		}
		{ print }
		$1 == "BookSim" {
			split($2, at05, "-")
			split($3, of05, "-")
			split($4, at2, "-")
			split($5, of2, "-")
			for (i = 1; i <= 2; i++)
				bad += hops(of05[i], at05[i], 0.05) + hops(of2[i], at2[i], 0.2)
			next
		}
		{
			n++
			bad += ratio($3, $2, at05) + ratio($6, $5, at2)
			if ($1 ~ /^``flits``/)
				bad += hops($4, $2, 0.05) + hops($7, $5, 0.2)
		}
		END { exit bad || n != 6 }'
}

# engines FABRIC PATTERN ROUTING OPTION...: compares the packet engine with the flit engine.
# A load saturates the fabric, as for the command curve, if 5 % of it is not accepted, or if packets
# take three times as long as with the least load. The engines agree within 5 % on the least load
# that saturates the fabric, within 3 % on delays at loads up to 80 % of it, and within 5 % on
# accepted loads up to it. Above it, accepted loads may differ more: by 8 % with adaptive routes, by
# 20 % for a hot spot, which fills the network.
engines()
{
	local fabric=$1 pattern=$2 routing=$3 time=$TIME way

	[ "$pattern $routing" != 'hotspot adaptive' ] || time=${HOT_TIME:-$TIME}
	for way in packet flit; do
		"$SIM" traffic --fabric "$fabric" --pattern "$pattern" \
			--routing "$routing" --accuracy $way --load "${LOADS[$pattern]}" \
			--time "$time" --format csv "${@:4}" || return
	done | awk -F, -v pattern="$pattern" -v routing="$routing" -v need="${SATURATE:-1}" '
		function off(a, b, most) {
			return !(a <= (1 + most) * b && a >= (1 - most) * b)
		}
		# If the ratio is 1 or more, the load saturates the fabric.
		function fullness(way, l,  late, short) {
			late = delay[way, l] / delay[way, load[1]] / 3
			short = (1 - accepted[way, l] / l / share[way]) / 0.05
			return late > short ? late : short
		}
		$1 == "load" { way++; next }
		{
			accepted[way, $1] = $2
			delay[way, $1] = $3
			if (way == 1)
				load[++n] = $1
		}
		END {
			for (way = 1; way <= 2; way++) {
				# Not all nodes send: the share that does, from all loads with
				# short delays, since a small load has few packets.
				sent = meant = 0
				for (i = 1; i <= n; i++) {
					if (delay[way, load[i]] > 1.5 * delay[way, load[1]])
						break
					sent += accepted[way, load[i]]
					meant += load[i]
				}
				share[way] = sent / meant
				for (i = n; i > 1; i--) {
					low = fullness(way, load[i - 1])
					high = fullness(way, load[i])
					step = load[i] - load[i - 1]
					if (low >= 1 || high < 1)
						continue
					full[way] = load[i - 1]
					full[way] += step * (1 - low) / (high - low)
				}
			}
			print "saturation", full[1], full[2]
			bad = (need && !full[1]) || off(full[1], full[2], 0.05)
			for (i = 1; i <= n; i++) {
				l = load[i]
				print l, accepted[1, l], accepted[2, l], delay[1, l], delay[2, l]
				most = routing == "adaptive" ? 0.08 : 0.05
				most = pattern == "hotspot" ? 0.2 : most
				most = full[2] && l > full[2] ? most : 0.05
				bad = bad || off(accepted[1, l], accepted[2, l], most)
				if (full[2] && l > 0.8 * full[2])
					continue
				few++
				bad = bad || off(delay[1, l], delay[2, l], 0.03)
			}
			exit bad || few < 2
		}'
}

# large ROUTING: a fabric of 4096 routers. Even a shorter run has more packets
# than the runs of small fabrics. The loads need not saturate it.
large()
{
	local TIME=10us SATURATE=0
	# shellcheck disable=SC2054 # commas belong to loads
	local -A LOADS=([uniform]=0.05,0.2,0.3,0.4)

	engines torus:16x16x16 uniform "$1"
}

# Packets of two flits: PCIe takes 24 bytes more for each, so its rate of 16
# bytes per cycle bounds the load by 2 / (56 / 16) flits; the network would
# accept more. The delay of PCIe does not limit the rate.
brief_full()
{
	"$SIM" traffic --torus 4x4x4 --bytes 16 --accuracy "$1" --load 0.5,0.8 \
		--time 10us --format csv | awk -F, 'NR > 1 {
			n++
			print $1, $2
			most = 2 / (56 / 16)
			if ($2 > most || $2 < 0.97 * ($1 < most ? $1 : most))
				bad = 1
		} END { exit bad || n != 2 }'
}

# Packets of one flit at 0.4 saturate each engine on 8x8x8, so speeds are not compared there: PCIe's
# bound is 1 / (40 / 16) flits, and the routers accept less.
one_flit()
{
	local way

	for way in packet flit; do
		"$SIM" traffic --torus 8x8x8 --routing deterministic --accuracy $way --bytes 0 \
			--load 0.4 --warmup 2us --time 2us --format csv | awk -F, 'NR > 1 {
				n++
				print $2
				bad = !($2 > 0.3 && $2 < 0.95 * 0.4)
			} END { exit bad || n != 1 }' || return
	done
	"$SIM" flits --torus 8x8x8 --flits 1 --load 0.4 --warmup 1000 --cycles 4000 --format csv |
		awk -F, 'NR > 1 { print; n++; bad = $7 != "yes" } END { exit bad || n != 1 }'
}

# Long and short packets above saturation, on rings with the smallest buffers:
# all packets arrive.
# mixed TORUS OPTION...
mixed()
{
	local way routing brief

	for way in packet flit; do
		for routing in deterministic adaptive; do
			for brief in 20 50 90; do
				"$SIM" traffic --torus "$1" --accuracy $way \
					--routing $routing --brief $brief --buffer 4 \
					--host-rate 640Gbit/s --link-latency 20ns \
					--load 2 --time 20us "${@:2}" || return
			done
		done
	done
}

# On a ring a short packet takes the buffer space of a long one. Three packets
# of 2 flits leave the fourth space free, which packets need to enter a ring; a
# space is free again after two cables and more.
places()
{
	"$SIM" traffic --torus 8 --pattern neighbor --brief 100 --load 1 --buffer 4 \
		--host-rate 640Gbit/s --routing deterministic --accuracy "$1" \
		--format csv | awk -F, 'NR > 1 {
			n++
			print $2, "at most", most = 3 * 2 / (2 * 80 / 2)
			bad = $2 > most || $2 < 0.8 * most
		} END { exit bad || n != 1 }'
}

# Delays of the table's 8x8, packets of one flit, load 0.3, by both rules.
rules()
{
	local rule

	for rule in path crossing; do
		"$SIM" flits --torus 8x8 --flits 1 --load 0.3 --seed 7 --date-line $rule \
			--format csv | awk -F, 'NR == 2 { print $3 }'
	done | awk '{ print; t[NR] = $1 }
		END { exit !(NR == 2 && t[1] > 27.5 && t[1] < 28.1 && t[2] > 30.5 && t[2] < 32) }'
}

# The run checks that flits and credits are conserved: above saturation, with
# buffers shorter than packets, on rings of odd and even sizes and of two nodes.
# conserved TORUS FLITS DEPTH PATTERN [OPTION]...
conserved()
{
	"$SIM" flits --torus "$1" --flits "$2" --depth "$3" --load 0.2,0.9 \
		--pattern "$4" --warmup 500 --cycles 2000 --check "${@:5}"
}

twice()
{
	diff <("$SIM" "$@" --format csv | cut -d, -f1-7) \
		<("$SIM" "$@" --format csv | cut -d, -f1-7)
}

# An idle network: 4 cycles per router, 2 to reach the first, one per further flit.
idle_flits()
{
	"$SIM" flits --torus "$1" --flits "$2" --load 0.0005 --cycles 200000 \
		--warmup 0 --pattern neighbor --format csv | awk -F, -v flits="$2" 'NR > 1 {
			want = 2 + 4 * $5 + flits - 1
			print $4, want
			n++
			if ($4 < want || $4 > want + 0.02 * flits)
				bad = 1
		} END { exit bad || n != 1 }'
}

# Arbitration is fair: at a host to which all others send, each sender gets its
# share, so the longest wait is only a few times the mean.
fair()
{
	"$SIM" traffic --fabric "$1" --pattern hotspot --hot 100 --routing deterministic \
		--accuracy flit --load "$2" --time 60us --format csv | awk -F, 'NR > 1 {
			n++
			print
			if ($4 > 4 * $3)
				bad = 1
		} END { exit bad || n != 1 }'
}

sim_builds tools/sim
check 'cells without a steady state' waiting
check 'how many cells agree' cells
for fact in $(facts); do
	IFS=, read -r torus flits depth load _ <<<"$fact"
	name="$torus, $flits flits, buffers of $depth, nominal load $load"
	loads=${NEAR[$torus,$flits,$depth,$load]:-}
	if [ -n "$loads" ]; then
		check "BookSim 2 is between runs, not within 8 %: $name" near "$fact" "$loads"
	else
		check "as BookSim 2 measures: $name" fact "$fact"
	fi
done
mapfile -t SHOWN < <(rows)
check 'the document has numbers of BookSim 2' [ ${#SHOWN[@]} = 7 ]
for row in "${SHOWN[@]}"; do
	# The others take up to ten seconds.
	[ "${SET:-}" = full ] || [[ $row = 4x4x4,*\ 1,* ]] || continue
	check "as the document says: $row" shown "$row"
done
check 'the document compares speeds with BookSim 2' ratios
# The engines have the same rules for hosts, whatever the pattern.
WITH_HOSTS=(uniform)
[ "${SET:-}" != full ] || WITH_HOSTS=("${PATTERNS[@]}")
for fabric in "${FABRICS[@]}"; do
	for pattern in "${WITH_HOSTS[@]}"; do
		for routing in deterministic adaptive; do
			check "both engines: $fabric $pattern $routing" engines \
				"$fabric" "$pattern" "$routing"
		done
	done
done
# Here PCIe has no delay, as it would be most of a packet's delay.
for fabric in "${FABRICS[@]}"; do
	for pattern in "${PATTERNS[@]}"; do
		for routing in deterministic adaptive; do
			check "both engines without hosts: $fabric $pattern $routing" \
				engines "$fabric" "$pattern" "$routing" --inject 0ns \
				--eject 0ns
		done
	done
done
# Short packets, and small buffers.
for option in '--bytes 16' '--buffer 4'; do
	for fabric in torus:4x4x4 mesh:4x4 fattree:4,3 mkns:4x4,m=2; do
		# Delays with buffers of four packets differ by more on MKNS.
		[ "$option $fabric" != '--buffer 4 mkns:4x4,m=2' ] || continue
		for routing in deterministic adaptive; do
			# shellcheck disable=SC2086 # an option and its value
			check "both engines without hosts, $option: $fabric $routing" \
				engines "$fabric" uniform $routing --inject 0ns --eject 0ns \
				$option
		done
	done
done
if [ "${SET:-}" = full ]; then
	for routing in deterministic adaptive; do
		check "both engines: torus:16x16x16 uniform $routing" large $routing
	done
fi
for way in packet flit; do
	check "short packets fill links: $way" brief_full $way
done
check 'packets of one flit saturate at 0.4' one_flit
for routing in deterministic adaptive; do
	check "both engines, two lengths: $routing" engines torus:4x4x4 uniform \
		$routing --brief 50
done
for torus in 8 5x3 3x3x3; do
	check "two lengths do not deadlock: $torus" mixed $torus --seed 1
	check "two lengths do not deadlock: $torus, other seed" mixed $torus --seed 2
done
check 'places of a ring: packets' places packet
check 'places of a ring: flits' places flit
check 'brief: percent' refused 'not a number from 0 to 100' traffic --brief 101
for torus in 4x4 5x3 2x2x2 8 7; do
	for flits in 1 3 17; do
		check "flits and credits: $torus, packets of $flits" conserved $torus \
			$flits 4 uniform
	done
done
check 'flits and credits: date line at the crossing' conserved 4x4 5 8 uniform \
	--date-line crossing
check 'the rules of the date line differ as documented' rules
check 'flits and credits: packets turn' conserved 4x4x4 5 8 transpose
check 'flits and credits: a flit of room' conserved 4x4 9 1 reverse
check 'an idle ring: one flit' idle_flits 8 1
check 'an idle ring: 17 flits' idle_flits 8 17
check 'turns pass on in a switch' fair fattree:40,2,nodes=20 0.1
check 'the same bits: textbook' twice flits --torus 4x4 --load 0.3
check 'the same bits: fabric' twice traffic --torus 4x4 --accuracy flit --load 0.3 \
	--time 10us
if [ "$SIM" = "$OUT/bin/angara-sim" ]; then
	check 'builds with AddressSanitizer' variant asan tools/sim
	# Some switches have no route of the topology to some nodes, and adaptive packets get there.
	for fabric in mkns:4x4 mkns:3x3x3 kns:3x3 fattree:4,3 torus:4x3; do
		check "no access outside of memory: $fabric" env ASAN_OPTIONS=detect_leaks=0 \
			"$VARIANTS/asan/bin/angara-sim" traffic --fabric "$fabric" \
			--accuracy flit --load 1 --warmup 1us --time 2us
	done
fi
check 'flits: not a torus' refused 'needs a --torus' flits --fabric fattree:4,3
check 'flits: date line' refused 'not one of path, crossing' flits --date-line both
check 'flits: load' refused 'from 1e-06 to 1' flits --load 1.5
check 'flits: hardly a load' refused 'from 1e-06 to 1' flits --load 1e-9
check 'flits: no packet is measured' says 'no packet is measured' 1 "$SIM" flits \
	--torus 4x4 --load 1e-6 --warmup 0 --cycles 10
for option in 'inject 200us' 'loss 1' 'acks no' 'routing adaptive' 'buffer 8'; do
	check "flits: ${option% *}" refused "--${option% *}: the routers of 'flits' do not" flits \
		--torus 4x4 --"${option% *}" "${option#* }"
done
check 'traffic: no messages of hosts' refused 'sends packets at a given rate' traffic \
	--overhead 1ns
check 'curve: no messages of hosts' refused 'sends packets at a given rate' curve --overhead 1ns
check 'accuracy: a delay is too long' says 'a delay takes' 1 "$SIM" traffic \
	--torus 4x4 --accuracy flit --inject 200us --load 0.1
check 'flits: no flits' refused 'from 1 to 1000' flits --flits 0
check 'flits: depth' refused 'from 1 to 10000' flits --depth 10001
check 'flits: hot spot' refused 'not uniform' flits --pattern hotspot
check 'flits: modules' refused 'have one module' flits --modules 2
check 'accuracy: collectives' refused "'coll' does not" coll --accuracy flit
check 'accuracy: acknowledgements' refused 'does not support --acks' traffic --accuracy flit \
	--acks yes
check 'accuracy: store and forward' refused 'does not support --vc store' traffic \
	--accuracy flit --vc store-and-forward
check 'accuracy: order of copies' refused 'does not support --copies at-once' traffic \
	--accuracy flit --copies at-once
check 'accuracy: unknown' refused 'packet|flit' traffic --accuracy byte
plan
