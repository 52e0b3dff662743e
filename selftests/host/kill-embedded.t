#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Processes that are killed or stopped while they use an embedded fabric, next
# to processes that must not be affected: a short run with a fixed seed; `make
# kill ROUNDS=1000` is the long one.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/plain
KILL=$TAP_TMP/kill-test
ROUNDS=${ROUNDS:-40}
SEED=${SEED:-1}
STOPS=$((ROUNDS < 120 ? 6 : ROUNDS / 20))	# each takes some seconds
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	variant plain libangara tools/run &&
		${CC:-cc} -O2 -g -std=gnu11 -Wall -Wextra -Wshadow -D_GNU_SOURCE \
			-Ilibangara -Ilibangara/include -Iuapi -o "$KILL" \
			selftests/embed/kill.c "$OUT/lib/libangara.a"
}

rounds()
{
	PATH=$OUT/bin:$PATH "$KILL" "$@"
}

check 'builds' build
check "$ROUNDS kills" rounds "$ROUNDS" "$SEED"
check "$STOPS stops" rounds "$STOPS" "$SEED" stop
plan
