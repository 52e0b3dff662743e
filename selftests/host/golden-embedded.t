#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The model's golden trace on an embedded fabric: the same scenario gives the same lines in the same
# order through the library's backend. Faults in backend and model change these lines:
# selftests/embed/changes.txt lists such faults.

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/variant.sh

GOLDEN=selftests/model/golden.txt
read -ra FLAGS <<<"${VARIANT_FLAGS[asan]}"
FLAGS+=(-Wno-error -std=gnu11 -D_GNU_SOURCE -Wall -Wextra
	-Wno-unused-parameter -pthread -Iselftests/model -Ilibangara
	-Ilibangara/embed -Ilibangara/include -Ilibangara/env
	-Ilibangara/topo -Iuapi -Idriver/model -Idriver -Itools/sim)
SOURCES=(selftests/embed/golden_host.c
	selftests/model/{golden,coll,trees,process,common,invariant}.c
	tools/sim/trace_text.c)
LIBRARY=$VARIANTS/asan/lib/libangara.a
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

# compile SOURCE OBJECT: compiles one file.
compile()
{
	${CC:-cc} "${FLAGS[@]}" -c -o "$2" "$1"
}

# link PROGRAM [OBJECT]: links the scenario, with this object before the
# library.
link()
{
	local program=$1

	shift
	${CC:-cc} "${FLAGS[@]}" -o "$program" "$@" "$TAP_TMP"/*.o "$LIBRARY"
}

build()
{
	local source

	variant asan libangara || return
	for source in "${SOURCES[@]}"; do
		compile "$source" "$TAP_TMP/$(basename "$source" .c).o" || return
	done
	link "$TAP_TMP/golden"
}

# trace PROGRAM: compares its trace with the golden one
trace()
{
	timeout 600 "$1" >"$TAP_TMP/trace" && diff -u "$GOLDEN" "$TAP_TMP/trace"
}

# changed FILE FROM TO: builds $TAP_TMP/changed, the scenario with a change in FILE of the library
changed()
{
	mkdir -p "$TAP_TMP/copy"
	mutate "$1" "$2" "$3" >"$TAP_TMP/copy/${1##*/}" &&
		compile "$TAP_TMP/copy/${1##*/}" "$TAP_TMP/copy/changed.o" &&
		link "$TAP_TMP/changed" "$TAP_TMP/copy/changed.o"
}

# same FILE FROM TO: the trace is the same with this change.
same()
{
	changed "$@" && trace "$TAP_TMP/changed"
}

# found FILE FROM TO: with this change all results are right, but the trace
# differs.
found()
{
	changed "$@" || return
	timeout 600 "$TAP_TMP/changed" >"$TAP_TMP/trace" || return
	! diff "$GOLDEN" "$TAP_TMP/trace"
}

# change FIRST NAME FROM TO: makes one change of the list.
change()
{
	local outcome file

	read -r outcome file <<<"$1"
	check "$outcome: $2" "$outcome" "$file" "$3" "$4"
}

check 'builds with sanitizers' build
check 'the golden trace is the same' trace "$TAP_TMP/golden"
faults selftests/embed/changes.txt change
plan
