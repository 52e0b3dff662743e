#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# angara-bench on the embedded fabric: its output, errors for bad input, wrong
# results that --check must find, and the calculations of the comparison with
# MPI. Times are not checked.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
BENCH=$OUT/bin/angara-bench
RUN=$OUT/bin/angara-run
OPS='put get bcast bcast-barrier reduce allreduce allgather'
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_TTY
export LD_LIBRARY_PATH=$OUT/lib ANGARA_FABRIC=embedded

compile()
{
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g \
		-Ilibangara/include -Iuapi -Itools/bench "$@"
}

# bench N ARGUMENT...: runs angara-bench with N processes.
bench()
{
	local n=$1

	shift
	timeout 600 "$RUN" -n "$n" "$BENCH" "$@"
}

# bad TEXT ARGUMENT...: these arguments get one line of error.
bad()
{
	local text=$1

	shift
	check "refused: $*" says "$text" 2 "$RUN" -n 2 "$BENCH" "$@"
}

# Every row has as many fields as the heading, and its numbers are consistent.
csv()
{
	bench 3 allreduce -s 8,64:256 -n 20 --csv >"$TAP_TMP/csv" || return 1
	cat "$TAP_TMP/csv"
	awk -F, 'NR == 1 { n = NF; good = $0 ~ /^operation,mode,.*median_us/ }
		NR > 1 {
			good = good && NF == n && $1 == "allreduce" && $3 == 3 &&
				$6 == 20 && $7 >= 1 && $8 > 0 && $8 <= $9 &&
				$9 <= $10 && $11 > 0 && $10 <= $14 &&
				$8 <= $13 && $13 <= $14
			sizes = sizes " " $4
		}
		END { exit !(good && sizes == " 8 64 128 256") }' "$TAP_TMP/csv"
}

# Rates follow from the median, the window and the size.
json()
{
	bench 2 put --bw -W 8 -s 64,4K -n 10 -j >"$TAP_TMP/json" || return 1
	cat "$TAP_TMP/json"
	perl -MJSON::PP -e '
		my $r = decode_json(join "", <>);
		my @rows = @{$r->{results}};
		sub near { return abs($_[0] / $_[1] - 1) < 0.01 }
		for my $row (@rows) {
			my $ops = 8e6 / $row->{median_us};
			near($row->{ops_per_s}, $ops) &&
			near($row->{mb_per_s}, $ops * $row->{bytes} / 1e6) or
				exit 1;
		}
		exit !($r->{operation} eq "put" && $r->{mode} eq "bw" &&
			$r->{processes} == 2 && $r->{window} == 8 &&
			@{$r->{torus}} && !$r->{checked} && @rows == 2 &&
			$rows[0]{bytes} == 64 && $rows[1]{bytes} == 4096);
	' "$TAP_TMP/json"
}

# The benchmark alternates between one tree and three trees; gains are quotients of medians.
trees()
{
	bench 3 "$1" -s 8,4000,64K -n 10 --trees 3 --check --csv >"$TAP_TMP/csv" ||
		return 1
	cat "$TAP_TMP/csv"
	awk -F, 'NR == 1 { good = NF == 16 && $15 == "trees" && $16 == "gain" }
		NR > 1 {
			several = NR % 2
			good = good && $15 == (several ? 3 : 1) &&
				$4 == substr("8    8    4000 4000 6553665536", (NR - 2) * 5 + 1, 5) + 0
			if (!several)
				one = $9
			want = several ? one / $9 : 1
			good = good && $16 > 0.99 * want - 0.001 &&
				$16 < 1.01 * want + 0.001
		}
		END { exit !(good && NR == 7) }' "$TAP_TMP/csv"
}

table()
{
	bench 2 barrier -n 10 >"$TAP_TMP/table" || return 1
	cat "$TAP_TMP/table"
	[ "$(wc -l <"$TAP_TMP/table")" = 3 ] &&
		grep -q '^# angara-bench barrier --lat: 2 processes' "$TAP_TMP/table"
}

