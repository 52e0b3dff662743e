#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs the commands of the documents literally and in order, as a new user does:
# in a Debian root with only the packages that the documents name, and with a
# copy of the sources without git. Comments in the documents say how to run each
# block, see Documentation/contributing.rst; this script runs blocks of kind
# user, installed and serve. README.md comes first, in a shell of its own.

set -u
. selftests/tap.sh

SUITE=${SUITE:-trixie}
DIR=build/readme
ROOT=$PWD/$DIR/$SUITE
TREE=$DIR/tree
# Pages whose commands run one after the other in one shell.
START='module programs library simulate change'
PAGES=$(files 'Documentation/*.rst' | grep -v '/start-')
LIST=$TAP_TMP/list

# of KIND REGEX: prints the numbers of the blocks of that kind in matching
# documents
of()
{
	awk -F '\t' -v kind="run: $1" -v place="$2" \
		'($3 == kind || index($3, kind ", as FILE: ") == 1) && $2 ~ place { print $1 }' \
		"$LIST"
}

# as_file N: prints the command that reads block N as a file; nothing if the block
# is commands itself
as_file()
{
	awk -F '\t' -v n="$1" '$1 == n && sub(/.*, as FILE: /, "", $3) { print $3 }' \
		"$LIST"
}

place_of()
{
	awk -F '\t' -v n="$1" '$1 == n { print $2 }' "$LIST"
}

copy_sources()
{
	local kept=$PWD/$DIR/kernel-tools

	in_root 0 rm -rf "/angara/$TREE"
	mkdir -p "$TREE"
	files '*' | tar -c -T - | tar -x -C "$TREE"
	# Download the header once for each version of the tool that gets it.
	if [ -e "$kept/kselftest_harness.h" ] &&
			[ ! tools/kselftest-headers -nt "$kept/kselftest_harness.h" ]; then
		mkdir -p "$TREE/build"
		cp -rp "$kept" "$TREE/build"
	fi
	in_root 0 chown -R 1000:1000 "/angara/$TREE"
}

# in_root UID COMMAND...: runs COMMAND as this user in the root.
in_root()
{
	local user=$1

	shift
	CHROOT_ROOT=$ROOT CHROOT_USER=$user:$user tools/vm/chroot "$@"
}

# session NAME FILE: runs a user's commands; each block that passes prints a
# line.
session()
{
	local status=0

	cp "$2" "$TREE/session"
	in_root 1000 env HOME=/home/newcomer USER=newcomer \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive env -C "/angara/$TREE" \
		timeout 1800 bash -e session >"$TAP_TMP/$1" 2>&1 </dev/null ||
		status=$?
	return "$status"
}

# block N: prints a block as a script that answers apt's question
block()
{
	local reader

	reader=$(as_file "$1")
	if [ -n "$reader" ]; then
		printf 'cat >block.%s <<"END"\n%s\nEND\n%s\n' "$1" \
			"$(cat "$TAP_TMP/$1")" "${reader//FILE/block.$1}"
	else
		sed 's/^sudo apt-get install/sudo apt-get install -qq -y/' "$TAP_TMP/$1"
	fi
	echo "echo 'block $1: done'"
}

# serve N: as block; its servers start in the background, and other commands run
# when all servers before them are ready.
serve()
{
	echo ': >serve'
	sed 's/ *#.*//' "$TAP_TMP/$1" | awk '
		function ready() {
			if (waited < servers)
				printf "until [ $(grep -c \" adapters of fabric \" serve) = %d ]; do kill -0 $!; sleep 0.1; done\n", servers
			waited = servers
		}
		/^angara-vfio / {
			print "timeout 600 " $0 " >>serve 2>&1 &"
			servers++
			next
		}
		{ ready(); print }
		END { ready() }'
	# shellcheck disable=SC2016 # the session expands it
	echo 'kill $(jobs -p); wait'
	echo "echo 'block $1: done'"
}

