#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How trees may lie in a simulation, and the report of `make paper`: a quick
# one has every figure, its tables are right, and a wrong number is marked.

set -u
. selftests/tap.sh

OUT=$TAP_TMP/build
SIM=$OUT/bin/angara-sim

us()
{
	"$SIM" coll --format csv "$@" | awk -F, 'NR > 1 { print $6 }'
}

# is WANT OPTION...: the times of a collective in us.
is()
{
	local want=$1 got

	shift
	got=$(us "$@" | xargs)
	echo "$* takes $got us, expected $want"
	[ "$got" ] && [ "$got" = "$want" ]
}

# refuses TEXT OPTION...: ends with an error of one line that has TEXT.
refuses()
{
	local text=$1

	shift
	! "$SIM" coll "$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err" || return
	cat "$TAP_TMP/err"
	[ ! -s "$TAP_TMP/out" ] && [ "$(wc -l <"$TAP_TMP/err")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/err"
}

check 'it builds' make -s -C tools/sim "O=$OUT" all
if [ ! -x "$SIM" ]; then
	plan
	exit
fi

# 300 ns + 10 cycles + 84 ns per hop + 37 ns for a packet through PCIe + 300 ns;
# messages take 300 + 4 + 84 + 37 + 300 ns per hop, and 1 to the clock's next
# edge before the next. In a corner of a block the deepest node
# is 3 + 3 hops away, in the middle of it 2 + 2. A request passes the root's
# PEGroup; a message to the root takes no host on its way.
check 'a block: no way round' is '1.161 4.355' --torus 8x8 --block 4x4
check 'a block: root in the middle' is '0.993 2.903' \
	--torus 8x8 --block 4x4 --root 18
check 'a request goes to the root first' is '1.181 3.713' \
	--torus 4x4 --source 5
for op in bcast reduce allreduce; do
	check "$op: trees with other roots, another source" \
		is "$(us --torus 4x3x2 --op $op --bytes 8KiB --trees 16 \
		--roots spread --source 7 --threads 3 | xargs)" \
		--torus 4x3x2 --op $op --bytes 8KiB --trees 16 \
		--roots spread --source 7 --threads 1
done
check 'a block that does not fit' refuses "--block '5x2': not sizes" \
	--torus 4x4 --block 5x2
check 'a source outside of the block' refuses 'outside of the block' \
	--torus 4x4 --block 2x2 --source 15
check 'no such source' refuses "--source '16': no such node" \
	--torus 4x4 --source 16
check 'messages need hosts' refuses 'node 5 has no participant' \
	--torus 6x4 --block 5x2 --mode p2p
plan
