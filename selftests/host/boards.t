#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Reductions on boards of embedded fabrics: random collectives have the same
# results on boards and by packets, and the same counters; members stop, sleep, die and disagree.
# Inserts the faults of selftests/embed/mutants.txt, which these programs find.

set -u
. selftests/tap.sh
. selftests/embed.sh
. selftests/mutate.sh

LIST=selftests/embed/mutants.txt
OPERATIONS=${OPERATIONS:-600}
SEEDS=${SEEDS:-1 2}
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset ANGARA_EXPRESS ANGARA_PACKETS

# programs FOLDER [OBJECT]: links both programs, with this object before the library.
programs()
{
	local dir=$1 name

	shift
	for name in tiers boards; do
		inside "$dir" "$name" selftests/embed/counts.c "$@" || return
	done
}

build()
{
	variant plain libangara tools/run && programs "$TAP_TMP"
}

# changed FOLDER FILE FROM TO: builds both programs with a change in a file of the library.
changed()
{
	inside_changed "$@" && programs "$1" "$1"/*.o
}

# job FABRIC N COMMAND...: runs a job; the first member that fails ends it.
job()
{
	local fabric=$1 n=$2

	shift 2
	timeout 120 "$OUT/bin/angara-run" --fabric "embedded:$fabric" -n "$n" "$@"
}

# counts TIER FOLDER FABRIC N SEED: what the operations of the program tiers add to the
# counters of the fabric.
counts()
{
	COUNTS=$2/counts.$1 ANGARA_EXPRESS=$1 digests "$2/tiers" "${@:3}" |
		awk -v tier="$1" '$3 > 0 != (tier != 0) { exit 1 }'
}

# counts_equal FILE FILE: are counters equal?  One packet may carry several
# credits, so the packets and flits down a link may differ by the same number, up
# to 1 %.
counts_equal()
{
	awk 'NR == FNR { line[FNR] = $0; n = FNR; next }
		split(line[FNR], was) != NF { exit 1 }
		{ m = FNR; less = 0 }
		$4 == 1 { less = $10 - was[10]; flits = $14 - was[14] }
		$4 == 1 && (less != flits || less * less > $10 * $10 / 1e4) { exit 1 }
		{ for (i = 1; i <= NF; i++)
			if ($i != was[i] && !($4 == 1 && (i == 10 || i == 14))) exit 1 }
		END { exit !(n && n == m) }' "$1" "$2"
}

# counted FOLDER FABRIC N SEED: reductions on boards count as those by packets.
counted()
{
	counts 0 "$@" && counts long "$@" && [ -s "$1/counts.0" ] || return
	diff "$1/counts.0" "$1/counts.long"
	counts_equal "$1/counts.0" "$1/counts.long"
}

# digests PROGRAM FABRIC N SEED: prints each rank, its digest, its use of boards.
digests()
{
	job "$2" "$3" "$1" "$OPERATIONS" "$4" | sort -n
}

# by_packets FABRIC N SEED: the digests without boards, stored for later calls.
by_packets()
{
	local file=$TAP_TMP/digests.$1.$2.$3.$OPERATIONS

	if [ ! -s "$file" ]; then
		ANGARA_EXPRESS=0 digests "$TAP_TMP/tiers" "$@" >"$file.new" || return
		awk '$3 != 0 { exit 1 }' "$file.new" || return
		cut -d' ' -f1,2 "$file.new" >"$file"
	fi
	[ "$(wc -l <"$file")" = "$2" ] && cat "$file"
}

# same LEAST PROGRAM FABRIC N SEED: does the job give the digests of by_packets, and has each member
# used boards at least LEAST times?
same()
{
	local least=$1 reference got

	shift
	reference=$(by_packets "${@:2}") && got=$(digests "$@") || return
	echo "$got"
	diff <(echo "$reference") <(cut -d' ' -f1,2 <<<"$got") &&
		awk -v least="$least" '$3 < least { exit 1 }' <<<"$got"
}

# on_boards PROGRAM FABRIC N SEED: as same; a tenth of the operations must use boards.
on_boards()
{
	ANGARA_EXPRESS=long same $((OPERATIONS / 10)) "$@"
}

# Members wait on boards no longer than by default.
briefly()
{
	ANGARA_EXPRESS=1 same 0 "$@"
}

# Every other member does not use boards.
mixed()
{
	cat >"$TAP_TMP/mixed" <<-END
		#!/bin/sh
		ANGARA_EXPRESS=\$((ANGARA_RANK % 2)) exec "$TAP_TMP/tiers" "\$@"
	END
	chmod +x "$TAP_TMP/mixed" &&
		same 0 "$TAP_TMP/mixed" "$@"
}

packets()
{
	ANGARA_EXPRESS=long ANGARA_PACKETS=1 same 0 "$TAP_TMP/tiers" "$@" &&
		! ANGARA_EXPRESS=long ANGARA_PACKETS=1 same 1 "$TAP_TMP/tiers" "$@"
}

# On links that lose packets, every reduction uses packets.
lossy()
{
	by_packets 2x2 4 1 >"$TAP_TMP/perfect" &&
		ANGARA_EXPRESS=long digests "$TAP_TMP/tiers" 2x2,loss=0.02,seed=3 4 1 \
			>"$TAP_TMP/lossy" &&
		diff "$TAP_TMP/perfect" <(cut -d' ' -f1,2 "$TAP_TMP/lossy") &&
		awk '$3 != 0 { exit 1 }' "$TAP_TMP/lossy"
}

# kept FIRST NAME FROM TO: succeeds if a changed library, with this change of boards, gives the same
# results
kept()
{
	local dir n operations file

	read -r n operations file <<<"$1"
	dir=$(mktemp -d -p "$TAP_TMP") && changed "$dir" "$file" "$3" "$4" &&
		OPERATIONS=$operations on_boards "$dir/tiers" 2 "$n" 1
}

# keeps FIRST NAME FROM TO: tests one change of the list that keeps all results
keeps()
{
	check "$2" kept "$@"
}

# paused SEED: threads pause at shared accesses of boards, as a seed decides.
paused()
{
	local dir=$TAP_TMP/paused$1 file

	mkdir "$dir" || return
	for file in libangara/embed/board{,_sum,_word}.c selftests/embed/pause.c; do
		${CC:-cc} -Iselftests/embed/env -I. "${INSIDE[@]}" -fPIC -c \
			-o "$dir/${file##*/}.o" "$file" || return
	done
	programs "$dir" "$dir"/*.o && PAUSE_SEED=$1 on_boards "$dir/tiers" 2x2 4 "$1"
}

# members PROGRAM CASE N: runs this case of the program as a job of N members.
members()
{
	ANGARA_EXPRESS=long job 2x2 "$3" "$1" "$2"
}

# killed PROGRAM CASE: the launcher reports the killed member, and no other one.
killed()
{
	ANGARA_EXPRESS=long timeout 120 "$OUT/bin/angara-run" --fabric embedded:2x2 -n 4 \
		--keep-going "$1" "$2" >"$TAP_TMP/killed" 2>&1
	cat "$TAP_TMP/killed"
	[ "$(grep -c . "$TAP_TMP/killed")" = 1 ] &&
		grep -q 'process 0 was killed by signal 9' "$TAP_TMP/killed"
}

# always COMMAND...: does the command succeed five times? A fault may show only in a race.
always()
{
	local i

	for ((i = 0; i < 5; i++)); do
		"$@" || return
	done
}

# try PROGRAM CASE N FILE FROM TO: runs PROGRAM on a changed library. For the program tiers CASE is
# its fabric. The program "counts" compares counters of tiers.
try()
{
	local dir

	dir=$(mktemp -d -p "$TAP_TMP") &&
		changed "$dir" "$4" "$5" "$6" || return
	case $1 in
	tiers) ! on_boards "$dir/tiers" "$2" "$3" 1 ;;
	counts) ! counted "$dir" "$2" "$3" 1 ;;
	boards) ! members "$dir/boards" "$2" "$3" ;;
	killed) ! always killed "$dir/boards" "$2" ;;
	esac
}

# fault FIRST NAME FROM TO: tests one fault of the list
fault()
{
	local program case n file

	read -r program case n file <<<"$1"
	seek "found: $file: $2" try "$program" "$case" "$n" "$file" "$3" "$4"
}

check 'builds' build
for seed in $SEEDS; do
	for form in '2 2' '2x2 4' '2x2 7' '3x2 5' 'fattree:4,2 6'; do
		read -r fabric n <<<"$form"
		check "$n members on $fabric, seed $seed: as by packets" on_boards \
			"$TAP_TMP/tiers" "$fabric" "$n" "$seed"
	done
done
for form in '2 2' '2x2 7' '3x2 5' 'fattree:4,2 6'; do
	read -r fabric n <<<"$form"
	check "$n members on $fabric: same counters" counted "$TAP_TMP" \
		"$fabric" "$n" 3
done
check '4 members on 2x2, usual waits' briefly "$TAP_TMP/tiers" 2x2 4 1
check 'half of the members without boards' mixed 2x2 4 1
check 'ANGARA_PACKETS=1: no boards' packets 2x2 4 1
check 'links that lose packets: no boards' lossy
faults selftests/embed/kept.txt keeps
for seed in 12 13 14; do
	check "with pauses, seed $seed" paused $seed
done
for case in stopped armed late bcast received behind disagree asleep unmet left freed full; do
	for n in 2 4; do
		check "$n members, $case" members "$TAP_TMP/boards" "$case" "$n"
	done
done
for case in killed absent; do
	check "$case" killed "$TAP_TMP/boards" "$case"
done
faults "$LIST" fault
found
plan
