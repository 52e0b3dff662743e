# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Steps of a test in a guest: a script in the guest runs them one after the
# other, and the test on the host prints a result for each.

# step NAME COMMAND [ARG]...: in the guest; prints a line if COMMAND succeeds,
# else prints the end of its output and ends the script.
step()
{
	local name=$1

	shift
	if "$@" >/tmp/step.log 2>&1; then
		echo "step $name"
		echo "$name: done after ${SECONDS} s" >&2
	else
		echo "FAILED: $name" >&2
		tail -n 40 /tmp/step.log >&2
		exit 1
	fi
}

# steps_passed STATUS NAME...: on the host; prints the results of the steps. The
# guest ended with STATUS; its output is in $TAP_TMP/log and $TAP_TMP/err.
steps_passed()
{
	local status=$1 name

	shift
	for name; do
		cp "$TAP_TMP/err" "$TAP_TMP/why"
		grep -qx "step $name" "$TAP_TMP/log"
		result $? "in the guest: $name"
	done
	cp "$TAP_TMP/err" "$TAP_TMP/why"
	result "$status" 'in the guest: all steps, and its log'
}
