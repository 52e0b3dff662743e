# SPDX-License-Identifier: GPL-2.0-only
#
# Delay over load of several fabrics. The caller sets: file, data, title, names,
# style (the file of common settings). A block for each of the words in names:
# accepted load, delay in ns, halves of their confidence intervals.

form = "svg"
width = 760
height = 460
load style
set title title font ",14"
set xlabel "accepted load, flits per cycle and module"
set ylabel "mean delay from host to host, us"
set yrange [0:*]
set xrange [0:*]
set style line 3 dt 1
set style line 4 dt 1
set key outside right top
plot for [i=0:words(names) - 1] data index i using 1:($2/1000):3:($4/1000) \
	with xyerrorbars ls i + 1 ps 0 notitle, \
	for [i=0:words(names) - 1] data index i using 1:($2/1000) \
	with linespoints ls i + 1 title word(names, i + 1)
