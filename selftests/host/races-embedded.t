#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Races on an embedded fabric: threads in the place of processes under
# ThreadSanitizer, and processes that pause where they meet others, as a seed
# says; threads of a program of libfabric. `make races ROUNDS=5000` is the long run.

set -u
. selftests/tap.sh

OUT=$TAP_TMP
ROUNDS=${ROUNDS:-300}
SEEDS=${SEEDS:-1 2 3}
BASE=(-std=gnu11 -g -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter
	-Iselftests/embed/env -I. -Ilibangara -Ilibangara/include
	-Ilibangara/env -Iuapi -Idriver/model -Idriver -pthread)
LIBRARY=(libangara/*.c libangara/topo/*.c libangara/embed/*.c driver/row.c
	driver/model/*.c selftests/embed/pause.c)
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset PAUSE_SEED

build()
{
	local out=$1

	shift
	${CC:-cc} "${BASE[@]}" "$@" "${LIBRARY[@]}" -o "$OUT/$out"
}

# It does not know fences; what they order is atomic as well.
build_tsan()
{
	build threads -O1 -fsanitize=thread -Wno-tsan \
		selftests/embed/threads.c selftests/embed/members.c
}

# The provider, on a library that says what is atomic.
build_fabric()
{
	local flags='-O1 -g -fsanitize=thread -Wno-tsan'

	mkdir -p "$OUT/fabric/lib" &&
		build fabric/lib/libangara.so -O1 -fsanitize=thread -Wno-tsan \
			-shared -fPIC -Wl,--version-script=libangara/libangara.map &&
		make -C libangara/fabric "O=$OUT/fabric" CFLAGS="$flags" all &&
		make -C selftests/fi "O=$OUT/fabric" CFLAGS="$flags" all
}

fabric()
{
	TSAN_OPTIONS='halt_on_error=1' ANGARA_FABRIC=embedded:2x2x2 \
		FI_PROVIDER_PATH=$OUT/fabric/lib/libfabric \
		timeout 600 "$OUT/fabric/tests/fi-test" "$1"
}

build_paused()
{
	build paused -O2 libangara/tests/lib*.c &&
		make -C libangara "O=$OUT/build" all &&
		make -C tools/run "O=$OUT/build"
}

threads()
{
	TSAN_OPTIONS='halt_on_error=1' PAUSE_SEED=$1 timeout 600 \
		"$OUT/threads" "$2" "$ROUNDS" "$1"
}

paused()
{
	PAUSE_SEED=$1 PATH=$OUT/build/bin:$PATH timeout 300 \
		angara-run -n "$2" --fabric "$3" "$OUT/paused"
}

check 'builds with ThreadSanitizer' build_tsan
check 'threads without pauses' threads 0 4
for seed in $SEEDS; do
	for n in 2 3 8; do
		check "$n threads, seed $seed" threads "$seed" "$n"
	done
done
if pkg-config --exists libfabric; then
	check 'the provider builds with ThreadSanitizer' build_fabric
	check 'threads on an endpoint' fabric 'rma: threads'
	check 'threads with a context each' fabric \
		'sep: threads with a context each'
else
	skip 'threads of libfabric' \
		'there is no libfabric: install libfabric-dev'
fi
check 'builds with pauses' build_paused
for seed in $SEEDS; do
	check "processes, seed $seed" paused "$seed" 6 embedded:2x2
done
plan
