#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# angara-run without adapters: exchanges, output, every way in which a job ends,
# bad arguments. Launcher and library are built with ASan and UBSan.
# shellcheck disable=SC2016 # the processes expand the quoted text

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/asan
RUN=$OUT/bin/angara-run
JOB=$OUT/tests/job-test
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset ANGARA_JOB_TIMEOUT

build()
{
	variant asan libangara libangara:tests/job-test tools/run
}

job()
{
	ends 0 "$RUN" --no-device "$@"
}

# gives WANT COMMAND...: standard output must equal WANT.
gives()
{
	local want=$1 got

	shift
	got=$("$@")
	echo "expected: $want"
	echo "got: $got"
	[ "$got" = "$want" ]
}

# refuses STATUS TEXT ARGUMENT...: one line of error, no output.
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

# A full disk is reported as an error, once. A reader that leaves is no error.
full()
{
	local said=$TAP_TMP/full.said

	"$RUN" --no-device -n 2 echo x >/dev/full 2>"$said"
	[ $? = 1 ] || return
	cat "$said"
	[ "$(grep -c '^angara-run: standard output cannot be written: No space' "$said")" = 1 ] &&
		[ "$(wc -l <"$said")" = 1 ] || return
	"$RUN" --no-device -n 2 echo x 2>"$said" | true
	[ ! -s "$said" ]
}

# faster SECONDS COMMAND...: COMMAND succeeds within this time.
faster()
{
	local end=$((SECONDS + $1))

	shift
	"$@" && [ "$SECONDS" -le "$end" ]
}

no_process()
{
	! pgrep -f "$1"
}

# If the launcher is killed by SIGKILL, its processes end.
killed_launcher()
{
	local pid

	"$RUN" --no-device -n 4 bash -c 'exec -a orphan-'$$' sleep 300' &
	pid=$!
	await run_as "orphan-$$" 5 || return 1
	kill -9 $pid
	wait $pid
	await no_process "orphan-$$"
}

# run_as TEXT N: do N processes run whose command line has TEXT?
run_as()
{
	[ "$(pgrep -fc "$1")" -ge "$2" ]
}

# Each process is bound to one core, different from all others.
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

# Of two processes left behind, the launcher cannot end the first, which belongs
# to another user and writes for ever, but ends the second, and itself.
left_by_another()
{
	local status=0

	cp "$(command -v setpriv)" "$TAP_TMP/setuid" && chmod 4755 "$TAP_TMP/setuid" &&
		chmod 711 "$TAP_TMP" || return
	echo 'trap "" PIPE; while :; do echo; done 2>/dev/null' >"$TAP_TMP/writer"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$RUN" --no-device -n 1 \
		bash -c '"$0" --reuid 0 bash -c "exec -a kept-$1 bash $2" &
			bash -c "exec -a spared-$1 sleep 300" & sleep 0.5' \
		"$TAP_TMP/setuid" $$ "$TAP_TMP/writer" >/dev/null || return
	run_as "kept-$$" 1 && no_process "spared-$$" || status=1
	pkill -f "^kept-$$"
	return "$status"
}

# Without open standard files, no output goes into a connection to a process.
no_files()
{
	ends 0 "$RUN" --no-device -n 2 sh -c 'echo lost >&2; exec "$0" gather' "$JOB" \
		<&- >&- 2>&-
}

# If the pipe for output is full and nobody reads it, the time limit still holds.
not_read()
{
	local status=0

	mkfifo "$TAP_TMP/full" || return
	# Open both ends, so that neither open waits.
	exec 8<>"$TAP_TMP/full"
	faster 60 ends 124 sh -c 'exec "$0" "$@" >&8 2>&8' "$RUN" --no-device -n 2 \
		--timeout 1 "$@" || status=$?
	exec 8>&-
	rm "$TAP_TMP/full"
	return "$status"
}

