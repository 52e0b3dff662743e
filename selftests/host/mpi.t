#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Collectives of MPI programs over the adapter, on embedded fabrics: Open MPI of
# this machine, Open MPI and MPICH of the guest root. Each result is compared
# with that of the MPI library alone.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mpi/mpi.sh

GUEST=build/variant/mpi-guest	# built in the guest root

# mpi N PROGRAM [ARG]...: runs a program of selftests/mpi with N processes and
# statistics
mpi()
{
	local n=$1 program=$2

	shift 2
	env ANGARA_MPI_STATS=1 timeout 600 "$OUT/bin/angara-mpirun" --oversubscribe \
		-n "$n" "$OUT/tests/mpi-openmpi/$program" "$@"
}

# counted COLLECTIVE WAY CALLS: do the statistics of the last program have this
# line?
counted()
{
	grep "^libangara-mpi: $1  *$2 " "$TAP_TMP/said"
	[ "$(sed -n "s/^libangara-mpi: $1  *$2  *\([0-9]*\) .*/\1/p" \
		"$TAP_TMP/said")" = "$3" ]
}

# passed COLLECTIVE REASON: do they say that such calls passed through, for this
# reason?
passed()
{
	grep "^libangara-mpi: passed through: $1, [0-9]* calls: $2\$" "$TAP_TMP/said"
}

# Did most calls of each kind use the implementation that is set?
taken()
{
	local coll

	cat "$TAP_TMP/said"
	for coll in barrier bcast reduce allreduce; do
		awk -v coll="$coll" -v way="$1" '
			/^libangara-mpi: / && $2 == coll && $3 == way { n = $4 }
			END { exit n < 100 }' "$TAP_TMP/said" || return
	done
}

reasons()
{
	cat "$TAP_TMP/said"
	passed barrier 'one member' && passed barrier intercommunicator &&
		passed bcast 'no data' && passed reduce 'datatype of a reduction' &&
		passed allreduce 'operation of a reduction' &&
		passed 'barrier i' 'one member'
}

# Each function of each module is seen, but dup, split and free do not count as
# collectives.
fortran()
{
	good 3 ways offload mpi 3 sum && counted barrier offload 6 &&
		counted bcast offload 6 && counted reduce offload 6 &&
		counted allreduce offload 9
}

# Every function from Fortran is seen as well, by each interface.
all_fortran()
{
	local interface

	for interface in f08 module header; do
		good 4 ways "$1" mpi 4 all-$interface &&
			[ "$(grep -c "^libangara-mpi: .*  software  *[48] " \
				"$TAP_TMP/said")" -ge "$2" ] || return
	done
}

# Every collective that intercommunicators have passes through, blocking and
# non-blocking.
inter()
{
	good 4 ways "$1" mpi 4 inter &&
		[ "$(grep -c '^libangara-mpi: passed through: .*, 4 calls: intercomm' \
			"$TAP_TMP/said")" = 28 ] &&
		! grep -E '^libangara-mpi: .* (offload|software) ' "$TAP_TMP/said" |
		grep -v ' allreduce '
}

# ends HOW STATUS...: the job ends with one of these statuses, and no member
# continues
ends()
{
	local status=0

	ways offload mpi 3 errors "$1" >"$TAP_TMP/said" 2>&1 || status=$?
	echo "status $status"
	cat "$TAP_TMP/said"
	[[ " ${*:2} " = *" $status "* ]] && ! grep 'goes on' "$TAP_TMP/said"
}

# Two threads use a communicator each.
threads()
{
	good 3 ways offload mpi 3 coll threads && counted allreduce offload 1200
}

native_beside()
{
	good 3 ways offload mpi 3 mix native && counted 'allreduce i' offload 60 &&
		passed 'allreduce init' 'datatype of a reduction'
}

# Non-blocking calls pass through without a team, and not with one.
late()
{
	good 3 ways offload mpi 3 mix late &&
		passed 'allreduce i' 'no team yet' &&
		counted 'allreduce i' offload 3
}

