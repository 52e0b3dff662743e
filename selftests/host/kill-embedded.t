#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Processes that are killed while they use an embedded fabric: a short run,
# from a fixed seed; `make kill ROUNDS=1000` is the long one.

set -u
. selftests/tap.sh

OUT=${KILL_OUT:-$TAP_TMP/build}
ROUNDS=${ROUNDS:-40}
SEED=${SEED:-1}
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	make -C libangara O="$OUT" all && make -C tools/run O="$OUT" &&
		${CC:-cc} -O2 -g -std=gnu11 -Wall -Wextra -Wshadow -D_GNU_SOURCE \
			-Ilibangara/include -Iuapi -o "$OUT/bin/kill-test" \
			selftests/embed/kill.c "$OUT/lib/libangara.a"
}

rounds()
{
	PATH=$OUT/bin:$PATH "$OUT/bin/kill-test" "$ROUNDS" "$SEED"
}

check 'builds' build
check "$ROUNDS kills" rounds
plan
