#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# angaractl(8) on a loopback of 2x2x2: the output of every command as a table and as
# JSON, the drawing of a tree, repairs, events, permissions, and bad input, for which
# it prints one line and changes nothing. Output in KTAP.
#
# Works on trees 14 and 15, which must be free.  At the end, makes and deletes a
# fabric with switches.

# shellcheck disable=SC2015,SC2016 # Perl's variables; an intended ||

set -u

KSFT_SKIP=4
COUNT=0
BAD=0
DIR=${ANGARA_TEST_DIR:-$(dirname "$0")}
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

skip_all()
{
	echo "1..0 # SKIP $1"
	exit "$KSFT_SKIP"
}

# ok STATUS NAME: prints a result; $TMP/why has the error.
ok()
{
	COUNT=$((COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $COUNT $2"
	else
		BAD=$((BAD + 1))
		head -n 20 "$TMP/why" | sed 's/^/# /'
		echo "not ok $COUNT $2"
	fi
	: >"$TMP/why"
}

# ctl ARG...: runs angaractl; output in $TMP/out, errors in $TMP/err.
ctl()
{
	timeout 120 angaractl "$@" >"$TMP/out" 2>"$TMP/err"
}

as_user()
{
	timeout 120 setpriv --reuid "$1" --regid "$1" --clear-groups \
		--bounding-set -all --inh-caps -all \
		angaractl "${@:2}" >"$TMP/out" 2>"$TMP/err"
}

why()
{
	{
		echo "$@"
		cat "$TMP/out" "$TMP/err"
	} >"$TMP/why"
	return 1
}

# works NAME PATTERN ARG...: angaractl succeeds and prints PATTERN.
works()
{
	local name=$1 pattern=$2 status=0

	shift 2
	ctl "$@" || status=1
	grep -qE -- "$pattern" "$TMP/out" || status=1
	[ ! -s "$TMP/err" ] || status=1
	[ "$status" = 0 ] || why "wanted: $pattern"
	ok "$status" "$name"
}

# json NAME EXPRESSION ARG...: the output is JSON for which the Perl EXPRESSION
# of $_ is true.
json()
{
	local name=$1 expression=$2 status=0

	shift 2
	ctl -j "$@" || status=1
	perl -MJSON::PP -e '
		local $/; $_ = decode_json(<STDIN>); exit !('"$expression"')
	' <"$TMP/out" 2>>"$TMP/err" || status=1
	[ "$status" = 0 ] || why "wanted: $expression"
	ok "$status" "$name"
}

state()
{
	angaractl -j tree show
}

# judge_refusal STATUS PATTERN: is the output in $TMP one line of error?
judge_refusal()
{
	[ "$3" = "$1" ] || { why "exit status $3, not $1"; return; }
	[ ! -s "$TMP/out" ] || { why "it writes to standard output"; return; }
	[ "$(wc -l <"$TMP/err")" = 1 ] || { why "not one line"; return; }
	grep -qE -- "$2" "$TMP/err" || { why "wanted: $2"; return; }
	[ "$(state)" = "$BEFORE" ] || why "something has changed"
}

# refused STATUS PATTERN ARG...: angaractl reports an error and changes nothing.
refused()
{
	local want=$1 pattern=$2 status=0

	shift 2
	BEFORE=$(state)
	ctl "$@" || status=$?
	judge_refusal "$want" "$pattern" "$status"
	ok $? "refused: $*"
}

require()
{
	[ "$(id -u)" = 0 ] || skip_all 'needs root'
	command -v angaractl >/dev/null || skip_all 'no angaractl in PATH'
	perl -MJSON::PP -e 1 2>/dev/null || skip_all 'no perl with JSON::PP'
	ctl dev list || skip_all 'the driver is not loaded'
	[ "$(grep -c ' torus:2x2x2 .*loop' "$TMP/out")" = 8 ] ||
		skip_all 'no loopback with torus:2x2x2, or several'
	ctl tree show
	! grep -qE '^ *1[45] ' "$TMP/out" || skip_all 'trees 14 or 15 are set'
	first=$(angaractl -j dev list | sed -n 's/.*"dev": "angara\(.*\)",/\1/p' |
		head -n 1)
}

devices_and_links()
{
	local object

	for object in dev link tree ctx counters monitor top; do
		works "$object -h" "angaractl $object" "$object" -h
	done
	works 'version' '^angaractl [0-9.]+' -V
	works 'dev list' '^DEV +NODE +COORD' dev list
	works 'the first command is the default' '^DEV +NODE +COORD' dev
	works 'words can be shortened' '^DEV +NODE +COORD' de l
	json 'dev list -j' '@$_ == 8 && $_->[7]{nodes} == 8 &&
		"@{$_->[5]{coord}}" eq "1 0 1" && "@{$_->[5]{dims}}" eq "2 2 2" &&
		$_->[5]{topology} eq "torus:2x2x2"' dev list
	works 'dev show' '^coordinates +0,0,0$' dev show "angara$first"
	works 'dev show N' '^coordinates +0,0,0$' dev show "$first"
	works 'dev show /dev/angaraN' '^coordinates +0,0,0$' \
		dev show "/dev/angara$first"
	json 'dev show -j' '$_->{node} == 0 && exists $_->{counters}{hops}' \
		dev show "$first"
	works 'link show' '^DEV +ROUTER +PORT +TO' link show
	json 'link show -j' '@$_ == 48' link show
	json 'link show dev -j' '@$_ == 6 && $_->[4]{name} eq "Z+" &&
		$_->[4]{port} == 4 && $_->[4]{router} == 0 &&
		$_->[4]{neighbor} == 4 && $_->[4]{neighbor_port} == 5' \
		link show dev "$first"
	json 'ctx show -j' 'ref $_ eq "ARRAY"' ctx show
	works 'ctx show' '^DEV +NODE +CTX' ctx show
	json 'counters -j' 'ref $_ eq "ARRAY"' counters
	json 'counters of one device' '@$_ == 7 &&
		exists $_->[0]{counters}{drops_stale}' \
		counters node link dev "$first" --all
	works 'counters' 'drops_no_tree +[0-9]+$' counters node --all
}

drawing()
{
	sed 's/^ *//' <<'END'
	fabric X, torus:2x2x2
	0 (0,0,0) root pe 1, 0 joined, up
	├── X+ 1 (1,0,0) pe 1, 0 joined, up
	│   ├── Y+ 3 (1,1,0) pe 1, 0 joined, up
	│   │   └── Z+ 7 (1,1,1) pe 1, 0 joined, up
	│   └── Z+ 5 (1,0,1) pe 1, 0 joined, up
	├── Y+ 2 (0,1,0) pe 1, 0 joined, up
	│   └── Z+ 6 (0,1,1) pe 1, 0 joined, up
	└── Z+ 4 (0,0,1) pe 1, 0 joined, up
END
}

draws()
{
	ctl tree show 14 || why
	sed -n 's/ 0x[0-9a-f]*/ X/; 2,$p' "$TMP/out" >"$TMP/drawn"
	drawing | tr -d '\t' | diff - "$TMP/drawn" >"$TMP/why"
	ok $? 'tree show draws the tree'
}

trees()
{
	works 'tree create' '^tree 14: 8 nodes .* 8 participants$' \
		tree create 14 root 0
	works 'tree show lists it' '^ *14 +0x[0-9a-f]+ +0 +8 +0 +8 +0 +uid:0' \
		tree show
	draws
	works 'tree show --dot' 'n1 -> n3 .label="Y\+"' tree show 14 --dot
	works 'tree check' 'tree 14 is valid: 8 nodes, root 0' tree check 14
	json 'tree create -j' '$_->{nodes} == 4 && $_->{pe} == 4 &&
		$_->{root} == 3' \
		tree create 15 root 1,1,0 nodes 0,7 pe 2 pkey uid:12345
	works 'a node on the way is transit' \
		'X\+ 2 \(0,1,0\) transit, up' tree show 15
	json 'tree show -j' '$_->{root} == 3 && @{$_->{rows}} == 4 &&
		$_->{switches} == 0 && $_->{rows}[0]{router} == 0 &&
		$_->{rows}[0]{to_root} == 3 && "@{$_->{rows}[2]{ports}}" eq "0 4" &&
		!defined $_->{rows}[2]{to_root} &&
		$_->{rows}[0]{pkey} == 0x80000000 + 12345' tree show 15
	json 'tree check -j' '$_->{valid} && $_->{nodes} == 4' tree check 15
	works 'tree delegate' 'delegated to uid:12345 on 8 nodes' \
		tree delegate 15 uid:12345
	works 'tree show lists it' 'uid:12345 .*uid:12345$' tree show
	json 'tree delegate to a partition' '$_->{delegated} == 7' \
		tree delegate 15 pkey 7
	works 'tree delegate none' 'delegated to none' tree delegate 15 none
	works 'counters of trees' ' tree +14 +up_credits +[0-9]+$' counters tree
}

# There are two cables between neighbours: two trees from node 0 fit, but not
# while tree 14 is set.
plans()
{
	works 'tree plan' '^TREE +ROOT +DEPTH +LINKS' tree plan
	json 'tree plan -j' '@{$_->{rows}} == 16 && $_->{costs}[0]{depth} == 3 &&
		$_->{costs}[0]{load} == 1 && $_->{times}[1]{"allreduce us"} > 1' \
		tree plan root 0 trees 2 bytes 65536 --fabric torus:2x2x2
	json 'tree plan -j counts trees that are set' '@{$_->{rows}} == 16 &&
		$_->{costs}[0]{load} == 2' tree plan root 0 trees 2
	json 'tree plan of a fabric with switches' '@{$_->{rows}} == 40 &&
		$_->{costs}[0]{load} == 1' tree plan --fabric mkns:8x4
	refused 2 'depth or load' tree plan goal best
	refused 1 'no fabric 0x1' tree plan fabric 0x1
}

# in_state STATE: waits until a row of tree 14 is in that state.
in_state()
{
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		ctl -j tree show 14 && grep -q "\"state\": *\"$1\"" "$TMP/out" && return
		sleep 0.1
	done
	why "no row of tree 14 is $1"
	return 1
}

# all_links NODE down|up: takes the six links of a node down or up.
all_links()
{
	local port status=0

	for port in X+ X- Y+ Y- Z+ Z-; do
		ctl link set "$1" "$port" "$2" || status=1
	done
	[ "$status" = 0 ] || why "the links of node $1 are not $2"
	return "$status"
}

# Trees around links and nodes that are down. Tree 14 is as before at the end.
repairs()
{
	refused 1 'tree 14 is up' tree repair 14
	refused 1 'is not set' tree repair 13
	ctl link set 0 X+ down && in_state down || why 'the link is not down'
	ok $? 'a tree goes down with its link'
	works 'tree repair' '^tree 14: 8 nodes .* root 0, 8 participants$' \
		tree repair 14
	works 'the tree is valid' 'tree 14 is valid: 8 nodes, root 0' tree check 14
	json 'its rows are up, and avoid the link' '@{$_->{rows}} == 8 &&
		!(grep { $_->{state} ne "up" } @{$_->{rows}}) &&
		"@{$_->{rows}[0]{ports}}" eq "1 2 4"' tree show 14
	json 'a new tree avoids it' '$_->{nodes} == 8' tree create 13 root 1
	works 'the new tree uses the other cable' ' X\+ 0 ' tree show 13
	json 'a plan avoids it' '!(grep { $_->{router} eq "0 (0,0,0)" &&
		$_->{down} =~ /\b0\b/ } @{$_->{rows}})' tree plan root 0
	works 'tree delete' '13: 8 rows' tree delete 13
	all_links 5 down && in_state down
	ok $? 'a node is cut off'
	refused 1 'no tree over all of them exists' tree repair 14
	refused 1 'cut off a participant' tree create 13 root 0
	refused 1 'separate participants' tree plan
	json 'a tree over the other nodes' '$_->{nodes} == 7 && $_->{pe} == 7' \
		tree create 13 root 0 nodes 0-4,6-7
	works 'the tree over the other nodes is valid' \
		'tree 13 is valid: 7 nodes, root 0' tree check 13
	works 'tree delete deletes it' '13: 7 rows' tree delete 13
	all_links 5 up && ctl link set 0 X+ up || why 'a link is not up'
	ok $? 'the links are up again'
	works 'tree repair restores the first tree' '8 participants$' tree repair 14
	draws
}

