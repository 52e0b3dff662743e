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
	files 'README.md' 'Documentation/*.rst' 'selftests/README.rst'
}

# Prints the files that may define a name.
sources()
{
	files '*' | grep -vE '^(README\.md$|selftests/README\.rst$|Documentation/[^/]*$|Documentation/examples/|LICENSES/)' |
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

# Commands that blocks of documents have.
COMMANDS='angara-[a-z0-9-]+|angaractl|oshrun|mpirun|mpiexec|srun|qemu-system-x86_64|vde_switch|dpipe|ynl|wireshark|fuzz_[a-z]+|model-test|kfuzz|(tools|selftests)/[a-z/-]+|make [a-z-]+'

# program BLOCK: prints the first program that the block starts; for make, the
# target.
program()
{
	grep -vE '^(cat|cp|mkdir) ' "$1" | grep -oE "$COMMANDS" | head -n 1 |
		sed 's,^make ,,; s,^qemu-.*,vm,; s,^tools/vm/,vm/,'
}

# reason BLOCK REASON: complains if none of the tests that REASON names runs the block's first
# program. If REASON ends with "no test", no test may run the program.
reason()
{
	local block=$1 program name tests=()

	program=$(program "$block")
	if [ -z "$program" ]; then
		echo "has no command: say what it shows"
	elif [[ $2 = *'; no test' ]]; then
		! grep -lwF --exclude=docs.t -- "$program" selftests/*/*.t ||
			echo "tests have $program"
	elif [[ $2 = *\;* ]]; then
		for name in ${2##*;}; do
			name=${name%,}
			[ "$name" != and ] || continue
			compgen -G "selftests/*/$name" >"$TAP_TMP/named" ||
				compgen -G "selftests/$name" >"$TAP_TMP/named" ||
				compgen -G "$name" >"$TAP_TMP/named" ||
				echo "no test $name"
			mapfile -t -O ${#tests[@]} tests <"$TAP_TMP/named"
		done
		grep -qwF -- "$program" "${tests[@]}" || echo "no $program in ${tests[*]}"
	else
		echo "names no test: write REASON; TEST..., or REASON; no test"
	fi
}

# compiles BLOCK 'HEADER VARIABLES': compiles C: a file, or statements that need a
# header and variables.
compiles()
{
	local statements=$TAP_TMP/statements.c

	if [ "$2" = file ]; then
		cp "$1" "$statements"
	else
		{
			echo "#include ${2%%>*}>"
			echo "void f(void); void f(void) { ${2#*>}"
			cat "$1"
			echo '}'
		} >"$statements"
	fi
	${CC:-cc} -std=gnu11 -Wall -Werror -Ilibangara/shmem/include -Ilibangara/include \
		-fsyntax-only "$statements" 2>&1
}

# judge BLOCK PLACE MARKER: complains if the marker is unknown or wrong.
judge()
{
	case $3 in
	'run: user' | 'run: installed' | 'run: serve' | 'run: guest' | 'run: host' | \
		'run: guest, until Ctrl-C') ;;
	'run: user, as FILE: '*FILE*) ;;
	'run: ci') [ "$2" = README.md:15 ] || echo ".ci/run does not run this block" ;;
	'run by: '*)
		# shellcheck disable=SC2086 # words
		in_tests "$1" ${3#run by: }
		;;
	'same as: '*) diff -b "$1" "${3#same as: }" ;;
	'C: '*) compiles "$1" "${3#C: }" ;;
	'no command: picture' | 'no command: output' | 'no command: memory')
		! grep -E "^(sudo |[A-Z_]+=[^ ]* )*($COMMANDS)( |\$)" "$1" ||
			echo "has a command"
		;;
	'no command: script') grep -q 'selftests/.*\.sh' "$1" || echo "no script" ;;
	'not run: '?*) reason "$1" "${3#not run: }" ;;
	*) echo "no comment says which test runs this block, see" \
		"Documentation/contributing.rst" ;;
	esac
}

# Prints blocks of commands whose comment is missing or wrong.
not_run()
{
	local n place marker

	documents | xargs selftests/blocks "$TAP_TMP/blocks" |
		while IFS=$'\t' read -r n place marker; do
			judge "$TAP_TMP/blocks/$n" "$place" "$marker" | sed "s|^|$place: |"
		done
}

