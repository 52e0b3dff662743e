#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Do the tests of OpenSHMEM find faults? Inserts each fault of selftests/shmem/mutants.txt into a
# copy of one file of the library. The program that the list names has to fail, or not to end. The
# test inserts every 16th fault, or all of them with LONG=1.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mutate.sh
. selftests/shmem/jobs.sh

OUT=$VARIANTS/plain
LIST=selftests/shmem/mutants.txt
BIN=$OUT/bin
PROGRAMS=$OUT/tests/shmem
JOB_SECONDS=60
LAUNCH=()
export LC_ALL=C
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset SHMEM_DEBUG SHMEM_INFO SHMEM_VERSION SHMEM_SYMMETRIC_SIZE

build()
{
	variant plain libangara libangara/shmem tools/run selftests/shmem
}

# library FOLDER FILE MUTANT: builds the library in FOLDER, with the source MUTANT in place of FILE.
library()
{
	local lib=$OUT/lib objects

	mapfile -t objects < <(find "$OUT/obj/libangara-shmem" -name '*.o' \
		! -name "${2%.c}.o")
	cp -P "$lib"/libangara.so* "$1" &&
		"${CC:-cc}" -std=gnu11 -O1 -w -fPIC -fvisibility=hidden -pthread -shared \
			-D_GNU_SOURCE -Ilibangara/shmem -Ilibangara/shmem/include \
			-Ilibangara/include -Wl,-soname,libangara-shmem.so.1 \
			-Wl,--version-script=libangara/shmem/libangara-shmem.map \
			-o "$1/libangara-shmem.so.1" "$3" "${objects[@]}" -L"$1" -langara
}

# passes FOLDER PROGRAM N [ARGUMENT]...: a program finds no error. Other names than
# those of programs stand for checks of the program `wrong`: `ends` STATUS WAY, `far`
# STATUS WAY, `heap` BYTES VARIABLE, `refuses` WAY TEXT, `reused`, `sleeps`, and `unequal`
# VARIABLE.
passes()
{
	local TAP_TMP=$1 program=$2 n=$3
	local -x LD_LIBRARY_PATH=$1

	shift 3
	case $program in
	t) all "$n" ;;
	ends) ends "$1" timeout "$JOB_SECONDS" "$BIN/oshrun" -np "$n" "$PROGRAMS/wrong" "$2" ;;
	far) ! other_namespace || exits_far "$n" "$@" ;;
	reused) ! other_namespace || number_reused ;;
	refuses) refuses "$n" 1 "$1" "${*:2}" ;;
	sleeps) sleeps "$n" ;;
	unequal) unequal "$1" ;;
	heap) heap_size "$@" ;;
	*) runs "$n" "$program" "$@" ;;
	esac
}

# try PROGRAM N ARGUMENT FILE FROM TO: does the program find the fault in the library?
try()
{
	local dir

	dir=$(mktemp -d -p "$TAP_TMP") || return
	# shellcheck disable=SC2086 # several words
	mutate "libangara/shmem/$4" "$5" "$6" >"$dir/$4" &&
		library "$dir" "$4" "$dir/$4" && ! passes "$dir" "$1" "$2" $3
}

# fault FIRST NAME FROM TO: tests one fault of the list
fault()
{
	local program n file argument

	read -r program n file argument <<<"$1"
	if [[ $program =~ ^(far|reused)$ ]] && ! other_namespace; then
		skip "found: $file: $2" 'no PID namespace whose next number can be chosen'
		return
	fi
	seek "found: $file: $2" try "$program" "$n" "$argument" "$file" "$3" "$4"
}

# The programs that the list names find nothing in the library without faults.
untouched()
{
	local dir job

	dir=$(mktemp -d -p "$TAP_TMP") &&
		library "$dir" ctx.c libangara/shmem/ctx.c || return
	while read -r job; do
		echo "$job"
		# shellcheck disable=SC2086 # several words
		passes "$dir" $job || return
	done < <(sed -nE 's/^([a-z]+ [0-9]+) [a-z]+\.c(.*)/\1\2/p' "$LIST" | sort -u)
}

check 'builds' build
check 'without a fault' untouched
faults "$LIST" fault 16
found
plan
