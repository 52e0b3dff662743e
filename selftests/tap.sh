# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# TAP for test scripts. They run with the repository as working directory
# (selftests/prove sets it) and end with `plan`.

TAP_COUNT=0
TAP_TMP=$(mktemp -d)
trap 'rm -rf "$TAP_TMP"' EXIT

# Output of a failed test: all of it, or, if it is long, first its failed
# results, each with the lines before it, and then its end.
tell()
{
	if [ "$(wc -l <"$1")" -le 60 ]; then
		cat "$1"
	else
		grep -a -B 2 -E '^[[:space:]]*not ok|Sanitizer: ' "$1" | head -n 40
		echo '...'
		tail -n 20 "$1"
	fi | sed 's/^/# /'
}

# result STATUS NAME: a test passes if STATUS is 0. $TAP_TMP/why has its output,
# shown if it fails.
result()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $TAP_COUNT - $2"
	else
		echo "not ok $TAP_COUNT - $2"
		[ ! -s "$TAP_TMP/why" ] || tell "$TAP_TMP/why"
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

# ends STATUS COMMAND [ARG]...: COMMAND ends with STATUS, within two minutes.
ends()
{
	local want=$1 status=0

	shift
	timeout 120 "$@" || status=$?
	echo "status $status, expected $want"
	[ "$status" = "$want" ]
}

# complains TEXT STATUS COMMAND [ARG]...: COMMAND ends with STATUS, and prints
# one line on standard error, which has TEXT.
complains()
{
	local text=$1 want=$2 status=0

	shift 2
	timeout 120 "$@" >"$TAP_TMP/said.out" 2>"$TAP_TMP/said" || status=$?
	echo "status $status, expected $want and '$text'; said:"
	cat "$TAP_TMP/said.out" "$TAP_TMP/said"
	[ "$status" = "$want" ] && [ "$(wc -l <"$TAP_TMP/said")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/said"
}

# says TEXT STATUS COMMAND [ARG]...: as complains, without other output.
says()
{
	complains "$@" && [ ! -s "$TAP_TMP/said.out" ]
}

# nested NAME PROGRAM [ARG]...: the program's own results, renumbered, after the
# name if there is one; sanitizers must not report anything at its end.
nested()
{
	local name=${1:+$1: } line status

	shift
	"$@" >"$TAP_TMP/tap" 2>"$TAP_TMP/err"
	while IFS= read -r line; do
		case $line in
		'# '*) echo "${line#\# }" >>"$TAP_TMP/why" ;;
		'ok '*) result 0 "$name${line#* - }" ;;
		'not ok '*) result 1 "$name${line#* - }" ;;
		esac
	done <"$TAP_TMP/tap"
	# It ends with its plan, unless a sanitizer stopped it.
	tail -n 1 "$TAP_TMP/tap" | grep -q '^1\.\.' && [ ! -s "$TAP_TMP/err" ]
	status=$?
	cp "$TAP_TMP/err" "$TAP_TMP/why"
	result "$status" "${name}no sanitizer report"
}

# await COMMAND [ARG]...: repeats it for a minute, or WITHIN seconds, until it
# succeeds.
await()
{
	local end=$((SECONDS + ${WITHIN:-60}))

	until "$@"; do
		if [ $SECONDS -gt $end ]; then
			echo "waited in vain: $*"
			return 1
		fi
		sleep 0.1
	done
}

# asleep N NAME: there are N processes called NAME, and all of them sleep.
asleep()
{
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v want="$1" -v name="($2)" '
		$2 == name { n++; sleeping += $3 == "S" }
		END { exit n != want || sleeping != want }'
}

# begin FILE COMMAND [ARG]...: runs COMMAND in the background, after it has
# written to FILE that it is ready. Its process is $!.
begin()
{
	local file=$1

	shift
	# Remove the line of an earlier command.
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

# The files of the project that match one of the patterns: those known to git
# and new ones, or, in an exported tree, all except build output.
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
			# shellcheck disable=SC2254 # a pattern it is
			case $file in
			$pattern) echo "$file"; break ;;
			esac
		done
	done
}
