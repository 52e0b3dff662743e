# SPDX-License-Identifier: GPL-2.0-only
#
# Figure 10: the heat equation by number of nodes. A block for each number of
# cells: nodes, TFlop/s in the network and by messages, gain. Block 3 has the
# paper's points, the next ones least and greatest gain for each number of cells.

width = 1000
height = 600
load scripts . "/style.gp"
# The legend is below the plots, where the names have the full width.
set key outside bottom left horizontal Left reverse maxcols 1 font ",9"
set bmargin 11.5
set multiplot layout 1,2 title title font ",14"
set logscale x 2
set xlabel "nodes"
set format x "%.0f"
set xrange [1.6:44000]
set xtics (2, 8, 32, 128, 512, 2048, 8192, 32768)
set ylabel "TFlop/s"
set logscale y
set yrange [0.01:300]
plot for [i=0:2] data index i using 1:2 with linespoints ls 2 * i + 1 \
	title word(cells, i + 1) . " in the network", \
     for [i=0:2] data index i using 1:3 with linespoints ls 2 * i + 2 \
	title word(cells, i + 1) . " messages"
unset logscale y
set ylabel "gain, times"
set yrange [0:*]
plot for [i=0:2] data index i + 4 using 1:2:3 with filledcurves \
	fc ls 2 * i + 1 fs transparent solid 0.12 noborder \
	title word(cells, i + 1) . ", plausible range", \
     for [i=0:2] data index i using 1:4 with linespoints ls 2 * i + 1 \
	title word(cells, i + 1), \
     data index 3 using 1:2 with points ls 9 title "published"
unset multiplot