# memory WAY: a member has no memory: each member gets an error, and prints one
# line about it
memory()
{
	good 3 ways "$1" mpi 3 errors pack &&
		grep -q 'bcast over the adapter has failed: Cannot allocate memory' \
			"$TAP_TMP/said" &&
		[ "$(grep -c 'bcast over the adapter has failed' "$TAP_TMP/said")" = 3 ]
}

# Communicators that get no context pass through.
many()
{
	good 2 ways offload mpi 2 mix many &&
		passed allreduce 'no context for the communicator'
}

# Did each collective use the implementation that is set, in each form?
forms()
{
	local coll form

	cat "$TAP_TMP/said"
	for coll in barrier bcast reduce allreduce; do
		for form in '' ' i' ' init'; do
			grep -q "^libangara-mpi: $coll$form  *$1 " \
				"$TAP_TMP/said" || return
		done
	done
	for coll in "${OTHERS[@]}"; do
		for form in '' ' i' ' init'; do
			grep -q "^libangara-mpi: ${coll,,}$form  *software " \
				"$TAP_TMP/said" || return
		done
	done
}

spawned()
{
	good 2 ways offload mpi 2 coll spawn &&
		passed allreduce 'members of another MPI_COMM_WORLD'
}

# measured TABLE COLLECTIVE...: 2 processes make 21 calls with 8 and 21 with
# 4096 bytes
measured()
{
	local table=$1

	shift
	env ANGARA_MPI_TUNE="$table" ANGARA_MPI_STATS=1 timeout 600 \
		"$OUT/bin/angara-mpirun" --oversubscribe -n 2 \
		"$OUT/bin/angara-mpi-measure-openmpi" 1 8 4096 -- "$@" \
		>"$TAP_TMP/said" 2>&1
	cat "$TAP_TMP/said"
}

# The line of the greatest length also applies to longer calls; of equal lines
# the first one applies.
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

# With auto the table decides: by the length or the next greater one, and by the
# number of members or the next smaller one.
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
	END
	measured "$TAP_TMP/table" allreduce allgather bcast scan &&
		counted allreduce offload 42 && counted allreduce native 42 &&
		passed allreduce 'auto takes the MPI' &&
		counted allgather software 84 && counted bcast software 84 &&
		counted scan native 84 && longest_line &&
		mkdir -p "$TAP_TMP/.config/angara" &&
		cp "$TAP_TMP/table" "$TAP_TMP/.config/angara/mpi-openmpi.tune" || return
	# A table at the default place, then no table.
	env -u XDG_CONFIG_HOME -u ANGARA_MPI_TUNE HOME="$TAP_TMP" ANGARA_MPI_STATS=1 timeout 600 \
		"$OUT/bin/angara-mpirun" --oversubscribe -n 2 \
		"$OUT/bin/angara-mpi-measure-openmpi" 1 8 4096 -- bcast \
		>"$TAP_TMP/said" 2>&1 && counted bcast software 84 &&
		measured '' bcast && counted bcast offload 84
}

# bits WAY N PROGRAM [ARG]...: prints the bits of the result
bits()
{
	local way=$1

	shift
	ways "$way" mpi "$@" 2>"$TAP_TMP/said" >"$TAP_TMP/bits" ||
		cat "$TAP_TMP/said" >&2
	grep '^bits' "$TAP_TMP/bits"
}

# heat PROGRAM [ARG]...: maxima have the same bits for any implementation and
# number of processes.
heat()
{
	local want way n got

	want=$(bits native 1 "$@") && echo "$want" || return
	for way in offload software native; do
		for n in 2 5; do
			got=$(bits $way $n "$@")
			echo "$way, $n: $got"
			[ "$got" = "$want" ] || return
		done
	done
	bits offload 3 "$@" >/dev/null && counted_some offload
}

counted_some()
{
	grep -E "^libangara-mpi: allreduce( i)?  *$1 " "$TAP_TMP/said"
}

