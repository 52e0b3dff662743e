#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Unit tests of the device model, under ASan and UBSan, with a golden trace;
# several threads on one fabric, under ThreadSanitizer too. With LONG=1 every
# single failure of cables and nodes is tried, and threads run longer.

set -u
. selftests/tap.sh
. selftests/variant.sh

T=$VARIANTS/tests/tests

golden()
{
	"$T/model-fast" --golden >"$TAP_TMP/golden" &&
		diff -u selftests/model/golden.txt "$TAP_TMP/golden"
}

repeated()
{
	"$T/model-fast" --golden >"$TAP_TMP/one" &&
		"$T/model-test" --golden >"$TAP_TMP/two" &&
		cmp "$TAP_TMP/one" "$TAP_TMP/two"
}

check 'the tests build' variant tests selftests/model
nested '' "$T/model-test"
check 'the golden trace is the same' golden
check 'optimized and checked builds give one trace' repeated
check 'optimized build' "$T/model-fast"
# The host of a fabric without a trace lets operations bypass the links; see
# driver/model/ang_express.c.
export MODEL_EXPRESS=1
nested 'without links' "$T/model-test"
check 'without links, optimized build' "$T/model-fast"
check 'without links, 3 threads' "$T/model-threads" 3 "$(amount 150 400)"
check 'without links, 8 threads on 3x3' "$T/model-threads" 8 "$(amount 50 100)" 3x3
check 'without links, 4 threads under ThreadSanitizer' "$T/model-tsan" 4 "$(amount 150 400)"
unset MODEL_EXPRESS
check '1 thread' "$T/model-threads" 1 100
check '3 threads' "$T/model-threads" 3 "$(amount 150 400)"
check '8 threads on 3x3' "$T/model-threads" 8 100 3x3
check '3 threads, a tenth of the packets lost, a tenth corrupted' \
	"$T/model-threads" 3 100 2x2x2 10
check '3 threads under ThreadSanitizer' "$T/model-tsan" 3 40
check '3 threads on bad links under ThreadSanitizer' "$T/model-tsan" 3 20 2x2 10
check '2 threads on a ring of 5 under ThreadSanitizer' "$T/model-tsan" 2 40 5
plan