# spoilt OP RANK: a wrong bit in the result of RANK is detected.
spoilt()
{
	local status=0

	SPOIL_RANK=$2 SPOIL_AT=64 timeout 600 "$RUN" -n 2 --grace 2 \
		env LD_PRELOAD="$TAP_TMP/spoil.so" "$BENCH" "$1" -s 64 -n 5 --check \
		>"$TAP_TMP/said.out" 2>"$TAP_TMP/said" || status=$?
	cat "$TAP_TMP/said.out" "$TAP_TMP/said"
	[ "$status" = 1 ] && [ "$(grep -c '^angara-bench: ' "$TAP_TMP/said")" = 1 ] &&
		grep -q "rank $2: wrong result: $1 of 64 bytes" "$TAP_TMP/said"
}

under_mpirun()
{
	local root=()

	[ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
	timeout 600 mpirun.openmpi "${root[@]}" --oversubscribe -n 4 "$BENCH" \
		allreduce -s 8,4K -n 20 --check
}

# gives FILE TEXT...: the table of the results in FILE has these lines, ignoring blanks.
gives()
{
	local file=$1 line bad=0

	shift
	tools/bench/report --csv "$TAP_TMP/report.csv" --json "$TAP_TMP/report.json" \
		"$file" >"$TAP_TMP/table" || return 1
	cat "$TAP_TMP/table"
	for line; do
		tr -s ' ' <"$TAP_TMP/table" | grep -qF -- "$line" && continue
		echo "missing: $line"
		bad=1
	done
	return $bad
}

build_shmem()
{
	variant plain libangara/shmem &&
		OSHCC_CC=${CC:-cc} "$OUT/bin/oshcc" -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall \
			-Wextra -Werror -Ilibangara/include -Iuapi -o "$TAP_TMP/shmem-bench" \
			tools/bench/shmem-bench.c tools/bench/stats.c &&
		OSHCC_CC=${CC:-cc} "$OUT/bin/oshcc" -shared -fPIC -Wall -Wextra -Werror \
			-o "$TAP_TMP/spoil-shmem.so" selftests/bench/spoil-shmem.c
}

# shmem_csv OPERATION BYTES...: the output has a row for each size, with the
# fields of angara-bench
shmem_csv()
{
	local op=$1

	shift
	timeout 600 "$RUN" -n 3 "$TAP_TMP/shmem-bench" "$op" 10 4 "$@" >"$TAP_TMP/csv" ||
		return
	cat "$TAP_TMP/csv"
	awk -F, -v op="shmem-$op" -v sizes="$*" '
		BEGIN { n = split(sizes, want, " ") }
		!(NF == 14 && $1 == op && $3 == 3 && $4 == want[NR] && $6 == 10 &&
			$7 == 4 && $8 > 0 && $8 <= $9 && $9 <= $10 && $10 <= $14 &&
			$8 <= $13 && $13 <= $14) { bad = 1 }
		END { exit bad || NR != n }' "$TAP_TMP/csv"
}

shmem_spoilt()
{
	timeout 600 "$RUN" -n 2 --grace 2 env LD_PRELOAD="$TAP_TMP/spoil-shmem.so" \
		"$TAP_TMP/shmem-bench" "$1" 5 1 64 >"$TAP_TMP/said" 2>&1
	local status=$?

	cat "$TAP_TMP/said"
	[ "$status" = 1 ] && grep -q "^shmem-bench: PE 1: wrong result: $1" "$TAP_TMP/said"
}

# ofi_rate_on DOMAINS ARGUMENT...: ofi-rate over the provider
ofi_rate_on()
{
	FI_PROVIDER_PATH=$OUT/lib/libfabric ANGARA_FABRIC=embedded:2x1,name=rate-$$ \
		timeout 120 "$TAP_TMP/ofi-rate" -d "$1" angara "${@:2}"
}

# ofi_rate ARGUMENT...: ofi-rate over the two adapters of a fabric.
ofi_rate()
{
	ofi_rate_on angara0,angara1 "$@"
}

# near OPERATION WINDOW: two processes on one adapter are not much slower than on
# two. Compares minima of up to five runs: other load can delay all samples of one.
near()
{
	local run one two

	for run in 1 2 3 4 5; do
		two=$(ofi_rate_on angara0,angara1 "$1" "$2" 40 4 8 | cut -d, -f8) &&
			one=$(ofi_rate_on angara0,angara0 "$1" "$2" 40 4 8 | cut -d, -f8) ||
			return
		echo "run $run: on one adapter $one us, on two $two us"
		awk -v one="$one" -v two="$two" 'BEGIN { exit !(one > 0 && one < 5 * two) }' &&
			return
	done
	return 1
}

# ofi_csv OPERATION WINDOW BATCH: the output has a row for each size, with the fields of
# angara-bench; of a pingpong both messages count
ofi_csv()
{
	ofi_rate "$1" "$2" 10 4 8 65536 >"$TAP_TMP/csv" || return
	cat "$TAP_TMP/csv"
	awk -F, -v op="$1" -v window="$2" -v batch="$3" '
		!(NF == 14 && $1 == op && $2 == (window > 1 ? "bw" : "lat") &&
			$3 == 2 && $4 == (NR == 1 ? 8 : 65536) && $5 == window &&
			$6 == 10 && $7 == batch && $8 > 0 && $8 <= $9 &&
			$9 <= $10 && $10 <= $14 && $8 <= $13 && $13 <= $14 &&
			$11 * $9 > window * 0.99e6 && $11 * $9 < window * 1.01e6) {
			bad = 1
		}
		END { exit bad || NR != 2 }' "$TAP_TMP/csv"
}

ofi_spoilt()
{
	LD_PRELOAD=$TAP_TMP/spoil-ofi.so ofi_rate "$1" "$2" 5 1 4096 \
		>"$TAP_TMP/said" 2>&1
	local status=$?

	cat "$TAP_TMP/said"
	[ "$status" = 1 ] &&
		grep -q "wrong result: $1 of 4096 bytes, byte 4095" \
			"$TAP_TMP/said"
}

# results FABRIC LINE...: prints a file of results.
results()
{
	echo "# fabric: $1"
	shift
	printf '%s\n' "$@"
}

plots()
{
	tools/bench/report --plots "$TAP_TMP" "$TAP_TMP/results" &&
		for op in allreduce barrier bcast; do
			[ "$(head -c 4 "$TAP_TMP/embedded-$op.png" | tail -c 3)" = \
				PNG ] || return 1
		done
}

report_json()
{
	perl -MJSON::PP -e 'my $r = decode_json(join "", <>);
		exit !(@{$r->{results}} == 4 && $r->{results}[0]{ratio} == 3 &&
			$r->{results}[0]{met} && !$r->{results}[2]{met})' \
		"$TAP_TMP/report.json"
}

# refused_result TEXT LINE: a file with this line is rejected
refused_result()
{
	results embedded "$2" >"$TAP_TMP/bad"
	says "$1" 1 tools/bench/report "$TAP_TMP/bad"
}

# The computing program runs as long as the command. Two hundred sleeps cause at
# least as many context switches.
beside()
{
	# shellcheck disable=SC2016 # the inner shell expands these
	"$TAP_TMP/beside" 2 bash -c 'pgrep -P $PPID -x beside | wc -l >"$0"
		for i in {1..200}; do sleep 0.001; done' "$TAP_TMP/ran" \
		2>"$TAP_TMP/counts"
	cat "$TAP_TMP/ran" "$TAP_TMP/counts"
	[ "$(cat "$TAP_TMP/ran")" = 2 ] &&
		awk '{ exit !($1 >= 200000 && $2 >= 200) }' "$TAP_TMP/counts"
}

# Checks columns of the table that do not depend on the load of the machine.
busy()
{
	PATH=$OUT/bin:$PATH timeout 600 tools/bench/busy --quick --ops barrier \
		--procs 2 "$TAP_TMP" >"$TAP_TMP/busy" || return 1
	cat "$TAP_TMP/busy"
	awk 'NR == 3 { good = NF == 10 && $1 == "barrier" && $2 == 2 && $3 == "angara" &&
			($10 == "met" || $10 == "missed") }
		END { exit !(good && NR == 3) }' "$TAP_TMP/busy"
}

