#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs built for the last release run with this library: the interface of headers and library is
# that of libangara/libangara.abi, or a superset. The comparison detects changes that would break
# such programs: the test makes the changes of selftests/abi/changes.txt.
#
# To change the interface before a release: make -C libangara abi

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/variant.sh

LIB=$VARIANTS/plain/lib/libangara.so
HEADERS=$TAP_TMP/include

# compare FOLDER: compares the last release with the headers in FOLDER and the library.
compare()
{
	libangara/abi.sh diff libangara/libangara.abi "$1" "$LIB"
}

# edited FILE FROM TO: makes a copy of the headers in which FROM is replaced by TO.
edited()
{
	rm -rf "$HEADERS"
	cp -r libangara/include "$HEADERS" &&
		mutate "$1" "$2" "$3" >"$HEADERS/angara/${1##*/}"
}

# breaks FILE FROM TO REPORT: the comparison rejects the change with the report.
breaks()
{
	edited "$@" || return
	! compare "$HEADERS" >"$TAP_TMP/said" 2>&1 || return
	cat "$TAP_TMP/said"
	grep -q -- "$4" "$TAP_TMP/said"
}

# compatible FILE FROM TO: the comparison accepts the change.
compatible()
{
	edited "$@" && compare "$HEADERS"
}

versioned()
{
	! nm -D --defined-only "$LIB" | grep -vE ' A |@@LIBANGARA_1\.0$'
}

# padded FLAG FOLDER...: prints the structures of headers that have holes, whose
# contents would be uninitialized.
padded()
{
	local flag=$1 folder header

	shift
	for folder; do
		for header in "$folder"/*/*.h; do
			printf '#include "%s"\n' "$header" |
				gcc "$flag" -Wpadded -iquote . -Iuapi \
					-Ilibangara/include \
					-idirafter "/usr/include/$(gcc -print-multiarch)" \
					-fsyntax-only -x c -
		done
	done
}

# padding FILE FROM TO REPORT: padded finds the hole that this change makes.
padding()
{
	mkdir -p "$TAP_TMP/hole/linux"
	mutate "$1" "$2" "$3" >"$TAP_TMP/hole/linux/${1##*/}" || return
	padded -m64 "$TAP_TMP/hole" 2>&1 | grep "$4"
}

# change FIRST NAME FROM TO REPORT: makes one change of the list.
change()
{
	local kind file

	read -r kind file <<<"$1"
	check "$kind: $2" "$kind" "$file" "${@:3}"
}

# The check also covers the library itself: a missing symbol is found.
lost()
{
	local map=$TAP_TMP/lost.map so=$TAP_TMP/lost.so

	grep -v angara_job_barrier libangara/libangara.map >"$map"
	libangara/abi.sh stub libangara/libangara.abi "$map" "$so" || return
	! libangara/abi.sh diff libangara/libangara.abi libangara/include "$so" \
		>"$TAP_TMP/said" 2>&1 || return
	grep -F "angara_job_barrier@@LIBANGARA_1.0" "$TAP_TMP/said"
}

silent 'no structure has holes' padded -m64 uapi libangara/include
silent 'no structure of a 32-bit program has holes' padded -m32 uapi
if ! command -v abidiff >/dev/null; then
	skip 'the interface' 'abidiff is missing: install abigail-tools'
	plan
	exit
fi

check 'the library builds' variant plain libangara
check 'each symbol has its version' versioned
check 'headers and library are a superset of the last release' \
	compare libangara/include
check 'a symbol of the library is missing' lost
faults selftests/abi/changes.txt change
plan
