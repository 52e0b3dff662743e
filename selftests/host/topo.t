#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The torus and its trees, fabrics of all kinds, plans of trees, and routes around
# failures, under ASan and UBSan. Each fault of selftests/topo/mutants.txt is
# inserted into a copy of one file: the test of routes around failures must fail.

set -u
. selftests/tap.sh
. selftests/mutate.sh

CPP=(-std=gnu11 -D_GNU_SOURCE -O1 -Ilibangara -Ilibangara/topo -Ilibangara/include
	-Ilibangara/env -Iuapi -Idriver/model)
SANE=(-g -Wall -Wextra -Wno-unused-parameter '-fsanitize=address,undefined'
	-fno-sanitize-recover=all)
SOURCES=(libangara/topo/*.c driver/model/ang_topo*.c driver/model/ang_tree.c)

# build PROGRAM: builds a test with the topologies of library and model.
build()
{
	"${CC:-cc}" "${CPP[@]}" "${SANE[@]}" -o "$TAP_TMP/$1" "selftests/library/$1.c" \
		"${SOURCES[@]}"
}

# Prints results of a program as results of this script.
relay()
{
	local line

	while IFS= read -r line; do
		case $line in
		'ok '*) result 0 "${line#ok * - }" ;;
		'not ok '*) result 1 "${line#not ok * - }" ;;
		'1..'*) ;;
		*) echo "$line" ;;
		esac
	done
}

# objects: compiles everything for the mutants, without sanitizers.
objects()
{
	local file

	mkdir "$TAP_TMP/obj"
	for file in "${SOURCES[@]}" selftests/library/topo_avoid.c; do
		"${CC:-cc}" "${CPP[@]}" -w -c -o "$TAP_TMP/obj/$(basename "$file" .c).o" \
			"$file" || return
	done
}

# finds FILE FROM TO: does the test find the fault? A test that hangs finds none.
finds()
{
	local dir status=0
	local parts=()

	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "libangara/topo/$1" "$2" "$3" >"$dir/mutant.c" &&
		"${CC:-cc}" "${CPP[@]}" -w -c -o "$dir/mutant.o" "$dir/mutant.c" || return
	mapfile -t parts < <(find "$TAP_TMP/obj" -name '*.o' ! -name "${1%.c}.o")
	"${CC:-cc}" -o "$dir/test" "$dir/mutant.o" "${parts[@]}" || return
	(ulimit -t 60 && exec "$dir/test") || status=$?
	[ "$status" = 1 ] || [ "$status" = 139 ]
}

# fault FILE NAME FROM TO: tests one fault of the list
fault()
{
	seek "found: $1: $2" finds "$1" "$3" "$4"
}

for test in topo topo_fabric topo_plan topo_avoid; do
	check "$test builds" build "$test"
	status=0
	"$TAP_TMP/$test" >"$TAP_TMP/out" || status=$?
	relay <"$TAP_TMP/out"
	grep -q '^1\.\.' "$TAP_TMP/out" || status=1
	result "$status" "$test ends"
done
check 'the test is built for faults' objects
faults selftests/topo/mutants.txt fault
found
plan
