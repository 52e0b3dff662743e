#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# OpenSHMEM on embedded fabrics: every routine of the specification is exported,
# called and compared; orders of the memory model; threads; programs; wrong use;
# launchers; what is installed.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
SRC=selftests/shmem
BIN=$OUT/bin
LIB=$OUT/lib/libangara-shmem.so
FLAGS=(-std=gnu11 -O1 -g -Wall -Wextra -Werror -pthread)
export LC_ALL=C
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset SHMEM_DEBUG SHMEM_INFO SHMEM_VERSION SHMEM_SYMMETRIC_SIZE

build()
{
	variant plain libangara libangara/shmem tools/run
}

build_tests()
{
	local program

	"$BIN/oshcc" "${FLAGS[@]}" -o "$TAP_TMP/t" "$SRC"/t_*.c || return
	for program in isort heat bfs queue litmus threads wrong profile; do
		"$BIN/oshcc" "${FLAGS[@]}" -o "$TAP_TMP/$program" \
			"$SRC/$program.c" || return
	done
	"$BIN/oshcc" "${FLAGS[@]}" -D_GNU_SOURCE -Ilibangara/include -o "$TAP_TMP/order" \
		"$SRC/order.c" "-L$OUT/lib" -langara
}

# symbols KIND: names of functions of the library: T strong, W weak
symbols()
{
	nm -D --defined-only "$LIB" |
		awk -v kind="$1" '$2 == kind { sub(/@.*/, "", $3); print $3 }' | sort
}

# Every routine and no other one: shmem_ weak, pshmem_ strong.
exports()
{
	local plain

	plain=$("$SRC/names" | grep -vE '^shmemx?_')
	[ "$("$SRC/names" | wc -l)" -gt 1700 ] &&
		diff <("$SRC/names" | grep -E '^shmemx?_') <(symbols W) &&
		diff <({ "$SRC/names" profiling; echo "$plain"; } | sort) <(symbols T)
}

calls()
{
	nm -u "$TAP_TMP/t" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort >"$TAP_TMP/called"
	[ -z "$(comm -23 <("$SRC/names") "$TAP_TMP/called")" ] && return
	comm -23 <("$SRC/names") "$TAP_TMP/called"
	return 1
}

# Those that the table calls absent are, and documents give the reason.
absent()
{
	local name

	[ -n "$("$SRC/names" absent)" ] || return
	for name in $("$SRC/names" absent); do
		! symbols T | grep -qx "$name" || return
	done
	grep -q Fortran Documentation/shmem.rst
}

# all N [NAME=VALUE]...: the test of all routines; one line a group
all()
{
	local n=$1 groups

	shift
	env "$@" timeout 120 "$BIN/oshrun" -np "$n" "$TAP_TMP/t" >"$TAP_TMP/out" 2>&1
	local status=$?

	groups=$(grep -c '^ok ' "$TAP_TMP/out")
	grep -v '^ok ' "$TAP_TMP/out"
	echo "status $status, $groups groups passed"
	[ "$status" = 0 ] && [ "$groups" -gt 300 ] &&
		[ "$(tail -n 1 "$TAP_TMP/out")" = "1..$groups" ]
}

# runs N PROGRAM: it says at all PEs that there was no error.
runs()
{
	timeout 120 "$BIN/oshrun" -np "$1" "$TAP_TMP/$2" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 0 ] && [ "$(grep -c "^$2: PE [0-9]*: 0 errors$" "$TAP_TMP/out")" = "$1" ]
}

# refuses N STATUS WAY TEXT: the program ends with this status, a regular
# expression, and a line that has the text.
refuses()
{
	timeout 60 "$BIN/oshrun" -np "$1" "$TAP_TMP/wrong" "$3" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	echo "status $status, expected $2 and '$4'"
	[[ $status =~ ^($2)$ ]] && grep -q "^shmem: .*$4" "$TAP_TMP/out"
}

# One line, and no other one, for what a single PE does.
wrong()
{
	check "wrong use: $1" wrong_alone "$1" "$2"
}

wrong_alone()
{
	refuses 1 1 "$1" "$2" && [ "$(wc -l <"$TAP_TMP/out")" = 1 ]
}

