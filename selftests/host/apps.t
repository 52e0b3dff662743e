#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The applications without an adapter: numerical results in serial mode,
# matrices from files, and errors for bad input.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
BIN=$OUT/bin
export LD_LIBRARY_PATH=$OUT/lib

# Builds only the applications again, not the library.
build_optimized()
{
	mkdir "$TAP_TMP/O3" && ln -s "$OUT/lib" "$TAP_TMP/O3" &&
		make -C tools/apps "O=$TAP_TMP/O3" CFLAGS=-O3 all
}

# field NAME: prints a field of the JSON on standard input.
field()
{
	sed -n "s/.*\"$1\":\"\{0,1\}\([^,}\"]*\).*/\1/p"
}

heat()
{
	"$BIN/angara-heat2d" --serial --json "$@"
}

spmv()
{
	"$BIN/angara-spmv" --serial --json "$@"
}

same()
{
	echo "got '$1', expected '$2'"
	[ "$1" = "$2" ]
}

# The exact solution is known: four times as many cells give a quarter of the
# error. The numbers of steps make both end at the same simulated time.
second_order()
{
	local coarse fine

	coarse=$(heat --nx 15 --ny 15 --steps 100)
	fine=$(heat --nx 31 --ny 31 --steps 407)
	echo "$coarse"
	echo "$fine"
	awk -v t1="$(field t <<<"$coarse")" -v t2="$(field t <<<"$fine")" \
		-v e1="$(field error <<<"$coarse")" \
		-v e2="$(field error <<<"$fine")" \
		'BEGIN { exit !(t2 / t1 > 0.99 && t2 / t1 < 1.01 &&
				e1 / e2 > 3.8 && e1 / e2 < 4.2) }'
}

# The time step is as long as condition (5) of document 000 allows at the start, where u <= 1.
stable_step()
{
	local dt

	dt=$(heat --nx 63 --ny 63 --steps 1 | field max_dt)
	echo "dt $dt"
	awk -v dt="$dt" 'BEGIN {
		limit = 1 / (2 * 2 * 2 * 64 * 64)
		exit !(dt > 0.9 * limit && dt < 0.92 * limit)
	}'
}

# parts WHOLE PART...: in the JSON on standard input, the sum of the parts does not
# exceed the whole, and the whole is hardly more: it has neither the start of the
# program nor a wait for a late process.
parts()
{
	local json whole=$1 part sum=0

	shift
	json=$(cat)
	echo "$json"
	for part; do
		sum+=+$(field "$part" <<<"$json")
	done
	awk -v whole="$(field "$whole" <<<"$json")" "BEGIN {
		sum = $sum
		exit !(sum > 0 && sum <= whole + 0.01 && whole <= 1.5 * sum + 20)
	}"
}

# late RANK COMMAND...: runs 4 processes of an application, of which one starts a
# second later than the others
late()
{
	# shellcheck disable=SC2016 # the process expands it
	ANGARA_FABRIC=embedded:2x2 LATE=$1 PATH=$BIN:$PATH timeout 300 \
		angara-run -n 4 sh -c '[ "$ANGARA_RANK" != "$LATE" ] || sleep 1; exec "$@"' \
		late "${@:2}"
}

late_spmv()
{
	late "$1" angara-spmv --json --n 2000 --iters 100 "${@:2}" |
		parts us_iter us_multiply us_gather
}

late_heat()
{
	late "$1" angara-heat2d --json --nx 64 --ny 64 --steps 100 "${@:2}" |
		parts us_step us_compute us_allreduce us_halo
}

matrix()
{
	printf '%s\n' "$@" >"$TAP_TMP/m.mtx"
}

# mtx_says NAME TEXT LINE...: the error for a matrix of these lines has TEXT.
mtx_says()
{
	local name=$1 text=$2

	shift 2
	matrix "$@"
	check "matrix: $name" says "m.mtx:$text" 2 \
		"$BIN/angara-spmv" --serial --matrix "$TAP_TMP/m.mtx"
}

# mtx_gives NAME NORM ELEMENTS LINE...: for one multiplication by a matrix of these lines,
# the program prints this norm and this number of elements
mtx_gives()
{
	local name=$1 norm=$2 elements=$3 out

	shift 3
	matrix "$@"
	out=$(spmv --iters 1 --matrix "$TAP_TMP/m.mtx" 2>&1)
	check "matrix: $name" same \
		"$(field norm <<<"$out") $(field elements <<<"$out")" \
		"$norm $elements"
}

