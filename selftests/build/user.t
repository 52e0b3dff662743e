#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Library, tools and kselftests build with gcc and with clang, without a warning;
# clang optimises library and tools only if LONG is set.

set -u
. selftests/tap.sh
. selftests/variant.sh

# is_default COMPILER: do other tests build with this compiler?
is_default()
{
	[ "$(readlink -f "$(command -v "$1")")" = \
		"$(readlink -f "$(command -v "${CC:-cc}")")" ]
}

# build COMPILER PART: fails if make fails or the compiler warns.
build()
{
	local log=$TAP_TMP/log status=0 options=() out=$TAP_TMP/$1 library=$TAP_TMP/$1

	if [ "$2" != selftests/kselftest ] && is_default "$1"; then
		# In that variant warnings are errors.
		variant plain "$2"
		return
	fi
	if [ "$2" = selftests/kselftest ]; then
		# This Makefile appends to CFLAGS, as kernel makefiles do.
		! is_default "$1" || library=$VARIANTS/plain
		options=("LIBANGARA=$library/lib/libangara.a")
		out+=/selftests
	elif [ "$1" = clang ] && ! long_form; then
		options=('CFLAGS=-O0 -g')
	fi
	build_in "$out" "CC=$1" "KSELFTEST_INC=$PWD/build/kernel-tools" \
		"${options[@]}" "$2" >"$log" 2>&1 || status=$?
	! grep -A5 -E 'warning:|error:' "$log" || status=1
	[ "$status" = 0 ] || tail -n 20 "$log"
	return "$status"
}

for compiler in gcc clang; do
	if ! command -v "$compiler" >/dev/null; then
		skip "$compiler" "not installed"
		continue
	fi
	for part in libangara libangara/shmem tools selftests/kselftest; do
		check "$compiler: $part" build "$compiler" "$part"
	done
done
plan
