#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# angaractl tree plan: its plan equals that of angara-topo, without devices and for
# the fabric of a server; and bad input gets one line of error.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

O=$VARIANTS/plain
DIR=$TAP_TMP/sockets

build()
{
	variant plain libangara tools:bin/angaractl tools/topo tools/vfio
}

# Not run in a subshell, so that a server can be tested.
ctl()
{
	LD_LIBRARY_PATH=$O/lib "$O/bin/angaractl" "$@"
}

# refused TEXT ARGUMENT...: the program ends with status 2 and one line of error, which has TEXT.
refused()
{
	says "$1" 2 env LD_LIBRARY_PATH="$O/lib" "$O/bin/angaractl" "${@:2}"
}

# same FABRIC 'WORDS' 'OPTIONS': angaractl and angara-topo print the same plan.
same()
{
	local fabric=$1 mine=$2 others=$3

	# shellcheck disable=SC2086 # words
	ctl -j tree plan --fabric "$fabric" $mine >"$TAP_TMP/ctl" &&
		"$O/bin/angara-topo" -j tree "$fabric" $others >"$TAP_TMP/topo" &&
		cmp "$TAP_TMP/ctl" "$TAP_TMP/topo"
}

# The tables have a row per tree, a row per number of trees, and sources of
# parameters.
tables()
{
	ctl tree plan --fabric mkns:8x4 trees 3 bytes 65536 >"$TAP_TMP/out" || return
	cat "$TAP_TMP/out"
	grep -qE '^TREE +ROOT +DEPTH +LINKS +TRANSIT +CHILDREN +LOAD$' "$TAP_TMP/out" &&
		[ "$(grep -cE '^ +[012]  [0-9]+ \([0-9],[0-9]\) +3 +39 +8 +8 +3$' \
			"$TAP_TMP/out")" = 3 ] &&
		grep -qx 'operations of 65536 bytes:' "$TAP_TMP/out" &&
		grep -qE '^ +1 +10\.344 +1[34][0-9]\.[0-9]+  broadcast$' "$TAP_TMP/out" &&
		grep -qE '^ +3 +10\.532 +4[0-9]\.[0-9]+  allreduce$' "$TAP_TMP/out" &&
		grep -qx '  fitted to one of its results: pegroup;' \
			"$TAP_TMP/out"
}

# The plan for a server's fabric equals that for its description.
present()
{
	server_start "$O/bin/angara-vfio" "$DIR" --fabric torus:4x4x2 &&
		ctl -s "$DIR" -j tree plan trees 4 bytes 9999 >"$TAP_TMP/present" &&
		ctl -j tree plan --fabric torus:4x4x2 trees 4 bytes 9999 |
			cmp - "$TAP_TMP/present" || return
	says 'there is no fabric 0x1' 1 env LD_LIBRARY_PATH="$O/lib" \
		"$O/bin/angaractl" -s "$DIR" tree plan fabric 0x1 || return
	server_end "$DIR"
}

check 'it builds' build
for fabric in torus:4x4x4 torus:2x2x2x2x2 mesh:5x3 hypercube:5 mkns:8x4,m=2 \
	fattree:8,2; do
	check "the same plan on $fabric" same "$fabric" '' ''
	check "the same trees on $fabric" same "$fabric" \
		'trees 4 nodes 0-9:2,12 bytes 100000' \
		'--trees 4 --nodes 0-9:2,12 --bytes 100000'
	check "the same root on $fabric" same "$fabric" \
		'root 5 trees 2 goal depth pe 3' \
		'--root 5 --trees 2 --goal depth --local 3'
done
printf '%s\n' 'graph g' 'node a' 'node b' 'switch s' 'a:0 s:0' 'b:0 s:1' >"$TAP_TMP/graph"
check 'the same plan of a file' same "file:$TAP_TMP/graph" 'trees 2' '--trees 2'
check 'a root by coordinates' same torus:4x4x4 'root 1,2,3' '--root 57'
check 'tables' tables
check 'the fabric of a server' present
check 'an unknown fabric' refused 'ring:4: kind: unknown' tree plan --fabric ring:4
check 'no such file' refused 'No such file' tree plan --fabric file:/nonexistent
check 'no trees' refused 'from 1 to 64' tree plan --fabric torus:4 trees 0
check 'too many trees' refused 'from 1 to 64' tree plan --fabric torus:4 trees 65
check 'an unknown goal' refused 'depth or load' tree plan --fabric torus:4 goal x
check 'no such root' refused 'from 0 to 3' tree plan --fabric torus:4 root 4
check 'no such coordinates' refused '"1,9"' tree plan --fabric torus:4x4 root 1,9
check 'no such nodes' refused 'from 0 to 3' tree plan --fabric torus:4 nodes 0-4
check 'an empty range' refused 'is empty' tree plan --fabric torus:4 nodes 3-1
check 'too many participants' refused 'from 1 to 16' tree plan --fabric torus:4 pe 17
check 'operations of no length' refused 'from 1 to' tree plan --fabric torus:4 bytes 0
check 'an unknown argument' refused 'no such argument' tree plan --fabric torus:4 x
check 'two fabrics' refused 'give only one' tree plan --fabric torus:4 \
	fabric 0x1
check 'a description for another command' refused 'show does not take --fabric' \
	tree show --fabric torus:4
plan
