#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Library, tools and selftests build with gcc and with clang, without a warning.

set -u
. selftests/tap.sh
. selftests/variant.sh

# is_default COMPILER: whether other tests build with it, too.
is_default()
{
	[ "$(readlink -f "$(command -v "$1")")" = \
		"$(readlink -f "$(command -v "${CC:-cc}")")" ]
}

# build COMPILER PART: fails if make fails or the compiler warns.
build()
{
	local log=$TAP_TMP/log status=0 options=()

	if [ "$2" != selftests ] && is_default "$1"; then
		# Warnings are errors there.
		variant plain "$2"
		return
	fi
	! is_default "$1" ||
		options=("LIBANGARA=$VARIANTS/plain/lib/libangara.a")
	build_in "$TAP_TMP/$1" "CC=$1" "KSELFTEST_INC=$PWD/build/kernel-tools" \
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
	for part in libangara libangara/shmem tools selftests; do
		check "$compiler: $part" build "$compiler" "$part"
	done
done
plan