# The first rows of a matrix have their elements in all of its columns. With a single row, the row's
# element of the vector is 1 after each division by the greatest magnitude, as at the start, and all
# other elements stay: each multiplication gives the same result.
some_rows()
{
	same "$(spmv --n 80 --rows 79 | field elements)" 790 &&
		same "$(spmv --n 80 --rows 80 | field crc32)" "$(spmv --n 80 | field crc32)" &&
		! same "$(spmv --n 80 --rows 79 | field crc32)" "$(spmv --n 80 | field crc32)" &&
		same "$(spmv --n 80 --nnz 80 --rows 1 --iters 8 | field norm)" \
			"$(spmv --n 80 --nnz 80 --rows 1 --iters 1 | field norm)"
}

if ! echo '#include <zlib.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
	skip 'applications' 'zlib.h is missing: install zlib1g-dev'
	plan
	exit
fi

check 'applications build' variant plain libangara tools/apps tools/run
if [ ! -x "$BIN/angara-spmv" ]; then
	plan
	exit
fi

check 'heat2d: second order' second_order
check 'heat2d: the step keeps the stability condition' stable_step
golden=$(heat --nx 64 --ny 48 --steps 100 | field crc32)
check 'heat2d: bits of the result' same "$golden" 60d48877
check 'heat2d: one cell' heat --nx 1 --ny 1 --steps 3
golden=$(spmv | field crc32)
check 'spmv: bits of the result' same "$golden" 48882475
check 'spmv: one row' same "$(spmv --n 1 --nnz 1 | field elements)" 1
for rank in 0 3; do
	for way in '' --p2p; do
		# shellcheck disable=SC2086 # no word if empty
		{
			check "spmv: parts and whole, rank $rank is late $way" \
				late_spmv $rank $way
			check "heat2d: parts and whole, rank $rank is late $way" \
				late_heat $rank $way
		}
	done
done
check 'spmv: some rows' some_rows
check 'spmv: full rows' same "$(spmv --n 8 --nnz 8 | field elements)" 64
check 'other optimization builds' build_optimized
BIN=$TAP_TMP/O3/bin
check 'heat2d: the same bits at -O3' same \
	"$(heat --nx 64 --ny 48 --steps 100 | field crc32)" 60d48877
BIN=$OUT/bin

# The elements of x start as 1, 1/2, 1/3, 1/4 ...
mtx_gives 'real general' 7 3 '%%MatrixMarket matrix coordinate real general' \
	'% comment' '' '3 3 3' '1 1 2.5' '1 2 9' '3 3 -1e0'
mtx_gives 'integer, upper case, duplicates added' 5 2 \
	'%%MatrixMarket MATRIX Coordinate INTEGER General' '2 2 2' '1 1 2' \
	'1 1 3'
mtx_gives 'pattern symmetric' 1.5 3 \
	'%%MatrixMarket matrix coordinate pattern symmetric' '2 2 2' '1 1' '2 1'
mtx_gives 'no elements' 0 0 '%%MatrixMarket matrix coordinate real general' \
	'4 4 0'
mtx_says 'empty file' "1: not '%%MatrixMarket" ''
mtx_says 'no banner' "1: not '%%MatrixMarket" '3 3 1' '1 1 1'
mtx_says 'array' "1: expected 'matrix coordinate'" \
	'%%MatrixMarket matrix array real general' '1 1' '1'
mtx_says 'complex' "1: expected the field 'real', 'integer' or 'pattern'" \
	'%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 1 1'
mtx_says 'hermitian' "1: expected the symmetry 'general' or 'symmetric'" \
	'%%MatrixMarket matrix coordinate real hermitian' '1 1 1' '1 1 1'
real='%%MatrixMarket matrix coordinate real general'
mtx_says 'no size' "2: not 'ROWS COLUMNS ELEMENTS'" "$real" 'x'
mtx_says 'negative size' "2: not 'ROWS COLUMNS ELEMENTS'" "$real" '-3 -3 1'
mtx_says 'not square' '2: the matrix is not square' "$real" '3 4 1' '1 1 1'
mtx_says 'size 0' '2: expected a size from 1' "$real" '0 0 0'
mtx_says 'size too large' '2: expected a size from 1' "$real" \
	'4294967296 4294967296 0'
