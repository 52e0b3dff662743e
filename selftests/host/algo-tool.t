#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# angara-algo: formulas equal the simulated times of the schedules, messages and
# bytes equal the definitions, bad input gets one line of error, and the tests
# find the faults of selftests/algo/tool.txt.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mutate.sh

OUT=$VARIANTS/plain
ALGO=$OUT/bin/angara-algo
LIST=selftests/algo/tool.txt
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
PLAIN='allreduce-ring allreduce-doubling allreduce-rabenseifner bcast-torus
	bcast-binomial reduce-torus reduce-binomial allgather-ring'
TWO=8:50us:117MB/s,8:1us:2GB/s

# value NAME OPTION...: prints a column of the first row
value()
{
	"$ALGO" -j "${@:2}" | perl -MJSON::PP -0777 -e '
		my $rows = decode_json(<STDIN>);
		print $rows->[0]{$ARGV[0]}, "\n"' "$1"
}

# near VALUE WANTED: are both equal to a thousandth?
near()
{
	echo "$1, expected $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b * 0.999 && a < b * 1.001) }'
}

# equal OPTION...: does the formula equal the simulation in every row?
equal()
{
	"$ALGO" -j simulate "$@" | perl -MJSON::PP -0777 -e '
		my $rows = decode_json(<STDIN>);
		for (@$rows) {
			my $off = abs($_->{"difference %"});
			print "$_->{algorithm} $_->{dims} $off\n";
			exit 1 if $off > 0.001;
		}
		exit !@$rows'
}

# Formulas equal the simulation on one level, with whole messages and equal
# parts.
flat()
{
	local n dims

	for n in 2 3 7 8 12 16; do
		# shellcheck disable=SC2086 # words
		equal $PLAIN allgather-bruck -l "$n:2us:1GB/s:any" -b 94080 --add 2GB/s ||
			return
	done
	equal allgather-doubling allgather-doubling-exch allgather-doubling-reorder \
		allgather-bruck-exch allgather-bruck-reorder -l 16:2us:1GB/s -b 1KiB \
		--copy 3GB/s || return
	for dims in 2x3x4 4x6 24 3x8 2x2x2x3; do
		equal allreduce-ring bcast-torus reduce-torus -l 24:1us:1GB/s \
			--dims $dims -b 46080 --add 2GB/s || return
	done
}

# If messages are cut into packets, additions overlap with messages.
packets()
{
	equal allreduce-ring bcast-torus -l 16:1us:1GB/s --dims 4x4 -b 1MiB \
		--packet 16KiB --add 2GB/s &&
		equal allreduce-ring -l 16:1us:1GB/s -b 1MiB --packet 16KiB --add 0.5GB/s &&
		[ "$(value 'simulated us' simulate allreduce-ring -l 16:1us:1GB/s -b 16MiB \
			--packet 64KiB --add 2GB/s | cut -d. -f1)" -lt \
		"$(value 'simulated us' simulate allreduce-ring -l 16:1us:1GB/s -b 16MiB \
			--add 2GB/s | cut -d. -f1)" ]
}

# sums ALGORITHM MESSAGES BYTES OPTION...: do the sums over both levels equal
# MESSAGES and BYTES?
sums()
{
	local messages=$2 bytes=$3

	"$ALGO" -j simulate "$1" "${@:4}" | perl -MJSON::PP -0777 -e '
		my ($messages, $bytes) = @ARGV;
		my $row = decode_json(<STDIN>)->[0];
		my $m = $row->{"messages 1"} + $row->{"messages 2"};
		my $b = $row->{"bytes 1"} + $row->{"bytes 2"};
		print "$m messages, $b bytes, not $messages, $bytes\n";
		exit !($m == $messages && $b == $bytes)' "$messages" "$bytes"
}

