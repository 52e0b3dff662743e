# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# The gate: the checks of a debug kernel and its driver. Needs selftests/tap.sh
# and, for gates, selftests/vfio/server.sh.

# Scale of sweeps: the kernels are five to ten times slower.
SCALE=${ANGARA_TEST_SCALE:-10}
# Number of loads of the modules.
LOADS=${ANGARA_TEST_LOADS:-100}

# Options for tools/vm/run: adapters on PCI Express instead of the loopback.
CARDS=()

# Kernel 6.1 itself prints two warnings. One appears if it has no memory to load a module, which
# failnth causes; the other if it frees an interrupt that it had no memory to list in /proc, which
# card causes.
KERNELS_OWN='WARNING: .* at (event_define_fields|remove_proc_entry)\+'

# guest OUT KERNEL TIMEOUT PROGRAM...: runs the programs in a guest. Their
# output is in OUT.tap, the console in OUT.log, the exit status in OUT.status.
guest()
{
	local out=$1 kernel=$2 limit=$3

	shift 3
	tools/vm/run --kernel "$kernel" --timeout "$limit" "${CARDS[@]}" \
		${MODULES:+--modules "$MODULES"} --ignore "$KERNELS_OWN" \
		--env "ANGARA_TEST_SCALE=$SCALE" --env "ANGARA_TEST_LOADS=$LOADS" \
		${ANGARA_TEST_ROUNDS:+--env "ANGARA_TEST_ROUNDS=$ANGARA_TEST_ROUNDS"} \
		${ANGARA_TEST_SEED:+--env "ANGARA_TEST_SEED=$ANGARA_TEST_SEED"} \
		--env "PROGRAM_TIMEOUT=${PROGRAM_TIMEOUT:-2400}" -- \
		selftests/debug/in-guest "$@" 2>"$out.log" |
		tee "$out.tap" |
		sed -un "s/^# \(.*: [0-9]* s\)$/==> kernel $kernel: \1/p" >&2
	echo "${PIPESTATUS[0]}" >"$out.status"
}

# results OUT KERNEL NAME: includes the results of a guest, and adds a result
# for the guest itself, with the reports of its kernel.
results()
{
	local out=$1 kernel=$2

	sed "s/^\(not ok\|ok\) - /&$kernel: /" "$out.tap"
	TAP_COUNT=$((TAP_COUNT + $(grep -cE '^(not )?ok ' "$out.tap")))
	reports "$out.log" >"$TAP_TMP/why"
	result "$(cat "$out.status")" \
		"$kernel: the guest$3 ends, its kernel has nothing to report"
}

# gate KERNEL TIMEOUT PROGRAM...: runs the programs in one guest, and prints the
# results.
gate()
{
	guest "$TAP_TMP/guest" "$@"
	results "$TAP_TMP/guest" "$1" ''
}

# serve: starts a server of a fabric and sets CARDS to its adapters. The adapters have few contexts:
# binding makes some thirty allocations for each context, and each allocation fails once.
serve()
{
	local node

	make -s -C tools/vfio &&
		server_start build/host/bin/angara-vfio "$TAP_TMP/cards" --fabric torus:2x2x2 \
			--contexts 6 ||
		return
	for node in {0..7}; do
		CARDS+=(--card "$TAP_TMP/cards/node$node.sock")
	done
}

# gates KERNEL TIMEOUT, programs on stdin: a guest for each line, all in
# parallel, since a guest uses one core most of the time. A line that begins
# with "cards" is for adapters on PCI Express.
gates()
{
	local kernel=$1 limit=$2 i programs pids=()

	while read -ra programs; do
		CARDS=()
		if [ "${programs[0]}" = cards ]; then
			check "$kernel: a server of adapters starts" serve
			programs=("${programs[@]:1}")
		fi
		guest "$TAP_TMP/guest${#pids[@]}" "$kernel" "$limit" \
			"${programs[@]}" </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in "${!pids[@]}"; do
		results "$TAP_TMP/guest$i" "$kernel" \
			" $((i + 1)) of ${#pids[@]}"
	done
	[ -z "$SERVER_PID" ] ||
		check "$kernel: the server of adapters ends" \
			server_end "$TAP_TMP/cards"
}

# Prints the reports in a console's log, or the end of the log if it has no report.
reports()
{
	grep -nE '(WARNING|BUG|INFO|UBSAN|Oops): |unreferenced object' "$1" |
		head -n 8
	grep -m 1 -A 45 -E '(WARNING|BUG|UBSAN|Oops): ' "$1" || tail -n 40 "$1"
}
