# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Common parts of the scripts that build programs of selftests/embed, which use
# internals of the library.

. selftests/variant.sh

OUT=$VARIANTS/plain
INSIDE=(-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -pthread
	-Iselftests/embed -Ilibangara -Ilibangara/embed -Ilibangara/include
	-Ilibangara/env -Ilibangara/topo -Iuapi -Idriver/model -Idriver)
# Use the library's options, so that programs for coverage count their lines, too.
read -ra optimize <<<"${VARIANT_CFLAGS:-${VARIANT_FLAGS[plain]}}"
INSIDE+=("${optimize[@]}")

# inside FOLDER NAME [OPTION|SOURCE|OBJECT]...: links FOLDER/NAME from
# selftests/embed/NAME.c and the library; objects replace the library's own.
inside()
{
	${CC:-cc} "${INSIDE[@]}" -o "$1/$2" "selftests/embed/$2.c" "${@:3}" \
		"$OUT/lib/libangara.a"
}

# inside_changed FOLDER FILE FROM TO: compiles a file of the library, with a
# change, to an object in FOLDER. If the file is a header, all files of the
# library whose names begin like its own are compiled.
inside_changed()
{
	local dir=$1 file=libangara/$2 source

	mutate "$file" "$3" "$4" >"$dir/${2##*/}" || return
	if [[ $2 = *.h ]]; then
		cp "${file%.h}"*.c "$dir" || return
	fi
	for source in "$dir"/*.c; do
		${CC:-cc} "${INSIDE[@]}" -w -fPIC -c -o "$source.o" "$source" || return
	done
}
