#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# angara-run without adapters: exchanges, output, ends of all kinds, bad
# arguments. Launcher and library are built with the address and undefined
# behaviour sanitizers.
# shellcheck disable=SC2016 # the processes expand what stands in quotes

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/asan
RUN=$OUT/bin/angara-run
JOB=$OUT/tests/job-test
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	variant asan libangara libangara:tests/job-test tools/run
}

job()
{
	ends 0 "$RUN" --no-device "$@"
}

# Standard output is expected to be what the first argument says.
gives()
{
	local want=$1 got

	shift
	got=$("$@")
	echo "expected: $want"
	echo "got: $got"
	[ "$got" = "$want" ]
}

# One clear line on standard error, nothing on standard output.
refuses()
{
	local status=$1 text=$2

	shift 2
	ends "$status" "$RUN" "$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err"
	local ok=$?

	cat "$TAP_TMP/out" "$TAP_TMP/err"
	[ "$ok" = 0 ] && grep -q "^angara-run: .*$text" "$TAP_TMP/err" &&
		[ "$(wc -l <"$TAP_TMP/err")" = 1 ] &&
		[ "$(wc -l <"$TAP_TMP/out")" = 1 ]
}

# faster SECONDS COMMAND...
faster()
{
	local end=$((SECONDS + $1))

	shift
	"$@" && [ "$SECONDS" -le "$end" ]
}

nobody()
{
	! pgrep -f "$1"
}

# The launcher is killed outright: its processes go with it.
killed_launcher()
{
	local pid

	"$RUN" --no-device -n 4 bash -c 'exec -a orphan-'$$' sleep 300' &
	pid=$!
	await run_as "orphan-$$" 5 || return 1
	kill -9 $pid
	wait $pid
	WITHIN=2 await nobody "orphan-$$"
}

# run_as TEXT N: N processes run whose command line has TEXT
run_as()
{
	[ "$(pgrep -fc "$1")" -ge "$2" ]
}

# Each process has one core, and no two the same.
bound()
{
	local n

	n=$(nproc)
	"$RUN" --no-device -n "$n" --bind \
		sh -c 'grep Cpus_allowed_list /proc/self/status' |
		sort -u >"$TAP_TMP/cores"
	cat "$TAP_TMP/cores"
	[ "$(grep -c '[[:space:]][0-9]*$' "$TAP_TMP/cores")" = "$n" ]
}

# signalled SIGNAL STATUS: sent to the launcher, reaches the processes.
signalled()
{
	local pid status=0

	# A shell starts what is in its background with SIGINT ignored.
	env --default-signal=INT "$RUN" --no-device -n 3 --grace 1 \
		bash -c 'exec -a signalled-'$$' sleep 300' &
	pid=$!
	await run_as "signalled-$$" 4 && kill -"$1" $pid
	wait $pid || status=$?
	echo "status $status, expected $2"
	[ "$status" = "$2" ] && nobody "signalled-$$"
}

# Keys of four jobs.
own_keys()
{
	[ "$(sort -u "$TAP_TMP/keys" | grep -c .)" = 4 ]
}

check 'builds' build

for n in 1 2 7 40; do
	check "allgather of $n" job -n "$n" "$JOB" gather
	check "groups of $n" job -n "$n" "$JOB" groups
done
check 'blocks of different lengths' job -n 5 "$JOB" uneven
for n in 1 2 5 8; do
	check "a key for a job of $n" job -n "$n" "$JOB" key "$TAP_TMP/keys"
done
check 'each job has its own' own_keys
check 'a process that leaves' job -n 4 "$JOB" leave
check 'a process that is killed' \
	ends 137 "$RUN" --no-device -n 4 "$JOB" die
check 'a process that sends garbage' job -n 3 "$JOB" garbage
check 'a team without contexts' job -n 3 "$JOB" teamless
check 'a job of one without a launcher' ends 0 "$JOB" single
check 'a rank without a size' \
	env ANGARA_RANK=0 "$JOB" damaged
check 'a rank beyond the size' \
	env ANGARA_RANK=2 ANGARA_SIZE=2 ANGARA_JOB_FD=0 "$JOB" damaged
check 'a descriptor that is no socket' \
	env ANGARA_RANK=0 ANGARA_SIZE=1 ANGARA_JOB_FD=0 "$JOB" damaged
check 'a descriptor that is no number' \
	env ANGARA_RANK=0 ANGARA_SIZE=1 ANGARA_JOB_FD=x "$JOB" damaged

check 'ranks and size' gives '0/3 1/3 2/3' sh -c "'$RUN' -n 3 --no-device \
	sh -c 'echo \$ANGARA_RANK/\$ANGARA_SIZE' | sort | xargs"
check 'no device in the environment' gives 'none' env ANGARA_DEVICE=x \
	"$RUN" -n 1 --no-device sh -c 'echo ${ANGARA_DEVICE:-none}'
check 'lines have tags' gives '[0] a [0] b [1] a [1] b' sh -c "'$RUN' -n 2 -l \
	--no-device sh -c 'echo a; echo b' | sort | xargs"
check 'a last line without end' gives 'ab' \
	"$RUN" -n 1 --no-device printf 'ab'
