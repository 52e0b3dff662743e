# SPDX-License-Identifier: GPL-2.0-only
#
# Figure 9: SpMV over nodes. The table has: nodes, GFlop/s in the network and
# by messages, gain in per cent; the paper's points in block 1.

width = 1000
height = 480
load scripts . "/style.gp"
set multiplot layout 1,2 title title font ",14"
set logscale x 2
set xlabel "nodes"
set format x "%.0f"
set xrange [12:2800]
set xtics (16, 32, 64, 128, 256, 512, 1024, 2048)
set yrange [4:40]
set ytics (5, 10, 20, 40)
set ylabel "GFlop/s"
set logscale y
plot data index 0 using 1:2 with linespoints ls 1 title "broadcasts in the network", \
     data index 0 using 1:3 with linespoints ls 2 title "recursive doubling"
unset logscale y
set ylabel "gain, %"
set yrange [-10:50]
set ytics 10
set xzeroaxis lc rgb "#404040"
plot data index 0 using 1:4 with linespoints ls 5 title "gain", \
     data index 1 using 1:2 with points ls 9 title "published (the most)"
unset multiplot
