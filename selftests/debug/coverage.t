#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Does the kernel debug count the reached lines of modules correctly? Loads and
# unloads a module whose executed lines are known: selftests/coverage/known.c.

set -u
. selftests/tap.sh

PROOF=build/coverage/proof
TREE=$TAP_TMP/tree

build()
{
	rm -rf "$PROOF"
	mkdir -p "$PROOF/driver" "$TREE/driver" "$TREE/build/coverage/counts"
	cp selftests/coverage/known.c "$TREE/driver"
	cp selftests/coverage/known.c "$PROOF/driver"
	echo 'obj-m += driver/' >"$PROOF/Kbuild"
	echo 'obj-m += known.o' >"$PROOF/driver/Kbuild"
	tools/vm/chroot make -s -C /angara/build/debug/debug \
		"M=/angara/$PROOF" GCOV_PROFILE=y modules
}

run()
{
	tools/vm/run --kernel debug --no-driver -- selftests/coverage/in-guest \
		sh -c "insmod $PROOF/driver/known.ko && rmmod known" &&
		tools/vm/chroot find "/angara/$PROOF" -name '*.gcda' \
			-exec gcov --json-format --stdout {} + \
			>"$TREE/build/coverage/counts/known.json" &&
		selftests/coverage/report --top "$TREE" --missed \
			>"$TAP_TMP/missed"
}

lines()
{
	grep -n "/\* $1 \*/" selftests/coverage/known.c |
		sed 's/^/driver\/known.c:/'
}

# all MARK, none MARK: are all lines with this mark, or none, among the missed
# lines?
all()
{
	[ "$(lines "$1" | grep -cxFf "$TAP_TMP/missed")" = "$(lines "$1" | wc -l)" ]
}

none()
{
	! lines "$1" | grep -xFf "$TAP_TMP/missed"
}

check 'a module builds with gcov' build
check 'the module is loaded, runs, and is unloaded' run
cat "$TAP_TMP/missed" >"$TAP_TMP/why"
check 'executed lines are counted: init, work, timer, exit' none reached
check 'other lines are not counted' all never
plan
