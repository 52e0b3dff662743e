#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Layers: the files of angara.ko, and those of angara_loop.ko apart from the model, do not depend
# on each other in a circle.

set -u
. selftests/tap.sh

OBJ=build/kernel/6.12/driver

# The tool finds a circle of two files that call each other.
finds()
{
	echo 'int a(void); int b(void); int a(void) { return b(); }' >"$TAP_TMP/a.c"
	echo 'int a(void); int b(void); int b(void) { return a(); }' >"$TAP_TMP/b.c"
	echo 'int a(void); int c(void); int c(void) { return a(); }' >"$TAP_TMP/c.c"
	(cd "$TAP_TMP" && "${CC:-gcc}" -c a.c b.c c.c) || return
	selftests/circles "$TAP_TMP"/[ac].o || return
	! selftests/circles "$TAP_TMP"/[abc].o
}

mapfile -t objects < <(sed -n '/^angara-y :=/,/[^\\]$/p' driver/Kbuild |
	grep -oE '[a-z_]+\.o' | sed "s|^|$OBJ/|"; echo "$OBJ/pci.o"
	echo "$OBJ/pci_irq.o")

check 'circles are found' finds
check "the ${#objects[@]} files of angara.ko form no circle" \
	selftests/circles "${objects[@]}"
mapfile -t objects < <(sed -n '/^angara_loop-y :=/,/[^\\]$/p' driver/Kbuild |
	grep -oE 'loop/[a-z_]+\.o' | sed "s|^|$OBJ/|")
check "the ${#objects[@]} files of angara_loop.ko form no circle" \
	selftests/circles "${objects[@]}"
plan
