# SPDX-License-Identifier: GPL-2.0-only
#
# Delay of random traffic by accepted load. A block for each of the words in
# names: accepted load, delay in ns.

width = 760
height = 460
load scripts . "/style.gp"
set title title font ",14"
set xlabel "accepted load, flits per router cycle and node"
set ylabel "mean delay from host to host, us"
set yrange [0:*]
plot for [i=0:words(names) - 1] data index i using 1:($2/1000) \
	with linespoints ls i + 1 title word(names, i + 1)
