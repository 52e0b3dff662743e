#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kselftest programs: all of them on one kernel, some on the newest, with a part of
# each sweep; with LONG=1 more of them also on the other kernels, with all of each sweep.
# Each program is a test here, with its own results nested below.

set -u
. selftests/tap.sh

FULL=6.12
DIR=build/guest-user/selftests
SCALE=$(amount 10 100)

# suite KERNEL SCALE PROGRAM...: one guest runs all programs one after the
# other, with SCALE percent of each sweep.
suite()
{
	local kernel=$1 scale=$2 status=0 program

	shift 2
	echo "==> kselftest on $kernel: $# programs" >&2
	tools/vm/run --kernel "$kernel" --timeout 3000 \
		--env "ANGARA_TEST_SCALE=$scale" -- \
		selftests/in-guest "$DIR" "$@" \
		>"$TAP_TMP/$kernel" 2>"$TAP_TMP/why" || status=$?
	sed "s/^\(not ok\|ok\) - /&$kernel: /" "$TAP_TMP/$kernel"
	TAP_COUNT=$((TAP_COUNT + $(grep -cE '^(not )?ok ' "$TAP_TMP/$kernel")))
	# A program that did not run because the guest died has failed.
	for program; do
		grep -qE "^(not )?ok - $program( |\$)" "$TAP_TMP/$kernel" && continue
		TAP_COUNT=$((TAP_COUNT + 1))
		echo "not ok - $kernel: $program: did not finish"
	done
	tail -n 40 "$TAP_TMP/why" >"$TAP_TMP/end"
	mv "$TAP_TMP/end" "$TAP_TMP/why"
	result "$status" "$kernel: the guest and its kernel's log"
}

mapfile -t programs < <(cd "$DIR" 2>/dev/null &&
	find . -maxdepth 1 -type f -perm -u+x ! -name '*.*' -printf '%f\n' |
	sort)
if [ ${#programs[@]} = 0 ]; then
	echo "not ok - there are no programs in $DIR"
	echo 1..1
	exit 1
fi

read -ra scripts < <(sed -n 's/^TEST_PROGS := //p' selftests/kselftest/Makefile)

suite "$FULL" "$SCALE" "${programs[@]}" "${scripts[@]}"
# shellcheck disable=SC2016 # fields of awk
check 'selftests/guest/spine.list has names, and the word long' awk '
	{ sub(/#.*/, "") } NF > 2 || (NF == 2 && $2 != "long") { print; bad = 1 }
	END { exit bad }' selftests/guest/spine.list
mapfile -t spine < <(sed 's/#.*//' selftests/guest/spine.list |
	awk -v long="${LONG:-}" 'NF == 1 || (NF && long) { print $1 }')
[ ${#spine[@]} -gt 0 ]
result $? 'selftests/guest/spine.list names programs'
while read -r name; do
	suite "$name" "$SCALE" "${spine[@]}"
done < <(if long_form; then kernels; else newest_kernel; fi | grep -vxF "$FULL")
plan
