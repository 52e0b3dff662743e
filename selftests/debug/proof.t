#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Do the gates find faults? Inserts each fault of selftests/debug/faults.txt
# into a copy of the driver, which then has to fail the gate with the report
# that the list names. The copy without a fault has to pass.

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/debug/gate.sh

LIST=selftests/debug/faults.txt
COPY=build/debug/faults

build_copy()
{
	tools/mirror "$COPY/$1" &&
		tools/vm/chroot make -s -j"$(nproc)" -C "/angara/build/debug/$1" \
			"M=/angara/$COPY/$1" modules
}

# run_gate KERNEL PROGRAM: its failed results and the reports, which do not
# count as ours.
run_gate()
{
	local TAP_TMP=$TAP_TMP/gate.d TAP_COUNT=0

	mkdir -p "$TAP_TMP"
	MODULES=$COPY/$1/driver LOADS=2 gate "$1" 900 "${@:2}" |
		grep -vE '^ +(ok |#  RUN |# +OK )'
}

# passes KERNEL PROGRAM...: the copy without a fault.
passes()
{
	build_copy "$1" || return
	run_gate "$@" >"$TAP_TMP/gate"
	cat "$TAP_TMP/gate"
	! grep -q '^not ok' "$TAP_TMP/gate"
}

# finds KERNEL PROGRAM FILE REPORT FROM TO
finds()
{
	local kernel=$1 program=$2 file=$3 report=$4 status=0

	tools/mirror "$COPY/$kernel"
	mutate "$file" "$5" "$6" >"$TAP_TMP/fault" || return
	cp "$TAP_TMP/fault" "$COPY/$kernel/$file"
	tools/vm/chroot make -s -j"$(nproc)" -C "/angara/build/debug/$kernel" \
		"M=/angara/$COPY/$kernel" modules || return
	run_gate "$kernel" "$program" >"$TAP_TMP/gate"
	cat "$TAP_TMP/gate"
	grep -q '^not ok' "$TAP_TMP/gate" || status=1
	grep -qE "$report" "$TAP_TMP/gate" || status=1
	return "$status"
}

# try FIRST REPORT FROM TO
try()
{
	local kernel program file name

	read -r kernel program file name <<<"$1"
	[[ $name =~ ${FAULT:-} ]] || return 0
	echo "==> kernel $kernel: $name" >&2
	check "kernel $kernel: $name" finds "$kernel" "$program" "$file" \
		"${@:2}"
}

# programs KERNEL: programs of the selected faults.
programs()
{
	awk -v kernel="$1" -v want="${FAULT:-}" '
		$1 == kernel && $3 ~ /^driver\// {
			name = $0
			sub(/^([^ ]+ ){3}/, "", name)
			if (name ~ want)
				print $2
		}' "$LIST" | sort -u
}

for kernel in debug kcsan; do
	mapfile -t names < <(programs "$kernel")
	[ ${#names[@]} -gt 0 ] || continue
	echo "==> kernel $kernel: no fault, ${names[*]}" >&2
	check "kernel $kernel: no fault, no report" passes "$kernel" "${names[@]}"
done
faults "$LIST" try
plan