# Compares messages and bytes with the definitions, for n = 64 members with 1 KiB each;
# a ring leaves each module once.
counts()
{
	sums allreduce-ring $((2 * 64 * 63)) $((2 * 63 * 1024)) -l $TWO -b 1KiB &&
		sums bcast-torus 63 $((63 * 1024)) -l $TWO -b 1KiB --dims 8x8 &&
		sums allgather-ring $((64 * 63)) $((64 * 63 * 1024)) -l $TWO -b 1KiB &&
		sums allgather-bruck $((64 * 6)) $((64 * 63 * 1024)) -l $TWO -b 1KiB &&
		sums allreduce-rabenseifner $((2 * 64 * 6)) $((2 * 63 * 1024)) \
			-l $TWO -b 1KiB &&
		[ "$(value 'messages 1' cost allgather-ring -l $TWO)" = $((8 * 63)) ] &&
		[ "$(value 'bytes 1' cost allgather-ring -l $TWO -b 8)" = $((8 * 63 * 8)) ] &&
		[ "$(value 'messages 2' cost allgather-ring -l $TWO)" = $((56 * 63)) ] &&
		[ "$(value 'messages 1' cost allgather-ring -l $TWO --place cyclic)" = \
			$((64 * 63)) ]
}

# Eight messages leave a module at a time; one link carries them in turn.
links()
{
	local one eight

	eight=$(value 'simulated us' simulate allreduce-doubling \
		-l 2:1us:1GB/s:8,8:0:0 -b 64KiB)
	one=$(value 'simulated us' simulate allreduce-doubling -l 2:1us:1GB/s,8:0:0 \
		-b 64KiB)
	near "$eight" 66.536 && near "$one" 532.288 &&
		near "$(value 'simulated us' simulate allreduce-doubling \
			-l 2:1us:1GB/s:any,8:0:0 -b 64KiB)" 66.536
}

# With renumbered members fewer bytes leave the modules, and all bytes still
# arrive.
numbers()
{
	local place

	"$ALGO" -j map allgather-bruck -l $TWO | perl -MJSON::PP -0777 -e '
		my ($up, $in) = @{decode_json(<STDIN>)};
		print "$up->{q(bytes by number)} of $up->{q(bytes by rank)}\n";
		exit !($up->{"bytes by number"} == 448 &&
		       $up->{"bytes by rank"} == 3752 &&
		       $up->{"bytes by rank"} + $in->{"bytes by rank"} == 64 * 63 &&
		       $up->{"bytes by number"} + $in->{"bytes by number"} == 64 * 63)' ||
		return
	for place in block cyclic 8,4,0,11,7,3,10,6,2,9,5,1; do
		sums allgather-bruck-reorder 48 $((12 * 11 * 8)) -b 8 --place $place \
			-l 3:1us:1GB/s,4:1us:2GB/s || return
		"$ALGO" simulate allgather-bruck-exch -l 3:1us:1GB/s,2:1us:2GB/s,2:1us:4GB/s \
			--place $place || return
	done
}

# The longest dimension uses the fastest links, the shortest one the slowest.
best()
{
	[ "$(value dims cost allreduce-ring --dims best -b 64MiB \
		-l 15:2us:1GB/s,14:1us:20GB/s)" = 14x15 ] &&
		[ "$(value dims cost allreduce-ring --dims best -b 64MiB \
			-l 15:2us:20GB/s,14:1us:1GB/s)" != 14x15 ] &&
		[ "$(value dims cost allreduce-ring --dims best -b 8 -l 64:1us:1GB/s)" = 8x8 ]
}

# refused TEXT ARGUMENT...: the program ends with status 2 and one line of error, which has TEXT.
refused()
{
	says "$1" 2 "$ALGO" "${@:2}"
}

