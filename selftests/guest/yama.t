#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Embedded fabrics while Yama restricts ptrace(2): in a guest, because the
# kernel of this machine may lack Yama. The steps in the guest are in
# selftests/embed/yama.

set -u
. selftests/tap.sh

OUT=build/guest-user

check 'the test builds' tools/vm/chroot make -C libangara \
	"O=/angara/$OUT" all tests
check 'the launcher builds' tools/vm/chroot make -C tools/run \
	"O=/angara/$OUT" all
status=0
tools/vm/run --kernel 6.12 --timeout 1500 --no-driver --user user \
	--append sysctl.kernel.yama.ptrace_scope=1 -- \
	selftests/embed/yama "/angara/$OUT" \
	>"$TAP_TMP/out" 2>"$TAP_TMP/why" || status=$?
sed 's/^/    /' "$TAP_TMP/out"
result "$status" 'embedded fabrics under Yama'
plan
