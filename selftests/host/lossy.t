#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Jobs on embedded fabrics whose links lose and corrupt packets: the library's own
# tests, applications, OpenSHMEM and MPI, with results checked.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/shmem/jobs.sh

OUT=$VARIANTS/plain
BIN=$OUT/bin
PROGRAMS=$OUT/tests/shmem
JOB_SECONDS=900
LAUNCH=()
export LC_ALL=C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
export ANGARA_MPI_TUNE=	# no table of this user
BAD=loss=0.1,corrupt=0.1,seed=7

build()
{
	variant plain libangara libangara:tests libangara/shmem tools/run tools/apps
}

build_shmem()
{
	variant plain selftests/shmem
}

# library N FABRIC: runs the library's tests with N processes
library()
{
	ANGARA_FABRIC=$2 timeout 900 angara-run -n "$1" libangara-test
}

# A link that loses every packet goes down, and the put fails.
dead()
{
	local status=0

	ANGARA_FABRIC=embedded:2,loss=1 timeout 300 angara-run -n 2 libangara-test ||
		status=$?
	echo "status $status"
	[ "$status" != 0 ] && [ "$status" != 124 ] && [ "$status" -lt 126 ]
}

spmv()
{
	ANGARA_FABRIC=embedded:2x2x2,$BAD timeout 600 angara-run -n 8 angara-spmv \
		--n 4000 --iters 20 --check
}

heat()
{
	local alone got

	alone=$(angara-heat2d --serial --json --nx 31 --ny 31 --steps 100 |
		sed -n 's/.*"error":\([^,}]*\).*/\1/p')
	got=$(ANGARA_FABRIC=embedded:2x2,$BAD timeout 600 angara-run -n 4 angara-heat2d \
		--json --nx 31 --ny 31 --steps 100 | sed -n 's/.*"error":\([^,}]*\).*/\1/p')
	echo "alone $alone, on bad links $got"
	[ -n "$alone" ] && awk -v a="$alone" -v b="$got" \
		'BEGIN { exit !(b && a / b > 0.999999 && a / b < 1.000001) }'
}

# Runs random MPI collectives over the adapters with 4 processes.
mpi()
{
	ANGARA_FABRIC=embedded:2x2,$BAD timeout 900 "$BIN/angara-mpirun" --oversubscribe -n 4 \
		"$OUT/tests/mpi-openmpi/coll" random 1 300 >"$TAP_TMP/out" 2>&1
	local status=$?

	tail -n 20 "$TAP_TMP/out"
	[ "$status" = 0 ] && grep -qx '4 processes: good' "$TAP_TMP/out"
}

check 'builds' build
export PATH=$BIN:$OUT/tests:$PATH LD_LIBRARY_PATH=$OUT/lib
for n in 2 8; do
	check "the library, $n processes" library "$n" "embedded,$BAD"
done
check 'the library, packets that come late' library 4 "embedded:2x2,$BAD,delay=5us"
check 'a link that loses all' dead
check 'sparse matrices' spmv
check 'heat' heat
check 'builds OpenSHMEM programs' build_shmem
check 'OpenSHMEM, 4 PEs' all 4 "ANGARA_FABRIC=embedded:2x2,$BAD"
if mpicc --showme:version >/dev/null 2>&1; then
	check 'builds MPI programs' variant plain libangara/mpi selftests/mpi
	check 'MPI, 4 processes' mpi
else
	skip 'MPI, 4 processes' 'needs Open MPI'
fi
plan
