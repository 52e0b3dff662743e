# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# TAP for test scripts. They run with the repository as working directory
# (selftests/prove sees to it) and end with `plan`.

TAP_COUNT=0
TAP_TMP=$(mktemp -d)
trap 'rm -rf "$TAP_TMP"' EXIT

# result STATUS NAME: a test passes if STATUS is 0. What it has to say stands
# in $TAP_TMP/why, shown if it fails.
result()
{
	TAP_COUNT=$((TAP_COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $TAP_COUNT - $2"
	else
		echo "not ok $TAP_COUNT - $2"
		[ ! -s "$TAP_TMP/why" ] ||
			head -n 60 "$TAP_TMP/why" | sed 's/^/# /'
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

# silent NAME COMMAND [ARG]...: passes if COMMAND succeeds and says nothing.
silent()
{
	local name=$1 status=0

	shift
	"$@" >"$TAP_TMP/why" 2>&1 || status=$?
	[ ! -s "$TAP_TMP/why" ] || status=1
	result "$status" "$name"
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

# The files of the project that match one of the patterns: what git knows
# and what is new, or, in an exported tree, all but what was built.
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
