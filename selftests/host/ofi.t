#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The libfabric provider on embedded fabrics: libfabric finds it; each of its
# calls under ASan and UBSan; its man page.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$VARIANTS/asan
# The folder of the provider built as for users; it has the same path in the guest root.
PLAIN=build/variant/plain
OTHER=build/ofi-other
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

build()
{
	variant asan libangara libangara/ofi selftests/ofi \
		selftests/ofi/offload tools/run
}

# Builds the provider without sanitizers, for libfabric's own programs.
build_plain()
{
	variant plain libangara libangara/ofi selftests/ofi
}

with()
{
	local fabric=$1

	shift
	ANGARA_FABRIC=$fabric FI_PROVIDER_PATH=$PWD/$PLAIN/lib/libfabric \
		timeout 600 "$@"
}

# The provider exports only the symbol that libfabric looks up.
exports()
{
	[ "$(nm -D --defined-only "$PWD/$PLAIN/lib/libfabric/libangara-fi.so" |
		cut -d' ' -f3)" = fi_prov_ini ]
}

# symbols OPTION OBJECT...: prints names of symbols in objects, sorted.
symbols()
{
	nm --format=just-symbols "$@" | grep -v ':$' | sort -u
}

# Lower files call upper ones only through tables that they were given: there is
# no circle, and no folder uses symbols of a later one.
layers()
{
	local all=$PLAIN/obj/libangara-ofi folders folder file objects=() bad=0

	selftests/circles "$all"/*.o || return
	read -ra folders < <(sed -n 's/^FOLDERS := //p' libangara/ofi/Makefile)
	for folder in "${folders[@]}"; do
		for file in libangara/ofi/"$folder"/*.c; do
			objects+=("$all/$(basename "$file" .c).o")
		done
		comm -12 <(symbols --undefined-only "${objects[@]}") \
			<(symbols --defined-only --extern-only "$all"/*.o) |
			comm -23 - <(symbols --defined-only "${objects[@]}") |
			sed "s/^/$folder and the folders before it do not define /" |
			grep . && bad=1
	done
	[ "${#objects[@]}" -gt 50 ] && return $bad
}

found()
{
	with embedded:2x2 fi_info -p angara -v >"$TAP_TMP/info" &&
		grep -q 'type: FI_EP_RDM' "$TAP_TMP/info" &&
		with embedded:2x2 fi_info | grep -q '^provider: angara$'
}

# The log has the attributes that the provider refuses, and the supported values.
refusals()
{
	local text

	FI_LOG_LEVEL=info with embedded:2x2 "$PLAIN/tests/fi-test" \
		'getinfo: unsupported features' >"$TAP_TMP/refusals" 2>&1 || return
	while read -r text; do
		grep -qF -- "$text" "$TAP_TMP/refusals" || {
			echo "no '$text' in the log:"
			grep 'not supported' "$TAP_TMP/refusals"
			return 1
		}
	done <<-'END'
		> caps: FI_HMEM is not supported; supported: FI_MSG, FI_RMA, FI_TAGGED
		> tx_attr->msg_order: FI_ORDER_SAW is not supported; supported:
		> tx_attr->inject_size: 257 is not supported; supported: 0 to 256
		> ep_attr->type: another type is not supported; supported: FI_EP_RDM
		> tx_attr->op_flags: 0x40000000 is not supported; supported: FI_COMPLETION
		> domain_attr->name: eth0 is not supported; supported: angara
		> domain_attr->name: 4999 is not supported; supported: adapters of
	END
}

# libfabric adds no utility layers to the provider.
alone()
{
	! with embedded:2x2 fi_info | grep 'angara;'
}

# A program that does not request this provider does not get it.
reserved()
{
	! FI_PROVIDER_PATH=$PWD/$PLAIN/lib/libfabric fi_info |
		grep '^provider: angara'
}

# calls NAME BUILD VARIABLE=VALUE: runs fi-test; includes its results.
calls()
{
	local name=$1 out=$2 status=0

	shift 2
	FI_PROVIDER_PATH=$out/lib/libfabric timeout 600 env "$@" \
		"$out/tests/fi-test" >"$TAP_TMP/why" 2>&1 || status=$?
	sed -n 's/^\(\(not \)\{0,1\}ok [0-9]* - .*\)/    \1/p' "$TAP_TMP/why"
	result "$status" "$name"
}

# members N FABRIC COMMAND...: runs a job whose processes are the members of
# groups.
members()
{
	local n=$1 fabric=$2

	shift 2
	LD_LIBRARY_PATH=$OUT/lib FI_PROVIDER_PATH=$OUT/lib/libfabric \
		ANGARA_FABRIC=$fabric,name=members-$$ \
		FI_COUNTERS=$OUT/tests/fi-peek \
		timeout 600 "$OUT/bin/angara-run" -n "$n" "$@"
}

# offload N FABRIC: runs collective operations of the adapters; includes the
# results.
offload()
{
	local name="collective operations by $1 adapters of $2" status=0

	members "$1" "$2" "$OUT/tests/fi-offload" >"$TAP_TMP/why" 2>&1 ||
		status=$?
	sed -n 's/^\(\(not \)\{0,1\}ok [0-9]* - .*\)/    \1/p' "$TAP_TMP/why"
	result "$status" "$name"
}

# One member kills itself, which ends the job; the others print their errors.
survivors()
{
	members 5 embedded:5 --grace 60 "$OUT/tests/fi-offload" "$1" \
		>"$TAP_TMP/survivors" 2>&1
	cat "$TAP_TMP/survivors"
	[ "$(grep -c '^# survived' "$TAP_TMP/survivors")" = 4 ]
}

# Runs the provider built here with the newer libfabric of the guest root.
elsewhere()
{
	tools/vm/chroot env "FI_PROVIDER_PATH=/angara/$PLAIN/lib/libfabric" \
		ANGARA_FABRIC=embedded:2x2x2 sh -c "
		fi_info --version && fi_info -p angara &&
			timeout 600 /angara/$PLAIN/tests/fi-test"
}

# Opens a shared address vector of the largest size with only 1 MiB of shared memory.
short_of_memory()
{
	FI_PROVIDER_PATH=$OUT/lib/libfabric ANGARA_FABRIC=embedded:2x2x2 \
		timeout 600 unshare --user --map-root-user --mount sh -c "
			mount -t tmpfs -o size=1M tmpfs /dev/shm &&
				exec '$OUT/tests/fi-test' 'av: the largest size'"
}

# The man page gives the right numbers for constants.
constants()
{
	{
		cat <<-'END'
			#include <stdio.h>
			#include <linux/angara.h>
			#include "limits.h"
			#define IS(a, b) ((a) == (b) || !printf("%s is not %s\n", #a, #b))
			int main(void) { int good = 1;
		END
		perl -ne 'print "good &= IS($2, $1);\n"
			if /\b(\d+)(?: bytes| MiB)? \\" ((?:AFI|ANGARA)_\w+)$/' \
			libangara/ofi/fi_angara.7
		echo 'return !good; }'
	} >"$TAP_TMP/constants.c"
	[ "$(grep -c '^good' "$TAP_TMP/constants.c")" -ge 12 ] &&
		cc -I libangara/ofi -I uapi -o "$TAP_TMP/constants" \
			"$TAP_TMP/constants.c" && "$TAP_TMP/constants"
}

# fi_info and the man page have the same capabilities; some capabilities appear only
# on request.
capabilities()
{
	local shown told asked='FI_RMA_EVENT'

	with embedded:2x2 fi_info -p angara -v -c "FI_RMA|$asked" |
		grep '^    caps: ' >>"$TAP_TMP/info"
	shown=$(sed -n 's/^    caps: \[ \(.*\) \]/\1/p' "$TAP_TMP/info" |
		tr -d , | tr ' ' '\n' | sort -u)
	told=$(sed -n '/^\.Ss Capabilities/,/^\.Ss Objects/s/^\.It Dv //p' \
		libangara/ofi/fi_angara.7 | tr -d , | tr -s ' ' '\n' | sort -u)
	diff <(echo "$shown") <(echo "$told")
}

# Runs libfabric's own program, which checks the data that it receives.
pingpong()
{
	with "embedded:2x2,name=fabric-t-$$" selftests/ofi/pingpong 127.0.0.1 "$@"
}

mpi_here()
{
	ANGARA_FABRIC=embedded:2x2x2 \
		FI_PROVIDER_PATH=$PWD/$PLAIN/lib/libfabric \
		selftests/ofi/mpi/run "$PLAIN/tests/mpi-test" "$@"
}

mpi_elsewhere()
{
	tools/vm/chroot make -C selftests/ofi/mpi "O=/angara/$OTHER" &&
		tools/vm/chroot env ANGARA_FABRIC=embedded:2x2x2 \
			"FI_PROVIDER_PATH=/angara/$PLAIN/lib/libfabric" \
			selftests/ofi/mpi/run "$OTHER/tests/mpi-test" "$@"
}

# With MPI_THREAD_MULTIPLE, Open MPI uses contexts of a scalable endpoint for
# communicators: each of four processes on a machine has four. A plain endpoint
# would work as well, so the test checks that the scalable one is used.
contexts_elsewhere()
{
	mpi_elsewhere messages 4 1 --mca mtl_ofi_enable_sep 1 \
		--mca mtl_ofi_thread_grouping 1 --mca mtl_ofi_num_ctxts 4 \
		-x OMPI_MPI_THREAD_LEVEL=3 -x FI_LOG_LEVEL=info \
		-x FI_LOG_PROV=angara >"$TAP_TMP/contexts" 2>&1
	local status=$?

	cat "$TAP_TMP/contexts"
	[ "$status" = 0 ] &&
		[ "$(grep -c 'endpoint [0-9]*: 4 transmit and 4 receive contexts$' \
			"$TAP_TMP/contexts")" = 4 ]
}

if ! pkg-config --exists libfabric; then
	skip 'the provider' 'libfabric is missing: install libfabric-dev'
	plan
	exit
fi
check 'builds without a warning' build
check 'builds as for users' build_plain
check 'exports the symbols that libfabric looks up' exports
check 'folders call only those before them' layers
check 'fi_info finds it' found
check 'the log names attributes that are refused' refusals
check 'no utility layer is added' alone
if compgen -G '/dev/angara*' >/dev/null; then
	skip 'it is not offered without a request' 'there are adapters: /dev/angara*'
else
	check 'it is not offered without a request' reserved
fi
check 'constants of the man page' constants
check 'capabilities of the man page' capabilities
calls 'each call' "$OUT" ANGARA_FABRIC=embedded:2x2x2
calls 'each call, packet by packet' "$PWD/$PLAIN" ANGARA_FABRIC=embedded:3x2,train=1
if unshare --user --map-root-user --mount true 2>/dev/null; then
	check 'a shared vector without enough memory' short_of_memory
else
	skip 'a shared vector without enough memory' \
		'users have no namespaces here'
fi
offload 2 embedded:2
offload 3 embedded:2x2
offload 6 embedded:2
offload 8 embedded:2x2x2,train=1
check 'groups that want no adapters' members 4 embedded:2x2 \
	env FI_ANGARA_COLL=software "$OUT/tests/fi-offload" 'by software'
check 'groups that want adapters alone' members 4 embedded:2x2 \
	env FI_ANGARA_COLL=offload "$OUT/tests/fi-offload" 'by adapters alone'
check 'groups that end' members 8 embedded:2x2x2,train=1 \
	"$OUT/tests/fi-offload" 'ends of groups'
check 'a member that does not call' members 3 embedded:3 \
	env FI_ANGARA_COLL_TIMEOUT=2 "$OUT/tests/fi-offload" \
	'a member that does not call'
check 'a death while all reduce' survivors 'death while all reduce'
check 'a death while others receive' survivors 'death while others receive'
check 'the same binaries with another libfabric' elsewhere
check 'fi_pingpong' pingpong
check 'fi_pingpong, tagged' pingpong -m tagged
if mpicc -E -include mpi.h -x c /dev/null >/dev/null 2>&1 &&
	command -v mpirun >/dev/null; then
	check 'the program of MPI builds' variant plain selftests/ofi/mpi
	check 'Open MPI, 16 processes' mpi_here messages 16 1
	check 'Open MPI, 64 MiB' mpi_here messages 2 64
	check 'Open MPI, one-sided, 16 processes' mpi_here one-sided 16 1
	check 'Open MPI, one-sided, 64 MiB' mpi_here one-sided 2 64
else
	for name in '16 processes' '64 MiB' 'one-sided, 16 processes' \
		'one-sided, 64 MiB'; do
		skip "Open MPI, $name" \
			'no mpicc, mpi.h or mpirun: install libopenmpi-dev and openmpi-bin'
	done
fi
check 'another Open MPI with another libfabric' mpi_elsewhere messages 4 1
check 'communicators with a context each' contexts_elsewhere
plan
