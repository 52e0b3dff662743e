#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Do the simulator's tests find faults? Inserts each fault of a list in
# selftests/sim into a copy of one file; the test that the list is for has to fail
# with the program linked from it. A test ends at its first failed result.

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/variant.sh

O=${O:-$PWD/build/host}
LONGEST=1200	# seconds; a test that takes longer is ended, and has found the fault
CPP=(-D_GNU_SOURCE -Itools/sim -Itools/sim/flit -Ilibangara -Ilibangara/topo
	-Ilibangara/include -Ilibangara/env -Iuapi -Idriver/model -Itools/common -std=gnu11 -w
	-O1)

# survives TEST FILE SOURCE: succeeds if the test passes with this source of the
# file.
survives()
{
	local test=$1 name=${2##*/} source=$3 dir objects=() object

	dir=$(mktemp -d -p "$TAP_TMP")
	gcc "${CPP[@]}" -c -o "$dir/mutant.o" "$source" || return 0
	for object in "$O/obj/sim"/*.o; do
		case ${object##*/} in
		"${name%.c}.o" | comm_mpi.o) ;;
		*) objects+=("$object") ;;
		esac
	done
	gcc -pthread -o "$dir/angara-sim" "$dir/mutant.o" "${objects[@]}" -lm ||
		return 0
	SIM=$dir/angara-sim timeout $LONGEST "selftests/host/$test" 2>&1 |
		sed '/^not ok/q' >"$dir/out"
	tail -n 3 "$dir/out"
	! grep -q '^not ok' "$dir/out" && grep -q '^1\.\.' "$dir/out"
}

# finds TEST FILE FROM TO: succeeds if the test finds the fault.
finds()
{
	local source

	source=$(mktemp -d -p "$TAP_TMP")/${2##*/}
	mutate "tools/sim/$2" "$3" "$4" >"$source" &&
		! survives "$1" "$2" "$source"
}

# fault FILE NAME FROM TO: tests one fault of a list with $test
fault()
{
	seek "found: $test: $2" finds "$test" "$1" "$3" "$4"
}

# all TEST LIST: tests all faults of the list.
all()
{
	local test=$1

	seek "without a fault it passes: $1" survives "$1" run.c \
		tools/sim/run.c
	faults "$2" fault
	found
}

check 'the simulator builds' make -s -C tools/sim "O=$O" all
check 'angara-topo builds' variant plain libangara tools/topo
all sim.t selftests/sim/mutants.txt
all sim-gather.t selftests/sim/gather-mutants.txt
all sim-flits.t selftests/sim/flit-mutants.txt
all sim-faults.t selftests/sim/fault-mutants.txt
all sim-input.t selftests/sim/input-mutants.txt
all sim-fabrics.t selftests/sim/fabric-mutants.txt
all sim-model.t selftests/sim/model-mutants.txt
plan
