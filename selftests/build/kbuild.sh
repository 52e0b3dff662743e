# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Builds modules for a kernel of the guests with all checks on. Needs
# selftests/tap.sh.

# Warnings of make that our files do not cause. Headers of some kernels cause warnings, too.
NOISE='^(\./|\.\./)*(arch|include)/|/usr/src/|compiler differs|Module.symvers'
NOISE+='|pahole|BTF|C=2 specified'

# The headers of 7.2 use two features that Debian's sparse does not know. The
# package lacks the kernel's script that detects this and disables sparse;
# KBUILD_CHECKSRC overrides the missing result.
SPARSE="-D__CHECK_ENDIAN__ -D__typeof_unqual__=__typeof__"
SPARSE+=" '-D__builtin_strlen(s)=(sizeof(s)-1)'"

# Arguments of make for each check. C=2 checks all files, also files that are
# already built.
declare -A CHECKS=([W=1]='W=1'
	[sparse]="W=1 C=2 KBUILD_CHECKSRC=2 CF=\"$SPARSE\"")

# complaints LOG: prints warnings and errors about our files. A warning about a
# header counts if the code is inlined from one of our files; some kernels print
# an absolute path for this file.
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
# a folder of the repository; fails if make fails or prints a warning.
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
