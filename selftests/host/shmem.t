#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# OpenSHMEM on embedded fabrics: every routine of the specification is exported,
# called and compared; ordering; threads; programs, with LONG=1 also of 16 PEs; wrong
# use; launchers; installed files.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/shmem/jobs.sh

OUT=$VARIANTS/plain
SRC=selftests/shmem
BIN=$OUT/bin
LIB=$OUT/lib/libangara-shmem.so
PROGRAMS=$OUT/tests/shmem
JOB_SECONDS=600
LAUNCH=()
export LC_ALL=C
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC
unset {SHMEM,SMA}_{DEBUG,INFO,VERSION,SYMMETRIC_SIZE}

build()
{
	variant plain libangara libangara/shmem tools/run
}

build_tests()
{
	variant plain selftests/shmem
}

# symbols KIND: prints functions of the library: T strong, W weak
symbols()
{
	nm -D --defined-only "$LIB" |
		awk -v kind="$1" '$2 == kind { sub(/@.*/, "", $3); print $3 }' | sort
}

# The library exports exactly the routines: shmem_ weak, pshmem_ strong.
exports()
{
	local plain

	plain=$("$SRC/names" | grep -vE '^shmemx?_')
	[ "$("$SRC/names" | wc -l)" -gt 1800 ] &&
		diff <("$SRC/names" | grep -E '^shmemx?_') <(symbols W) &&
		diff <({ "$SRC/names" profiling; echo "$plain"; } | sort) <(symbols T)
}

calls()
{
	nm -u "$PROGRAMS/t" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort >"$TAP_TMP/called"
	[ -z "$(comm -23 <("$SRC/names") "$TAP_TMP/called")" ] && return
	comm -23 <("$SRC/names") "$TAP_TMP/called"
	return 1
}

# agrees COMPILER...: the header's prototypes are those of routines.txt. A pointer to
# each routine has the prototype's type, and is linked to the library.
agrees()
{
	{
		printf '#include <shmemx.h>\n'
		"$SRC/names" pointers
		printf 'int main(void) { return 0; }\n'
	} >"$TAP_TMP/pointers.c"
	[ "$(grep -c pointer_to_ "$TAP_TMP/pointers.c")" -gt 3700 ] &&
		"$@" -Werror -o "$TAP_TMP/pointers" "$TAP_TMP/pointers.c" && "$TAP_TMP/pointers"
}

# A wrong type of an argument or a result in routines.txt is an error.
disagrees()
{
	local names=$SRC/names SRC=$TAP_TMP/changed

	mkdir -p "$SRC" && cp "$names" "$SRC" || return
	for change in 's/int pe)$/long pe)/' 's/const TYPE \*source/TYPE *source/' \
			's/^each rma int /each rma void /'; do
		sed "$change" "${names%/*}/routines.txt" >"$SRC/routines.txt"
		! agrees "$@" || return
	done
}