check 'builds' variant plain libangara tools/run tools/bench
for op in $OPS; do
	check "$op, checked" bench 3 "$op" -s 8,4K,64K -n 10 --check
	check "$op, many at a time" bench 2 "$op" --rate -W 16 -s 8,1K -n 5 --check
done
check 'barrier' bench 3 barrier --rate -n 20
check 'alone' bench 1 put -s 8 -n 10 --check
check 'sixteen processes' bench 16 allreduce -s 8,4K -n 10 --check
for op in bcast bcast-barrier reduce allreduce; do
	check "$op over several trees" trees "$op"
done
check 'many over several trees' bench 2 allreduce --bw -W 8 -s 64K -n 5 --trees 15 \
	--check
check 'more trees than there are' complains \
	'17 free collective trees are needed' 1 \
	"$RUN" -n 2 "$BENCH" allreduce --trees 16
check 'CSV' csv
check 'JSON' json
check 'table' table

bad 'which operation?'
bad "unknown operation 'gather'" gather
bad "unexpected argument '64'" put 64
bad "unknown option '-x'" put -x
check 'refused: a guest beside a program' says '--busy excludes' 2 tools/bench/run --busy --guest
check 'refused: the guest root beside a program' says '--busy excludes' 2 tools/bench/run --busy --root
check 'refused: no launcher' says "start several, such as 'angara-run -n 8 angara-bench put'" 2 \
	"$BENCH" put
