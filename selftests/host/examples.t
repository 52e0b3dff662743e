#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs the examples in C, C++ and Python as jobs of four on an embedded fabric,
# with the installed library; the example of OpenSHMEM as README.md does.

set -u
. selftests/tap.sh
. selftests/variant.sh

EXAMPLES=Documentation/examples
OUT=$VARIANTS/plain
ROOT=$TAP_TMP/root
FLAGS=(-O2 -Wall -Wextra -Wshadow -Werror)
export ANGARA_FABRIC=embedded LD_LIBRARY_PATH=$ROOT/usr/lib
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE

install_all()
{
	variant plain libangara tools/run && PREFIX=/usr DESTDIR=$ROOT \
		variant plain libangara:install
}

# build COMPILER SOURCE OPTION...: builds a program with the installed library.
build()
{
	local compiler=$1 source=$2

	shift 2
	# shellcheck disable=SC2046 # options are words
	"$compiler" "$@" "${FLAGS[@]}" -o "$TAP_TMP/$(basename "${source%.*}")" \
		"$source" $(PKG_CONFIG_PATH=$ROOT/usr/lib/pkgconfig \
			PKG_CONFIG_SYSROOT_DIR=$ROOT pkg-config --cflags --libs angara)
}

# prints COMMAND: a job of four prints the lines on standard input, in any
# order.
prints()
{
	sort >"$TAP_TMP/want"
	timeout 600 "$OUT/bin/angara-run" -n 4 "$@" >"$TAP_TMP/out" || return
	sort "$TAP_TMP/out" | diff - "$TAP_TMP/want"
}

check 'installs' install_all
check 'hello: builds' build "${CC:-cc}" $EXAMPLES/hello.c -std=gnu11
check 'bcast: builds' build "${CC:-cc}" $EXAMPLES/bcast.c -std=gnu11
check 'hello: runs' prints "$TAP_TMP/hello" <<END
rank 0: 6
rank 1: 6
rank 2: 6
rank 3: 6
END
check 'bcast: runs' prints "$TAP_TMP/bcast" <<END
rank 0: "from rank 0" ""
rank 1: "from rank 0" "right"
rank 2: "from rank 0" ""
rank 3: "from rank 0" ""
END
check 'OpenSHMEM builds' variant plain libangara/shmem
check 'next, OpenSHMEM: builds' "$OUT/bin/oshcc" "${FLAGS[@]}" -o "$TAP_TMP/next" \
	$EXAMPLES/next.c
check 'next, OpenSHMEM: runs' prints "$TAP_TMP/next" <<END
PE 0 of 4: from 3, sum 6
PE 1 of 4: from 0, sum 6
PE 2 of 4: from 1, sum 6
PE 3 of 4: from 2, sum 6
END
if command -v "${CXX:-c++}" >/dev/null; then
	check 'ring, C++: builds' build "${CXX:-c++}" $EXAMPLES/ring.cc \
		-std=c++17 -Wpedantic
	check 'ring, C++: runs' prints "$TAP_TMP/ring" <<END
rank 0 got 3
rank 1 got 0
rank 2 got 1
rank 3 got 2
sum 6
sum 6
sum 6
sum 6
END
else
	skip 'ring, C++' 'a C++ compiler is missing: install g++'
fi
if command -v python3 >/dev/null; then
	check 'sum, Python: runs' prints python3 $EXAMPLES/sum.py <<END
rank 0: 6
rank 1: 6
rank 2: 6
rank 3: 6
END
else
	skip 'sum, Python' 'python3 is missing'
fi
plan