# unequal VARIABLE=VALUE: if it is set for one PE only, the program ends.
unequal()
{
	# shellcheck disable=SC2016 # the processes expand it
	timeout 60 "$BIN/oshrun" -np 2 sh -c \
		'[ "$ANGARA_RANK" = 0 ] || export "$1"; exec "$0" waiting' \
		"$TAP_TMP/wrong" "$1" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 1 ] && grep -q "^shmem: PE .: ${1%=*} is " "$TAP_TMP/out"
}

left_by()
{
	find /dev/shm -name "angara-*-$1" | grep .
}

# A PE is killed: the others name it within seconds, nothing is left behind of
# what is there while the job runs. The launcher may see first that another PE
# has ended because of that.
killed()
{
	local name=shmem$$ start=$SECONDS

	export ANGARA_FABRIC=embedded:4x1x1,name=$name
	"$BIN/oshrun" -np 2 "$TAP_TMP/wrong" waiting &
	await left_by "$name" || return
	wait $! && ! left_by "$name" && refuses 3 '137|1' killed 'PE 1 has ended' &&
		! left_by "$name"
	local status=$?

	unset ANGARA_FABRIC
	echo "after $((SECONDS - start)) s"
	[ "$status" = 0 ] && [ $((SECONDS - start)) -le 30 ]
}

prints()
{
	local want=$1 got

	shift
	got=$("$@" 2>&1) || return
	echo "$got"
	[ "$(echo "$got" | sort -u)" = "$want" ]
}

heap_size()
{
	SHMEM_INFO=1 SHMEM_SYMMETRIC_SIZE=$1 "$BIN/oshrun" -np 1 "$TAP_TMP/wrong" |
		grep "^SHMEM_SYMMETRIC_SIZE *$2 "
}

by_mpirun()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		ANGARA_FABRIC=embedded:2x2x1,name=shmem$$ timeout 60 \
		mpirun.openmpi --oversubscribe -n 3 "$TAP_TMP/bfs" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 0 ] && [ "$(grep -c '^bfs: .*: 0 errors' "$TAP_TMP/out")" = 3 ]
}

by_hydra()
{
	ANGARA_FABRIC=embedded:2x2x1,name=shmemh$$ timeout 60 \
		mpiexec.hydra -n 3 "$TAP_TMP/bfs" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 0 ] && [ "$(grep -c '^bfs: .*: 0 errors' "$TAP_TMP/out")" = 3 ]
}

# Beside Open MPI's: headers in a folder of their own.
installed()
{
	local root=$TAP_TMP/root file

	PREFIX=/opt/angara DESTDIR=$root variant plain libangara:install \
		libangara/shmem:install tools/run:install || return
	for file in bin/oshcc bin/oshc++ bin/oshrun include/angara-shmem/shmem.h \
			include/angara-shmem/shmemx.h lib/libangara-shmem.so \
			lib/pkgconfig/angara-shmem.pc share/man/man1/oshcc.1 \
			share/man/man1/oshrun.1 share/man/man7/shmem.7; do
		[ -e "$root/opt/angara/$file" ] || {
			echo "no $file"
			return 1
		}
	done
	# shellcheck disable=SC2046 # options are words
	"${CC:-cc}" -o "$TAP_TMP/by-pc" "$SRC/profile.c" \
		$(PKG_CONFIG_PATH=$root/opt/angara/lib/pkgconfig \
			PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs \
			angara-shmem) -Wl,-rpath-link,"$root/opt/angara/lib" &&
		[ "$("$root/opt/angara/bin/oshcc" --show x.c)" = "cc \
-I/opt/angara/include/angara-shmem x.c -L/opt/angara/lib \
-Wl,-rpath,/opt/angara/lib -langara-shmem" ]
}

check 'library builds' build
if [ ! -e "$LIB" ]; then
	plan
	exit
fi
check 'tests build' build_tests
check 'every routine of the specification is exported' exports
check 'every routine is called by the test' calls
check 'routines that are absent' absent
for n in 1 2 3 5; do
	check "all routines, $n PEs" all "$n"
