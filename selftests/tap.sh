# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# TAP for test scripts. Scripts run in the repository's top folder, where
# selftests/prove starts them, and end with `plan`.

TAP_COUNT=0
TAP_TMP=$(mktemp -d)
trap 'rm -rf "$TAP_TMP"' EXIT

# Prints the output of a failed test: all of it, or if it is long, its failed
# results with the lines before them, then its end.
show_failure()
{
	if [ "$(wc -l <"$1")" -le 60 ]; then
		cat "$1"
	else
		grep -a -B 2 -E '^[[:space:]]*not ok|Sanitizer: ' "$1" | head -n 40
		echo '...'
		tail -n 20 "$1"
	fi | sed 's/^/# /'
}

# Appends a line to the file $STEPS: the script, the result, and the elapsed seconds and
# seconds of processors since the previous result.
clock_step()
{
	local user system cpu

	times >"$TAP_TMP/times"
	# The second line is of the processes that the script has waited for.
	{ read -r _; read -r user system; } <"$TAP_TMP/times"
	cpu=$(awk -v u="$user" -v s="$system" -F '[ms]' \
		'BEGIN { split(u, a); split(s, b); print a[1] * 60 + a[2] + b[1] * 60 + b[2] }')
	awk -v script="$0" -v name="$1" -v wall=$((SECONDS - STEP_WALL)) -v cpu="$cpu" \
		-v before="$STEP_CPU" 'BEGIN {
		printf "%4d %7.1f  %s: %s\n", wall, cpu - before, script, name }' >>"$STEPS"
	STEP_WALL=$SECONDS
	STEP_CPU=$cpu
}
STEP_WALL=$SECONDS
STEP_CPU=0

# result STATUS NAME: prints the result of a test, which passes if STATUS is 0,
# and the output in $TAP_TMP/why if it fails.
result()
{
	[ -z "${STEPS:-}" ] || clock_step "$2"
	TAP_COUNT=$((TAP_COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $TAP_COUNT - $2"
	else
		echo "not ok $TAP_COUNT - $2"
		[ ! -s "$TAP_TMP/why" ] || show_failure "$TAP_TMP/why"
	fi
	rm -f "$TAP_TMP/why"
}

# check NAME COMMAND [ARG]...: passes if COMMAND succeeds.
check()
{
	local name=$1 status=0

	shift
	"$@" >"$TAP_TMP/why" 2>&1 || status=$?
	result "$status" "$name"
}

# silent NAME COMMAND [ARG]...: passes if COMMAND succeeds without output.
silent()
{
	local name=$1 status=0

	shift
	"$@" >"$TAP_TMP/why" 2>&1 || status=$?
	[ ! -s "$TAP_TMP/why" ] || status=1
	result "$status" "$name"
}

# ends STATUS COMMAND [ARG]...: succeeds if COMMAND ends with STATUS within ten
# minutes.
ends()
{
	local want=$1 status=0

	shift
	timeout 600 "$@" || status=$?
	echo "status $status, expected $want"
	[ "$status" = "$want" ]
}

# complains TEXT STATUS COMMAND [ARG]...: succeeds if COMMAND ends with STATUS
# and prints one line on standard error, which has TEXT.
complains()
{
	local text=$1 want=$2 status=0

	shift 2
	timeout 600 "$@" >"$TAP_TMP/said.out" 2>"$TAP_TMP/said" || status=$?
	echo "status $status, expected $want and '$text'; said:"
	cat "$TAP_TMP/said.out" "$TAP_TMP/said"
	[ "$status" = "$want" ] && [ "$(wc -l <"$TAP_TMP/said")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/said"
}

# says TEXT STATUS COMMAND [ARG]...: as complains, but COMMAND must print
# nothing else.
says()
{
	complains "$@" && [ ! -s "$TAP_TMP/said.out" ]
}

# nested NAME PROGRAM [ARG]...: prints the program's own results, renumbered,
# each after NAME if it is not empty, and one more: the program has printed all results,
# and no sanitizer has reported an error.
nested()
{
	local name=${1:+$1: } line status ended=0 seen=0 bad=0

	shift
	"$@" >"$TAP_TMP/tap" 2>"$TAP_TMP/err" || ended=$?
	while IFS= read -r line; do
		case $line in
		'# '*) echo "${line#\# }" >>"$TAP_TMP/why" ;;
		'ok '*)
			seen=$((seen + 1))
			result 0 "$name${line#* - }"
			;;
		'not ok '*)
			seen=$((seen + 1)) bad=$((bad + 1))
			result 1 "$name${line#* - }"
			;;
		esac
	done <"$TAP_TMP/tap"
	# The output ends with a plan unless a sanitizer, or a signal, has stopped the
	# program.
	[ "$(tail -n 1 "$TAP_TMP/tap")" = "1..$seen" ] && [ ! -s "$TAP_TMP/err" ] &&
		{ [ "$ended" = 0 ] || [ "$bad" -gt 0 ]; }
	status=$?
	{
		cat "$TAP_TMP/err"
		echo "exit status $ended after $seen results"
	} >"$TAP_TMP/why"
	result "$status" "${name}all results, no sanitizer report"
}

# Is the long form of a test requested? `make check-long` and others set LONG.
long_form()
{
	[ -n "${LONG:-}" ]
}

# amount SHORT LONG: prints SHORT, or LONG if the long form of the test is requested.
amount()
{
	if long_form; then echo "$2"; else echo "$1"; fi
}

# await COMMAND [ARG]...: repeats COMMAND until it succeeds, for a minute or
# WITHIN seconds.
await()
{
	local end=$((SECONDS + ${WITHIN:-60}))

	until "$@"; do
		if [ $SECONDS -gt $end ]; then
			echo "timed out: $*"
			return 1
		fi
		sleep 0.1
	done
}

# asleep N NAME: succeeds if there are N processes called NAME and all of them
# sleep.
asleep()
{
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v want="$1" -v name="($2)" '
		$2 == name { n++; sleeping += $3 == "S" }
		END { exit n != want || sleeping != want }'
}

# begin FILE COMMAND [ARG]...: starts COMMAND in the background and waits until
# it has written "ready" to FILE, its output. Its process id is $!.
begin()
{
	local file=$1

	shift
	# Remove the output of an earlier command.
	: >"$file"
	"$@" >"$file" 2>&1 &
	await grep -q ready "$file" && return
	cat "$file"
	return 1
}

skip()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT - $1 # SKIP $2"
}

plan()
{
	echo "1..$TAP_COUNT"
}

# The kernels of the guests, the oldest first.
kernels()
{
	(. tools/vm/lib.sh && kernel_names)
}

newest_kernel()
{
	kernels | tail -n 1
}

# The files of the project that match one of the patterns: those that git knows
# and new ones; in an exported tree, all except build output.
files()
{
	local pattern

	{
		git ls-files -co --exclude-standard 2>/dev/null ||
			find . \( -path ./build -o -path ./.git \) -prune \
				-o -type f -print |
			sed 's|^\./||'
	} | sort -u | while read -r file; do
		[ -f "$file" ] || continue
		for pattern in "$@"; do
			# shellcheck disable=SC2254 # it is a pattern
			case $file in
			$pattern) echo "$file"; break ;;
			esac
		done
	done
}
