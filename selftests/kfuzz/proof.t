#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Does kfuzz find faults? Inserts each fault of selftests/kfuzz/faults.txt into
# a copy of the driver; a bounded number of programs of a seed has to find it.
# The copy without a fault has to pass. FAULT=REGEXP: only faults whose names
# match.

set -u
. selftests/tap.sh
. selftests/mutate.sh

LIST=selftests/kfuzz/faults.txt
COPY=build/debug/fuzz-faults

# build_copy: builds the modules from the sources in $COPY.
build_copy()
{
	tools/vm/chroot make -s -j"$(nproc)" -C /angara/build/debug/debug \
		"M=/angara/$COPY" KCOV_INSTRUMENT=y modules
}

# fuzz SEED RUNS: runs kfuzz on the copy; its output is in $TAP_TMP/said.
fuzz()
{
	MODULES=$COPY/driver OUT=$TAP_TMP/out LIMIT=900 \
		selftests/kfuzz/run --seed "$1" --runs "$2" \
		>"$TAP_TMP/said" 2>&1
}

passes()
{
	local status=0

	tools/mirror "$COPY" && build_copy || return
	fuzz 1 100 || status=$?
	tail -n 40 "$TAP_TMP/said"
	return "$status"
}

# finds SEED RUNS FILE FROM TO REPORT: does kfuzz find the fault, with a message that matches
# REPORT?
finds()
{
	tools/mirror "$COPY"
	mutate "$3" "$4" "$5" >"$TAP_TMP/fault" || return
	cp "$TAP_TMP/fault" "$COPY/$3"
	build_copy || return
	if fuzz "$1" "$2"; then
		tail -n 5 "$TAP_TMP/said"
		echo "nothing found"
		return 1
	fi
	grep -E 'kfuzz: found|run: ' "$TAP_TMP/said"
	grep -qE "$6" "$TAP_TMP/said" && return
	tail -n 40 "$TAP_TMP/said"
	return 1
}

# try FIRST NAME FROM TO REPORT: tests one fault of the list
try()
{
	local seed runs file

	read -r seed runs file <<<"$1"
	[[ $2 =~ ${FAULT:-} ]] || return 0
	echo "==> $2" >&2
	check "found: $2" finds "$seed" "$runs" "$file" "${@:3}"
}

[ -n "${FAULT:-}" ] || check 'no fault, nothing found' passes
faults "$LIST" try
plan
