# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Common functions of tests of MPI programs: environment, implementations of
# collectives, results, statistics. Needs selftests/tap.sh, and OUT, the build's folder.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Without single copies, a long message arrives only while its sender makes progress: a sender
# that waits in a collective must make progress, too.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
unset ANGARA_FABRIC ANGARA_DEVICE LD_PRELOAD
unset "${!ANGARA_MPI_@}"
export ANGARA_MPI_TUNE=	# no table of this user

OTHERS=(SCAN EXSCAN REDUCE_SCATTER_BLOCK REDUCE_SCATTER GATHER GATHERV SCATTER
	SCATTERV ALLGATHER ALLGATHERV ALLTOALL ALLTOALLV)

# names WAY: sets NAMES to settings that select this implementation for all
# functions; functions that adapters cannot execute on a tree use software. Programs
# start persistent collectives in the same order at all members, unless ORDERED=0.
names()
{
	local other=$1 coll

	[ "$1" != offload ] || other=software
	NAMES=("ANGARA_MPI_ORDERED=${ORDERED:-1}")
	for coll in BARRIER BCAST REDUCE ALLREDUCE; do
		NAMES+=("ANGARA_MPI_$coll=$1")
	done
	for coll in "${OTHERS[@]}"; do
		NAMES+=("ANGARA_MPI_$coll=$other")
	done
}

# ways WAY COMMAND...: runs COMMAND with this implementation for all functions
ways()
{
	local NAMES

	names "$1"
	shift
	(export "${NAMES[@]}" && "$@")
}

# good N COMMAND...: COMMAND succeeds, and all N processes have the right
# results. A launcher writes each stream in pieces, so both in one file would mix
# within lines.
good()
{
	local n=$1 status=0

	shift
	"$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err" || status=$?
	cat "$TAP_TMP/out" "$TAP_TMP/err" >"$TAP_TMP/said"
	[ $status = 0 ] && grep -qx "$n processes: good" "$TAP_TMP/out" && return
	cat "$TAP_TMP/said"
	return 1
}

# launched N PROGRAM [ARG]...: runs a program of an MPI with N processes and statistics, under Open
# MPI of this machine, or under the MPI that WITH names
launched()
{
	local n=$1 options=()

	shift
	[ "${WITH:-openmpi}" != openmpi ] || options=(--oversubscribe)
	env ANGARA_MPI_STATS=1 timeout 600 "$OUT/bin/angara-mpirun" "${options[@]}" \
		-n "$n" "$@"
}

# mpi N PROGRAM [ARG]...: runs a program of selftests/mpi by `launched`
mpi()
{
	launched "$1" "$OUT/tests/mpi-${WITH:-openmpi}/$2" "${@:3}"
}

# counted COLLECTIVE WAY CALLS: do the statistics of the last program have this
# line?
counted()
{
	grep "^libangara-mpi: $1  *$2 " "$TAP_TMP/said"
	[ "$(sed -n "s/^libangara-mpi: $1  *$2  *\([0-9]*\) .*/\1/p" \
		"$TAP_TMP/said")" = "$3" ]
}

# by_algorithm COLLECTIVE ALGORITHM: do the statistics say that all calls by software, of any form,
# used this algorithm?
by_algorithm()
{
	awk -v coll="$1" -v algorithm="$2" '
		$1 != "libangara-mpi:" || $2 != coll { next }
		{ way = $3 == "i" || $3 == "init" ? 4 : 3 }
		$way != "software" { next }
		{ print; n++ }
		NF != way + 4 || $NF != algorithm { others++ }
		END { exit !n || others }' "$TAP_TMP/said"
}

# passed COLLECTIVE REASON: do the statistics say that calls of this collective passed through, for
# this reason?
passed()
{
	grep "^libangara-mpi: passed through: $1, [0-9]* calls: $2\$" "$TAP_TMP/said"
}
