# SPDX-License-Identifier: GPL-2.0-only
#
# Load of the links of a flat torus, a panel for each direction. The table has a
# block of lines "x y load" for each direction. Variables: title, dirs.

width = 1000
height = 860
load scripts . "/style.gp"
set multiplot layout 2,2 title title font ",14"
set xlabel "x of the node"
set ylabel "y of the node"
set cblabel "link busy, % of the time"
set cbrange [0:most]
set xrange [-0.5:nx - 0.5]
set yrange [-0.5:ny - 0.5]
set palette defined (0 "#f7fbff", 0.3 "#9ecae1", 0.6 "#4292c6", 0.8 "#f16913", 1 "#a50f15")
unset grid
unset key
set size ratio -1
do for [i=0:3] {
	set title "links " . word(dirs, i + 1)
	plot data index i using 1:2:3 with image
}
unset multiplot
