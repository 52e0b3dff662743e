#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Trees whose rows management packets set from one node of an embedded fabric:
# by the library, while packets are lost, links fail and other managers write
# rows; by angaractl, followed by collectives on the trees. Inserts the faults
# of selftests/embed/inband.txt.

# shellcheck disable=SC2016 # variables of Perl

set -u
. selftests/tap.sh
. selftests/embed.sh
. selftests/mutate.sh

LIST=selftests/embed/inband.txt
NAME=inband-$$
KEY=0x1122334455667788
PATH=$OUT/bin:$PATH
export LD_LIBRARY_PATH=$OUT/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

# program FOLDER [OBJECT]: links the program, with this object before the library.
program()
{
	inside "$1" inband -Wl,--wrap=ang_device_open "${@:2}"
}

# Builds helpers of the kselftests, which open /dev/angaraN, and the shim that
# provides these devices.
laid()
{
	local dir=selftests/kselftest

	inside "$TAP_TMP" laid -Wno-sign-compare -I$dir $dir/{env,device,ring,group}.c &&
		${CC:-cc} "${INSIDE[@]}" -fPIC -shared -fvisibility=hidden \
			-o "$TAP_TMP/shim.so" selftests/embed/shim.c \
			-Wl,--exclude-libs,ALL "$OUT/lib/libangara.a" -ldl
}

build()
{
	variant plain libangara libangara:tests tools && program "$TAP_TMP" && laid
}