# Runs a program whose processes send messages to each other, without trees.
by_messages()
{
	if ! command -v angara-spmv >/dev/null; then
		echo "ok $((++COUNT)) messages take the routes # SKIP no angara-spmv in PATH"
		return
	fi
	timeout 120 angara-run -n 8 angara-spmv --n 403 --iters 3 --check --p2p \
		>"$TMP/out" 2>"$TMP/err" || why 'messages do not arrive'
	ok $? 'messages take the routes'
}

# Leads routes around links that are down. Tree 14 is as before at the end.
routes()
{
	works 'route plan without a failure' '^no link is down$' route
	ctl link set 0 X+ down || why 'the link is not down'
	works 'route plan shows the routes' \
		'^1 link is down: the routes can avoid it, [0-9]+ entries of tables change$' route plan
	works 'route repair' '^1 link is down: the routes avoid it, ' route repair
	by_messages
	all_links 5 down || why 'the links are not down'
	ctl route repair && grep -q '^7 links are down: the routes avoid them' "$TMP/out" &&
		grep -q '14 pairs of nodes have no route' "$TMP/err" || why
	ok $? 'route repair names nodes without a route'
	all_links 5 up && ctl link set 0 X+ up || why 'a link is not up'
	works 'route restore' '^the routes are those of the topology$' route restore
	works 'route repair without a failure' '^no link is down: the routes are' route repair
	as_user 54321 route restore
	[ $? = 1 ] && grep -q 'Operation not permitted\|CAP_NET_ADMIN\|Permission denied' "$TMP/err" || why
	ok $? 'route restore needs the right'
	works 'tree repair after the links' '8 participants$' tree repair 14
}

