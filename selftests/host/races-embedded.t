#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Races on an embedded fabric: threads instead of processes under
# ThreadSanitizer; processes that pause at shared accesses, as a seed decides;
# threads that share a cache of registrations; threads of a program of
# libfabric. `make races ROUNDS=5000` is the long run.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$TAP_TMP
ROUNDS=${ROUNDS:-300}
SEEDS=${SEEDS:-1 2 3}
BASE=(-std=gnu11 -g -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter
	-Iselftests/embed/env -I. -Ilibangara -Ilibangara/include
	-Ilibangara/env -Iuapi -Idriver/model -Idriver -pthread)
LIBRARY=(libangara/*.c libangara/algo/*.c libangara/topo/*.c libangara/embed/*.c driver/row.c
	driver/model/*.c selftests/embed/pause.c)
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset PAUSE_SEED
TSAN=(-O1 -g -fsanitize=thread -Wno-tsan)

# Objects of the library for programs and for a library. ThreadSanitizer does
# not know fences; the accesses that they order are atomic as well.
build_tsan()
{
	local source

	mkdir "$OUT/tsan"
	for source in "${LIBRARY[@]}"; do
		${CC:-cc} "${BASE[@]}" "${TSAN[@]}" -fPIC -c \
			-o "$OUT/tsan/${source//\//_}.o" "$source" || return
	done
	${CC:-cc} "${BASE[@]}" "${TSAN[@]}" -o "$OUT/threads" "$OUT"/tsan/*.o \
		selftests/embed/threads.c selftests/embed/members.c
}

# The provider, on a library whose accesses are marked as atomic.
build_fabric()
{
	mkdir -p "$OUT/fabric/lib" &&
		${CC:-cc} "${TSAN[@]}" -shared -pthread \
			-Wl,--version-script=libangara/libangara.map \
			-o "$OUT/fabric/lib/libangara.so" "$OUT"/tsan/*.o &&
		build_in "$OUT/fabric" "CFLAGS=${TSAN[*]}" libangara/fabric \
			selftests/fi
}

fabric()
{
	TSAN_OPTIONS='halt_on_error=1' ANGARA_FABRIC=embedded:2x2x2 \
		FI_PROVIDER_PATH=$OUT/fabric/lib/libfabric \
		timeout 600 "$OUT/fabric/tests/fi-test" "$1"
}

# The library's test, of which a process runs alone what concerns the cache.
build_cache()
{
	${CC:-cc} "${BASE[@]}" "${TSAN[@]}" -o "$OUT/cache" "$OUT"/tsan/*.o \
		libangara/tests/lib*.c
}

cache()
{
	TSAN_OPTIONS='halt_on_error=1' PAUSE_SEED=$1 ANGARA_FABRIC=embedded:2 \
		timeout 600 "$OUT/cache" "$2"
}

build_paused()
{
	${CC:-cc} "${BASE[@]}" -O2 "${LIBRARY[@]}" libangara/tests/lib*.c \
		-o "$OUT/paused" && variant plain libangara tools/run
}

threads()
{
	TSAN_OPTIONS='halt_on_error=1' PAUSE_SEED=$1 timeout 600 \
		"$OUT/threads" "$2" "$ROUNDS" "$1"
}

paused()
{
	PAUSE_SEED=$1 PATH=$VARIANTS/plain/bin:$PATH timeout 300 \
		angara-run -n "$2" --fabric "$3" "$OUT/paused"
}

check 'builds with ThreadSanitizer' build_tsan
check 'threads without pauses' threads 0 4
for seed in $SEEDS; do
	for n in 2 3 8; do
		check "$n threads, seed $seed" threads "$seed" "$n"
	done
done
check 'the test of the cache builds with ThreadSanitizer' build_cache
for seed in $SEEDS; do
	for part in cache held; do
		check "$part, seed $seed" cache "$seed" $part
	done
done
if pkg-config --exists libfabric; then
	check 'the provider builds with ThreadSanitizer' build_fabric
	check 'threads on an endpoint' fabric 'rma: threads'
	check 'threads with a context each' fabric \
		'sep: threads with a context each'
else
	skip 'threads of libfabric' \
		'libfabric is missing: install libfabric-dev'
fi
check 'builds with pauses' build_paused
for seed in $SEEDS; do
	check "processes, seed $seed" paused "$seed" 6 embedded:2x2
done
plan
