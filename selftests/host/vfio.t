#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# angara-vfio: its command line and sockets; then a client that sends valid and
# invalid messages to a server under ASan and UBSan, and again to one under
# ThreadSanitizer.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

DIR=$TAP_TMP/sockets
O=$VARIANTS/plain
V=$VARIANTS/asan/bin/angara-vfio
T=$VARIANTS/tsan/bin/angara-vfio

# refuses STATUS TEXT [ARG]...: the server ends with STATUS and one line of error, which has TEXT;
# no file is left.
refuses()
{
	local want=$1 text=$2 status=0

	shift 2
	timeout 60 "$V" "$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err" || status=$?
	cat "$TAP_TMP/err" "$TAP_TMP/out"
	[ "$status" = "$want" ] && [ ! -s "$TAP_TMP/out" ] &&
		[ "$(wc -l <"$TAP_TMP/err")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/err"
}

# Files with wrong descriptions, or with descriptions that are longer than
# drivers read.
bad_graphs()
{
	local graph=$TAP_TMP/graph

	printf '%s\n' 'graph g' 'node a' 'node b' 'a:0 b:0' 'b:0 a:1' >"$graph"
	refuses 2 'line 5: cable: a port is used twice' "$@" --fabric "file:$graph" || return
	printf '%s\n' 'graph g' 'node a' 'node b' 'a:0 b:0' >"$graph"
	printf '# %4095s\n' x >>"$graph"
	refuses 2 'more than the 4095 bytes' "$@" --fabric "file:$graph"
}

bad_arguments()
{
	local ok=(--fabric torus:2x2 --socket-dir "$DIR")
	local long

	refuses 2 '--fabric FABRIC is missing' --socket-dir "$DIR" &&
		refuses 2 '--socket-dir DIR is missing' --fabric torus:2 &&
		refuses 2 "--fabric 'torus:0x2': sizes: must be numbers" "${ok[@]}" --fabric torus:0x2 &&
		refuses 2 'too many dimensions' "${ok[@]}" --fabric torus:2x2x2x2x2x2x2 &&
		refuses 2 'more than 1048576 nodes' "${ok[@]}" --fabric torus:65535x65535 &&
		refuses 2 'kind: unknown' "${ok[@]}" --fabric two &&
		refuses 2 'dimension 1 has more nodes' "${ok[@]}" --fabric mkns:9x4 &&
		refuses 2 "'file:$DIR/none': No such file" "${ok[@]}" --fabric "file:$DIR/none" &&
		bad_graphs "${ok[@]}" &&
		refuses 2 "'$DIR/none' is not a folder" --fabric torus:2 --socket-dir "$DIR/none" &&
		refuses 2 '--contexts wants a number from 1 to 128' "${ok[@]}" --contexts 0 &&
		refuses 2 "not '129'" "${ok[@]}" --contexts 129 &&
		refuses 2 '--threads wants a number from 1 to 64' "${ok[@]}" --threads 65 &&
		refuses 2 "--max-memory wants a size such as" "${ok[@]}" --max-memory 1X &&
		refuses 2 "not '1GB'" "${ok[@]}" --max-memory 1GB &&
		refuses 2 "not '4095'" "${ok[@]}" --max-memory 4095 &&
		refuses 2 "not '16777216T'" "${ok[@]}" --max-memory 16777216T &&
		refuses 2 '--max-maps wants a number from 65535 to 1048576' "${ok[@]}" --max-maps 65534 &&
		refuses 2 '--only wants a list' "${ok[@]}" --only 4 &&
		refuses 2 '--only wants a list' "${ok[@]}" --only 2-1 &&
		refuses 2 '--only wants a list' "${ok[@]}" --only 1, &&
		refuses 2 '--ready-fd wants a number' "${ok[@]}" --ready-fd x &&
		refuses 1 'none: No such file' "${ok[@]}" --manage-key "$DIR/none" &&
		refuses 1 'has to be a key' "${ok[@]}" --manage-key /dev/null &&
		refuses 2 "unexpected 'more'" "${ok[@]}" more &&
		refuses 2 "unknown option '--some'" "${ok[@]}" --some &&
		refuses 2 "option '--fabric' wants a value" --fabric &&
		refuses 2 'at most 1024 adapters' "${ok[@]}" --fabric torus:2000 || return
	long=$TAP_TMP/$(printf '%080d' 0)
	mkdir -p "$long" &&
		refuses 1 'is too long for a socket' "${ok[@]}" --socket-dir "$long"
}

# The limit of open files limits the number of adapters.
few_files()
{
	(ulimit -n 512 && refuses 1 'need 3136 open files, 512 are allowed' \
		--fabric torus:64 --socket-dir "$DIR")
}

ready_fd()
{
	local line

	exec 7<>"$TAP_TMP/fifo"
	server_start "$V" "$DIR" --fabric torus:2x2 --only 1,3 --ready-fd 7 &&
		read -t 60 -r line <&7 && [ -z "$line" ] &&
		[ "$(cd "$DIR" && echo *)" = 'control.sock node1.sock node3.sock' ] &&
		grep -qx "angara-vfio: 2 adapters of fabric torus:2x2 in $DIR" "$DIR.out" &&
		server_end "$DIR"
}

in_use()
{
	local status=0

	server_start "$V" "$DIR" --fabric torus:2 || return
	refuses 1 "node0.sock' is in use by another server" --fabric torus:2 \
		--socket-dir "$DIR" || status=1
	# A folder belongs to one server, whichever nodes it serves.
	refuses 1 "control.sock' is in use by another server" --fabric torus:3 \
		--only 2 --socket-dir "$DIR" || status=1
	[ ! -e "$DIR/node2.sock" ] || status=1
	server_end "$DIR" && return $status
}

stale()
{
	server_start "$V" "$DIR" --fabric torus:2 || return
	server_kill
	[ -S "$DIR/node0.sock" ] && server_start "$V" "$DIR" --fabric torus:2 &&
		server_end "$DIR"
}

in_the_way()
{
	mkdir -p "$DIR"
	echo precious >"$DIR/node1.sock"
	refuses 1 "node1.sock' exists and is not a socket" --fabric torus:2 \
		--socket-dir "$DIR" || return
	[ "$(cat "$DIR/node1.sock")" = precious ] && [ ! -e "$DIR/node0.sock" ] &&
		rm "$DIR/node1.sock"
}

# The server does not remove a file that another process made.
not_ours()
{
	server_start "$V" "$DIR" --fabric torus:2 || return
	rm "$DIR/node1.sock" && echo other >"$DIR/node1.sock" || return
	# The server's exit status reports the file as left over.
	! server_end "$DIR" && [ "$(ls "$DIR")" = node1.sock ] &&
		rm "$DIR/node1.sock"
}

without_privilege()
{
	mkdir -p "$TAP_TMP/user"
	chmod 755 "$TAP_TMP"
	chmod 777 "$TAP_TMP/user"
	# Copy the server: its folder may be inaccessible for other users.
	cp "$V" "$TAP_TMP/angara-vfio"
	cat >"$TAP_TMP/as-user" <<-END
		#!/bin/sh
		exec setpriv --reuid 65534 --regid 65534 --clear-groups \\
			"$TAP_TMP/angara-vfio" "\$@"
	END
	chmod 755 "$TAP_TMP/as-user"
	server_start "$TAP_TMP/as-user" "$TAP_TMP/user" --fabric torus:2x2x1 &&
		client "$TAP_TMP/user" 'work: transfers' &&
		server_end "$TAP_TMP/user"
}

# 64 idle adapters take less than 16 MiB in total.
frugal()
{
	local kb

	variant plain tools/vfio &&
		server_start "$O/bin/angara-vfio" "$DIR" --fabric torus:4x4x4 ||
		return
	kb=$(sed -n 's/^VmRSS:\t *\([0-9]*\) kB/\1/p' "/proc/$SERVER_PID/status")
	echo "$kb KiB"
	server_end "$DIR" && [ "$kb" -lt 16384 ]
}

# Builds programs that observe a working server.
build_ctl()
{
	variant plain libangara tools:bin/angaractl
}

ctl()
{
	LD_LIBRARY_PATH=$O/lib exec "$O/bin/angaractl" --server "$DIR" "$@"
}

# Sends all requests, again and again, until the process is stopped.
watch()
{
	local what

	until [ -e "$TAP_TMP/watched" ]; do
		for what in dev link tree ctx counters; do
			(ctl "$what") >/dev/null || return
		done
	done
}

has_packets()
{
	[ "$(wc -c <"$TAP_TMP/all")" -gt 4096 ]
}

# captured PID: the capture has packets, and ends without error. It may lag
# behind the machines whose packets it writes.
captured()
{
	local status=0

	await has_packets || status=1
	kill -INT "$1"
	wait "$1" && return $status
}

# Packets were injected, sent, ejected, reduced, dropped; none is malformed.
dissected()
{
	tshark -X lua_script:tools/vfio/angara.lua -r "$TAP_TMP/all" -T fields \
		-e angara.event -e angara.malformed 2>/dev/null |
		sort | uniq -c | tee "$TAP_TMP/events"
	[ "$(awk '{ print $2 NF }' "$TAP_TMP/events" | head -n 5 | paste -sd' ')" = \
		'02 12 22 32 42' ] && ! awk 'NF > 2' "$TAP_TMP/events" | grep .
}

# watched NAME: virtual machines work while other programs observe the server.
watched()
{
	local name=$1 one watch capture

	rm -f "$TAP_TMP/watched" "$TAP_TMP/all"
	watch 2>"$TAP_TMP/watch.err" &
	watch=$!
	(ctl capture "$TAP_TMP/all") &
	capture=$!
	await test -s "$TAP_TMP/all"
	# The last packets may not have been written when capturing ends.
	for one in 'collectives, and a machine that ends' \
		'transfers between machines' 'all machines at once'; do
		check "$name, watched: $one" client "$DIR" "work: $one"
	done
	: >"$TAP_TMP/watched"
	check "$name: requests of observers are answered" wait "$watch"
	check "$name: packets are captured" captured "$capture"
	if command -v tshark >/dev/null; then
		check "$name: captured packets are understood" dissected
	else
		skip "$name: captured packets are understood" 'no tshark'
	fi
}

# start_with PRELOAD: starts a server with PRELOAD as preloaded library.
start_with()
{
	cat >"$TAP_TMP/with" <<-END
		#!/bin/sh
		LD_PRELOAD=${CLIENT%/*}/$1.so exec \
			"$O/bin/angara-vfio" "\$@"
	END
	chmod 755 "$TAP_TMP/with"
	server_start "$TAP_TMP/with" "$DIR" --fabric torus:2x2x1
}

# kind FABRIC: tests a fabric of four nodes with switches while programs observe
# it.
kind()
{
	local capture

	rm -f "$TAP_TMP/all"
	server_start "$V" "$DIR" --fabric "$1" || return
	(ctl capture "$TAP_TMP/all") &
	capture=$!
	await test -s "$TAP_TMP/all"
	client "$DIR" 'work: transfers between machines' && captured "$capture" &&
		server_end "$DIR"
}

hasty()
{
	local -x VFIO_HASTY=1

	start_with hasty && client "$DIR" 'irq: an eventfd that blocks' &&
		server_end "$DIR"
}

# No thread of the server can gain privileges, and each has a filter.
sandboxed()
{
	local status

	for status in "/proc/$SERVER_PID"/task/*/status; do
		grep -E '^(Name|NoNewPrivs|Seccomp):' "$status"
		grep -qx $'NoNewPrivs:\t1' "$status" &&
			grep -qx $'Seccomp:\t2' "$status" || return
	done
}

# Has the server ended? Its process may still be a zombie.
server_has_ended()
{
	! grep -qs '^State:.[^Z]' "/proc/$SERVER_PID/status"
}

# ends_by CALL: a server that makes this system call ends by SIGSYS.
ends_by()
{
	local status=0

	VFIO_FORBIDDEN=$1 start_with forbidden || return
	! client "$DIR" 'irq: MSI-X' || return
	# If a client fails for another reason, the server continues.
	await server_has_ended || return
	wait "$SERVER_PID" || status=$?
	SERVER_PID=
	echo "$1: status $status"
	[ $status = $((128 + $(kill -l SYS))) ] && rm -f "$DIR"/*
}

forbidden()
{
	local call

	for call in execve fork socket connect kill tgkill ioctl mmap mprotect; do
		ends_by $call || return
	done
	for call in openat nothing; do
		VFIO_FORBIDDEN=$call start_with forbidden &&
			client "$DIR" 'irq: MSI-X' && server_end "$DIR" || return
	done
}

# cases NAME PROGRAM: runs all cases of the client with one server.
cases()
{
	local name=$1 one

	check "$name: the server starts" server_start "$2" "$DIR" \
		--fabric torus:2x2x1 "${LIMITS[@]}" --manage-key "$DIR.key"
	check "$name: system calls are filtered" sandboxed
	while read -r one; do
		check "$name: $one" client "$DIR" "$one"
	done < <("$CLIENT" --list)
	watched "$name"
	check "$name: the server ends without a report" server_end "$DIR"
}

mkdir "$DIR"
mkfifo "$TAP_TMP/fifo"
check 'builds with ASan and UBSan' variant asan tools/vfio
check 'builds with ThreadSanitizer' variant tsan tools/vfio
check 'the client builds' client_build
check 'angaractl builds' build_ctl
check 'bad arguments' bad_arguments
check 'too few open files' few_files
check 'some nodes only; readiness' ready_fd
check 'sockets that are in use' in_use
check 'sockets that a dead server has left' stale
check 'another file in the way' in_the_way
check 'another file in the place of a socket' not_ours
if [ "$(id -u)" = 0 ]; then
	check 'no privilege is needed' without_privilege
else
	skip 'no privilege is needed' 'only root can change the user'
fi
check '64 idle adapters need little memory' frugal
check 'an eventfd that blocks ends its client' hasty
check 'a system call that is not needed ends the server' forbidden
printf '%s\n' 'graph g' 'node a' 'node b' 'node c' 'node d' 'switch s' \
	'switch t' 'a:0 s:0' 'b:0 s:1' 's:2 t:2' 'c:0 t:0' 'd:0 t:1' >"$TAP_TMP/graph"
for text in kns:2x2 mkns:2x2 mesh:2x2 fattree:4,2,nodes=4 "file:$TAP_TMP/graph"; do
	check "adapters on ${text/$TAP_TMP/.}" kind "$text"
done
cases ASan "$V"
cases TSan "$T"
plan