# A job that ends in time has its status and its output, even if the reader is slow.
slow_reader()
{
	{
		"$RUN" --no-device -n 1 --timeout 1 sh -c 'yes | head -c 120000'
		echo $? >"$TAP_TMP/slow"
	} | { sleep 3 && wc -c >>"$TAP_TMP/bytes"; }
	[ "$(cat "$TAP_TMP/slow" "$TAP_TMP/bytes" | xargs)" = '0 120000' ]
}

# After SIGKILL the reader gets two seconds, which it needs, to take the output.
late_reader()
{
	"$RUN" --no-device -n 4 --timeout 1 sh -c 'trap "" TERM; yes | head -c 60000; exec sleep 300' |
		{ sleep 4 && wc -c >"$TAP_TMP/late"; }
	[ "$(cat "$TAP_TMP/late")" = 240000 ]
}

# Processes get SIGTERM once, although each process that SIGTERM ends counts as failed.
one_sigterm()
{
	"$RUN" --no-device -n 3 --grace 0 bash -c 'case $ANGARA_RANK in
		0) sleep 1; exit 5 ;;
		1) exec sleep 300 ;;
		2) trap "echo asked" TERM
			for ((i = 0; i < 30; i++)); do sleep 0.1; done ;;
		esac' >"$TAP_TMP/asked"
	[ "$(cat "$TAP_TMP/asked")" = asked ]
}

# A signal that is ignored when the launcher starts, as with nohup, does not end the job.
hangup()
{
	local pid

	env --ignore-signal=HUP "$RUN" --no-device -n 1 --grace 0 \
		bash -c 'exec -a hangup-'$$' sleep 3' &
	pid=$!
	await run_as "hangup-$$" 1 && kill -HUP $pid
	wait $pid
}

# A process that the shell started before it became the launcher is not the job's.
earlier_child()
{
	local status=0

	bash -c 'exec -a earlier-$1 sleep 300 & exec "$0" --no-device -n 1 true' "$RUN" $$ || return
	run_as "earlier-$$" 1 || status=1
	pkill -f "^earlier-$$"
	return "$status"
}

# signalled SIGNAL STATUS: the launcher forwards a signal to the processes.
signalled()
{
	local pid status=0

	# A shell starts background processes with SIGINT ignored.
	env --default-signal=INT "$RUN" --no-device -n 3 --grace 1 \
		bash -c 'exec -a signalled-'$$' sleep 300' &
	pid=$!
	await run_as "signalled-$$" 4 && kill -"$1" $pid
	wait $pid || status=$?
	echo "status $status, expected $2"
	[ "$status" = "$2" ] && no_process "signalled-$$"
}

# late TEXT N MODE: exchanges time out after a second; one line names the late
# processes.
late()
{
	complains "angara-run: $1 not joined an exchange of $2 processes within 1 s" 0 \
		env ANGARA_JOB_TIMEOUT=1 "$RUN" --no-device -n "$2" \
		"$JOB" "$3" "$TAP_TMP/late$3"
}

# A server sends a longer reply than the blocks that it announces; the excess looks like the next
# reply.
liar()
{
	perl -MSocket -MPOSIX -e '
		socketpair(my $us, my $them, AF_UNIX, SOCK_STREAM, 0) or exit 1;
		my $pid = fork;
		if (!$pid) {
			close $us;
			dup2(fileno $them, 9);
			@ENV{qw(ANGARA_JOB_FD ANGARA_RANK ANGARA_SIZE)} = (9, 0, 2);
			exec @ARGV;
		}
		close $them;
		sysread $us, my $request, 4096;
		syswrite $us, pack "LlQLlQ", 0x314A4E41, 0, 16, 0x314A4E41, 0, 0;
		waitpid $pid, 0;
		exit $? >> 8' "$JOB" liar
}

# Do the four jobs have different keys?
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
if [ "$(id -u)" = 0 ]; then
	check 'the launcher forgets the key' job -n 3 "$JOB" wiped
else
	skip 'the launcher forgets the key' 'needs root'
