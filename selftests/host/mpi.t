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

# types RUN: all 31 datatypes that adapters reduce go over them, with each operation; 3 other
# datatypes, products of complex numbers and operations of the program pass through. Minima and
# maxima of integers have the sign of the type.
types()
{
	good 2 "$1" offload 2 coll types && cat "$TAP_TMP/said" && counted allreduce offload 424 &&
		counted scan software 360 &&
		passed allreduce 'unsupported datatype' | grep ' 56 calls' &&
		passed allreduce 'unsupported operation' | grep ' 8 calls' &&
		passed allreduce 'user-defined operation' | grep ' 2 calls'
}

reasons()
{
	cat "$TAP_TMP/said"
	passed barrier 'one member' && passed barrier intercommunicator &&
		passed bcast 'no data' && passed reduce 'unsupported datatype' &&
		passed allreduce 'unsupported operation' &&
		passed allreduce 'user-defined operation' &&
		passed 'barrier i' 'one member'
}

# The library sees each function that a Fortran program calls by each module. The statistics have no
# dup, split and free, which are no collectives.
fortran()
{
	good 3 ways offload mpi 3 sum && counted barrier offload 6 &&
		counted bcast offload 6 && counted reduce offload 6 &&
		counted allreduce offload 9
}

# all_fortran RUN WAY N LINES INTERFACE...: the library sees every function that has a Fortran form,
# by each interface: the statistics have LINES functions and forms that all N processes have called
# once or twice, by software. RUN is host, guest_openmpi or guest_mpich.
all_fortran()
{
	local run=$1 way=$2 n=$3 lines=$4 interface

	for interface in "${@:5}"; do
		good "$n" "$run" "$way" "$n" "all-$interface" &&
			[ "$(grep -cE "^libangara-mpi: .*  software  *($n|$((2 * n))) " \
				"$TAP_TMP/said")" -ge "$lines" ] && continue
		cat "$TAP_TMP/said"
		return 1
	done
}

# All collectives on intercommunicators, blocking and non-blocking, pass through to the MPI library.
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

# Each of two threads uses its own communicator.
threads()
{
	good 3 ways offload mpi 3 coll threads && counted allreduce offload 1200
}

native_beside()
{
	good 3 ways offload mpi 3 mix native && counted 'allreduce i' offload 60 &&
		passed 'allreduce init' 'unsupported datatype'
}

# Persistent collectives that members start in different orders pass through.
any_order()
{
	ORDERED=0 good 4 ways "$1" mpi 4 mix starts &&
		passed 'allreduce init' 'members may start them in different orders'
}

# Non-blocking calls of a communicator without a team pass through to the MPI library. Calls of a
# communicator with a team do not.
late()
{
	good 3 ways offload mpi 3 mix late &&
		passed 'allreduce i' 'no team yet' &&
		counted 'allreduce i' offload 3
}

# memory WAY: a member has no memory; each member gets an error, and prints one line about it
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

# host WAY N PROGRAM [ARG]...: runs a program of selftests/mpi with the host's MPI library and this
# implementation of collectives
host()
{
	ways "$1" mpi "${@:2}"
}

# bits RUN WAY N PROGRAM [ARG]...: prints the bits of the result; RUN is host,
# guest_openmpi or guest_mpich
bits()
{
	"$@" 2>"$TAP_TMP/said" >"$TAP_TMP/bits" || cat "$TAP_TMP/said" >&2
	grep '^bits' "$TAP_TMP/bits"
}

counted_some()
{
	grep -E "^libangara-mpi: allreduce( i)?  *$1 " "$TAP_TMP/said"
}

# heat RUN "N..." PROGRAM [ARG]...: maxima have the same bits for any
# implementation and number of processes.
heat()
{
	local run=$1 numbers=$2 want way n got

	shift 2
	want=$(bits "$run" native 1 "$@") && echo "$want" || return
	for way in offload software native; do
		for n in $numbers; do
			got=$(bits "$run" $way "$n" "$@")
			echo "$way, $n: $got"
			[ "$got" = "$want" ] || return
			[ $way = native ] || counted_some $way || return
		done
	done
}

# spmv RUN N PROGRAM [ARG]...: sums have the same bits in every run with equal
# settings.
spmv()
{
	local want way

	for way in offload software; do
		want=$(bits "$1" $way "$2" "${@:3}") && echo "$way: $want" &&
			counted_some $way &&
			[ "$(bits "$1" $way "$2" "${@:3}")" = "$want" ] &&
			grep "^libangara-mpi: allgatherv i  *software " \
				"$TAP_TMP/said" || return
	done
}

