#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Does building for every kernel find faults? Inserts each fault of
# selftests/kernels/faults.txt into a copy of the driver and builds it for all
# kernels: the kernels that the list names have to report it, with the listed
# text; the others must not, since otherwise fewer kernels would be enough.

set -u
. selftests/tap.sh
. selftests/mutate.sh
. selftests/build/kbuild.sh

LIST=selftests/kernels/faults.txt
COPY=build/kernel-check/faults

# builds CHECK KERNEL FILE: builds the object of FILE in the kernel's copy of the driver
builds()
{
	kbuild "$1" "$2" "$COPY/$2" "${3%.c}.o"
}

# finds CHECK KERNEL FILE REPORT: does building FILE fail with a message that matches REPORT?
finds()
{
	local status=0

	builds "$1" "$2" "$3" >"$TAP_TMP/said" 2>&1 || status=$?
	cat "$TAP_TMP/said"
	[ "$status" != 0 ] && grep -qE "$4" "$TAP_TMP/said"
}

# put KERNEL FILE FROM TO: inserts the fault into the kernel's copy of the
# driver
put()
{
	tools/mirror "$PWD/$COPY/$1" &&
		mutate "$2" "$3" "$4" >"$TAP_TMP/fault" &&
		cp "$TAP_TMP/fault" "$COPY/$1/$2"
}

# try FIRST NAME FROM TO REPORT: tests one fault of the list with every kernel
try()
{
	local kind since file name=$2 kernel

	read -r kind since file <<<"$1"
	echo "==> $kind: $name" >&2
	for kernel in "${names[@]}"; do
		check "$name: made, $kernel" put "$kernel" "$file" "$3" "$4"
		if dpkg --compare-versions "$kernel" ge "$since"; then
			check "$name: $kind finds it, $kernel" \
				finds "$kind" "$kernel" "$file" "$5"
		else
			check "$name: not to be found, $kernel" \
				builds "$kind" "$kernel" "$file"
		fi
	done
}

mapfile -t names < <(kernels)
mkdir -p build/kernel-check
# The copy without a fault has no warnings.
for kernel in "${names[@]}"; do
	tools/mirror "$PWD/$COPY/$kernel"
	while read -r file; do
		check "no fault: $file, $kernel" builds sparse "$kernel" "$file"
	done < <(awk '/ driver\/[a-z_\/]*\.c$/ { print $3 }' "$LIST" | sort -u)
done
faults "$LIST" try
plan
