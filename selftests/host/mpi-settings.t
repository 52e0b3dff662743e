#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Settings of MPI programs whose collectives go over the adapter: algorithms,
# rings and packets, levels, tables and angara-mpi-tune. Open MPI of this
# machine, and MPICH for algorithms, tables and errors, on embedded fabrics.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mpi/mpi.sh

OUT=$VARIANTS/plain

# measured TABLE COLLECTIVE...: each of 2 processes calls each COLLECTIVE 21 times with 8
# bytes and 21 times with 4096 bytes
measured()
{
	local table=$1

	shift
	ANGARA_MPI_TUNE=$table launched 2 "$OUT/bin/angara-mpi-measure-${WITH:-openmpi}" \
		1 8 4096 -- "$@" >"$TAP_TMP/said" 2>&1
	cat "$TAP_TMP/said"
}

# The line of the greatest length also applies to longer calls; of lines with the same
# number and length, the first one applies.
longest_line()
{
	cat >"$TAP_TMP/short" <<-'END'
		bcast 2 16 software
		bcast 2 8 native
		bcast 2 16 native
	END
	measured "$TAP_TMP/short" bcast && counted bcast native 42 &&
		counted bcast software 42
}

# With auto the table decides: the line for a call has its length or the next greater one,
# and its number of members or the next smaller one.
table()
{
	cat >"$TAP_TMP/table" <<-'END'
		# comment; the order of lines does not matter, of equal ones the first counts
		allreduce 2 100000 offload
		allreduce 3 64 offload
		allreduce 2 64 native 1.5
		allreduce 2 64 software
		allgather 1 64 software
		bcast 4 8 software
		alltoall 2 8 bruck
		alltoall 2 4096 pairwise
	END
	measured "$TAP_TMP/table" allreduce allgather bcast scan alltoall &&
		grep '^libangara-mpi: alltoall  *software  *42  .*  bruck$' "$TAP_TMP/said" &&
		grep '^libangara-mpi: alltoall  *software  *42  .*  pairwise$' "$TAP_TMP/said" &&
		counted allreduce offload 42 && counted allreduce native 42 &&
		passed allreduce 'auto selects the MPI' &&
		counted allgather software 84 && counted bcast software 84 &&
		counted scan native 84 && longest_line
}

# The first run finds a table at the default place, the second run has no table.
default_table()
{
	mkdir -p "$TAP_TMP/.config/angara" &&
		echo 'bcast 4 8 software' >"$TAP_TMP/.config/angara/mpi-openmpi.tune" || return
	env -u XDG_CONFIG_HOME -u ANGARA_MPI_TUNE HOME="$TAP_TMP" ANGARA_MPI_STATS=1 timeout 600 \
		"$OUT/bin/angara-mpirun" --oversubscribe -n 2 \
		"$OUT/bin/angara-mpi-measure-openmpi" 1 8 4096 -- bcast \
		>"$TAP_TMP/said" 2>&1 && counted bcast software 84 &&
		measured '' bcast && counted bcast offload 84
}

# algorithms N COLLECTIVE=ALGORITHM...: checks results in each form with these
# algorithms, and that they ran; the library refuses an algorithm that a
# collective does not have.
algorithms()
{
	local n=$1 names=() name coll

	shift
	names=("${@/#/ANGARA_MPI_}")
	(export "${names[@]}" && good "$n" mpi "$n" mix random 15 300) || return
	for name; do
		[[ $name = *_DIMS=* || $name = *_PACKET=* ]] && continue
		coll=${name%%=*}
		by_algorithm "${coll,,}" "${name#*=}" || return
	done
}

# by_levels N ALGORITHM: checks allgathers by this algorithm, with ranks
# alternating between two modules
by_levels()
{
	local i

	for ((i = 0; i < $1; i++)); do
		echo "$((i % 2)) $((i / 4))	# rank $i"
	done >"$TAP_TMP/levels"
	ANGARA_MPI_LEVELS=file:$TAP_TMP/levels algorithms "$1" "ALLGATHER=$2" || return
	cat "$TAP_TMP/said"
	[[ $2 != *-* ]] || grep '^libangara-mpi: ranks renumbered by levels: [1-9]' \
		"$TAP_TMP/said"
}

