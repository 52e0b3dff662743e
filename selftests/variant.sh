# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Tests build library, provider, tools and test programs once per variant of
# compiler options, in build/variant/NAME: `variant asan libangara` builds the
# missing parts there, and returns at once if nothing is missing. Test scripts
# that run in parallel share these folders, so no script may build there by
# other commands or with other options; parts that need other options have their
# own folder.

# selftests/coverage builds in another folder, with counters.
VARIANTS=${VARIANTS:-$PWD/build/variant}
# plain: as for users. asan: ASan and UBSan. tsan: ThreadSanitizer, with other
# READ_ONCE() and WRITE_ONCE(). tests: programs whose Makefiles add sanitizers.
declare -A VARIANT_FLAGS=(
	[plain]='-O2 -g -Werror'
	[asan]='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Werror'
	[tsan]='-O1 -g -fsanitize=thread -Wno-tsan -Werror'
	[tests]='-O1 -g -Werror')
declare -A VARIANT_CC=([tsan]="${CC:-cc} -I$PWD/selftests/model/tsan")

# build_in FOLDER [NAME=VALUE]... PART...: makes each PART with these variables,
# by as many jobs as the calling make has free, or as the machine has
# processors. PART is a folder with a Makefile, or FOLDER:TARGET; a TARGET with
# a slash is a file below FOLDER.
build_in()
{
	local out=$1 part target options=()

	shift
	[[ ${MAKEFLAGS:-} = *--jobserver* ]] || options=("-j$(nproc)")
	while [[ $1 = *=* ]]; do
		options+=("$1")
		shift
	done
	for part; do
		target=${part#"${part%%:*}"}
		target=${target#:}
		[[ $target != */* ]] || target=$out/$target
		make -s "${options[@]}" -C "${part%%:*}" "O=$out" \
			"${target:-all}" || return
	done
}

# variant NAME PART...: makes parts in the variant's folder. Only one test
# builds there at a time; others wait.
variant()
{
	local name=$1 out=$VARIANTS/$1 options

	shift
	options=("CC=${VARIANT_CC[$name]:-${CC:-cc}}"
		"CFLAGS=${VARIANT_CFLAGS:-${VARIANT_FLAGS[$name]}}")
	mkdir -p "$VARIANTS"
	{
		flock 6 || return
		# Not every Makefile detects changed options.
		if [ "$(cat "$out/options" 2>/dev/null)" != "${options[*]}" ]; then
			rm -rf "$out"
			mkdir -p "$out"
			echo "${options[*]}" >"$out/options"
		fi
		build_in "$out" "${options[@]}" "$@" 6>&-
	} 6>"$VARIANTS/$name.lock"
}
