#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Commands of documents that need a guest: blocks of kind "host" run here, each
# in its own shell; blocks of kind "guest" run as root in one guest with the
# loopback. "guest, until Ctrl-C" is a single command, which has to run until it is
# interrupted. See Documentation/contributing.rst.

set -u
. selftests/tap.sh

LIST=$TAP_TMP/list
SHARE=$TAP_TMP/share

# of KIND: prints the numbers of the blocks of that kind
of()
{
	awk -F '\t' -v kind="run: $1" '$3 == kind { print $1 }' "$LIST"
}

# script N: prints a guest's block as part of a script
script()
{
	cat "$SHARE/$1"
	echo "echo 'block $1: done'"
}

# endless N: prints the block of a command that runs until Ctrl-C, as part of a
# script. timeout returns 124 if it has interrupted the command.
endless()
{
	echo "status=0; timeout -s INT 5 $(cat "$SHARE/$1") >/dev/null || status=\$?"
	echo "[ \$status = 124 ]"
	echo "echo 'block $1: done'"
}

place_of()
{
	awk -F '\t' -v n="$1" '$1 == n { print $2 }' "$LIST"
}

mkdir "$SHARE"
files 'Documentation/*.rst' | xargs selftests/blocks "$SHARE" >"$LIST"
for n in $(of host); do
	check "on the host: $(place_of "$n")" bash -e "$SHARE/$n"
done

# The guest's shell stops at the first command that fails.
{
	for n in $(of guest); do
		script "$n"
	done
	for n in $(of 'guest, until Ctrl-C'); do
		endless "$n"
	done
} >"$SHARE/script"
tools/vm/run --timeout 1500 --share "$SHARE" -- bash -e /share/script \
	>"$TAP_TMP/log" 2>"$TAP_TMP/err"
status=$?
for n in $(of guest) $(of 'guest, until Ctrl-C'); do
	tail -n 40 "$TAP_TMP/log" "$TAP_TMP/err" >"$TAP_TMP/why"
	grep -qx "block $n: done" "$TAP_TMP/log"
	result $? "in the guest: $(place_of "$n")"
done
cp "$TAP_TMP/err" "$TAP_TMP/why"
result "$status" 'the guest, and its log'
plan