# Creates tree 13 by management packets from one device, while tree 14 is up.
in_band()
{
	local how=(tree create 13 --in-band root 5 dev "$first")
	local at=(13 --in-band dev "$first")

	works 'tree create --in-band' '^tree 13: 8 nodes .* root 5, 8 participants$' "${how[@]}"
	works 'tree check --in-band' 'tree 13 is valid: 8 nodes, root 5' tree check "${at[@]}"
	json 'tree show --in-band -j' '$_->{root} == 5 && @{$_->{rows}} == 8 &&
		!(grep { $_->{state} ne "up" || $_->{pkey} != 0x80000000 }
			@{$_->{rows}})' tree show "${at[@]}"
	works 'tree show --in-band draws' '^5 \(1,0,1\) root pe 1, 0 joined, up$' \
		tree show "${at[@]}"
	refused 1 'tree delete 13 --in-band' "${how[@]}"
	refused 1 'tree 13' tree create 13 root 0
	ctl tree show "${at[@]}" && [ "$(grep -c ', up$' "$TMP/out")" = 8 ] || why
	ok $? 'the driver does not change its rows'
	works 'tree delete --in-band' '^tree 13: 8 rows cleared$' tree delete "${at[@]}"
	refused 1 'is not set' tree delete "${at[@]}"
	ctl link set 5 X+ down || why 'the link is not down'
	json 'tree create --in-band avoids a link' '$_->{nodes} == 8' "${how[@]}"
	json 'its rows avoid it' '"@{$_->{rows}[5]{ports}}" !~ /\b0\b/ &&
		!(grep { $_->{state} ne "up" } @{$_->{rows}})' tree show "${at[@]}"
	works 'tree delete deletes it' '13: 8 rows' tree delete "${at[@]}"
	all_links 6 down && in_state down || why 'the links are not down'
	refused 1 'at node 6: it does not answer, or links' "${how[@]}"
	json 'tree create --in-band over the other nodes' '$_->{nodes} == 7' \
		tree create 13 --in-band root 0 dev "$first" nodes 0-5,7
	ctl tree delete "${at[@]}" && grep -q '13: 7 rows' "$TMP/out" &&
		grep -q '1 of 8 routers' "$TMP/err" || why
	ok $? 'tree delete --in-band names what it could not ask'
	all_links 6 up && ctl link set 5 X+ up || why 'a link is not up'
	ok $? 'the links are up'
	works 'tree repair restores tree 14' '8 participants$' tree repair 14
	as_user 54321 tree create 13 --in-band root 0 dev "$first"
	[ $? = 1 ] && grep -q 'CAP_NET_ADMIN\|Permission denied' "$TMP/err" || why
	ok $? 'tree create --in-band needs the right'
}

