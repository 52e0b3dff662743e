#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The torus and its trees, fabrics of all kinds, and plans of trees, under ASan
# and UBSan.

set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# build PROGRAM TEST: builds a test with the topologies of library and model.
build()
{
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wno-unused-parameter \
		-fsanitize=address,undefined -fno-sanitize-recover=all -Ilibangara \
		-Ilibangara/include -Ilibangara/env -Iuapi -Idriver/model \
		-o "$tmp/$1" "libangara/tests/$2" libangara/topo/*.c \
		driver/model/ang_topo*.c driver/model/ang_tree.c
}

status=0
count=0
for test in topo topo_fabric topo_plan; do
	if ! build $test $test.c; then
		echo 'Bail out! the test does not compile'
		exit 1
	fi
	"$tmp/$test" >"$tmp/out" || status=1
	# One plan for all programs: their results are numbered consecutively.
	awk -v n="$count" '
		/^ok / { $2 += n }
		/^not ok / { $3 += n }
		!/^1\.\./ { print }' "$tmp/out"
	count=$((count + $(sed -n 's/^1\.\.//p' "$tmp/out")))
done
echo "1..$count"
exit "$status"
