#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Captures of angara-vfio: every event and type of packet as Wireshark's own
# reader and the dissector show it, and an angaractl that asks a server.

set -u
. selftests/tap.sh
. selftests/variant.sh

O=$VARIANTS/plain
BIN=$O/bin
LUA=tools/vfio/angara.lua
FRAMES=$TAP_TMP/frames

build()
{
	variant plain libangara tools &&
		cc -std=gnu11 -g -Wall -Wextra -fsanitize=address,undefined \
			-fno-sanitize-recover -D_GNU_SOURCE -pthread \
			-Itools/vfio -Itools/sim -Idriver/model -Iuapi \
			-Ilibangara/env -Ilibangara/include -o "$FRAMES" \
			selftests/capture/frames.c tools/vfio/{trace,pcapng}.c \
			tools/sim/trace_text.c libangara/topo/topo.c \
			driver/model/ang_topo.c
}

# shark FILE [ARG]...: Lua scripts do not run for root everywhere.
shark()
{
	local file=$1

	shift
	tshark -X "lua_script:$LUA" -r "$file" "$@" 2>"$TAP_TMP/shark.err"
}

info()
{
	"$FRAMES" "$TAP_TMP/all.pcapng" >"$TAP_TMP/expected" &&
		shark "$TAP_TMP/all.pcapng" -T fields -e _ws.col.Info \
			>"$TAP_TMP/shown" &&
		diff -u "$TAP_TMP/expected" "$TAP_TMP/shown" &&
		[ "$(wc -l <"$TAP_TMP/shown")" -ge 70 ]
}

# fields FILTER: the fields of the only packet that it lets through.
fields()
{
	shark "$TAP_TMP/all.pcapng" -Y "$1" -T fields -E separator=, \
		-e frame.interface_name -e angara.version -e angara.dir \
		-e angara.vc -e angara.tree -e angara.status -e angara.cause \
		-e angara.npkts -e angara.node -e angara.src -e angara.len \
		-e angara.seq -e angara.cycle
}

# A SEND of an ALLREDUCE, and what a dropped ABORT was dropped for.
filters()
{
	{
		fields 'angara.event == 1 && angara.type == 8'
		fields 'angara.event == 6 && angara.type == 10'
	} >"$TAP_TMP/shown"
	diff -u - "$TAP_TMP/shown" <<-'EOF'
		node3,1,0,0,8,2,,9,3,70008,2048,4294967288,1099511628040
		node3,1,2,2,10,,3,11,3,70010,2560,4294967290,1099511629322
	EOF
}

malformed()
{
	! shark "$TAP_TMP/all.pcapng" -Y angara.malformed | grep -q . &&
		shark "$TAP_TMP/all.pcapng" -Y 'frame.time_epoch > 1700000000' |
		grep -q ANGARA
}

short()
{
	# Frames of an unknown version: the byte behind each packet's head.
	perl -0777 -pe 's/(\x28\0\0\0\x28\0\0\0)\x01/$1\x07/g' \
		"$TAP_TMP/all.pcapng" >"$TAP_TMP/other.pcapng"
	[ "$(shark "$TAP_TMP/other.pcapng" -Y angara.malformed | wc -l)" = \
		"$(wc -l <"$TAP_TMP/expected")" ]
}

lost()
{
	"$FRAMES" --lost "$TAP_TMP/lost.pcapng" &&
		[ "$(shark "$TAP_TMP/lost.pcapng" | wc -l)" = \
			$((16384 - 10 + 1)) ] &&
		capinfos -M "$TAP_TMP/lost.pcapng" >"$TAP_TMP/infos" &&
		perl -0777 -ne 'exit !/\x04\0\x08\0\x07\0{7}/' \
			"$TAP_TMP/lost.pcapng"
}

check 'the programs build' build
if ! command -v tshark >/dev/null; then
	skip 'captures as Wireshark shows them' 'tshark is not installed'
else
	check 'every event and type is shown as the model tells of it' info
	check 'fields can be asked for and shown' filters
	check 'no frame is malformed, and times are of today' malformed
	check 'frames of another version are said to be unknown' short
	check 'who reads too slowly is told how much is missing' lost
fi

DIR=$TAP_TMP/sockets
mkdir "$DIR"
export LD_LIBRARY_PATH=$O/lib

