#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Races on an embedded fabric: threads instead of processes under
# ThreadSanitizer; processes that pause at shared accesses, as a seed decides;
# threads that share a cache of registrations; threads of programs of
# libfabric and of OpenSHMEM. `make races ROUNDS=5000` is the long run.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/shmem/jobs.sh

OUT=$TAP_TMP
ROUNDS=${ROUNDS:-$(amount 60 150)}
JOB_SECONDS=600
LAUNCH=()
SEEDS=${SEEDS:-1}
BASE=(-std=gnu11 -g -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter
	-Iselftests/embed/env -I. -Ilibangara -Ilibangara/include
	-Ilibangara/env -Iuapi -Idriver/model -Idriver -pthread)
LIBRARY=(libangara/*.c libangara/algo/*.c libangara/topo/*.c libangara/embed/*.c driver/row.c
	driver/model/*.c selftests/embed/pause.c)
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset PAUSE_SEED
TSAN=(-O1 -g -fsanitize=thread -Wno-tsan)

# Builds objects for programs and for a shared library. ThreadSanitizer does not understand fences,
# but the accesses that fences order are atomic as well.
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

# Builds the provider on a library whose accesses are marked as atomic.
build_fabric()
{
	mkdir -p "$OUT/fabric/lib" &&
		${CC:-cc} "${TSAN[@]}" -shared -pthread \
			-Wl,--version-script=libangara/libangara.map \
			-o "$OUT/fabric/lib/libangara.so" "$OUT"/tsan/*.o &&
		build_in "$OUT/fabric" "CFLAGS=${TSAN[*]}" libangara/ofi \
			selftests/ofi
}

fabric()
{
	TSAN_OPTIONS='halt_on_error=1' ANGARA_FABRIC=embedded:2x2x2 \
		FI_PROVIDER_PATH=$OUT/fabric/lib/libfabric \
		timeout 600 "$OUT/fabric/tests/fi-test" "$1"
}

# Builds OpenSHMEM on the same library; the launcher is not included.
build_shmem()
{
	mkdir -p "$OUT/shmem/lib" &&
		${CC:-cc} "${TSAN[@]}" -shared -pthread \
			-Wl,--version-script=libangara/libangara.map \
			-o "$OUT/shmem/lib/libangara.so" "$OUT"/tsan/*.o &&
		build_in "$OUT/shmem" "CFLAGS=${TSAN[*]}" libangara/shmem \
			selftests/shmem && variant plain libangara libangara/shmem tools/run
}

# shmem N PROGRAM [ARGUMENT]...: runs a program of OpenSHMEM with N PEs.
shmem()
{
	local BIN=$VARIANTS/plain/bin PROGRAMS=$OUT/shmem/tests/shmem

	TSAN_OPTIONS='halt_on_error=1' runs "$@"
}

shmem_routines()
{
	local BIN=$VARIANTS/plain/bin PROGRAMS=$OUT/shmem/tests/shmem

	TSAN_OPTIONS='halt_on_error=1' all "$@"
}

# $OUT/alone has the library as for users; OpenSHMEM's is the instrumented one.
alone()
{
	mkdir "$OUT/alone" && cp -P "$VARIANTS"/plain/lib/libangara.so* "$OUT/alone" &&
		pes ldd "$OUT/shmem/tests/shmem/t" >"$TAP_TMP/libraries"
	cat "$TAP_TMP/libraries"
	grep -q " $OUT/alone/libangara\.so" "$TAP_TMP/libraries" &&
		grep -q " $OUT/shmem/lib/libangara-shmem\.so" "$TAP_TMP/libraries"
}

# pes COMMAND...: several PEs of OpenSHMEM, on a library that ThreadSanitizer
# ignores, because the order between processes is established there. The address
# space has room for small heaps only.
pes()
{
	local BIN=$VARIANTS/plain/bin PROGRAMS=$OUT/shmem/tests/shmem
	local -x LD_LIBRARY_PATH=$OUT/alone

	ANGARA_FABRIC=embedded:2x2,heap=256 \
		TSAN_OPTIONS='halt_on_error=1 ignore_noninstrumented_modules=1' "$@"
}

# Builds the library's test; one process runs the parts about the cache.
build_cache()
{
	${CC:-cc} "${BASE[@]}" "${TSAN[@]}" -o "$OUT/cache" "$OUT"/tsan/*.o \
		selftests/library/lib*.c
}

cache()
{
	TSAN_OPTIONS='halt_on_error=1' PAUSE_SEED=$1 ANGARA_FABRIC=embedded:2 \
		timeout 600 "$OUT/cache" "$2"
}

build_paused()
{
	${CC:-cc} "${BASE[@]}" -O2 "${LIBRARY[@]}" selftests/library/lib*.c \
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
	check 'threads that all write to all' fabric \
		'threads: all write to all, up to 16'
	check 'threads with a domain each' fabric \
		'threads: all write to all, with a domain each'
	check 'threads beside those of the provider' fabric \
		'threads: all write to all, with threads of the provider'
else
	skip 'threads of libfabric' \
		'libfabric is missing: install libfabric-dev'
fi
check 'OpenSHMEM builds with ThreadSanitizer' build_shmem
# Only one PE: ThreadSanitizer does not see the order that other processes
# establish, such as one that runs a node between two threads of this process.
check 'threads of OpenSHMEM' shmem 1 threads
check 'threads of OpenSHMEM that make teams' shmem 1 makers
check 'messages of two threads of OpenSHMEM' shmem 1 rate 20
check 'all routines of OpenSHMEM, level of threads MULTIPLE' shmem_routines 1
check 'a library without ThreadSanitizer' alone
for program in threads makers direct litmus; do
	check "OpenSHMEM alone, 3 PEs: $program" pes runs 3 $program
done
check 'OpenSHMEM alone, 3 PEs: messages of two threads' pes runs 3 rate 20
check 'OpenSHMEM alone, 3 PEs: all routines' pes all 3
check 'builds with pauses' build_paused
for seed in $SEEDS; do
	check "processes, seed $seed" paused "$seed" 6 embedded:2x2
done
plan