# Sums have the same bits in every run with equal settings.
spmv()
{
	local want way

	for way in offload software; do
		want=$(bits $way 4 apps spmv 1000 30) && echo "$way: $want" &&
			counted_some $way &&
			[ "$(bits $way 4 apps spmv 1000 30)" = "$want" ] &&
			grep "^libangara-mpi: allgatherv i  *software " \
				"$TAP_TMP/said" || return
	done
}

# algorithms N COLLECTIVE=ALGORITHM...: checks results in each form with these
# algorithms; the library refuses an algorithm that a collective does not have.
algorithms()
{
	local n=$1 names=()

	shift
	names=("${@/#/ANGARA_MPI_}")
	(export "${names[@]}" && good "$n" mpi "$n" mix random 15 300)
}

# by_levels N ALGORITHM: checks allgathers by this algorithm, with ranks
# alternating between two modules
by_levels()
{
	local i

	for ((i = 0; i < $1; i++)); do
		echo "$((i % 2)) $((i / 4))	# rank $i"
	done >"$TAP_TMP/levels"
	ANGARA_MPI_LEVELS=file:$TAP_TMP/levels algorithms "$1" "ALLGATHER=$2"
	cat "$TAP_TMP/said"
	grep '^libangara-mpi: allgather  *software ' "$TAP_TMP/said" &&
		{ [[ $2 != *-* ]] ||
			grep '^libangara-mpi: numbers by levels: [1-9]' \
				"$TAP_TMP/said"; }
}

# In some communicators the number of members is no power of two.
no_power()
{
	by_levels "$@" && passed allgather 'members are no power of two'
}

