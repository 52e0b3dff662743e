#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs the schedules of software collectives for all members in one process,
# under ASan and UBSan.

set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra \
	-fsanitize=address,undefined -fno-sanitize-recover=all -Ilibangara -Ilibangara/env \
	-o "$tmp/algo" selftests/library/algo*.c libangara/algo/*.c; then
	echo 'not ok - the test does not compile'
	exit 1
fi
"$tmp/algo"