users()
{
	local status=0

	as_user 54321 dev list && [ "$(wc -l <"$TMP/out")" = 9 ] ||
		{ why; status=1; }
	ok "$status" 'a user sees the devices'
	status=0
	as_user 54321 tree show && [ "$(wc -l <"$TMP/out")" = 1 ] ||
		{ why; status=1; }
	ok "$status" 'a user does not see trees of others'
	status=0
	as_user 12345 tree show && grep -q '^ *15 ' "$TMP/out" &&
		! grep -q '^ *14 ' "$TMP/out" || { why; status=1; }
	ok "$status" 'a user sees trees of their own partition'
	status=0
	as_user 12345 tree check 15 || { why; status=1; }
	ok "$status" 'a user can check them'
	denied 'tree show 14' 'belongs to another partition' tree show 14
	denied 'tree create' 'CAP_NET_ADMIN' tree create 13 root 0
	denied 'tree delete' 'CAP_NET_ADMIN' tree delete 15
	denied 'tree delegate' 'CAP_NET_ADMIN' tree delegate 15 uid:12345
	denied 'tree repair' 'belongs to another partition' tree repair 14
}

# denied NAME PATTERN ARG...: as refused, for an unprivileged user.
denied()
{
	local name=$1 pattern=$2 status=0

	shift 2
	BEFORE=$(state)
	as_user 12345 "$@" || status=$?
	judge_refusal 1 "$pattern" "$status"
	ok $? "a user is refused: $name"
}

