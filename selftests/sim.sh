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

# refused TEXT ARGUMENT...: the program ends with status 2 and one line of error, which has TEXT.
refused()
{
	says "$1" 2 "$SIM" "${@:2}"
}

# fails TEXT ARGUMENT...: the program ends with status 1 and one line of error, which has TEXT.
# It may print a table, too.
fails()
{
	complains "$1" 1 "$SIM" "${@:2}"
}
