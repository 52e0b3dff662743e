#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Collectives of MPI programs over the adapter, on embedded fabrics: Open MPI of
# this machine, Open MPI and MPICH of the guest root. Each result is compared
# with that of the MPI alone.

set -u
. selftests/tap.sh
. selftests/variant.sh

GUEST=build/variant/mpi-guest	# built in the guest root
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# A long message arrives only if its sender takes part, also while it waits.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
unset ANGARA_FABRIC ANGARA_DEVICE LD_PRELOAD
unset "${!ANGARA_MPI_@}"

# ways WAY COMMAND...: with this way for all functions that have a choice
ways()
{
	local -x ANGARA_MPI_BARRIER=$1 ANGARA_MPI_BCAST=$1
	local -x ANGARA_MPI_REDUCE=$1 ANGARA_MPI_ALLREDUCE=$1

	shift
	"$@"
}

# mpi N PROGRAM [ARG]...: a program of selftests/mpi, with statistics
mpi()
{
	local n=$1 program=$2

	shift 2
	env ANGARA_MPI_STATS=1 timeout 120 "$OUT/bin/angara-mpirun" --oversubscribe \
		-n "$n" "$OUT/tests/mpi-openmpi/$program" "$@"
}

# good N COMMAND...: it succeeds, and all N processes had the right results.
good()
{
	local n=$1

	shift
	"$@" >"$TAP_TMP/said" 2>&1 && grep -qx "$n processes: good" "$TAP_TMP/said" &&
		return
	cat "$TAP_TMP/said"
	return 1
}

# counted COLLECTIVE WAY CALLS: the statistics of the last program say so.
counted()
{
	grep "^libangara-mpi: $1  *$2 " "$TAP_TMP/said"
	[ "$(sed -n "s/^libangara-mpi: $1  *$2  *\([0-9]*\) .*/\1/p" \
		"$TAP_TMP/said")" = "$3" ]
}

# passed COLLECTIVE REASON: so do its lines on what passed through.
passed()
{
	grep "^libangara-mpi: passed through: $1, [0-9]* calls: $2\$" "$TAP_TMP/said"
}

# Most calls of a kind take the way that is set.
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
		passed non-blocking 'function without an offload'
}

# Each function of each module is seen: dup, split and free are not collectives
# that count.
fortran()
{
	good 3 ways offload mpi 3 sum && counted barrier offload 6 &&
		counted bcast offload 6 && counted reduce offload 6 &&
		counted allreduce offload 9
}

threads()
{
	good 3 ways offload mpi 3 coll threads &&
		passed allreduce MPI_THREAD_MULTIPLE
}

spawned()
{
	good 2 ways offload mpi 2 coll spawn &&
		passed allreduce 'members of another MPI_COMM_WORLD'
}

# Only auto looks at the length.
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

# mpirun, without what angara-mpirun adds
bare()
{
	timeout 60 mpirun.openmpi --oversubscribe -n 2 \
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

# cannot_open TEXT COMMAND...: one line says why, results are right.
cannot_open()
{
	local text=$1

	shift
	good 2 "$@"
	cat "$TAP_TMP/said"
	[ "$(grep -c '^libangara-mpi: ' "$TAP_TMP/said")" = 1 ] &&
		grep -q "^libangara-mpi: rank [0-9]: $text" "$TAP_TMP/said"
}

# refused TEXT NAME=VALUE...: the program ends with 2, after one line.
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

# In the guest root; its Open MPI finds no network there.
guest()
{
	tools/vm/chroot env "${NAMES[@]}" ANGARA_MPI_STATS=1 timeout 120 \
		"$GUEST/bin/angara-mpirun" "$@" </dev/null
}

guest_openmpi()
{
	NAMES=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
		"ANGARA_MPI_BARRIER=$1" "ANGARA_MPI_BCAST=$1"
		"ANGARA_MPI_REDUCE=$1" "ANGARA_MPI_ALLREDUCE=$1")
	guest --oversubscribe --mca btl self,sm -n "$2" \
		"$GUEST/tests/mpi-openmpi/$3" "${@:4}"
}

# It spins: a process for each processor.
guest_mpich()
{
	NAMES=("ANGARA_MPI_BARRIER=$1" "ANGARA_MPI_BCAST=$1"
		"ANGARA_MPI_REDUCE=$1" "ANGARA_MPI_ALLREDUCE=$1")
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
		check "random calls: $way" good 4 ways $way mpi 4 coll random 1 1500
		check "random calls of 7: $way" good 7 ways $way mpi 7 coll random 2 300
	done
	check 'Fortran: modules mpi and mpi_f08' fortran
	check 'auto takes the adapter for short messages' longest
	check 'MPI_THREAD_MULTIPLE passes through' threads
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
	check 'an unknown way' refused "ANGARA_MPI_BCAST 'ring': expected offload" \
		ANGARA_MPI_BCAST=ring
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

# The library with sanitizers, whose runtime comes first; the MPI has leaks.
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
			ANGARA_FABRIC=embedded timeout 120 mpirun.openmpi \
			--oversubscribe -n 2 -x "LD_PRELOAD=$asan:$PWD/$PRELOAD" \
			"$OUT/tests/mpi-openmpi/coll" random 7 1500
	done
}

by_guest()
{
	local mpi

	check 'guest root: builds for both' build_guest
	check 'guest root: Open MPI' good 4 guest_openmpi offload 4 coll each
	check 'guest root: Open MPI, and it takes that way' taken offload
	check 'guest root: MPICH' good 2 guest_mpich offload 2 coll each
	check 'guest root: MPICH, and it takes that way' taken offload
	check 'guest root: MPICH, random calls' \
		good 3 guest_mpich software 3 coll random 1 80
	check 'guest root: MPICH, a process forks' \
		good 2 guest_mpich offload 2 coll fork
	for mpi in openmpi mpich; do
		check "guest root: Fortran, $mpi" guest_fortran $mpi
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
