#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Do the model's tests find faults? Inserts each fault of
# selftests/model/mutants*.txt into a copy of one file of the model; a program
# linked with the copy must fail. Every 60th fault, all with LONG=1.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mutate.sh

O=$VARIANTS/tests
LISTS=(selftests/model/mutants*.txt)
CPP=(-D_GNU_SOURCE -Idriver/model -Ilibangara/env -Iuapi -std=gnu11 -w)
declare -A ARGS=([model-fast]=--stop [model-threads]='4 150'
	[model-tsan]='3 600 2x2')
declare -A LINK=([model-fast]='-Wl,--wrap=ang_combine -Wl,--wrap=ang_frame_sum')
declare -A FLAGS=([model-fast]=-O1 [model-threads]=-O1
	[model-tsan]='-O1 -fsanitize=thread -Iselftests/model/tsan')

# Limit of a program's processor time, in seconds. Programs without a fault use
# less; the limit ends an endless loop, whatever the load of the machine.
CPU_LIMIT=60

# limited COMMAND...: runs a program within that limit.
limited()
(
	ulimit -t "$CPU_LIMIT"
	exec timeout 600 "$@"
)

# reports COMMAND...: succeeds if the program fails, but not if it takes too
# long.
reports()
{
	local status=0

	limited "$@" || status=$?
	[ "$status" != 0 ] && [ "$status" != 124 ]
}

# finds PROGRAM FILE FROM TO: succeeds if the tests find the fault.
finds()
{
	local program=$1 file=$2 dir object
	local objects=()

	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "driver/model/$file" "$3" "$4" >"$dir/$file" || return
	# shellcheck disable=SC2086 # words, not one
	gcc ${FLAGS[$program]} "${CPP[@]}" -c -o "$dir/mutant.o" \
		"$dir/$file" || return
	for object in "$O/obj/model-test/$program"/*.o; do
		[ "${object##*/}" = "${file%.c}.o" ] || objects+=("$object")
	done
	# shellcheck disable=SC2086
	gcc ${FLAGS[$program]} ${LINK[$program]-} -pthread -o "$dir/program" \
		"$dir/mutant.o" \
		"${objects[@]}" || return
	# shellcheck disable=SC2086
	reports "$dir/program" ${ARGS[$program]} >"$dir/out" 2>&1
}

# fault FIRST NAME FROM TO: tests one fault of a list
fault()
{
	local program file

	read -r program file <<<"$1"
	seek "found: $2" finds "$program" "$file" "$3" "$4"
}

check 'the tests build' variant tests selftests/model
# The programs pass without a fault, so a failure is due to the fault.
for program in "${!ARGS[@]}"; do
	# shellcheck disable=SC2086
	check "without a fault $program passes" \
		limited "$O/tests/$program" ${ARGS[$program]}
done
for list in "${LISTS[@]}"; do
	faults "$list" fault 60
done
found
plan