# in_context COMMAND...: runs COMMAND while a context with one memory region is
# open on the first device.
in_context()
{
	perl -e '
		use strict;
		my ($path, @command) = @ARGV;
		my $memory = "x" x 100;
		open(my $dev, "+<", $path) or die "$path: $!\n";
		my $domain = pack("V4Q3", 40, (0) x 6);
		ioctl($dev, 0xE401, $domain) or die "DOMAIN_CREATE: $!\n";
		my $ctx = pack("V6Q5V2Q", 80, 0, 8, 8, (0) x 10);
		ioctl($dev, 0xE402, $ctx) or die "CTX_CREATE: $!\n";
		my $mr = pack("V2Q2V2Q", 40, 0, unpack("Q", pack("P", $memory)),
			      100, 1, 0, 0);
		ioctl($dev, 0xE403, $mr) or die "MR_REG: $!\n";
		system(@command);
		exit($? >> 8);
	' "/dev/angara$first" "$@"
}

contexts()
{
	in_context angaractl -j ctx show dev "$first" >"$TMP/out" 2>"$TMP/err"
	perl -MJSON::PP -e '
		local $/; $_ = decode_json(<STDIN>);
		exit !(@$_ == 1 && $_->[0]{mrs} == 1 && $_->[0]{uid} == 0 &&
			$_->[0]{pinned} >= 4096 && $_->[0]{pid} > 1 &&
			$_->[0]{pkey} == 0x80000000);
	' <"$TMP/out" 2>>"$TMP/err" || why 'one context wanted'
	ok $? 'ctx show lists a context'
	in_context angaractl dev show "$first" >"$TMP/out" 2>"$TMP/err"
	grep -q '^contexts in use  *1$' "$TMP/out" || why 'one context wanted'
	ok $? 'dev show counts it'
	in_context setpriv --reuid 54321 --clear-groups angaractl ctx show \
		>"$TMP/out" 2>"$TMP/err"
	[ "$(wc -l <"$TMP/out")" = 1 ] || why 'no context wanted'
	ok $? 'a user does not see contexts of others'
}

# Checks a page: a process, a tree that is down, and links that are down or lose packets.
page()
{
	ctl link set 3 Y+ loss 1e-3 && ctl link set 0 X+ down || why 'a link is not set'
	in_context angaractl report >"$TMP/out" 2>"$TMP/err"
	perl -0777 -ne '
		my ($tree) = m{<h3>Tree 14</h3>(.*?)</svg>}s;
		my @down = m{<path [^>]*class="down"}g;
		my @bad = m{<path [^>]*class="bad"}g;
		exit !(@down == 2 && @bad == 1 && $tree =~ m{8 routers.*; down at [1-8]\.} &&
			$tree =~ m{class="tree down"} &&
			m{<table id="processes">.*?<tr><td>0</td><td>[0-9]+</td><td>[^<]+</td><td>0</td><td>1</td></tr>}s &&
			m{</body></html>\n\z});
	' <"$TMP/out" || why 'the page lacks a part'
	ok $? 'report shows a process, a tree that is down, and faults of links'
	in_context setpriv --reuid 54321 --clear-groups angaractl report >"$TMP/out" \
		2>"$TMP/err"
	grep -q 'None has a context that you may see' "$TMP/out" || why 'it shows a process'
	ok $? 'report shows a user no processes of others'
	ctl link set 3 Y+ loss 0 && ctl link set 0 X+ up || why 'a link is not as before'
	works 'tree repair restores tree 14 after the page' '8 participants$' tree repair 14
}

# A monitor is ready when its socket has joined a group.
monitor_started()
{
	local i

	for i in {1..600}; do
		awk -v pid="$1" '$2 == 16 && $4 != "00000000" { n++ }
			END { exit n < pid }' /proc/net/netlink && return
		sleep 0.1
	done
	return 1
}

# await_line PATTERN FILE: waits until a command in the background writes it.
await_line()
{
	local tries

	for ((tries = 0; tries < 600; tries++)); do
		grep -q "$1" "$2" && return
		sleep 0.1
	done
	return 1
}

