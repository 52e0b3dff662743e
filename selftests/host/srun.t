#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Jobs of Slurm's srun, over PMI version 1 and 2, without adapters: a Slurm of
# one machine in its own network namespace, which ends with the test. OpenSHMEM
# programs, also by PMIx where Slurm has it.

set -u
. selftests/tap.sh
. selftests/variant.sh

JOB=$VARIANTS/plain/tests/job-test
HERE=$TAP_TMP/slurm
SHMEM=$VARIANTS/plain/tests/shmem
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_PMI
unset PMI_FD PMI_RANK PMI_SIZE PMIX_NAMESPACE SLURM_STEP_ID

# Prints what is missing for the test. A user namespace does not give the needed
# privileges.
lacking()
{
	local name

	for name in slurmctld slurmd srun; do
		command -v $name >/dev/null ||
			{ echo "$name is missing: install slurm-wlm"; return 0; }
	done
	unshare -nmp --fork true 2>/dev/null || { echo 'unshare -n needs root'; return 0; }
	return 1
}

configure()
{
	local host

	host=$(hostname -s)
	mkdir -p "$HERE/state" "$HERE/spool"
	printf '127.0.0.1 localhost\n192.0.2.1 %s\n' "$host" >"$HERE/hosts"
	cat >"$HERE/slurm.conf" <<-EOF
		ClusterName=test
		SlurmctldHost=$host(192.0.2.1)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/none
		CredType=cred/none
		StateSaveLocation=$HERE/state
		SlurmdSpoolDir=$HERE/spool
		SlurmctldPidFile=$HERE/slurmctld.pid
		SlurmdPidFile=$HERE/slurmd.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		SelectType=select/linear
		SchedulerType=sched/builtin
		JobAcctGatherType=jobacct_gather/none
		NodeName=$host NodeAddr=192.0.2.1 CPUs=1
		PartitionName=all Nodes=$host Default=YES State=UP
		${SLURM_PLUGINS:+PluginDir=$SLURM_PLUGINS}
	EOF
}

# Runs all jobs in one Slurm. Prints a line for each: its status and its name.
jobs()
{
	local version n mode stepd tries kind program way

	ip link set lo up
	ip link add one type veth peer name other
	ip addr add 192.0.2.1/24 dev one
	ip link set one up
	ip link set other up
	mount --bind "$HERE/hosts" /etc/hosts
	mount -t tmpfs tmpfs /dev/shm
	export SLURM_CONF=$HERE/slurm.conf
	stepd=$(dirname "$(command -v slurmd)")/slurmstepd
	slurmctld -D >"$HERE/slurmctld.log" 2>&1 &
	slurmd -D -d "$stepd" >"$HERE/slurmd.log" 2>&1 &
	for ((tries = 0; tries < 60; tries++)); do
		timeout 10 srun -n 1 true </dev/null >/dev/null 2>&1 && break
		sleep 0.5
	done
	if [ "$tries" = 60 ]; then
		echo down
		return
	fi
	for version in 1 2; do
		for n in 1 2 5; do
			for mode in gather groups "key $HERE/keys" again; do
				# shellcheck disable=SC2086 # a mode and its file
				ANGARA_PMI=$version timeout 600 srun --mpi=pmi2 \
					-n $n --overcommit "$JOB" $mode </dev/null \
					>>"$HERE/said" 2>&1
				echo "$? PMI-$version: ${mode%% *}, $n processes"
			done
		done
	done
	timeout 600 srun --mpi=pmi2 -n 3 --overcommit "$JOB" gather </dev/null \
		>>"$HERE/said" 2>&1
	echo "$? the default version of the library"
	for kind in pmi2 pmix; do
		if [ "$kind" = pmix ] && ! srun --mpi=list 2>&1 | grep -q pmix; then
			echo "skip OpenSHMEM, $kind"
			continue
		fi
		for program in bfs heat direct; do
			shmem $kind 4 $program
			echo "$? OpenSHMEM, $kind: $program"
		done
		shmem_exit $kind
		echo "$? OpenSHMEM, $kind: shmem_global_exit() ends the job"
		for way in killed killed-wait killed-lock; do
			shmem_dead $kind $way
			echo "$? OpenSHMEM, $kind: a PE is killed: $way"
		done
	done
	echo end
}

# step KIND N PROGRAM [ARGUMENT]: runs a job step. Slurm's PMIx may refuse a
# step after an aborted one; the step is repeated then.
step()
{
	local tries status

	for ((tries = 0; tries < 10; tries++)); do
		timeout 600 srun "--mpi=$1" -n "$2" --overcommit "$SHMEM/$3" "${@:4}" \
			</dev/null >"$HERE/out" 2>&1
		status=$?
		cat "$HERE/out" >>"$HERE/said"
		grep -q 'task 0 launch failed' "$HERE/out" || break
		sleep 1
	done
	return "$status"
}

# shmem KIND N PROGRAM: runs a program in which no PE may find an error
shmem()
{
	step "$@" && [ "$(grep -c "^$3: PE [0-9]*: 0 errors$" "$HERE/out")" = "$2" ]
}

shmem_exit()
{
	step "$1" 3 wrong exit-7
	[ $? = 7 ]
}

# shmem_dead KIND WAY: the namespace has a /dev/shm of its own, so a file there is a
# job's.
shmem_dead()
{
	local status=0

	step "$1" 3 wrong "$2" || status=$?
	# With PMIx, srun ends the others at once.
	[ "$status" != 0 ] && [ "$status" != 124 ] &&
		grep -qE 'PE 1 has ended|task 1: Killed' "$HERE/out" &&
		! find /dev/shm -name 'angara-*' | grep . >>"$HERE/said"
}

if why=$(lacking); then
	skip 'jobs of srun' "$why"
	plan
	exit
fi

check 'builds' variant plain libangara libangara:tests/job-test
check 'OpenSHMEM builds' variant plain libangara/shmem selftests/shmem
configure
export JOB HERE SHMEM
export -f jobs step shmem shmem_exit shmem_dead
# The daemons end with the process namespace.
unshare -nmp --mount-proc --fork bash -c jobs >"$TAP_TMP/results" 2>"$HERE/errors"
if grep -qx down "$TAP_TMP/results"; then
	skip 'jobs of srun' "Slurm does not start here: \
$(tail -qn 1 "$HERE/slurmctld.log" "$HERE/slurmd.log" | tr '\n' ' ')"
	plan
	exit
fi
while read -r status name; do
	if [ "$status" = end ]; then
		break
	fi
	if [ "$status" = skip ]; then
		skip "$name" "srun --mpi=list has none: install slurm-wlm-basic-plugins"
		continue
	fi
	[ "$status" = 0 ] || tail -n 20 "$HERE/said" "$HERE/errors" >"$TAP_TMP/why"
	result "$status" "$name"
done <"$TAP_TMP/results"
check 'all jobs have run' [ "$(tail -n 1 "$TAP_TMP/results")" = end ]
plan
