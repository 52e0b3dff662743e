#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# angara-topo: commands in documents run, tables equal the reference, deviations
# from published numbers are explained, and bad input gets one line of error.

set -u
. selftests/tap.sh
. selftests/variant.sh

TOPO=$VARIANTS/plain/bin/angara-topo
OUT=$TAP_TMP/report

# refused TEXT ARGUMENT...: the program ends with status 2 and one line of error, which has TEXT.
refused()
{
	says "$1" 2 "$TOPO" "${@:2}"
}

# refused_plan TEXT ARGUMENT...: as refused, but with status 1.
refused_plan()
{
	says "$1" 1 "$TOPO" "${@:2}"
}

# graph LINE...: writes a description of a graph; sets FILE to "file:PATH".
graph()
{
	FILE=file:$TAP_TMP/graph
	printf '%s\n' "$@" >"$TAP_TMP/graph"
}

# Prints the commands of documents and of the man page, unchanged.
shown()
{
	sed -n 's/^    \(angara-topo .*\)/\1/p' Documentation/topologies.rst
	sed -n 's/^\.Dl \(angara-topo .*\)/\1/p' tools/man/angara-topo.1
	sed -n 's/^    \(angara-topo .*\)/\1/p' Documentation/start-simulate.rst
}

shown_runs()
{
	local line count=0

	while read -r line; do
		if [[ $line = *' svg '* ]] && ! command -v dot >/dev/null; then
			continue
		fi
		# shellcheck disable=SC2086 # words
		(cd "$TAP_TMP" && "$TOPO" ${line#angara-topo }) </dev/null || return
		count=$((count + 1))
	done < <(shown)
	[ "$count" -ge 8 ]
}

study()
{
	"$TOPO" compare --study mkns >"$TAP_TMP/study"
}

# row TABLE MODULES: prints a row of a table of the study, "formula/graph/published" per topology.
row()
{
	awk -v table="Table $1:" -v modules="$2" \
		'/^Table/ { on = $1 " " $2 == table }
		on && $1 == modules { $1 = ""; print substr($0, 2) }' "$TAP_TMP/study"
}

# table NUMBER WANT...: does the table have these numbers by formula? A WANT has
# the numbers of the four topologies for one size.
table()
{
	local number=$1 want modules got bad=0

	shift
	for modules in 16 64 160 1600 16000; do
		got=$(row "$number" "$modules" | tr ' ' '\n' | sed 's|/.*||' | xargs)
		want=$1
		shift
		[ "$got" = "$want" ] && continue
		echo "table $number, $modules: $got, expected $want"
		bad=1
	done
	return $bad
}

# Checks numbers computed from graphs, for which there is no formula.
from_graphs()
{
	local modules i=0 got
	local least=('2 7 5 2' '4 11 9 4' '4 13 11 4' '8 23 17 6' '12 45 23 8')

	for modules in 16 64 160 1600 16000; do
		got=$(row 3 "$modules" | tr ' ' '\n' | cut -d / -f 2 | xargs)
		echo "$modules: $got, expected ${least[i]}"
		[ "$got" = "${least[i]}" ] || return
		i=$((i + 1))
	done
	# Eight directly connected nodes have 4 * 4 cables between the halves.
	[ "$(row 5 16 | cut -d ' ' -f 1)" = 4/16/4 ]
}

# All published numbers that differ, and no others, have a computed reason.
explained()
{
	sed -n '/^Published/,/cells differ/p' "$TAP_TMP/study" >"$TAP_TMP/why" &&
		grep -qx '29 cells differ.' "$TAP_TMP/why" &&
		[ "$(grep -c '^ *[2-7]  ' "$TAP_TMP/why")" = 29 ] &&
		! grep 'not known' "$TAP_TMP/why" &&
		[ "$(grep -oE '/[0-9]+\*' "$TAP_TMP/study" | wc -l)" = 29 ] &&
		! perl -ne 'print if /^ +[2-7]  .*?, \d+ +\d+ +(\d+) +(\d+)  / && $1 != $2' \
			"$TAP_TMP/why" | grep .
}

# Conclusions are confirmed by some numbers, and not by others.
concluded()
{
	sed -n '/^Conclusions/,$p' "$TAP_TMP/study" >"$TAP_TMP/claims"
	grep -q '^diameter: even less than fat tree .* confirmed$' "$TAP_TMP/claims" &&
		grep -q '^cables, 16000: 8 % more .* not confirmed$' "$TAP_TMP/claims" &&
		grep -q '^connectivity: fat tree has more .* in part$' "$TAP_TMP/claims" &&
		[ "$(grep -cE '(confirmed|in part)$' "$TAP_TMP/claims")" = 26 ]
}

# Limits processor time, because the machine may be loaded.
soon()
{
	local TIMEFORMAT='%U %S' spent fabric

	spent=$({ time {
		"$TOPO" compare --study mkns
		for fabric in mkns:8x10x10x10 torus:16x10x10x10 fattree:40,4,nodes=16000; do
			"$TOPO" metrics "$fabric"
			"$TOPO" dot "$fabric"
		done
	} >/dev/null; } 2>&1)
	echo "user and system: $spent"
	awk '{ exit !($1 + $2 < 10) }' <<<"$spent"
}

# is WANT ARGUMENT...: does the last line of output equal WANT, apart from
# blanks?
is()
{
	local want=$1 got

	shift
	got=$("$TOPO" "$@" | tail -n 1 | xargs)
	echo "$*: '$got', expected '$want'"
	[ "$got" = "$want" ]
}

# The path of the study's example: from AB 0 by port 2 to AB 2, by port 8 to KB
# Y2, by port 2 to AB (2 2 0 0). Here the ports of nodes count from 0.
example()
{
	"$TOPO" route mkns:4x4 0 10 | tail -n +2 | tr -s ' ' >"$TAP_TMP/way"
	diff "$TAP_TMP/way" - <<-'EOF'
		 0 0 (0,0) 1
		 1 2 (2,0) 7
		 2 s2 2
		 3 10 (2,2) -
	EOF
}

# tree_is WANT ARGUMENT...: do the cost of the last tree and the expected time
# of a broadcast over one tree equal WANT?
tree_is()
{
	local want=$1 got

	shift
	got=$("$TOPO" tree "$@" | awk 'BEGIN { RS = ""; FS = "\n" }
		NR == 2 { print $NF } NR == 3 { split($2, time, " "); print time[2] }' |
		xargs)
	echo "$*: '$got', expected '$want'"
	[ "$got" = "$want" ]
}

json()
{
	local command

	for command in 'show kns:2x2' 'metrics mesh:3' 'compare torus:2 hypercube:3' \
		'route torus:5 0 2' 'tree mkns:4x4 --trees 2' 'avoid mkns:2x2' \
		'compare --study mkns'; do
		# shellcheck disable=SC2086
		"$TOPO" -j $command | perl -MJSON::PP -0777 -e 'decode_json(<STDIN>)' || return
	done
}

four_trees()
{
	"$TOPO" -j tree mkns:8x4 --trees 4 | perl -MJSON::PP -0777 -e '
		my $plan = decode_json(<STDIN>);
		my @load = map { $_->{load} } @{$plan->{costs}};

		print "@load\n";
		exit !("@load" eq "3 3 3 3" && @{$plan->{rows}} >= 4 * 40)'
}

large_halves()
{
	"$TOPO" metrics torus:16x10x10x10 | grep -E '^bisection +2000 +2000 +upper'
}

# The table of single failures has the numbers of cases, of failures that need up*down* routes, of
# deadlocks, of cases without a tree, and of lost pairs.
single_failures()
{
	"$TOPO" avoid "$1" | tr -s ' ' | cut -d ' ' -f -7 >"$TAP_TMP/avoid"
	diff "$TAP_TMP/avoid" -
}

# A route around node 2: routes do not use a ring that is cut twice, so this one takes another row.
around()
{
	"$TOPO" route torus:4x4 1 3 --failed 2,0:1 | tail -n +2 | tr -s ' ' >"$TAP_TMP/way"
	cat "$TAP_TMP/way"
	tail -n 1 "$TAP_TMP/way" | grep -q ' 3 (3,0) -' &&
		! grep -E '2 \(2,0\)|[01] \([01],0\) 0' "$TAP_TMP/way"
}

# graphviz LINE...: writes a Graphviz file; sets FILE to "file:PATH".
graphviz()
{
	FILE=file:$TAP_TMP/graph.gv
	printf '%s\n' "$@" >"$TAP_TMP/graph.gv"
}

# Prints every port of a fabric, without coordinates.
ports_of()
{
	"$TOPO" show "$1" | sed 's/ ([0-9,]*)//g' | tr -s ' '
}

# A drawing describes the same fabric, port by port.
round_trip()
{
	local fabric

	for fabric in torus:4x4 mkns:8x4 fattree:4,3 kns:13x2,ports=6; do
		"$TOPO" dot "$fabric" -o "$TAP_TMP/drawn.gv" &&
			ports_of "$fabric" >"$TAP_TMP/ports" && [ -s "$TAP_TMP/ports" ] &&
			diff "$TAP_TMP/ports" <(ports_of "file:$TAP_TMP/drawn.gv") || return
	done
}

# Edge ends without labels get free ports, after those with labels.
free_ports()
{
	graphviz 'digraph g {' 'a -> b' 'a -> s [taillabel=0, headlabel=5]' 'b -> s' \
		's [kind=switch]' '}'
	diff - <(ports_of "$FILE" | cut -d ' ' -f 1-4 | tail -n +2) <<-'EOF'
		0 0 s0 5
		0 1 1 0
		1 0 0 1
		1 1 s0 0
		s0 0 1 1
		s0 5 0 0
	EOF
}

# A summary is short, and counts every node and every cable.
summary()
{
	"$TOPO" dot mkns:8x10x10x10 >"$TAP_TMP/dot"
	[ "$(wc -l <"$TAP_TMP/dot")" -lt 200 ] &&
		perl -ne '$nodes += $1 if /"(\d+) nodes/; $cables += $1 if /(\d+) cables inside/;
			$cables += $1 if / -- .*label="(\d+)"/;
			END { print "$nodes nodes, $cables cables\n";
				exit !($nodes == 8000 && $cables == 52000) }' "$TAP_TMP/dot"
}

# Groups of nodes do not share a box with switches, even if a digit has more values than there
# are groups.
many_groups()
{
	"$TOPO" dot kns:200x2,ports=64 |
		sed -nE 's/.*label="([0-9]+) (nodes|switches).*/\2 \1/p' |
		awk '{ n[$1] += $2 } END { print n["nodes"], n["switches"]
			exit n["nodes"] != 400 || n["switches"] != 222 }'
}

# If a command fails, the file for its output stays unchanged.
output_kept()
{
	echo kept >"$TAP_TMP/kept"
	refused 'sizes' dot torus:2xx -o "$TAP_TMP/kept" && [ "$(cat "$TAP_TMP/kept")" = kept ]
}

whole()
{
	[ "$("$TOPO" dot fattree:4,2 | grep -c ' -- ')" = 8 ] &&
		[ "$("$TOPO" dot torus:4x4 | grep -c ' -- ')" = 32 ]
}

svg()
{
	"$TOPO" svg mkns:8x4 -o "$TAP_TMP/mkns.svg" &&
		[ "$(grep -c 'class="node"' "$TAP_TMP/mkns.svg")" = 40 ] &&
		[ "$(grep -c 'class="edge"' "$TAP_TMP/mkns.svg")" = 144 ]
}

# kept_without_dot [COMMAND]: without dot, or if dot is COMMAND, which fails, an existing picture
# stays as it is, and no other file is left. The text of the fabric is longer than a pipe's buffer.
kept_without_dot()
{
	local folder=$TAP_TMP/svg status=0

	mkdir -p "$folder/bin"
	rm -f "$folder/bin/"*
	if [ -n "${1:-}" ]; then
		printf '#!/bin/sh\n%s\n' "$1" >"$folder/bin/dot"
		chmod +x "$folder/bin/dot"
	fi
	echo kept >"$folder/picture"
	PATH=$folder/bin "$TOPO" svg mkns:62,ports=64 -o "$folder/picture" 2>"$folder/bin/err" ||
		status=$?
	echo "status $status"
	cat "$folder/bin/err"
	[ "$status" = 1 ] && grep -q 'dot failed: install graphviz' "$folder/bin/err" &&
		[ "$(cat "$folder/picture")" = kept ] && [ "$(ls "$folder")" = $'bin\npicture' ]
}

# A picture is written to the file that a symbolic link names, and to a pipe.
svg_elsewhere()
{
	local folder=$TAP_TMP/elsewhere

	mkdir "$folder"
	echo old >"$folder/file"
	ln -s file "$folder/link"
	"$TOPO" svg torus:4 -o "$folder/link" && [ -L "$folder/link" ] &&
		grep -q '</svg>' "$folder/file" && [ "$(ls "$folder")" = $'file\nlink' ] &&
		mkfifo "$folder/pipe" || return
	timeout 60 "$TOPO" svg torus:4 -o "$folder/pipe" &
	grep -q '</svg>' <"$folder/pipe" && wait $! && [ -p "$folder/pipe" ]
}

report()
{
	local picture count=0

	tools/topo/report "$TOPO" "$OUT" || return
	while read -r picture; do
		grep -q 'class="node"' "$OUT/$picture" || return
		count=$((count + 1))
	done < <(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$OUT/report.md")
	grep -q '^### Table 7: ports$' "$OUT/report.md" &&
		grep -q '^| 16000 | 104000/104000/104000 |' "$OUT/report.md" &&
		[ "$count" = "$1" ]
}

check 'it builds' variant plain libangara tools/topo
check 'commands that documents show run' shown_runs
check 'the study runs' study
check 'table 2: diameter' table 2 '1 4 3 2' '3 6 5 4' '3 7 6 4' '5 12 9 6' '7 23 12 8'
check 'table 3: spanning tree' table 3 '2 4 3 2' '4 8 5 4' '4 11 8 4' '8 22 14 6' \
	'12 42 21 8'
check 'table 4: connectivity' table 4 '7 8 6 20' '8 8 10 20' '8 8 10 20' '9 8 12 20' \
	'10 8 12 20'
check 'table 5: bisection' table 5 '4 16 8 8' '16 32 32 32' '40 64 32 80' \
	'400 400 320 800' '4000 2000 3200 8000'
check 'table 6: cables' table 6 '28 64 24 16' '144 256 160 128' '360 640 400 320' \
	'4400 6400 4800 4800' '52000 64000 48000 64000'
check 'table 7: ports' table 7 '80 128 96 32' '400 512 384 256' '880 1280 960 640' \
	'9600 12800 9600 9600' '104000 128000 96000 128000'
check 'trees and halves from the graphs' from_graphs
check 'each published number that differs is explained' explained
check 'each conclusion has a verdict' concluded
check 'study, measures and drawings of 16000 modules take less than 10 s' soon
check 'a route of the study' example
check 'cost by a price list' is 'cost 408 408 cable=100,port=1' metrics torus:4 \
	--prices cable=100,port=1
# Time: injection and ejection, 300 ns each; the PEGroup FIFO, 20 ns; 3 hops of
# 84 ns; 4096 bytes, 16 head flits and 16 * 24 bytes of PCIe overhead at 64 Gbit/s.
check 'cost of a tree' tree_is '0 0 (0,0) 3 39 8 8 1 1.464' mkns:8x4
check 'the root in the middle' tree_is '0 3 3 6 0 2 1 1.464' mesh:7
check 'two trees from the ends of a line' tree_is '1 6 6 6 0 1 1 1.716' mesh:7 --trees 2
check 'two trees from the middle of a line' tree_is '1 3 3 6 0 2 2 1.464' mesh:7 \
	--trees 2 --goal depth
check 'four trees on MKNS: three on the worst channel' four_trees
check 'the root near most participants' tree_is '0 4 4 7 0 2 1 1.548' mesh:8 \
	--nodes 0-6,7:2
check 'an unknown goal' refused 'must be depth or load' tree mesh:8 --goal x
check 'a count of participants out of range' refused "'17' participants" tree mesh:8 \
	--nodes 0:17
check 'a tree of some nodes' tree_is '0 0 (0,0) 0 0 0 0 0 1.212' mkns:8x4 --nodes 0 --root 0
check 'sources of parameters' grep -qx '  fitted to one of its results: pegroup;' \
	<("$TOPO" tree torus:4)
check 'single failures of a torus' single_failures torus:4x4x4 <<-'EOF'
	failed cases up*down* deadlocks no tree pairs
	nothing 1 0 0 0 0 0
	each cable 192 0 0 0 0
	each node 64 64 0 0 0
EOF
check 'a route around two failures' around
check 'a node that has failed is in no tree' tree_is '0 2 1 2 0 2 1 1.296' mesh:7 \
	--failed 3:0 --nodes 1-3
check 'a first root that does not take part' "$TOPO" tree mesh:3x2 --nodes 0,2,3,5 --trees 2
check 'a root of more children and participants than ports' "$TOPO" tree mkns:62,ports=64 \
	--local 16
check 'a tree that failures divide' refused_plan 'no tree reaches all' tree mesh:7 --failed 3
check 'a route that failures cut' refused_plan 'no route from 0 to 6' route mesh:7 0 6 --failed 3
check 'a failure of a missing cable' refused "'3:9'" avoid torus:4 --failed 3:9
check 'a failure of a missing router' refused "'s0'" avoid torus:4 --failed 2,s0
check 'JSON' json
check 'a graph is drawn whole' whole
check 'a large one is summarised' summary
check 'more groups than boxes' many_groups
check 'a wrong fabric does not touch the output' output_kept
check 'without dot, a picture stays as it is' kept_without_dot
check 'if dot ends early, a picture stays as it is' kept_without_dot 'exit 3'
if command -v dot >/dev/null; then
	check 'a picture has every router and cable' svg
	check 'a picture behind a symbolic link, and in a pipe' svg_elsewhere
	check 'the report' report 10
else
	skip 'a picture' 'graphviz is missing: install graphviz'
	check 'the report' report 0
fi
if echo '#include <metis.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
	check 'halves of a large torus' large_halves
else
	skip 'halves of a large torus' 'METIS is missing: install libmetis-dev'
fi
check 'an unknown kind' refused 'unknown' metrics ring:5
check 'a size of 0' refused 'sizes' metrics torus:0x2
check 'MKNS with more nodes than ports reach' refused 'dimension 1' metrics mkns:9x4
check 'a fat tree of odd ports' refused 'even' metrics fattree:5,2
check 'no such file' refused 'No such file' metrics file:/nonexistent
printf 'graph g\nnode a\nnode b\na:0 b:0\n\0node c\n' >"$TAP_TMP/zero"
check 'a file with a zero byte' refused 'Invalid argument' metrics "file:$TAP_TMP/zero"
check 'a price that is no number' refused 'from 0 to 1e9' compare torus:4 --prices cable=nan
if pkg-config --exists libcgraph; then
	check 'a drawing can be read as a fabric' round_trip
	check 'ports without labels' free_ports
	graphviz 'graph g {' 'a -- b' 'a -- a' '}'
	check 'a loop in a file of Graphviz' refused 'a -- a is a loop' metrics "$FILE"
	graphviz 'graph g {' 'a -- b' 'a -- c [taillabel=0]' '}'
	check 'a label after a cable without one' "$TOPO" metrics "$FILE"
	graphviz 'graph g {' 'a -- b [taillabel=1]' 'c -- a [headlabel=1, taillabel=3]' \
		'b -- a [headlabel=1, taillabel=9]' '}'
	check 'a port used twice in it' refused 'port 1 of a is used twice' metrics "$FILE"
	graphviz 'graph g {' 'a -- b [taillabel=64, headlabel=0]' '}'
	check 'a port out of range in it' refused "taillabel '64'" metrics "$FILE"
	graphviz 'graph g {' 'a -- b' 'c' '}'
	check 'a node not reached in it' refused 'cannot be reached' metrics "$FILE"
	graphviz 'graph {' '--'
	check 'no graph' refused 'not a graph of Graphviz' metrics "$FILE"
else
	skip 'files of Graphviz' 'its library is missing: install libgraphviz-dev'
fi
graph 'graph g' 'node a' 'node b' 'a:0 b:0' 'b:1 b:2'
check 'a loop' refused 'line 5: cable: is a loop' metrics "$FILE"
graph 'graph g' 'node a' 'node b' 'a:0 b:0' 'b:0 a:1'
check 'a port used twice' refused 'line 5: cable: a port is used twice' metrics "$FILE"
graph 'graph g' 'node a' 'node b' 'switch s' 'a:0 s:0'
check 'a node that is not reached' refused 'line 3: router: cannot be reached' metrics "$FILE"
check 'no command' refused 'no command'
check 'an unknown command' refused 'no such command' draw torus:2
check 'too few arguments' refused 'two nodes' route torus:4 1
check 'a node out of range' refused 'from 0 to 3' route torus:4 1 4
check 'an invalid list of nodes' refused 'from 0 to 3' tree torus:4 --nodes 0,x
check 'an empty range' refused 'is empty' tree torus:4 --nodes 3-1
check 'an invalid price' refused 'must be cable=' metrics torus:4 --prices cable=x
check 'an unknown study' refused 'must be mkns' compare --study torus
plan
