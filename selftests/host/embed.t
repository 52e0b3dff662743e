#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Embedded fabrics: the library's test and the applications, which fabric is
# chosen, fabrics with names, and what is left behind.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
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

# inside NAME [OPTION]...: a program that reaches into the library
inside()
{
	local name=$1

	shift
	# shellcheck disable=SC2086 # options are words; as the library is built
	cc -std=gnu11 ${VARIANT_CFLAGS:-${VARIANT_FLAGS[plain]}} -D_GNU_SOURCE -Wall -Wextra -Werror -Ilibangara \
		-Ilibangara/include -Ilibangara/env -Iuapi -Idriver/model \
		-Idriver "$@" -o "$TAP_TMP/$name" "selftests/embed/$name.c" \
		"$OUT/lib/libangara.a"
}

# Every third of 3000, where a set has places for 1024.
processors()
{
	inside cpus && [ "$("$TAP_TMP/cpus")" = 1000 ]
}

late()
{
	inside doubt -Wl,--wrap=emb_submit,--wrap=emb_now_ms &&
		timeout 60 "$TAP_TMP/doubt"
}

# One job; its results are ours.
job()
{
	local name=$1 status=0

	shift
	timeout 300 "$@" >"$TAP_TMP/why" 2>&1 || status=$?
	sed -n "s/^\(\(not \)\{0,1\}ok\) [0-9]*\( -\)\{0,1\} /    \1 - /p" \
		"$TAP_TMP/why"
	result "$status" "$name"
}

# fabric TEXT N COMMAND...: a job of N on that fabric
fabric()
{
	local text=$1 n=$2

	shift 2
	ANGARA_FABRIC=$text timeout 60 angara-run -n "$n" "$@"
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

# Two jobs at a time on one fabric, and one after them.
shared()
{
	local first

	fabric "embedded:2x2,name=$NAME" 4 libangara-test put &
	first=$!
	fabric "embedded:2x2,name=$NAME" 4 libangara-test allreduce &&
		wait $first && fabric "embedded:2x2,name=$NAME" 3 libangara-test put
}

# What a killed job leaves is made anew by the next one, or removed.
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

# Output: the devices of the ranks, in their order.
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

# Output: the nodes of processes that nobody has placed, while all of them live.
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
export PATH=$OUT/bin:$OUT/tests:$PATH LD_LIBRARY_PATH=$OUT/lib

for n in 2 3 8 16; do
	job "the library, $n processes" angara-run --fabric embedded -n $n \
		libangara-test
done
ANGARA_FABRIC=embedded:2x2,trees=64 job "the library, 64 trees" \
	angara-run -n 4 libangara-test
job 'the library, 6 processes on 2 nodes' angara-run --fabric embedded:2 -n 6 \
	libangara-test
job 'the library, sanitizers' angara-run --fabric embedded:3 -n 5 \
	"$VARIANTS/asan/tests/libangara-test"
for sizes in 2x2x2 5x1x3x2; do
	ANGARA_FABRIC=embedded:$sizes job "the applications on $sizes" \
		selftests/apps.sh
done

check 'a node for each process' placed '0 1 2 3' --fabric embedded -n 4
check 'blocks' placed '0 0 0 1 1' --fabric embedded:2 -n 5
check 'chosen nodes' placed '3 3 1 1' --fabric embedded:4 -n 4 --nodes 3,1
check 'spread over the nodes without a launcher' \
	spread '0 1 2 3' "embedded:2x2,name=$NAME" 4
check 'more of them than nodes' spread '0 0 1 1 2' "embedded:3,name=$NAME" 5
check 'its file is gone' gone
check 'a shared fabric' shared
check 'its file is gone' gone
check 'after a kill' killed
check 'its file is gone' gone
check 'other sizes than the fabric has' other_sizes
check 'the launcher removes what a killed one left' \
	fabric "embedded,name=$NAME" 1 true
check 'its file is gone' gone
check 'a kernel before 5.14: builds' cc -shared -fPIC -Wall -Wextra -Werror -O2 \
	-o "$TAP_TMP/old-kernel.so" selftests/embed/old-kernel.c
job 'a kernel before 5.14' env "OLD_KERNEL=$TAP_TMP/old-kernel" \
	"LD_PRELOAD=$TAP_TMP/old-kernel.so" \
	angara-run --fabric embedded -n 2 libangara-test
check 'it was asked to make memory present' [ -e "$TAP_TMP/old-kernel" ]
check 'a program without a launcher' env ANGARA_FABRIC=embedded \
	libangara-test put
check 'more processes than there may be' complains 'Device or resource busy' 1 \
	sh -c "ANGARA_FABRIC=embedded:2,procs=1 angara-run -n 2 libangara-test \
		put 2>&1 | grep -m1 busy >&2; exit 1"

# One line of error, and nothing left.
small_shm()
{
	complains 'No space left on device' 1 unshare -m sh -c \
		"mount -t tmpfs -o size=1m tmpfs /dev/shm
		ANGARA_FABRIC=embedded:2,name=$NAME libangara-test put || status=1
		ls -A /dev/shm >&2
		exit \$status"
}

if unshare -m true 2>/dev/null; then
	check 'a /dev/shm that is too small' small_shm
else
	skip 'a /dev/shm that is too small' 'unshare -m needs a privilege'
fi
check 'an address space that is limited' sh -c \
	"ulimit -v 4000000; ANGARA_FABRIC=embedded libangara-test put"

bad embedding:2 "it is 'embedded:2x2x2'"
bad embedded:2x0 'sizes are 1 to 4 numbers'
bad embedded:100x100 'at most 4096 nodes'
bad embedded2 "'embedded' goes on with"
bad embedded:2,name=a/b 'name= wants letters'
bad embedded:2,train=3 'train= wants a power of two'
bad embedded:2,ctxs=129 'ctxs= wants'
bad embedded:2,trees=65 'trees= wants'
bad embedded:2,x=1 'options are name='
check 'refused by --fabric' complains "not 'one'" 2 angara-run --fabric one -n 2 true
check 'refused by a program' complains "libangara: ANGARA_FABRIC is 'no'" 1 \
	sh -c 'ANGARA_FABRIC=no libangara-test put 2>&1 | grep -m1 libangara: >&2
		exit 1'
plan