bad "-n '0': not a number from 1" put -n 0
bad "-s '': not a number" put -s 8,
bad "-s '4': not a number from 8" put -s 8:4
bad "-s '2G': not a number" put -s 2G
bad '12 is not a multiple of 8' allreduce -s 12
bad 'a barrier has no size' barrier -s 8
bad 'a barrier moves no data' barrier --bw
bad 'a barrier moves no data' barrier --check
bad '--lat and --bw exclude each other' put --lat --bw
bad '--csv and --json exclude each other' put --csv -j
bad '-W is for --bw and --rate' put -W 4
bad "-W '257': not a number" put --bw -W 257
bad '--to is for put and get' bcast --to 1
bad "--to '2': not a number from 0 to 1" put --to 2
bad "--trees '1': not a number from 2 to 16" reduce --trees 1
bad "--trees '17': not a number from 2 to 16" reduce --trees 17
bad '--trees is for bcast' put --trees 2
bad '-b and --check exclude each other' put -b 4 --check
bad '-b is not for bcast: there is a barrier before each' bcast -b 4
bad 'more than 64 sizes' put -s "$(seq -s, 65)"

check 'a library that corrupts results builds' compile -shared -fPIC \
	-o "$TAP_TMP/spoil.so" selftests/bench/spoil.c
for op in get reduce; do
	check "a wrong result is found: $op" spoilt "$op" 0
done
for op in put bcast bcast-barrier allreduce allgather; do
	check "a wrong result is found: $op" spoilt "$op" 1
done
if command -v mpirun.openmpi >/dev/null && pkg-config --exists pmix; then
	check 'under mpirun' under_mpirun
else
	skip 'under mpirun' 'install openmpi-bin and libpmix-dev'
fi

check 'shmem-bench builds' build_shmem
for op in put reduce broadcast; do
	check "OpenSHMEM: $op" shmem_csv "$op" 8 4096
	check "a wrong result is found: OpenSHMEM, $op" shmem_spoilt "$op"
done
check 'OpenSHMEM: barrier' shmem_csv barrier 0
check 'shmem-bench: no number' says "'8x': not a number" 2 "$TAP_TMP/shmem-bench" put 5 1 8x
check 'shmem-bench: no operation' says 'usage: shmem-bench' 2 "$TAP_TMP/shmem-bench" get 5 1 8
if pkg-config --exists libfabric; then
	check 'the provider builds' variant plain libangara/ofi
	check 'ofi-rate builds' compile -o "$TAP_TMP/ofi-rate" tools/bench/ofi-rate.c \
		tools/bench/stats.c -lfabric
	check 'a library that corrupts the memory of ofi-rate builds' compile -shared -fPIC \
		-o "$TAP_TMP/spoil-ofi.so" selftests/bench/spoil-ofi.c
	for op in 'pingpong 1 8' 'message 16 4' 'write 1 4' 'write 16 4'; do
		# shellcheck disable=SC2086 # these are words
		check "libfabric: ${op% *}" ofi_csv $op
	done
	for op in 'pingpong 1' 'message 16' 'write 16'; do
		# shellcheck disable=SC2086
		check "libfabric on one adapter: ${op% *}" near $op
	done
	for op in 'pingpong 1' 'message 16' 'write 16'; do
		# shellcheck disable=SC2086
		check "a wrong result is found: libfabric, $op" ofi_spoilt $op
	done
	check 'ofi-rate: a window of a pingpong' says "not a number from 1 to 1" 2 \
		"$TAP_TMP/ofi-rate" tcp pingpong 2 5 1 8
	check 'ofi-rate: no operation' says "unknown operation 'get'" 2 \
		"$TAP_TMP/ofi-rate" tcp get 1 5 1 8
	# Other providers, which libfabric would load, may print warnings.
	check 'ofi-rate: no provider' says 'nosuch: No data available' 1 \
		env FI_PROVIDER=tcp "$TAP_TMP/ofi-rate" nosuch write 1 5 1 8
