#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The modules build for every kernel with all of the compiler's warnings on,
# and sparse finds their address spaces and byte orders right. Only what
# concerns our own files counts: some kernels' headers are not clean.

set -u
. selftests/tap.sh

# What make says that is none of our files' doing.
NOISE='^(\./|\.\./)*(arch|include)/|/usr/src/|compiler differs|Module.symvers'
NOISE+='|pahole|BTF|C=2 specified'

# The headers of 7.2 use two things that Debian's sparse does not know. Their
# own script, which would see that and switch sparse off, is missing from the
# package; KBUILD_CHECKSRC overrules what follows from that.
SPARSE="-D__CHECK_ENDIAN__ -D__typeof_unqual__=__typeof__"
SPARSE+=" '-D__builtin_strlen(s)=(sizeof(s)-1)'"

# run_make KERNEL ARG...: fails if make does, or warns.
run_make()
{
	local name=$1 log=$TAP_TMP/$1.log status=0

	shift
	tools/vm/chroot make -j"$(nproc)" -s \
		-C "/lib/modules/$(cat "build/guest/boot/$name/release")/build" \
		"M=/angara/build/kernel-check/$name" "$@" modules \
		>"$log" 2>&1 || status=$?
	grep -iE 'warning|error' "$log" | grep -vE "$NOISE" && status=1
	[ "$status" = 0 ] || tail -n 30 "$log"
	return "$status"
}

while read -r name; do
	echo "==> building with W=1 and sparse for $name" >&2
	rm -rf "build/kernel-check/$name"
	mkdir -p build/kernel-check
	tools/mirror "$PWD/build/kernel-check/$name"
	check "$name: W=1" run_make "$name" W=1
	# C=2 checks all files, those that are built already too.
	check "$name: sparse" run_make "$name" W=1 C=2 KBUILD_CHECKSRC=2 \
		"CF=$SPARSE"
done < <(sed 's/#.*//' tools/vm/kernels | awk 'NF { print $1 }')
plan