start()
{
	coproc SERVER { exec "$BIN/angara-vfio" --dims 2x2x1 --only 0,1,2 \
		--socket-dir "$DIR" 2>&1; }
	read -r _ <&"${SERVER[0]}"
}

ctl()
{
	"$BIN/angaractl" --server "$DIR" "$@"
}

# says STATUS TEXT COMMAND...: ends so, with one line that has TEXT.
says()
{
	local want=$1 text=$2 status=0

	shift 2
	"$@" >"$TAP_TMP/out" 2>"$TAP_TMP/said" || status=$?
	echo "status $status, expected $want and '$text'; said:"
	cat "$TAP_TMP/said"
	[ "$status" = "$want" ] && [ "$(wc -l <"$TAP_TMP/said")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/said"
}

devices()
{
	ctl dev >"$TAP_TMP/devs" && cat "$TAP_TMP/devs" &&
		[ "$(grep -c free "$TAP_TMP/devs")" = 3 ] &&
		grep -q '^angara3 *3  1,1,0 .* router ' "$TAP_TMP/devs" &&
		ctl -j dev show angara2 | grep -q '"node": 2'
}

links()
{
	[ "$(ctl link show | wc -l)" = $((1 + 4 * 4)) ] &&
		ctl link show dev angara1 | grep -q '^angara1 *1  Y-  *3 '
}

# What is not there: no rows, no contexts, nothing counted.
empty()
{
	[ "$(ctl tree | wc -l)" = 1 ] && [ "$(ctl ctx | wc -l)" = 1 ] &&
		[ "$(ctl counters | wc -l)" = 1 ] &&
		[ "$(ctl counters --all | wc -l)" -gt 20 ]
}

private()
{
	[ "$(stat -c %a "$DIR/control.sock")" = 600 ]
}

# Bytes that are no request, and a length that is none: the server hangs up.
garbage()
{
	perl -MIO::Socket::UNIX -e '
		for my $bytes ("\xff" x 64, pack("VvvVV", 8, 16, 1, 1, 1),
			pack("VvvVVCCv", 20, 99, 1, 1, 1, 1, 1, 0)) {
			my $s = IO::Socket::UNIX->new($ARGV[0]) or exit 1;
			syswrite $s, $bytes;
			shutdown $s, 1;
			local $/;
			my $answer = <$s>;
		}' "$DIR/control.sock" && ctl dev >/dev/null
}

answers()
{
	ctl dev >/dev/null 2>&1
}

# More at once than there may be: some are turned away, none harms the others.
many()
{
	perl -MIO::Socket::UNIX -e '
		my @all = map { IO::Socket::UNIX->new($ARGV[0]) } 1 .. 40;
		exit !grep { $_ } @all' "$DIR/control.sock" || return 1
	await answers
}

captured()
{
	timeout -s INT 20 "$BIN/angaractl" --server "$DIR" capture \
		"$TAP_TMP/live.pcapng" &
	local pid=$!

	await test -s "$TAP_TMP/live.pcapng"
	kill -INT "$(pgrep -P "$pid")"
	wait "$pid" && capinfos "$TAP_TMP/live.pcapng"
}

stops()
{
	local pid=${SERVER_PID:-}

	"$BIN/angaractl" --server "$DIR" capture "$TAP_TMP/end.pcapng" \
		2>"$TAP_TMP/said" &
	await test -s "$TAP_TMP/end.pcapng"
	kill "$pid" && ! wait $! && grep -q 'the server is gone' "$TAP_TMP/said" &&
		wait "$pid" && [ -z "$(ls "$DIR")" ]
}

start
check 'nodes, and what they are there for' devices
check 'links' links
check 'nothing where nothing is' empty
check 'the socket is for its user alone' private
check 'no such node' says 1 'angara9: there is no such node' \
	ctl dev show angara9
check 'no change' says 1 'only shows' ctl tree delegate 3 7
check 'no such tree' says 1 'tree 3 is not set' ctl tree show 3
check 'no events' says 2 'monitor is for a kernel' ctl monitor
check 'a capture needs a server' says 2 '--server DIR' \
	"$BIN/angaractl" capture "$TAP_TMP/none"
check 'garbage' garbage
check 'too many at once' many
check 'a capture ends when it is interrupted' captured
check 'the server ends, and says so to who captures' stops
check 'no server there' says 1 'no angara-vfio has its sockets there' ctl dev
plan