usage()
{
	refused "unknown algorithm 'x'" cost x &&
		refused "unknown command 'x'" x &&
		refused 'cost: needs an algorithm' cost &&
		refused 'allgather-doubling: does not support 6 ranks' cost allgather-doubling \
			-l 6:1us:1GB/s &&
		refused 'number of members, 6' cost bcast-torus --dims 2x4 -l 6:1us:1GB/s &&
		refused 'must be COUNT:LATENCY:RATE' cost bcast-torus -l 6 &&
		refused 'not a number with a unit' cost bcast-torus -l 6:-1us:1GB/s &&
		refused 'not a number with a unit' cost bcast-torus -l 6:1us:fast &&
		refused "--bytes '4x': not a number of bytes" cost bcast-torus -b 4x &&
		refused 'must be from 1 to' cost bcast-torus -l 0:1us:1GB/s &&
		refused 'No such file' cost bcast-torus -l "file:$TAP_TMP/none" &&
		refused 'each core once' cost bcast-torus -l 2:1us:1GB/s --place 0,0 &&
		refused 'but there are 2 ranks' cost bcast-torus -l 2:1us:1GB/s --place 0 &&
		refused 'not a multiple of 8' cost bcast-torus -b 9 &&
		refused 'only 8 ranks' cost bcast-torus --root 8 &&
		refused 'needs several processes: start them by a launcher' cost bcast-torus -l machine &&
		refused 'allgather-ring does not renumber ranks' map allgather-ring &&
		refused 'the limit is 20000000: take fewer ranks' \
			simulate allreduce-ring -l 65536:1us:1GB/s &&
		refused 'the limit is 2000000000: take fewer ranks' \
			cost allreduce-ring -l 65536:1us:1GB/s &&
		refused 'takes more than five hours' \
			simulate bcast-binomial -l 4:20000000000us:1GB/s
}

file()
{
	printf '# two levels\n8:50us:117MB/s  # network\n\n\t 8:1us:2GB/s \r\n' \
		>"$TAP_TMP/levels"
	diff <("$ALGO" cost allreduce-ring -l "file:$TAP_TMP/levels") \
		<("$ALGO" cost allreduce-ring -l $TWO)
}

# figures NAME...: prints these columns of each row
figures()
{
	perl -MJSON::PP -0777 -e 'my $rows = decode_json(<STDIN>);
		for my $row (@$rows) {
			print join(" ", map { $row->{$_} } @ARGV), "\n";
		}' "$@"
}

# counted COMMAND...: COMMAND starts 6 processes. Their messages, and the bytes
# through each level, are as many as the schedules say, for short and long
# messages.
counted()
{
	local algo want got columns=('messages 1' 'bytes 1' 'messages 2' 'bytes 2')
	local way=(-l '2:1us:1GB/s,3:1us:1GB/s' -b '0,480,80KiB')

	for algo in allgather-bruck allreduce-ring bcast-binomial reduce-torus; do
		want=$("$ALGO" -j cost $algo "${way[@]}" | figures "${columns[@]}") &&
			got=$("$@" -j run $algo "${way[@]}" --repeat 2 |
				figures "${columns[@]}") || return
		printf '%s:\n%s\nby schedule:\n%s\n' $algo "$got" "$want"
		[ "$(wc -l <<<"$want")" = 3 ] && [ "$got" = "$want" ] || return
	done
}

# With as many repetitions, the program also runs internal barriers, whose messages do not count.
tallied()
{
	timeout 60 "$OUT/bin/angara-run" --fabric embedded -n 3 "$ALGO" run \
		allreduce-ring allgather-bruck -l 3:1us:1GB/s -b 8,8KiB,80008 --repeat 70
}

