#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Do the gates find faults? Inserts each fault of selftests/debug/faults.txt
# into a copy of the driver, which then has to fail the gate with the report
# that the list names. The copy without a fault has to pass.

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/debug/gate.sh

LIST=selftests/debug/faults.txt
COPY=build/debug/faults

build_copy()
{
	tools/mirror "$COPY/$1" &&
		tools/vm/chroot make -s -j"$(nproc)" -C "/angara/build/debug/$1" \
			"M=/angara/$COPY/$1" modules
}

# run_gate KERNEL PROGRAM: runs the gate on the copy, and prints its failed
# results and its reports, which are no results of this test.
run_gate()
{
	local TAP_TMP=$TAP_TMP/gate.d TAP_COUNT=0

	mkdir -p "$TAP_TMP"
	MODULES=$COPY/$1/driver LOADS=2 gate "$1" 900 "${@:2}" |
		grep -vE '^ +(ok |#  RUN |# +OK )'
}

# passes KERNEL PROGRAM...: does the copy without a fault pass the gate?
passes()
{
	build_copy "$1" || return
	run_gate "$@" >"$TAP_TMP/gate"
	cat "$TAP_TMP/gate"
	! grep -q '^not ok' "$TAP_TMP/gate"
}

# finds KERNEL PROGRAM FILE FROM TO REPORT: does the gate report the fault in FILE by a text that
# matches REPORT?
finds()
{
	local kernel=$1 program=$2 file=$3 report=$6 status=0

	tools/mirror "$COPY/$kernel"
	mutate "$file" "$4" "$5" >"$TAP_TMP/fault" || return
	cp "$TAP_TMP/fault" "$COPY/$kernel/$file"
	tools/vm/chroot make -s -j"$(nproc)" -C "/angara/build/debug/$kernel" \
		"M=/angara/$COPY/$kernel" modules || return
	run_gate "$kernel" "$program" >"$TAP_TMP/gate"
	cat "$TAP_TMP/gate"
	grep -q '^not ok' "$TAP_TMP/gate" || status=1
	grep -qE "$report" "$TAP_TMP/gate" || status=1
	return "$status"
}

# try FIRST NAME FROM TO REPORT: tests one fault of the list.
try()
{
	local kernel program file

	read -r kernel program file <<<"$1"
	[[ $2 =~ ${FAULT:-} ]] || return 0
	echo "==> kernel $kernel: $2" >&2
	check "kernel $kernel: $2" finds "$kernel" "$program" "$file" "${@:3}"
}

# program FIRST NAME: prints the program of a selected fault of $kernel.
program()
{
	local of program

	read -r of program _ <<<"$1"
	[ "$of" != "$kernel" ] || ! [[ $2 =~ ${FAULT:-} ]] || echo "$program"
}

for kernel in debug kcsan; do
	mapfile -t names < <(faults "$LIST" program | sort -u)
	[ ${#names[@]} -gt 0 ] || continue
	echo "==> kernel $kernel: running ${names[*]} without a seeded fault" >&2
	check "kernel $kernel: no fault, no report" passes "$kernel" "${names[@]}"
done
faults "$LIST" try
plan