# In some communicators the number of members is not a power of two.
no_power()
{
	by_levels "$@" && passed allgather 'members are not a power of two'
}

# The levels come from the MPI library and hwloc.
by_machine()
{
	ANGARA_MPI_LEVELS=machine algorithms 4 ALLGATHER=bruck-reorder &&
		grep '^libangara-mpi: ranks renumbered by levels: ' "$TAP_TMP/said"
}

# bad_levels TEXT LINE...: the program ends with an error that names the file
# and TEXT.
bad_levels()
{
	local text=$1 status=0

	shift
	printf '%s\n' "$@" >"$TAP_TMP/levels"
	ANGARA_MPI_LEVELS=file:$TAP_TMP/levels "$OUT/bin/angara-mpirun" \
		--oversubscribe -n 2 "$OUT/tests/mpi-openmpi/sum" \
		>"$TAP_TMP/said" 2>&1 || status=$?
	echo "status $status"
	cat "$TAP_TMP/said"
	[ "$status" = 2 ] && grep -q "^libangara-mpi: $TAP_TMP/levels:$text" \
		"$TAP_TMP/said" &&
		[ "$(grep -c '^libangara-mpi: ' "$TAP_TMP/said")" = 1 ]
}

# Sums of floats show which algorithm ran, since each adds in its own order.
# Packets do not change the order, other dimensions do. A ring of 2x3 happens to
# add in the order of doubling.
named()
{
	local names one two all=()

	while read -ra names; do
		names=("${names[@]/#/ANGARA_MPI_ALLREDUCE}")
		one=$(export "${names[@]}" && mpi 6 apps spmv 1000 30 2>/dev/null </dev/null)
		two=$(export "${names[@]}" ANGARA_MPI_ALLREDUCE_PACKET=8 &&
			mpi 6 apps spmv 1000 30 2>/dev/null </dev/null)
		echo "${names[*]}: $one"
		[ -n "$one" ] && [ "$one" = "$two" ] || return
		all+=("$one")
	done <<-'END'
		=ring
		=ring2d
		=ring2d _DIMS=2x3
		=doubling
		=rabenseifner
	END
	[ "$(printf '%s\n' "${all[@]}" | sort -u | wc -l)" = 4 ] &&
		[ "${all[1]}" != "${all[2]}" ]
}

# rings MESSAGES LINE SETTING...: 4 processes make 84 allreduces of 1 MiB, and a
# few barriers; each allreduce takes MESSAGES messages, and the statistics have
# LINE
rings()
{
	local messages=$1 line=$2

	shift 2
	env ANGARA_MPI_STATS=1 ANGARA_MPI_PART=1MiB "${@/#/ANGARA_MPI_}" timeout 600 \
		"$OUT/bin/angara-mpirun" --oversubscribe -n 4 \
		"$OUT/bin/angara-mpi-measure-openmpi" 1 1048576 -- allreduce \
		>"$TAP_TMP/said" 2>&1
	cat "$TAP_TMP/said"
	grep -qxF "libangara-mpi: allreduce by $line" "$TAP_TMP/said" &&
		[ $(($(sed -n 's/^libangara-mpi: messages sent by software: //p' \
			"$TAP_TMP/said") / 84)) = "$messages" ]
}

# long SETTING...: allreduces of up to 640 KB have the results of the MPI library
long()
{
	(export "${@/#/ANGARA_MPI_}" && good 4 mpi 4 coll random 4 200)
}

