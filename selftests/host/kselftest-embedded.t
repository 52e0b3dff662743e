#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The driver's kselftest programs, unchanged, on an embedded fabric: a shim
# presents it as /dev/angaraN. selftests/embed/kernel-only.txt lists results
# that need a kernel; they are skipped.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$TAP_TMP/build
PLAIN=$VARIANTS/plain
LIST=selftests/embed/kernel-only.txt
PROGRAMS='ioctl values mmap mr p2p msg flow tree coll floats members inflight
	poll isolation domain share kill race races fabric failnth netlink switch manage'
HARNESS=$PWD/build/kernel-tools
export ANGARA_TEST_SCALE=${ANGARA_TEST_SCALE:-10}
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

# The shim itself counts the objects that programs hold, since there is no netlink.
build()
{
	local flags="-Wl,--wrap=at_usage,--wrap=at_usage_wait"

	flags+=" $PWD/selftests/embed/usage.c -D_GNU_SOURCE -I$PWD/selftests/kselftest"
	variant plain libangara libangara:tests &&
		build_in "$OUT" "KSELFTEST_INC=$HARNESS" \
			"LDFLAGS=$flags -I$PWD/uapi" selftests/kselftest &&
		${CC:-cc} -std=gnu11 -O2 -g -fPIC -shared -fvisibility=hidden \
			-D_GNU_SOURCE -Wall -Wextra -Wshadow -Ilibangara \
			-Ilibangara/include -Ilibangara/env -Iuapi \
			-Idriver/model -Idriver -o "$OUT/shim.so" \
			selftests/embed/shim.c -Wl,--exclude-libs,ALL \
			"$PLAIN/lib/libangara.a" -ldl
}

# reason PROGRAM RESULT: prints why the result needs a kernel; nothing if it does not
reason()
{
	local program result why

	while read -r program result why; do
		# shellcheck disable=SC2053 # it is a pattern
		if [ "$program" = "$1" ] && [[ $2 == $result ]]; then
			echo "$why"
			return
		fi
	done <"$LIST"
}

# run PROGRAM: runs a program with output to $TAP_TMP/out, while another process
# keeps the fabric open.
run()
{
	local status=0
	local fabric=embedded:2x2x2,name=kself-$$

	[ "$1" != switch ] || fabric=embedded:kns:2x2,name=kself-$$
	begin "$TAP_TMP/keeper" env "ANGARA_FABRIC=$fabric" \
		"$PLAIN/tests/libangara-test" stay || return
	ANGARA_FABRIC=$fabric LD_PRELOAD=$OUT/shim.so timeout -k 5 300 \
		"$OUT/selftests/$1" >"$TAP_TMP/out" 2>&1 || status=$?
	kill $!
	wait $!
	rm -f "/dev/shm/angara-$(id -u)-kself-$$"
	return "$status"
}

# judge PROGRAM: prints a result of this test for each result of the program
judge()
{
	local ok name why status

	while read -r ok _ name; do
		[ "$ok" != not ] || name=${name#* }
		name=${name%% *}
		status=0
		[ "$ok" = ok ] || status=1
		why=$(reason "$1" "$name")
		if [ -z "$why" ]; then
			grep -a ":${name##*.}:" "$TAP_TMP/out" >"$TAP_TMP/why"
			result "$status" "$1: $name"
		elif [ "$status" = 0 ]; then
			echo "$LIST says: $why" >"$TAP_TMP/why"
			result 1 "$1: $name passes"
		else
			skip "$1: $name" "$why"
		fi
	done < <(grep -aE '^(not )?ok ' "$TAP_TMP/out")
}

program()
{
	local planned

	run "$1" 2>/dev/null
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$TAP_TMP/out")
	if [ "${planned:-0}" = 0 ] || [ "$planned" != \
			"$(grep -acE '^(not )?ok ' "$TAP_TMP/out")" ]; then
		cp "$TAP_TMP/out" "$TAP_TMP/why"
		result 1 "$1: the plan matches the results"
	fi
	judge "$1"
}

if [ ! -e "$HARNESS/kselftest_harness.h" ]; then
	skip 'the kselftests' "no kselftest_harness.h in $HARNESS: make setup"
	plan
	exit
fi
check 'builds' build
for name in $PROGRAMS; do
	why=$(reason "$name" '*')
	if [ -n "$why" ]; then
		skip "$name" "$why"
	else
		program "$name"
	fi
done
plan