# The header agrees with the prototypes of another implementation, of version
# 1.4, except that words and locks are not volatile any more.
prototypes()
{
	local theirs

	# shellcheck disable=SC2046 # options are words
	theirs=$(echo '#include <shmem.h>' |
		"${CC:-cc}" -std=gnu99 -E -P $(shmemcc --showme:compile) - | tr '\n' ' ' |
		tr ';' '\n') || return
	"$SRC/names" >"$TAP_TMP/names"
	{
		echo '#include <shmem.h>'
		echo "$theirs" | sed 's/^ *//; s/\<extern //; s/\<volatile //g; /^typedef/d' |
			awk 'NR == FNR { ours[$1]; next }
				match($0, /^[a-z][a-z0-9_ *]*[ *]p?shmem_[a-z0-9_]+ *\(/) {
					name = substr($0, 1, RLENGTH)
					sub(/ *\($/, "", name)
					sub(/.*[ *]/, "", name)
					if (name in ours)
						print $0 ";"
				}' "$TAP_TMP/names" -
	} >"$TAP_TMP/theirs.c"
	echo "$(wc -l <"$TAP_TMP/theirs.c") prototypes"
	[ "$(wc -l <"$TAP_TMP/theirs.c")" -gt 700 ] &&
		"${CC:-cc}" -std=gnu99 -w -Ilibangara/shmem/include -fsyntax-only \
			"$TAP_TMP/theirs.c"
}

# Routines that the table calls absent are not exported; documents give the
# reason.
absent()
{
	local name

	[ -n "$("$SRC/names" absent)" ] || return
	for name in $("$SRC/names" absent); do
		! symbols T | grep -qx "$name" || return
	done
	grep -q Fortran Documentation/shmem.rst
}

# Builds a library with operations of at most 1000 bytes, for the same programs.
build_parts()
{
	mkdir -p "$TAP_TMP/parts/lib" && cp -P "$OUT"/lib/libangara.so* "$TAP_TMP/parts/lib" &&
		build_in "$TAP_TMP/parts" 'CFLAGS=-O1 -g -DSHI_CHUNK=1000 -Werror' \
			libangara/shmem
}

parts()
{
	LD_LIBRARY_PATH=$TAP_TMP/parts/lib "$@"
}

# Each routine is on one man page; pages name nothing else.
manual_names()
{
	diff <("$SRC/names" groups) \
		<(sed -n 's/^\.Nm \([^ ]*\).*/\1/p' libangara/shmem/man/*.3 | sort)
}

# Pages and headers have the same prototypes, checked for one type and size.
manual_prototypes()
{
	{
		echo '#include <shmemx.h>'
		awk 'function type(name) {
				return name ~ /_(and|or|xor)(_nbi|_reduce)?$/ ? "ulong" : "long"
			}
			function emit() {
				line = ret " (" name ")(" args ");"
				gsub(/TYPENAME/, type(name), line)
				gsub(/TYPE/, type(name) == "long" ? "long" : "unsigned long", line)
				gsub(/SIZE/, "64", line)
				print line
			}
			/^\.(Ft|Fa) / { text = substr($0, 5); gsub(/"/, "", text) }
			/^\.Sh/ { synopsis = $2 == "SYNOPSIS" }
			!synopsis { next }
			/^\.Ft / { ret = text }
			/^\.Fn / { name = $2; args = "void"; emit() }
			/^\.Fo / { name = $2; args = "" }
			/^\.Fa / { args = args (args == "" ? "" : ", ") text }
			/^\.Fc/ { emit() }' libangara/shmem/man/*.3
	} >"$TAP_TMP/pages.c"
	[ "$(grep -c ';$' "$TAP_TMP/pages.c")" = "$("$SRC/names" groups | wc -l)" ] &&
		"${CC:-cc}" -std=gnu11 -Wall -Werror -Ilibangara/shmem/include -fsyntax-only \
			"$TAP_TMP/pages.c"
}

# shmem(7) lists all types of the table.
manual_types()
{
	local word

	while read -r word; do
		sed -n '/^\.Ss Types/,/^\.Ss Waiting/p' libangara/shmem/shmem.7 |
			grep -qw "$word" || return
	done < <(sed -n 's/^class \(rma\|sum\|sync\) //p' "$SRC/routines.txt" | tr ' ' '\n')
}

# sanitized VARIANT build | COMMAND...: runs COMMAND with everything built with
# the sanitizers of a variant.
sanitized()
{
	local with=$1 BIN=$VARIANTS/$1/bin PROGRAMS=$VARIANTS/$1/tests/shmem

	shift
	if [ "$1" = build ]; then
		variant "$with" libangara libangara/shmem tools/run selftests/shmem
	else
		"$@"
	fi
}

# threaded PROGRAM [ARGUMENT]: runs it with ThreadSanitizer, which leaves few addresses
# for heaps.
threaded()
{
	ANGARA_FABRIC=embedded:2,heap=256 TSAN_OPTIONS=suppressions=$PWD/$SRC/tsan.txt \
		sanitized tsan runs 2 "$@"
}

# wrong HOW TEXT: an error of a single PE causes exactly one line.
wrong()
{
	check "wrong use: $1" wrong_alone "$1" "$2"
}

wrong_alone()
{
	refuses 1 1 "$1" "$2" && [ "$(wc -l <"$TAP_TMP/out")" = 1 ]
}

# shared TEXT FILE [HOW]: the program ends with an error that has TEXT.
shared()
{
	local text=$1

	shift
	timeout 600 "$BIN/oshrun" -np 2 "$PROGRAMS/library" "$@" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 1 ] && grep -q "^shmem: PE .: .*$text" "$TAP_TMP/out"
}

left_by()
{
	find /dev/shm -name "angara-*-$1" | grep .
}

# If a PE is killed, the others name it within seconds, and the job's files are
# removed. The launcher may first see the end of another PE, which ended because
# of that.
killed()
{
	local name=shmem$$ start=$SECONDS

	export ANGARA_FABRIC=embedded:4x1x1,name=$name
	"$BIN/oshrun" -np 2 "$PROGRAMS/wrong" waiting &
	await left_by "$name" || return
	wait $! && ! left_by "$name" && refuses 3 '137|1' killed 'PE 1 has ended' &&
		! left_by "$name"
	local status=$?

	unset ANGARA_FABRIC
	echo "after $((SECONDS - start)) s"
	[ "$status" = 0 ] && [ $((SECONDS - start)) -le 120 ]
}

own_shm()
{
	unshare --mount mount -t tmpfs tmpfs /dev/shm 2>/dev/null
}

# dies SECONDS TEXT WAY COMMAND...: PE 1 is killed while the others are in a
# call. The command ends the job within SECONDS, a line has TEXT, and the job
# leaves no file in its own /dev/shm. FABRIC has the value of ANGARA_FABRIC.
dies()
{
	local seconds=$1 text=$2 way=$3 start=$SECONDS status

	shift 3
	# shellcheck disable=SC2016 # the shell inside expands it
	ANGARA_FABRIC=$FABRIC OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		timeout "$JOB_SECONDS" unshare --mount bash -c 'mount -t tmpfs tmpfs /dev/shm
			"$@"
			status=$?
			find /dev/shm -name "angara-*"
			exit $status' dies "$@" "$PROGRAMS/wrong" "killed-$way" \
		>"$TAP_TMP/out" 2>&1
	status=$?
	cat "$TAP_TMP/out"
	echo "status $status after $((SECONDS - start)) s"
	[ "$status" != 0 ] && [ "$status" != 124 ] && [ $((SECONDS - start)) -le "$seconds" ] &&
		grep -qE "$text" "$TAP_TMP/out" && ! grep '^/dev/shm' "$TAP_TMP/out"
}

# as_user COMMAND...: runs COMMAND as a user without the privileges of root.
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# closed STATUS WAY TEXT: PEs of a user to whose variables the system forbids access end
# with STATUS and print a line that has TEXT.
closed()
{
	as_user timeout "$JOB_SECONDS" "$BIN/oshrun" -np 2 "$PROGRAMS/wrong" "closed-$2" \
		>"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = "$1" ] && grep -q "$3" "$TAP_TMP/out"
}

# A program may have a locale whose fractions begin with a comma.
comma()
{
	SHMEM_INFO=1 SHMEM_SYMMETRIC_SIZE=1.5m LOCPATH=$TAP_TMP/locales LC_ALL=comma \
		"$PROGRAMS/wrong" locale >"$TAP_TMP/out" 2>&1
	cat "$TAP_TMP/out"
	grep '^SHMEM_SYMMETRIC_SIZE *1572864 ' "$TAP_TMP/out"
}

# A PE that notices the death prints a line; the launcher ends the others after its grace time.
deaths()
{
	local way FABRIC=embedded:4x1x1,name=shmem$$

	for way in put fence get fetch reduce team request team-put team-get team-fetch; do
		check "a PE is killed: $way" dies 120 '^shmem: PE [02]: .*: PE 1 has ended' \
			"$way" "$BIN/oshrun" --grace 20 -np 3
	done
	for way in wait lock test test_lock reduce_nb; do
		check "a PE is killed: $way" dies 120 \
			'process 1 was killed by signal 9|PE 1 has ended' \
			"$way" "$BIN/oshrun" -np 3
		# Use a launcher that ends no other PE.
		check "a PE is killed, the others notice: $way" dies 120 \
			"^shmem: PE [02]: $way: PE 1 has ended" \
			"$way" "$BIN/oshrun" --keep-going -np 3
	done
}

# deaths_by NAME COMMAND...: as deaths, for another launcher, which has its own messages.
deaths_by()
{
	local name=$1 way FABRIC=embedded:4x1x1

	shift
	if ! own_shm; then
		skip "a PE is killed, by $name" 'unshare --mount is not permitted'
		return
	fi
	for way in put wait lock reduce; do
		check "a PE is killed, by $name: $way" dies 120 \
			'PE 1 has ended|process rank 1 |BAD TERMINATION' "$way" "$@"
	done
}

# old_header HEADER PROGRAM: PROGRAM also builds with mpp/HEADER in place of HEADER.
old_header()
{
	sed "s|<$1>|<mpp/$1>|" "$SRC/$2.c" >"$TAP_TMP/old.c"
	grep -q "mpp/$1" "$TAP_TMP/old.c" && "$BIN/oshcc" -o "$TAP_TMP/old" "$TAP_TMP/old.c"
}

prints()
{
	local want=$1 got

	shift
	got=$("$@" 2>&1) || return
	echo "$got"
	[ "$(echo "$got" | sort -u)" = "$want" ]
}

# same_bits N: reductions with rounding give the same bits in two runs.
same_bits()
{
	local n=$1 first

	runs "$n" bits || return
	first=$(grep "^bits: $n PEs: " "$TAP_TMP/out")
	runs "$n" bits && [ -n "$first" ] &&
		[ "$(grep "^bits: $n PEs: " "$TAP_TMP/out")" = "$first" ]
}

# ANGARA_SHMEM_STATS prints lines of a team with a tree, and of one with one PE.
statistics()
{
	ANGARA_SHMEM_STATS=1 timeout 60 "$BIN/oshrun" -np 3 "$PROGRAMS/threads" \
		>"$TAP_TMP/out" 2>&1 || return
	cat "$TAP_TMP/out"
	grep -qE '^shmem: SHMEM_TEAM_WORLD of 3 PEs, first PE 0: tree [0-9]+; its collectives: [1-9]' \
		"$TAP_TMP/out" &&
		ANGARA_SHMEM_STATS=1 timeout 60 "$BIN/oshrun" -np 1 "$PROGRAMS/bfs" 2>&1 |
			grep 'SHMEM_TEAM_SHARED of 1 PEs, first PE 0: no tree, as it has one PE;'
}

# counts WAY: prints how many collectives of the world the adapters and software do.
counts()
{
	ANGARA_SHMEM_STATS=1 timeout 600 "$BIN/oshrun" -np 3 "$PROGRAMS/wrong" "$1" 2>&1 |
		sed -n 's/^shmem: SHMEM_TEAM_WORLD .*: \([0-9]*\) by the adapters, \([0-9]*\) by .*/\1 \2/p'
}

# Five broadcasts with a request are five more collectives of the adapters.
broadcasts_by_adapters()
{
	local without with

	without=$(counts nothing)
	with=$(counts nb-broadcast)
	echo "without: $without, with: $with"
	[ -n "$without" ] && [ "$with" = "$((${without% *} + 5)) ${without#* }" ]
}

# ends_with_output WAY: a PE ends the job; before that, each PE has printed its lines.
ends_with_output()
{
	timeout "$JOB_SECONDS" "$BIN/oshrun" -np 4 "$PROGRAMS/wrong" "$1" >"$TAP_TMP/out" 2>&1
	local status=$?

	cat "$TAP_TMP/out"
	[ "$status" = 0 ] && [ "$(sort -u "$TAP_TMP/out" | wc -l)" = 8 ] &&
		[ "$(grep -cE '^PE [0-3]: (output|at the end)$' "$TAP_TMP/out")" = 8 ]
}

helps()
{
	"$BIN/oshcc" --help | grep '^Usage: oshcc ' && "$BIN/oshc++" -h | grep '^Usage: oshc++ '
}

by_mpirun()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		ANGARA_FABRIC=embedded:2x2x1,name=shmem$$ \
		launched 3 mpirun.openmpi --oversubscribe -n 3
}

by_hydra()
{
	ANGARA_FABRIC=embedded:2x2x1,name=shmemh$$ launched 3 mpiexec.hydra -n 3
}

# Programs built by the wrappers of two implementations, with ours first in
# PATH, each use their own header and library. Open MPI's on Debian 12 crashes
# in shmem_finalize(), after its output.
side_by_side()
{
	local theirs

	theirs=$(PATH=$BIN:$PATH command -v shmemcc) || return
	PATH=$BIN:$PATH oshcc -o "$TAP_TMP/ours" "$SRC/queue.c" &&
		PATH=$BIN:$PATH "$theirs" -o "$TAP_TMP/theirs" "$SRC/queue.c" || return
	ldd "$TAP_TMP/ours" "$TAP_TMP/theirs" >"$TAP_TMP/libraries"
	cat "$TAP_TMP/libraries"
	[ "$(grep -cE 'libangara-shmem|liboshmem' "$TAP_TMP/libraries")" = 2 ] &&
		ldd "$TAP_TMP/ours" | grep -q libangara-shmem &&
		ldd "$TAP_TMP/theirs" | grep -q liboshmem || return
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PATH=$BIN:$PATH timeout 600 \
		mpirun.openmpi --oversubscribe -n 2 "$TAP_TMP/theirs" >"$TAP_TMP/out" 2>&1
	cat "$TAP_TMP/out"
	[ "$(grep -c '^queue: PE [01]: 0 errors' "$TAP_TMP/out")" = 2 ] &&
		PATH=$BIN:$PATH oshrun -np 2 "$TAP_TMP/ours" >"$TAP_TMP/out" 2>&1 &&
		[ "$(grep -c '^queue: PE [01]: 0 errors' "$TAP_TMP/out")" = 2 ]
}

# The installed files do not collide with Open MPI's: headers have their own
# folder.
installed()
{
	local root=$TAP_TMP/root file

	PREFIX=/opt/angara DESTDIR=$root variant plain libangara:install \
		libangara/shmem:install tools/run:install || return
	for file in bin/oshcc bin/oshc++ bin/oshrun include/angara-shmem/shmem.h \
			include/angara-shmem/shmemx.h include/angara-shmem/pshmem.h \
			include/angara-shmem/mpp/{shmem,shmemx,pshmem}.h \
			lib/libangara-shmem.so \
			lib/pkgconfig/angara-shmem.pc share/man/man1/oshc{c,++}.1 \
			share/man/man1/oshrun.1 share/man/man7/shmem.7 \
			share/man/man3/shmem_{put,quiet,TYPENAME_put_nbi}.3; do
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
check 'every routine has the prototype of the specification, C' agrees "$BIN/oshcc"
check 'a wrong type in the table is found' disagrees "$BIN/oshcc"
check 'routines that are absent' absent
check 'manual pages: each routine on one page' manual_names
check 'manual pages: prototypes' manual_prototypes
check 'manual pages: types' manual_types
for n in 1 2 3 5 16; do
	check "all routines, $n PEs" all "$n"
done
check 'all routines, 4 PEs, arguments checked' all 4 SHMEM_DEBUG=1
check 'all routines, 4 PEs on one node' all 4 ANGARA_FABRIC=embedded:1x1x1
check 'fences and waits that the library asks for' runs 2 order
SIZES=(2 8)
! long_form || SIZES+=(16)
for n in "${SIZES[@]}"; do
	for program in isort heat spmv bfs queue litmus threads makers direct; do
		check "$program, $n PEs" runs "$n" "$program"
	done
done
check 'messages of two threads take no mutex of the process' runs 2 rate 1
for n in 2 3; do
	check "a waiting thread does not lock the context, $n PEs" runs "$n" beside
	check "a waiting thread without a free file descriptor, $n PEs" runs "$n" beside full
done
check 'ASan, UBSan: library and programs build' sanitized asan build
check 'ASan, UBSan: all routines, 3 PEs' sanitized asan all 3
for program in isort heat spmv bfs queue litmus threads makers direct; do
	check "ASan, UBSan: $program" sanitized asan runs 3 "$program"
done
# host/races-embedded runs some of these programs under ThreadSanitizer, too.
if long_form; then
	check 'ThreadSanitizer: library and programs build' sanitized tsan build
	for program in threads makers beside; do
		check "ThreadSanitizer: $program" threaded "$program"
	done
	check 'ThreadSanitizer: messages of two threads' threaded rate 1
fi
check 'a library of short operations builds' build_parts
check 'operations in many parts: all routines' parts all 3
for program in isort heat spmv litmus; do
	check "operations in many parts: $program" parts runs 2 "$program"
done
for n in 1 3; do
	check "variables of a shared library, $n PEs" runs "$n" library "$PROGRAMS/said.so"
done
check 'variables of a shared library without a declaration' shared 'is not symmetric' \
	"$PROGRAMS/silent.so"
check 'a shared library that is loaded late' shared 'is loaded after shmem_init()' \
	"$PROGRAMS/said.so" late
for other in silent twin; do
	check "one PE has another shared library: $other" shared \
		'has other shared libraries' "$PROGRAMS/$other.so" other
done
wrong before 'a call before shmem_init'
wrong finalized 'a call after shmem_finalize'
wrong bad-pe 'PE 1 is not from 0 to 0'
wrong negative-pe 'PE -1 is not from 0 to 0'
wrong not-symmetric 'is not symmetric'
wrong too-long 'exceed the symmetric heap'
wrong bad-stride 'strides 0 and 1 must be 1 or more'
wrong bad-signal 'operation 7 is not SHMEM_SIGNAL_SET'
wrong odd-signal 'the signal at .* is not aligned to 8 bytes'
wrong bad-cmp 'comparison 9 is not one of SHMEM_CMP_'
wrong bad-free 'is not a block of the symmetric heap'
wrong unaligned 'not aligned to 4 bytes'
wrong bad-set 'active set: start 0'
wrong bad-root 'the root 1 is not from 0 to 0'
wrong no-context 'SHMEM_CTX_INVALID'
wrong wrap-put 'exceed the program.s variables'
wrong wrap-stride 'exceed the program.s variables'
wrong unreadable 'put: this PE cannot read all of the 1000 bytes at '
wrong unreadable-nbi 'put_nbi: this PE cannot read all of the 1000 bytes at '
wrong unwritable 'get: this PE cannot write all of the 1000 bytes at '
wrong unwritable-fetch 'atomic operation: this PE cannot write all of the 8 bytes at '
for way in collect alltoall alltoalls reduce; do
	check "more bytes than a size holds: $way" refuses 2 1 "wrap-$way" 'are not symmetric'
done
export SHMEM_DEBUG=1
check 'SHMEM_DEBUG: unequal sizes of shmem_malloc()' refuses 3 1 unequal-malloc \
	'shmem_malloc: PEs call with different arguments'
check 'SHMEM_DEBUG: unequal roots' refuses 3 1 unequal-root \
	'broadcast: PEs call with different arguments'
check 'SHMEM_DEBUG: unequal destinations of a broadcast' refuses 3 1 unequal-dest \
	'broadcast: dest: PEs call with different arguments'
for way in nb root-nb; do
	check "SHMEM_DEBUG: unequal arguments with a request: $way" refuses 3 1 \
		"unequal-$way" '_nb: PEs .*call with different arguments'
done
check 'SHMEM_DEBUG: unequal blocks of shmem_realloc()' refuses 3 1 unequal-realloc \
	'shmem_realloc: PEs call with different arguments'
wrong clear-free 'shmem_clear_lock: this PE does not hold the lock'
check 'SHMEM_DEBUG: a PE clears the lock of another one' refuses 2 1 clear-other \
	'PE 0: shmem_clear_lock: this PE does not hold the lock'
wrong wait-local '4 bytes at .* are not symmetric'
unset SHMEM_DEBUG
if as_user test -x "$PROGRAMS/wrong"; then
	check 'a PE lives whose variables cannot be accessed' closed 0 late 'PE 0 goes on'
	check 'a put to variables that cannot be accessed' closed 1 put \
		'^shmem: PE 0: put: PE 1 has memory that this PE cannot access'
	check 'a quiet after such a put' closed 1 quiet \
		'^shmem: PE 0: an operation on node .* has failed: host memory is not accessible'
else
	skip 'a PE whose variables cannot be accessed' 'no other user may run programs here'
fi
check 'a PE is killed' killed
if own_shm; then
	deaths
else
	skip 'a PE is killed in several calls' 'unshare --mount is not permitted'
fi
if other_namespace; then
	check 'shmem_global_exit() ends no other process' number_reused
	for n in 2 3 4; do
		check "shmem_global_exit(0) ends PEs out of reach of signals, $n PEs" \
			exits_far "$n" 0 exit-0
	done
	check 'shmem_global_exit() of a PE without a free context ends such PEs' \
		exits_far 2 0 exit-contexts
	check 'shmem_global_exit(7) ends PEs out of reach of signals' exits_far 4 7 exit-7
	check 'PEs out of reach of signals end in order' exits_far 4 0 nothing
else
	skip 'shmem_global_exit() ends no other process' 'no PID namespace whose next number can be chosen'
	skip 'shmem_global_exit() ends PEs out of reach of signals' 'the same'
fi
for level in 0 1 2 3; do
	check "threads: level $level" prints \
		"level $level: started, provided $level, query $level" \
		"$BIN/oshrun" -np 2 "$PROGRAMS/wrong" level "$level"
done
for level in -1 4; do
	check "threads: level $level" prints \
		"level $level: refused, provided -1, query -1" \
		"$BIN/oshrun" -np 2 "$PROGRAMS/wrong" level "$level"
done
check 'shmem_global_exit(0) ends all' ends 0 "$BIN/oshrun" -np 3 "$PROGRAMS/wrong" exit-0
check 'shmem_global_exit() of a PE without a free descriptor ends all' ends 0 \
	"$BIN/oshrun" -np 3 "$PROGRAMS/wrong" exit-full
check 'shmem_global_exit() ends a PE whose queue of signals is full' ends 0 \
	"$BIN/oshrun" -np 3 "$PROGRAMS/wrong" exit-queued
check 'shmem_global_exit() loses no output' ends_with_output exit-output
check 'shmem_global_exit() loses no output if PEs finalize in atexit()' ends_with_output \
	exit-finalize
check 'shmem_global_exit() loses no output of PEs that block signals' ends_with_output \
	exit-blocked
check 'shmem_global_exit(7) ends all' ends 7 "$BIN/oshrun" -np 3 "$PROGRAMS/wrong" exit-7
check 'a child ends by exit() after start_pes()' prints 'wrong: the child ended' \
	"$BIN/oshrun" -np 2 "$PROGRAMS/wrong" forks
for n in 2 3 8 13; do
	check "reductions with rounding: the same bits, $n PEs" same_bits "$n"
done
check 'statistics of teams' statistics
check 'adapters carry out broadcasts with a request' broadcasts_by_adapters
check 'operations on a stopped PE complete' runs 2 stopped
check 'eight waiting PEs of one processor sleep' sleeps 8
check 'a profiling library replaces a routine' prints 'calls 1, word 5' \
	"$BIN/oshrun" -np 2 "$PROGRAMS/profile"
check 'size of the heap: 2M' heap_size 2097152 SHMEM_SYMMETRIC_SIZE=2M
check 'size of the heap: 1.5m' heap_size 1572864 SHMEM_SYMMETRIC_SIZE=1.5m
check 'size of the heap: 3.1m, rounded up to pages' heap_size 3252224 SHMEM_SYMMETRIC_SIZE=3.1m
check 'size of the heap: less than a page' heap_size 4096 SHMEM_SYMMETRIC_SIZE=0.1k
mkdir "$TAP_TMP/locales"
if localedef -i de_DE -f UTF-8 "$TAP_TMP/locales/comma" 2>/dev/null; then
	check 'size of the heap: a locale with a comma' comma
else
	skip 'size of the heap: a locale with a comma' 'localedef cannot make de_DE'
fi
check 'deprecated SMA_SYMMETRIC_SIZE' heap_size 2097152 SMA_SYMMETRIC_SIZE=2M
check 'deprecated variable beside the new one' heap_size 2097152 SMA_SYMMETRIC_SIZE=4M \
	SHMEM_SYMMETRIC_SIZE=2M
check 'deprecated mpp/shmem.h' old_header shmem.h queue
check 'deprecated mpp/shmemx.h' old_header shmemx.h bits
check 'deprecated mpp/pshmem.h' old_header pshmem.h profile
for set in 0 -4k 20kk; do
	check "size of the heap: $set" says "SHMEM_SYMMETRIC_SIZE=$set: not a size above 0" 1 \
		env "SHMEM_SYMMETRIC_SIZE=$set" "$PROGRAMS/wrong"
done
for set in 16.1G 1T 1e300 inf; do
	check "size of the heap: $set" says "SHMEM_SYMMETRIC_SIZE=$set: above 16G" 1 \
		env "SHMEM_SYMMETRIC_SIZE=$set" "$PROGRAMS/wrong"
done
for set in SHMEM_SYMMETRIC_SIZE=1M SHMEM_DEBUG=1; do
	check "only one PE has $set" unequal "$set"
done
check 'size of the heap: a space for a unit' says 'not a size' 1 \
	env 'SHMEM_SYMMETRIC_SIZE=0.5 ' "$PROGRAMS/wrong"
check 'size of the heap: no number' says 'SHMEM_SYMMETRIC_SIZE=big: not a size' 1 \
	env SHMEM_SYMMETRIC_SIZE=big "$PROGRAMS/wrong"
check 'size of the heap: no number, deprecated name' says 'SMA_SYMMETRIC_SIZE=big: not a' 1 \
	env SMA_SYMMETRIC_SIZE=big "$PROGRAMS/wrong"
for name in SHMEM SMA; do
	check "version: ${name}_VERSION" prints 'OpenSHMEM 1.5, Angara 1.0.0' \
		env "${name}_VERSION=1" "$PROGRAMS/wrong"
done
check 'oshcc without files' says 'oshcc: no files' 2 "$BIN/oshcc"
check 'oshcc --help' helps
if command -v "${CXX:-c++}" >/dev/null; then
	check 'C++ builds' "$BIN/oshc++" -Wall -Wextra -Wpedantic -Werror \
		-o "$TAP_TMP/plus" "$SRC/plus.cc"
	check 'every routine has the prototype of the specification, C++' \
		agrees "$BIN/oshc++" -x c++
	check 'C++ runs' prints 'sum 6' "$BIN/oshrun" -np 3 "$TAP_TMP/plus"
else
	skip 'C++' 'a C++ compiler is missing: install g++'
fi
if command -v mpirun.openmpi >/dev/null; then
	check 'started by mpirun' by_mpirun
	deaths_by mpirun mpirun.openmpi --oversubscribe -n 3
else
	skip 'started by mpirun' 'Open MPI is missing: install openmpi-bin'
fi
if command -v mpiexec.hydra >/dev/null; then
	check 'started by mpiexec.hydra' by_hydra
	deaths_by mpiexec.hydra mpiexec.hydra -n 3
else
	skip 'started by mpiexec.hydra' 'MPICH is missing: install mpich'
fi
if command -v shmemcc >/dev/null; then
	check "prototypes of Open MPI's shmem.h" prototypes
else
	skip "prototypes of Open MPI's shmem.h" 'it is missing: install libopenmpi-dev'
fi
check 'installs in folders of its own' installed
if command -v shmemcc >/dev/null && command -v mpirun.openmpi >/dev/null; then
	check "beside Open MPI's OpenSHMEM" side_by_side
else
	skip "beside Open MPI's OpenSHMEM" 'it is missing: install libopenmpi-dev, openmpi-bin'
fi
plan
