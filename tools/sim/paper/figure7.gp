# SPDX-License-Identifier: GPL-2.0-only
#
# Figure 7: time of a collective of one packet by number of nodes, and the
# ratio. The table has: nodes, offload and p2p in us, ratio; 3D in block 0, 4D
# in 1; the paper's points in block 2; least and greatest ratio in blocks 3 and 4.
# Variables: title.

width = 1000
height = 600
load scripts . "/style.gp"
# The legend is below the plots, where the names have the full width.
set key outside bottom left horizontal Left reverse maxcols 1 font ",9"
set bmargin 9.5
set multiplot layout 1,2 title title font ",14"
set logscale x 2
set xlabel "nodes"
set format x "%.0f"
set xrange [6:14000]
set xtics (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192) rotate by -40
set ylabel "time, us"
set logscale y
set yrange [0.5:100]
plot data index 0 using 1:3 with linespoints ls 2 title "messages, 3D", \
     data index 1 using 1:3 with linespoints ls 4 title "messages, 4D", \
     data index 0 using 1:2 with linespoints ls 1 title "in the network, 3D", \
     data index 1 using 1:2 with linespoints ls 3 title "in the network, 4D"
unset logscale y
set ylabel "messages / in the network, times"
set yrange [0:*]
plot data index 3 using 1:2:3 with filledcurves fc ls 5 fs transparent solid 0.15 noborder title "3D, plausible range", \
     data index 4 using 1:2:3 with filledcurves fc ls 2 fs transparent solid 0.15 noborder title "4D, plausible range", \
     data index 0 using 1:4 with linespoints ls 5 title "3D", \
     data index 1 using 1:4 with linespoints ls 6 title "4D", \
     data index 2 using 1:2 with points ls 9 title "published"
unset multiplot
