#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Servers of one fabric, each on its own machine. A network namespace stands for a machine.
# The links between them use TLS. The filter of system calls is in force when a
# cable has been cut and the servers shake hands again.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

V=$VARIANTS/plain/bin/angara-vfio
KEY=$TAP_TMP/key
A=$TAP_TMP/a
B=$TAP_TMP/b
C=$TAP_TMP/c
ALL=$TAP_TMP/all
SPACES=()

# Namespaces and servers end with the shell.
space()
{
	setpriv --pdeathsig KILL unshare -n sleep 600 &
	SPACES+=($!)
}

# on N COMMAND...: runs COMMAND on a machine.
on()
{
	local pid=${SPACES[$1]}

	shift
	nsenter -t "$pid" -n "$@"
}

# Does the process have a network namespace of its own?
parted()
{
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/$$/ns/net)" ]
}

# Connects three machines by a switch in the first one.
machines()
{
	local n

	for n in 0 1 2; do
		space && await parted "${SPACES[n]}" || return
	done
	on 0 ip link add switch type bridge && on 0 ip link set switch up &&
		on 0 ip addr add 10.9.0.1/24 dev switch || return
	for n in 1 2; do
		on 0 ip link add cable$n type veth peer name cable netns "${SPACES[n]}" &&
			on 0 ip link set cable$n master switch &&
			on 0 ip link set cable$n up &&
			on $n ip addr add 10.9.0.$((n + 1))/24 dev cable &&
			on $n ip link set cable up || return
	done
}

# server N FOLDER OPTION...: starts a server on a machine.
server()
{
	local machine=$1 dir=$2

	shift 2
	mkdir -p "$dir"
	# Does not use the function on, so that $! is the process of the server.
	nsenter -t "${SPACES[$machine]}" -n setpriv --pdeathsig KILL "$V" \
		--fabric torus:3x2 --peer-timeout 20 --socket-dir "$dir" "$@" \
		>"$dir.out" 2>"$dir.log" &
	PID=$!
}

first()
{
	server 0 "$A" --only 0-1 --listen 10.9.0.1:7000 --peer-key "$KEY"
	A_PID=$PID
}

second()
{
	server 1 "$B" --only 2-3 --listen 10.9.0.2:7000 --peer 10.9.0.1:7000 --peer-key "$KEY"
	B_PID=$PID
}

third()
{
	server 2 "$C" --only 4-5 --peer 10.9.0.1:7000 --peer 10.9.0.2:7000 --peer-key "$KEY"
	C_PID=$PID
}

servers()
{
	(umask 77 && od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n' >"$KEY") || return
	first && second && third
	await grep -q adapters "$A.out" && await grep -q adapters "$B.out" &&
		await grep -q adapters "$C.out" || return
	mkdir "$ALL" && ln -s "$A"/node[01].sock "$B"/node[23].sock "$C"/node[45].sock "$ALL"
}

# Without a key there are no links between machines.
plain()
{
	local end=0

	server 0 "$TAP_TMP/p" --only 0-1 --listen 10.9.0.1:7001
	wait "$PID" || end=$?
	cat "$TAP_TMP/p.log"
	[ $end = 1 ] && grep -q 'other machines need --peer-key' "$TAP_TMP/p.log"
}

work()
{
	VFIO_DIR=$ALL VFIO_PID=$A_PID VFIO_LOG=$A.log timeout 60 "$CLIENT" \
		'work: transfers between machines'
}

# A server drops a connection that is silent for half of the timeout. The cable
# of the second machine stays cut until all servers have dropped its connections.
cut()
{
	on 0 ip link set cable1 down &&
		await grep -q 'connection lost' "$A.log" &&
		await twice "$B.log" 'connection lost' &&
		await grep -q 'connection lost' "$C.log" &&
		on 0 ip link set cable1 up &&
		await grep -q reconnected "$A.log" &&
		await twice "$B.log" reconnected &&
		await grep -q reconnected "$C.log"
}

# twice FILE TEXT: do at least two lines of FILE have TEXT?
twice()
{
	[ "$(grep -c "$2" "$1")" -ge 2 ]
}

# killed NODES PID LOG...: a server is killed; the other servers report that its nodes are gone.
killed()
{
	local nodes=$1 pid=$2 log

	shift 2
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	for log; do
		await grep -q "nodes $nodes are gone" "$log" || return
	done
}

# returns NODES FOLDER FUNCTION LOG...: a killed server starts again; the other servers
# report its nodes for the second time.
returns()
{
	local nodes=$1 dir=$2 start=$3 log

	shift 3
	rm -r "$dir" && "$start"
	await grep -q adapters "$dir.out" || { cat "$dir.log" && return 1; }
	for log; do
		await twice "$log" "has nodes $nodes" || return
	done
}

all_end()
{
	kill "$C_PID" && wait "$C_PID" && kill "$B_PID" && wait "$B_PID" &&
		await grep -q 'nodes 2-3 are gone: it says: this server has ended' "$A.log" &&
		kill "$A_PID" && wait "$A_PID" || return
	cat "$A.log" "$B.log" "$C.log"
	! compgen -G "$A/*" && ! compgen -G "$B/*" && ! compgen -G "$C/*"
}

if ! unshare -n true 2>/dev/null; then
	skip 'servers on several machines' 'unshare -n needs root'
elif ! pkg-config --exists gnutls; then
	skip 'servers on several machines' 'GnuTLS is missing: install libgnutls28-dev'
else
	check 'builds' variant plain tools/vfio
	check 'the client builds' client_build
	check 'three machines with cables' machines
	check 'no links between machines without a key' plain
	check 'three servers, linked by TLS' servers
	check 'a client has cards of all' work
	check 'a cable is cut for a while: the servers connect again' cut
	check 'the client, over the new connections' work
	check 'the third server is killed' killed 4-5 "$C_PID" "$A.log" "$B.log"
	check 'it returns' returns 4-5 "$C" third "$A.log" "$B.log"
	check 'the client, with its new cards' work
	check 'the second server is killed' killed 2-3 "$B_PID" "$A.log" "$C.log"
	check 'it returns, and both others connect' returns 2-3 "$B" second "$A.log" \
		"$C.log"
	check 'the client again' work
	check 'all end' all_end
fi
plan