# The processors and caches on which processes run are levels: 4 processes
# alternate between 2 processors. hwloc gets two processors with a cache and a
# core each.
placed()
{
	local want got columns=('messages 1' 'bytes 1' 'messages 2' 'bytes 2')
	# shellcheck disable=SC2016 # expanded for each process
	local bound='exec taskset -c $((ANGARA_RANK % 2)) "$@"'
	local machine=('pack:2 l3:1 core:1 pu:1' 'pack:1 l3:2 core:1 pu:1') i
	local kinds=(processors 'L3 caches')

	want=$("$ALGO" -j cost allgather-bruck allreduce-ring -b 480 --place cyclic \
		-l 2:1us:1GB/s,2:1us:1GB/s | figures "${columns[@]}")
	for i in 0 1; do
		HWLOC_SYNTHETIC=${machine[i]} HWLOC_THISSYSTEM=1 \
			"$OUT/bin/angara-run" --fabric embedded -n 4 sh -c "$bound" sh \
			"$ALGO" run allgather-bruck allreduce-ring -b 480 \
			--levels machine --repeat 2 >"$TAP_TMP/placed" || return
		cat "$TAP_TMP/placed"
		grep -q "^fitted: level 1: 2 ${kinds[i]}, .* level 2: 4 processes, " \
			"$TAP_TMP/placed" || return
	done
	got=$(HWLOC_SYNTHETIC=${machine[1]} HWLOC_THISSYSTEM=1 \
		"$OUT/bin/angara-run" --fabric embedded -n 4 sh -c "$bound" sh "$ALGO" -j \
		cost allgather-bruck allreduce-ring -b 480 --levels machine |
		figures "${columns[@]}")
	printf '%s\nby schedule:\n%s\n' "$got" "$want"
	[ "$got" = "$want" ]
}

# The last rank is in the first part, so the number of its part does not give the number of parts.
around()
{
	local first=$TAP_TMP/around
	# shellcheck disable=SC2016 # expanded for each process
	local bound='exec taskset -c $((ANGARA_RANK % 2)) "$@"'

	HWLOC_SYNTHETIC='pack:2 l3:1 core:1 pu:1' HWLOC_THISSYSTEM=1 \
		"$OUT/bin/angara-run" --fabric embedded -n 3 sh -c "$bound" sh valgrind -q \
		"$ALGO" run allgather-bruck -b 480 --levels machine --repeat 1 --add 0 \
		>"$first" 2>&1 || return
	cat "$first"
	grep -q ' g = 0\.000 ns, c = [0-9.]*[1-9][0-9.]* ns$' "$first" && ! grep -q 'Invalid' "$first"
}

# A number without a value in JSON, and output that cannot be written.
unusual()
{
	local said

	"$ALGO" -j cost bcast-binomial -l 8:1e303s:1GB/s | perl -MJSON::PP -0777 -e '
		my $rows = decode_json(<STDIN>);
		exit(@$rows != 1 || defined $rows->[0]{"formula us"})' || return
	said=$("$ALGO" -j simulate allreduce-ring -l 4:1us:1GB/s 2>&1 >/dev/full) && return 1
	echo "$said"
	[[ $said == *'standard output cannot be written: No space left'* ]]
}

# g and c are the times of 65536 bytes, divided by their number. A clock that
# advances by 131072 ns per reading gives 2 ns per byte; four times the advance
# gives four times the result.
fitted_bytes()
{
	local times ns

	${CC:-cc} -O2 -Wall -Wextra -Werror -fPIC -shared -o "$TAP_TMP/clock.so" \
		selftests/algo/clock.c || return
	for times in 1 4; do
		TICK_NS=$((times * 131072)) "$OUT/bin/angara-run" --fabric embedded -n 1 \
			env LD_PRELOAD="$TAP_TMP/clock.so" "$ALGO" run allreduce-ring -b 8 \
			--repeat 2 >"$TAP_TMP/fitted" || return
		cat "$TAP_TMP/fitted"
		ns=$((times * 2)).000
		grep -q "^fitted: .* g = $ns ns, c = $ns ns$" "$TAP_TMP/fitted" || return
	done
}

