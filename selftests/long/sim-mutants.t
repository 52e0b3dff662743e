#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Do the simulator's tests find faults? Inserts each fault of
# selftests/sim/mutants.txt into a copy of one file; selftests/host/sim.t has to
# fail with the program linked from it.

set -u
. selftests/tap.sh
. selftests/mutate.sh

O=${O:-$PWD/build/host}
LIST=selftests/sim/mutants.txt
CPP=(-D_GNU_SOURCE -Itools/sim -Ilibangara/topo -Ilibangara/include
	-Ilibangara/env -Iuapi -Idriver/model -std=gnu11 -w -O1)

# survives FILE FROM TO: succeeds if the tests pass.
survives()
{
	local file=$1 dir objects=() object

	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "tools/sim/$file" "$2" "$3" >"$dir/$file" || return 0
	gcc "${CPP[@]}" -c -o "$dir/mutant.o" "$dir/$file" || return 0
	for object in "$O/obj/sim"/*.o; do
		case ${object##*/} in
		"${file%.c}.o" | comm_mpi.o) ;;
		*) objects+=("$object") ;;
		esac
	done
	gcc -pthread -o "$dir/angara-sim" "$dir/mutant.o" "${objects[@]}" -lm ||
		return 0
	SIM=$dir/angara-sim timeout 120 selftests/host/sim.t >"$dir/out" 2>&1
	! grep -q '^not ok' "$dir/out" && grep -q '^1\.\.' "$dir/out"
}

found()
{
	! survives "$@"
}

check 'the simulator builds' make -s -C tools/sim "O=$O" all
check 'without a fault the tests pass' survives run.c \
	'	free(hands);' '	free(hands);'
while IFS= read -r line; do
	case $line in
	'' | '#'*) continue ;;
	esac
	file=${line%% *}
	IFS= read -r from
	IFS= read -r to
	IFS= read -r end
	if [ "$end" != end ]; then
		echo "Bail out! $LIST: no end behind '$line'"
		exit 1
	fi
	check "found: ${line#* }" found "$file" "$from" "$to"
done <"$LIST"
plan
