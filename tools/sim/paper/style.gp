# SPDX-License-Identifier: GPL-2.0-only
#
# Common settings of all pictures. The caller sets: form (png or svg), file,
# data (the folder of tables).

if (form eq "png") {
	set terminal pngcairo size width, height font "DejaVu Sans,11" background "white"
} else {
	set terminal svg size width, height font "DejaVu Sans,11" background "white"
}
set output file

# Colours that colour-blind readers can tell apart; the paper's points are
# black.
set style line 1 lc rgb "#0072b2" lw 2 pt 7 ps 0.9
set style line 2 lc rgb "#d55e00" lw 2 pt 5 ps 0.9
set style line 3 lc rgb "#56b4e9" lw 2 dt 2 pt 6 ps 0.9
set style line 4 lc rgb "#e69f00" lw 2 dt 2 pt 4 ps 0.9
set style line 5 lc rgb "#009e73" lw 2 pt 9 ps 1.0
set style line 6 lc rgb "#66c2a5" lw 2 dt 2 pt 8 ps 1.0
set style line 9 lc rgb "black" lw 2.5 pt 3 ps 1.8
set grid xtics ytics lt 1 dt 1 lc rgb "#d8d8d8" lw 0.8
set border lc rgb "#404040"
set key left top Left reverse samplen 3 spacing 1.15 opaque
set tics nomirror
