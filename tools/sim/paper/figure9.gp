# SPDX-License-Identifier: GPL-2.0-only
#
# Figure 9: SpMV by number of nodes. A block for each routing of messages:
# nodes, GFlop/s in the network and by messages, gain in per cent; the paper's
# points; least and greatest gain over the plausible range, in two or three blocks:
# adaptive routing, dimension order, adaptive routing on the most nodes. Variables:
# title, bands (their names), names of the routings, in quotes.

width = 1060
height = 600
load scripts . "/style.gp"
# The legend is below the plots, where the names have the full width.
set key outside bottom left horizontal Left reverse maxcols 1 font ",9"
set bmargin 11.5
set multiplot layout 1,2 title title font ",14"
set logscale x 2
set xlabel "nodes"
set format x "%.0f"
set xrange [12:2800]
set xtics (16, 32, 64, 128, 256, 512, 1024, 2048)
set yrange [4:100]
set ytics (5, 10, 20, 40)
set ylabel "GFlop/s"
set logscale y
plot data index 0 using 1:2 with linespoints ls 1 title "broadcasts in the network; doubling by messages:", \
     for [i=0:2] data index i using 1:3 with linespoints ls i + 2 \
	title word(names, i + 1)
unset logscale y
set ylabel "gain, %"
set yrange [-50:*]
set ytics 50
set xzeroaxis lc rgb "#404040"
# A loop from 3 to 2 would plot once.
most = words(bands) < 3 ? "" : "data index 6 using 1:(($2+$3)/2):2:3 with yerrorbars " . \
	"ls 2 lw 3 pt -1 title word(bands, 3),"
plot for [i=0:1] data index i + 4 using 1:2:3 with filledcurves \
	fc ls i + 2 fs transparent solid 0.12 noborder title word(bands, i + 1), \
     @most \
     for [i=0:2] data index i using 1:4 with linespoints ls i + 2 \
	title word(names, i + 1), \
     data index 3 using 1:2 with points ls 9 title "published (the most)"
unset multiplot