# Can processes be bound to two processors, and hwloc find them?
can_place()
{
	pkg-config --exists hwloc && [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null
}

# Each host is a node, for MPI processes and for those of the library: messages
# pass through the level between the places of their ends. The measured rate of
# links between nodes is at most one and a half times the real one: 20 Mbit/s
# are 400 ns per byte. Other load can only make times longer.
nodes()
{
	local want columns=('messages 1' 'bytes 1' 'messages 2' 'bytes 2')
	local way=(run allgather-bruck -b 64KiB --levels machine --repeat 2 -j)
	# shellcheck disable=SC2016 # expanded for each process
	local host='hostname "node$((ANGARA_RANK % 2))"; exec "$@"'

	want=$("$ALGO" -j cost allgather-bruck -b 64KiB --place cyclic \
		-l 2:1us:1GB/s,2:1us:1GB/s | figures "${columns[@]}")
	timeout 300 tools/algo/namespaces --cyclic 2 2 20mbit "$ALGO-mpi" "${way[@]}" \
		>"$TAP_TMP/mpi" 2>"$TAP_TMP/said" || { cat "$TAP_TMP/said"; return 1; }
	timeout 60 "$OUT/bin/angara-run" --fabric embedded -n 4 unshare --uts sh -c "$host" \
		sh "$ALGO" "${way[@]}" >"$TAP_TMP/angara" || return
	cat "$TAP_TMP/mpi" "$TAP_TMP/angara"
	[ "$(figures "${columns[@]}" <"$TAP_TMP/mpi")" = "$want" ] &&
		[ "$(figures "${columns[@]}" <"$TAP_TMP/angara")" = "$want" ] &&
		figures 'b 1 ns' <"$TAP_TMP/mpi" | awk '{ exit !($1 > 200) }'
}

# sent FORM: prints how many bytes nodes send in 2 runs of an allgather in this form, including all
# other traffic
sent()
{
	timeout 600 tools/algo/namespaces 2 2 50mbit "$ALGO-mpi" run "allgather-$1" \
		--levels 2:200us:6MB/s,2:1us:2GB/s --bytes 128KiB --repeat 2 \
		2>"$TAP_TMP/said" >&2 || return
	sed -n 's/^namespaces: \([0-9]*\) bytes$/\1/p' "$TAP_TMP/said"
}

# Real levels: on links between network namespaces, results are right, and
# reordering saves at least the bytes that the schedules predict.
namespaces()
{
	local plain reorder saved one

	if ! plain=$(sent bruck) || ! reorder=$(sent bruck-reorder); then
		cat "$TAP_TMP/said"
		return 1
	fi
	one=$(value 'bytes 1' cost allgather-bruck -l 2:1us:1GB/s,2:1us:1GB/s -b 128KiB)
	saved=$((one - $(value 'bytes 1' cost allgather-bruck-reorder \
		-l 2:1us:1GB/s,2:1us:1GB/s -b 128KiB)))
	echo "$plain bytes by rank, $reorder by number; each run $saved less of $one"
	[ "$saved" -gt 0 ] && [ "$plain" -ge $((2 * one)) ] &&
		[ $((plain - reorder)) -ge $((2 * saved)) ]
}

# says_namespaces TEXT ARG...: the script ends with status 2, and prints only the error TEXT
says_namespaces()
{
	local status=0

	tools/algo/namespaces "${@:2}" >"$TAP_TMP/said" 2>&1 || status=$?
	cat "$TAP_TMP/said"
	[ $status = 2 ] && [ "$(cat "$TAP_TMP/said")" = "namespaces: $1" ]
}

# Runs the commands of the document and of the man page, unchanged.
shown_runs()
{
	local line count=0

	while read -r line; do
		[[ $line != mpirun* || -x $ALGO-mpi ]] || continue
		# shellcheck disable=SC2086 # words
		PATH=$OUT/bin:$PATH OMPI_MCA_rmaps_base_oversubscribe=1 $line </dev/null ||
			return
		count=$((count + 1))
	done < <(sed -n 's/^    \(angara-[ar][a-z]* .*\|mpirun .*\)/\1/p' \
			Documentation/algorithms.rst
		sed -n 's/^\.Dl \(angara-algo .*\)/\1/p' tools/man/angara-algo.1)
	[ "$count" -ge 7 ]
}

# Each algorithm is in the document.
listed()
{
	local name count=0

	while read -r name _; do
		grep -q "\`\`$name\`\`" Documentation/algorithms.rst || return
		count=$((count + 1))
	done < <("$ALGO" list | tail -n +2)
	[ "$count" = 14 ]
}

# between N ALGORITHMS COMMAND...: COMMAND runs the algorithms with N processes
between()
{
	local n=$1 names=$2 rows

	shift 2
	# shellcheck disable=SC2086 # words
	rows=$(timeout 120 "$@" run $names --repeat 1 -b 8,72,8KiB,80008 \
		-l "$((n / 2)):1us:1GB/s,2:1us:2GB/s" --place cyclic \
		--dims "$((n / 2))x2" --packet 1KiB --root 1 -j) || return
	perl -MJSON::PP -e '
		my $rows = decode_json($ARGV[0]);
		print scalar(@$rows), " rows\n";
		exit(@$rows != 4 * split(" ", $ARGV[1]) ||
		     grep { $_->{"measured us"} <= 0 } @$rows)' "$rows" "$names"
}

# launched COMMAND...: runs each algorithm; the program compares all elements.
launched()
{
	local all

	all=$("$ALGO" list | awk 'NR > 1 && !/allgather-doubling/ { print $1 }')
	between 6 "$all" "${@//@/6}" &&
		between 4 "allgather-doubling allgather-doubling-exch
			allgather-doubling-reorder" "${@//@/4}"
}

# mpirun gives processes a terminal; a table in a file has no colours nevertheless.
plain()
{
	TERM=xterm mpirun.openmpi --oversubscribe -n 2 "$ALGO-mpi" run allgather-bruck \
		--bytes 8 >"$TAP_TMP/plain" || return
	cat -v "$TAP_TMP/plain"
	grep -q '^algorithm ' "$TAP_TMP/plain" && ! grep -q $'\033' "$TAP_TMP/plain"
}

# The report: each row of its tables is complete, each picture exists.
report()
{
	local picture

	tools/algo/report "$ALGO" "$TAP_TMP/report" --quick &&
		awk -F'|' '/^\|/ {
				rows++
				for (i = 2; i < NF; i++)
					if ($i !~ /[^ ]/ && !(/^\| \|/ && i == 2))
						bad = 1
			}
			END { exit bad || rows < 25 }' "$TAP_TMP/report/report.md" || return
	command -v gnuplot >/dev/null || return 0
	for picture in rings gathers-block gathers-cyclic; do
		grep -q '</svg>' "$TAP_TMP/report/$picture.svg" || return
	done
}

# If a measured program fails, the report fails, too, and names the program's error.
report_fails()
{
	local dir=$TAP_TMP/fails status=0

	mkdir -p "$dir"
	ln -sf "$(realpath "$ALGO")" "$dir/algo"
	cat >"$dir/algo-mpi" <<-END
		#!/bin/sh
		case "\$*" in *allgather*) echo 'broken here' >&2; exit 3 ;; esac
		exec $(realpath "$ALGO")-mpi "\$@"
	END
	chmod +x "$dir/algo-mpi"
	tools/algo/report "$dir/algo" "$dir/report" --quick >"$TAP_TMP/said" 2>&1 ||
		status=$?
	cat "$TAP_TMP/said"
	[ $status = 1 ] && [ ! -e "$dir/report/report.md" ] &&
		grep -q 'broken here' "$TAP_TMP/said" &&
		grep -q '^report: allgathers on network namespaces fail with status 3' \
			"$TAP_TMP/said"
}

