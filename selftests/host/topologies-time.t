#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The chapter of times in the report of `make topologies`, for 64 modules: it has
# every table and curve, numbers are within their bounds, and each conclusion has
# a verdict.

set -u
. selftests/tap.sh
. selftests/variant.sh

SIM=$VARIANTS/plain/bin/angara-sim
TOPO=$VARIANTS/plain/bin/angara-topo
OUT=$TAP_TMP/report
TIME=$OUT/time.md

report()
{
	tools/topo/report "$TOPO" "$OUT" "$SIM" --quick
}

# Limits processor time, as the machine may be loaded.
soon()
{
	local TIMEFORMAT='%U %S' spent

	spent=$({ time report >"$TAP_TMP/said" 2>&1; } 2>&1) || {
		cat "$TAP_TMP/said"
		return 1
	}
	echo "user and system: $spent"
	awk '{ exit !($1 + $2 < 60) }' <<<"$spent"
}

# Prints the lines of a table, found by a column of its head.
rows()
{
	awk -v head="$1" '/^\|/ { if (!on && index($0, head)) on = 1
				  else if (on && !/^\|---/) print; next }
		{ on = 0 }' "$TIME" | sed 's/^| //; s/ |$//; s/ *| */|/g'
}

# count NUMBER HEAD: the table has NUMBER rows
count()
{
	local got

	got=$(rows "$2" | wc -l)
	echo "$2: $got rows, expected $1"
	[ "$got" = "$1" ]
}

# Prints the names of the parameters of all commands that have an origin.
parameters()
{
	"$SIM" params --origins --format csv |
		awk -F, 'NR > 1 && $1 == "" { print $2 }'
}

# Each parameter of the simulator has a row with its value and its source.
sources()
{
	[ "$(parameters | wc -l)" -gt 10 ] &&
		diff <(parameters | sort) \
			<(rows '| source |' | sed 's/|.*//; s/`//g' | sort) &&
		! rows '| source |' | grep -E '\|\||\|$'
}

# A packet takes 641 ns, and 84 ns per cable.
idle()
{
	rows 'cables, farthest' | awk -F'|' '{
		print
		if ($6 != 641 + 84 * $5 || $4 - 641 - 84 * $3 > 1 ||
		    $4 - 641 - 84 * $3 < -1)
			bad = 1
	} END { exit bad || NR != 5 }'
}

# With deterministic routes the accepted load is below the bounds of routes and
# hosts, apart from the noise of a short window.
bounds()
{
	rows 'its bound' | awk -F'|' '{
		split($3, det, " ")
		split($5, any, " ")
		if ($3 != "" && det[1] > 1.05 * $4 || any[1] > 1.03 * $6 ||
		    any[1] < 0.05) {
			print
			bad = 1
		}
		n += $3 != ""
	} END { print NR, n; exit bad || NR != 20 || n != 10 }'
}

# The deepest leaf is 2, 6, 5, 3 and 6 cables from the root in the five
# topologies. A time consists of injection, PEGroup, these cables, PCIe and
# ejection.
broadcasts()
{
	local got

	got=$(rows '| us |' | grep 'broadcast, 256 B')
	echo "$got"
	[ "$got" = '64|broadcast, 256 B|0.909|1.161|1.077|0.993|1.161' ]
}

# With 64 nodes an allreduce over several trees is at least twice as fast as
# over one, within 20 % of the plan; except on a fat tree, whose switches read a
# packet from each of 20 nodes on any tree. A broadcast is not faster.
stripes()
{
	rows 'gain expected' | awk -F'|' '{
		print
		if ($2 == "broadcast" || $3 ~ /fattree/)
			bad += $9 != 1 || $10 != "1.00"
		else
			bad += $10 < 2 || $8 > $4 / 2 || $11 > 1.2 * $10 ||
				$11 < 0.8 * $10
		n++
	} END { exit bad > 0 || n != 8 }' &&
		grep -qE '^Allreduces over several trees are 1\.0 to [5-9]\.[0-9] times as fast as over one; broadcasts are not faster\.$' \
			"$TIME"
}

verdicts()
{
	rows 'divided by that of MKNS' >"$TAP_TMP/verdicts"
	cat "$TAP_TMP/verdicts"
	[ "$(grep -cE '\|(confirmed|not confirmed|at some sizes)$' \
		"$TAP_TMP/verdicts")" = 25 ] &&
		grep -q '^less diameter.*on 4D torus|1\.28|confirmed$' \
			"$TAP_TMP/verdicts" &&
		grep -q '^time is proportional.*not confirmed$' "$TAP_TMP/verdicts"
}

# The chapter has curves of all topologies, each with points below and above
# saturation.
curves()
{
	local pattern file blocks

	for pattern in uniform matrix grid alltoall; do
		file=$OUT/delay-$pattern-64.svg
		blocks=$(awk 'NF { if (!on) n++; on = 1; next } { on = 0 }
			END { print n }' "$OUT/data/delay-$pattern-64.dat")
		echo "$pattern: $blocks curves"
		[ "$blocks" = 5 ] || return
		command -v gnuplot >/dev/null || continue
		grep -q "(delay-$pattern-64.svg)" "$TIME" &&
			[ "$(grep -cE '>(MKNS|4D torus|6D torus|fat tree|hypercube)<' \
				"$file")" -ge 5 ] || return
	done
}

# A second run takes all results from the cache and gives the same chapter.
again()
{
	cp "$TIME" "$TAP_TMP/before"
	report >"$TAP_TMP/said" 2>&1 && cat "$TAP_TMP/said" &&
		grep -qE '^==> ([0-9]+) simulations, \1 of them cached$' \
			"$TAP_TMP/said" &&
		diff "$TAP_TMP/before" "$TIME"
}

# refused TEXT ARGUMENT...: the script ends with status 2 and one line of error, which has TEXT.
refused()
{
	says "$1" 2 tools/topo/times "${@:2}"
}

check 'it builds' variant plain libangara tools/topo tools/sim
check 'a quick report takes less than 60 s' soon
check 'the report has the chapter' grep -q '^## In time$' "$OUT/report.md"
check 'fabrics' count 5 'cables per module'
check 'parameters and their sources' sources
check 'times on idle fabrics' idle
check 'loads within their bounds' bounds
check 'times of broadcasts' broadcasts
check 'collective operations' count 5 '| us |'
check 'stripes' stripes
check 'other switches' count 6 'packet, ns, farthest'
check 'the best of each' count 14 'place of MKNS'
check 'each conclusion has a verdict' verdicts
check 'curves' curves
check 'a second run uses the first' again
check 'no simulator' refused 'no --sim' --topo "$TOPO" --out "$OUT"
check 'no program' refused 'not a program' --sim README.md --topo "$TOPO" \
	--out "$OUT"
check 'an unknown option' refused 'unknown option' --fast
plan
