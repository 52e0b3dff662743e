#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make check` inserts only some of the listed faults, and takes minutes to reach
# them. This test checks in seconds that each fault of all lists still applies,
# in exactly one place of the source.

set -u
. selftests/tap.sh
. selftests/mutate.sh

# Where the files are that a list names, by the list or by its folder in selftests. Lists without an
# entry name files by their path from the top folder.
declare -A BELOW=(
	[model]=driver/model/ [explore]=driver/model/ [fuzz]=''
	[sim]=tools/sim/ [vfio]=tools/vfio/ [shmem]=libangara/shmem/
	[algo/mutants.txt]=libangara/ [algo/tool.txt]=tools/algo/ [topo]=libangara/topo/
	[embed/mutants.txt]=libangara/ [embed/kept.txt]=libangara/
	[embed/inband.txt]=libangara/ [embed/around.txt]=libangara/
	[fm]='' [debug]='' [kernels]='' [kfuzz]='' [embed]='' [abi]='')

# applies FILE FROM TO: does the fault apply to FILE and change it?
applies()
{
	mutate "$1" "$2" "$3" >"$TAP_TMP/fault" || return
	! cmp -s "$1" "$TAP_TMP/fault" || ! echo "the replacement is the text"
}

# fault FIRST NAME FROM TO: checks one fault of $list
fault()
{
	local word file=

	for word in $1; do
		[[ $word != *.@(c|h|pm) ]] || file=$word
	done
	check "$short: $2" applies "$below$file" "$3" "$4"
}

# Scripts take faults from lists only, so this test sees all of them: mutate
# refuses any other text.
inline()
{
	! mutate selftests/mutate.sh 'mutate()' 'x' >"$TAP_TMP/out" &&
		[ ! -s "$TAP_TMP/out" ]
}

lists()
{
	files 'selftests/*.txt' | xargs grep -lx -- --
}

check 'a fault of no list is refused' inline
while read -r list; do
	short=${list#selftests/}
	below=${BELOW[$short]-${BELOW[${short%%/*}]-unknown: }}
	faults "$list" fault
done < <(lists)
plan
