#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Library, tools and kselftests build with gcc and with clang, without a warning. Without LONG,
# clang builds only the library, without optimisation, and the kselftests. The kselftests also
# build in a part of a kernel tree that has only the files that they need.

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
	local log=$TAP_TMP/log status=0 options=()

	if [ "$2" != selftests/kselftest ] && is_default "$1"; then
		# In the variant "plain" compiler warnings are errors.
		variant plain "$2"
		return
	fi
	# The Makefile of kselftest appends to CFLAGS, as kernel makefiles do.
	[ "$2" = selftests/kselftest ] || [ "$1" != clang ] || long_form ||
		options=('CFLAGS=-O0 -g')
	build_in "$TAP_TMP/$1" "CC=$1" "KSELFTEST_INC=$PWD/build/kernel-tools" \
		"${options[@]}" "$2" >"$log" 2>&1 || status=$?
	judge "$status" "$log"
}

# judge STATUS LOG: fails if make has failed or the compiler has warned.
judge()
{
	local status=$1

	! grep -A5 -E 'warning:|error:' "$2" || status=1
	[ "$status" = 0 ] || tail -n 20 "$2"
	return "$status"
}

TREE=$TAP_TMP/linux
IN_TREE=$TREE/tools/testing/selftests/drivers/angara

# Makes the part of a kernel tree that tests are built with, with the headers of
# the driver as `make headers` leaves them.
lay_tree()
{
	local from=build/kselftest

	[ -e "$from/lib.mk" ] || tools/kselftest-headers "$from" || return
	mkdir -p "${IN_TREE%/*}" "$TREE/scripts" "$TREE/usr/include/linux" &&
		cp "$from"/{lib.mk,kselftest.h,kselftest_harness.h} \
			"$TREE/tools/testing/selftests" &&
		cp "$from/subarch.include" "$TREE/scripts" &&
		cp uapi/linux/*.h "$TREE/usr/include/linux" &&
		cp -r selftests/kselftest "$IN_TREE"
}

# in_tree TARGET...: makes targets in the part of the kernel tree, without optimization, since no
# program runs. Below another make, lib.mk has no default for OUTPUT.
in_tree()
{
	local log=$TAP_TMP/log status=0 options=()

	[[ ${MAKEFLAGS:-} = *--jobserver* ]] || options=("-j$(nproc)")
	make "${options[@]}" -C "$IN_TREE" "OUTPUT=$IN_TREE" "CC=${CC:-cc}" \
		USERCFLAGS=-O0 "$@" >"$log" 2>&1 || status=$?
	judge "$status" "$log"
}

# listed NAME...: prints the files that these variables of kselftest's Makefile name.
listed()
{
	# shellcheck disable=SC2016 # make expands it
	make -s -C "$IN_TREE" "OUTPUT=$IN_TREE" "NAMES=$*" \
		--eval 'listed: ; @echo $(notdir $(foreach name,$(NAMES),$($(name))))' \
		listed | xargs -n 1 | sort
}

# Is every program that the Makefile names built, and no other one?
all_built()
{
	listed TEST_GEN_PROGS TEST_GEN_FILES >"$TAP_TMP/want"
	find "$IN_TREE" -maxdepth 1 -type f -perm -u+x ! -name '*.sh' -printf '%f\n' |
		sort >"$TAP_TMP/built"
	[ "$(wc -l <"$TAP_TMP/want")" -gt 30 ] && diff "$TAP_TMP/want" "$TAP_TMP/built"
}

cleaned()
{
	in_tree clean && diff -r selftests/kselftest "$IN_TREE"
}

# Does the build fail if a program needs a header that a kernel tree does not export?
needs_other()
{
	sed -i '/#include "at_harness.h"/a#include "ang_hw.h"' "$IN_TREE/values.c" &&
		! in_tree "$IN_TREE/values" && grep -q 'ang_hw.h: No such file' "$TAP_TMP/log"
}

for compiler in gcc clang; do
	if ! command -v "$compiler" >/dev/null; then
		skip "$compiler" "not installed"
		continue
	fi
	parts=(libangara selftests/kselftest)
	if [ "$compiler" != clang ] || long_form; then
		parts+=(libangara/shmem tools selftests/library)
	fi
	for part in "${parts[@]}"; do
		check "$compiler: $part" build "$compiler" "$part"
	done
done
check 'a kernel tree' lay_tree
check 'the kselftests build in a kernel tree' in_tree all
check 'all of them' all_built
check 'make clean leaves what was there' cleaned
check 'a header that a kernel tree lacks is noticed' needs_other
plan
