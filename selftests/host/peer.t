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
KEY=$TAP_TMP/key

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

# The server reads no key that others can read, and needs one for other machines.
keys()
{
	cp "$KEY" "$KEY.open" && chmod 640 "$KEY.open" && echo 12 >"$KEY.short" &&
		chmod 600 "$KEY.short" || return
	says "key.open': is open to other users: chmod 600" --fabric torus:2x2 --only 0 \
		--listen 0 --peer-key "$KEY.open" &&
		says '32 to 128 hex' --fabric torus:2x2 --only 0 --listen 0 \
			--peer-key "$KEY.short" &&
		says 'No such file' --fabric torus:2x2 --only 0 --listen 0 \
			--peer-key "$KEY.none" &&
		says 'needs --listen or --peer' --fabric torus:2x2 --peer-key "$KEY" &&
		says 'other machines need --peer-key' --fabric torus:2x2 --only 0 \
			--listen 0.0.0.0:0 &&
		says 'other machines need --peer-key' --fabric torus:2x2 --only 0 \
			--peer '[2001:db8::1]:7000'
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
		--peer-timeout 10 --peer-key "$KEY" >"$B.out" 2>"$B.log" &
	B_PID=$!
	server_start "$V" "$A" --fabric torus:2x2x1 --only 0,1 --listen "$port" \
		--peer-timeout 10 --peer-key "$KEY" || return
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

# Servers that do not match are refused: nodes in use, different options, another
# key or none.
refused()
{
	local fits=(--peer "$PORT" --peer-key "$KEY")

	tr '0-9' '1-90' <"$KEY" >"$KEY.other" && chmod 600 "$KEY.other" || return
	says 'nodes of another' --fabric torus:2x2x1 --only 2-3 "${fits[@]}" &&
		says 'same --fabric' --fabric torus:2x2x2 --only 4-7 "${fits[@]}" &&
		says 'same --contexts' --fabric torus:2x2x1 --only 2-3 --contexts 3 \
			"${fits[@]}" &&
		says 'another key' --fabric torus:2x2x1 --only 2-3 --peer "$PORT" \
			--peer-key "$KEY.other" &&
		says 'does not use TLS' --fabric torus:2x2x1 --only 2-3 --peer "$PORT" &&
		says 'in use' --fabric torus:2x2x1 --only 0 --listen "$PORT"
}

# Processor time that a process has used, in hundredths of a second.
ticks()
{
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# While a server has no descriptor for a connection, it waits instead of trying again
# and again.
no_descriptors()
{
	local usual callers=() fd before used

	usual=$(prlimit --pid "$A_PID" --nofile --noheadings --output SOFT)
	# poll(2) wants the limit to be greater than the number of its descriptors.
	prlimit --pid "$A_PID" --nofile=20: || return
	for _ in {0..15}; do
		exec {fd}<>"/dev/tcp/127.0.0.1/$PORT" || return
		callers+=("$fd")
	done
	before=$(ticks "$A_PID")
	sleep 2
	used=$(($(ticks "$A_PID") - before))
	echo "of 2 s, it has used $used hundredths"
	prlimit --pid "$A_PID" --nofile="$usual:"
	for fd in "${callers[@]}"; do
		exec {fd}>&-
	done
	[ "$used" -lt 100 ]
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

check 'the tests build' variant tests selftests/vfio/peer
nested ASan "$T/peer-test"
# Only these cases use threads, so only they run under ThreadSanitizer.
nested TSan "$T/peer-tsan" 'tcp: two' 'tcp: callers' 'tls: callers' 'tls: servers'
check 'angara-vfio builds' build
check 'bad arguments' bad_arguments
check 'a key is made' make_peer_key "$KEY"
check 'bad keys' keys
export V TAP_TMP
export -f dial_itself dialled await
check 'a server does not connect to itself' unshare -n bash -c dial_itself
check 'two servers' servers
for one in 'transfers between machines' 'collectives, and a machine that ends' \
	'the device is reset' 'all machines at once'; do
	check "two servers: $one" client_all "work: $one"
done
check 'a server with other options is refused' refused
check 'a server without descriptors waits' no_descriptors
check 'if one server is killed, the other continues and ends' killed
plan
