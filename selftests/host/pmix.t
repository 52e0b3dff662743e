#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Jobs of Open MPI's mpirun, over PMIx, without adapters: exchanges, and every
# way in which a job ends. The library is built with ASan and UBSan; leaks are
# ignored, as PMIx has some.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/asan
PLAIN=$VARIANTS/plain
JOB=$OUT/tests/job-test
ROOT=()
[ "$(id -u)" != 0 ] || ROOT=(--allow-run-as-root)
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_JOB_TIMEOUT
export ASAN_OPTIONS=detect_leaks=0

# start STATUS OPTION|COMMAND...: runs a job, which must end with STATUS; there
# may be more processes than cores.
start()
{
	local want=$1

	shift
	ends "$want" mpirun.openmpi "${ROOT[@]}" --oversubscribe "$@"
}

job()
{
	start 0 "$@"
}

without_launcher()
{
	PMIX_NAMESPACE=none PMIX_RANK=0 ends 0 "$JOB" gone
}

without_pmix()
{
	local out=$TAP_TMP/without
	local job=$out/tests/job-test

	build_in "$out" "CFLAGS=${VARIANT_FLAGS[asan]}" PKG_CONFIG=false \
		libangara:tests/job-test &&
		PMIX_NAMESPACE=none PMIX_RANK=0 ends 0 "$job" lacking &&
		ends 0 "$job" single
}

# Each waiting process prints its rank and the fence.
absent()
{
	local rank

	job -n 4 -x ANGARA_JOB_TIMEOUT=10 "$JOB" absent "$TAP_TMP/absent" \
		2>"$TAP_TMP/said" || return
	cat "$TAP_TMP/said"
	for rank in 0 1 2; do
		grep -q "rank $rank: the fence of ranks 0-3 has not ended within 10 s" \
			"$TAP_TMP/said" || return
	done
}

# The program is built without sanitizers: with them, their runtime would have to be loaded first.
preloaded()
{
	local flags

	read -ra flags <<<"$(pkg-config --cflags pmix)"
	variant plain libangara:tests/job-test &&
		cc -shared -fPIC -D_GNU_SOURCE -Wall -Wextra -Werror \
			"${flags[@]}" -o "$TAP_TMP/deaf.so" \
			selftests/host/pmix-deaf.c &&
		job -x "LD_PRELOAD=$TAP_TMP/deaf.so" -x ANGARA_JOB_TIMEOUT=10 "$@"
}

deaf()
{
	preloaded -n 4 "$PLAIN/tests/job-test" deaf
}

# The launcher gives the size of the job in an unexpected type.
odd()
{
	preloaded -n 1 -x PMIX_ODD=1 "$PLAIN/tests/job-test" gone
}

# placed N WANT: on an embedded fabric, N processes are on these nodes, in
# blocks.
placed()
{
	local got

	got=$(ANGARA_FABRIC=embedded:2x2 start 0 -n "$1" \
		"$OUT/tests/libangara-test" node)
	echo "expected $2, got $got"
	[ "$(sed -n 's/^# rank [0-9]* node //p' <<<"$got" | xargs)" = "$2" ]
}

# Do the four jobs have different keys?
own_keys()
{
	[ "$(sort -u "$TAP_TMP/keys" | grep -c .)" = 4 ]
}

no_dependency()
{
	! objdump -p "$OUT/lib/libangara.so" | grep NEEDED | grep pmix
}

if ! pkg-config --exists pmix; then
	skip 'jobs of mpirun' 'PMIx is missing: install libpmix-dev'
	plan
	exit
fi
if ! command -v mpirun.openmpi >/dev/null; then
	skip 'jobs of mpirun' 'Open MPI is missing: install openmpi-bin'
	plan
	exit
fi

check 'builds' variant asan libangara libangara:{tests,tests/job-test}
for n in 1 2 7; do
	check "allgather of $n" job -n "$n" "$JOB" gather
	check "groups of $n" job -n "$n" "$JOB" groups
done
check 'blocks of different lengths' job -n 5 "$JOB" uneven
for n in 1 2 5 8; do
	check "a key for a job of $n" job -n "$n" "$JOB" key "$TAP_TMP/keys"
done
check 'each job has its own' own_keys
check 'a team without contexts' job -n 3 "$JOB" teamless
check 'joining again' job -n 3 "$JOB" again
check 'one process for each node' placed 3 '0 1 2'
check 'as few on a node as possible' placed 6 '0 0 1 1 2 2'
check 'the environment of angara-run takes precedence' job -n 2 \
	-x ANGARA_RANK=0 "$JOB" damaged
check 'a killed process ends the job' start 137 -n 4 "$JOB" die
check 'a process that leaves' \
	job -n 4 -x ANGARA_JOB_TIMEOUT=10 "$JOB" leave
check 'a process that does not join' absent
check 'numbers of an unexpected type' odd
check 'a process that receives no data' deaf
for bad in x -1 '' 1000001 10s; do
	check "a deadline of '$bad'" \
		job -n 1 -x "ANGARA_JOB_TIMEOUT=$bad" "$JOB" damaged
done
check 'a launcher that has ended' without_launcher
check 'a library without PMIx' without_pmix
check 'the library does not need PMIx' no_dependency
plan
