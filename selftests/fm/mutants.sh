# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Runs the test of the fabric manager in guests. With a fault of mutants.txt in the
# manager, a case must fail.

. selftests/mutate.sh

FAULT_DIR=build/fm-fault

# in_guest MANAGER [KILLS [REGEXP]]: runs the test in a guest; MANAGER is a path below build/.
in_guest()
{
	tools/vm/run --kernel 6.12 --loop 2x2x2 --timeout 1500 -- selftests/fm/in-guest \
		"/angara/build/$1" "${@:2}"
}

# build_fault FILE FROM TO: builds a manager with a fault.
build_fault()
{
	rm -rf "$FAULT_DIR"
	mkdir -p "$FAULT_DIR"
	cp -r tools/fm "$FAULT_DIR/fm"
	ln -s ../guest-user/lib "$FAULT_DIR/lib"
	mutate "$1" "$2" "$3" >"$FAULT_DIR/fm/${1##*/}" || return
	tools/vm/chroot make -s -C "$FAULT_DIR/fm" TOP=/angara \
		"O=/angara/$FAULT_DIR" all
}

# fault FILE NAME FROM TO REPORT: inserts the fault; cases that match REPORT must fail
fault()
{
	check "builds: $2" build_fault "$1" "$3" "$4"
	in_guest "${FAULT_DIR#build/}/bin/angara-fm" 3 "$5" >"$TAP_TMP/why" 2>&1
	grep -qE "^not ok .*($5)" "$TAP_TMP/why"
	result $? "found: $2"
}

mutants()
{
	check 'without a fault the steps pass' in_guest guest-user/bin/angara-fm 3
	faults selftests/fm/mutants.txt fault
	rm -rf "$FAULT_DIR"
}