# passed NAME N...: prints a result for each block of a session
passed()
{
	local name=$1 n

	shift
	for n; do
		tail -n 40 "$TAP_TMP/$name" >"$TAP_TMP/why"
		grep -qx "block $n: done" "$TAP_TMP/$name"
		result $? "$name: $(place_of "$n")"
	done
}

# sums NAME N WANT: did N ranks print the sum WANT?
sums()
{
	tail -n 40 "$TAP_TMP/$1"
	[ "$(grep -cE "^rank [0-9]+: $3\$" "$TAP_TMP/$1")" = "$2" ]
}

# Have all four PEs printed a neighbour's number and the sum?
shmem_sums()
{
	local pe

	tail -n 40 "$TAP_TMP/$1"
	for pe in 0 1 2 3; do
		grep -qx "PE $pe of 4: from $(((pe + 3) % 4)), sum 6" "$TAP_TMP/$1" || return
	done
}

# counts NAME COLLECTIVE WAY CALLS: do the statistics of an MPI program have
# this line?
counts()
{
	tail -n 40 "$TAP_TMP/$1"
	# Messages of Open MPI may precede the statistics on a line.
	grep -q "libangara-mpi: $2  *$3  *$4 " "$TAP_TMP/$1"
}

# shellcheck disable=SC2046,SC2086 # words
selftests/blocks "$TAP_TMP" README.md $(printf 'Documentation/start-%s.rst ' $START) \
	$PAGES >"$LIST"
check 'a clean root' selftests/clean-root "$ROOT" "$SUITE" \
	"$(cat "$TAP_TMP"/[0-9]* | grep -A1 'apt-get install')"
check 'the sources are copied' copy_sources

# Package lists of an existing root may be old.
echo 'sudo apt-get -qq update || :' >"$TAP_TMP/script"
mapfile -t blocks < <(of user README.md)
for n in "${blocks[@]}"; do
	block "$n"
done >>"$TAP_TMP/script"
session 'by a reader' "$TAP_TMP/script"
passed 'by a reader' "${blocks[@]}"
check 'by a reader: MPI has printed its sums' sums 'by a reader' 4 6
check 'by a reader: the adapters have computed them' \
	counts 'by a reader' allreduce offload 4
check 'by a reader: OpenSHMEM has printed its sums' shmem_sums 'by a reader'

: >"$TAP_TMP/script"
mapfile -t blocks < <(of user /start-)
for n in "${blocks[@]}"; do
	block "$n"
done >>"$TAP_TMP/script"
session 'by a user' "$TAP_TMP/script"
passed 'by a user' "${blocks[@]}"
check 'by a user: Open MPI has printed its sums' sums 'by a user' 8 6
check 'by a user: the adapters have computed one of them' \
	counts 'by a user' allreduce offload 4
check 'by a user: OpenSHMEM has printed its sum' shmem_sums 'by a user'
check 'by a user: the first program has printed its sum' sums 'by a user' 8 28

# Other pages, each in its own shell, with the variables of the first block of
# start-programs.rst.
for page in $PAGES; do
	mapfile -t blocks < <(of user "^$page:")
	[ ${#blocks[@]} -gt 0 ] || continue
	{
		grep '^export ' "$TAP_TMP/$(of user /start-programs | head -n 1)"
		for n in "${blocks[@]}"; do
			block "$n"
		done
	} >"$TAP_TMP/script"
	session page "$TAP_TMP/script"
	passed page "${blocks[@]}"
done

{
	for n in $(of installed /start-module); do
		block "$n"
	done
	# This downloads the header of the test harness from Debian's archive.
	echo 'make -C selftests/kselftest all'
	for n in $(of serve .); do
		serve "$n"
	done
	for n in $(of installed /start-library); do
		block "$n"
	done
} >"$TAP_TMP/script"
session installed "$TAP_TMP/script"
# shellcheck disable=SC2046 # words
passed installed $(of installed .) $(of serve .)
check 'installed: the first program has printed its sum' sums installed 8 28
if [ -e "$TREE/build/kernel-tools/kselftest_harness.h" ]; then
	mkdir -p "$DIR/kernel-tools"
	cp "$TREE"/build/kernel-tools/* "$DIR/kernel-tools"
fi
plan