events()
{
	local text lines status=0 before

	before=$(awk '$2 == 16 && $4 != "00000000"' /proc/net/netlink | wc -l)
	# Each of the eight nodes reports once that the tree is down.
	timeout 120 angaractl monitor count 9 fabric "$fabric" \
		>"$TMP/events" 2>&1 &
	text=$!
	timeout 120 angaractl -j monitor dev "$first" count 2 \
		>"$TMP/events.json" 2>&1 &
	lines=$!
	monitor_started $((before + 2))
	ctl tree delete 14 || why || status=1
	wait "$text" || { why "monitor ends with $?"; status=1; }
	wait "$lines" || { why "monitor -j ends with $?"; status=1; }
	cat "$TMP/events" "$TMP/events.json" >>"$TMP/why"
	ok "$status" 'monitor ends after the requested number of events'
	grep -qE '^[0-9:.]+ angara[0-9]+ node [0-7]: tree 14 is cleared$' \
		"$TMP/events"
	ok $? 'monitor reports a tree that is cleared'
	perl -MJSON::PP -ne '
		$e = decode_json($_);
		$n++ if $e->{event} =~ /^tree_/ && $e->{index} == 14 &&
			$e->{node} == 0;
		END { exit($n != 2) }' "$TMP/events.json" 2>"$TMP/why"
	ok $? 'monitor -j writes an object per line'
	setpriv --reuid 54321 --clear-groups angaractl monitor \
		>"$TMP/out" 2>"$TMP/why" &
	text=$!
	await_line \
		'^angaractl: without CAP_NET_ADMIN: no events of trees' "$TMP/why"
	ok $? 'monitor warns of events that a user does not receive'
	kill "$text"
	wait "$text"
}

# Checks rates, without and with traffic of a job. Links are sorted: the busiest first.
live()
{
	local job

	works 'top of an idle fabric' 's; 0 of 48 links are busy or down$' top count 1
	works 'top interval, --all' ': rates of [2-9][0-9.]* s; 48 links$' \
		top interval 2 count 1 --all
	if ! command -v angara-bench >/dev/null; then
		echo "ok $((++COUNT)) top of a job # SKIP no angara-bench in PATH"
		return
	fi
	timeout 300 angara-run -n 8 angara-bench allreduce >"$TMP/job" 2>&1 &
	job=$!
	busy_tree || why 'no tree gets busy'
	json 'top -j of a job' '$_->{seconds} >= 1 && $_->{links}[0]{flits} > 0 &&
		join(" ", map { $_->{flits} } @{$_->{links}}) eq
		join(" ", sort { $b <=> $a } map { $_->{flits} } @{$_->{links}}) &&
		!!grep { $_->{reduce_packets} > 0 && $_->{state} eq "up" &&
			$_->{rows} == 8 } @{$_->{trees}}' top interval 5 count 1
	kill "$job"
	wait "$job" 2>/dev/null
}

# busy_tree: waits until a tree reduces
busy_tree()
{
	local i

	for i in {1..60}; do
		ctl -j top count 1
		! grep -q '"reduce_packets":[1-9]' "$TMP/out" || return 0
	done
	return 1
}

bad_input()
{
	refused 2 'an interval in seconds is a number from 1 to 3600' top interval 0
	refused 2 'count is a number' top count 0
	refused 2 'no such argument' top links
	refused 1 'no fabric 0x1' top fabric 0x1
	refused 2 'no such object' frobnicate
	refused 2 'unknown option' --frobnicate dev list
	refused 2 'no such command' dev frobnicate
	refused 2 'is ambiguous: delete, delegate' tree de 15
	refused 2 'a device is angaraN or N' dev show eth0
	refused 1 'there is no such device' dev show 4000000
	refused 2 'unexpected argument' dev show "$first" more
	refused 2 'needs a value' link show dev
	refused 1 'there is no such device' link show dev 4000000
	refused 1 'there is no such device' link dev 4000000
	refused 2 'from 0 to 63' tree create 64 root 0
	refused 2 'from 0 to 63' tree create -- -1 root 0
	refused 2 'from 0 to 63' tree create 1x root 0
	refused 2 'which tree' tree create
	refused 2 'which node is the root' tree create 13
	refused 2 'from 0 to 7' tree create 13 root 8
	refused 2 'coordinates' tree create 13 root 0,0,2
	refused 2 'coordinates' tree create 13 root 0,0
	refused 2 '0-3,6' tree create 13 root 0 nodes 0-8
	refused 2 '0-3,6' tree create 13 root 0 nodes 3-1
	refused 2 '0-3,6' tree create 13 root 0 nodes 1,,2
	refused 2 '0-3,6' tree create 13 root 0 nodes ''
	refused 2 'from 1 to 16' tree create 13 root 0 pe 17
	refused 2 'from 1 to 16' tree create 13 root 0 pe 0
	refused 2 'a partition is' tree create 13 root 0 pkey 0
	refused 2 'a partition is' tree create 13 root 0 pkey 0x100000000
	refused 2 'a user is uid:N' tree create 13 root 0 pkey uid:4294967295
	refused 2 'a fabric is' tree create 13 root 0 fabric mine
	refused 1 'no fabric 0x1' tree create 13 root 0 fabric 0x1
	refused 1 'no fabric 0x1' dev list fabric 0x1
	refused 1 'no fabric 0x1' -j link show fabric 0x1
	refused 1 'no fabric 0x1' ctx show fabric 0x1
	refused 1 'no fabric 0x1' tree show fabric 0x1
	refused 1 'no fabric 0x1' counters fabric 0x1
	refused 2 'from 0 to 7' tree create 13 root 010
	refused 2 'from 0 to 63' tree show 0100
	refused 1 'tree 15 is set on 4 nodes' tree create 15 root 0
	refused 1 'is not set' tree delete 13
	refused 1 'is not set' tree check 13
	refused 1 'is not set' tree show 13
	refused 1 'is not set' tree 13
	refused 2 'one tree' tree show --dot
	refused 2 'does not take --all' dev list --all
	refused 2 'which partition' tree delegate 15
	refused 2 'a partition is' tree delegate 15 somebody
	refused 2 'count is a number' monitor count 0
	refused 2 'no such argument' counters frobnicate
}

