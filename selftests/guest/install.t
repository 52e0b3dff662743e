#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The steps of a user with their own machine: make, make install, modprobe, run
# the tests, in a copy of the sources without git. The compiler runs natively in
# the guest root, which saves half an hour of emulation; the guest then finds
# everything built, and does the other steps.

set -u
. selftests/tap.sh

KERNEL=6.12
COPY=build/install-test
LOG=$TAP_TMP/log

copy_sources()
{
	rm -rf "$COPY"
	mkdir -p "$COPY"
	files '*' | tar -c -T - | tar -x -C "$COPY"
}

# Steps in the guest; each one prints a line when it has passed.
cat >"$TAP_TMP/steps" <<'EOF'
step()
{
	name=$1
	shift
	if "$@" >/tmp/step.log 2>&1; then
		echo "step $name"
		echo "$name: done after ${SECONDS} s" >&2
	else
		echo "FAILED: $name" >&2
		tail -n 40 /tmp/step.log >&2
		exit 1
	fi
}
unset LD_LIBRARY_PATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# init points modprobe at the modules of the repository: undo that here.
rm /etc/modprobe.d/angara.conf
step make make
step install make install
step modprobe modprobe angara_loop fabric=torus:2x2x2
step device test -c /dev/angara0
step tool angaractl dev
step man test -e /usr/local/share/man/man8/angaractl.8
step pkg-config pkg-config --exists angara
step rule test -e /usr/lib/udev/rules.d/90-angara.rules
# kselftest.t runs all programs; these show that the installed files are found
# and work together.
make -C selftests run_tests TEST_GEN_PROGS='ioctl mr p2p coll' \
	TEST_PROGS=angaractl.sh >/tmp/tests.log 2>&1
grep -E '^(# )*not ok ' /tmp/tests.log >&2
if grep -q '^ok 5 ' /tmp/tests.log && ! grep -q '^not ok ' /tmp/tests.log; then
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
	env -C "/angara/$COPY" make -j"$(nproc)" -C selftests \
	KSELFTEST_INC=/angara/build/kernel-tools
check 'install honours DESTDIR and PREFIX' tools/vm/chroot \
	env -C "/angara/$COPY" make install "KDIR=/lib/modules/$release/build" \
	"DESTDIR=/angara/$COPY/build/dest" PREFIX=/usr
check 'nothing is installed elsewhere' \
	test -x "$COPY/build/dest/usr/bin/angaractl"

echo "==> installing it in a guest" >&2
cp "$TAP_TMP/steps" "$COPY/build/steps"
tools/vm/run --kernel "$KERNEL" --no-driver --timeout 1500 \
	--env KSELFTEST_INC=/angara/build/kernel-tools -- \
	env -C "/angara/$COPY" bash build/steps >"$LOG" 2>"$TAP_TMP/err"
status=$?
for step in make install modprobe device tool man pkg-config rule tests unload
do
	cp "$TAP_TMP/err" "$TAP_TMP/why"
	grep -qx "step $step" "$LOG"
	result $? "in the guest: $step"
done
cp "$TAP_TMP/err" "$TAP_TMP/why"
result "$status" 'in the guest: all steps, and its log'
plan
