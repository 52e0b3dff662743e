#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs the commands of README.md, word by word and in order, as a newcomer does:
# in a Debian root with the packages that README.md names and nothing else, with
# a copy of the sources without git. A block that needs a guest or a set-up runs
# in another test, which has to contain its lines.

set -u
. selftests/tap.sh

SUITE=${SUITE:-trixie}
DIR=build/readme
ROOT=$PWD/$DIR/$SUITE
TREE=$DIR/tree
# How each block is run, and its section, in order:
#   ci        by .ci/run, whole
#   cluster   by selftests/guest/cluster.t
#   installed by a user; blocks of "first" and "serve" use what is installed
#             with sudo; lines on modules by selftests/guest/install.t
#   user      by a user, in one shell with the others of that kind
#   first     in that shell, and in another one by what is installed
#   serve     by what is installed, until it says that it serves
cat >"$TAP_TMP/plan" <<'END'
ci Angara: an emulated HPC network adapter
user On a machine of your own
installed On a machine of your own
user Without root, without a module
user Programs of libfabric
user Programs of MPI
user Programs of OpenSHMEM
serve Machines with cards
user Fabrics too large to build
user Topologies compared
cluster Several machines
first A first program
END

# Splits blocks into files, numbered from 1, with a list of their sections.
split_blocks()
{
	TMP=$TAP_TMP perl -ne '
		$section = $1 if !$on && /^#+ (.*)/;
		if (/^```/) {
			$on = !$on && /^```sh$/ ? ++$n : 0;
			$skip = !$on && !$skip && /^```./;
			next unless $on;
			open $file, ">", "$ENV{TMP}/block.$n" or die;
			print "$section\n";
		} elsif ($on) {
			print $file $_;
		}' README.md >"$TAP_TMP/sections"
}

no_block_is_left_out()
{
	diff <(sed 's/^[a-z]* //' "$TAP_TMP/plan") "$TAP_TMP/sections"
}

# of KIND...: numbers of the blocks of these kinds
of()
{
	local kind

	for kind; do
		grep -n "^$kind " "$TAP_TMP/plan" | cut -d: -f1
	done | sort -n
}

# has FILE, lines on stdin: each is in FILE, without its sudo and comment.
has()
{
	local line

	while IFS= read -r line; do
		line=$(sed 's/^sudo //; s/ *#.*//' <<<"$line")
		grep -qF -- "$line" "$1" && continue
		echo "$1 has no '$line'"
		return 1
	done
}

# .ci/run reads the first block.
run_by_ci()
{
	[ "$(of ci)" = 1 ] && grep -q README.md .ci/run && make -n \
		"$(sed -n 's/^make \([a-z]*\).*/\1/p' "$TAP_TMP/block.1" | head -n 1)"
}

run_by_install()
{
	has selftests/guest/install.t <"$TAP_TMP/block.$(of installed)"
}

# The job is in a script, after options that only cluster.t uses.
run_by_cluster()
{
	local command

	command=$(cat "$TAP_TMP/block.$(of cluster)")
	has selftests/guest/cluster.t <<<"$(sed "s/ -- .*//; s,^tools/vm/,," <<<"$command")" &&
		has selftests/on-cluster <<<"${command#* -- }"
}

copy_sources()
{
	local kept=$PWD/$DIR/kernel-tools

	in_root 0 rm -rf "/angara/$TREE"
	mkdir -p "$TREE"
	files '*' | tar -c -T - | tar -x -C "$TREE"
	# Downloaded once for each way of getting it.
	if [ -e "$kept/kselftest_harness.h" ] &&
			[ ! tools/kselftest-headers -nt "$kept/kselftest_harness.h" ]; then
		mkdir -p "$TREE/build"
		cp -rp "$kept" "$TREE/build"
	fi
	in_root 0 chown -R 1000:1000 "/angara/$TREE"
}

# in_root UID COMMAND...
in_root()
{
	local user=$1

	shift
	CHROOT_ROOT=$ROOT CHROOT_USER=$user:$user tools/vm/chroot "$@"
}

# session NAME FILE: runs a newcomer's input; each block that passed says so.
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

# blocks KIND...: the blocks as a script, which answers apt's question
blocks()
{
	local n

	for n in $(of "$@"); do
		sed 's/^sudo apt-get install/sudo apt-get install -qq -y/' \
			"$TAP_TMP/block.$n"
		echo "echo 'block $n: done'"
	done
}

# passed NAME KIND...: a result for each block of a session
passed()
{
	local name=$1 n

	shift
	for n in $(of "$@"); do
		tail -n 40 "$TAP_TMP/$name" >"$TAP_TMP/why"
		grep -qx "block $n: done" "$TAP_TMP/$name"
		result $? "$name: $(sed -n "${n}p" "$TAP_TMP/sections")"
	done
}

# sums NAME N WANT: so many ranks have printed the sum.
sums()
{
	tail -n 40 "$TAP_TMP/$1"
	[ "$(grep -cE "^rank [0-9]+: $3\$" "$TAP_TMP/$1")" = "$2" ]
}

# So many PEs have a neighbour's number, and the sum.
shmem_sums()
{
	tail -n 40 "$TAP_TMP/$1"
	[ "$(grep -cE '^PE ([0-3]) of 4: from [0-3], sum 6$' "$TAP_TMP/$1")" = 4 ]
}

# counts NAME COLLECTIVE WAY CALLS: as the statistics of an MPI program say.
counts()
{
	tail -n 40 "$TAP_TMP/$1"
	grep -q "^libangara-mpi: $2  *$3  *$4 " "$TAP_TMP/$1"
}

split_blocks
check 'each block has its place in a test' no_block_is_left_out
check 'the first block is run by .ci/run' run_by_ci
check 'lines on modules are run by selftests/guest/install.t' run_by_install
check 'the job on several machines is run by selftests/guest/cluster.t' \
	run_by_cluster
check 'a clean root' selftests/clean-root "$ROOT" "$SUITE" \
	"$(cat "$TAP_TMP"/block.* | grep -A1 'apt-get install')"
check 'the sources are copied' copy_sources

{
	# The lists of a root that was made before may be old.
	echo 'sudo apt-get -qq update || :'
	blocks user first
} >"$TAP_TMP/script"
session 'by a user' "$TAP_TMP/script"
passed 'by a user' user first
check 'by a user: Open MPI has printed its sums' sums 'by a user' 8 6
check 'by a user: the adapters have computed one of them' \
	counts 'by a user' allreduce offload 4
check 'by a user: OpenSHMEM has printed its sum' shmem_sums 'by a user'
check 'by a user: the first program has printed its sum' sums 'by a user' 8 28

# The header of the test harness is taken from Debian's archive.
{
	sed '/modprobe/d; s/run_tests/all/' "$TAP_TMP/block.$(of installed)"
	echo "echo 'block $(of installed): done'"
	# It runs until it is ended.
	sed 's/^angara-vfio.*/timeout 60 & | tee serve \&/' \
		"$TAP_TMP/block.$(of serve)"
	echo "until grep -q '4 adapters of fabric torus:2x2x1' serve; do"
	echo "	kill -0 \$!; sleep 0.1; done"
	echo "echo 'block $(of serve): done'"
	cat "$TAP_TMP/block.$(of first)"
	echo "echo 'block $(of first): done'"
} >"$TAP_TMP/script"
session installed "$TAP_TMP/script"
passed installed installed serve first
check 'installed: the first program has printed its sum' sums installed 8 28
if [ -e "$TREE/build/kernel-tools/kselftest_harness.h" ]; then
	mkdir -p "$DIR/kernel-tools"
	cp "$TREE"/build/kernel-tools/* "$DIR/kernel-tools"
fi
plan