no_family()
{
	local status=0

	# The netlink family exists only in the first network namespace.
	timeout 120 unshare -n angaractl dev list >"$TMP/out" 2>"$TMP/err" ||
		status=$?
	BEFORE=$(state)
	judge_refusal 1 'no angara netlink family: load the module angara' \
		"$status"
	ok $? 'the error names the module to load'
}

# race TREE ROWS [ARG]...: four processes create a tree at once.
race()
{
	local tree=$1 rows=$2 i pids=() won=0 status=0

	shift 2
	for i in 0 1 2 3; do
		timeout 120 angaractl tree create "$tree" root "$i" "$@" \
			>/dev/null 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" && won=$((won + 1))
	done
	ctl tree check "$tree" "$@" || status=1
	[ "$won" = 1 ] || status=1
	[ "$status" = 0 ] || why "$won of 4 succeeded"
	ok "$status" "of several processes that create tree $tree at once, one succeeds"
	works "tree delete $tree" "tree $tree: $rows rows cleared" \
		tree delete "$tree" "$@"
}

# torn N: lists devices while the first N dumps are inconsistent.
torn()
{
	LD_PRELOAD=$DIR/torn.so TORN=$1 ctl dev list
}

# If objects change during a dump, angaractl repeats it up to eight times.
torn_dumps()
{
	local status=0

	if [ ! -e "$DIR/torn.so" ]; then
		echo "ok $((++COUNT)) torn dumps # SKIP no torn.so in $DIR"
		return
	fi
	torn 7 || status=1
	[ "$(grep -c loop "$TMP/out")" = 8 ] && [ ! -s "$TMP/err" ] || status=1
	[ "$status" = 0 ] || why 'wanted: eight devices and nothing else'
	ok "$status" 'an inconsistent dump is repeated'
	status=0
	torn 8 || status=1
	[ "$(grep -c loop "$TMP/out")" = 8 ] &&
		[ "$(wc -l <"$TMP/err")" = 1 ] &&
		grep -q '^angaractl: warning: .*changed during' "$TMP/err" ||
		status=1
	[ "$status" = 0 ] || why 'wanted: eight devices and a warning'
	ok "$status" 'a dump that stays inconsistent is shown with a warning'
}