# The table has a line with a time for each collective, number of processes and
# length.
tune()
{
	"$OUT/bin/angara-mpi-tune" --mpi openmpi -n 2,3 --bytes 8,4096 --rounds 1 \
		-o "$TAP_TMP/tuned" --oversubscribe || return
	cat "$TAP_TMP/tuned"
	awk '/^#/ { next }
		NF != 5 || $5 <= 0 || $4 !~ /^(offload|software|native)$/ { bad = 1 }
		{ n++ }
		END { exit bad || n != 2 * (12 * 2 + 1) }' "$TAP_TMP/tuned" &&
		measured "$TAP_TMP/tuned" allreduce
}

# The tuning tool measures exactly the algorithms of the library; the table names
# an algorithm only if it is faster than the implementations without a name.
tune_algorithms()
{
	local coll name want got

	for coll in "${OTHERS[@]}" BARRIER BCAST REDUCE ALLREDUCE; do
		[[ $coll != *V || $coll = ALLGATHERV ]] || continue
		want=$(env "ANGARA_MPI_$coll=none" "$OUT/bin/angara-mpirun" \
			--oversubscribe -n 1 "$OUT/tests/mpi-openmpi/sum" 2>&1 |
			sed -n 's/.*expected \(offload, \)\?software, \(.*\), native.*/\2/p;
				s/.*expected \(offload, \)\?software, native.*//p' |
			tr -d ' ' | tr , '\n' | sort | tr '\n' ' ')
		got=$(sed -n "s/^	\[${coll,,}\]='\(.*\)'/\1/p" \
			libangara/mpi/angara-mpi-tune | tr ' ' '\n' | sort | tr '\n' ' ')
		echo "$coll: $got, expected $want"
		[ "$got" = "$want" ] || return
	done
	"$OUT/bin/angara-mpi-tune" --mpi openmpi -n 3,4 --bytes 8,4096 --rounds 1 --algorithms \
		-o "$TAP_TMP/tuned" --oversubscribe || return
	cat "$TAP_TMP/tuned"
	[ "$(grep -vc '^#' "$TAP_TMP/tuned")" = $((2 * (12 * 2 + 1))) ] &&
		! grep '^allgather 3 [0-9]* doubling' "$TAP_TMP/tuned" &&
		measured "$TAP_TMP/tuned" allgather
}

# The slowest implementation is never in the table: here native is delayed.
tune_chooses()
{
	cat >"$TAP_TMP/slow.c" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <mpi.h>
		#include <unistd.h>
		int PMPI_Gather(const void *in, int n, MPI_Datatype t, void *out, int m,
				MPI_Datatype u, int root, MPI_Comm c)
		{
			int (*next)(const void *, int, MPI_Datatype, void *, int,
				    MPI_Datatype, int, MPI_Comm) =
				dlsym(RTLD_NEXT, "PMPI_Gather");

			usleep(3000);
			return next(in, n, t, out, m, u, root, c);
		}
	END
	mpicc.openmpi -shared -fPIC -o "$TAP_TMP/slow.so" "$TAP_TMP/slow.c" &&
		LD_PRELOAD=$TAP_TMP/slow.so "$OUT/bin/angara-mpi-tune" --mpi openmpi -n 2 \
			--bytes 8 --rounds 1 -o "$TAP_TMP/slow" --oversubscribe &&
		grep '^gather 2 8 software ' "$TAP_TMP/slow"
}

# A fake launcher prints made-up times, with which doubling is the fastest algorithm. Allgathers of
# 3 processes cannot use doubling.
tune_by_name()
{
	local coll

	mkdir "$TAP_TMP/tune" && cp "$OUT/bin/angara-mpi-tune" "$TAP_TMP/tune/" || return
	cat >"$TAP_TMP/tune/angara-mpirun" <<-'END'
		#!/bin/bash
		while [ "$1" != -- ]; do
			shift
		done
		shift
		for coll; do
			name=ANGARA_MPI_${coll^^} us=2
			[ "${!name}" != doubling ] || us=1
			echo "$coll 3 8 $us"
			[ "$us $coll" != '1 allgather' ] ||
				echo 'libangara-mpi: passed through: allgather, 3 calls: ...' >&2
		done
	END
	ln -s angara-mpirun "$TAP_TMP/tune/angara-mpi-measure-openmpi" &&
		chmod +x "$TAP_TMP/tune/angara-mpirun" &&
		"$TAP_TMP/tune/angara-mpi-tune" -n 3 --bytes 8 --algorithms \
			-o "$TAP_TMP/tuned" || return
	cat "$TAP_TMP/tuned"
	for coll in allreduce scan exscan; do
		grep -qx "$coll 3 8 doubling 1" "$TAP_TMP/tuned" || return
	done
	grep -qx 'allgather 3 8 native 2' "$TAP_TMP/tuned"
}

