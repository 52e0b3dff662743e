# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# The gate: what a debug kernel and its driver have to get through. Needs
# selftests/tap.sh.

# How much of the tests' sweeps: the kernels are five to ten times slower.
SCALE=${ANGARA_TEST_SCALE:-10}

# 6.1 warns if it has no memory to load a module, which failnth brings about.
KERNELS_OWN='WARNING: .* at event_define_fields\+'

# gate KERNEL TIMEOUT ARG...: runs in-guest with ARGs; its results are ours.
# What the kernel reports fails the last of them, and is shown.
gate()
{
	local kernel=$1 limit=$2 status

	shift 2
	tools/vm/run --kernel "$kernel" --timeout "$limit" \
		${MODULES:+--modules "$MODULES"} --ignore "$KERNELS_OWN" \
		--env "ANGARA_TEST_SCALE=$SCALE" \
		${ANGARA_TEST_ROUNDS:+--env "ANGARA_TEST_ROUNDS=$ANGARA_TEST_ROUNDS"} \
		${ANGARA_TEST_SEED:+--env "ANGARA_TEST_SEED=$ANGARA_TEST_SEED"} \
		--env "PROGRAM_TIMEOUT=${PROGRAM_TIMEOUT:-1200}" -- \
		selftests/debug/in-guest "$@" 2>"$TAP_TMP/console" |
		tee "$TAP_TMP/out" |
		sed -un "s/^# \(.*: [0-9]* s\)$/==> kernel $kernel: \1/p" >&2
	status=${PIPESTATUS[0]}
	sed "s/^\(not ok\|ok\) - /&$kernel: /" "$TAP_TMP/out"
	TAP_COUNT=$((TAP_COUNT + $(grep -cE '^(not )?ok ' "$TAP_TMP/out")))
	reports >"$TAP_TMP/why"
	result "$status" "$kernel: the guest ends, its kernel has nothing to report"
}

# The reports among the console's lines, or its end if there is none.
reports()
{
	grep -nE '(WARNING|BUG|INFO|UBSAN|Oops): |unreferenced object' \
		"$TAP_TMP/console" | head -n 8
	grep -m 1 -A 45 -E '(WARNING|BUG|UBSAN|Oops): ' "$TAP_TMP/console" ||
		tail -n 40 "$TAP_TMP/console"
}
