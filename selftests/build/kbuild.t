#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The modules build for every kernel with all of the compiler's warnings on,
# and sparse finds their address spaces and byte orders right. Only what
# concerns our own files counts. Does it find faults? See
# selftests/kernels/proof.t.

set -u
. selftests/tap.sh
. selftests/build/kbuild.sh

# Where the kernels differ, one file says so.
one_place()
{
	! grep -rnE 'LINUX_VERSION|KERNEL_VERSION|linux/version\.h|UTS_RELEASE' \
		driver uapi --include='*.[chS]' --include=Kbuild |
		grep -v '^driver/compat\.h:'
}

check 'only driver/compat.h looks at the version of the kernel' one_place
mapfile -t names < <(kernels)
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
