#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The long mutation tests run on demand only. This test checks that each of
# their faults still applies, in exactly one place of the source.

set -u
. selftests/tap.sh
. selftests/mutate.sh

# stands FILE FROM TO: does the fault apply to FILE and change it?
stands()
{
	mutate "$1" "$2" "$3" >"$TAP_TMP/fault" || return
	! cmp "$1" "$TAP_TMP/fault"
}

# driver FIRST REPORT FROM TO: checks one fault of $list
driver()
{
	local file name

	read -r _ _ file name <<<"$1"
	check "${list#selftests/}: $name" stands "$file" "$3" "$4"
}

# model LIST: each text is one line, or lines up to "end".
model()
{
	local first file name from to

	exec 5< <(sed '/^#/d; /^$/d' "$1")
	while IFS= read -r first <&5; do
		read -r _ file name <<<"$first"
		IFS= read -r from <&5
		IFS= read -r to <&5
		IFS= read -r _ <&5
		check "${1#selftests/}: $name" stands "driver/model/$file" \
			"$from" "$to"
	done
	exec 5<&-
}

for list in selftests/{debug,kernels,kfuzz}/faults.txt; do
	faults "$list" driver
done
model selftests/fuzz/mutants.txt
plan
