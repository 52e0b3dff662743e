#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The documents match the code: their examples compile, their names exist, and
# their markup is clean.

set -u
. selftests/tap.sh
. selftests/variant.sh

LIB=$VARIANTS/plain
FLAGS=(-std=gnu11 -O2 -Wall -Wextra -Wshadow -Werror)

documents()
{
	files 'README.md' 'Documentation/*.rst'
}

# Files that may define a name.
sources()
{
	files '*' | grep -vE '^(README\.md$|Documentation/[^/]*$|Documentation/examples/|LICENSES/)' |
		grep -vxF selftests/host/docs.t
}

# Prints the names in a document, one per line: constants, prefixes if a star
# follows, functions, structures.
names()
{
	perl -ne 'while (/\b((?:ANGARA?_|angara?_)\w+)(\*?)/g) {
			print "$1$2\n" unless /\b\Q$1\E\.(?:c|h|ko|rst|yaml)\b/
		}
		while (/\b([a-z]\w*)\(\)/g) { print "$1\n" }' "$1" | sort -u
}

# Prints the names of a document that do not occur in the tree.
unknown_names()
{
	names "$1" | while read -r name; do
		case $name in
		*\*) grep -qF -- "${name%\*}" "$TAP_TMP/words" ;;
		*) grep -qxF -- "$name" "$TAP_TMP/words" ;;
		esac || echo "$1: no $name in the tree"
	done
}

