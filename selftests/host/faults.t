#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The proofs that take long run on demand only. That the faults that they make
# can still be made, each in one place of the source, is seen here.

set -u
. selftests/tap.sh
. selftests/mutate.sh

# stands FILE FROM TO: the fault can be made, and changes something.
stands()
{
	mutate "$1" "$2" "$3" >"$TAP_TMP/fault" || return
	! cmp "$1" "$TAP_TMP/fault"
}

# driver FIRST REPORT FROM TO: a fault of $list
driver()
{
	local file name

	read -r _ _ file name <<<"$1"
	check "${list#selftests/}: $name" stands "$file" "$3" "$4"
}

# model LIST: one line each, then "end".
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