# try FABRIC PROGRAM: runs the program on this fabric.
try()
{
	ANGARA_FABRIC=embedded:${1#torus:} timeout 300 "$2" "$1"
}

# finds FILE FROM TO: one of the fabrics shows the fault.
finds()
{
	local dir fabric

	dir=$(mktemp -d -p "$TAP_TMP") &&
		inside_changed "$dir" "$1" "$2" "$3" &&
		program "$dir" "$dir"/*.o || return
	for fabric in torus:2x2x2 fattree:4,2; do
		try "$fabric" "$dir/inband" || return 0
	done
	return 1
}

# fault FIRST NAME FROM TO: checks that a fault of the list is found
fault()
{
	seek "found: $1: $2" finds "$1" "$3" "$4"
}

# open_fabric TEXT: a process keeps this fabric open for the commands that follow.
open_fabric()
{
	export ANGARA_FABRIC=embedded:$1,name=$NAME
	begin "$TAP_TMP/keeper" "$OUT/tests/libangara-test" stay
	KEEPER=$!
}

close_fabric()
{
	kill "$KEEPER"
	wait "$KEEPER"
	rm -f "/dev/shm/angara-$(id -u)-$NAME"
}

tree()
{
	timeout 100 angaractl "$@"
}

# json TEST COMMAND...: is the test true for the JSON that angaractl prints, as $_?
json()
{
	local test=$1

	shift
	tree -j "$@" | tee "$TAP_TMP/json" | perl -MJSON::PP -0777 -ne \
		'$_ = decode_json($_); exit !('"$test"')' || {
		cat "$TAP_TMP/json"
		return 1
	}
}

# collectives TREE NODES: collectives on the tree have the right results on
# NODES nodes.
collectives()
{
	LD_PRELOAD=$TAP_TMP/shim.so timeout 300 "$TAP_TMP/laid" "$1" >"$TAP_TMP/laid.out" 2>&1
	cat "$TAP_TMP/laid.out"
	[ "$(cat "$TAP_TMP/laid.out")" = "$2 nodes" ]
}

# whole NODES SWITCHES: creates, shows, checks and deletes a tree over all nodes
whole()
{
	check "$FABRIC: no tree yet" says 'is not set' 1 angaractl tree show 7 --in-band
	check "$FABRIC: create" json "\$_->{nodes} == $1 && \$_->{switches} == $2 &&
		\$_->{root} == 1 && \$_->{pe} == $1" tree create 7 --in-band root 1
	check "$FABRIC: show" json "\$_->{root} == 1 && @{\$_->{rows}} == $1 + $2 &&
		!grep { \$_->{state} ne 'up' || \$_->{pkey} != 0x80000000 + $(id -u) }
		@{\$_->{rows}}" tree show 7 --in-band
	check "$FABRIC: check" json "\$_->{valid} && \$_->{nodes} == $1" \
		tree check 7 --in-band
	check "$FABRIC: again" says 'delete 7 --in-band' 1 \
		angaractl tree create 7 --in-band root 0
	check "$FABRIC: allreduce and broadcast" collectives 7 "$1"
	check "$FABRIC: delete" json "\$_->{cleared} == $1 + $2" tree delete 7 --in-band
	check "$FABRIC: it is deleted" says 'is not set' 1 angaractl tree delete 7 --in-band
	check "$FABRIC: no collective without it" complains 'cannot join its tree' 1 \
		env "LD_PRELOAD=$TAP_TMP/shim.so" "$TAP_TMP/laid" 7
}

some_nodes()
{
	json '$_->{nodes} == 3 && $_->{pe} == 4' tree create 8 --in-band root 0 nodes 0,3 pe 2 \
		pkey 0x99 &&
		json '!grep { $_->{pkey} != 0x99 } @{$_->{rows}}' tree show 8 --in-band &&
		tree tree show 8 --in-band | grep -q 'X+ 1 (1,0,0) transit, up' &&
		tree tree show 8 --in-band --dot | grep -q '^digraph' &&
		json '$_->{cleared} == 3' tree delete 8 --in-band
}

misuse()
{
	says 'one tree' 2 angaractl tree show --in-band &&
		says 'which tree' 2 angaractl tree check --in-band &&
		says 'which tree' 2 angaractl tree create --in-band &&
		says 'which node is the root' 2 angaractl tree create 8 --in-band &&
		says 'need --in-band' 2 angaractl tree create 8 root 0 dev 0 &&
		says 'need --in-band' 2 angaractl tree create 8 root 0 key "$TAP_TMP/key" &&
		says 'that of the device' 2 angaractl tree create 8 --in-band root 0 fabric 0x1 &&
		says 'does not take --in-band' 2 angaractl tree repair 8 --in-band &&
		says '--server' 2 angaractl -s /none tree create 8 --in-band root 0 &&
		says '--server' 2 angaractl -s /none tree show 8 --in-band &&
		says 'from 0 to 7' 2 angaractl tree create 8 --in-band root 8 &&
		says '0-3,6' 2 angaractl tree create 8 --in-band root 0 nodes 8 &&
		says 'the fabric has 16 trees' 1 angaractl tree create 16 --in-band root 0 &&
		says '/dev/angara99999' 1 angaractl tree create 8 --in-band root 0 dev 99999
}

# Every link loses every packet, so only node 1's own router answers.
silent()
{
	says 'at node 0: it does not answer, or links that are down cut it off; nothing is changed' \
		1 angaractl tree create 7 --in-band root 1 &&
		json '$_->{nodes} == 1' tree create 7 --in-band root 1 nodes 1 &&
		[ "$(tree tree delete 7 --in-band 2>"$TAP_TMP/said")" = 'tree 7: 1 rows cleared' ] &&
		grep -q '7 of 8 routers' "$TAP_TMP/said"
}

# All routers have a key, which reads do not need.
keys()
{
	local how=(tree create 7 --in-band root 0)

	"$TAP_TMP/inband" fattree:4,2 "$KEY" &&
		says 'at node 0: it needs another key' 1 angaractl "${how[@]}" &&
		says 'nothing is changed' 1 angaractl "${how[@]}" key "$TAP_TMP/wrong" &&
		json '$_->{nodes} == 4' "${how[@]}" key "$TAP_TMP/key" &&
		json '$_->{valid}' tree check 7 --in-band &&
		says '7 of 7 rows are not cleared' 1 angaractl tree delete 7 --in-band &&
		says '7 of 7 rows are not cleared' 1 \
			angaractl tree delete 7 --in-band key "$TAP_TMP/wrong" &&
		collectives 7 4 &&
		json '$_->{cleared} == 7' tree delete 7 --in-band key "$TAP_TMP/key"
}

check 'builds' build
echo "$KEY" >"$TAP_TMP/key"
echo 0x1 >"$TAP_TMP/wrong"
for fabric in torus:2x2x2 fattree:4,2 kns:2x2 torus:3x2; do
	nested "$fabric" try "$fabric" "$TAP_TMP/inband"
done
while read -r FABRIC nodes switches; do
	check "$FABRIC: opens" open_fabric "$FABRIC"
	whole "$nodes" "$switches"
	if [ "$FABRIC" = 2x2x2 ]; then
		check 'some nodes, several participants, a partition' some_nodes
		check 'wrong arguments' misuse
	fi
	close_fabric
done <<-END
	2x2x2 8 0
	fattree:4,2 4 3
	kns:2x2 4 3
	mesh:3x3 9 0
END
check 'links that lose everything: opens' open_fabric 2x2x2,loss=1
check 'routers that do not answer' silent
close_fabric
check 'keys: opens' open_fabric fattree:4,2
check 'keys' keys
close_fabric
faults "$LIST" fault
found
plan
