# SPDX-License-Identifier: GPL-2.0-only
#
# Speed-up over bytes. The caller sets: file, data, title, names. Columns of the
# data: text, bytes, then a column for each of the words in names.

set terminal svg size 760,460 font "sans,12" background rgb "white"
set output file
set title title
set xlabel "bytes"
set ylabel "speed-up"
set logscale x 2
set format x "2^{%L}"
set yrange [0:*]
set grid
set key outside right top
plot for [i=1:words(names)] data using 2:i + 2 with linespoints lw 2 \
	title word(names, i)
