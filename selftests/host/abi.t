#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs made for the last release run with this library: its interface, as
# headers and library have it, is that of libangara/libangara.abi, or more. And
# the comparison notices what would break them.
#
# Where the interface changes before a release: make -C libangara abi

set -u
. selftests/tap.sh
. selftests/variant.sh

LIB=$VARIANTS/plain/lib/libangara.so
HEADERS=$TAP_TMP/include

# Compares the last release with the headers in $HEADERS and the library.
compare()
{
	libangara/abi.sh diff libangara/libangara.abi "$1" "$LIB"
}

# An edit of the headers, by sed: there has to be something to edit.
edited()
{
	rm -rf "$HEADERS"
	cp -r libangara/include "$HEADERS"
	sed -i -E "$1" "$HEADERS"/angara/*.h
	! diff -r libangara/include "$HEADERS" >/dev/null
}

# breaks TEXT EDIT: an edit that the comparison refuses, and names TEXT.
breaks()
{
	edited "$2" || return
	! compare "$HEADERS" >"$TAP_TMP/said" 2>&1 || return
	cat "$TAP_TMP/said"
	grep -qF -- "$1" "$TAP_TMP/said"
}

grows()
{
	edited "$1" && compare "$HEADERS"
}

versioned()
{
	! nm -D --defined-only "$LIB" | grep -vE ' A |@@LIBANGARA_1\.0$'
}

# The library itself, not only its headers: a symbol that it lost.
lost()
{
	local map=$TAP_TMP/lost.map so=$TAP_TMP/lost.so

	grep -v angara_job_barrier libangara/libangara.map >"$map"
	libangara/abi.sh stub libangara/libangara.abi "$map" "$so" || return
	! libangara/abi.sh diff libangara/libangara.abi libangara/include "$so" \
		>"$TAP_TMP/said" 2>&1 || return
	grep -F "angara_job_barrier@@LIBANGARA_1.0" "$TAP_TMP/said"
}

if ! command -v abidiff >/dev/null; then
	skip 'the interface' 'abidiff is missing: install abigail-tools'
	plan
	exit
fi

check 'the library builds' variant plain libangara
check 'each symbol has its version' versioned
check 'headers and library are those of the last release, or more' \
	compare libangara/include
check 'a new function is no break' \
	grows 's/^int angara_job_barrier.*/&\nint angara_job_more(void);/'
check 'a structure with its size may grow' \
	grows 's/^\tuint32_t msg_bytes;/&\n\tuint32_t newer;/'
check 'a function that is gone' \
	breaks "[D] 'function int angara_job_barrier" 's/^int angara_job_barrier.*//'
check 'a function of the library that is gone' lost
check 'a function with another argument' breaks 'was added' \
	's/^int angara_job_barrier\(.*/int angara_job_barrier(struct angara_job *job, int more);/'
check 'a structure with a member in between' breaks "uint32_t between" \
	's/^\tuint32_t cq_entries;/\tuint32_t between;\n&/'
check 'a structure without its size that grows' breaks "uint32_t more" \
	's/^\tuint16_t ctx;/&\n\tuint32_t more;/'
check 'a constant with another value' breaks 'ANGARA_ST_KEY 2' \
	's/(define ANGARA_ST_KEY)\t+2/\1 3/'
check 'a constant that is gone' breaks 'ANGARA_FOREVER' \
	'/define ANGARA_FOREVER/d'
plan
