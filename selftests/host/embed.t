#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Embedded fabrics: the library's test and the applications, the choice of a
# fabric, fabrics with names, and their clean-up.

set -u
. selftests/tap.sh
. selftests/embed.sh

NAME=test-$$
FILE=/dev/shm/angara-$(id -u)-$NAME
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	variant plain libangara libangara:tests tools/run tools/apps
}

build_san()
{
	variant asan libangara libangara:tests
}

# A process may use every third of 3000 processors, more than the 1024 for which a
# cpu_set_t has room.
processors()
{
	inside "$TAP_TMP" cpus && [ "$("$TAP_TMP/cpus")" = 1000 ]
}

late()
{
	inside "$TAP_TMP" doubt -Wl,--wrap=emb_submit,--wrap=emb_now_ms &&
		timeout 600 "$TAP_TMP/doubt"
}

# Slow allocation of pages in one thread does not block other threads.
polls()
{
	inside "$TAP_TMP" polls -Wl,--wrap=madvise,--wrap=fallocate &&
		ANGARA_FABRIC=embedded:2,name=$NAME timeout 600 "$TAP_TMP/polls"
}

# A thread that has offered help may be dead.
helper()
{
	inside "$TAP_TMP" helper && timeout 60 "$TAP_TMP/helper"
}

# Waits stop yielding if a computing program takes whole time slices.
yields()
{
	inside "$TAP_TMP" yields -Wl,--wrap=sched_yield,--wrap=emb_now_ns,--wrap=emb_wait &&
		ANGARA_FABRIC=embedded:2 timeout 600 "$TAP_TMP/yields"
}

# A doorbell fails although the entry is already in the queue.
posted()
{
	inside "$TAP_TMP" post && ANGARA_FABRIC=embedded:2 timeout 600 "$TAP_TMP/post"
}

# Makes teams while one member's allocations fail, each in turn.
no_memory()
{
	inside "$TAP_TMP" nomem -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc &&
		timeout 600 angara-run --fabric embedded -n 3 "$TAP_TMP/nomem"
}

# Runs one job and includes its results.
job()
{
	local name=$1 status=0

	shift
	timeout 600 "$@" >"$TAP_TMP/why" 2>&1 || status=$?
	sed -n "s/^\(\(not \)\{0,1\}ok\) [0-9]*\( -\)\{0,1\} /    \1 - /p" \
		"$TAP_TMP/why"
	result "$status" "$name"
}

