#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver on PCI functions that angara-vfio serves to guests, on the main kernel and
# the newest, with LONG=1 also the oldest, and on the oldest behind an IOMMU; the steps
# in each guest are in selftests/pci/in-guest.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

trap 'stop; rm -rf "$TAP_TMP"' EXIT

OTHER_PID=''

stop()
{
	local pid

	for pid in $SERVER_PID $OTHER_PID; do
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	SERVER_PID=''
	OTHER_PID=''
}

# serve DIMS NODES [OPTION]...: starts a server; sets CARDS to options for
# tools/vm/run, and SERVED to these arguments.
serve()
{
	local dims=$1 nodes=$2 node

	SERVED=("$@")
	shift 2
	stop
	rm -rf "$TAP_TMP/cards"
	check "a server of $dims starts" server_start "$VARIANTS/plain/bin/angara-vfio" \
		"$TAP_TMP/cards" --fabric "torus:$dims" "$@"
	CARDS=()
	for ((node = 0; node < nodes; node++)); do
		CARDS+=(--card "$TAP_TMP/cards/node$node.sock")
	done
}

# Starts two servers, which are ready when they are connected.
serve_halves()
{
	local port

	port=$(free_port)
	stop
	rm -rf "$TAP_TMP/cards"
	mkdir "$TAP_TMP/others"
	"$VARIANTS/plain/bin/angara-vfio" --fabric torus:2x2 --only 2,3 --peer "$port" \
		--socket-dir "$TAP_TMP/others" >/dev/null 2>&1 &
	OTHER_PID=$!
	check 'two servers, each with half of 2x2, start' server_start \
		"$VARIANTS/plain/bin/angara-vfio" "$TAP_TMP/cards" --fabric torus:2x2 \
		--only 0,1 --listen "$port"
	CARDS=(--card "$TAP_TMP/cards/node0.sock"
		--card "$TAP_TMP/cards/node1.sock"
		--card "$TAP_TMP/others/node2.sock"
		--card "$TAP_TMP/others/node3.sock")
}

# boot OPTION...: runs a guest, with its results indented. Kills the server when the
# guest requests that.
boot()
{
	rm -f "$TAP_TMP/killed"
	tools/vm/run --timeout 1500 --env "ANGARA_TEST_SCALE=$SCALE" "${CARDS[@]}" "$@" \
		2>"$TAP_TMP/why" |
		while IFS= read -r line; do
			if [ "$line" = '# kill' ]; then
				touch "$TAP_TMP/killed"
				kill -9 "$SERVER_PID"
			fi
			printf '    %s\n' "$line"
		done
	return "${PIPESTATUS[0]}"
}

# guest NAME OPTION... -- PART...: runs a guest; nests its results below one
# result of this test. QEMU sometimes aborts when the server of its cards dies;
# then the guest has not shown anything, and runs once more.
guest()
{
	local name=$1 status=0

	shift
	echo "==> cards: $name" >&2
	boot "$@" || status=$?
	if [ "$status" = 134 ] && [ -e "$TAP_TMP/killed" ]; then
		cat "$TAP_TMP/why" >&2
		echo "==> cards: $name, once more" >&2
		serve "${SERVED[@]}"
		status=0
		boot "$@" || status=$?
	fi
	cat "$TAP_TMP/cards.log" >>"$TAP_TMP/why"
	result "$status" "$name"
}

# Settings for the guests below.
PARTS=selftests/pci/in-guest
SCALE=10
LIBRARY=()
TWO=collectives
if long_form; then
	SCALE=100
	LIBRARY=(library)
	TWO=library
fi

check 'the server builds' variant plain tools/vfio
check "the library's test builds" tools/vm/build user

serve 2x2x2 8
# Run only programs that do not rely on the loopback, whose work is complete
# when a system call returns: a card works concurrently with the processes.
guest '6.12, MSI-X' --kernel 6.12 -- "$PARTS" config msix ioctl \
	mmap mr p2p tree race card silent "${LIBRARY[@]}" apart restart
guest '6.12, IOMMU' --kernel 6.12 --iommu -- "$PARTS" iommu config mr card
guest '6.12, interrupt line' --kernel 6.12 -- "$PARTS" intx p2p
serve 2 2
oldest=$(kernels | head -n 1)
guest "$oldest, IOMMU" --kernel "$oldest" --iommu -- "$PARTS" iommu mr
NAMES=("$(newest_kernel)")
! long_form || NAMES+=("$oldest")
for kernel in "${NAMES[@]}"; do
	guest "$kernel" --kernel "$kernel" -- "$PARTS" config card unload
done
guest 'memory that cannot be shared' --append swiotlb=force -- "$PARTS" swiotlb
guest 'admin queues out of reach; then the server is killed' --kernel 6.12 \
	-- "$PARTS" fatal killed
serve 2 2 --contexts 128
guest 'fewer interrupt vectors than contexts' --kernel 6.12 --smp 1 \
	-- "$PARTS" few card
serve_halves
guest 'a torus on two servers' --kernel 6.12 -- "$PARTS" "$TWO"
plan
