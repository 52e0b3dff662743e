#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# angara-bench on the embedded fabric: its output, messages on bad input, wrong
# results that --check has to find; and the computations of the comparison with
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

# bench N ARGUMENT...
bench()
{
	local n=$1

	shift
	timeout 120 "$RUN" -n "$n" "$BENCH" "$@"
}

# bad TEXT ARGUMENT...
bad()
{
	local text=$1

	shift
	check "refused: $*" says "$text" 2 "$RUN" -n 2 "$BENCH" "$@"
}

# Every row has as many fields as the heading, and consistent numbers.
csv()
{
	bench 3 allreduce -s 8,64:256 -n 20 --csv >"$TAP_TMP/csv" || return 1
	cat "$TAP_TMP/csv"
	awk -F, 'NR == 1 { n = NF; good = $0 ~ /^operation,mode,.*median_us/ }
		NR > 1 {
			good = good && NF == n && $1 == "allreduce" && $3 == 3 &&
				$6 == 20 && $7 >= 1 && $8 > 0 && $8 <= $9 &&
				$9 <= $10 && $11 > 0
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

# Over one tree and over three in turn: gains are quotients of medians.
trees()
{
	bench 3 "$1" -s 8,4000,64K -n 10 --trees 3 --check --csv >"$TAP_TMP/csv" ||
		return 1
	cat "$TAP_TMP/csv"
	awk -F, 'NR == 1 { good = NF == 14 && $13 == "trees" && $14 == "gain" }
		NR > 1 {
			several = NR % 2
			good = good && $13 == (several ? 3 : 1) &&
				$4 == substr("8    8    4000 4000 6553665536", (NR - 2) * 5 + 1, 5) + 0
			if (!several)
				one = $9
			want = several ? one / $9 : 1
			good = good && $14 > 0.99 * want - 0.001 &&
				$14 < 1.01 * want + 0.001
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

# spoilt OP RANK: a wrong bit at a process that has a result.
spoilt()
{
	local status=0

	SPOIL_RANK=$2 SPOIL_AT=64 timeout 120 "$RUN" -n 2 --grace 2 \
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
	timeout 120 mpirun.openmpi "${root[@]}" --oversubscribe -n 4 "$BENCH" \
		allreduce -s 8,4K -n 20 --check
}

# gives FILE TEXT...: the table has these lines, apart from blanks.
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

# results FABRIC LINE...
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

# refused_result TEXT LINE: a file with such a line
refused_result()
{
	results embedded "$2" >"$TAP_TMP/bad"
	says "$1" 1 tools/bench/report "$TAP_TMP/bad"
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
bad 'there is a barrier before each bcast' bcast -b 4
bad 'more than 64 sizes' put -s "$(seq -s, 65)"

check 'a library that spoils results builds' compile -shared -fPIC \
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

check 'the test of figures builds' compile -o "$TAP_TMP/stats" \
	selftests/bench/stats.c tools/bench/stats.c
check 'figures from stamps' "$TAP_TMP/stats"

# Rounds in turn: medians, the faster of two, ratios within rounds, round 0.
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
	'bcast 8 16M 8.00 4.00 memcpy 0.50 0.50..0.50 0.6 missed by 17 %' \
	'barrier 2 - 4.00 2.50 mpich 0.62 0.50..0.75 0.5 met' \
	'2 of 3 floors met'
check 'the report as JSON' report_json
if command -v gnuplot >/dev/null; then
	check 'plots' plots
else
	skip 'plots' 'gnuplot is missing: install gnuplot-nox'
fi
check 'no folder for plots' says 'report: no folder' 1 tools/bench/report \
	--plots "$TAP_TMP/none" "$TAP_TMP/results"
results loop 1,angara,,barrier,4,0,2 1,openmpi,han,barrier,4,0,1 >"$TAP_TMP/loop"
check 'floors of the loopback' gives "$TAP_TMP/loop" \
	'barrier 4 - 2.00 1.00 openmpi han 0.50 0.50..0.50 1 missed by 50 %' \
	'0 of 1 floors met'
check 'no file' says 'usage: report' 2 tools/bench/report
check 'a file that is not there' says 'No such file' 1 tools/bench/report \
	"$TAP_TMP/none"
check 'too few fields' refused_result "2: not a result: '1,angara,,barrier,2,0'" \
	1,angara,,barrier,2,0
check 'no time' refused_result 'not a result' 1,angara,,barrier,2,0,0
check 'no number' refused_result 'not a result' 1,angara,,barrier,2,0,fast
check 'an unknown library' refused_result 'not a result' 1,ucx,,barrier,2,0,1
check 'nothing to compare' refused_result 'nothing to compare' \
	1,angara,,barrier,2,0,1
check 'bad arguments: measure' says 'usage: measure' 2 tools/bench/measure
check 'bad arguments: run' says "unknown argument '--fast'" 2 tools/bench/run --fast
plan