# A fabric with switches: four nodes, and a switch for each line of two.  Node 0
# keeps switches 4 and 6.
switches()
{
	local loop=/sys/bus/angara_loop number status=0

	if ! echo kns:2x2 2>/dev/null >$loop/new_fabric; then
		echo "ok $((++COUNT)) a fabric with switches # SKIP cannot create one"
		return
	fi
	number=$(awk '$2 == "kns:2x2" { n = $1 } END { print n }' $loop/fabrics)
	kns=$(awk '$2 == "kns:2x2" { sub("^0*", "", $5); n = "0x" $5 }
		END { print n }' $loop/fabrics)
	json 'dev list -j of it' '@$_ == 4 && $_->[3]{topology} eq "kns:2x2" &&
		"@{$_->[3]{coord}}" eq "1 1" && !exists $_->[3]{dims}' \
		dev list fabric "$kns"
	json 'link show -j has links of switches' '@$_ == 16 &&
		(grep { $_->{router} >= 4 } @$_) == 8 &&
		!(grep { $_->{router} >= 4 && $_->{neighbor} >= 4 } @$_)' \
		link show fabric "$kns"
	switch_trees
	switch_users
	switch_refusals
	race 13 7 fabric "$kns"
	works 'tree delete clears them' "tree 14: $rows rows cleared" \
		tree delete 14 fabric "$kns"
	works 'tree 15 is cleared' 'tree 15: 1 rows cleared' \
		tree delete 15 fabric "$kns"
	json 'no row of the fabric is left' '@$_ == 0' tree show fabric "$kns"
	echo "$number" >$loop/del_fabric || status=1
	ok "$status" 'the fabric is deleted'
}

# Creates and shows trees with rows of all four nodes and of switches between them.
switch_trees()
{
	json 'tree create lays rows of switches' '$_->{nodes} == 4 &&
		$_->{switches} == 3 && $_->{pe} == 4' \
		tree create 14 root 0 fabric "$kns"
	rows=7
	json 'tree show -j has them' '$_->{nodes} == 4 && $_->{switches} == 3 &&
		@{$_->{rows}} == 7 && $_->{root} == 0 &&
		(grep { $_->{router} >= 4 && $_->{pe} == 0 && $_->{state} eq "up" &&
			exists $_->{counters}{up_credits} } @{$_->{rows}}) == 3 &&
		!(grep { $_->{router} < 4 && $_->{router} != $_->{node} }
			@{$_->{rows}})' tree show 14 fabric "$kns"
	works 'tree show counts them' '^ *14 +0x[0-9a-f]+ +0 +4 +3 +4 +0 +uid:0' \
		tree show fabric "$kns"
	works 'tree show draws them' \
		'^├── port 0 to switch 4 transit, up$' tree show 14 fabric "$kns"
	works 'tree show draws nodes behind switches' \
		'port [0-9]+ to 3 \(1,1\) pe 1, 0 joined, up$' \
		tree show 14 fabric "$kns"
	[ "$(grep -c 'not reached\|not set' "$TMP/out")" = 0 ] ||
		why 'a router of the tree is not reached'
	ok $? 'all routers of the tree are reached'
	works 'tree show --dot' 'n4 .label="switch 4.*shape=ellipse' \
		tree show 14 --dot fabric "$kns"
	works 'tree check' 'tree 14 is valid: 4 nodes and 3 switches, root 0' \
		tree check 14 fabric "$kns"
	works 'counters of switches' ' switch-link +[01] +packets_(up|down) +[0-9]+$' \
		counters link fabric "$kns"
	works 'tree create of one node needs no switch' \
		'^tree 15: 1 node of fabric' \
		tree create 15 root 1,1 nodes 3 fabric "$kns"
}

# Users see rows of switches as they see rows of nodes.
switch_users()
{
	local status=0

	as_user 54321 -j tree show fabric "$kns" &&
		perl -MJSON::PP -e 'local $/; exit !!@{decode_json(<STDIN>)}' \
			<"$TMP/out" || { why; status=1; }
	ok "$status" 'a user sees no rows of switches of others'
	status=0
	as_user 54321 -j link show fabric "$kns" &&
		[ "$(grep -c '"router"' "$TMP/out")" = 16 ] || { why; status=1; }
	ok "$status" 'a user sees links of switches'
}

switch_refusals()
{
	refused 1 'tree 14 is set on 7 routers' tree create 14 root 0 fabric "$kns"
	refused 2 'from 0 to 3' tree create 13 root 4 fabric "$kns"
	refused 2 'coordinates are 2 numbers' tree create 13 root 1,2 fabric "$kns"
	refused 2 'coordinates are 2 numbers' tree create 13 root 1,1,0 fabric "$kns"
	refused 2 '0-3,6' tree create 13 root 0 nodes 4 fabric "$kns"
}

echo 'KTAP version 1'
require
fabric=$(angaractl -j dev list | sed -n 's/.*"fabric": "\(.*\)",/\1/p' |
	head -n 1)
devices_and_links
trees
plans
repairs
routes
in_band
users
contexts
page
live
bad_input
events
no_family
torn_dumps
race 14 8
json 'tree delete -j' '$_->{cleared} == 4' tree delete 15
works 'nothing is left' '^TREE' tree show
switches
echo "1..$COUNT"
[ "$BAD" = 0 ]
