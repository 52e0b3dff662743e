#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Jobs of MPICH's mpiexec.hydra, over PMI version 1 and 2, without adapters:
# exchanges, every way in which a job ends, unrelated clients. srun.t is the
# corresponding test with srun.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/asan
JOB=$OUT/tests/job-test
MESH=$OUT/tests/mesh-test
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_JOB_TIMEOUT
unset PMI_FD PMI_RANK PMI_SIZE PMIX_NAMESPACE SLURM_STEP_ID
export ANGARA_PMI

# start STATUS OPTION|COMMAND...: runs a job, which must end with STATUS.
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

# placed N WANT: N processes on an embedded fabric are placed in blocks; WANT lists
# the node of each rank.
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
	[ "$(sort -u "$TAP_TMP/keys$1" | grep -c .)" = 4 ]
}

# Exchanges if the loopback interface has only an IPv6 address.
only_ipv6()
{
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare -n sh -c 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo &&
		! ip addr | grep -q 127.0.0.1 && exec "$1"' sh "$MESH" |
		tee "$TAP_TMP/ipv6" | grep -q '^ok 1 ' &&
		! grep '^not ok' "$TAP_TMP/ipv6"
}

# mute COMMAND SIZE PROGRAM [ARG]...: rank 0 ends with status 0 under a launcher
# that answers all commands except COMMAND.
mute()
{
	perl -MSocket -MPOSIX -e '
		my ($mute, $size) = splice @ARGV, 0, 2;
		socketpair(my $us, my $them, AF_UNIX, SOCK_STREAM, 0) or exit 1;
		my $pid = fork;
		if (!$pid) {
			close $us;
			dup2(fileno $them, 9);
			@ENV{qw(PMI_FD PMI_RANK PMI_SIZE)} = (9, 0, $size);
			exec @ARGV;
		}
		close $them;
		my %answer = (init => "response_to_init rc=0",
			get_my_kvsname => "my_kvsname kvsname=k",
			get => "get_result rc=-1", put => "put_result rc=0",
			barrier_in => "barrier_out", finalize => "finalize_ack");
		$SIG{ALRM} = sub { kill KILL => $pid; print "# it waits\n"; exit 1 };
		my $asked = 0;
		while (my $line = <$us>) {
			my ($cmd) = $line =~ /^cmd=(\w+)/;
			$asked = 1, alarm 60 if $cmd eq $mute;
			my $text = $line =~ /PMI_process_mapping/ ?
				"get_result rc=0 value=(vector,(0,1,1))" : $answer{$cmd};
			syswrite $us, "cmd=$text\n" if $text && $cmd ne $mute;
		}
		waitpid $pid, 0;
		print "# status $?, asked: $asked\n";
		exit !($asked && !$?)' "$@"
}

# Checks the one line of a process that has timed out.
one_line()
{
	cat "$TAP_TMP/late"
	[ "$(wc -l <"$TAP_TMP/late")" = 1 ] && grep -q "$1" "$TAP_TMP/late"
}

# no_barrier SIZE: rank 0 enters a barrier of SIZE processes, and no other process does.
no_barrier()
{
	local begun=$SECONDS

	ANGARA_JOB_TIMEOUT=1 mute barrier_in "$1" "$JOB" late 2>"$TAP_TMP/late" &&
		one_line "rank 0: the launcher's barrier of ranks 0-$(($1 - 1)) has not" &&
		[ $((SECONDS - begun)) -lt 30 ]
}

# A launcher that reads nothing: its end of the socket is full.
deaf_launcher()
{
	perl -MSocket -MPOSIX -MIO::Handle -e '
		$^F = 99; # both ends stay open
		socketpair(my $us, my $them, AF_UNIX, SOCK_STREAM, 0) or exit 1;
		$them->blocking(0);
		1 while syswrite $them, "x" x 4096;
		1 while syswrite $them, "x";
		$them->blocking(1);
		dup2(fileno $them, 9);
		@ENV{qw(PMI_FD PMI_RANK PMI_SIZE ANGARA_JOB_TIMEOUT)} = (9, 0, 1, 1);
		alarm 30;
		exec @ARGV' "$JOB" late 2>"$TAP_TMP/late" &&
		one_line 'rank 0: the launcher has not answered within 1 s'
}

# by_hand NAME=VALUE... MODE: runs a process without a launcher
by_hand()
{
	ends 0 env "${@:1:$#-1}" "$JOB" "${!#}" </dev/null
}

check 'builds' variant asan libangara \
	libangara:{tests,tests/job-test,tests/mesh-test}
check 'exchanges over TCP, unrelated clients, changes' "$MESH"
check 'exchanges among machines' "$MESH" apart
if unshare -n true 2>/dev/null && command -v ip >/dev/null; then
	check 'exchanges over IPv6' only_ipv6
else
	skip 'exchanges over IPv6' 'no network namespace can be made'
fi
check 'a launcher that does not answer a finalize' mute finalize 1 "$JOB" gather
check "a process that does not enter the launcher's barrier" no_barrier 3
check 'a map that repeats 65536 times' no_barrier 65536
check 'a launcher that does not read' deaf_launcher

if ! command -v mpiexec.hydra >/dev/null; then
	skip 'jobs of mpiexec.hydra' 'MPICH is missing: install mpich'
	plan
	exit
fi

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
	check "$v: joining again" job -n 3 "$JOB" again
	check "$v: unrelated clients" job -n 3 "$JOB" stranger
	check "$v: one process for each node" placed 3 '0 1 2'
	check "$v: as few on a node as possible" placed 6 '0 0 1 1 2 2'
	check "$v: exchanges without the launcher" job -n 7 "$JOB" quiet
	check "$v: a killed process ends the job" start 9 -n 4 "$JOB" die
	check "$v: a process that leaves" \
		env ANGARA_JOB_TIMEOUT=20 mpiexec.hydra -launcher fork -n 4 "$JOB" leave
	check "$v: a process that does not join" \
		env ANGARA_JOB_TIMEOUT=5 mpiexec.hydra -launcher fork -n 4 \
		"$JOB" absent "$TAP_TMP/absent$ANGARA_PMI"
done
ANGARA_PMI=3 check 'an unknown version' job -n 1 "$JOB" damaged
unset ANGARA_PMI
check 'version 1 unless the user says otherwise' job -n 2 "$JOB" gather
check 'an invalid rank' \
	by_hand PMI_FD=0 PMI_RANK=2 PMI_SIZE=2 damaged
check 'an invalid number' by_hand PMI_FD=0 PMI_RANK=x PMI_SIZE=2 damaged
check 'a launcher that has ended' by_hand PMI_FD=99 PMI_RANK=0 PMI_SIZE=1 gone
check 'the environment of angara-run takes precedence' \
	job -n 2 env ANGARA_RANK=0 "$JOB" damaged
plan
