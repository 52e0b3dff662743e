#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The torus and its trees, under the address and undefined behaviour
# sanitizers.

set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! ${CC:-cc} -std=gnu11 -O1 -g -Wall -Wextra -fsanitize=address,undefined \
	-fno-sanitize-recover=all -Ilibangara -Ilibangara/include \
	-Ilibangara/env -Iuapi -Idriver/model -o "$tmp/topo" \
	libangara/tests/topo.c libangara/topo/topo.c libangara/topo/tree.c \
	driver/model/ang_topo.c driver/model/ang_tree.c; then
	echo 'Bail out! the test does not compile'
	exit 1
fi
"$tmp/topo"