# succeeds PROGRAM TEST: runs TEST with this program, in its own shell
succeeds()
{
	local ALGO=$1

	timeout 120 bash -c "$(declare -f); $(declare -p ALGO OUT PLAIN TWO TAP_TMP); $2"
}

# finds FILE TEST FROM TO: succeeds if the test fails with the fault, and passes
# without.
finds()
{
	local dir parts file=${1##*/}

	dir=$(mktemp -d -p "$TAP_TMP")
	mutate "tools/algo/$1" "$3" "$4" >"$dir/$file" || return
	mapfile -t parts < <(find "$OUT/obj/algo" -name '*.o' ! -name "${file%.c}.o" \
		! -name exec_mpi.o ! -name place_all.o)
	# shellcheck disable=SC2046 # words
	gcc -std=gnu11 -w -D_GNU_SOURCE -DANG_RELEASE='""' -DANG_HAVE_METIS \
		$(pkg-config --exists hwloc && echo -DANG_HAVE_HWLOC) -Itools/algo \
		-Itools/common -Ilibangara -Ilibangara/algo -Ilibangara/env \
		-Ilibangara/include -Iuapi -Idriver/model -Idriver \
		-I"$(dirname "tools/algo/$1")" -c -o "$dir/mutant.o" "$dir/$file" || return
	# shellcheck disable=SC2046 # words
	gcc -o "$dir/algo" "$dir/mutant.o" "${parts[@]}" "$OUT/lib/libangara.a" \
		-ljson-c $(pkg-config --silence-errors --libs hwloc) -lpthread -lm || return
	succeeds "$ALGO" "$2" && ! succeeds "$dir/algo" "$2"
}

# fault FIRST NAME FROM TO: tests one fault of the list
fault()
{
	local file test

	read -r file test <<<"$1"
	if [ "$test" = placed ] && ! can_place; then
		skip "found: $file: $2" 'hwloc or a second processor is missing'
		return
	fi
	seek "found: $file: $2" finds "$file" "$test" "$3" "$4"
}

check 'it builds' variant plain libangara tools/run tools/algo
check 'one level: formulas equal the simulation' flat
check 'packets hide adding' packets
check 'messages and bytes of each level' counts
check 'links between levels' links
if [ -e /usr/include/metis.h ]; then
	check 'numbers of ranks' numbers
else
	skip 'numbers of ranks' 'METIS is missing: install libmetis-dev'
fi
check 'the best two dimensions' best
check 'a system from a file' file
check 'numbers without a value, and a full disk' unusual
check 'bad input' usage
check 'processes with adapters' launched "$OUT/bin/angara-run" --fabric embedded -n @ \
	"$ALGO"
check 'processes with adapters: messages of each level' counted \
	"$OUT/bin/angara-run" --fabric embedded -n 6 "$ALGO"
check 'processes with adapters: internal barriers' tallied
check 'g and c from the time of adding and copying' fitted_bytes
if can_place; then
	check 'processors and caches of the machine' placed
	if command -v valgrind >/dev/null; then
		check 'the last rank is in the first part' around
	else
		skip 'the last rank is in the first part' 'valgrind is missing'
	fi
else
	skip 'processors and caches of the machine' 'hwloc or a second processor is missing'
fi
if [ -x "$ALGO-mpi" ]; then
	check 'processes of an MPI: messages of each level' counted \
		mpirun.openmpi --oversubscribe -n 6 "$ALGO-mpi"
	check 'processes of an MPI: no colours in a file' plain
	check 'processes of an MPI' launched mpirun.openmpi --oversubscribe -n @ \
		"$ALGO-mpi"
else
	skip 'processes of an MPI' 'mpi.h is missing: install libopenmpi-dev'
fi
if [ -x "$ALGO-mpi" ] && [ -e /usr/include/metis.h ]; then
	if why=$(timeout 300 tools/algo/namespaces 1 1 1mbit true 2>&1); then
		check 'levels made real' namespaces
		check 'nodes of the machine' nodes
		check 'a report of a program that fails' report_fails
	else
		skip 'levels made real' "${why##*namespaces: }"
	fi
else
	skip 'levels made real' 'mpi.h or METIS is missing: install libopenmpi-dev, libmetis-dev'
fi
check 'no nodes' says_namespaces "NODES '0': expected 1 to 99" 0 1 1mbit true
check 'no rate' says_namespaces \
	'usage: namespaces [--cyclic] NODES PROCESSES RATE PROGRAM [ARG]...' 1 1
check 'published results again' report
check 'commands of the documents' shown_runs
check 'algorithms of the document' listed
if [ -e /usr/include/metis.h ]; then
	faults "$LIST" fault
	found
else
	skip 'inserted faults' 'METIS is missing: install libmetis-dev'
fi
plan
