#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Captures of angara-vfio: every event and type of packet as shown by
# Wireshark's pcapng reader and the dissector, and angaractl as a client of a
# server.

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
		cc -std=gnu11 -g -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
			-fno-sanitize-recover -D_GNU_SOURCE -pthread \
			-Itools/vfio -Itools/common -Itools/sim -Idriver/model -Iuapi \
			-Ilibangara/env -Ilibangara/include -o "$FRAMES" \
			selftests/capture/frames.c tools/vfio/{trace,pcapng}.c \
			tools/sim/trace_{text,pcapng}.c
}

# shark FILE [ARG]...: runs tshark with the dissector; some versions refuse Lua
# scripts for root.
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

# fields FILTER: prints fields of the only packet that matches FILTER.
fields()
{
	shark "$TAP_TMP/all.pcapng" -Y "$1" -T fields -E separator=, \
		-e frame.interface_name -e angara.version -e angara.port \
		-e angara.vc -e angara.tree -e angara.status -e angara.cause \
		-e angara.npkts -e angara.node -e angara.src -e angara.len \
		-e angara.seq -e angara.cycle
}

# The dissector shows a SEND of an ALLREDUCE, and why an ABORT was dropped.
filters()
{
	{
		fields 'angara.event == 1 && angara.type == 8'
		fields 'angara.event == 6 && angara.type == 10'
	} >"$TAP_TMP/shown"
	diff -u - "$TAP_TMP/shown" <<-'EOF'
		node3,1,8,0,8,2,,9,3,70008,2048,4294967288,1099511628040
		node3,1,10,2,10,,3,11,3,70010,2560,4294967290,1099511629322
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
	# Frames of an unknown version: change the byte after each packet's
	# header.
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

# The simulator's reader gets the records that the server has written.
read_back()
{
	"$FRAMES" "$TAP_TMP/all.pcapng" >"$TAP_TMP/expected" &&
		"$FRAMES" --read "$TAP_TMP/all.pcapng" >"$TAP_TMP/read" &&
		diff -u "$TAP_TMP/expected" "$TAP_TMP/read" &&
		[ "$(wc -l <"$TAP_TMP/read")" -ge 70 ]
}

# unread TEXT PERL: the reader refuses the capture that PERL makes of a good one.
unread()
{
	local status=0

	perl -0777 -pe "$2" "$TAP_TMP/all.pcapng" >"$TAP_TMP/bad.pcapng"
	"$FRAMES" --read "$TAP_TMP/bad.pcapng" >/dev/null 2>"$TAP_TMP/err" || status=$?
	cat "$TAP_TMP/err"
	[ $status = 3 ] && [ "$(wc -l <"$TAP_TMP/err")" = 1 ] && grep -q "$1" "$TAP_TMP/err"
}

# Each length of a truncated capture, and a changed byte at each place of the
# first blocks: the reader ends by itself, under sanitizers.
damaged()
{
	head -c 300 "$TAP_TMP/all.pcapng" >"$TAP_TMP/some.pcapng"
	perl -e 'my ($program, $file) = @ARGV;
		open(my $from, "<:raw", $file) or die;
		read($from, my $all, 1 << 20);
		for my $at (0 .. length($all) - 1) {
			for my $by (0, 1, 0xFF) {
				my $text = $by ? $all : substr($all, 0, $at);
				substr($text, $at, 1) ^= chr($by) if $by;
				open(my $to, ">:raw", "$file.bad") or die;
				print $to $text;
				close($to);
				my $status = system("$program --read $file.bad >$file.out 2>$file.err");
				next if $status == 0 || $status == 3 << 8;
				system("cat $file.err");
				die "byte $at, $by: status $status\n";
			}
		}' "$FRAMES" "$TAP_TMP/some.pcapng"
}

# A replay of a capture gives the events of a replay of the same trace as text.
replayed()
{
	local options=(--torus 2x2x2 --acks yes --gap 0s --format csv)

	sed '/row of node 3/,$d' selftests/model/golden.txt | grep -v '^#' >"$TAP_TMP/text"
	"$FRAMES" --records "$TAP_TMP/golden.pcapng" <"$TAP_TMP/text" &&
		"$BIN/angara-sim" replay --file "$TAP_TMP/text" "${options[@]}" \
			--trace "$TAP_TMP/of-text" >"$TAP_TMP/want" &&
		"$BIN/angara-sim" replay --file "$TAP_TMP/golden.pcapng" "${options[@]}" \
			--trace "$TAP_TMP/of-capture" >"$TAP_TMP/got" &&
		diff "$TAP_TMP/want" "$TAP_TMP/got" &&
		cmp "$TAP_TMP/of-text" "$TAP_TMP/of-capture" &&
		[ "$(wc -l <"$TAP_TMP/of-text")" -gt 400 ]
}

# A capture of a reader that was too slow.
lost_refused()
{
	"$FRAMES" --lost "$TAP_TMP/all.pcapng" && unread 'too slow' ''
}

check 'the programs build' build
check 'the simulator reads what the server writes' read_back
check 'a capture that is cut' unread 'block 121: the file ends' 's/.\z//s'
check 'a capture of a big-endian machine' unread 'block 1: not a section in little' \
	's/\x4D\x3C\x2B\x1A/\x1A\x2B\x3C\x4D/'
check 'a capture of Ethernet' unread 'block 2: an interface of another' 's/\x93\0\0\0/\x01\0\0\0/'
# shellcheck disable=SC2016 # a program in Perl
check 'frames of another version are refused' unread 'another version' \
	's/(\x28\0\0\0\x28\0\0\0)\x01/$1\x07/'
check 'damaged captures' damaged
check 'a replay of a capture' replayed
check 'a capture that misses packets' lost_refused
if ! command -v tshark >/dev/null; then
	skip 'captures as Wireshark shows them' 'tshark is not installed'
else
	check 'every event and type is shown as the model records it' info
	check 'fields can be filtered and shown' filters
	check 'no frame is malformed, and times are of today' malformed
	check 'frames of another version are shown as unknown' short
	check 'a slow reader gets the number of missing frames' lost
fi

DIR=$TAP_TMP/sockets
mkdir "$DIR"
export LD_LIBRARY_PATH=$O/lib

start()
{
	coproc SERVER { exec "$BIN/angara-vfio" --fabric torus:2x2x1 --only 0,1,2 \
		--socket-dir "$DIR" 2>&1; }
	read -r _ <&"${SERVER[0]}"
}

ctl()
{
	"$BIN/angaractl" --server "$DIR" "$@"
}

# says STATUS TEXT COMMAND...: COMMAND ends with STATUS and one line that has
# TEXT.
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

# The fabric has no rows and no contexts, and all counters are 0.
empty()
{
	[ "$(ctl tree | wc -l)" = 1 ] && [ "$(ctl ctx | wc -l)" = 1 ] &&
		[ "$(ctl counters | wc -l)" = 1 ] &&
		[ "$(ctl counters --all | wc -l)" -gt 20 ]
}

# first OBJECT COMMAND ARGUMENT...: COMMAND is the first one of its object, so it need not be named.
first()
{
	local object=$1 command=$2

	shift 2
	ctl "$object" "$command" "$@" >"$TAP_TMP/named" &&
		ctl "$object" "$@" >"$TAP_TMP/unnamed" &&
		diff "$TAP_TMP/named" "$TAP_TMP/unnamed"
}

first_commands()
{
	local fabric

	fabric=$(ctl dev | awk 'NR == 2 { print $4 }')
	first dev list fabric "$fabric" && first link show dev 1 && first ctx show dev 2 &&
		first tree show fabric "$fabric" && says 1 'tree 3 is not set' ctl tree 3 &&
		says 2 'a server sends no management packets' ctl discover dev 1 &&
		says 1 '/none: No such file' ctl discover key "$TAP_TMP/none" &&
		says 2 'no such argument' ctl link 3 &&
		says 2 'no such command' ctl link d 3
}

private()
{
	[ "$(stat -c %a "$DIR/control.sock")" = 600 ]
}

# The server closes the connection on malformed requests and lengths.
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

# refused COMMAND FLAGS ERRNO ATTRIBUTES: the server answers the request with
# ERRNO; ATTRIBUTES is a Perl expression.
refused()
{
	perl -MIO::Socket::UNIX -e '
		my ($path, $cmd, $flags, $errno, $code) = @ARGV;
		my $attrs = eval $code;
		my $s = IO::Socket::UNIX->new($path) or exit 1;
		syswrite $s, pack("VvvVVCCv", 20 + length $attrs, 16, $flags,
			1, 1, $cmd, 1, 0) . $attrs;
		sysread $s, my $answer, 4096;
		my ($type, $error) = (unpack("Vvv", $answer))[1];
		$error = unpack("x16 l", $answer);
		print "# $cmd: type $type, error $error\n";
		exit !($type == 2 && $error == -$errno)' \
		"$DIR/control.sock" "$@"
}

# A server refuses what the driver refuses: attributes that the command does not take, that have the
# wrong length, or that select another kind of object; and commands that change something.
strict()
{
	local dev='pack("vvV", 8, 2, 0)'

	refused 1 1 22 "$dev . pack('vvV', 8, 3, 0)" &&
		refused 1 1 22 "$dev . pack('vvCx3', 5, 5, 0)" &&
		refused 1 1 22 "$dev . pack('vvV', 8, 40, 0)" &&
		refused 1 1 22 "$dev . pack('vvQ', 12, 4, 1)" &&
		refused 2 1 22 "$dev . pack('vvx0', 4, 5)" &&
		refused 2 0x301 22 "pack('vvCx3', 5, 5, 0)" &&
		refused 7 1 22 "$dev . pack('vvCx3', 5, 6, 0)" &&
		refused 3 1 2 "$dev . pack('vvCx3', 5, 5, 200)" &&
		refused 5 1 95 "$dev . pack('vvCx3', 5, 5, 0)" &&
		refused 200 1 95 "$dev" &&
		refused 2 1 1 "$dev . pack('vvCx3vvV', 5, 5, 0, 8, 9, 1)" &&
		refused 2 1 22 "$dev . pack('vvCx3vvV', 5, 5, 0, 8, 9, 4)" &&
		refused 2 0x301 22 "pack('vvV', 8, 9, 0)"
}

answers()
{
	ctl dev >/dev/null 2>&1
}

# More clients than allowed: some connections fail, the others keep working.
many()
{
	perl -MIO::Socket::UNIX -e '
		my @all = map { IO::Socket::UNIX->new($ARGV[0]) } 1 .. 40;
		exit !grep { $_ } @all' "$DIR/control.sock" || return 1
	await answers
}

# With more clients than allowed, the next one is told so.
one_more()
{
	# shellcheck disable=SC2016 # a program in Perl
	says 1 'it is gone, or has 16 clients already' perl -MIO::Socket::UNIX -e '
		my $path = shift;
		my @all = map { IO::Socket::UNIX->new($path) } 1 .. 40;
		exit system(@ARGV) >> 8' "$DIR/control.sock" \
		"$BIN/angaractl" --server "$DIR" dev && await answers
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

# The signal arrives just before the capture waits for packets.
interrupted_late()
{
	cc -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -fPIC -shared \
		-o "$TAP_TMP/late.so" selftests/capture/late.c || return
	LD_PRELOAD=$TAP_TMP/late.so timeout -s KILL 60 "$BIN/angaractl" \
		--server "$DIR" capture "$TAP_TMP/late.pcapng" &&
		[ -s "$TAP_TMP/late.pcapng" ]
}

# interrupted WAIT BYTES: a capture that gets the first block, of 28 bytes, in pieces
# of 7, and is interrupted before a wait, leaves so many bytes. Each piece takes two
# waits.
interrupted()
{
	local file=$TAP_TMP/whole.pcapng

	LD_PRELOAD=$TAP_TMP/late.so WAIT=$1 timeout -s KILL 60 "$BIN/angaractl" \
		--server "$DIR" capture "$file" || return
	wc -c <"$file"
	[ "$(wc -c <"$file")" = "$2" ]
}

whole()
{
	interrupted 6 0 && interrupted 9 28
}

# A signal ends the program while it waits for a reader of the file.
unheard()
{
	local status=0

	mkfifo "$TAP_TMP/unread"
	timeout -s INT -k 20 2 "$BIN/angaractl" --server "$DIR" capture "$TAP_TMP/unread" ||
		status=$?
	echo "status $status"
	[ "$status" = 124 ]
}

stops()
{
	local pid=${SERVER_PID:-}

	"$BIN/angaractl" --server "$DIR" capture "$TAP_TMP/end.pcapng" \
		2>"$TAP_TMP/said" &
	await test -s "$TAP_TMP/end.pcapng"
	kill "$pid" && ! wait $! && grep -q 'ended the capture: it is gone' "$TAP_TMP/said" &&
		wait "$pid" && [ -z "$(ls "$DIR")" ]
}

start
check 'nodes and their use' devices
check 'links' links
check 'an idle fabric has empty tables' empty
check 'the first command need not be named' first_commands
check 'only its user may open the socket' private
check 'no such node' says 1 'angara9: there is no such node' \
	ctl dev show angara9
check 'no change' says 1 'read-only' ctl tree delegate 3 7
check 'no such tree' says 1 'tree 3 is not set' ctl tree show 3
check 'no events' says 2 'monitor prints events of the driver' ctl monitor
check 'a capture needs a server' says 2 '--server DIR' \
	"$BIN/angaractl" capture "$TAP_TMP/none"
check 'garbage' garbage
check 'requests with attributes that a command does not take' strict
check 'too many clients at once' many
check 'one client too many' one_more
check 'a capture ends when it is interrupted' captured
check 'a capture ends when it is interrupted before it waits' interrupted_late
check 'a capture that is interrupted has whole blocks' whole
check 'a capture ends while nobody reads its file' unheard
check 'the server ends, and the capture reports it' stops
check 'no server there' says 1 'no angara-vfio has its sockets there' ctl dev

SERVERS=()

# serve FOLDER OPTION...: starts one more server.
serve()
{
	local dir=$1

	shift
	mkdir -p "$dir"
	setpriv --pdeathsig KILL "$BIN/angara-vfio" --socket-dir "$dir" "$@" \
		>"$dir.out" 2>&1 &
	SERVERS+=($!)
}

unserve()
{
	kill "${SERVERS[@]}" && wait "${SERVERS[@]}"
	SERVERS=()
}

# works FOLDER: its server is ready.
works()
{
	await grep -q 'adapters of fabric' "$1.out" || cat "$1.out"
}

# Links and rows of a switch are objects of the node that keeps it.
switches()
{
	local status

	DIR=$TAP_TMP/kns
	serve "$DIR" --fabric kns:4 && works "$DIR" || return
	ctl -j link show >"$TAP_TMP/links" && ctl link show dev 0 &&
		[ "$(grep -c '"router": 4' "$TAP_TMP/links")" = 4 ] &&
		[ "$(ctl link show dev 0 | grep -c '^angara0 *4  [0-3] ')" = 4 ] &&
		[ "$(ctl link show dev 1 | grep -c '^angara1 *4 ')" = 0 ] &&
		ctl counters --all | grep -q ' switch-link  *3 ' &&
		ctl dev list | grep -q ' kns:4 '
	status=$?
	unserve
	return $status
}

# Descriptions that are almost, or just, as long as drivers read.
long_description()
{
	local graph=$TAP_TMP/long status=0 length

	for length in 4030 4060 4090 4095; do
		DIR=$TAP_TMP/long-$length
		printf '%s\n' 'graph g' 'node a' 'node b' 'a:0 b:0' >"$graph"
		printf '#%*s\n' $((length - $(wc -c <"$graph") - 2)) '' >>"$graph"
		serve "$DIR" --fabric "file:$graph" && works "$DIR" || return
		wc -c <"$graph"
		ctl dev list && ctl dev list | grep -q '^angara1 *1 .* graph g ' &&
			says 1 'tree 0 is not set in fabric' ctl tree show 0 || status=1
		unserve
	done
	return $status
}

# Two servers with half of a fabric each; node 0, on the other server, keeps the
# switch.
keeper_apart()
{
	local port=$((20000 + $$ % 20000)) status=0

	DIR=$TAP_TMP/here
	serve "$DIR" --fabric kns:4 --only 2,3 --listen "$port"
	serve "$TAP_TMP/there" --fabric kns:4 --only 0,1 --peer "$port"
	works "$DIR" &&
		says 1 'switch 4 of fabric' ctl tree create 3 root 2 nodes 2,3 &&
		grep -q 'programmed by node 0, which has no device on this machine' \
			"$TAP_TMP/said" &&
		says 1 'node 0 of fabric' ctl tree create 3 root 2 &&
		[ "$(ctl link show | grep -c '^angara')" = 2 ] || status=1
	unserve
	return $status
}

# hostile KIND STATUS TEXT ARGUMENT...: angaractl, with sanitizers, asks a server that breaks the
# rules of messages as KIND says. It ends with STATUS, and prints a line that is TEXT.
hostile()
{
	local kind=$1 want=$2 text=$3 status=0 server

	shift 3
	DIR=$TAP_TMP/hostile-$kind
	mkdir "$DIR"
	begin "$DIR.out" setpriv --pdeathsig KILL selftests/capture/hostile \
		"$DIR/control.sock" "$kind" || return
	server=$!
	LD_LIBRARY_PATH=$VARIANTS/asan/lib ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99 \
		timeout 60 "$VARIANTS/asan/bin/angaractl" --server "$DIR" "$@" \
		>"$TAP_TMP/shown" 2>&1 || status=$?
	kill "$server"
	echo "status $status, expected $want and '$text'; shown:"
	cat "$TAP_TMP/shown"
	[ "$status" = "$want" ] && tr -s ' ' <"$TAP_TMP/shown" | grep -qxF -- "$text"
}

check 'switches are objects of their keepers' switches
check 'a description as long as drivers read' long_description
check 'a tree with a switch that cannot be programmed from here' keeper_apart
check 'angaractl builds with sanitizers' variant asan libangara tools:bin/angaractl
check 'numbers of a server that have too few bytes' hostile short 0 \
	'angara0 - - - - - - -' dev
check 'texts of a server that do not end' hostile text 0 \
	'angara0 0 0,0,0 0x1 torus:2x2x22 endless. - -' dev
check 'an error that repeats 4 GiB' hostile repeated 1 'angaractl: Invalid argument' dev
check 'the text of an error that does not end' hostile reason 1 \
	'angaractl: no reason at all' dev
check 'the error of an attribute' hostile named 1 'angaractl: angara0: dev: gone' dev show 0
check 'a text that changes a terminal' hostile control 0 'angara0 0 0 0x1 torus:2 ?[2Jred? - -' dev
check 'an error that changes a terminal' hostile controls 1 'angaractl: ?]0;title??line' dev
check 'an error whose number is none' hostile number 1 'angaractl: Protocol error' dev
check 'two rows of one router' hostile twice 0 \
	'tree 3: 1 node, 0 of 0 participants joined, partition none, epoch 0' tree show 3
check 'an object of another command' hostile other 0 ' 0 0 1 1 0 1 1' tree plan
plan
