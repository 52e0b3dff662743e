#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes the interface of the library as text, and compares interfaces.
#
#   abi.sh text HEADERS            print declarations and constants of the headers
#   abi.sh stub TEXT MAP SO        build a library SO with the interface in TEXT
#   abi.sh diff TEXT HEADERS SO    compare interfaces, see below
#
# HEADERS is the folder with angara/angara.h. `diff` compares TEXT, the interface
# of the last release, with the headers and the library SO. It succeeds if
# programs that were built for that release run with SO: no function is missing
# or has changed, no structure has changed except for new members at the end of
# a structure that begins with its size, and no constant has another value.

set -eu

HERE=$(dirname "$0")
CC=${CC:-cc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

die()
{
	echo "abi.sh: $*" >&2
	exit 2
}

# Prints the declarations of the headers in folder $1, one per line.
declarations()
{
	echo '#include <angara/angara.h>' |
		"$CC" -E -x c -I "$1" - |
		perl -ne 'if (/^# \d+ "(.*?)"/) { $ours = $1 =~ m{/angara/\w+\.h$} }
			elsif ($ours) { print }' |
		perl -0777 -ne 's/\s+/ /g; s/^ //;
			s/static inline [^{};]*(\{(?:[^{}]++|(?1))*\})//g;
			s/ ?\{ ?/ {\n/g; s/; ?/;\n/g; print' |
		perl -pe '$depth-- if /^\}/; $_ = "\t" x $depth . $_; $depth++ if /\{$/'
}

constants()
{
	echo '#include <angara/angara.h>' | "$CC" -E -dM -x c -I "$1" - |
		grep -E '^#define ANGARA_' |
		grep -vE '_H$|ANGARA_VERSION' | LC_ALL=C sort
}

# stub TEXT MAP SO: builds a library whose functions can be examined, but not
# called.
stub()
{
	{
		printf '#include <stddef.h>\n#include <stdint.h>\n'
		perl -pe 's/;$/{ __builtin_trap(); }/
			if /\bangara_\w+\(/ && !/^typedef/ && !/^\t/;' "$1"
	} >"$tmp/stub.c"
	"$CC" -g -w -shared -fPIC -Wl,--version-script="$2" \
		-Wl,-soname,libangara.so.1 -o "$3" "$tmp/stub.c"
}

compare()
{
	abidiff --no-added-syms --suppressions "$HERE/libangara.abignore" \
		"$1" "$2"
}

case ${1:-} in
text)
	[ $# = 2 ] || die 'usage: abi.sh text HEADERS'
	echo '// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'
	declarations "$2"
	constants "$2"
	;;
stub)
	[ $# = 4 ] || die 'usage: abi.sh stub TEXT MAP SO'
	stub "$2" "$3" "$4"
	;;
diff)
	[ $# = 4 ] || die 'usage: abi.sh diff TEXT HEADERS SO'
	echo 'LIBANGARA_1.0 { global: angara_*; local: *; };' >"$tmp/all.map"
	stub "$2" "$tmp/all.map" "$tmp/then.so"
	"$0" text "$3" >"$tmp/now"
	stub "$tmp/now" "$tmp/all.map" "$tmp/now.so"
	status=0
	compare "$tmp/then.so" "$tmp/now.so" || status=1
	compare "$tmp/then.so" "$4" || status=1
	grep '^#define' "$2" | LC_ALL=C comm -23 - <(grep '^#define' "$tmp/now") |
		sed 's/^#define/gone or another value:/' | grep . && status=1
	exit $status
	;;
*)
	die "unknown command '${1-}': expected text, stub or diff"
	;;
esac