# bad_table LINE TEXT: the program ends with an error that names the line and
# TEXT.
bad_table()
{
	printf '# one\n%s\n' "$1" >"$TAP_TMP/table"
	measured "$TAP_TMP/table" barrier
	! grep -q '^barrier ' "$TAP_TMP/said" &&
		grep -q "libangara-mpi: $TAP_TMP/table:2: $2" "$TAP_TMP/said"
}

# MPI_COMM_WORLD has a team from the start, also for the functions that a table does not name.
table_world()
{
	echo 'allgather 2 8 software' >"$TAP_TMP/table"
	good 2 env ANGARA_MPI_TUNE="$TAP_TMP/table" "$OUT/bin/angara-mpirun" \
		-x ANGARA_MPI_STATS=1 --oversubscribe -n 2 \
		"$OUT/tests/mpi-openmpi/mix" world && counted 'allreduce i' offload 2
}

# Only auto depends on the length.
longest()
{
	good 2 env ANGARA_MPI_LONGEST=64 "$OUT/bin/angara-mpirun" \
		-x ANGARA_MPI_STATS=1 --oversubscribe -n 2 \
		"$OUT/tests/mpi-openmpi/coll" random 3 200 &&
		passed allreduce 'longer than the limit of auto' && taken_some
}

taken_some()
{
	grep -q '^libangara-mpi: allreduce  *offload' "$TAP_TMP/said"
}

# refused TEXT NAME=VALUE...: the program ends with status 2 after one line of
# error.
refused()
{
	local text=$1 status=0

	shift
	env "$@" "$OUT/bin/angara-mpirun" --oversubscribe -n 2 \
		"$OUT/tests/mpi-openmpi/sum" >"$TAP_TMP/said" 2>&1 || status=$?
	echo "status $status"
	cat "$TAP_TMP/said"
	[ "$status" = 2 ] && grep -qF "libangara-mpi: invalid $text" "$TAP_TMP/said" &&
		[ "$(grep -c '^libangara-mpi: ' "$TAP_TMP/said")" = 1 ] &&
		! grep -q good "$TAP_TMP/said"
}

# with_mpich COMMAND...: COMMAND with MPICH of this machine
with_mpich()
{
	local WITH=mpich

	"$@"
}

build_mpich()
{
	MPI=mpich variant plain selftests/mpi:tests/mpi-mpich/mix \
		selftests/mpi:tests/mpi-mpich/errors
}

# of_mpich COMMAND...: COMMAND with MPICH of this machine. Software carries out the collectives that
# COMMAND does not set, as MPICH 4.0 itself repeats persistent ones wrongly. COMMAND cannot be coll,
# which also calls the MPI alone: MPICH 4.0 crashes in long reductions in place.
of_mpich()
{
	local NAMES

	names software
	(export "${NAMES[@]}" && with_mpich "$@")
}

# Calls on a freed communicator pass through, so that MPICH reports the error.
on_freed()
{
	good 2 ways software mpi 2 errors freed &&
		passed allgather 'argument that the MPI rejects' &&
		passed allreduce 'argument that the MPI rejects'
}

