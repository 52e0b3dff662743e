#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The steps of a user: make, make install, modprobe, running the tests, in a
# copy of the sources without git. The compiler runs natively in the guest root,
# which saves half an hour of emulation; the guest does the other steps. There
# `make install` finds everything built. The guest has the copy in memory, at the
# same place: make checks some 10000 files, and each check of a file in
# the shared folder is a message to the host.

set -u
. selftests/tap.sh
. selftests/steps.sh

KERNEL=6.12
COPY=build/install-test
PACKED=build/install-test.tar

copy_sources()
{
	rm -rf "$COPY"
	mkdir -p "$COPY"
	files '*' | tar -c -T - | tar -x -C "$COPY"
}

# Checks the patterns of dh_install: each installed file belongs to one package.
# Patterns of two packages that match one file, and a pattern that matches none,
# break `make deb`. Files that only dh_install handles are left out.
packaged()
{
	local dest=$COPY/build/dest list package pattern found

	(
		cd "$dest" && find usr ! -type d | sort >"$TAP_TMP/installed"
	)
	for list in tools/deb/debian/*.install; do
		package=$(basename "$list" .install)
		while read -r pattern; do
			case $pattern in
			usr/src | usr/libexec/*) continue ;;
			esac
			found=$(cd "$dest" && compgen -G "$pattern") || {
				echo "$package: no $pattern"
				return 1
			}
			# The second dh_install of debian/rules has this exception.
			(cd "$dest" && xargs -d '\n' -I{} find {} ! -type d) <<<"$found" |
				if [ "$package" = angara-tools ]; then
					grep -v angara-mpi
				else
					cat
				fi
		done < <(sed '/^#/d' "$list")
	done | sort >"$TAP_TMP/packaged"
	[ "${PIPESTATUS[0]}" = 0 ] || {
		cat "$TAP_TMP/packaged"
		return 1
	}
	[ -s "$TAP_TMP/installed" ] && diff "$TAP_TMP/installed" "$TAP_TMP/packaged"
}

completions()
{
	local command

	for command in angaractl angara-run angara-vfio angara-fm angara-bench \
		angara-topo angara-bcast-file angara-collops angara-heat2d \
		angara-spmv; do
		# shellcheck disable=SC1090
		(. "$1/$command" && complete -p "$command") || return
	done
}

# Packs the copy with what was built in it.
pack()
{
	tar -C "$COPY" --exclude=./build/dest -c -f "$PACKED" .
}

# Steps in the guest; each one prints a line when it has passed.
cat >"$TAP_TMP/steps" <<'EOF'
. /angara/selftests/steps.sh

unpack()
{
	mkdir /run/copy && mount -t tmpfs copy /run/copy &&
		tar -C /run/copy -x -f "$PACKED" && mount --bind /run/copy "$COPY"
}

step unpack unpack
cd "$COPY" || exit 1
unset LD_LIBRARY_PATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# init points modprobe at the modules of the repository: undo that here.
rm /etc/modprobe.d/angara.conf
step install make install
step modprobe modprobe angara_loop fabric=torus:2x2x2
step device test -c /dev/angara0
step tool angaractl dev
step man test -e /usr/local/share/man/man8/angaractl.8
step pkg-config pkg-config --exists angara
step rule test -e /usr/lib/udev/rules.d/90-angara.rules
# kselftest.t runs all programs; these show that the installed files are found
# and work together.
ANGARA_TEST_SCALE=5 make -C selftests/kselftest run_tests TEST_GEN_PROGS='mr p2p tree' \
	TEST_PROGS=angaractl.sh >/tmp/tests.log 2>&1
grep -E '^(# )*not ok ' /tmp/tests.log >&2
if grep -q '^ok 4 ' /tmp/tests.log && ! grep -q '^not ok ' /tmp/tests.log; then
	echo "step tests"
else
	tail -n 60 /tmp/tests.log >&2
fi
step unload modprobe -r angara_loop angara
EOF

echo "==> building a copy as a user would" >&2
release=$(cat "build/guest/boot/$KERNEL/release")
check 'sources are copied' copy_sources
check 'everything builds from a copy without git' tools/vm/chroot \
	env -C "/angara/$COPY" make -j"$(nproc)" \
	"KDIR=/lib/modules/$release/build"
check 'the tests build' tools/vm/chroot \
	env -C "/angara/$COPY" make -j"$(nproc)" -C selftests/kselftest \
	KSELFTEST_INC=/angara/build/kernel-tools
lib=/usr/lib/$(tools/vm/chroot gcc -print-multiarch)
check 'install honours DESTDIR, PREFIX and the folders of libraries' \
	tools/vm/chroot env -C "/angara/$COPY" make install \
	"KDIR=/lib/modules/$release/build" "DESTDIR=/angara/$COPY/build/dest" \
	PREFIX=/usr "LIBDIR=$lib" "PRELOADDIR=$lib/angara"
check 'nothing is installed elsewhere' \
	test -x "$COPY/build/dest/usr/bin/angaractl"
check 'each file is in one Debian package' packaged
check 'completion for bash is installed' \
	completions "$COPY/build/dest/usr/share/bash-completion/completions"

echo "==> installing it in a guest" >&2
cp "$TAP_TMP/steps" "$COPY/build/steps"
check 'the copy is packed' pack
tools/vm/run --kernel "$KERNEL" --no-driver --timeout 1500 --mem 2G \
	--env KSELFTEST_INC=/angara/build/kernel-tools \
	--env "COPY=/angara/$COPY" --env "PACKED=/angara/$PACKED" -- \
	bash "/angara/$COPY/build/steps" >"$TAP_TMP/log" 2>"$TAP_TMP/err"
status=$?
rm -f "$PACKED"
steps_passed "$status" unpack install modprobe device tool man pkg-config rule tests unload
plan