# Prints the paths of the repository in a document, in back quotes or links.
paths()
{
	perl -ne 'while (/`+([\w.-]+\/[\w.\/-]*\w\/?)(?=[`* ])/g) { print "$1\n" }
		while (/(?:<([\w.\/-]+)>`_|\]\(([\w.\/-]+)\))/g) {
			print "\@", $1 // $2, "\n"
		}' "$1" | sort -u
}

unknown_paths()
{
	paths "$1" | while read -r path; do
		case $path in
		@*) path=$(dirname "$1")/${path#@} ;;
		tools/testing/*) continue ;; # of the kernel
		driver/* | uapi/* | libangara/* | tools/* | selftests/* | \
			Documentation/* | LICENSES/* | .ci/*) ;;
		*) continue ;;
		esac
		[ -e "$path" ] || echo "$1: no $path"
	done
}

long_lines()
{
	documents | xargs awk 'length > 100 { print FILENAME ":" FNR ": " length }'
}

# The first program in the documents equals its example, apart from tabs.
first_program()
{
	grep -lF angara_job_init "$TAP_TMP"/blocks/* | head -n 1 |
		xargs -r unexpand -a | diff - <(unexpand -a Documentation/examples/hello.c)
}

# The MPI program in the documents equals its example, too.
mpi_program()
{
	grep -lF '#include <mpi.h>' "$TAP_TMP"/blocks/* | head -n 1 |
		xargs -r expand -t 4 | diff - <(expand -t 4 Documentation/examples/sum.c)
}

# in_tests BLOCK TEST...: each line of a block, or each part of it around "--",
# occurs in one of the tests, ignoring sudo, the folder tools/vm and comments.
in_tests()
{
	local block=$1 part

	shift
	sed 's/ *#.*//; s/^sudo //; s,^tools/vm/,,; s/ -- /\n/' "$block" |
		while IFS= read -r part; do
			grep -qF -- "$part" "$@" || echo "no '$part' in $*"
		done
}

# Prints the blocks that no test runs and that give no reason.
not_run()
{
	local n place marker

	documents | xargs selftests/blocks "$TAP_TMP/blocks" | while IFS=$'\t' read -r n place marker; do
		case $marker in
		'run: user' | 'run: installed' | 'run: serve' | 'run: guest' | \
			'run: host') ;;
		'run: ci') [ "$place" = README.md:15 ] || echo "$place: not by .ci/run" ;;
		'run by: '*)
			# shellcheck disable=SC2086 # words
			in_tests "$TAP_TMP/blocks/$n" ${marker#run by: } |
				sed "s|^|$place: |"
			;;
		'not run: '?*) ;;
		*) echo "$place: no comment says which test runs this block, see" \
			"Documentation/contributing.rst" ;;
		esac
	done
}

# The check finds a block without a comment, or with a wrong one.
gate_finds()
{
	local text

	for text in '' '.. run: somehow' '.. run by: selftests/tap.sh' '.. not run:'; do
		printf '%s\n\nText::\n\n    no-such-command\n' "$text" >"$TAP_TMP/bad.rst"
		[ "$(documents() { echo "$TAP_TMP/bad.rst"; }; not_run | wc -l)" = 1 ] && continue
		echo "not found: '$text'"
		return 1
	done
}

# Prints pictures that no document shows, or that are not XML.
pictures()
{
	local file

	files 'Documentation/pictures/*' | while read -r file; do
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$file" 2>&1
		documents | xargs grep -qF "pictures/${file##*/}" || echo "$file: not shown"
	done
}

compile()
{
	${CC:-cc} "${FLAGS[@]}" -o "$TAP_TMP/${1##*/}.out" "$@"
}

# Makes a program of the tables of numbers and errors, which fails if they are
# wrong.
tables()
{
	local docs

	mapfile -t docs < <(documents)
	cat <<-'END'
		#include <errno.h>
		#include <stdio.h>
		#include <angara/angara.h>
		#include "ang_hw.h"
		#define IS(a, b) ((a) == (b) || !printf("%s is not %s\n", #a, #b))
		int main(void) { int good = 1;
	END
	perl -ne 'print "good &= IS($2, $1);\n"
			if /^(0x[0-9A-F]+|\d+) +``(ANGARA_\w+)``/;
		print "good &= IS(angara_status_errno($1), $2);\n"
			if /^``(ANGARA_ST_\w+)`` +(-E[A-Z]+)/;' "${docs[@]}"
	echo 'return !good; }'
}

docutils_python()
{
	local python

	for python in python3 /usr/bin/python3; do
		"$python" -c 'import docutils.__main__' 2>/dev/null || continue
		echo "$python"
		return
	done
}

sources | xargs -d '\n' grep -hoE '[A-Za-z_][A-Za-z0-9_]*' 2>/dev/null |
	sort -u >"$TAP_TMP/words"
while read -r doc; do
	silent "$doc: names exist" unknown_names "$doc"
	silent "$doc: paths exist" unknown_paths "$doc"
done < <(documents)
silent 'no line is over 100 characters' long_lines

check 'the library builds' variant plain libangara
for example in hello bcast; do
	# shellcheck disable=SC2046 # these are words
	check "example: $example" compile "Documentation/examples/$example.c" \
		$(PKG_CONFIG_PATH=$LIB/lib/pkgconfig pkg-config --cflags --libs angara)
done
tables >"$TAP_TMP/tables.c"
# shellcheck disable=SC2046
check 'tables of numbers compile' compile "$TAP_TMP/tables.c" -I driver/model \
	"$LIB/lib/libangara.a" \
	$(PKG_CONFIG_PATH=$LIB/lib/pkgconfig pkg-config --cflags angara)
check 'tables of numbers are those of the headers and the library' \
	"$TAP_TMP/tables.c.out"
check 'example: uapi' compile Documentation/examples/uapi.c -I uapi
check 'example: model-host' compile Documentation/examples/model-host.c \
	driver/model/ang_*.c -I libangara/env -I driver/model -I uapi \
	-Wno-unused-parameter
check 'example: model-host runs' "$TAP_TMP/model-host.c.out"
mkdir "$TAP_TMP/blocks"
silent 'a test runs each block, or a comment says why not' not_run
check 'the first program is Documentation/examples/hello.c' first_program
check 'the MPI program is Documentation/examples/sum.c' mpi_program
check 'blocks without a test are found' gate_finds
silent 'pictures are shown' pictures

python=$(docutils_python)
while read -r doc; do
	if [ -z "$python" ]; then
		skip "$doc: markup" 'docutils is missing: install python3-docutils'
		continue
	fi
	silent "$doc: markup" "$python" -m docutils --strict "$doc" /dev/null
done < <(files 'Documentation/*.rst')

# The index has a link to each document; Sphinx warns of broken links.
html()
{
	local doc

	make -s htmldocs || return
	while read -r doc; do
		grep -q "href=\"${doc%.rst}.html\"" build/html/index.html && continue
		[ "$doc" = index.rst ] || { echo "index.rst has no link to $doc"; return 1; }
	done < <(files 'Documentation/*.rst' | sed 's|.*/||')
}

if command -v sphinx-build >/dev/null; then
	check 'the documents build as HTML, without a warning' html
else
	skip 'the documents build as HTML, without a warning' \
		'no sphinx-build: install python3-sphinx'
fi
plan