else
	skip 'operations of libfabric' 'install libfabric-dev'
fi
check 'the test of figures builds' compile -o "$TAP_TMP/stats" \
	selftests/bench/stats.c tools/bench/stats.c
check 'figures from stamps' "$TAP_TMP/stats"

# Medians, the faster of two libraries, and ratios within rounds; round 0 does not count.
results embedded '# a note' \
	0,openmpi,sm,allreduce,4,8,0.5 \
	1,angara,,allreduce,4,8,2 1,openmpi,sm,allreduce,4,8,6 \
	1,openmpi,han,allreduce,4,8,9 1,mpich,,allreduce,4,8,50 \
	2,angara,,allreduce,4,8,2 2,openmpi,sm,allreduce,4,8,5 \
	2,openmpi,han,allreduce,4,8,1 2,mpich,,allreduce,4,8,50 \
	3,angara,,allreduce,4,8,4 3,openmpi,sm,allreduce,4,8,20 \
	3,openmpi,han,allreduce,4,8,19 3,mpich,,allreduce,4,8,50 \
	1,angara,,barrier,2,0,4 1,mpich,,barrier,2,0,2 \
	2,angara,,barrier,2,0,4 2,mpich,,barrier,2,0,3 \
	1,angara,,bcast,4,16384,3 1,mpich,,bcast,4,16384,3 \
	1,angara,,bcast,8,16777216,8 1,memcpy,,bcast,8,16777216,4 \
	>"$TAP_TMP/results"
check 'medians, ratios, spread, floors' gives "$TAP_TMP/results" \
	'embedded fabric' ' a note' \
	'allreduce 4 8 2.00 6.00 openmpi sm 3.00 2.50..5.00 2 met' \
	'bcast 4 16K 3.00 3.00 mpich 1.00 1.00..1.00 - ' \
	'bcast 8 16M 8.00 4.00 memcpy 0.50 0.50..0.50 0.8 missed by 38 %' \
	'barrier 2 - 4.00 2.50 mpich 0.62 0.50..0.75 0.7 missed by 11 %' \
	'1 of 3 floors met'
check 'the report as JSON' report_json
if command -v gnuplot >/dev/null; then
	check 'plots' plots
else
	skip 'plots' 'gnuplot is missing: install gnuplot-nox'
fi
check 'no folder for plots' says "report: $TAP_TMP/none: not a folder" 1 tools/bench/report \
	--plots "$TAP_TMP/none" "$TAP_TMP/results"
results loop 1,angara,,barrier,4,0,2 1,openmpi,han,barrier,4,0,1 >"$TAP_TMP/loop"
check 'floors of the loopback' gives "$TAP_TMP/loop" \
	'barrier 4 - 2.00 1.00 openmpi han 0.50 0.50..0.50 1.5 missed by 67 %' \
	'0 of 1 floors met'
# Results for each class of floors, just below the limit and at it.
results embedded 1,angara,,allreduce,2,65536,10 1,mpich,,allreduce,2,65536,10 \
	1,angara,,allreduce,4,65536,10 1,mpich,,allreduce,4,65536,12 \
	1,angara,,bcast,16,65536,10 1,mpich,,bcast,16,65536,15 \
	1,angara,,barrier,16,0,10 1,mpich,,barrier,16,0,20 \
	1,angara,,mpi-barrier,8,0,10 1,openmpi,,mpi-barrier,8,0,9 \
	1,angara,,message,2,8,10 1,openmpi,memory,message,2,8,5 \
	1,angara,,message,2,4096,10 1,openmpi,memory,message,2,4096,5 \
	1,angara,,message,2,65536,10 1,openmpi,memory,message,2,65536,7 \
	1,angara,,put-rate,2,8,0.125 1,goal,,put-rate,2,8,0.1 \
	1,angara,,put-rate,2,64,0.125 >"$TAP_TMP/results"
