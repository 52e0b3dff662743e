#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Links between servers: unit tests under ASan, UBSan and ThreadSanitizer; then
# two of angara-vfio that form one torus, with a client that has an adapter of
# each node.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

T=$VARIANTS/tests/tests
V=$VARIANTS/asan/bin/angara-vfio
A=$TAP_TMP/a
B=$TAP_TMP/b
ALL=$TAP_TMP/all

build()
{
	variant asan tools/vfio && client_build
}

# says TEXT OPTION...: the server ends with one line of error that has TEXT.
says()
{
	local text=$1 status=0

	shift
	"$V" --socket-dir "$TAP_TMP" "$@" >"$TAP_TMP/says" 2>&1 || status=$?
	cat "$TAP_TMP/says"
	[ "$status" != 0 ] && [ "$status" != 99 ] &&
		[ "$(wc -l <"$TAP_TMP/says")" = 1 ] && grep -q -e "$text" "$TAP_TMP/says"
}

bad_arguments()
{
	says 'need --only' --fabric torus:2x2 --listen 1 &&
		says 'need --only' --fabric torus:2x2 --peer 1 &&
		says 'HOST:PORT' --fabric torus:2x2 --only 0 --peer x &&
		says 'no such host' --fabric torus:2x2 --only 0 --peer no.such.invalid:1 &&
		says 'HOST:PORT' --fabric torus:2x2 --only 0 --listen 1:70000 &&
		says 'peer-timeout' --fabric torus:2x2 --only 0 --peer-timeout 0 &&
		says 'paths are too long' --fabric torus:65535 --only 0 --listen 0
}

# Starts both servers at once: each waits for the other before it makes sockets.
servers()
{
	local port

	port=$(free_port)
	mkdir "$B"
	"$V" --socket-dir "$B" --fabric torus:2x2x1 --only 2-3 --peer "$port" \
		--peer-timeout 10 >"$B.out" 2>"$B.log" &
	B_PID=$!
	server_start "$V" "$A" --fabric torus:2x2x1 --only 0,1 --listen "$port" \
		--peer-timeout 10 || return
	A_PID=$SERVER_PID
	await grep -q adapters "$B.out" || return
	PORT=$port
	mkdir "$ALL"
	ln -s "$A"/node[01].sock "$B"/node[23].sock "$ALL"
}

# Has a process in this namespace called connect(2)?
dialled()
{
	local opens

	opens=$(awk '/^Tcp:/ && n++ { print $6 }' /proc/net/snmp)
	[ "$opens" -gt 0 ]
}

# A server connects to a port of the ephemeral range, which is small here:
# before the other server listens, a server may connect to itself.  Runs in a
# network namespace.
dial_itself()
{
	ip link set lo up
	echo 40000 40003 >/proc/sys/net/ipv4/ip_local_port_range
	mkdir "$TAP_TMP/c" "$TAP_TMP/d"
	"$V" --socket-dir "$TAP_TMP/c" --fabric torus:2x1 --only 0 --peer 40000 \
		>"$TAP_TMP/c.out" 2>&1 &
	await dialled
	# While the other server connects, the port is in use for a moment.
	until "$V" --socket-dir "$TAP_TMP/d" --fabric torus:2x1 --only 1 \
		--listen 40000 >"$TAP_TMP/d.out" 2>&1; do
		grep -q 'in use' "$TAP_TMP/d.out" || break
	done &
	await grep -q adapters "$TAP_TMP/c.out"
	status=$?
	cat "$TAP_TMP"/[cd].out
	pkill -P $!
	kill %1
	wait
	return $status
}

# client_all CASE: runs a case of the client on the adapters of both servers.
client_all()
{
	VFIO_DIR=$ALL VFIO_PID=$A_PID VFIO_LOG=$A.log \
		timeout 600 "$CLIENT" "$1"
}

# Servers that do not match are refused: nodes in use, different options.
refused()
{
	says 'nodes of another' --fabric torus:2x2x1 --only 2-3 --peer "$PORT" &&
		says 'same --fabric' --fabric torus:2x2x2 --only 4-7 --peer "$PORT" &&
		says 'same --contexts' --fabric torus:2x2x1 --only 2-3 --contexts 3 \
			--peer "$PORT" &&
		says 'in use' --fabric torus:2x2x1 --only 0 --listen "$PORT"
}

killed()
{
	kill -9 "$B_PID"
	await grep -q 'nodes 2-3 are gone' "$A.log" || return
	cat "$A.log"
	rm -r "$B"
	SERVER_PID=$A_PID
	server_end "$A"
}

check 'the tests build' variant tests selftests/peer
nested ASan "$T/peer-test"
# Only these tests use threads.
nested TSan "$T/peer-tsan" 'tcp: two' 'tcp: strangers'
check 'angara-vfio builds' build
check 'bad arguments' bad_arguments
export V TAP_TMP
export -f dial_itself dialled await
check 'a server does not connect to itself' unshare -n bash -c dial_itself
check 'two servers' servers
for one in 'transfers between machines' 'collectives, and one that goes' \
	'the device is reset' 'all machines at once'; do
	check "two servers: $one" client_all "work: $one"
done
check 'a server that does not fit is refused' refused
check 'one is killed, the other continues and ends' killed
plan
