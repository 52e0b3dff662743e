# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Building modules for a kernel of the guests with all that finds faults in
# them. Needs selftests/tap.sh.

# What make says that is none of our files' doing: some kernels' headers are
# not clean.
NOISE='^(\./|\.\./)*(arch|include)/|/usr/src/|compiler differs|Module.symvers'
NOISE+='|pahole|BTF|C=2 specified'

# The headers of 7.2 use two things that Debian's sparse does not know. Their
# own script, which would see that and switch sparse off, is missing from the
# package; KBUILD_CHECKSRC overrules what follows from that.
SPARSE="-D__CHECK_ENDIAN__ -D__typeof_unqual__=__typeof__"
SPARSE+=" '-D__builtin_strlen(s)=(sizeof(s)-1)'"

# How make is told of each check. C=2 looks at all files, those that are built
# already too.
declare -A CHECKS=([W=1]='W=1'
	[sparse]="W=1 C=2 KBUILD_CHECKSRC=2 CF=\"$SPARSE\"")

# complaints LOG: the lines of warnings and errors of ours. A header's is ours if
# the compiler says that it is inlined from one of our files, which some kernels
# name by their whole path.
complaints()
{
	NOISE=$NOISE awk '
		/^(In function|In file included)/ { ours = 0 }
		/inlined from .* at (\/angara\/.*\/)?driver\// { ours = 1 }
		tolower($0) !~ /warning|error/ { next }
		ours || $0 !~ ENVIRON["NOISE"] { print; found = 1 }
		{ ours = 0 }
		END { exit !found }' "$1"
}

# kbuild CHECK KERNEL DIR TARGET: makes TARGET of the copy of the driver in DIR,
# a folder of the repository; fails if make does, or anything warns.
kbuild()
{
	local log=$TAP_TMP/kbuild.log status=0 words

	eval "words=(${CHECKS[$1]})"
	tools/vm/chroot make -j"$(nproc)" -s -C \
		"/lib/modules/$(cat "build/guest/boot/$2/release")/build" \
		"M=/angara/$3" "${words[@]}" "$4" >"$log" 2>&1 || status=$?
	complaints "$log" && status=1
	[ "$status" = 0 ] || tail -n 30 "$log"
	return "$status"
}
