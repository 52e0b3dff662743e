#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs built for the last release run with this library: the interface of
# headers and library is that of libangara/libangara.abi, or a superset. The
# comparison detects changes that would break such programs.
#
# To change the interface before a release: make -C libangara abi

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

# Edits a copy of the headers by sed; fails if no line changes.
edited()
{
	rm -rf "$HEADERS"
	cp -r libangara/include "$HEADERS"
	sed -i -E "$1" "$HEADERS"/angara/*.h
	! diff -r libangara/include "$HEADERS" >/dev/null
}

# breaks TEXT EDIT: the comparison rejects the edit and names TEXT.
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

# Does the check find a hole?
hole()
{
	mkdir -p "$TAP_TMP/hole/linux"
	sed 's/^\t__u32 abi;/&\n\t__u8 hole;/' uapi/linux/angara.h \
		>"$TAP_TMP/hole/linux/angara.h"
	padded -m64 "$TAP_TMP/hole" 2>&1 | grep "padding struct"
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
silent 'nor has one that is passed by a program of 32 bits' padded -m32 uapi
check 'a hole is found' hole
if ! command -v abidiff >/dev/null; then
	skip 'the interface' 'abidiff is missing: install abigail-tools'
	plan
	exit
fi

check 'the library builds' variant plain libangara
check 'each symbol has its version' versioned
check 'headers and library are a superset of the last release' \
	compare libangara/include
check 'a new function is compatible' \
	grows 's/^int angara_job_barrier.*/&\nint angara_job_more(void);/'
check 'a structure with its size may grow' \
	grows 's/^\tuint32_t failed_node;/&\n\tuint32_t newer;/'
check 'a function is missing' \
	breaks "[D] 'function int angara_job_barrier" 's/^int angara_job_barrier.*//'
check 'a symbol of the library is missing' lost
check 'a function with another argument' breaks 'was added' \
	's/^int angara_job_barrier\(.*/int angara_job_barrier(struct angara_job *job, int more);/'
check 'a structure with a member in between' breaks "uint32_t between" \
	's/^\tuint32_t cq_entries;/\tuint32_t between;\n&/'
check 'a structure without its size that grows' breaks "uint32_t more" \
	's/^\tuint16_t ctx;/&\n\tuint32_t more;/'
check 'a constant with another value' breaks 'ANGARA_ST_KEY 2' \
	's/(define ANGARA_ST_KEY)\t+2/\1 3/'
check 'a constant is missing' breaks 'ANGARA_FOREVER' \
	'/define ANGARA_FOREVER/d'
plan
