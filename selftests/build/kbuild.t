#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The modules build for the newest kernel, or every one if LONG is set, with all
# warnings of the compiler, and sparse finds no wrong address space or byte
# order. Only warnings about our own files count. selftests/kernels/proof.t
# tests that this finds faults.

set -u
. selftests/tap.sh
. selftests/build/kbuild.sh

# Only one file of the driver may depend on the version of the kernel.
one_place()
{
	! grep -rnE 'LINUX_VERSION|KERNEL_VERSION|linux/version\.h|UTS_RELEASE' \
		driver uapi --include='*.[chS]' --include=Kbuild |
		grep -v '^driver/compat\.h:'
}

check 'only driver/compat.h tests the version of the kernel' one_place
mapfile -t names < <(if long_form; then kernels; else newest_kernel; fi)
for name in "${names[@]}"; do
	dir=build/kernel-check/$name
	echo "==> building with W=1 and sparse for $name" >&2
	rm -rf "$dir"
	mkdir -p build/kernel-check
	tools/mirror "$PWD/$dir"
	for kind in W=1 sparse; do
		check "$name: $kind" kbuild "$kind" "$name" "$dir" modules
	done
done
plan
