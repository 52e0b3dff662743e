#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Long tests of MPI programs: 10000 random calls by each method under
# sanitizers, and elements of more than 1 and 2 GiB.  Needs Open MPI.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mpi/mpi.sh

CALLS=${CALLS:-10000}

# run WAY N PRELOAD PROGRAM [ARG]...: all processes have the right results
run()
{
	local way=$1 n=$2 preload=$3

	shift 3
	good "$n" ways "$way" env ANGARA_FABRIC=embedded ANGARA_MPI_STATS=1 \
		ASAN_OPTIONS=detect_leaks=0 mpirun.openmpi --oversubscribe -n "$n" \
		-x "LD_PRELOAD=$preload" "$@" || return
	! grep 'ERROR: AddressSanitizer' "$TAP_TMP/said"
}

# The library executed the long calls, and did not leave them to the MPI.
elements()
{
	run software 2 "$PLAIN" "$VARIANTS/plain/tests/mpi-openmpi/mix" "$@" &&
		grep "^libangara-mpi: gatherv  *software  *2 " "$TAP_TMP/said" &&
		grep "^libangara-mpi: scatterv  *software  *2 " "$TAP_TMP/said" || return
	[ "$1" = longer ] || grep "^libangara-mpi: bcast  *software  *2 " "$TAP_TMP/said"
}

# long_elements NAME MIB MODE: checks elements MODE if MIB MiB of memory are available
long_elements()
{
	local have

	have=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
	if [ "$have" -ge "$2" ]; then
		check "$1" elements "$3"
	else
		skip "$1" "needs $2 MiB of memory, $have are available"
	fi
}

if ! command -v mpicc.openmpi >/dev/null; then
	skip 'MPI programs' 'Open MPI is missing: install libopenmpi-dev'
	plan
	exit
fi
PLAIN=$VARIANTS/plain/lib/libangara-mpi-openmpi.so
ASAN=$(cc -print-file-name=libasan.so):$VARIANTS/asan/lib/libangara-mpi-openmpi.so
check 'builds' variant plain libangara libangara/mpi selftests/mpi
check 'builds with sanitizers' variant asan libangara libangara/mpi
for way in offload software; do
	for n in 2 5; do
		check "$CALLS random calls of $n processes under sanitizers: $way" \
			run $way $n "$ASAN" \
			"$VARIANTS/plain/tests/mpi-openmpi/mix" random $n "$CALLS"
	done
done
long_elements 'elements of more than 1 GiB' 8000 long
long_elements 'elements of more than 2 GiB' 14000 longer
plan
