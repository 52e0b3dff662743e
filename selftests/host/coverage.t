#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Does the report of `make coverage` count correctly? Comments in a small
# program say which of three runs first reaches each line.

set -u
. selftests/tap.sh

TREE=$TAP_TMP/tree
MODULES=$TREE/build/coverage/modules
COUNTS=$TREE/build/coverage/counts

report()
{
	selftests/coverage/report --top "$TREE" "$@"
}

# Writes a fake driver, which is built from a copy as modules are, and a fake model next to it.
sources()
{
	mkdir -p "$TREE"/driver/model "$TREE"/driver/tests "$TREE"/libangara "$TREE"/tools \
		"$COUNTS"
	cat >"$TREE/driver/model/twice.h" <<-'END'
		static int twice(int n)		/* run 2 */
		{
			return 2 * n;		/* run 2 */
		}
	END
	cat >"$TREE/driver/known.c" <<-'END'
		#include <stdlib.h>
		#include "model/twice.h"

		static int third(int n)		/* run 3 */
		{
			int i, sum = 0;		/* run 3 */

			for (i = 0; i < n; i++)	/* run 3 */
				sum += i;	/* run 3 */
			return sum;		/* run 3 */
		}

		int main(int argc, char **argv)	/* run 1 */
		{
			int n = atoi(argv[1]);	/* run 1 */

			if (n == 2)		/* run 1 */
				return twice(n) - 4;	/* run 2 */
			if (n == 3)		/* run 1 */
				return third(n) - 3;	/* run 3 */
			return argc - 2;	/* run 1 */
		}
	END
	echo 'int other(void) { return 0; }' >"$TREE/libangara/other.c"
	echo 'int test(void) { return 0; }' >"$TREE/driver/tests/test.c"
	mkdir -p "$MODULES"
	cp -r "$TREE/driver" "$MODULES"
	(cd "$MODULES" && "${CC:-cc}" -O0 --coverage -Idriver \
		-o known driver/known.c)
}

# count RUN: runs the program once and saves its counts.
count()
{
	rm -f "$MODULES"/*.gcda
	(cd "$MODULES" && ./known "$1" &&
		gcov --json-format --stdout ./*.gcda) >"$COUNTS/$1.json"
}

# marked RUN FILE: number of lines marked as reached in that run or an earlier
# one.
marked()
{
	grep -c "/\* run [1-$1] \*/" "$TREE/$2"
}

# Prints the lines that are not marked as reached in run RUN or an earlier one.
unmarked()
{
	(cd "$TREE" && grep -nH '/\* run ' driver/known.c driver/model/twice.h |
		{ grep -v "/\* run [1-$1] \*/" || :; })
}

same()
{
	diff -u <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

# row RUN NAME FILE [NOTE]: checks a row of the table.
row()
{
	local run=$1 name=$2 file=$3 note=${4:-} lines hit want got

	lines=$(marked 3 "$file")
	hit=$(marked "$run" "$file")
	want=$(echo "$name $lines $hit" | awk '{ printf "%s %d %d %.1f %%", $1,
		$2, $3, 100 * $3 / $2 }')$note
	got=$(report | awk -v name="$name" '$1 == name' | xargs)
	same "$want" "$got"
}

# json RUN: checks the report as JSON.
json()
{
	local want got

	want="$(marked 3 driver/known.c) $(marked "$1" driver/known.c) $(
		unmarked "$1" | sed -n 's/^driver\/known.c:\([0-9]*\):.*/\1/p' |
		xargs)"
	got=$(report --json | perl -MJSON::PP -0 -ne '
		my $file = decode_json($_)->{files}{"driver/known.c"};
		print join " ", $file->{lines}, $file->{hit}, @{$file->{missed}}')
	same "${want% }" "$got"
}

# refused STATUS TEXT ARG...: the report ends with STATUS, and a line has TEXT.
refused()
{
	local want=$1 text=$2 status=0

	shift 2
	report "$@" >"$TAP_TMP/out" 2>&1 || status=$?
	cat "$TAP_TMP/out"
	[ "$status" = "$want" ] && grep -q "$text" "$TAP_TMP/out"
}

# ends STATUS: checks the report's exit status, 1 if a goal is not reached.
ends()
{
	local status=0

	report >/dev/null || status=$?
	[ "$status" = "$1" ]
}

check 'the program builds' sources
check 'no counts yet' refused 2 "run 'make coverage' first"
for run in 1 2 3; do
	check "run $run is counted" count "$run"
	check "run $run: lines of a file" row "$run" driver/known.c driver/known.c
	check "run $run: lines of a header" \
		row "$run" driver/model/twice.h driver/model/twice.h
	check "run $run: lines not reached" same "$(unmarked "$run")" \
		"$(report --missed)"
	check "run $run: for programs" json "$run"
	case $run in
	1) check 'run 1: below the goals' ends 1
		check 'run 1: says so' row 1 driver driver/known.c \
			' BELOW its goal, 80 %' ;;
	3) check 'run 3: goals reached' ends 0
		check 'run 3: the whole part' row 3 model driver/model/twice.h \
			' (goal 90 %)' ;;
	esac
done
check 'lines of one file' same '' "$(report --missed driver/model/)"
check 'sources that were not built are named, tests are not' same 'libangara/other.c' \
	"$(report | sed -n '/^not measured/,$p' | sed 1d | xargs)"
check 'a missing file' refused 2 "no 'driver/x' among the files" \
	--missed driver/x
check 'an unknown option' refused 2 '^usage:' --nonsense
# Make the file newer than the counts by file time, whatever the clock says.
touch -d '+1 hour' "$TREE/driver/known.c"
check 'a file that has changed since' refused 0 \
	'driver/known.c has changed since it was counted: left out of 1, 2, 3' \
	--missed driver/model/
check 'its counts are left out' same driver/known.c \
	"$(report 2>&1 | grep -o '^  driver/known.c.*' | xargs)"
check 'counts of other files are kept' row 3 driver/model/twice.h driver/model/twice.h
echo '{ "files": [' >"$COUNTS/broken.json"
check 'malformed counts' refused 2 'broken.json:1: .*not the JSON that gcov prints'
plan