fi
check 'a process that leaves' job -n 4 "$JOB" leave
check 'a process that is killed' \
	ends 137 "$RUN" --no-device -n 4 "$JOB" die
check 'a process that sends garbage' job -n 3 "$JOB" garbage
check 'a process that does not join' late 'rank 3 has' 4 absent
check 'a process that joins too late' late 'rank 4 has' 5 slow
check 'more late processes than a line names' late "ranks 1-2, 4-5, 7-8, 10-11,\
 13-14, 16-17, 19-20, 22-23 and 10 more have" 40 third
check 'a late process, and no limit' \
	env ANGARA_JOB_TIMEOUT=0 "$RUN" --no-device -n 2 \
	sh -c 'sleep $ANGARA_RANK; exec "$0" gather' "$JOB"
check 'a launcher that sends more than the blocks' liar
check 'a team without contexts' job -n 3 "$JOB" teamless
check 'a job of one without a launcher' ends 0 "$JOB" single
check 'a rank without a size' \
	env ANGARA_RANK=0 "$JOB" damaged
check 'a rank beyond the size' \
	env ANGARA_RANK=2 ANGARA_SIZE=2 ANGARA_JOB_FD=0 "$JOB" damaged
check 'a descriptor that is not a socket' \
	env ANGARA_RANK=0 ANGARA_SIZE=1 ANGARA_JOB_FD=0 "$JOB" damaged
check 'a descriptor that is not a number' \
	env ANGARA_RANK=0 ANGARA_SIZE=1 ANGARA_JOB_FD=x "$JOB" damaged

check 'output to a full disk' full
check 'ranks and size' gives '0/3 1/3 2/3' sh -c "'$RUN' -n 3 --no-device \
	sh -c 'echo \$ANGARA_RANK/\$ANGARA_SIZE' | sort | xargs"
check 'no device in the environment' gives 'none' env ANGARA_DEVICE=x \
	"$RUN" -n 1 --no-device sh -c 'echo ${ANGARA_DEVICE:-none}'
check 'no terminal of another launcher' gives 'none' env ANGARA_TTY=1 \
	"$RUN" -n 1 --no-device sh -c 'echo ${ANGARA_TTY:-none}'
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
# Descriptor 3 is the folder that is listed.
check 'no file is left open' gives '0 1 2 3' sh -c "'$RUN' -n 3 --no-device \
	sh -c 'rm -f x; cd /proc/\$\$/fd && [ \$ANGARA_RANK = 2 ] || exit 0
	for i in *; do [ \$i = 10 ] || [ \$i = \$ANGARA_JOB_FD ] ||
	[ \$i -gt 100 ] || echo \$i; done' | xargs" 3>&-

check 'exit status is passed on' ends 7 "$RUN" --no-device -n 3 \
	sh -c 'exit 7'
check 'exit status of one process' ends 3 "$RUN" --no-device -n 3 \
	sh -c '[ $ANGARA_RANK != 2 ] || exit 3'
check 'a signal gives 128 more' ends 139 "$RUN" --no-device -n 2 \
	sh -c 'kill -SEGV $$'
check 'a failure ends the others after the grace period' faster 60 ends 9 \
	"$RUN" --no-device -n 3 --grace 1 \
	sh -c '[ $ANGARA_RANK = 1 ] && exit 9; exec sleep 300'
check 'a failure ends processes that ignore SIGTERM, too' faster 60 ends 9 \
	"$RUN" --no-device -n 3 --grace 0 \
	sh -c '[ $ANGARA_RANK = 1 ] && exit 9; trap "" TERM
	while :; do sleep 0.1; done'
check 'other processes can report in the grace period' gives 'reported' \
	"$RUN" --no-device -n 2 --grace 5 \
	sh -c '[ $ANGARA_RANK = 1 ] && exit 9; sleep 1; echo reported'
check '--keep-going' gives 'done' "$RUN" --no-device -n 2 --keep-going \
	--grace 0 sh -c '[ $ANGARA_RANK = 1 ] && exit 9; sleep 1; echo done'
