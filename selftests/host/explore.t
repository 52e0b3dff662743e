#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Schedules of several views of one fabric: a million schedules chosen by seeds,
# a 60th of them unless LONG is set; some with threads, also under
# ThreadSanitizer; and inserted faults that they must find, every 13th unless LONG.

set -u
. selftests/tap.sh
. selftests/mutate.sh

O=${O:-$PWD/build/host}
T=$O/tests
OBJ=$O/obj/explore
LIST=selftests/explore/mutants.txt
CPP=(-D_GNU_SOURCE -Idriver/model -Iuapi -std=gnu11 -w)
declare -A FLAGS=(
	[explore]='-O2 -Iselftests/explore/points'
	[explore-threads]='-O2 -Iselftests/model/tsan'
	[explore-tsan]='-O1 -fsanitize=thread -Iselftests/model/tsan')
# Number of interleavings per family, a million in total.
ORDERS=(transfers 150000 lives 150000 sharing 100000 messages 50000
	letters 150000 fences 30000 collectives 50000 rooms 50000 buffers 50000
	trees 200000 again 100000)
PART=$(amount 60 1)

# explored: runs each family and prints its result.
explored()
{
	local i

	for ((i = 0; i < ${#ORDERS[@]}; i += 2)); do
		nested '' "$T/explore" --count "$((ORDERS[i + 1] / PART))" \
			"${ORDERS[i]}"
	done
}

# The families have the promised number of interleavings in total.
promised()
{
	local i sum=0

	for ((i = 1; i < ${#ORDERS[@]}; i += 2)); do
		sum=$((sum + ORDERS[i] / PART))
	done
	echo "$sum"
	[ "$sum" -ge $((1000000 / PART)) ]
}

# families: prints the families in ORDERS.
families()
{
	local i

	for ((i = 0; i < ${#ORDERS[@]}; i += 2)); do
		echo "${ORDERS[i]}"
	done
}

# The same seed gives the same schedule, whether it is printed or not.
replays()
{
	"$T/explore" --show messages 12345 >"$TAP_TMP/one" &&
		"$T/explore" --show messages 12345 >"$TAP_TMP/two" &&
		cmp "$TAP_TMP/one" "$TAP_TMP/two" &&
		[ "$(wc -l <"$TAP_TMP/one")" -gt 500 ]
}

# finds FIRST NAME FROM TO: succeeds if the program reports the fault.
finds()
{
	local program file family count dir object
	local objects=() args=()

	read -r program file family count <<<"$1"
	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "driver/model/$file" "$3" "$4" >"$dir/$file" || return
	# shellcheck disable=SC2086 # words, not one
	gcc ${FLAGS[$program]} "${CPP[@]}" -c -o "$dir/mutant.o" \
		"$dir/$file" || return
	for object in "$OBJ/$program"/*.o; do
		[ "${object##*/}" = "${file%.c}.o" ] || objects+=("$object")
	done
	# shellcheck disable=SC2086
	gcc ${FLAGS[$program]} -pthread -o "$dir/program" "$dir/mutant.o" \
		"${objects[@]}" || return
	case $program in
	explore) args=(--count "$count" "$family") ;;
	*) args=("$count" "$family") ;;
	esac
	! timeout 600 "$dir/program" "${args[@]}" >"$dir/out" 2>&1 || return
	# The fault must cause the report.
	grep -qE '^not ok |ThreadSanitizer: ' "$dir/out" ||
		[ "$program" != explore ]
}

each()
{
	seek "found: $2" finds "$@"
}

check 'the programs build' make -s -C selftests/explore -j2 O="$O" all
explored
check "$((1000000 / PART)) schedules have run" promised
check 'a seed gives one schedule' replays
mapfile -t NAMES < <(families)
nested 'under ASan and UBSan' "$T/explore-check" --count "$(amount 700 2000)" "${NAMES[@]}"
nested 'threads' "$T/explore-threads" "$(amount 150 400)" "${NAMES[@]}"
nested 'threads under ThreadSanitizer' "$T/explore-tsan" "$(amount 40 100)" "${NAMES[@]}"
faults "$LIST" each 13
found
plan
