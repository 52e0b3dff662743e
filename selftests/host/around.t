#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Teams whose tree was lost because a link or a node went down: their operations end with
# the documented error, and the processes make a team whose trees avoid the failure.  Fails
# cables and nodes of embedded fabrics, one at a time.  Inserts the faults of
# selftests/embed/around.txt.

set -u
. selftests/tap.sh
. selftests/embed.sh
. selftests/mutate.sh

LIST=selftests/embed/around.txt
PATH=$OUT/bin:$PATH
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

# program FOLDER [OBJECT]: links the program, with this object before the library.
program()
{
	inside "$1" around -Wl,--wrap=ang_pool_hold "${@:2}"
}

build()
{
	variant plain libangara tools/run && program "$TAP_TMP"
}

# around WANT PROGRAM FABRIC N NODES EVERY [apart]: runs N processes on these nodes, on all
# if NODES is "all". Does the expression WANT hold for the counts, with one line on standard
# error for each team that gets no tree?
around()
{
	local want=$1 program=$2 fabric=$3 n=$4 nodes=$5 places=() got said err

	err=$(mktemp -p "$TAP_TMP")
	shift 5
	[ "$nodes" = all ] || places=(--nodes "$nodes")
	got=$(timeout "$SECONDS_MAX" angara-run --fabric "embedded:${fabric#torus:}" -n "$n" "${places[@]}" \
		"$program" "$fabric" "$@" 2>"$err") || {
		echo "$got"
		cat "$err"
		return 1
	}
	said=$(grep -c "^libangara: a team gets no tree: $LINK, is down; links that are down: [14]\$" \
		"$err")
	echo "$got, $said messages"
	awk -v said="$said" '{
		tried = $2; hit = $4; laid = $6; none = $8
		exit !($1 == "tried" && '"$want"' && said == none)
	}' <<<"$got"
}

SECONDS_MAX=300	# for one fabric; some faults make members wait for each other
# The message names a failed link of the team's tree. One cable is down, or the four of a router.
LINK='port [0-9]* of [a-z]* [0-9]*, to [a-z]* [0-9]*'
# The trees of a torus and of a fat tree avoid each cable and each node or switch.
EACH='hit > 0 && laid == tried'
# Some cables of MKNS leave no tree.
SOME='hit > 0 && laid > 0 && none > 0 && laid + none == tried'

# finds HOW FILE FROM TO: one of the fabrics shows the fault.
finds()
{
	local how=() dir

	[ "$1" != apart ] || how=(apart)
	shift
	dir=$(mktemp -d -p "$TAP_TMP") &&
		inside_changed "$dir" "$1" "$2" "$3" &&
		program "$dir" "$dir"/*.o || return
	SECONDS_MAX=60
	! around "$EACH" "$dir/around" torus:4x4 8 "$NODES" 1 "${how[@]}" ||
		! around "$SOME" "$dir/around" mkns:4x4 16 all 5 "${how[@]}" ||
		! around "$EACH" "$dir/around" torus:4x4 16 all 4 "${how[@]}"
}

# fault FIELDS NAME FROM TO: checks that a fault of the list is found
fault()
{
	local file=${1% *}

	seek "found: $1: $2" finds "${1#* }" "$file" "$3" "$4"
}

# Half of the nodes of a 4x4 torus, no two of them next to each other.
NODES=0,2,5,7,8,10,13,15

check 'builds' build
every=5
! long_form || every=1
for how in whole apart; do
	apart=()
	[ "$how" = whole ] || apart=(apart)
	check "half of torus:4x4, $how" \
		around "$EACH" "$TAP_TMP/around" torus:4x4 8 "$NODES" 1 "${apart[@]}"
	check "half of fattree:4,3, $how" \
		around "$EACH" "$TAP_TMP/around" fattree:4,3 4 0,3,5,6 1 "${apart[@]}"
	check "all of torus:4x4, $how" \
		around "$EACH" "$TAP_TMP/around" torus:4x4 16 all 4 "${apart[@]}"
	check "all of mkns:4x4, $how" \
		around "$SOME" "$TAP_TMP/around" mkns:4x4 16 all $every "${apart[@]}"
	long_form || continue
	check "all of torus:3x3x2, $how" \
		around "$EACH" "$TAP_TMP/around" torus:3x3x2 18 all 1 "${apart[@]}"
	check "some of torus:4x4x4, $how" \
		around "$EACH" "$TAP_TMP/around" torus:4x4x4 6 0,7,21,34,46,63 1 "${apart[@]}"
	check "some of mkns:4x4, $how" \
		around "$EACH" "$TAP_TMP/around" mkns:4x4 4 0,3,5,10 1 "${apart[@]}"
done
faults "$LIST" fault
found
plan
