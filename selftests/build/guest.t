#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the programs and modules for tests in guests.

set -u
. selftests/tap.sh

check 'library, tools and selftests build for guests' tools/vm/build user
while read -r name; do
	echo "==> building for $name" >&2
	check "modules build for $name" tools/vm/build modules "$name"
done < <(kernels)
plan
