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

# unequal VARIABLE=VALUE: the program ends if this is set for one PE only.
unequal()
{
	# shellcheck disable=SC2016 # the processes expand it
	timeout "$JOB_SECONDS" "$BIN/oshrun" -np 2 sh -c \
		'[ "$ANGARA_RANK" = 0 ] || export "$1"; exec "$0" waiting' \
		"$PROGRAMS/wrong" "$1" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 1 ] && grep -q "^shmem: PE .: ${1%=*} is " "$TAP_TMP/out"
}

# heap_size BYTES NAME=VALUE...: with this setting the heap has BYTES.
heap_size()
{
	local bytes=$1

	shift
	env SHMEM_INFO=1 "$@" "$BIN/oshrun" -np 1 "$PROGRAMS/wrong" |
		grep "^SHMEM_SYMMETRIC_SIZE *$bytes "
}

other_namespace()
{
	unshare --pid --fork --mount-proc \
		test -w /proc/sys/kernel/ns_last_pid 2>/dev/null
}

# exits_far N STATUS WAY: the last PE exits in this way, and all PEs end with STATUS.  A PID
# namespace for every other PE stands for another machine: signals do not reach it.
exits_far()
{
	local n=$1 status=$2

	# shellcheck disable=SC2016 # the processes expand it
	ends "$status" timeout "$JOB_SECONDS" "$BIN/oshrun" -np "$n" sh -c '[ $((ANGARA_RANK % 2)) = 0 ] ||
		exec unshare --pid --fork "$@"
		exec "$@"' sh "$PROGRAMS/wrong" "$3"
}

# In a process namespace the test can choose the next process id.
number_reused()
{
	timeout "$JOB_SECONDS" unshare --pid --fork --mount-proc "$BIN/oshrun" -np 2 \
		"$PROGRAMS/wrong" reused >"$TAP_TMP/out" 2>&1
	cat "$TAP_TMP/out"
	grep -q '^wrong: the other process goes on$' "$TAP_TMP/out"
}

# sleeps N: N PEs that share one processor use little of it while they wait.
sleeps()
{
	local first

	first=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
	ends 0 timeout "$JOB_SECONDS" taskset -c "$first" "$BIN/oshrun" -np "$1" \
		"$PROGRAMS/wrong" waiting
}