# words COMMAND: tests the options -h, --help, -V and --version, which all tools have
words()
{
	local command=$OUT/bin/$1 word

	for word in -h --help; do
		"$command" $word | grep -q "^Usage: $1 " || return
	done
	for word in -V --version; do
		"$command" $word | grep -qx "$1 [0-9]*\.[0-9]*\.[0-9]*" || return
	done
}

# Help and man page of angara-mpirun have all variables that the library defines as ENV_*.
settings_told()
{
	local name num=0

	"$OUT/bin/angara-mpirun" --help >"$TAP_TMP/help"
	while read -r name; do
		num=$((num + 1))
		echo "$name"
		grep -qE "^ANGARA_MPI_.*$name\>" "$TAP_TMP/help" &&
			grep -q "^\.It Ev ANGARA_MPI_.*$name\>" tools/man/angara-mpirun.1 || return
	done < <(sed -n 's/^#define ENV_.*_\([A-Z]*\)"$/\1/p
		s/^#define ENV_.*"\([A-Z]*\)"$/\1/p' libangara/mpi/*.c)
	[ $num -ge 7 ]
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

# A program that is linked with the library, before the MPI, needs no LD_PRELOAD; angara-mpirun
# starts it, too.
linked()
{
	local programs=$OUT/tests/mpi-openmpi program start

	variant plain selftests/mpi:linked || return
	for program in linked-c linked-fortran; do
		ldd "$programs/$program" >"$TAP_TMP/libraries"
		cat "$TAP_TMP/libraries"
		awk '/libmpi/ { mpi = 1 } /libangara-mpi-openmpi/ { first = !mpi }
			END { exit !first }' "$TAP_TMP/libraries" || return
	done
	for start in mpirun.openmpi "$OUT/bin/angara-mpirun"; do
		timeout 600 "$start" --oversubscribe -n 2 -x ANGARA_FABRIC=embedded \
			-x ANGARA_MPI_STATS=1 "$programs/linked-c" >"$TAP_TMP/said" 2>&1
		cat "$TAP_TMP/said"
		[ "$(grep -c 'rank [01]: 1' "$TAP_TMP/said")" = 2 ] &&
			counted allreduce offload 2 || return
		good 2 timeout 600 "$start" --oversubscribe -n 2 -x ANGARA_FABRIC=embedded \
			-x ANGARA_MPI_STATS=1 "$programs/linked-fortran" &&
			counted allreduce offload 6 || return
	done
}

# Several programs in one job, which Open MPI starts with variables of their own.
programs()
{
	local sum=$OUT/tests/mpi-openmpi/sum

	good 3 env ANGARA_MPI_STATS=1 timeout 60 "$OUT/bin/angara-mpirun" --oversubscribe \
		-n 2 "$sum" : -n 1 "$sum" && counted allreduce offload 9
}

# rejected N COMMAND...: calls with invalid arguments, twice at each of N members, pass through, so
# the MPI returns its errors
rejected()
{
	local coll

	good "$@" || return
	cat "$TAP_TMP/said"
	for coll in allgather allgatherv alltoall alltoallv gather gatherv scatter scatterv; do
		passed "$coll" 'argument that the MPI rejects' | grep -q ", $((2 * $1)) calls" ||
			return
	done
}

# A library of a program in C has a function of its own that is called mpi_init.
own_name()
{
	local lib=$TAP_TMP/libown.so

	echo 'int mpi_init(int *x) { return *x = 7; }
		int own(void) { int x = 0; mpi_init(&x); return x; }' |
		cc -shared -fPIC -x c - -o "$lib" &&
		echo 'int own(void); int main(void) { return own() != 7; }' |
		cc -x c - -x none "$lib" "-Wl,-rpath,$TAP_TMP" -o "$TAP_TMP/own" &&
		LD_PRELOAD=$PWD/$PRELOAD timeout 60 "$TAP_TMP/own"
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
	local sums=6

	# MPICH's PMPI_Allreduce of Fortran calls MPI_Allreduce of C.
	[ "$1" = openmpi ] || sums=8
	good 2 "guest_$1" offload 2 sum && counted barrier offload 4 &&
		counted bcast offload 4 && counted reduce offload 4 &&
		counted allreduce offload $sums
}

by_openmpi()
{
	local way

	OUT=$VARIANTS/plain
	PRELOAD=${OUT#"$PWD"/}/lib/libangara-mpi-openmpi.so
	check 'builds' variant plain libangara libangara/mpi selftests/mpi
	for way in offload software; do
		check "results equal those of the MPI alone: $way" \
			good 4 ways $way mpi 4 coll each
		check "collectives use this implementation: $way" taken $way
	done
	check 'statistics name the reason of calls that pass through' reasons
	check 'every datatype' types host
	for way in native auto; do
		check "results equal those of the MPI alone: $way" \
			good 4 ways $way mpi 4 coll alike
	done
	for way in offload software; do
		check "random calls: $way" good 4 ways $way mpi 4 coll random 1 300
		! long_form || check "random calls of 7: $way" \
			good 7 ways $way mpi 7 coll random 2 60
	done
	for way in offload software; do
		check "all collectives, all forms: $way" \
			good 4 ways $way mpi 4 mix each
		check "all forms use this implementation: $way" forms $way
	done
	check 'random forms, many in progress: offload' \
		good 4 ways offload mpi 4 mix random 11 "$(amount 200 600)"
	check 'random forms, many in progress: software' \
		good 4 ways software mpi 4 mix random 12 "$(amount 200 600)"
	check 'random forms, many in progress: auto' \
		good 5 ways auto mpi 5 mix random 13 "$(amount 100 400)"
	for way in offload software; do
		check "orders of waits that could deadlock: $way" \
			good 4 ways $way mpi 4 mix order
	done
	check "beside the MPI's own persistent collectives" native_beside
	for way in offload software; do
		check "members start persistent collectives in other orders: $way" \
			any_order $way
	done
	check 'a communicator without a team' late
	for way in offload software; do
		check "no memory to pack: $way" memory $way
		check "errors of requests: $way" \
			good 4 ways $way mpi 4 errors request
		check "a persistent collective that cannot start: $way" \
			good 4 ways $way mpi 4 errors start
		check "requests that fail together, and an error handler that frees: $way" \
			good 3 ways $way mpi 3 errors together
		check "requests that fail together, and an error handler that waits: $way" \
			good 3 ways $way mpi 3 errors last
		check "a communicator freed while its error handler runs: $way" \
			good 3 ways $way mpi 3 errors free
	done
	check 'the devices disappear' good 3 ways software mpi 3 errors gone
	check 'a test of a failed request and a pending one' \
		good 3 ways software mpi 3 errors test
	check 'an error handler that waits' good 3 ways software mpi 3 errors nested
	check 'no more contexts' many
	check 'Fortran: modules mpi and mpi_f08' fortran
	check 'Fortran: every function, each interface' \
		all_fortran host software 4 31 f08 module header
	check 'Fortran: every function, adapters' \
		all_fortran host offload 4 24 f08 module header
	for way in offload software; do
		check "intercommunicators: $way" inter $way
	done
	check 'a member calls MPI_Abort' ends abort 7
	# Open MPI returns the status of the killed member, or of one whose
	# collective failed.
	check 'a member is killed' ends death 137 16
	check 'MPI_THREAD_MULTIPLE' threads
	check 'all threads call collectives at once' good 3 ways offload mpi 3 mix threads 100
	check 'a member that waits sleeps' good 4 ways offload mpi 4 coll idle
	check 'a process forks' good 2 ways offload mpi 2 coll fork
	check 'processes that the program spawns' spawned
	check 'one process' good 1 ways offload mpi 1 coll random 5 300
	if compgen -G '/dev/angara*' >/dev/null; then
		skip 'no fabric: one line' 'there are adapters here'
	else
		check 'no fabric: one line' no_fabric
	fi
	check 'a missing adapter: one line' cannot_open \
		'there is no adapter' bare -x ANGARA_FABRIC=/dev/angara99 \
		"$OUT/tests/mpi-openmpi/sum"
	check 'heat2d in C: equal bits' heat host '2 5' apps heat2d 64 50
	check 'heat in Fortran: equal bits' heat host '2 5' heat
	check 'SpMV in C: equal bits' spmv host 4 apps spmv 1000 30
	check 'SpMV in Fortran: equal bits' spmv host 4 spmv
	check 'programs that are linked with the library' linked
	check 'arguments that the MPI rejects' rejected 3 ways software mpi 3 errors args
	check 'a program with a function mpi_init' own_name
	check 'several programs in one job' programs
	check 'no program' says 'no program' 2 "$OUT/bin/angara-mpirun"
	check 'a program without an MPI' says 'name the MPI by --mpi' 2 \
		"$OUT/bin/angara-mpirun" -n 2 true
	check 'an unknown MPI' says "unknown MPI 'lam'" 2 \
		"$OUT/bin/angara-mpirun" --mpi lam -n 2 true
	for command in angara-mpirun angara-mpi-tune; do
		check "$command: -h, --help, -V, --version" words "$command"
	done
	check 'angara-mpirun: every setting is documented' settings_told
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
			"$OUT/tests/mpi-openmpi/coll" random 7 "$(amount 100 300)"
		check "random forms under sanitizers: $way" good 3 \
			ways $way env ASAN_OPTIONS=detect_leaks=0 \
			ANGARA_FABRIC=embedded timeout 600 mpirun.openmpi \
			--oversubscribe -n 3 -x "LD_PRELOAD=$asan:$PWD/$PRELOAD" \
			"$OUT/tests/mpi-openmpi/mix" random 14 "$(amount 150 500)"
	done
}

by_guest()
{
	local mpi interface

	check 'guest root: builds for both' build_guest
	check 'guest root: Open MPI' good 4 guest_openmpi offload 4 coll each
	check 'guest root: Open MPI, collectives use adapters' taken offload
	check 'guest root: MPICH' good 2 guest_mpich offload 2 coll each
	check 'guest root: MPICH, collectives use adapters' taken offload
	check 'guest root: Open MPI, every datatype' types guest_openmpi
	check 'guest root: MPICH, every datatype' types guest_mpich
	check 'guest root: MPICH, random calls' \
		good 3 guest_mpich software 3 coll random 1 80
	check "guest root: MPICH, beside the MPI's own persistent ones" \
		good 2 guest_mpich offload 2 mix native
	check 'guest root: MPICH, status of several requests' \
		good 2 guest_mpich offload 2 mix status
	check 'guest root: MPICH, a test of a failed request and a pending one' \
		good 2 guest_mpich software 2 errors test
	check 'guest root: MPICH, an error handler that waits' \
		good 2 guest_mpich software 2 errors nested
	check 'guest root: MPICH, arguments that it rejects' \
		rejected 2 guest_mpich software 2 errors args
	check 'guest root: MPICH, all forms' \
		good 2 guest_mpich offload 2 mix each
	check 'guest root: MPICH, all forms use adapters' forms offload
	! long_form || check 'guest root: MPICH, random forms' \
		good 2 guest_mpich offload 2 mix random 2 400
	check 'guest root: MPICH, threads' good 2 guest_mpich offload 2 mix threads 20
	if long_form; then
		check 'guest root: Open MPI, all forms' \
			good 3 guest_openmpi offload 3 mix each
		check 'guest root: Open MPI, all forms use adapters' forms offload
	fi
	check 'guest root: Open MPI, threads' \
		good 3 guest_openmpi offload 3 mix threads 50
	check 'guest root: MPICH, heat2d in C: equal bits' \
		heat guest_mpich '2 3' apps heat2d 64 20
	check 'guest root: MPICH, heat in Fortran: equal bits' \
		heat guest_mpich '2 3' heat
	check 'guest root: MPICH, SpMV in C: equal bits' spmv guest_mpich 2 \
		apps spmv 1000 30
	check 'guest root: MPICH, SpMV in Fortran: equal bits' spmv guest_mpich 2 spmv
	check 'guest root: Open MPI 5, heat2d in C: equal bits' \
		heat guest_openmpi '2 3' apps heat2d 64 20
	check 'guest root: Open MPI 5, SpMV in C: equal bits' spmv guest_openmpi 3 \
		apps spmv 1000 30
	check 'guest root: Open MPI 5, heat in Fortran: equal bits' \
		heat guest_openmpi '2 3' heat
	check 'guest root: Open MPI 5, SpMV in Fortran: equal bits' spmv guest_openmpi 3 spmv
	check 'guest root: MPICH, a process forks' \
		good 2 guest_mpich offload 2 coll fork
	for mpi in openmpi mpich; do
		check "guest root: Fortran, $mpi" guest_fortran $mpi
		for interface in f08 module header; do
			check "guest root: Fortran, every function, $mpi, $interface" \
				all_fortran "guest_$mpi" software 2 31 "$interface"
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
