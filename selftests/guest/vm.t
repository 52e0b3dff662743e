#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tools/vm/run: output and exit status are passed on unchanged, and a guest that
# hangs or fails has its own exit status.

set -u
. selftests/tap.sh

OUT=$TAP_TMP/out
ERR=$TAP_TMP/err
NEWEST=$(newest_kernel)

# Runs a guest; its output is then in $OUT and $ERR, its exit status in STATUS.
guest()
{
	STATUS=0
	tools/vm/run --env "TEST=$TAP_TMP" "$@" >"$OUT" 2>"$ERR" || STATUS=$?
}

# expect NAME CONDITION...: passes if the test(1) expression is true; shows the
# output if not.
expect()
{
	local name=$1

	shift
	{
		echo "exit status $STATUS; end of standard error:"
		tail -n 20 "$ERR"
	} >"$TAP_TMP/why"
	test "$@"
	result $? "$name"
}

refused()
{
	local name=$1

	shift
	guest "$@"
	expect "$name is refused with 2" "$STATUS" = 2
	expect "$name: one line has the reason" "$(wc -l <"$ERR")" = 1
}

refused 'an unknown kernel' --kernel 5.0 -- true
refused 'an unknown option' --frobnicate
refused 'a value left out' --mem
refused 'a bad size of torus' --loop 2x -- true
refused 'a user whose name begins with that of another' --user rootkit -- true
refused 'a bad regular expression' --ignore '(' -- true
refused 'a folder that is not there' --share "$TAP_TMP/nowhere" -- true
refused 'a command without --' true

# All 256 byte values, in twice as many bytes as the ports can buffer.
perl -e 'print pack("C*", 0 .. 255) x 4096' >"$TAP_TMP/bytes"
STATUS=0
# shellcheck disable=SC2016 # the guest's shell expands it
(cd / && "$OLDPWD/tools/vm/run" --no-driver --stdin --env 'WORDS=a  b' \
	-- sh -c 'cat; echo "$WORDS" >&2; echo again >/dev/stderr
		sleep 300 & exit 37' \
	<"$TAP_TMP/bytes" >"$OUT" 2>"$ERR") || STATUS=$?
expect 'the exit status is passed on, even if a process is left behind' \
	"$STATUS" = 37
cmp "$OUT" "$TAP_TMP/bytes"
result $? 'standard output is passed on byte by byte'
expect 'standard error comes separately' \
	"$(cat "$ERR")" = "$(printf 'a  b\nagain')"

mkdir -m 777 "$TAP_TMP/shared"
echo from host >"$TAP_TMP/shared/in"
# This guest ends when it sees the other guest's file.
tools/vm/run --no-driver --share "$TAP_TMP/shared" -- \
	sh -c 'until [ -e /share/other ]; do sleep 0.1; done; echo one' \
	>"$TAP_TMP/one" 2>&1 &
first=$!
guest --no-driver --kernel "$NEWEST" --share "$TAP_TMP/shared" --user nobody -- \
	sh -c 'cat /share/in; id -un; pwd; uname -r; : >/share/other'
expect 'a folder is shared, users change, the cwd is the repository' \
	"$(head -n 3 "$OUT" | paste -sd' ')" = 'from host nobody /angara'
expect 'the kernel is the one asked for' \
	"$(tail -n 1 "$OUT" | cut -d. -f1-2)" = "$NEWEST"
wait "$first"
expect 'two guests run at once' "$(cat "$TAP_TMP/one")" = one

# Booting may take long on a busy machine.
for limit in 25 50 100 200; do
	guest --no-driver --timeout "$limit" -- sh -c 'echo before; sleep 300'
	[ ! -s "$OUT" ] || break
done
expect 'a guest that hangs ends with 124' "$STATUS" = 124
expect 'its output before the end is passed on' "$(cat "$OUT")" = before
grep -q 'Linux version' "$ERR"
expect 'its console is shown' $? = 0

guest --no-driver --patience 2 --qemu -S -- true
expect 'a guest that never boots ends with 125' "$STATUS" = 125
expect 'it was tried three times' "$(grep -c 'got stuck' "$ERR")" = 3

# Simulates a guest that is stuck.
tools/vm/run --no-driver --patience 8 --pidfile "$TAP_TMP/qemu" \
	-- echo started >"$OUT" 2>"$ERR" &
until [ -s "$TAP_TMP/qemu" ]; do
	sleep 0.1
done
kill -STOP "$(cat "$TAP_TMP/qemu")"
STATUS=0
wait $! || STATUS=$?
expect 'a guest that gets stuck while it boots is booted again' \
	"$STATUS $(cat "$OUT")" = '0 started'

guest --no-driver -- sh -c 'echo c >/proc/sysrq-trigger'
expect 'a kernel that dies ends with 125' "$STATUS" = 125
grep -q 'Kernel panic' "$ERR"
expect 'its last messages are shown' $? = 0

guest --no-driver -- sh -c 'echo "<4>WARNING: made up" >/dev/kmsg'
expect 'a warning of the kernel ends with 125' "$STATUS" = 125
# Other users may run guests: the commands of this test's guests have a mark.
expect 'no files are left in build/vm' \
	-z "$(grep -ls "$TAP_TMP" build/vm/job.*/command)"
plan