done
check 'all routines, 4 PEs, arguments checked' all 4 SHMEM_DEBUG=1
check 'all routines, 4 PEs on one node' all 4 ANGARA_FABRIC=embedded:1x1x1
check 'fences and waits that the library asks for' runs 2 order
for n in 2 8; do
	for program in isort heat bfs queue litmus threads; do
		check "$program, $n PEs" runs "$n" "$program"
	done
done
wrong before 'a call before shmem_init'
wrong finalized 'a call after shmem_finalize'
wrong bad-pe 'PE 1 is not from 0 to 0'
wrong negative-pe 'PE -1 is not from 0 to 0'
wrong not-symmetric 'is not symmetric'
wrong too-long 'exceed the symmetric heap'
wrong bad-stride 'strides 0 and 1 are not 1 or more'
wrong bad-signal 'operation 7 is not SHMEM_SIGNAL_SET'
wrong bad-cmp 'comparison 9 is not one of SHMEM_CMP_'
wrong bad-free 'is not a block of the symmetric heap'
wrong unaligned 'not aligned to 4 bytes'
wrong bad-set 'active set: start 0'
wrong bad-root 'the root 1 is not from 0 to 0'
wrong no-context 'SHMEM_CTX_INVALID'
export SHMEM_DEBUG=1
check 'SHMEM_DEBUG: unequal sizes of shmem_malloc()' refuses 3 1 unequal-malloc \
	'shmem_malloc: PEs call with different arguments'
check 'SHMEM_DEBUG: unequal roots' refuses 3 1 unequal-root \
	'broadcast: PEs call with different arguments'
unset SHMEM_DEBUG
check 'a PE is killed' killed
check 'shmem_global_exit(0) ends all' ends 0 "$BIN/oshrun" -np 3 "$TAP_TMP/wrong" exit-0
check 'shmem_global_exit(7) ends all' ends 7 "$BIN/oshrun" -np 3 "$TAP_TMP/wrong" exit-7
check 'waiting PEs sleep' ends 0 "$BIN/oshrun" -np 4 "$TAP_TMP/wrong" waiting
check 'a profiling library takes a routine over' prints 'calls 1, word 5' \
	"$BIN/oshrun" -np 2 "$TAP_TMP/profile"
check 'size of the heap: 2M' heap_size 2M 2097152
check 'size of the heap: 1.5m' heap_size 1.5m 1572864
for set in SHMEM_SYMMETRIC_SIZE=1M SHMEM_DEBUG=1; do
	check "only one PE has $set" unequal "$set"
done
check 'size of the heap: a space for a unit' says 'not a size' 1 \
	env 'SHMEM_SYMMETRIC_SIZE=0.5 ' "$TAP_TMP/wrong"
check 'size of the heap: no number' says 'SHMEM_SYMMETRIC_SIZE=big: not a size' 1 \
	env SHMEM_SYMMETRIC_SIZE=big "$TAP_TMP/wrong"
check 'version' prints 'OpenSHMEM 1.5, Angara 1.0.0' env SHMEM_VERSION=1 "$TAP_TMP/wrong"
check 'oshcc without files' says 'oshcc: no files' 1 "$BIN/oshcc"
if command -v "${CXX:-c++}" >/dev/null; then
	check 'C++ builds' "$BIN/oshc++" -Wall -Wextra -Wpedantic -Werror \
		-o "$TAP_TMP/plus" "$SRC/plus.cc"
	check 'C++ runs' prints 'sum 6' "$BIN/oshrun" -np 3 "$TAP_TMP/plus"
else
	skip 'C++' 'a C++ compiler is missing: install g++'
fi
if command -v mpirun.openmpi >/dev/null; then
	check 'started by mpirun' by_mpirun
else
	skip 'started by mpirun' 'Open MPI is missing: install openmpi-bin'
fi
if command -v mpiexec.hydra >/dev/null; then
	check 'started by mpiexec.hydra' by_hydra
else
	skip 'started by mpiexec.hydra' 'MPICH is missing: install mpich'
fi
check 'installs beside another OpenSHMEM' installed
plan
