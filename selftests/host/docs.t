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

# Names in a document, one per line: constants, prefixes if a star follows,
# functions, structures.
names()
{
	perl -ne 'while (/\b((?:ANGARA?_|angara?_)\w+)(\*?)/g) {
			print "$1$2\n" unless /\b\Q$1\E\.(?:c|h|ko|rst|yaml)\b/
		}
		while (/\b([a-z]\w*)\(\)/g) { print "$1\n" }' "$1" | sort -u
}

# Names of a document that do not occur in the tree.
unknown_names()
{
	names "$1" | while read -r name; do
		case $name in
		*\*) grep -qF -- "${name%\*}" "$TAP_TMP/words" ;;
		*) grep -qxF -- "$name" "$TAP_TMP/words" ;;
		esac || echo "$1: no $name in the tree"
	done
}

# Paths of this repository that a document names, in back quotes or as a link.
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

# The first program that a document shows.
first_program()
{
	awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$1"
}

compile()
{
	${CC:-cc} "${FLAGS[@]}" -o "$TAP_TMP/${1##*/}.out" "$@"
}

# Tables of numbers and of errors as a program that fails if they are wrong.
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
first_program README.md >"$TAP_TMP/readme.c"
check 'the program in README.md is Documentation/examples/hello.c' \
	diff "$TAP_TMP/readme.c" Documentation/examples/hello.c

python=$(docutils_python)
while read -r doc; do
	if [ -z "$python" ]; then
		skip "$doc: markup" 'docutils is missing: install python3-docutils'
		continue
	fi
	silent "$doc: markup" "$python" -m docutils --strict "$doc" /dev/null
done < <(files 'Documentation/*.rst')
plan
