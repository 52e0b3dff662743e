#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Observes the driver by debugfs files and tracepoints while a process sets up
# and joins tree 15, which must be free. Output in KTAP.

set -u

KSFT_SKIP=4
COUNT=0
BAD=0
TMP=$(mktemp -d)
DEBUG=/sys/kernel/debug/angara
TRACE=/sys/kernel/tracing
LIST="doorbell completion tree packet"

cleanup()
{
	[ ! -d $TRACE/events/angara ] || echo 0 >$TRACE/events/angara/enable
	rm -rf "$TMP"
}
trap cleanup EXIT

skip_all()
{
	echo "1..0 # SKIP $1"
	exit "$KSFT_SKIP"
}

ok()
{
	COUNT=$((COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $COUNT $2"
	else
		BAD=$((BAD + 1))
		head -n 20 "$TMP/out" | sed 's/^/# /'
		echo "not ok $COUNT $2"
	fi
}

# has FILE PATTERN NAME: the file has a line that matches PATTERN.
has()
{
	cat "$1" >"$TMP/out" 2>&1
	grep -qE -- "$2" "$TMP/out"
	ok $? "$3"
}

# A context joins tree 15 and leaves it. Numbers are those of <linux/angara.h>.
work()
{
	perl -e '
		use strict;
		my ($path) = @ARGV;
		open(my $dev, "+<", $path) or die "$path: $!\n";
		my $domain = pack("V4Q3", 40, (0) x 6);
		ioctl($dev, 0xE401, $domain) or die "DOMAIN_CREATE: $!\n";
		my $ctx = pack("V6Q5V2Q", 80, 0, 8, 8, (0) x 10);
		ioctl($dev, 0xE402, $ctx) or die "CTX_CREATE: $!\n";
		my $fd = unpack("x16l", $ctx);
		open(my $file, "+<&=", $fd) or die "context: $!\n";
		my $join = pack("V4", 16, 0, 15, 0);
		ioctl($file, 0xE410, $join) or die "JOIN: $!\n";
		my $leave = pack("V4", 16, 0, 15, 0);
		ioctl($file, 0xE411, $leave) or die "LEAVE: $!\n";
	' "$1"
}

debugfs()
{
	local dir=$DEBUG/$dev

	has "$dir/registers" '^000 magic +52474e41$' 'debugfs shows registers'
	has "$dir/trees" '^ +15 +1 +1 +255 ' 'debugfs shows a row'
	has "$dir/contexts" '^ctx pkey ' 'debugfs shows contexts'
	has "$dir/counters" '^node 0 cycles [0-9]+$' 'debugfs shows counters'
	has "$dir/counters" '^tree 15 up_credits [0-9]+$' \
		'debugfs shows counters of a tree'
	! setpriv --reuid 65534 --clear-groups cat "$dir/registers" \
		>"$TMP/out" 2>&1
	ok $? 'debugfs is not for users'
}

# Checks that the trace has the expected events with their fields.
expected()
{
	local name

	for name in $LIST; do
		printf '%s|%s\n' " angara_$name: (dev|fabric)=" \
			"tracepoint angara_$name"
	done
	for name in set join leave clear; do
		printf '%s|%s\n' \
			" angara_tree: dev=$dev node=$node tree=15 $name " \
			"angara_tree shows $name"
	done
	case $LIST in
	*packet*)
		printf '%s|%s\n' \
			'angara_packet: .* inject (bcast|put) port=-1 ' \
			'angara_packet shows event, type and port' ;;
	esac
}

# Have all expected events arrived?
traced()
{
	local line

	cp $TRACE/trace "$TMP/trace"
	while IFS= read -r line; do
		grep -qE -- "${line%|*}" "$TMP/trace" || return
	done <"$TMP/expected"
}

trace()
{
	local line tries

	echo >$TRACE/trace
	echo 1 >$TRACE/events/angara/enable
	angaractl tree create 15 root "$node" nodes "$node" >"$TMP/out" 2>&1
	ok $? 'a tree of one node'
	debugfs
	work "/dev/$dev" >"$TMP/out" 2>&1
	ok $? 'a process joins and leaves'
	if command -v angara-run >/dev/null &&
		command -v angara-collops >/dev/null; then
		timeout 120 angara-run -n 2 angara-collops --iters 1 \
			>"$TMP/out" 2>&1
		ok $? 'traffic'
	else
		ok 0 'traffic # SKIP no angara-run or angara-collops'
		LIST=tree
	fi
	angaractl tree delete 15 >"$TMP/out" 2>&1
	# A worker delivers the device's events, so wait.
	expected >"$TMP/expected"
	for ((tries = 0; tries < 600; tries++)); do
		traced && break
		sleep 0.1
	done
	echo 0 >$TRACE/events/angara/enable
	cp $TRACE/trace "$TMP/trace"
	while IFS= read -r line; do
		has "$TMP/trace" "${line%|*}" "${line##*|}"
	done <"$TMP/expected"
}

[ "$(id -u)" = 0 ] || skip_all 'needs root'
command -v angaractl >/dev/null || skip_all 'no angaractl in PATH'
command -v perl >/dev/null || skip_all 'no perl'
angaractl dev list >"$TMP/devs" 2>/dev/null || skip_all 'the driver is not loaded'
dev=$(awk '$2 == 0 { print $1; exit }' "$TMP/devs")
node=0
[ "$(grep -c ' loop ' "$TMP/devs")" -ge 2 ] || skip_all 'no loopback'
[ -d $DEBUG ] || skip_all 'debugfs is not mounted'
[ -d $TRACE/events/angara ] || skip_all 'tracefs is not mounted'
! angaractl tree show | grep -qE '^ *15 ' || skip_all 'tree 15 is set'

echo 'KTAP version 1'
trace
echo "1..$COUNT"
[ "$BAD" = 0 ]