check 'classes of floors' gives "$TAP_TMP/results" \
	'allreduce 2 64K 10.00 10.00 mpich 1.00 1.00..1.00 1 met' \
	'allreduce 4 64K 10.00 12.00 mpich 1.20 1.20..1.20 1.2 met' \
	'bcast 16 64K 10.00 15.00 mpich 1.50 1.50..1.50 2 missed by 25 %' \
	'barrier 16 - 10.00 20.00 mpich 2.00 2.00..2.00 2 met' \
	'mpi-barrier 8 - 10.00 9.00 openmpi 0.90 0.90..0.90 1 missed by 10 %' \
	'message 2 8 10.00 5.00 openmpi memory 0.50 0.50..0.50 0.5 met' \
	'message 2 4K 10.00 5.00 openmpi memory 0.50 0.50..0.50 - ' \
	'message 2 64K 10.00 7.00 openmpi memory 0.70 0.70..0.70 0.769 missed by 9 %' \
	'put-rate 2 8 0.12 0.10 goal 0.80 0.80..0.80 1 missed by 20 %' \
	'4 of 8 floors met'
# floors TEXT...: the last table has these lines, ignoring blanks.
floors()
{
	local line bad=0

	tools/bench/floors "$TAP_TMP/report.csv" "$TAP_TMP/busy.txt" >"$TAP_TMP/table" ||
		return 1
	cat "$TAP_TMP/table"
	for line; do
		tr -s ' ' <"$TAP_TMP/table" | grep -qF -- "$line" && continue
		echo "missing: $line"
		bad=1
	done
	return $bad
}
printf '%s\n' '# beside' \
	'operation procs library alone beside ratio switches beside necessary floor' \
	'barrier 2 angara 1.0 4.0 4.0 1 1 0.00 met' \
	'barrier 2 openmpi 1.0 90.0 90.0 1 1 0.00 -' \
	'allreduce 4 angara 1.0 8.0 8.0 1 1 0.50 missed' \
	'allreduce 8 angara 1.0 - - 1 - 0.75 missed' >"$TAP_TMP/busy.txt"
check 'the last table' floors 'allreduce, 4 processes, 64 KiB, against mpich 1.20 at least 1.2 met' \
	'message, 2 processes, 64 KiB, against openmpi memory 0.70 at least 0.769 missed by 9 %' \
	'put-rate, 2 processes, 8 B, against goal 0.80 at least 1 missed by 20 %' \
	'barrier, 2 processes, beside a program that computes 4.0 at most 4 met' \
	'allreduce, 4 processes, 8 B, beside a program that computes 8.0 at most 4 missed by 50 %' \
	'allreduce, 8 processes, 8 B, beside a program that computes - at most 4 missed by 100 %' \
	'5 of 11 floors met'
picture()
{
	tools/bench/floors --picture "$TAP_TMP/floors.png" "$TAP_TMP/report.csv" \
		"$TAP_TMP/busy.txt" && [ "$(head -c 4 "$TAP_TMP/floors.png" | tail -c 3)" = PNG ]
}
if command -v gnuplot >/dev/null; then
	check 'a picture of the floors' picture
else
	skip 'a picture of the floors' 'gnuplot is missing: install gnuplot-nox'
fi
check 'bad arguments: floors' says 'usage: floors' 2 tools/bench/floors
check 'floors: no table' says 'no heading of a table' 1 tools/bench/floors \
	"$TAP_TMP/busy.txt" "$TAP_TMP/busy.txt"
