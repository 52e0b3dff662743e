# SPDX-License-Identifier: GPL-2.0-only
#
# Figure 6: activity in the blocks of a router over time. The table has, for
# each packet in a block: start and end in ns, row, colour, text. Variables:
# title, lines (rows), names (their names, each in quotes).

width = 1000
height = 110 + 34 * lines
load scripts . "/style.gp"
set title title font ",14"
set xlabel "time, ns"
set yrange [lines - 0.4:-0.6]
set xrange [0:*]
set offsets graph 0, graph 0.02, 0, 0
unset key
set ytics ()
do for [i=1:lines] {
	set ytics add (word(names, i) i - 1)
}
set style fill solid 0.75 border lc rgb "#303030"
plot data using 1:3:1:2:($3-0.32):($3+0.32):4 with boxxyerror lc rgb variable, \
     data using (($1+$2)/2):3:5 with labels font ",9"