# Processes of MPICH wait without sleeping: two, one for each processor.
by_mpich()
{
	check 'builds for MPICH' build_mpich
	check 'MPICH: algorithms by name' of_mpich algorithms 2 BARRIER=dissemination \
		BCAST=binomial REDUCE=binomial ALLREDUCE=doubling SCAN=doubling EXSCAN=doubling \
		REDUCE_SCATTER=pairwise REDUCE_SCATTER_BLOCK=pairwise \
		GATHER=binomial SCATTER=binomial GATHERV=linear SCATTERV=linear \
		ALLGATHER=bruck ALLGATHERV=ring ALLTOALL=bruck ALLTOALLV=pairwise
	check 'MPICH: other algorithms by name' of_mpich algorithms 2 \
		BCAST=scatter-allgather ALLREDUCE=rabenseifner REDUCE_SCATTER=ring \
		REDUCE_SCATTER_BLOCK=ring GATHER=linear SCATTER=linear \
		ALLGATHER=ring ALLTOALL=pairwise
	check 'MPICH: rings' of_mpich algorithms 2 BCAST=ring REDUCE=ring ALLREDUCE=ring
	check 'MPICH: rings of chosen dimensions, in packets' of_mpich algorithms 2 \
		ALLREDUCE=ring2d ALLREDUCE_DIMS=2x1 ALLREDUCE_PACKET=8 ALLGATHER=doubling
	check 'MPICH: a table' with_mpich table
	check 'MPICH: a test of a failed request and a pending one' \
		with_mpich good 2 ways software mpi 2 errors test
	check 'MPICH: an error handler that waits' \
		with_mpich good 2 ways software mpi 2 errors nested
	check 'MPICH: a communicator that was freed' with_mpich on_freed
}

if ! command -v mpicc.openmpi >/dev/null || ! command -v mpif90.openmpi >/dev/null; then
	skip 'Open MPI' 'Open MPI is missing: install libopenmpi-dev'
	plan
	exit
fi
check 'builds' variant plain libangara libangara/mpi selftests/mpi
check 'auto takes the adapter for short messages' longest
check 'algorithms by name' algorithms 3 BARRIER=dissemination BCAST=binomial \
	REDUCE=binomial ALLREDUCE=doubling SCAN=doubling EXSCAN=doubling \
	REDUCE_SCATTER=pairwise REDUCE_SCATTER_BLOCK=pairwise \
	GATHER=binomial SCATTER=binomial GATHERV=linear SCATTERV=linear \
	ALLGATHER=bruck ALLGATHERV=ring ALLTOALL=bruck ALLTOALLV=pairwise
check 'other algorithms by name' algorithms 3 BCAST=scatter-allgather \
	ALLREDUCE=rabenseifner REDUCE_SCATTER=ring \
	REDUCE_SCATTER_BLOCK=ring GATHER=linear SCATTER=linear \
	ALLGATHER=ring ALLTOALL=pairwise
check 'rings' algorithms 5 BCAST=ring REDUCE=ring ALLREDUCE=ring
check 'allgather by doubling' no_power 4 doubling
if [ -e /usr/include/metis.h ]; then
	check 'allgather by levels: bruck-exch' by_levels 5 bruck-exch
	check 'allgather by levels: bruck-reorder' by_levels 5 bruck-reorder
	check 'allgather by levels: doubling-exch' no_power 4 doubling-exch
	check 'allgather by levels: doubling-reorder' \
		no_power 4 doubling-reorder
	check 'levels of the machine' by_machine
else
	skip 'allgather by levels' 'METIS is missing: install libmetis-dev'
fi
check 'levels with a word' bad_levels '2: expected 1 to 8 numbers' 0 node
check 'levels with a negative number' bad_levels '1: expected 1 to 8 numbers' -1 0
check 'levels that differ' bad_levels '2: expected 1 to 8 numbers' '0 1' 0
check 'nine levels' bad_levels '1: expected 1 to 8 numbers' '1 2 3 4 5 6 7 8 9'
check 'levels with a long line' bad_levels '1: the line is longer than 254' \
	"$(printf '%0300d' 1)"
