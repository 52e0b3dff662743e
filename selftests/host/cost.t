#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Costs of operations on an embedded fabric: instructions, counted by callgrind
# and compared with selftests/embed/cost.txt; copies of payload; system calls
# and allocations; memory. `make cost` writes a new table for the installed
# compiler: check the differences before you commit them.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
COST=$TAP_TMP/cost
FI=$OUT/tests/fi-test
OPS='put allreduce allreduce.packets doubles doubles.packets bcast barrier
	barrier.packets send fetch_add'
FI_OPS='fi_message fi_look fi_write fi_write_wait fi_write_joined'
SHMEM=$OUT/tests/shmem/cost
SHMEM_OPS='shmem_put shmem_p shmem_put_nbi shmem_g shmem_add shmem_fetch_add shmem_barrier
	shmem_reduce shmem_broadcast shmem_ctx_p shmem_put_signal shmem_wait_until
	shmemx_reduce_nb'
TABLE=selftests/embed/cost.txt
TOLERANCE=3	# percent
CC=${CC:-cc}
COMPILER=$(printf '__clang_major__ __GNUC__' | $CC -E -P - |
	sed 's/^__clang_major__ /gcc-/; s/^\([0-9]*\) .*/clang-\1/')
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset ANGARA_EXPRESS ANGARA_PACKETS

# express OPERATION: prints ANGARA_EXPRESS for it; collectives NAME.packets use no boards.
express()
{
	[[ $1 == *.packets ]] && echo 0 || echo 1
}

# build [OPTION]...: builds the program with these options of the compiler.
build()
{
	variant plain libangara &&
		$CC "$@" -std=gnu11 -O2 -g -D_GNU_SOURCE -Wall -Wextra \
			-Iselftests/embed -Ilibangara -Ilibangara/include \
			-Ilibangara/env -Iuapi -Idriver/model -Idriver \
			-Wl,--wrap=memcpy,--wrap=malloc,--wrap=calloc \
			-Wl,--wrap=realloc -o "$COST" selftests/embed/cost.c \
			selftests/embed/members.c "$OUT/lib/libangara.a"
}

# Builds the program without relocation: to count executed instructions of the file,
# the program must run at the addresses in the file.
build_fixed()
{
	local COST=$COST-fixed

	build -no-pie
}

# The libfabric provider is built from the same files.
build_provider()
{
	variant plain libangara/ofi selftests/ofi
}

build_shmem()
{
	variant plain libangara/shmem selftests/shmem
}

# collected OPERATION COUNT: prints the instructions in total; $TAP_TMP/profile
# has them per function. If the program fails, prints its output to standard error.
collected()
{
	local given=("ANGARA_EXPRESS=$(express "$1")") program=("$COST" run)

	[[ $1 != fi_* ]] || given=(ANGARA_FABRIC=embedded:2x2
		"FI_PROVIDER_PATH=$OUT/lib/libfabric") program=("$FI" cost)
	[[ $1 != shmem* ]] || given=(ANGARA_FABRIC=embedded:1) program=("$SHMEM" run)
	env "${given[@]}" valgrind --tool=callgrind --toggle-collect=measured \
		"--callgrind-out-file=$TAP_TMP/profile" "${program[@]}" "${1%.packets}" \
		"$2" >"$TAP_TMP/run" 2>&1 || {
		echo "$1 $2: status $?"
		cat "$TAP_TMP/run"
		return 1
	} >&2
	sed -n 's/.*Collected : *//p' "$TAP_TMP/run"
}

# inside LIBRARY: prints how many instructions functions of LIBRARY have executed, by
# $TAP_TMP/profile. The line after a line "calls=" has the cost of the called function.
inside()
{
	awk -v library="$1" '
		# The first line that names an object may be that of a call, cob=.
		/^c?ob=/ {
			split($0, f, /[()]/)
			if (f[3] != "")
				name[f[2]] = f[3]
		}
		/^ob=/ { mine = name[f[2]] ~ library }
		/^[-+*0-9]/ && mine && !called { n += $2 }
		{ called = /^calls=/ }
		END { print n + 0 }' "$TAP_TMP/profile"
}

# own OPERATION: instructions per operation in libangara-shmem alone.
own()
{
	local none

	collected "$1" 0 >/dev/null || return
	none=$(inside libangara-shmem)
	collected "$1" 1000 >/dev/null || return
	echo $((($(inside libangara-shmem) - none) / 1000))
}

# Prints the instructions per operation: the mean of a thousand, without the
# warm-up.
instructions()
{
	local none all

	none=$(collected "$1" 0) && all=$(collected "$1" 1000) || return
	echo $(((all - none) / 1000))
}

