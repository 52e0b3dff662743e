#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The applications on a fabric: each with several numbers of processes,
# offloaded and by puts, with checked results; and how they end after a failure.
# Programs come from PATH. Output in KTAP.

set -u

KSFT_SKIP=4
COUNT=0
BAD=0
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

report()
{
	COUNT=$((COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $COUNT $2"
		return
	fi
	BAD=$((BAD + 1))
	head -n 20 "$TMP/why" | sed 's/^/# /'
	echo "not ok $COUNT $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit "$KSFT_SKIP"
}

# check NAME COMMAND...: reports whether COMMAND succeeds.
check()
{
	local name=$1 status=0

	shift
	timeout 600 "$@" >"$TMP/why" 2>&1 || status=$?
	report "$status" "$name"
}

# says TEXT STATUS COMMAND...: COMMAND ends with STATUS and one line of error
# that contains TEXT
says()
{
	local text=$1 want=$2 status=0

	shift 2
	timeout 600 "$@" >"$TMP/out" 2>"$TMP/err" || status=$?
	echo "status $status, expected $want and '$text'"
	cat "$TMP/out" "$TMP/err"
	[ "$status" = "$want" ] && [ ! -s "$TMP/out" ] &&
		[ "$(grep -cv '^angara-run: ' "$TMP/err")" = 1 ] &&
		grep -qF -- "$text" "$TMP/err"
}

refused()
{
	local name=$1 status=0

	shift
	says "$@" >"$TMP/why" 2>&1 || status=$?
	report "$status" "$name"
}

# copied N SIZE WAY...: a broadcast file of SIZE bytes arrives at N processes
copied()
{
	local n=$1 size=$2 i

	shift 2
	rm -rf "$TMP/copies"
	mkdir "$TMP/copies"
	head -c "$size" /dev/urandom >"$TMP/file"
	angara-run -n "$n" angara-bcast-file --chunk 4099 "$@" \
		--out "$TMP/copies" "$TMP/file" || return
	for ((i = 0; i < n; i++)); do
		cmp "$TMP/file" "$TMP/copies/rank.$i" || return
	done
	[ "$(find "$TMP/copies" -type f | wc -l)" = "$n" ]
}

check_copied()
{
	local name=$1 status=0

	shift
	copied "$@" >"$TMP/why" 2>&1 || status=$?
	report "$status" "$name"
}

on_processes()
{
	local n=$1 way name

	for way in '' --p2p; do
		name="${way:---offload} on $n"
		name=${name#--}
		# shellcheck disable=SC2086 # no word if empty
		{
			check_copied "bcast-file $name" "$n" 20000 $way
			check "heat2d $name" angara-run -n "$n" angara-heat2d \
				--nx 37 --ny 29 --steps 7 --check $way
			check "spmv $name" angara-run -n "$n" angara-spmv \
				--n 403 --iters 3 --check $way
		}
	done
}

sizes()
{
	local size way

	for size in 0 1 191 192 193 4098 4099 4100 8198 300001; do
		check_copied "bcast-file of $size bytes" 4 "$size"
	done
	check_copied "bcast-file of 300001 bytes, p2p" 4 300001 --p2p
	for way in '' --p2p; do
		# Processes without rows must not fall behind, in any of 200 iterations.
		# shellcheck disable=SC2086 # no word if empty
		check "spmv: fewer rows than processes $way" angara-run -n 8 \
			angara-spmv --n 3 --nnz 2 --iters 200 --check $way
	done
	check "spmv: one tree" angara-run -n 8 angara-spmv --n 300 --trees 1 \
		--iters 3 --check
	check "heat2d: a column of cells" angara-run -n 8 angara-heat2d \
		--nx 1 --ny 8 --steps 5 --check
	check "collops" angara-run -n 3 angara-collops --iters 3
}

matrices()
{
	printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' \
		'5 5 6' '1 1 2' '2 1 -1' '3 3 4' '4 2 0.5' '5 5 1e-3' '5 1 7' \
		>"$TMP/m.mtx"
	check "spmv: a Matrix Market file" angara-run -n 3 angara-spmv \
		--matrix "$TMP/m.mtx" --iters 9 --check
	echo '6 1 1' >>"$TMP/m.mtx"
	refused "spmv: a line too many" 'm.mtx:9: more elements' 2 \
		angara-run -n 3 angara-spmv --matrix "$TMP/m.mtx"
}

bad_input()
{
	refused "bcast-file: missing file" "$TMP/none: No such file" 2 \
		angara-run -n 3 angara-bcast-file "$TMP/none"
	refused "bcast-file: missing folder" "--out $TMP/none: No such file" 2 \
		angara-run -n 3 angara-bcast-file --out "$TMP/none" "$0"
	refused "bcast-file: wrong number" "--chunk 'x': not a number" 2 \
		angara-run -n 3 angara-bcast-file --chunk x "$0"
	refused "heat2d: grid too small" 'cannot be divided among 8 processes' 2 \
		angara-run -n 8 angara-heat2d --nx 2 --ny 2
	refused "spmv: unknown option" "unknown option '--foo'" 2 \
		angara-run -n 3 angara-spmv --foo
}

# Each check of the applications finds the error that it is for, and names the rank.
found()
{
	local way

	for way in '' --p2p; do
		# shellcheck disable=SC2086 # no word if empty
		{
			refused "bcast-file finds a corrupt byte $way" \
				'rank 2: received data differ' 1 angara-run -n 3 \
				angara-bcast-file --flip 2 $way "$0"
			refused "heat2d finds a corrupt cell $way" 'of rank 1, is' 1 \
				angara-run -n 3 angara-heat2d --nx 9 --ny 9 \
				--steps 2 --check --flip 1 $way
			refused "spmv finds a corrupt element $way" \
				'rank 2: check:' 1 angara-run -n 3 angara-spmv \
				--n 64 --iters 2 --check --flip 2 $way
		}
	done
	mkdir "$TMP/spoilt"
	angara-run -n 3 angara-bcast-file --flip 1 --out "$TMP/spoilt" "$0" \
		2>"$TMP/why" && BAD=$((BAD + 1))
	[ -z "$(ls -A "$TMP/spoilt")" ]
	report $? "bcast-file leaves no incomplete file"
}

# interrupted SIGNAL WHOM: after SIGNAL to program WHOM, a job ends in time and
# with an error
interrupted()
{
	local signal=$1 whom=$2 status=0 run parent

	mkdir -p "$TMP/cut"
	head -c 3000000 /dev/urandom >"$TMP/file"
	timeout 600 angara-run -n 8 angara-bcast-file --chunk 16 \
		--out "$TMP/cut" "$TMP/file" &
	run=$!
	# Wait until all processes have opened their files.
	while [ "$(find "$TMP/cut" -type f | wc -l)" != 8 ] &&
		kill -0 "$run" 2>/dev/null; do
		sleep 0.1
	done
	# Other tests run programs of these names, too.
	parent=$run
	[ "$whom" = angara-run ] || parent=$(pgrep -P "$run" -x angara-run)
	pkill "-$signal" -n -P "$parent" -x "$whom"
	wait "$run" || status=$?
	echo "status $status"
	[ "$status" != 0 ] && [ "$status" != 124 ]
}

killed()
{
	interrupted TERM angara-run >"$TMP/why" 2>&1 &&
		[ -z "$(ls -A "$TMP/cut")" ]
	report $? "a job that is terminated leaves no files"
	# The kernel truncates the name that pkill compares.
	interrupted KILL angara-bcast-fi >"$TMP/why" 2>&1
	report $? "a process that is killed ends the job"
}

case ${ANGARA_FABRIC:-} in
embedded*) ;;
*) [ -c /dev/angara0 ] || skip_all \
	"no adapter: modprobe angara_loop fabric=torus:2x2x2, or ANGARA_FABRIC=embedded:2x2x2" ;;
esac
for program in angara-run angara-bcast-file angara-heat2d angara-spmv \
	angara-collops; do
	command -v "$program" >/dev/null || skip_all "$program is not in PATH"
done

echo 'TAP version 13'
for n in 1 2 3 5 8 16; do
	on_processes "$n"
done
sizes
matrices
bad_input
found
killed
echo "1..$COUNT"
echo "# Totals: pass:$((COUNT - BAD)) fail:$BAD"
[ "$BAD" = 0 ]
