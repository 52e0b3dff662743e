#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The library as a package: headers, map, exported symbols and man pages name
# the same functions; programs build with the installed library.

set -u
. selftests/tap.sh
. selftests/variant.sh

OUT=$TAP_TMP/build
ROOT=$TAP_TMP/root
LIB=$ROOT/usr/lib
MAN=$ROOT/usr/share/man/man3

install_all()
{
	PREFIX=/usr DESTDIR=$ROOT variant plain libangara libangara:install
}

declared()
{
	cat libangara/include/angara/*.h |
		grep -oE '^[a-z].*\bangara_[a-z_]+\(' |
		grep -oE 'angara_[a-z_]+\($' | tr -d '(' | sort
}

mapped()
{
	grep -oE '\bangara_[a-z_]+;' libangara/libangara.map | tr -d ';' | sort
}

exported()
{
	nm -D --defined-only --without-symbol-versions "$LIB/libangara.so" |
		awk '$2 != "A" { print $3 }' | sort
}

described()
{
	find "$MAN" -name '*.3' -printf '%f\n' | sed 's/\.3$//' | sort
}

# Prints the calls in the table of library.rst.
tabled()
{
	sed -n '/^Calls$/,/^Topology$/p' Documentation/library.rst |
		sed -n 's/^| \([a-z][a-z_, ]*\)|.*/\1/p' | tr -d ' ' | tr ',' '\n' |
		sed -n 's/^\([a-z].*\)/angara_\1/p' | sort
}

same()
{
	diff <("$1") <("$2")
}

# In the folders of the library itself, files call each other in no circle.
layered()
{
	local folder count=0

	for folder in "$VARIANTS"/plain/obj/libangara/{,algo,embed,topo}; do
		selftests/circles "$folder"/*.o || return
		count=$((count + $(find "$folder" -maxdepth 1 -name '*.o' | wc -l)))
	done
	# The library has more than 100 files.
	[ "$count" -gt 100 ]
}

# A page of several functions names all of them; the other pages refer to it.
aliases()
{
	local page target bad=0

	for page in "$MAN"/*.3; do
		target=$(sed -n 's/^\.so man3\///p' "$page")
		[ -n "$target" ] || target=$(basename "$page")
		grep -q "^\.Nm $(basename "$page" .3)" "$MAN/$target" && continue
		echo "$target does not name $(basename "$page" .3)"
		bad=1
	done
	return $bad
}

# Prints the names of functions declared on standard input.
declares()
{
	grep -oE '\bangara_[a-z_]+\(' | tr -d '(' | sort -u
}

# The header in a page's synopsis declares the functions of the page.
page_headers()
{
	local page header name bad=0

	for page in libangara/man/*.3; do
		header=$(sed -n "s/^\\.In \\(angara.*\\)/\\1/p" "$page")
		echo "#include <$header>" |
			${CC:-cc} -E -P -I libangara/include - |
			declares >"$TAP_TMP/declares"
		while read -r name; do
			grep -qxF "$name" "$TAP_TMP/declares" && continue
			echo "$page: <$header> does not declare $name"
			bad=1
		done < <(sed -n 's/^\.Nm \(angara_[a-z_]*\).*/\1/p' "$page")
	done
	return $bad
}