# In each of 20 short runs of both applications, the first time is the total, and
# the other times are parts of it.
parts()
{
	for _ in {1..20}; do
		angara-run --fabric embedded:2x2x2 -n 8 angara-spmv --n 403 \
			--iters 1 --json &&
			angara-run --fabric embedded:2x2x2 -n 8 angara-heat2d \
			--nx 37 --ny 29 --steps 1 --json || return
	done | awk -F'"us_' '{
		n++
		split($2, whole, /[":,]+/)
		for (i = 3; i <= NF; i++) {
			split($i, part, /[":,]+/)
			if (part[2] > whole[2] + 0.001) {
				print
				bad = 1
			}
		}
	} END { exit bad || n != 40 }'
}

# The printed total and its parts are those of the slowest process: the clock of process 5 runs a
# million times as fast as that of the others.
slowest()
{
	cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC \
		-o "$TAP_TMP/hasty.so" selftests/embed/hasty.c -ldl || return
	local run=(env LD_PRELOAD="$TAP_TMP/hasty.so" HASTY_RANK=5 angara-run
		--fabric embedded:2x2x2 -n 8)

	{
		"${run[@]}" angara-spmv --n 4003 --iters 3 --json &&
			"${run[@]}" angara-heat2d --nx 67 --ny 59 --steps 3 --json ||
			return
	} | awk -F'"us_' '{
		print
		n++
		split($2, whole, /[":,]+/)
		sum = 0
		for (i = 3; i <= NF; i++) {
			split($i, part, /[":,]+/)
			sum += part[2]
		}
		# A total below ten seconds is not by the clock of process 5.
		bad += whole[2] < 1e7 || sum > whole[2] + 0.001 || sum < whole[2] / 2
	} END { exit bad || n != 2 }'
}

# fabric TEXT N COMMAND...: runs a job of N processes on that fabric.
fabric()
{
	local text=$1 n=$2

	shift 2
	ANGARA_FABRIC=$text timeout 600 angara-run -n "$n" "$@"
}

# random_graph NODES SWITCHES CABLES SEED: prints a connected graph
random_graph()
{
	awk -v n="$1" -v s="$2" -v cables="$3" -v seed="$4" '
		function name(i) { return (i < n ? "n" : "s") i }
		BEGIN {
			srand(seed)
			print "graph random"
			for (i = 0; i < n + s; i++)
				print (i < n ? "node " : "switch ") name(i)
			for (i = 1; i < cables; i++) {
				a = i < n + s ? i : int(rand() * (n + s))
				b = int(rand() * (i < n + s ? i : n + s))
				if (a != b)
					print name(a) ":" used[a]++ + 0, name(b) ":" used[b]++ + 0
			}
		}'
}

# Each process is the root of trees over all and over some nodes; all pairs of
# processes communicate; software combines in the order of the adapters.
roots_and_pairs()
{
	timeout 600 angara-run --fabric "embedded:$1" -n "$2" libangara-test 'all roots' &&
		timeout 600 angara-run --fabric "embedded:$1" -n "$2" libangara-test 'all pairs' &&
		timeout 600 angara-run --fabric "embedded:$1" -n "$2" \
			libangara-test "their order is the adapter's"
}

# Two graphs with equal numbers of nodes and ports are different fabrics.
other_graph()
{
	local status=0

	sed 's/^graph .*/graph other/' "$TAP_TMP/one" >"$TAP_TMP/other"
	begin "$TAP_TMP/out" env "ANGARA_FABRIC=embedded:file:$TAP_TMP/one,name=$NAME" \
		libangara-test stay || return
	ANGARA_FABRIC=embedded:file:$TAP_TMP/one,name=$NAME libangara-test put &&
		! ANGARA_FABRIC=embedded:file:$TAP_TMP/other,name=$NAME \
			libangara-test put || status=$?
	kill $!
	wait $!
	return "$status"
}

bad()
{
	check "refused: $1" complains "$2" 2 env ANGARA_FABRIC="$1" \
		angara-run -n 2 true
}

gone()
{
	ls -l "$FILE"
	[ ! -e "$FILE" ]
}

# Two jobs run at a time on one fabric, and a third job after them.
shared()
{
	local first

	fabric "embedded:2x2,name=$NAME" 4 libangara-test put &
	first=$!
	fabric "embedded:2x2,name=$NAME" 4 libangara-test allreduce &&
		wait $first && fabric "embedded:2x2,name=$NAME" 3 libangara-test put
}

# All keys have different random bits, within a run and between runs.
other_keys()
{
	for _ in 1 2; do
		fabric embedded 1 libangara-test 'say keys' || return
	done | sed -n 's/^# above //p' >"$TAP_TMP/keys"
	[ "$(wc -l <"$TAP_TMP/keys")" = 2000 ] &&
		[ "$(sort -u "$TAP_TMP/keys" | wc -l)" = 2000 ]
}

# The next job replaces the fabric of a killed one, or the launcher removes it.
killed()
{
	begin "$TAP_TMP/out" env "ANGARA_FABRIC=embedded:4,name=$NAME" \
		libangara-test stay || return
	kill -9 $!
	wait $!
	[ -e "$FILE" ] && fabric "embedded:2x2,name=$NAME" 4 libangara-test put
}

other_sizes()
{
	local status=0

	begin "$TAP_TMP/out" env "ANGARA_FABRIC=embedded:4,name=$NAME" \
		libangara-test stay || return
	ANGARA_FABRIC=embedded:2x2,name=$NAME libangara-test put || status=$?
	kill $!
	wait $!
	[ "$status" = 1 ]
}

# placed WANT OPTION...: do the ranks have these devices, in the order of ranks?
placed()
{
	local want=$1 got

	shift
	# shellcheck disable=SC2016 # the processes expand these
	got=$(angara-run "$@" sh -c 'echo $ANGARA_RANK $ANGARA_DEVICE' |
		sort -n | cut -d' ' -f2 | xargs)
	echo "expected $want, got $got"
	[ "$got" = "$want" ]
}

# stripes TREES VALUE: with ANGARA_STRIPES=VALUE a team has TREES trees.
stripes()
{
	local got

	got=$(ANGARA_STRIPES=$2 angara-run --fabric embedded -n 4 \
		libangara-test 'say trees' | sed -n 's/^# trees //p')
	echo "expected $1, got $got"
	[ "$got" = "$1" ]
}

# spread WANT FABRIC N: do N concurrent processes without a launcher have these
# nodes?
spread()
{
	local want=$1 got

	shift
	got=$(ANGARA_FABRIC=$1 angara-run --no-device -n "$2" libangara-test node |
		sed -n 's/.* node //p' | sort -n | xargs)
	echo "expected $want, got $got"
	[ "$got" = "$want" ]
}

check 'builds' build
check 'builds with sanitizers' build_san
check 'a machine of many processors' processors
check 'commands that are answered too late' late
check 'polling while another thread registers, allocates, frees' polls
check 'an operation whose doorbell fails is posted' posted
check 'waits yield, and sleep if yields are long' yields
check 'pending work wakes a thread that sleeps, not one that has ended' helper
export PATH=$OUT/bin:$OUT/tests:$PATH LD_LIBRARY_PATH=$OUT/lib

SIZES=(1 2 3 8)
! long_form || SIZES+=(16)
for n in "${SIZES[@]}"; do
	job "the library, $n processes" angara-run --fabric embedded -n "$n" \
		libangara-test
done
check 'one tree unless ANGARA_STRIPES is set' stripes 1 ''
check 'ANGARA_STRIPES=3' stripes 3 3
for value in 0 17 4x -1 Auto; do
	check "ANGARA_STRIPES=$value" complains \
		"invalid ANGARA_STRIPES '$value': expected 1 to 16, or auto" 1 \
		env "ANGARA_STRIPES=$value" angara-run --fabric embedded -n 1 \
		libangara-test 'say trees'
done
# Each part also works alone.
for part in disagreement subsets; do
	check "alone: $part" timeout 600 angara-run --fabric embedded -n 8 \
		libangara-test "$part"
done
ANGARA_FABRIC=embedded:2x2,trees=64 job "the library, 64 trees" \
	angara-run -n 4 libangara-test
# Only a fat tree has switches; trees on other topologies are tested below.
KINDS=('fattree:4,3')
! long_form || KINDS+=(mesh:4x2 hypercube:3 mkns:4x4 kns:2x2x2)
for kind in "${KINDS[@]}"; do
	job "the library on $kind" angara-run --fabric "embedded:$kind" -n 8 \
		libangara-test
done
random_graph 24 9 60 1 >"$TAP_TMP/one"
random_graph 16 0 30 2 >"$TAP_TMP/two"
random_graph 64 40 150 3 >"$TAP_TMP/three"
# pairs: "each root, each pair" for lines of a topology and a number of nodes
pairs()
{
	local kind nodes

	while read -r kind nodes; do
		check "each root, each pair: ${kind/$TAP_TMP/.}" roots_and_pairs "$kind" "$nodes"
	done
}

pairs <<-EOF
	torus:4x2x2x2 32
	mesh:4x4 16
	hypercube:6 64
	mkns:2x12,ports=6 24
	kns:13x2,ports=6 26
	fattree:40,2,nodes=18 18
	file:$TAP_TMP/one 24
	mkns:8x10x10 20
EOF
! long_form || pairs <<-EOF
	mkns:4x4 16
	mkns:8x8 64
	mkns:2x2x2x2 16
	kns:4x4 16
	kns:8x8 64
	fattree:4,3 16
	fattree:8,3,nodes=64 64
	file:$TAP_TMP/two 16
	file:$TAP_TMP/three 64
EOF
job 'the library, 6 processes on 2 nodes' angara-run --fabric embedded:2 -n 6 \
	libangara-test
job 'the library, sanitizers' angara-run --fabric embedded:3 -n 5 \
	"$VARIANTS/asan/tests/libangara-test"
for sizes in 2x2x2 5x1x3x2; do
	ANGARA_FABRIC=embedded:$sizes job "the applications on $sizes" \
		selftests/kselftest/apps.sh
done
check 'times of applications: no part exceeds the whole' parts
check 'times of applications: those of the slowest process' slowest

check 'a node for each process' placed '0 1 2 3' --fabric embedded -n 4
check 'blocks' placed '0 0 0 1 1' --fabric embedded:2 -n 5
check 'chosen nodes' placed '3 3 1 1' --fabric embedded:4 -n 4 --nodes 3,1
check 'spread over the nodes without a launcher' \
	spread '0 1 2 3' "embedded:2x2,name=$NAME" 4
check 'more processes than nodes without a launcher' spread '0 0 1 1 2' "embedded:3,name=$NAME" 5
check 'its file is gone' gone
check 'a shared fabric' shared
check 'its file is gone' gone
check 'after a kill' killed
check 'its file is gone' gone
check 'other sizes than the fabric has' other_sizes
check 'another graph' other_graph
check 'the launcher removes the fabric of a killed job' \
	fabric "embedded,name=$NAME" 1 true
check 'its file is gone' gone
check 'a kernel before 5.14: builds' cc -shared -fPIC -Wall -Wextra -Werror -O2 \
	-o "$TAP_TMP/old-kernel.so" selftests/embed/old-kernel.c
job 'a kernel before 5.14' env "OLD_KERNEL=$TAP_TMP/old-kernel" \
	"LD_PRELOAD=$TAP_TMP/old-kernel.so" \
	angara-run --fabric embedded -n 2 libangara-test
check 'the kernel was asked to populate memory' [ -e "$TAP_TMP/old-kernel" ]
check 'members that have no memory for a team' no_memory
check 'keys differ between runs' other_keys
check 'a program without a launcher' env ANGARA_FABRIC=embedded \
	libangara-test put
check 'more processes than procs= allows' complains 'Device or resource busy' 1 \
	sh -c "ANGARA_FABRIC=embedded:2,procs=1 angara-run -n 2 libangara-test \
		put 2>&1 | grep -m1 busy >&2; exit 1"

# If /dev/shm is too small, there is one line of error, and no file is left.
small_shm()
{
	complains 'No space left on device' 1 unshare -m sh -c \
		"mount -t tmpfs -o size=1m tmpfs /dev/shm
		ANGARA_FABRIC=embedded:2,name=$NAME libangara-test put || status=1
		ls -A /dev/shm >&2
		exit \$status"
}

if unshare -m true 2>/dev/null; then
	check 'a too small /dev/shm' small_shm
else
	skip 'a too small /dev/shm' 'unshare -m needs a privilege'
fi
check 'a limited address space' sh -c \
	"ulimit -v 4000000; ANGARA_FABRIC=embedded libangara-test put"

bad embedding:2 "expected 'embedded:2x2x2'"
bad embedded:2x0 'sizes: must be numbers'
bad embedded:mkns:9x4 'dimension 1 has more nodes'
bad embedded:file:/none '/none: No such file'
printf '%s\n' 'graph g' 'node a' 'node b' 'a:0 b:0' 'b:0 a:1' >"$TAP_TMP/bad"
bad "embedded:file:$TAP_TMP/bad" 'line 5: cable: a port is used twice'
printf '%s\n' 'graph g' 'node a' 'node b' 'switch s' 'a:0 s:0' >"$TAP_TMP/bad"
bad "embedded:file:$TAP_TMP/bad" 'line 3: router: cannot be reached'
mv "$TAP_TMP/bad" "$TAP_TMP/bad,x"
ln -s "$TAP_TMP/bad,x" "$TAP_TMP/bad"
bad "embedded:file:$TAP_TMP/bad" 'File name too long'
bad 'embedded:graph g' 'file:PATH'
bad embedded:100x100 'at most 4096 nodes'
bad embedded:fattree:40,3,nodes=4000 'at most 4096 nodes and switches'
bad embedded2 "',OPTION' after 'embedded'"
bad embedded:2,name=a/b 'name= may have letters'
bad embedded:2,train=3 'train= must be a power of two'
bad embedded:2,ctxs=129 'ctxs= must be'
bad embedded:2,trees=65 'trees= must be'
bad embedded:2,loss=1.1 'loss= must be'
bad embedded:2,loss=1e 'loss= must be'
bad embedded:2,corrupt=-1 'corrupt= must be'
bad embedded:2,loss=0.6,corrupt=41e-2 'the sum of loss= and corrupt= must be at most 1'
bad embedded:2,delay=5 'delay= must be'
bad embedded:2,delay=1.1s 'delay= must be'
bad embedded:2,seed=x 'seed= must be'
bad embedded:2,x=1 'known options are name='
check 'refused by --fabric' complains "not 'one'" 2 angara-run --fabric one -n 2 true
check 'refused by a program' complains "libangara: invalid ANGARA_FABRIC 'no'" 1 \
	sh -c 'ANGARA_FABRIC=no libangara-test put 2>&1 | grep -m1 libangara: >&2
		exit 1'
plan