check 'long lines are whole' gives '8 70001' sh -c "'$RUN' -n 8 --no-device \
	sh -c 'head -c 70000 /dev/zero | tr \"\\0\" x; echo' |
	awk 'length == 70000' | wc -lL | xargs -n2 sh -c 'echo \$0 \$((\$1 + 1))'"
check 'lines do not mix' gives '4000 1' sh -c "'$RUN' -n 8 --no-device \
	sh -c 'for i in \$(seq 500); do printf abc; printf \"defg\\n\"; done' |
	sort | uniq -c | awk '{ n++; c += \$1 } END { print c, n }'"
check 'standard input goes to rank 0' gives '[0] text' sh -c "echo text |
	'$RUN' -n 3 -l --no-device cat"
check 'a reader that goes away' sh -c "'$RUN' -n 2 --no-device yes | head -3"
# The third is the folder that is being read.
check 'no file is left open' gives '0 1 2 3' sh -c "'$RUN' -n 3 --no-device \
	sh -c 'rm -f x; cd /proc/\$\$/fd && [ \$ANGARA_RANK = 2 ] || exit 0
	for i in *; do [ \$i = 10 ] || [ \$i = \$ANGARA_JOB_FD ] ||
	[ \$i -gt 100 ] || echo \$i; done' | xargs" 3>&-

check 'exit status is handed through' ends 7 "$RUN" --no-device -n 3 \
	sh -c 'exit 7'
check 'exit status of one process' ends 3 "$RUN" --no-device -n 3 \
	sh -c '[ $ANGARA_RANK != 2 ] || exit 3'
check 'a signal gives 128 more' ends 139 "$RUN" --no-device -n 2 \
	sh -c 'kill -SEGV $$'
check 'a failure ends the others after the grace' faster 4 ends 9 \
	"$RUN" --no-device -n 3 --grace 1 \
	sh -c '[ $ANGARA_RANK = 1 ] && exit 9; exec sleep 300'
check 'also those that ignore SIGTERM' faster 6 ends 9 \
	"$RUN" --no-device -n 3 --grace 0 \
	sh -c '[ $ANGARA_RANK = 1 ] && exit 9; trap "" TERM
	while :; do sleep 0.1; done'
check 'the others can report in the grace' gives 'reported' \
	"$RUN" --no-device -n 2 --grace 5 \
	sh -c '[ $ANGARA_RANK = 1 ] && exit 9; sleep 1; echo reported'
check '--keep-going' gives 'done' "$RUN" --no-device -n 2 --keep-going \
	--grace 0 sh -c '[ $ANGARA_RANK = 1 ] && exit 9; sleep 1; echo done'
check '--timeout' faster 4 ends 124 "$RUN" --no-device -n 2 --timeout 1 \
	sleep 300
check 'background processes are ended' faster 3 ends 0 "$RUN" --no-device \
	-n 2 bash -c 'exec -a left-'$$' sleep 300 & sleep 0.5'
check 'and gone' nobody "left-$$"
check 'SIGTERM is forwarded' signalled TERM 143
check 'SIGINT is forwarded' signalled INT 130
check 'SIGUSR1 is forwarded' signalled USR1 138
check 'processes die with the launcher' killed_launcher

check 'no number of processes' refuses 2 'give -n N' true
check 'number 0' refuses 2 "from 1 to 4096, not '0'" -n 0 true
check 'number too large' refuses 2 "not '4097'" -n 4097 true
check 'no number' refuses 2 "not '2x'" -n 2x true
check 'no program' refuses 2 'no program' -n 2
check 'option without value' refuses 2 "'--timeout' wants" --timeout
check 'more processes than cores to bind to' \
	refuses 2 '--bind: 4096 processes, but there are' -n 4096 --bind true
check 'bound to cores' bound
check 'unknown short option' refuses 2 "option '-z'" -z
check 'unknown long option' refuses 2 "option '--bogus'" --bogus
check 'bad list of nodes' refuses 2 'such as 0,2,4-7' -n 2 --nodes 1,,2 true
check 'nodes the wrong way round' refuses 2 'such as' -n 2 --nodes 3-1 true
check 'bad fabric' refuses 2 'such as 0x1f' -n 2 --fabric one true
check 'devices and none' refuses 2 'exclude each other' -n 2 --no-device \
	--per-node 2 true
check 'a program that is missing' refuses 127 "'/no/such': No such file" \
	-n 2 --no-device /no/such
check 'a program that is none' refuses 126 "'README.md'\|'/etc/passwd'" \
	-n 2 --no-device /etc/passwd
if [ -e /dev/angara0 ]; then
	skip 'no adapter' 'there are adapters here'
	skip 'an embedded fabric instead' 'there are adapters here'
else
	check 'no adapter' refuses 1 'load the driver' -n 2 --fabric loop true
	check 'an embedded fabric instead' gives 'embedded:2 0 embedded:2 1' \
		sh -c "'$RUN' -n 2 sh -c 'echo \${ANGARA_FABRIC%,fd=*} \$ANGARA_DEVICE' |
		sort | xargs"
fi
check '--help' gives 'Usage: angara-run' sh -c "'$RUN' --help | cut -c-17 | head -1"
check '--version' sh -c "'$RUN' --version | grep -q '^angara-run [0-9.]*$'"
plan
