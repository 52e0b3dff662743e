#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Jobs of MPICH's mpiexec.hydra, over PMI version 1 and 2, without adapters:
# exchanges, ends of all kinds, strangers. srun.t does the same with srun.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/asan
JOB=$OUT/tests/job-test
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_JOB_TIMEOUT
unset PMI_FD PMI_RANK PMI_SIZE PMIX_NAMESPACE SLURM_STEP_ID
export ANGARA_PMI

# start STATUS OPTION|COMMAND...
start()
{
	local want=$1

	shift
	ends "$want" mpiexec.hydra -launcher fork "$@" </dev/null
}

job()
{
	start 0 "$@"
}

# placed N WANT: on a fabric that they play, blocks of processes over its nodes.
placed()
{
	local got

	got=$(ANGARA_FABRIC=embedded:2x2 start 0 -n "$1" \
		"$OUT/tests/libangara-test" node)
	echo "expected $2, got $got"
	[ "$(sed -n 's/^# rank [0-9]* node //p' <<<"$got" | xargs)" = "$2" ]
}

# Keys of four jobs.
own_keys()
{
	[ "$(sort -u "$TAP_TMP/keys$1" | grep -c .)" = 4 ]
}

# by_hand NAME=VALUE... MODE: without a launcher
by_hand()
{
	ends 0 env "${@:1:$#-1}" "$JOB" "${!#}" </dev/null
}

if ! command -v mpiexec.hydra >/dev/null; then
	skip 'jobs of mpiexec.hydra' 'MPICH is missing: install mpich'
	plan
	exit
fi

check 'builds' variant asan libangara libangara:{tests,tests/job-test}
for ANGARA_PMI in 1 2; do
	v="PMI-$ANGARA_PMI"
	for n in 1 2 7 16; do
		check "$v: allgather of $n" job -n $n "$JOB" gather
		check "$v: groups of $n" job -n $n "$JOB" groups
	done
	for n in 1 2 5 8; do
		check "$v: a key for a job of $n" \
			job -n $n "$JOB" key "$TAP_TMP/keys$ANGARA_PMI"
	done
	check "$v: each job has its own" own_keys $ANGARA_PMI
	check "$v: blocks of different lengths" job -n 5 "$JOB" uneven
	check "$v: a team without contexts" job -n 3 "$JOB" teamless
	check "$v: joining anew" job -n 3 "$JOB" again
	check "$v: strangers" job -n 3 "$JOB" stranger
	check "$v: one process for each node" placed 3 '0 1 2'
	check "$v: as many on a node as there must be" placed 6 '0 0 1 1 2 2'
	check "$v: a process that is killed ends all" start 9 -n 4 "$JOB" die
	check "$v: a process that leaves" \
		env ANGARA_JOB_TIMEOUT=20 mpiexec.hydra -launcher fork -n 4 "$JOB" leave
	check "$v: a process that does not come" \
		env ANGARA_JOB_TIMEOUT=5 mpiexec.hydra -launcher fork -n 4 \
		"$JOB" absent "$TAP_TMP/absent$ANGARA_PMI"
done
ANGARA_PMI=3 check 'a version that there is not' job -n 1 "$JOB" damaged
unset ANGARA_PMI
check 'version 1 unless the user says otherwise' job -n 2 "$JOB" gather
check 'a rank that is none' \
	by_hand PMI_FD=0 PMI_RANK=2 PMI_SIZE=2 damaged
check 'a number that is none' by_hand PMI_FD=0 PMI_RANK=x PMI_SIZE=2 damaged
check 'a launcher that is gone' by_hand PMI_FD=99 PMI_RANK=0 PMI_SIZE=1 gone
check 'the environment of angara-run goes before' \
	job -n 2 env ANGARA_RANK=0 "$JOB" damaged
plan
