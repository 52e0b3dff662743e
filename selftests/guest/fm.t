#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The fabric manager on the adapters of a guest; its steps are in
# selftests/fm/in-guest. With LONG=1, also inserted faults.

set -u
. selftests/tap.sh
. selftests/fm/mutants.sh

check 'library, manager and test build' tools/vm/build user
status=0
in_guest guest-user/bin/angara-fm >"$TAP_TMP/out" 2>"$TAP_TMP/why" || status=$?
sed 's/^/    /' "$TAP_TMP/out"
result "$status" 'the fabric manager on 2x2x2, kernel 6.12'
! long_form || mutants
plan