check 'levels of other processes' bad_levels ' has lines for 3 processes, but there are 2' 0 0 1
check 'levels without a keyword' refused \
	"ANGARA_MPI_LEVELS '2x2': expected machine or file:NAME" \
	ANGARA_MPI_LEVELS=2x2
check 'no file of levels' refused \
	"ANGARA_MPI_LEVELS 'file:/none/there': No such file" \
	ANGARA_MPI_LEVELS=file:/none/there
check 'allreduce on a ring of 5' algorithms 5 ALLREDUCE=ring
check 'allreduce on rings of two dimensions' algorithms 6 ALLREDUCE=ring2d
check 'allreduce on two dimensions of 5 and 1' algorithms 5 ALLREDUCE=ring2d
check 'allreduce on rings of chosen dimensions, in packets' algorithms 6 \
	ALLREDUCE=ring2d ALLREDUCE_DIMS=1x2x3 ALLREDUCE_PACKET=8
check 'long allreduces on chosen rings, in packets' long ALLREDUCE=ring2d \
	ALLREDUCE_DIMS=4x1 ALLREDUCE_PACKET=4KiB PART=128KiB
check 'long parts' long BARRIER=offload BCAST=offload REDUCE=offload \
	ALLREDUCE=offload PART=16MiB
# A message of more than 4 KiB has an offer and a reply.
check 'a ring of whole messages' rings $((2 * 6)) \
	'ring: 84 calls, parts of 1048576 bytes, whole messages' ALLREDUCE=ring
check 'a ring in packets' rings $((2 * 3 * 5)) \
	'ring: 84 calls, parts of 1048576 bytes, packets of 65536 bytes' \
	ALLREDUCE=ring ALLREDUCE_PACKET=64KiB
check 'two dimensions in packets' rings $((2 * (9 + 5))) \
	'ring2d of two dimensions: 84 calls, parts of 1048576 bytes, packets of 65536 bytes' \
	ALLREDUCE=ring2d ALLREDUCE_PACKET=65536
check 'chosen dimensions in packets' rings $((2 * 3 * 5)) \
	'ring2d of 1x4: 84 calls, parts of 1048576 bytes, packets of 65536 bytes' \
	ALLREDUCE=ring2d ALLREDUCE_PACKET=64KiB ALLREDUCE_DIMS=1x4
check 'dimensions for another number of members' rings $((2 * 4)) \
	'ring2d of two dimensions: 84 calls, parts of 1048576 bytes, whole messages' \
	ALLREDUCE=ring2d ALLREDUCE_DIMS=3
check 'each algorithm has its own order of sums' named
check 'an algorithm of another collective' refused \
	"ANGARA_MPI_ALLGATHERV 'bruck': expected software, ring, native or auto" \
	ANGARA_MPI_ALLGATHERV=bruck
check 'a table' table
check 'a table at the default place' default_table
check 'angara-mpi-tune' tune
check 'angara-mpi-tune: algorithms by name' tune_algorithms
check 'angara-mpi-tune: an algorithm that not all collectives have' tune_by_name
check 'angara-mpi-tune chooses the fastest implementation' tune_chooses
check 'a table with an unknown implementation' \
	bad_table 'allreduce 2 8 fast' 'unknown WAY'
check 'a table with an unknown collective' \
	bad_table 'reduceall 2 8 native' 'unknown COLLECTIVE'
for coll in gatherv scatterv alltoallv; do
	check "a table with lengths unknown to some members: $coll" \
		bad_table "$coll 2 8 software" \
		'COLLECTIVE with lengths unknown to some members: auto cannot choose by BYTES$'
done
check 'a table with too many words' \
	bad_table 'scan 2 8 native 1 2' 'expected COLLECTIVE'
check 'a table with too few' bad_table 'scan 2 8' 'expected COLLECTIVE'
check 'a table with a tree for a scan' \
	bad_table 'scan 2 8 offload' 'unknown WAY'
