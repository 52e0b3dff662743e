# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Jobs of OpenSHMEM for host/shmem.t and in-guest, which set BIN, the folder of
# oshrun; PROGRAMS, the folder of the test programs; JOB_SECONDS; and LAUNCH,
# further options of oshrun.

# all N [NAME=VALUE]...: runs the test of all routines; prints one line per
# group
all()
{
	local n=$1 groups

	shift
	env "$@" timeout "$JOB_SECONDS" "$BIN/oshrun" -np "$n" "${LAUNCH[@]}" "$PROGRAMS/t" \
		>"$TAP_TMP/out" 2>&1
	local status=$?

	groups=$(grep -c '^ok ' "$TAP_TMP/out")
	grep -v '^ok ' "$TAP_TMP/out"
	echo "status $status, $groups groups passed"
	[ "$status" = 0 ] && [ "$groups" -gt 300 ] &&
		[ "$(tail -n 1 "$TAP_TMP/out")" = "1..$groups" ]
}

# runs N PROGRAM [ARGUMENT]...: no PE of the program finds an error.
runs()
{
	local n=$1 program=$2

	shift 2
	timeout "$JOB_SECONDS" "$BIN/oshrun" -np "$n" "${LAUNCH[@]}" "$PROGRAMS/$program" "$@" \
		>"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 0 ] &&
		[ "$(grep -c "^$program: PE [0-9]*: 0 errors$" "$TAP_TMP/out")" = "$n" ]
}

# refuses N STATUS WAY TEXT: the program ends with a status that matches STATUS,
# a regular expression, and a line that has TEXT.
refuses()
{
	timeout "$JOB_SECONDS" "$BIN/oshrun" -np "$1" "${LAUNCH[@]}" "$PROGRAMS/wrong" "$3" \
		>"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	echo "status $status, expected $2 and '$4'"
	[[ $status =~ ^($2)$ ]] && grep -q "^shmem: .*$4" "$TAP_TMP/out"
}

# launched N COMMAND...: COMMAND starts N PEs of bfs, which find no error.
launched()
{
	local n=$1

	shift
	timeout "$JOB_SECONDS" "$@" "$PROGRAMS/bfs" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 0 ] && [ "$(grep -c '^bfs: .*: 0 errors' "$TAP_TMP/out")" = "$n" ]
}