# Prints the addresses of locked instructions: those with the prefix, and
# exchanges with memory.
locks()
{
	objdump -d --no-show-raw-insn "$COST" | awk '
		$2 == "lock" || ($2 == "xchg" && /\(/) { print "0x" substr($1, 1, length($1) - 1) }'
}

# executed OPERATION COUNT: locked instructions in total. The line after a line "calls=" has the
# cost of the called function, so it is skipped.
executed()
{
	ANGARA_EXPRESS=$(express "$1") valgrind --tool=callgrind --dump-instr=yes \
		--compress-pos=no --toggle-collect=measured \
		"--callgrind-out-file=$TAP_TMP/profile" \
		"$COST" run "${1%.packets}" "$2" >/dev/null 2>&1 &&
		awk 'NR == FNR { lock[$1] = 1; next }
			/^0x/ && !called && $1 in lock { n += $3 }
			{ called = /^calls=/ }
			END { print n + 0 }' "$TAP_TMP/locks" "$TAP_TMP/profile"
}

# Locked instructions per operation, rounded. The table has addresses in the
# file, so the program must run at these addresses.
locked()
{
	locks >"$TAP_TMP/locks" && [ -s "$TAP_TMP/locks" ] || return
	echo $((($(executed "$1" 1000) - $(executed "$1" 0) + 500) / 1000))
}

locked_fixed()
{
	local COST=$COST-fixed

	locked "$1"
}

expected()
{
	awk -v who="$1" -v what="$2" '$1 == who && $2 == what { print $3 }' \
		"$TABLE"
}

# compare WANT BEFORE COMMAND...: does COMMAND print a number near WANT? Counts up to three times:
# on a busy machine a count may include looks for dead processes, which time decides.
compare()
{
	local want=$1 before=$2 got try

	for ((try = 0; try < 3; try++)); do
		got=$("${@:3}") || return
		echo "counted $got, in $TABLE $want${before:+, before $before}"
		[ "$((got > want ? got - want : want - got))" -gt \
			"$((want * TOLERANCE / 100))" ] || return 0
	done
	return 1
}

update()
{
	local op

	grep -v -e "^$COMPILER " -e '^# memory: ' "$TABLE" >"$TAP_TMP/table"
	{
		for op in $OPS $FI_OPS $SHMEM_OPS; do
			echo "$COMPILER $op $(instructions "$op")"
		done
		for op in $SHMEM_OPS; do
			echo "$COMPILER $op.own $(own "$op")"
		done
		for op in $OPS; do
			echo "$COMPILER $op.locked $(locked_fixed "$op")"
		done
	} >>"$TAP_TMP/table"
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
check 'builds at fixed addresses' build_fixed
if pkg-config --exists libfabric; then
	check 'the provider builds' build_provider
else
	skip 'the provider' 'libfabric is missing: install libfabric-dev'
	FI_OPS=
fi
check 'OpenSHMEM builds' build_shmem
if [ "${UPDATE:-0}" = 1 ]; then
	check 'the table is written' update
fi
# counts NAME COMMAND...: compares the number that COMMAND prints with the
# table.
counts()
{
	local name=$1 want

	shift
	want=$(expected "$COMPILER" "$name")
	if ! command -v valgrind >/dev/null; then
		skip "instructions per $name" 'valgrind is missing'
	elif [ -z "$want" ]; then
		skip "instructions per $name" "$TABLE has no figures for $COMPILER: make cost"
	else
		check "instructions per $name" compare "$want" "$(expected before "$name")" \
			"$@"
	fi
}

for op in $OPS $FI_OPS $SHMEM_OPS; do
	counts "$op" instructions "$op"
done
for op in $SHMEM_OPS; do
	counts "$op.own" own "$op"
done
for op in $OPS; do
	counts "$op.locked" locked_fixed "$op"
done
# Payload is read once, and written once per receiver, for any path length.
for nodes in 2 8; do
	check "copies of a put, $nodes nodes" copies 2.00 long_put "$nodes"
	check "copies of a broadcast, $nodes nodes" \
		copies $((nodes + 1)).00 long_bcast "$nodes"
done
for op in $OPS long_put long_bcast; do
	check "no system call, no allocation: $op" env "ANGARA_EXPRESS=$(express "$op")" \
		"$COST" quiet "${op%.packets}" 200
done
# A program that only polls makes no system calls either if its queue has a descriptor
# to wait for.
for op in $FI_OPS; do
	check "no system call: $op" env COST_QUIET=1 ANGARA_FABRIC=embedded:2x2 \
		"FI_PROVIDER_PATH=$OUT/lib/libfabric" "$FI" cost "$op" 200
done
for op in $SHMEM_OPS; do
	check "no system call: $op" env ANGARA_FABRIC=embedded:1 "$SHMEM" quiet "$op" 200
done
check '64 puts in a batch ring once' batch
check 'memory per node and per context' memory
plan
