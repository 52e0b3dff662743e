#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Checks every file: the kernel's coding style, its comment format, a licence, a
# limited length, and clean scripts, man pages and specifications. The tools
# come from the guest root, so that every host uses the same versions.

set -u
. selftests/tap.sh

TOOLS=build/kernel-tools
# Words, and macros of man pages, that the spelling check must accept.
WORDS=inout,parms,filp,tread,nd,fo,iput

# each NAME COMMAND [ARG]..., file names on stdin: one result per file, which passes if
# COMMAND prints no line that begins with its name and a colon. COMMAND gets several files
# at once.
each()
{
	local name=$1 out=$TAP_TMP/each status=0 file

	shift
	: >"$out"
	tee "$TAP_TMP/names" | xargs -r -P2 -n16 "$@" >>"$out" 2>&1 || status=$?
	while read -r file; do
		grep "^$file:" "$out" >"$TAP_TMP/why"
		[ ! -s "$TAP_TMP/why" ]
		result $? "$name: $file"
	done <"$TAP_TMP/names"
	grep -vf <(sed 's/.*/^&:/' "$TAP_TMP/names") "$out" >"$TAP_TMP/why"
	[ -s "$TAP_TMP/names" ] && [ ! -s "$TAP_TMP/why" ] &&
		{ [ "$status" = 0 ] || [ -s "$out" ]; }
	result $? "$name: it checks all files"
}

scripts()
{
	local file first

	files '*' | while read -r file; do
		IFS= read -r first <"$file" || continue
		case $first in
		'#!/bin/sh' | '#!/bin/bash' | '#!/usr/bin/env bash') echo "$file" ;;
		*) case $file in *.sh) echo "$file" ;; esac ;;
		esac
	done 2>/dev/null
}

# kselftest's runner reads every line of a settings file as a setting.
text_files()
{
	files '*' | grep -vE '^LICENSES/|(^|/)settings$|\.(json|csv|png|svg|golden|bin|tar)$'
}

# Prints the files of a list on standard input that lack a licence line.
without_licence()
{
	local file

	while read -r file; do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: ' ||
			echo "$file: no SPDX line at its head"
	done
}

too_long()
{
	grep -v '^Documentation/netlink/specs/' | # one file per family
		xargs -r awk 'FNR == 801 { print FILENAME ": over 800 lines" }'
}

long_functions()
{
	xargs -r awk '
		/^{/ { start = FNR }
		/^}/ {
			if (start && FNR - start > 80)
				print FILENAME ":" start ": function over 80 lines"
			start = 0
		}'
}

# Prints matches of text that no file may have: places, unfinished work.
unwanted()
{
	xargs -r grep -nE "$1" /dev/null || true
}

with()
{
	local list=$1

	shift
	"$list" | "$@"
}

sources()
{
	files '*.c' '*.h'
}

kernel_sources()
{
	files 'driver/*.[ch]' 'uapi/*.h'
}

documented()
{
	files 'driver/*.[ch]' 'uapi/*.h' 'libangara/include/*.h'
}

man_pages()
{
	files '*.[1-8]'
}

specs()
{
	files 'Documentation/netlink/specs/*.yaml'
}

in_root()
{
	local list=$1

	shift
	$list | xargs -r -P2 -n100 tools/vm/chroot "$@"
}

# Source for several kernels has to test the kernel's version.
each checkpatch perl "$TOOLS/checkpatch.pl" --no-tree --terse --quiet --no-summary \
	--ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON -f < <(kernel_sources)
each kernel-doc perl "$TOOLS/kernel-doc" -none < <(documented)
silent 'every file has a licence' with text_files without_licence
silent 'no file is over 800 lines' with text_files too_long
silent 'no function is over 80 lines' with sources long_functions
silent 'no file names a machine' with text_files unwanted \
	'(deb|security|snapshot|ftp)[.]debian[.]org|(^|[^a-z.])/wor[k]/(main|shared)'
silent 'no unfinished work is marked' with text_files unwanted \
	'\b(TODO|FIXME|XXX)(:| [A-Za-z])'
silent 'no merge is unfinished' with text_files unwanted '^(<{7}|>{7}) '
# The analysis of data flow takes longer than all other checks of scripts. Without it,
# SC2086 (quotes) reports variables that have numbers, too.
SHELLCHECK=(shellcheck -x -P SCRIPTDIR)
long_form || SHELLCHECK+=(--extended-analysis=false --exclude=SC2086)
silent 'shellcheck' in_root scripts "${SHELLCHECK[@]}"
silent 'codespell' in_root text_files codespell -L "$WORDS"
silent 'mandoc' in_root man_pages mandoc -Tlint -W warning
silent 'yamllint' in_root specs yamllint -s -d \
	'{extends: default, rules: {document-start: disable}}'
plan