check 'a table with negative members' \
	bad_table 'scan -2 8 native' 'MEMBERS is not'
check 'a table without members' bad_table 'scan 0 8 native' 'MEMBERS is not'
check 'a table with too many members' \
	bad_table 'scan 4294967298 8 native' 'MEMBERS is not'
check 'a table with negative bytes' \
	bad_table 'scan 2 -8 native' 'BYTES is not'
check 'a table with too many bytes' \
	bad_table 'scan 2 18446744073709551616 native' 'BYTES is not'
check 'a table with a unit' bad_table 'scan 2 8k native' 'BYTES is not'
check 'a table with an invalid time' \
	bad_table 'scan 2 8 native nan' 'MICROSECONDS is not'
check 'a table with a long line' \
	bad_table "scan 2 8 native $(printf '%0300d' 1)" 'the line is longer than 254'
check 'a table of some functions' table_world
check 'a missing table' refused \
	"ANGARA_MPI_TUNE '/none/there': No such file" \
	ANGARA_MPI_TUNE=/none/there
check 'angara-mpi-tune: bad processes' says "invalid -n '2,x'" 2 \
	"$OUT/bin/angara-mpi-tune" --mpi openmpi -n 2,x
check 'an implementation that scans do not have' refused \
	"ANGARA_MPI_SCAN 'offload': expected software, doubling, native or auto" \
	ANGARA_MPI_SCAN=offload
check 'an unknown implementation' refused "ANGARA_MPI_BCAST 'fast': expected offload" \
	ANGARA_MPI_BCAST=fast
check 'a length that is not a number' refused \
	"ANGARA_MPI_LONGEST '4k': expected a number of bytes" \
	ANGARA_MPI_LONGEST=4k
check 'a part that is not a multiple' refused \
	"ANGARA_MPI_PART '96KiB': expected a multiple of 64KiB, up to 16MiB" \
	ANGARA_MPI_PART=96KiB
check 'no part' refused "ANGARA_MPI_PART '0': expected" ANGARA_MPI_PART=0
check 'a part that is too long' refused "ANGARA_MPI_PART '17MiB': expected" \
	ANGARA_MPI_PART=17MiB
check 'a number of bytes that overflows' refused \
	"ANGARA_MPI_LONGEST '18014398509481984KiB': expected a number of bytes" \
	ANGARA_MPI_LONGEST=18014398509481984KiB
check 'a negative packet size' refused \
	"ANGARA_MPI_ALLREDUCE_PACKET '-1': expected bytes up to 16MiB" \
	ANGARA_MPI_ALLREDUCE_PACKET=-1
check 'more members than processes' refused \
	"ANGARA_MPI_ALLREDUCE_DIMS '2x2': expected up to 32 sizes" \
	ANGARA_MPI_ALLREDUCE_DIMS=2x2
for way in '' 2x x2 0 1y2 -1 4294967297 "$(printf '1x%.0s' {1..32})1"; do
	check "bad dimensions: '$way'" refused \
		"ANGARA_MPI_ALLREDUCE_DIMS '$way': expected up to 32 sizes, such as 4x2, with a product of at most 2" \
		"ANGARA_MPI_ALLREDUCE_DIMS=$way"
done
check 'an order that is neither asserted nor not' refused \
	"ANGARA_MPI_ORDERED 'maybe': expected 0 or 1" ANGARA_MPI_ORDERED=maybe
check 'statistics that are neither on nor off' refused \
	"ANGARA_MPI_STATS 'yes': expected 0 or 1" ANGARA_MPI_STATS=yes
# Without libmpich-dev, mpicc.mpich exists, but not the header.
if ! echo '#include <mpi.h>' | mpicc.mpich -E - >/dev/null 2>&1; then
	skip 'MPICH' 'MPICH is missing: install libmpich-dev'
elif [ "$(nproc)" -lt 2 ]; then
	skip 'MPICH' 'its processes wait without sleeping, each needs a processor'
else
	by_mpich
fi
plan
