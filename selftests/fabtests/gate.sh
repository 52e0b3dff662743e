# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# The gate of fabtests: needs selftests/tap.sh and selftests/variant.sh.

# fabtests SET: runs the set in both modes (addresses by the service, out of
# band) at once, since most of a run is waiting. Prints nested results.
fabtests()
{
	local set=$1 mode

	check 'the provider builds' variant plain libangara libangara/ofi
	check 'fabtests builds' selftests/fabtests/setup
	for mode in service oob; do
		{
			selftests/fabtests/run "$mode" "$set" \
				"$VARIANTS/plain/lib/libfabric" \
				>"$TAP_TMP/$mode" 2>"$TAP_TMP/$mode.err"
			echo $? >"$TAP_TMP/$mode.status"
		} &
	done
	wait
	for mode in service oob; do
		sed 's/^/    /' "$TAP_TMP/$mode"
		cp "$TAP_TMP/$mode.err" "$TAP_TMP/why"
		result "$(cat "$TAP_TMP/$mode.status")" \
			"$set set of fabtests, addresses by $mode"
	done
}