# gate_finds TEXT MARKER: the check finds a block of this text with this marker.
gate_finds()
{
	printf '%s\n\nText::\n\n    %s\n' "${2:+.. $2}" "$1" >"$TAP_TMP/bad.rst"
	[ "$(documents() { echo "$TAP_TMP/bad.rst"; }; not_run | wc -l)" -ge 1 ]
}

# gate_passes TEXT MARKER: the check accepts such a block.
gate_passes()
{
	! gate_finds "$@"
}

# Prints pictures that no document shows, or that are not XML.
pictures()
{
	local file

	files 'Documentation/pictures/*' | while read -r file; do
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$file" 2>&1
		documents | xargs grep -qF "pictures/${file##*/}" || echo "$file: no document shows this picture"
	done
}

# map [NAME]...: prints folders and files at the top of selftests, and NAMEs, that the map in
# selftests/README.rst lacks.
map()
{
	local name

	{
		files 'selftests/*' | sed 's|^selftests/||; s|/.*|/|'
		printf '%s' "${@/%/$'\n'}"
	} | sort -u | while read -r name; do
		[ "$name" = README.rst ] || grep -qF "\`\`$name\`\`" selftests/README.rst ||
			echo "selftests/README.rst: no $name"
	done
}

# map_finds NAME: does map report that NAME is missing?
map_finds()
{
	map "$@" | grep -x "selftests/README.rst: no $1"
}

compile()
{
	${CC:-cc} "${FLAGS[@]}" -o "$TAP_TMP/${1##*/}.out" "$@"
}

# Prints a program that fails if a number or an error in the documents' tables is
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

# Counts of instructions in a document: the operation in the table cost.txt, and the
# words before its count.
COUNTED='put	A put of 8 bytes takes
fi_message	a tagged message of 8 bytes takes
fi_write	a write of 8 bytes
fi_look	a poll of an empty completion queue'

# counted DOCUMENT: prints the counts that are not those of gcc-12 in the table, and
# the words that the document does not have.
counted()
{
	local op words want got

	while IFS=$'\t' read -r op words; do
		want=$(sed -n "s/^gcc-12 $op //p" selftests/embed/cost.txt)
		got=$(paste -sd ' ' "$1" | sed -nE "s/.*$words ([0-9]+).*/\1/p")
		[ -n "$want" ] && [ "$got" = "$want" ] ||
			echo "$1: '$words ${got:-?}', in cost.txt ${want:-?}"
	done <<<"$COUNTED"
}

# counted_finds FROM TO: does counted find a document in which TO replaces FROM?
counted_finds()
{
	sed "s/$1/$2/" Documentation/benchmarks.rst >"$TAP_TMP/counted.rst"
	[ "$(counted "$TAP_TMP/counted.rst" | wc -l)" = 1 ]
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
silent 'counts of instructions are those of cost.txt' counted Documentation/benchmarks.rst
check 'found: another count' counted_finds 'takes 2[0-9]*' 'takes 1'
check 'found: no count' counted_finds 'A put of 8' 'A put of 16'

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
check 'found: no comment' gate_finds true ''
check 'found: an unknown kind' gate_finds true 'run: somehow'
check 'found: a command that is not in the test' gate_finds no-such-command \
	'run by: selftests/tap.sh'
check 'found: no reason' gate_finds 'angaractl top' 'not run:'
check 'found: a reason without a test' gate_finds 'angaractl top' 'not run: slow'
check 'found: a reason with an unknown test' gate_finds 'angaractl top' \
	'not run: slow; none.t'
check 'found: a reason with a test of something else' gate_finds 'angara-sim coll' \
	'not run: slow; style.t'
check 'found: a test, in spite of the reason' gate_finds 'angara-sim coll' \
	'not run: slow; no test'
check 'found: a command that is marked as output' gate_finds 'angaractl top' \
	'no command: output'
check 'found: C that does not compile' gate_finds 'angara_nothing();' \
	'C: <angara/angara.h>'
check 'found: a file that is another' gate_finds 'int main(void)' \
	'same as: Documentation/examples/hello.c'
check 'accepted: a reason with a test' gate_passes 'angara-sim coll' \
	'not run: slow; sim.t'
silent 'pictures are shown' pictures
silent 'the map of selftests has all folders and files' map
check 'found: a folder that is not in the map' map_finds nosuch/

python=$(docutils_python)
while read -r doc; do
	if [ -z "$python" ]; then
		skip "$doc: markup" 'docutils is missing: install python3-docutils'
		continue
	fi
	silent "$doc: markup" "$python" -m docutils --strict "$doc" /dev/null
done < <(documents | grep '\.rst$')

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