check '--timeout' faster 60 ends 124 "$RUN" --no-device -n 2 --timeout 1 \
	sleep 300
check '--timeout, and the output is not read' not_read yes
check '--timeout, and no output is read' not_read sh -c 'exec yes >&2'
check '--timeout, and a slow reader' slow_reader
check '--timeout, and a reader after SIGKILL' late_reader
check 'SIGTERM is sent once' one_sigterm
check 'a child from before the launcher' earlier_child
check 'SIGCHLD is ignored' faster 60 ends 7 env --ignore-signal=CHLD "$RUN" --no-device -n 2 \
	--grace 1 sh -c 'exit 7'
check 'SIGHUP is ignored' hangup
check 'background processes are ended' faster 60 ends 0 "$RUN" --no-device \
	-n 2 bash -c 'exec -a left-'$$' sleep 300 & sleep 0.5'
check 'and gone' no_process "left-$$"
if [ "$(id -u)" = 0 ]; then
	check 'the launcher also ends processes after one of another user' left_by_another
else
	skip 'the launcher also ends processes after one of another user' 'needs root'
fi
check 'without standard files' no_files
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
check 'a range of nodes in the wrong order' refuses 2 'such as' -n 2 --nodes 3-1 true
for bad in x -1 '' 1000001 10s; do
	ANGARA_JOB_TIMEOUT=$bad check "a limit of '$bad' for exchanges" \
		refuses 2 "from 0 to 1000000, not '$bad'" -n 2 true
done
check 'bad fabric' refuses 2 'such as 0x1f' -n 2 --fabric one true
check 'devices and none' refuses 2 'exclude each other' -n 2 --no-device \
	--per-node 2 true
check 'a program that is missing' refuses 127 "'/no/such': No such file" \
	-n 2 --no-device /no/such
check 'a file that is not a program' refuses 126 "'README.md'\|'/etc/passwd'" \
	-n 2 --no-device /etc/passwd
if [ -e /dev/angara0 ]; then
	skip 'no adapter' 'there are adapters here'
	skip 'an embedded fabric instead' 'there are adapters here'
else
	check 'no adapter' refuses 1 'load the driver' -n 2 --fabric loop true
	check 'an embedded fabric instead' gives 'embedded:torus:2 0 embedded:torus:2 1' \
		sh -c "'$RUN' -n 2 sh -c 'echo \${ANGARA_FABRIC%,fd=*} \$ANGARA_DEVICE' |
		sort | xargs"
fi
check '--help' gives 'Usage: angara-run' sh -c "'$RUN' --help | cut -c-17 | head -1"
# completed WORD: prints bash's completion of it
completed()
{
	COMP_WORDS=(angara-run "$1") COMP_CWORD=1
	# shellcheck disable=SC1090
	. <("$RUN" --bash-completion) && _angara_run && echo "${COMPREPLY[*]}"
}
check 'an option is completed' gives --no-device completed --no-d
check '-np is -n' gives 'one one' sh -c "'$RUN' -np 2 --no-device echo one | xargs"
check 'an option with a value that it does not take' \
	refuses 2 "option '--bind=1' takes no value" -n 1 --bind=1 true
# on_terminal [NAME=VALUE]...: prints an error as a terminal gets it, without ESC
on_terminal()
{
	env "$@" TERM=xterm script -qec "'$RUN' --nosuch" /dev/null | tr -d '\r\033'
}
check 'errors on a terminal have a colour' \
	gives '[1;31mangara-run: [0m' sh -c 'head -1 | grep -o "^.*: .0m"' \
	< <(on_terminal -u NO_COLOR)
check 'NO_COLOR' gives 'angara-run: ' sh -c 'head -1 | grep -o "^angara-run: "' \
	< <(on_terminal NO_COLOR=1)
check '--version' sh -c "'$RUN' --version | grep -q '^angara-run [0-9.]*$'"
plan