# Each header can be included alone, and angara/angara.h includes them all.
header_alone()
{
	echo "#include <angara/$1>" | ${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic \
		-Werror -fsyntax-only -x c -I libangara/include -
}

# Programs need no header of the kernel.
no_kernel_header()
{
	! echo '#include <angara/angara.h>' |
		${CC:-cc} -M -x c -I libangara/include -I uapi - |
		grep -E 'linux/|asm/|ioctl'
}

# Prints the constants of headers with their values as text.
constants()
{
	cat "$@" | sed -nE 's|/\*.*||; s/[[:space:]]+$//
		s/^#define[[:space:]]+(ANGARA_[A-Z0-9_]+)[[:space:]]+([^[:space:]].*)/\1 \2/p' |
		grep -vE '_H( |$)' | sort
}

# A constant has the same value in the library's and the kernel's headers; all
# operations, rights and statuses are in both.
same_constants()
{
	local name family

	constants libangara/include/angara/*.h >"$TAP_TMP/ours"
	constants uapi/linux/angara.h uapi/linux/angara_queue.h >"$TAP_TMP/kernel"
	[ -s "$TAP_TMP/ours" ] && [ -s "$TAP_TMP/kernel" ] || return
	join -o 0 <(cut -d ' ' -f 1 "$TAP_TMP/ours" | sort) \
		<(cut -d ' ' -f 1 "$TAP_TMP/kernel" | sort) |
		while read -r name; do
			diff <(grep "^$name " "$TAP_TMP/ours") \
				<(grep "^$name " "$TAP_TMP/kernel")
		done
	for family in ACCESS ATOMIC RED ST TYPE TREE_RULE; do
		diff <(grep "^ANGARA_${family}_" "$TAP_TMP/ours") \
			<(grep "^ANGARA_${family}_" "$TAP_TMP/kernel")
	done
}

# Both headers can be included, in any order, in C and C++.
with_kernel_headers()
{
	local language order

	for language in c c++; do
		for order in 'angara/angara.h linux/angara.h' \
			'linux/angara.h angara/angara.h'; do
			# shellcheck disable=SC2086
			printf '#include <%s>\n' $order |
				${CC:-cc} -Wall -Wextra -Wshadow -Wpedantic -Werror \
				-fsyntax-only -x $language \
				-I libangara/include -I uapi - || return
		done
	done
}

all_headers()
{
	diff <(declared) \
		<(echo '#include <angara/angara.h>' |
			${CC:-cc} -E -P -I libangara/include - | declares)
}

pc()
{
	PKG_CONFIG_PATH=$LIB/pkgconfig PKG_CONFIG_SYSROOT_DIR=$ROOT \
		pkg-config "$@" angara
}

cat >"$TAP_TMP/use.c" <<'END'
#include <angara/angara.h>
int main(void)
{
	struct angara_topo topo;

	return angara_topo_parse("2x2x2", &topo) ||
	       angara_topo_nodes(&topo) != 8;
}
END
cp "$TAP_TMP/use.c" "$TAP_TMP/use.cc"

# shellcheck disable=SC2046 # options are words
shared()
{
	${CC:-cc} -Wall -Wextra -Wpedantic -std=c99 -o "$TAP_TMP/use" \
		"$TAP_TMP/use.c" $(pc --cflags --libs) &&
		LD_LIBRARY_PATH=$LIB "$TAP_TMP/use"
}

# shellcheck disable=SC2046
static()
{
	${CC:-cc} -o "$TAP_TMP/use" "$TAP_TMP/use.c" $(pc --cflags) \
		"$LIB/libangara.a" && "$TAP_TMP/use"
}

# shellcheck disable=SC2046
cplusplus()
{
	${CXX:-c++} -Wall -Wextra -o "$TAP_TMP/use" "$TAP_TMP/use.cc" \
		$(pc --cflags --libs) && LD_LIBRARY_PATH=$LIB "$TAP_TMP/use"
}

# Builds without optimization; the variant "plain" has optimization, and -Werror.
quiet_build()
{
	build_in "$OUT-$1" CC="$1" V=1 \
		CFLAGS='-O0 -Wconversion -Wno-sign-conversion' libangara
}

soname()
{
	[ "$(objdump -p "$LIB/libangara.so" | awk '/SONAME/ { print $2 }')" = \
		libangara.so.1 ] && [ -e "$LIB/libangara.so.1" ]
}

check 'installs' install_all
check 'no circle of calls among files of a folder' layered
check 'headers and map have the same functions' same declared mapped
check 'map and library have the same functions' same mapped exported
check 'each function has a man page' same exported described
check 'the table of calls has each function' same exported tabled
check 'man pages name their functions' aliases
check 'man pages name the header that declares it' page_headers
for header in libangara/include/angara/*.h; do
	silent "angara/${header##*/} alone" header_alone "${header##*/}"
done
check 'angara/angara.h includes all headers' all_headers
check 'programs need no header of the kernel' no_kernel_header
silent 'constants are those of the kernel' same_constants
silent 'headers of the kernel may be included, too' with_kernel_headers
check 'the soname' soname
for cc in gcc clang; do
	if command -v $cc >/dev/null; then
		silent "no warnings by $cc" quiet_build $cc
	else
		skip "no warnings by $cc" "$cc is missing"
	fi
done
check 'a program, shared' shared
check 'a program, static' static
check 'a program in C++' cplusplus
check 'clean removes everything that was built' sh -c "make -C libangara O='$OUT-gcc' clean &&
	! find '$OUT-gcc' -type f | grep ."
plan