# The levels come from the MPI library and hwloc.
by_machine()
{
	ANGARA_MPI_LEVELS=machine algorithms 4 ALLGATHER=bruck-reorder &&
		grep '^libangara-mpi: numbers by levels: ' "$TAP_TMP/said"
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

# Sums of floats show which algorithm ran: each has its own order.
named()
{
	local algo one two all=()

	for algo in ring ring2d doubling rabenseifner; do
		one=$(ANGARA_MPI_ALLREDUCE=$algo mpi 6 apps spmv 1000 30 2>/dev/null)
		two=$(ANGARA_MPI_ALLREDUCE=$algo mpi 6 apps spmv 1000 30 2>/dev/null)
		echo "$algo: $one"
		[ -n "$one" ] && [ "$one" = "$two" ] || return
		all+=("$one")
	done
	[ "$(printf '%s\n' "${all[@]}" | sort -u | wc -l)" = 4 ]
}

# The table has a line with a time for each collective, number of processes and
# length.
tune()
{
	"$OUT/bin/angara-mpi-tune" -n 2,3 --bytes 8,4096 --rounds 1 \
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
	"$OUT/bin/angara-mpi-tune" -n 3,4 --bytes 8,4096 --rounds 1 --algorithms \
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
		LD_PRELOAD=$TAP_TMP/slow.so "$OUT/bin/angara-mpi-tune" -n 2 \
			--bytes 8 --rounds 1 -o "$TAP_TMP/slow" --oversubscribe &&
		grep '^gather 2 8 software ' "$TAP_TMP/slow"
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

# With a table for some functions, the other ones have teams from the start as
# well.
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
		passed allreduce 'longer than auto takes' && taken_some
}

taken_some()
{
	grep -q '^libangara-mpi: allreduce  *offload' "$TAP_TMP/said"
}

# bare COMMAND...: mpirun without the additions of angara-mpirun
bare()
{
	timeout 600 mpirun.openmpi --oversubscribe -n 2 \
		-x "LD_PRELOAD=$PWD/$PRELOAD" "$@"
}

no_fabric()
{
	good 2 bare "$OUT/tests/mpi-openmpi/sum"
	cat "$TAP_TMP/said"
	[ "$(grep -c '^libangara-mpi: ' "$TAP_TMP/said")" = 1 ] &&
		grep -q '^libangara-mpi: no adapter, and ANGARA_FABRIC is not set' \
			"$TAP_TMP/said"
}

# cannot_open TEXT COMMAND...: one line has the reason, and results are right.
cannot_open()
{
	local text=$1

	shift
	good 2 "$@"
	cat "$TAP_TMP/said"
	[ "$(grep -c '^libangara-mpi: ' "$TAP_TMP/said")" = 1 ] &&
		grep -q "^libangara-mpi: rank [0-9]: $text" "$TAP_TMP/said"
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

# Runs in the guest root, whose Open MPI finds no network.
guest()
{
	tools/vm/chroot env "${NAMES[@]}" ANGARA_MPI_STATS=1 timeout 600 \
		"$GUEST/bin/angara-mpirun" "$@" </dev/null
}

guest_openmpi()
{
	names "$1"
	NAMES=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
		"${NAMES[@]}")
	guest --oversubscribe --mca btl self,sm -n "$2" \
		"$GUEST/tests/mpi-openmpi/$3" "${@:4}"
}

# MPICH busy-waits, so run one process per processor.
guest_mpich()
{
	names "$1"
	guest -n "$2" "$GUEST/tests/mpi-mpich/$3" "${@:4}"
}

build_guest()
{
	local jobs mpi

	jobs=-j$(nproc)
	mkdir -p "$GUEST"
	tools/vm/chroot make -s "$jobs" -C libangara "O=/angara/$GUEST" \
		CFLAGS='-O2 -g -Werror' all &&
		tools/vm/chroot make -s "$jobs" -C libangara/mpi \
			"O=/angara/$GUEST" CFLAGS='-O2 -g -Werror' all || return
	for mpi in openmpi mpich; do
		tools/vm/chroot make -s -C selftests/mpi "O=/angara/$GUEST" \
			MPI=$mpi CFLAGS='-O1 -g -Werror' all || return
	done
}

guest_fortran()
{
	good 2 "guest_$1" offload 2 sum && counted barrier offload 4 &&
		counted bcast offload 4 && counted reduce offload 4
}

by_openmpi()
{
	local way

	OUT=$VARIANTS/plain
	PRELOAD=${OUT#"$PWD"/}/lib/libangara-mpi-openmpi.so
	check 'builds' variant plain libangara libangara/mpi selftests/mpi
	for way in offload software; do
		check "all is as the MPI alone does it: $way" \
			good 4 ways $way mpi 4 coll each
		check "and it takes that way: $way" taken $way
	done
	check 'what passes through has a reason' reasons
	for way in native auto; do
		check "all is as the MPI alone does it: $way" \
			good 4 ways $way mpi 4 coll alike
	done
	for way in offload software; do
		check "random calls: $way" good 4 ways $way mpi 4 coll random 1 300
		check "random calls of 7: $way" good 7 ways $way mpi 7 coll random 2 60
	done
	for way in offload software; do
		check "all collectives, all forms: $way" \
			good 4 ways $way mpi 4 mix each
		check "and they take that way: $way" forms $way
	done
	check 'random forms, many in progress: offload' \
		good 4 ways offload mpi 4 mix random 11 600
	check 'random forms, many in progress: software' \
		good 4 ways software mpi 4 mix random 12 600
	check 'random forms, many in progress: auto' \
		good 5 ways auto mpi 5 mix random 13 400
	for way in offload software; do
		check "orders of waits that could deadlock: $way" \
			good 4 ways $way mpi 4 mix order
	done
	check "beside the MPI's own persistent ones" native_beside
	check 'a communicator without a team' late
	for way in offload software; do
		check "no memory to pack: $way" memory $way
		check "errors of requests: $way" \
			good 4 ways $way mpi 4 errors request
		check "a persistent one that cannot start: $way" \
			good 4 ways $way mpi 4 errors start
		check "freed while its error handler runs: $way" \
			good 3 ways $way mpi 3 errors free
	done
	check 'no more contexts' many
	check 'Fortran: modules mpi and mpi_f08' fortran
	check 'Fortran: every function, each interface' all_fortran software 31
	check 'Fortran: every function, adapters' all_fortran offload 24
	for way in offload software; do
		check "intercommunicators: $way" inter $way
	done
	check 'a member calls MPI_Abort' ends abort 7
	# Open MPI returns the status of the killed member, or of one whose
	# collective failed.
	check 'a member is killed' ends death 137 16
	check 'auto takes the adapter for short messages' longest
	check 'MPI_THREAD_MULTIPLE' threads
	check 'threads, all at once' good 3 ways offload mpi 3 mix threads 100
	check 'a member that waits sleeps' good 4 ways offload mpi 4 coll idle
	check 'a process forks' good 2 ways offload mpi 2 coll fork
	check 'processes that the program spawns' spawned
	check 'one process' good 1 ways offload mpi 1 coll random 5 300
	if compgen -G '/dev/angara*' >/dev/null; then
		skip 'no fabric: one line' 'there are adapters here'
	else
		check 'no fabric: one line' no_fabric
	fi
	check 'an adapter that is not there: one line' cannot_open \
		'there is no adapter' bare -x ANGARA_FABRIC=/dev/angara99 \
		"$OUT/tests/mpi-openmpi/sum"
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
	check 'levels with a word' bad_levels '2: expected a number' 0 node
	check 'levels with a negative number' bad_levels '1: expected a number' -1 0
	check 'levels that differ' bad_levels '2: expected a number' '0 1' 0
	check 'nine levels' bad_levels '1: expected a number' '1 2 3 4 5 6 7 8 9'
	check 'levels with a long line' bad_levels '1: longer than 254' \
		"$(printf '%0300d' 1)"
	check 'levels of other processes' bad_levels ' 3 lines for 2 processes' 0 0 1
	check 'levels that are neither' refused \
		"ANGARA_MPI_LEVELS '2x2': expected machine or file:NAME" \
		ANGARA_MPI_LEVELS=2x2
	check 'no file of levels' refused \
		"ANGARA_MPI_LEVELS 'file:/none/there': No such file" \
		ANGARA_MPI_LEVELS=file:/none/there
	check 'allreduce on a ring of 5' algorithms 5 ALLREDUCE=ring
	check 'allreduce on rings of two dimensions' algorithms 6 ALLREDUCE=ring2d
	check 'allreduce on two dimensions of 5 and 1' algorithms 5 ALLREDUCE=ring2d
	check 'algorithms have orders of their own' named
	check 'an algorithm that a collective does not have' refused \
		"ANGARA_MPI_ALLGATHERV 'bruck': expected software, ring, native or auto" \
		ANGARA_MPI_ALLGATHERV=bruck
	check 'heat2d in C: equal bits' heat apps heat2d 64 50
	check 'heat in Fortran: equal bits' heat heat
	check 'SpMV in C: equal bits' spmv
	check 'a table' table
	check 'angara-mpi-tune' tune
	check 'angara-mpi-tune: algorithms by name' tune_algorithms
	check 'angara-mpi-tune takes the fastest way' tune_chooses
	check 'a table with an unknown way' \
		bad_table 'allreduce 2 8 fast' 'unknown WAY'
	check 'a table with an unknown collective' \
		bad_table 'reduceall 2 8 native' 'unknown COLLECTIVE'
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
	check 'a table with a time that is none' \
		bad_table 'scan 2 8 native nan' 'MICROSECONDS is not'
	check 'a table with a long line' \
		bad_table "scan 2 8 native $(printf '%0300d' 1)" 'longer than 254'
	check 'a table of some functions' table_world
	check 'a table that is not there' refused \
		"ANGARA_MPI_TUNE '/none/there': No such file" \
		ANGARA_MPI_TUNE=/none/there
	check 'angara-mpi-tune: bad processes' says "invalid -n '2,x'" 2 \
		"$OUT/bin/angara-mpi-tune" -n 2,x
	check 'a way that scans do not have' refused \
		"ANGARA_MPI_SCAN 'offload': expected software, doubling, native or auto" \
		ANGARA_MPI_SCAN=offload
	check 'an unknown way' refused "ANGARA_MPI_BCAST 'fast': expected offload" \
		ANGARA_MPI_BCAST=fast
	check 'a length that is no number' refused \
		"ANGARA_MPI_LONGEST '4k': expected a number of bytes" \
		ANGARA_MPI_LONGEST=4k
	check 'statistics that are neither on nor off' refused \
		"ANGARA_MPI_STATS 'yes': expected 0 or 1" ANGARA_MPI_STATS=yes
	check 'no program' says 'no program' 2 "$OUT/bin/angara-mpirun"
	check 'a program without an MPI' says 'name the MPI by --mpi' 2 \
		"$OUT/bin/angara-mpirun" -n 2 true
	check 'an unknown MPI' says "unknown MPI 'lam'" 2 \
		"$OUT/bin/angara-mpirun" --mpi lam -n 2 true
	check '--help' sh -c "'$OUT/bin/angara-mpirun' --help | grep -q '^Usage: '"
}

# The library is built with sanitizers, whose runtime must load first; leaks of
# the MPI library are ignored.
by_asan()
{
	local asan

	asan=$(cc -print-file-name=libasan.so)
	OUT=$VARIANTS/plain
	PRELOAD=${VARIANTS#"$PWD"/}/asan/lib/libangara-mpi-openmpi.so
	check 'builds with sanitizers' variant asan libangara libangara/mpi
	for way in offload software; do
		check "random calls under sanitizers: $way" good 2 \
			ways $way env ASAN_OPTIONS=detect_leaks=0 \
			ANGARA_FABRIC=embedded timeout 600 mpirun.openmpi \
			--oversubscribe -n 2 -x "LD_PRELOAD=$asan:$PWD/$PRELOAD" \
			"$OUT/tests/mpi-openmpi/coll" random 7 300
		check "random forms under sanitizers: $way" good 3 \
			ways $way env ASAN_OPTIONS=detect_leaks=0 \
			ANGARA_FABRIC=embedded timeout 600 mpirun.openmpi \
			--oversubscribe -n 3 -x "LD_PRELOAD=$asan:$PWD/$PRELOAD" \
			"$OUT/tests/mpi-openmpi/mix" random 14 500
	done
}

by_guest()
{
	local mpi interface

	check 'guest root: builds for both' build_guest
	check 'guest root: Open MPI' good 4 guest_openmpi offload 4 coll each
	check 'guest root: Open MPI, and it takes that way' taken offload
	check 'guest root: MPICH' good 2 guest_mpich offload 2 coll each
	check 'guest root: MPICH, and it takes that way' taken offload
	check 'guest root: MPICH, random calls' \
		good 3 guest_mpich software 3 coll random 1 80
	check "guest root: MPICH, beside the MPI's own persistent ones" \
		good 2 guest_mpich offload 2 mix native
	check 'guest root: MPICH, all forms' \
		good 2 guest_mpich offload 2 mix each
	check 'guest root: MPICH, and they take that way' forms offload
	check 'guest root: MPICH, random forms' \
		good 2 guest_mpich offload 2 mix random 2 400
	check 'guest root: MPICH, threads' good 2 guest_mpich offload 2 mix threads 20
	check 'guest root: Open MPI, all forms' \
		good 3 guest_openmpi offload 3 mix each
	check 'guest root: Open MPI, and they take that way' forms offload
	check 'guest root: Open MPI, threads' \
		good 3 guest_openmpi offload 3 mix threads 50
	check 'guest root: MPICH, a process forks' \
		good 2 guest_mpich offload 2 coll fork
	for mpi in openmpi mpich; do
		check "guest root: Fortran, $mpi" guest_fortran $mpi
		for interface in f08 module header; do
			check "guest root: Fortran, every function, $mpi, $interface" \
				good 2 "guest_$mpi" software 2 all-$interface
		done
		check "guest root: intercommunicators, $mpi" \
			good 4 "guest_$mpi" offload 4 inter
	done
}

if command -v mpicc.openmpi >/dev/null && command -v mpif90.openmpi >/dev/null; then
	by_openmpi
	by_asan
else
	skip 'Open MPI' 'Open MPI is missing: install libopenmpi-dev'
fi
if [ "$(id -u)" = 0 ] && [ -e build/guest/root/.stamp ]; then
	by_guest
else
	skip 'MPICH, and Open MPI 5' "needs root and the guest root: 'make setup'"
fi
plan
