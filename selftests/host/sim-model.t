#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator compared with the device model: both run the same random
# scenarios of puts, gets, messages, atomic operations, broadcasts and reductions
# over random trees, on fabrics of every kind, with and without faults of links; in every fifth scenario
# links are down, and routes and trees lead around them. The model checks its
# memory and completions, the simulator its sums; the packets that cross each
# link, block and host are the same, and so are the model's counters. SET=full,
# which make check-sim sets, runs more scenarios.

set -u
. selftests/tap.sh
. selftests/sim.sh

MODEL=$VARIANTS/tests/tests/model-fast
SCENARIOS=60
[ "${SET:-}" != full ] || SCENARIOS=1000

# The fabric of the trace, as an option's value.
fabric()
{
	sed -n 's/^# fabric //p' "$TAP_TMP/model" >"$TAP_TMP/fabric"
	if grep -q '^graph' "$TAP_TMP/fabric"; then
		echo "file:$TAP_TMP/fabric"
	else
		cat "$TAP_TMP/fabric"
	fi
}

# detours: succeeds if the model's routes lead around links that are down; writes the links and
# the routes to files.
detours()
{
	sed -n 's/^# down \(.*\)/\1 down/p' "$TAP_TMP/model" >"$TAP_TMP/down"
	sed -n 's/^# route //p' "$TAP_TMP/model" >"$TAP_TMP/routes"
	[ -s "$TAP_TMP/routes" ]
}

# replay ROUTING: the simulator injects the model's packets again.
replay()
{
	local loss corrupt delay faults=()

	! detours || faults=(--faults "$TAP_TMP/down" --routes "$TAP_TMP/routes")
	read -r loss corrupt delay < <(sed -n 's/^# faults //p' "$TAP_TMP/model")
	[ -z "$loss" ] || faults+=(--loss "$loss" --corrupt "$corrupt" --fault-delay "$delay")
	"$SIM" replay --file "$TAP_TMP/model" --fabric "$(fabric)" --acks yes \
		--routing "$1" "${faults[@]}" --trace "$TAP_TMP/sim" --format csv
}

# Records without their time. Not compared: credit packets, whose number depends
# on time; the source of a sum, which is the first to arrive; arrivals in
# buffers, which only the simulator records.  The model's root gives the result
# of a reduce to its own host without a record of its ejection.
# events FILE: prints them
events()
{
	perl -ne 'next if /^#/ || / CREDIT / || / OPEN / || / ARRIVE /;
		s/^\d+ //;
		s/ from \d+,/,/ if / (REDUCE|RESULT|ALLREDUCE) from/;
		if (/^(node \d+): RESULT (RESULT,.*)/s) {
			$own{$2} = "$1: EJECT $2";
		}
		$count{$2}++ if /^(node \d+): EJECT (RESULT,.*)/s;
		print;
		END { print map { $own{$_} } grep { !$count{$_} } keys %own }' "$1" |
		sort
}

# counted NAME: prints by how much the model's counter NAME has grown since the
# trees were set up
counted()
{
	sed -n 's/^# counted: //p' "$TAP_TMP/model" | grep -oE '[0-9]+ [a-z]+' |
		awk -v name="$1" '$2 == name { n = $1 - n } END { print n }'
}

# counters [LONGER]: the model's counters are those of the simulator's report, without credit
# packets; results that the model's root gives to its own host count as ejected. With LONGER,
# packets may cross other numbers of links.
counters()
{
	local sent ejected credits given
	local -a row

	IFS=, read -ra row < <(sed -n 2p "$TAP_TMP/report")
	credits=$(grep -c ' SEND CREDIT ' "$TAP_TMP/model")
	sent=$(($(counted sent) - credits))
	given=$(($(grep -c ': RESULT RESULT ' "$TAP_TMP/model") -
		$(grep -c ': EJECT RESULT ' "$TAP_TMP/model")))
	ejected=$(($(counted ejected) + given))
	echo "model: $sent sent, $ejected ejected"
	echo "simulator: $((row[2] - $(grep -c ' SEND CREDIT ' "$TAP_TMP/sim"))) sent, ${row[3]} ejected"
	[ "${row[3]}" = "$ejected" ] || return
	[ -n "${1:-}" ] ||
		[ $((row[2] - $(grep -c ' SEND CREDIT ' "$TAP_TMP/sim"))) = "$sent" ]
}

deterministic()
{
	replay deterministic >"$TAP_TMP/report" || return
	events "$TAP_TMP/model" >"$TAP_TMP/want"
	events "$TAP_TMP/sim" >"$TAP_TMP/got"
	[ "$(wc -l <"$TAP_TMP/want")" -gt 100 ] &&
		diff "$TAP_TMP/want" "$TAP_TMP/got" && counters
}

# Only the simulator has adaptive routing, and a channel for it. Puts cross other links than in the
# model, but as many, unless the model's routes may be longer than shortest paths: routes of graphs,
# and routes around links that are down.
adaptive()
{
	replay adaptive >"$TAP_TMP/report" || return
	diff <(grep -v ' SEND PUT ' "$TAP_TMP/want") \
		<(events "$TAP_TMP/sim" | grep -v ' SEND PUT ') || return
	if [[ $(fabric) = file:* ]] || detours; then
		counters longer
	else
		counters
	fi
}

scenario()
{
	"$MODEL" "--stress=$1" >"$TAP_TMP/model" || {
		cat "$TAP_TMP/model"
		return 1
	}
	! detours || echo "$1" >>"$TAP_TMP/rerouted"
	grep -oE ': INJECT [A-Z]+ ' "$TAP_TMP/model" | sort -u >>"$TAP_TMP/kinds"
	deterministic && adaptive
}

# A few scenarios have no link that may be down.
rerouted()
{
	echo "$(wc -l <"$TAP_TMP/rerouted") of $((SCENARIOS / 5)) scenarios"
	[ "$(wc -l <"$TAP_TMP/rerouted")" -gt $((SCENARIOS / 7)) ]
}

# Most scenarios have operations of each kind; DATA answers gets, and atomic operations that return
# the old value.
kinds()
{
	local kind count

	for kind in PUT GET SEND ATOMIC DATA ACK BCAST REDUCE ALLREDUCE; do
		count=$(grep -c " $kind " "$TAP_TMP/kinds")
		echo "$kind in $count of $SCENARIOS scenarios"
		[ "$count" -gt $((SCENARIOS / 2)) ] || return
	done
}

# scenarios FIRST: runs scenarios FIRST, FIRST + 10, ...
scenarios()
{
	local i

	for ((i = $1; i <= SCENARIOS; i += 10)); do
		scenario "$i" >"$TAP_TMP/of-one" 2>&1 || {
			echo "scenario $i: $MODEL --stress=$i"
			head -n 40 "$TAP_TMP/of-one"
			return 1
		}
	done
}

sim_builds tools/sim
check 'the model builds' variant tests selftests/model:tests/model-fast
for ((first = 1; first <= 10; first++)); do
	check "scenarios $first, $((first + 10)), ... to $SCENARIOS" scenarios "$first"
done
check 'scenarios with routes around links' rerouted
check 'operations of each kind' kinds
plan