# A message and its answer are timed over MPI; three processes get an error.
message()
{
	local root=()

	[ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
	mkdir -p "$TAP_TMP/mpi"
	mpicc.openmpi -O1 -std=gnu11 -D_GNU_SOURCE -Ilibangara/include -Iuapi \
		-o "$TAP_TMP/mpi/mpi-bench.openmpi" tools/bench/mpi-bench.c tools/bench/stats.c ||
		return
	timeout 120 mpirun.openmpi "${root[@]}" --oversubscribe -n 2 \
		"$TAP_TMP/mpi/mpi-bench.openmpi" message 10 2 8 65536 >"$TAP_TMP/csv" || return
	cat "$TAP_TMP/csv"
	awk -F, '!(NF == 14 && $1 == "message" && $3 == 2 && $4 == (NR == 1 ? 8 : 65536) &&
			$9 > 0) { bad = 1 } END { exit bad || NR != 2 }' "$TAP_TMP/csv" || return
	! timeout 120 mpirun.openmpi "${root[@]}" --oversubscribe -n 3 \
		"$TAP_TMP/mpi/mpi-bench.openmpi" message 10 2 8 >"$TAP_TMP/said" 2>&1 &&
		grep -q "'message' needs two processes, not 3" "$TAP_TMP/said"
}
if command -v mpirun.openmpi >/dev/null; then
	check 'messages over MPI' message
else
	skip 'messages over MPI' 'install openmpi-bin'
fi
check 'the program beside which others compute builds' "${CC:-cc}" -std=gnu11 -Wall \
	-Wextra -Werror -O1 -g -o "$TAP_TMP/beside" tools/bench/beside.c
check 'a command beside a program that computes' beside
check 'its status' says ' ' 3 "$TAP_TMP/beside" 1 sh -c 'exit 3'
check 'bad arguments: beside' says 'usage: beside' 2 "$TAP_TMP/beside" 65 true
check 'bad arguments: busy' says 'usage: busy' 2 tools/bench/busy "$TAP_TMP/none"
check 'means and switches' busy
results embedded 1,angara,,shmem-put,2,8,1 '1,openmpi,shmem,shmem-put,2,8,0.5' \
	'1,openmpi,shmem+yield,shmem-put,2,8,0.6' '1,openmpi,one-sided,shmem-put,2,8,3' \
	>"$TAP_TMP/shmem"
results embedded 1,angara,,shmem-threads,2,8,0.2 1,goal,,shmem-threads,2,8,0.24 \
	>"$TAP_TMP/threads"
check 'OpenSHMEM: two threads against their goal' gives "$TAP_TMP/threads" \
	'shmem-threads 2 8 0.20 0.24 goal 1.20 1.20..1.20 1 met' '1 of 1 floors met'
check 'OpenSHMEM beside both others, without floors' gives "$TAP_TMP/shmem" \
	'shmem-put 2 8 1.00 0.50 openmpi shmem 0.50 0.50..0.50 - ' \
	'shmem-put 2 8 1.00 3.00 openmpi one-sided 3.00 3.00..3.00 - ' '0 of 0 floors met'
check 'no file' says 'usage: report' 2 tools/bench/report
check 'a missing file' says 'No such file' 1 tools/bench/report \
	"$TAP_TMP/none"
check 'too few fields' refused_result "2: not a result: '1,angara,,barrier,2,0'" \
	1,angara,,barrier,2,0
check 'no time' refused_result 'not a result' 1,angara,,barrier,2,0,0
check 'no number' refused_result 'not a result' 1,angara,,barrier,2,0,fast
check 'an unknown library' refused_result 'not a result' 1,ucx,,barrier,2,0,1
check 'nothing to compare' refused_result 'nothing to compare' \
	1,angara,,barrier,2,0,1
# programs SAYS: makes fake programs that print times without measuring; the launcher of offloaded
# MPI programs also runs the shell commands SAYS
programs()
{
	local name

	rm -rf "$TAP_TMP/fake"
	mkdir -p "$TAP_TMP/fake/bin"
	# shellcheck disable=SC2016 # the program expands these
	printf '%s\n' '#!/bin/sh' \
		'for n in 0 8 4096; do echo "o,p,1,$n,5,6,7,1.5,2.5,9,10,11,12,13"; done' \
		>"$TAP_TMP/fake/angara-run"
	for name in angara-mpirun mpirun.openmpi bin/mpi-bench.openmpi; do
		cp "$TAP_TMP/fake/angara-run" "$TAP_TMP/fake/$name"
	done
	# The operation is the last argument that names one.
	# shellcheck disable=SC2016 # the program expands these
	printf 'for w; do case $w in allreduce|bcast*|barrier) op=$w ;; esac; done\n%s\n' \
		"$1" >>"$TAP_TMP/fake/angara-mpirun"
	chmod +x "$TAP_TMP"/fake/angara* "$TAP_TMP/fake/mpirun.openmpi" \
		"$TAP_TMP/fake/bin/mpi-bench.openmpi"
}

