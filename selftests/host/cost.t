#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Costs of operations on an embedded fabric: instructions, counted by callgrind
# and compared with selftests/embed/cost.txt; copies of payload; system calls
# and allocations; memory. `make cost` writes a new table for the installed
# compiler: read the difference before you commit it.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
COST=$TAP_TMP/cost
FI=$OUT/tests/fi-test
OPS='put allreduce doubles bcast barrier send fetch_add'
FI_OPS='fi_message fi_look fi_write fi_write_wait'
TABLE=selftests/embed/cost.txt
TOLERANCE=3	# percent
CC=${CC:-cc}
COMPILER=$(printf '__clang_major__ __GNUC__' | $CC -E -P - |
	sed 's/^__clang_major__ /gcc-/; s/^\([0-9]*\) .*/clang-\1/')
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	variant plain libangara &&
		$CC -std=gnu11 -O2 -g -D_GNU_SOURCE -Wall -Wextra \
			-Iselftests/embed -Ilibangara -Ilibangara/include \
			-Ilibangara/env -Iuapi -Idriver/model -Idriver \
			-Wl,--wrap=memcpy,--wrap=malloc,--wrap=calloc \
			-Wl,--wrap=realloc -o "$COST" selftests/embed/cost.c \
			selftests/embed/members.c "$OUT/lib/libangara.a"
}

# The libfabric provider, which is built from the same files.
build_provider()
{
	variant plain libangara/fabric selftests/fi
}

# collected OPERATION COUNT: instructions in total
collected()
{
	local given=() program=("$COST" run)

	[[ $1 != fi_* ]] || given=(ANGARA_FABRIC=embedded:2x2
		"FI_PROVIDER_PATH=$OUT/lib/libfabric") program=("$FI" cost)
	env "${given[@]}" valgrind --tool=callgrind --toggle-collect=measured \
		--callgrind-out-file=/dev/null "${program[@]}" "$1" "$2" 2>&1 |
		sed -n 's/.*Collected : *//p'
}

# Instructions per operation: of a thousand, without the warm-up.
instructions()
{
	local none all

	none=$(collected "$1" 0)
	all=$(collected "$1" 1000)
	echo $(((all - none) / 1000))
}

expected()
{
	awk -v who="$1" -v what="$2" '$1 == who && $2 == what { print $3 }' \
		"$TABLE"
}

compare()
{
	local want=$1 got=$2

	echo "counted $got, in $TABLE $want"
	[ "$((got > want ? got - want : want - got))" -le \
		"$((want * TOLERANCE / 100))" ]
}

update()
{
	local op

	grep -v -e "^$COMPILER " -e '^# memory: ' "$TABLE" >"$TAP_TMP/table"
	for op in $OPS $FI_OPS; do
		echo "$COMPILER $op $(instructions "$op")"
	done >>"$TAP_TMP/table"
	"$COST" memory | sed 's/^/# memory: /' >>"$TAP_TMP/table"
	cp "$TAP_TMP/table" "$TABLE"
}

batch()
{
	local got

	got=$("$COST" rings)
	echo "rang $got times"
	[ "$got" = 1 ]
}

copies()
{
	local want=$1 got

	shift
	got=$("$COST" copies "$@")
	echo "$got times the payload, expected $want"
	[ "$got" = "$want" ]
}

memory()
{
	"$COST" memory
	diff <("$COST" memory) <(sed -n 's/^# memory: //p' "$TABLE")
}

check 'builds' build
if pkg-config --exists libfabric; then
	check 'the provider builds' build_provider
else
	skip 'the provider' 'libfabric is missing: install libfabric-dev'
	FI_OPS=
fi
if [ "${UPDATE:-0}" = 1 ]; then
	check 'the table is written' update
fi
for op in $OPS $FI_OPS; do
	want=$(expected "$COMPILER" "$op")
	if ! command -v valgrind >/dev/null; then
		skip "instructions per $op" 'valgrind is missing'
	elif [ -z "$want" ]; then
		skip "instructions per $op" \
			"$TABLE has no figures for $COMPILER: make cost"
	else
		check "instructions per $op" \
			compare "$want" "$(instructions "$op")"
	fi
done
# Read once, and written once per receiver, for any length of the path.
for nodes in 2 8; do
	check "copies of a put, $nodes nodes" copies 2.00 long_put "$nodes"
	check "copies of a broadcast, $nodes nodes" \
		copies $((nodes + 1)).00 long_bcast "$nodes"
done
for op in $OPS long_put long_bcast; do
	check "no system call, no allocation: $op" "$COST" quiet "$op" 200
done
# A program that could sleep, but does not, makes no system call, too.
for op in $FI_OPS; do
	check "no system call: $op" env COST_QUIET=1 ANGARA_FABRIC=embedded:2x2 \
		"FI_PROVIDER_PATH=$OUT/lib/libfabric" "$FI" cost "$op" 200
done
check '64 puts in a batch ring once' batch
check 'memory per node and per context' memory
plan
