#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Do the tests of software collectives and of the provider find faults? Inserts each fault of
# selftests/algo/mutants.txt into a copy of one file: a schedule, the runner, the library's
# transport of messages, or a file of the provider. The test that the list names must fail. The test
# inserts every 32nd fault, or all of them with LONG=1.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mutate.sh

OUT=$VARIANTS/plain
LIST=selftests/algo/mutants.txt
CPP=(-std=gnu11 -O1 -w -fPIC -D_GNU_SOURCE -Ilibangara -iquote libangara/ofi
	-Ilibangara/include -Ilibangara/env -Iuapi -Idriver/model -Idriver)
ALGO=$TAP_TMP/obj/algo
LIB_TEST=$TAP_TMP/obj/lib.o
PATH=$OUT/bin:$PATH
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	local file

	mkdir -p "$ALGO"
	for file in libangara/algo/*.c selftests/library/algo*.c; do
		gcc "${CPP[@]}" -c -o "$ALGO/${file//\//-}.o" "$file" || return
	done
	variant plain libangara tools/run &&
		gcc "${CPP[@]}" -O0 -r -o "$LIB_TEST" selftests/library/lib*.c
}

build_provider()
{
	variant plain libangara libangara/ofi selftests/ofi
}

# objects FILE.o FOLDER...: prints the objects in the folders, except that of
# FILE.
objects()
{
	find "${@:2}" -maxdepth 1 -name '*.o' ! -name "$1"
}

# links PROGRAM FILE FOLDER [MUTANT]: links the program into FOLDER, with object
# MUTANT instead of the file's.
links()
{
	local parts name

	name=$(basename "$2" .c)
	case $1 in
	algo)
		mapfile -t parts < <(objects "*-$name.c.o" "$ALGO")
		gcc -o "$3/algo" "${parts[@]}" "${@:4}"
		;;
	library)
		gcc -o "$3/lib" "$LIB_TEST" "${@:4}" "$OUT/lib/libangara.a" \
			-lpthread
		;;
	provider)
		mapfile -t parts < <(objects "$name.o" \
			"$OUT/obj/libangara-ofi" "$OUT/obj/libangara-ofi/algo")
		# shellcheck disable=SC2046 # words
		gcc -shared -o "$3/libangara-fi.so" "${parts[@]}" "${@:4}" \
			-L"$OUT/lib" -langara $(pkg-config --libs libfabric) \
			-Wl,-rpath,"$OUT/lib"
		;;
	esac
}

# passes PROGRAM FOLDER TEST: runs a test with the program in FOLDER.
passes()
{
	case $1 in
	algo) timeout 60 "$2/algo" 1 "$3" ;;
	library) timeout 60 angara-run --fabric embedded -n 3 "$2/lib" "$3" ;;
	provider)
		ANGARA_FABRIC=embedded:2x2 FI_PROVIDER_PATH=$2 \
			timeout 60 "$OUT/tests/fi-test" "$3"
		;;
	esac
}

# missing PROGRAM: does PROGRAM need a library that is not installed?
missing()
{
	[ "$1" = provider ] && ! pkg-config --exists libfabric
}

# sound PROGRAM TEST: does the test pass without a fault?
sound()
{
	local dir

	dir=$(mktemp -d -p "$TAP_TMP")
	links "$1" none "$dir" && passes "$1" "$dir" "$2"
}

# finds PROGRAM FILE TEST FROM TO: succeeds if the test finds the fault.
finds()
{
	local dir

	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "libangara/$2" "$4" "$5" >"$dir/mutant.c" &&
		gcc "${CPP[@]}" -I"$(dirname "libangara/$2")" -c \
			-o "$TAP_TMP/obj/${dir##*/}" "$dir/mutant.c" &&
		links "$1" "$2" "$dir" "$TAP_TMP/obj/${dir##*/}" || return
	! passes "$1" "$dir" "$3"
}

# fault FIRST NAME FROM TO: tests one fault of the list
fault()
{
	local program file test

	read -r program file test <<<"$1"
	if missing "$program"; then
		skip "found: $file: $2" 'libfabric is missing: install libfabric-dev'
		return
	fi
	seek "found: $file: $2" finds "$program" "$file" "$test" "$3" "$4"
}

check 'the tests build' build
missing provider || check 'the provider builds' build_provider
while read -r program test; do
	missing "$program" ||
		check "without a fault: $test" sound "$program" "$test"
done < <(sed -n 's/^\([a-z]*\) [^ ]*\.c /\1 /p' "$LIST" | sort -u)
faults "$LIST" fault 32
found
plan