# measure_programs OPTION...: measures the fake programs.
measure_programs()
{
	PATH=$TAP_TMP/fake:$PATH BENCH_OPENMPI=mpirun.openmpi timeout 300 \
		tools/bench/measure --quick "$@" "$TAP_TMP/fake/bin" "$TAP_TMP/fake/out" \
		>"$TAP_TMP/said" 2>&1
}

# rows_offloaded OPTION...: the comparison has rows of MPI programs if the adapters did their work.
rows_offloaded()
{
	local op

	# shellcheck disable=SC2016 # the program expands these
	programs 'for way in $ANGARA_MPI_ALLREDUCE $ANGARA_MPI_BCAST $ANGARA_MPI_BARRIER; do
		[ $way = offload ] || exit 3
	done
	for coll in $(echo "$op" | tr - " "); do
		echo "libangara-mpi: $coll    offload    8 0 1.0"
	done >&2'
	measure_programs "$@" || {
		cat "$TAP_TMP/said"
		return 1
	}
	for op in allreduce bcast bcast-barrier barrier; do
		[ "$(grep -c "^[123],angara,,mpi-$op,4,8,2.5$" "$TAP_TMP/fake/out")" = 3 ] &&
			grep "^1,openmpi,.*,mpi-$op,4,8," "$TAP_TMP/fake/out" || return
	done
}

# With --mpi only MPI programs are measured.
rows_only()
{
	rows_offloaded --mpi || return
	! grep -v -e '^#' -e '^[0-3],openmpi,' -e '^[123],angara,,mpi-' "$TAP_TMP/fake/out"
}

# rows_passed SAYS TEXT: if the adapters did not do the work, the comparison
# ends with an error that has TEXT
rows_passed()
{
	programs "$1"
	! measure_programs --loop || return
	cat "$TAP_TMP/said"
	[ "$(grep -c '' "$TAP_TMP/said")" = 1 ] &&
		grep -q "^measure: '.*': $2\$" "$TAP_TMP/said"
}

check 'MPI programs: rows of the adapters' rows_offloaded --loop
check 'MPI programs: no other rows' rows_only
check 'MPI programs: no statistics' rows_passed : 'allreduce was not offloaded'
# shellcheck disable=SC2016 # the program expands these
check 'MPI programs: calls that passed through' rows_passed \
	'echo "libangara-mpi: $op  offload  8 0 1.0
libangara-mpi: passed through: $op, 3 calls: no tree for the members" >&2' \
	'not offloaded: allreduce, 3 calls: no tree for the members'
# shellcheck disable=SC2016 # the program expands these
check 'MPI programs: a barrier that passed through after a broadcast' rows_passed \
	'for coll in $(echo "$op" | tr - " "); do
		[ "$op $coll" = "bcast-barrier barrier" ] ||
			echo "libangara-mpi: $coll  offload  8 0 1.0"
	done >&2' 'barrier was not offloaded'
# failed_build OPTION: if the build fails, nothing is measured
failed_build()
{
	mkdir -p "$TAP_TMP/builds"
	printf '#!/bin/sh\nexit 3\n' >"$TAP_TMP/builds/make"
	printf '#!/bin/sh\nprintf installed\n' >"$TAP_TMP/builds/dpkg-query"
	chmod +x "$TAP_TMP/builds/make" "$TAP_TMP/builds/dpkg-query"
	! PATH=$TAP_TMP/builds:$PATH tools/bench/run "$1" >"$TAP_TMP/said" 2>&1 || return
	cat "$TAP_TMP/said"
	grep -qx '==> measuring on this machine' "$TAP_TMP/said" &&
		[ "$(tail -n 1 "$TAP_TMP/said")" = 'run: build failed' ]
}

check 'a build that fails' failed_build --mpi
check 'bad arguments: --mpi and --guest' says '--mpi excludes' 2 \
	tools/bench/run --guest --mpi
check 'bad arguments: measure' says 'usage: measure' 2 tools/bench/measure
check 'bad arguments: run' says "unknown argument '--fast'" 2 tools/bench/run --fast
plan
