# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Common parts of the simulator's tests. If $SIM is set, no program is built:
# sim-mutants.t sets it to faulty ones.

. selftests/variant.sh

OUT=$VARIANTS/plain
SIM=${SIM:-$OUT/bin/angara-sim}

# sim_builds PART...: builds parts as variant does, unless $SIM is set; ends the
# test if there is no simulator.
sim_builds()
{
	[ "$SIM" != "$OUT/bin/angara-sim" ] ||
		check 'it builds' variant plain "$@"
	[ ! -x "$SIM" ] || return 0
	plan
	exit
}

# spmv_gains ROWS BUFFER TRAIN...: prints SpMV's gain on 512 nodes, in percent, with trains of each
# length.
spmv_gains()
{
	local rows=$1 buffer=$2 train

	shift 2
	for train; do
		"$SIM" spmv --from 512 --to 512 --rows "$rows" --buffer "$buffer" \
			--train "$train" --format csv |
			awk -F, 'NR == 2 { printf "%.1f\n", 100 * ($NF - 1) }'
	done
}

# spmv_trains ROWS BUFFER TRAIN: SpMV's gain on 512 nodes, where rounds of recursive doubling meet
# each other, is within a point of the gain with single packets.
spmv_trains()
{
	spmv_gains "$1" "$2" 1 "$3" | awk '{ gain[NR] = $1; print "gain", $1 }
		END {
			off = gain[2] - gain[1]
			exit !(NR == 2 && gain[1] > 20 && off < 1 && off > -1)
		}'
}

# refused TEXT ARGUMENT...: one line has the error, status 2.
refused()
{
	says "$1" 2 "$SIM" "${@:2}"
}

# fails TEXT ARGUMENT...: one line has the error, status 1.
fails()
{
	complains "$1" 1 "$SIM" "${@:2}"
}
