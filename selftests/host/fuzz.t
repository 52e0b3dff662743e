#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Replays the corpus and former findings through every fuzz target, fuzzes for a
# short time, and checks that inserted faults are found.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mutate.sh

O=${O:-$PWD/build/host}
B=$O/fuzz
LIST=selftests/fuzz/mutants.txt
TARGETS=(fuzz_device fuzz_fabric fuzz_peer fuzz_tree fuzz_vfio)
! pkg-config --exists libfabric || TARGETS+=(fuzz_provider)
FUZZ=("-I$PWD/driver/model" -Ilibangara/ofi -Ilibangara -Ilibangara/include
	-D_GNU_SOURCE -Ilibangara/env -Iuapi -std=gnu11 -w
	-O1 -g "-fsanitize=address,undefined,fuzzer-no-link"
	-fno-sanitize-recover=all)

# Libraries that the objects of targets need.
read -ra LIBS <<<"$(pkg-config --libs json-c zlib)"
read -ra PROVIDER_LIBS <<<"-pthread $(pkg-config --libs libfabric zlib 2>/dev/null) -ldl"

replay()
{
	local target=$1 inputs

	shopt -s nullglob
	inputs=("$B/kept/$target"/*.bin selftests/fuzz/regress/"$target"/*.bin)
	shopt -u nullglob
	[ ${#inputs[@]} -gt 0 ] && "$B/$target$REPLAY" "${inputs[@]}"
}

# Can the installed clang link a fuzz target?
have_fuzzer()
{
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }' \
		>"$TAP_TMP/empty.c"
	clang -fsanitize=fuzzer,address -w -o "$TAP_TMP/empty" \
		"$TAP_TMP/empty.c" >/dev/null 2>&1
}

# others TARGET FILE: prints the objects and libraries of a target, without the object of
# FILE.
others()
{
	local object ofi=$O/obj/fuzz/provider-clang/obj/libangara-ofi

	if [ "$1" = fuzz_provider ]; then
		printf '%s\n' "$O/obj/fuzz/clang"/{fuzz_provider,input}.o
		find "$ofi" -name '*.o' ! -path "$ofi/$(basename "$2" .c).o"
		echo "$O/obj/fuzz/provider-clang/lib/libangara.a"
		printf '%s\n' "${PROVIDER_LIBS[@]}"
		return
	fi
	for object in "$O/obj/fuzz/clang"/*.o; do
		case ${object##*/} in
		"$(basename "$2" .c).o") ;;
		fuzz_*.o) [ "${object##*/}" != "$1.o" ] || echo "$object" ;;
		*) echo "$object" ;;
		esac
	done
	printf '%s\n' "${LIBS[@]}"
}

# finds TARGET FILE FROM TO: succeeds if the target reports the fault.
finds()
{
	local target=$1 file=$2 dir
	local parts=() inputs=()

	for dir in "$B/kept/$target" "selftests/fuzz/regress/$target"; do
		[ ! -d "$dir" ] || inputs+=("$dir")
	done
	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "$file" "$3" "$4" >"$dir/mutant.c" || return 1
	clang "${FUZZ[@]}" -c -o "$dir/mutant.o" "$dir/mutant.c" || return 1
	mapfile -t parts < <(others "$target" "$file")
	clang -fsanitize=address,undefined,fuzzer -o "$dir/fuzz" \
		"$dir/mutant.o" "${parts[@]}" || return 1
	mkdir "$dir/corpus"
	# Run a fixed number of inputs, whatever time they take.
	! "$dir/fuzz" -runs="${RUNS:-100000}" -seed=1 -len_control=0 \
		-max_len=400 -timeout=60 -artifact_prefix="$dir/" "$dir/corpus" \
		"${inputs[@]}" >"$dir/log" 2>&1 || return 1
	# The fault must cause the report.
	grep -qE 'finding: |ERROR: |runtime error: ' "$dir/log"
}

# fault FIRST NAME FROM TO: tests one fault of the list
fault()
{
	local target file

	read -r target file <<<"$1"
	[[ $2 =~ ${FAULT:-} ]] || return 0
	seek "$target finds: $2" finds "$target" "$file" "$3" "$4"
}

# The targets run inputs, too, so the programs for other compilers are only built
# without clang, or if LONG is set.
REPLAY=
if have_fuzzer; then
	check 'the targets build' build_in "$O" selftests/fuzz:fuzz
fi
if ! have_fuzzer || long_form; then
	check 'the programs that replay inputs build' \
		build_in "$O" selftests/fuzz:replay
	REPLAY=-replay
fi
for target in "${TARGETS[@]}"; do
	check "$target: inputs that were kept" replay "$target"
done
if have_fuzzer; then
	for target in "${TARGETS[@]}"; do
		check "$target: 5 seconds of fuzzing" \
			selftests/fuzz/run 5 "$target"
	done
	# The time to find a fault is random, so do this on request only.
	if [ -n "${FUZZ_PROOF:-}" ]; then
		faults "$LIST" fault
		found
	fi
else
	skip 'fuzzing' 'no clang with libFuzzer: run selftests/fuzz/setup'
fi
plan
