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

# driver FIRST NAME FROM TO: checks one fault of $list
driver()
{
	local file

	read -r _ _ file <<<"$1"
	check "${list#selftests/}: $2" stands "$file" "$3" "$4"
}

# model FIRST NAME FROM TO
model()
{
	check "${list#selftests/}: $2" stands "driver/model/${1##* }" "$3" "$4"
}

# simulator FIRST NAME FROM TO
simulator()
{
	check "${list#selftests/}: $2" stands "tools/sim/$1" "$3" "$4"
}

for list in selftests/{debug,kernels,kfuzz}/faults.txt; do
	faults "$list" driver
done
list=selftests/fuzz/mutants.txt
faults "$list" model
for list in selftests/sim/*mutants.txt; do
	faults "$list" simulator
done
plan
