#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the fuzzer of the driver; the steps in the guest are in
# selftests/kfuzz/check-in-guest.

set -u
. selftests/tap.sh

# When the kernel of a guest dies, the journal on the host names the program
# that was running.
journal_is_left()
{
	local dir=$TAP_TMP/share status=0

	mkdir "$dir"
	printf '== before\nquery\n== the-last\n%s\n' 'open; wait us=1999' >"$dir/in"
	# shellcheck disable=SC2016 # the guest's shell expands these
	tools/vm/run --timeout 1500 --share "$dir" -- bash -c '
		build/guest-user/selftests/kfuzz --replay /share/in \
			--times 300 --out /share &
		while ! grep -q the-last /share/journal.txt; do sleep 0.1; done
		echo c >/proc/sysrq-trigger' >"$dir/log" 2>&1 || status=$?
	tail -n 5 "$dir/log"
	tail -n 3 "$dir/journal.txt"
	[ "$status" = 125 ] &&
		[ "$(tail -n 3 "$dir/journal.txt" | head -n 1)" = '== the-last' ]
}

status=0
tools/vm/run --timeout 1500 --ignore 'BUG: made for a test of kfuzz' -- \
	selftests/kfuzz/check-in-guest >"$TAP_TMP/out" 2>"$TAP_TMP/why" ||
	status=$?
sed 's/^/    /' "$TAP_TMP/out"
! grep -q '^not ok' "$TAP_TMP/out" || status=1
result "$status" 'kfuzz'
check 'a kernel that dies leaves the program that ran' journal_is_left
plan
