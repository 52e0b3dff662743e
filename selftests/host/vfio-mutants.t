#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Do the tests of angara-vfio find faults? Inserts faults of
# selftests/vfio/mutants.txt, one at a time, into a copy of one file of the server:
# every 24th fault, or all with LONG=1. The case that the list names must then
# fail, or the server must end with an error.

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/vfio/server.sh

LIST=selftests/vfio/mutants.txt
B=$VARIANTS/asan
PACKAGES=$(sed -n 's/^PACKAGES := //p' tools/vfio/Makefile)
TLS=$(pkg-config --exists gnutls && echo gnutls)
# shellcheck disable=SC2086 # words
LIBS=$(pkg-config --libs $PACKAGES $TLS)
FLAGS=${VARIANT_FLAGS[asan]}
CPP=(-D_GNU_SOURCE '-DANG_RELEASE="1"' -Itools/vfio -Itools/common -Ilibangara/env -Iuapi
	-Idriver/model -std=gnu11 -w ${TLS:+-DVFIO_TLS})

base()
{
	variant asan tools/vfio && client_build
}

# link PROGRAM OBJECT FILE: links a server with this object instead of the
# file's.
link()
{
	local object
	local objects=()

	for object in "$B"/obj/vfio/*.o; do
		[ "${object##*/}" = "${3%.c}.o" ] || objects+=("$object")
	done
	# shellcheck disable=SC2086 # words, not one
	cc $FLAGS -pthread -o "$1" "$2" "${objects[@]}" $LIBS
}

# passes PROGRAM FOLDER CASE: does the case pass with this server, and does the
# server end without an error?
passes()
{
	local status=0

	server_start "$1" "$2" --fabric torus:2x2x1 "${LIMITS[@]}" \
		--manage-key "$2.key" || return
	VFIO_DIR=$2 VFIO_PID=$SERVER_PID VFIO_LOG=$2.log \
		timeout 60 "$CLIENT" "$3" || status=1
	kill "$SERVER_PID" && wait "$SERVER_PID" || status=1
	SERVER_PID=
	return $status
}

# build_mutant FOLDER FILE FROM TO: builds a server with a fault.
build_mutant()
{
	mutate "tools/vfio/$2" "$3" "$4" >"$1/$2" || return
	# shellcheck disable=SC2086 # words
	cc $FLAGS "${CPP[@]}" -pthread -c -o "$1/mutant.o" "$1/$2" &&
		link "$1/server" "$1/mutant.o" "$2"
}

# finds FOLDER FILE CASE FROM TO: succeeds if the case finds the fault.
finds()
{
	local dir=$1

	mkdir "$dir"
	build_mutant "$dir" "$2" "$4" "$5" || return
	! passes "$dir/server" "$dir/sockets" "$3" || return
	rm -rf "$dir"
}

# fault FIRST NAME FROM TO: tests one fault of the list
fault()
{
	local file=${1%% *} one=${1#* }

	seek "found: $file: $2" finds "$TAP_TMP/try${#TRIED[@]}" "$file" "$one" \
		"$3" "$4"
}

check 'server and client build' base
while read -r one; do
	check "without a fault: $one" passes "$B/bin/angara-vfio" \
		"$TAP_TMP/sound" "$one"
done < <(sed -n 's/^[a-z]*\.c \([a-z]*: .*\)/\1/p' "$LIST" | sort -u)
faults "$LIST" fault 24
found
plan