mtx_says 'row 0' '3: row or column outside' "$real" '3 3 1' '0 1 1'
mtx_says 'column 4 of 3' '3: row or column outside' "$real" '3 3 1' '1 4 1'
mtx_says 'no value' '3: the value is not a number' "$real" '3 3 1' '1 1'
mtx_says 'bad value' '3: the value is not a number' "$real" '3 3 1' '1 1 1z'
mtx_says 'infinite value' '3: the value is not finite' "$real" '3 3 1' \
	'1 1 inf'
mtx_says 'fraction as integer' '3: the value is not an integer' \
	'%%MatrixMarket matrix coordinate integer general' '3 3 1' '1 1 1.5'
mtx_says 'text behind' '3: expected the end of the line' "$real" '3 3 1' '1 1 1 1'
mtx_says 'too many' '4: more elements than' "$real" '3 3 1' '1 1 1' '2 2 2'
mtx_says 'too few' '3: the file ends after 1 of 2' "$real" '3 3 2' '1 1 1'
mtx_says 'upper triangle' '3: an element above the diagonal' \
	'%%MatrixMarket matrix coordinate real symmetric' '3 3 1' '1 2 1'
printf '%s\n2 2 1\n1 1\0 1\n' "$real" >"$TAP_TMP/m.mtx"
check 'matrix: zero byte' says ':3: a zero byte' 2 \
	"$BIN/angara-spmv" --serial --matrix "$TAP_TMP/m.mtx"
check 'matrix: a folder' says ': Is a directory' 2 \
	"$BIN/angara-spmv" --serial --matrix "$TAP_TMP"
check 'matrix: missing' says 'none.mtx: No such file' 2 \
	"$BIN/angara-spmv" --matrix none.mtx

for program in bcast-file heat2d spmv collops; do
	check "$program: help" "$BIN/angara-$program" --help
	check "$program: version" sh -c \
		"'$BIN/angara-$program' -V | grep -q '^angara-$program [0-9]'"
	check "$program: unknown option" says "unknown option '--bogus'" 2 \
		"$BIN/angara-$program" --bogus
	check "$program: unexpected arguments" says ' ' 2 \
		"$BIN/angara-$program" one two
done
check 'heat2d: no cells' says "--nx '0': not a number from 1 to 65536" 2 \
	"$BIN/angara-heat2d" --nx 0
check 'heat2d: no number' says "--steps 'many': not a number" 2 \
	"$BIN/angara-heat2d" --steps many
check 'heat2d: option without a value' says "option '--ny' wants a value" 2 \
	"$BIN/angara-heat2d" --ny
check 'spmv: more elements than columns' says '--nnz 9: more than the 8' 2 \
	"$BIN/angara-spmv" --n 8 --nnz 9
check 'spmv: 17 trees' says "--trees '17': not a number from 1 to 16" 2 \
	"$BIN/angara-spmv" --trees 17
for option in n nnz rows; do
	check "spmv: matrix and --$option" says '--matrix excludes --n, --nnz and --rows' 2 \
		"$BIN/angara-spmv" --serial --matrix "$TAP_TMP/m.mtx" --$option 3
done
check 'spmv: some rows, several processes' says '--rows needs --serial' 2 \
	"$BIN/angara-spmv" --rows 3
check 'spmv: more rows than the matrix has' says '--rows 9: more than the 8 rows' 2 \
	"$BIN/angara-spmv" --serial --n 8 --nnz 2 --rows 9
check 'bcast-file: missing file' says 'nowhere: No such file' 2 \
	"$BIN/angara-bcast-file" nowhere
check 'bcast-file: a folder' says 'not a regular file' 2 \
	"$BIN/angara-bcast-file" selftests
check 'bcast-file: no folder for copies' says '--out nowhere: No such file' 2 \
	"$BIN/angara-bcast-file" --out nowhere README.md
check 'bcast-file: chunk 0' says "--chunk '0': not a number" 2 \
	"$BIN/angara-bcast-file" --chunk 0 README.md
check 'bcast-file: rank outside' says "--flip '1': not a number from 0 to 0" 2 \
	"$BIN/angara-bcast-file" --flip 1 README.md
mkdir "$TAP_TMP/copies"
check 'bcast-file: no adapter' says 'no adapter nowhere: load the driver' 1 \
	env ANGARA_DEVICE=nowhere "$BIN/angara-bcast-file" \
	--out "$TAP_TMP/copies" Makefile
check 'bcast-file: nothing half-written' same \
	"$(ls -A "$TAP_TMP/copies")" ''
plan
