#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The Debian packages: built by a user in a clean Debian root, checked by lintian,
# installed with apt in a copy of the guest root, where DKMS builds the modules,
# then used and removed in a guest that boots that copy.

set -u
. selftests/tap.sh
. selftests/steps.sh
. tools/vm/lib.sh

KERNEL=6.12
DIR=build/deb-test
CLEAN=$PWD/$DIR/trixie
TREE=$DIR/tree
ROOT=$PWD/$DIR/root
IMAGE=$PWD/$DIR/root.img
PACKAGES='angara-dkms angara-selftests angara-tools libangara-dev libangara-mpi
	libangara-ofi libangara-shmem-dev libangara-shmem1 libangara1'

# in_root ROOT UID COMMAND...: runs COMMAND as this user in the root folder ROOT.
in_root()
{
	local root=$1 user=$2

	shift 2
	CHROOT_ROOT=$root CHROOT_USER=$user:$user tools/vm/chroot \
		env DEBIAN_FRONTEND=noninteractive "$@"
}

copy_sources()
{
	in_root "$CLEAN" 0 rm -rf "/angara/$TREE"
	mkdir -p "$TREE/build"
	files '*' | tar -c -T - | tar -x -C "$TREE"
	cp -r build/kernel-tools "$TREE/build/"
	in_root "$CLEAN" 0 chown -R 1000:1000 "/angara/$TREE"
}

# A package needs a real address of its maintainer; this project has none.
make_deb()
{
	in_root "$CLEAN" 0 apt-get -qq update
	in_root "$CLEAN" 0 apt-get -qq -y install --no-install-recommends make lintian &&
		in_root "$CLEAN" 1000 env -C "/angara/$TREE" HOME=/home/newcomer \
			USER=newcomer DEBFULLNAME=Newcomer DEBEMAIL=newcomer@debian.org \
			make deb
}

all_packages_are_there()
{
	local name

	for name in $PACKAGES; do
		ls "$TREE/build/deb/${name}_"*.deb || return
	done
	[ "$(find "$TREE/build/deb" -name '*.deb' ! -name '*-dbgsym_*' | wc -l)" = \
		"$(wc -w <<<"$PACKAGES")" ]
}

lint()
{
	in_root "$CLEAN" 1000 env -C "/angara/$TREE/build/deb" HOME=/tmp sh -c \
		'lintian --fail-on error,warning --tag-display-limit 0 *.changes'
}

# The guest root has the group that a package has to make.
copy_guest()
{
	as_root rm -rf "$ROOT" && as_root cp -a build/guest/root "$ROOT" &&
		as_root mkdir "$ROOT/packages" &&
		as_root cp "$TREE"/build/deb/*.deb "$ROOT/packages/" &&
		in_root "$ROOT" 0 groupdel angara
}

apt_install()
{
	in_root "$ROOT" 0 apt-get -qq update
	# shellcheck disable=SC2016 # the inner shell expands these
	in_root "$ROOT" 0 sh -c 'apt-get -qq -y install --no-install-recommends \
		$(ls /packages/*.deb | grep -v dbgsym)'
}

dkms_builds()
{
	in_root "$ROOT" 0 dkms autoinstall -k "$release" &&
		in_root "$ROOT" 0 dkms status | tee "$TAP_TMP/status" &&
		grep -q "^angara/.*$release.*: installed" "$TAP_TMP/status"
}

cat >"$TAP_TMP/sum.c" <<'EOC'
#include <mpi.h>
#include <stdio.h>

int main(void)
{
	int rank, sum;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d: %d\n", rank, sum);
	MPI_Finalize();
	return 0;
}
EOC
cat >"$TAP_TMP/pe.c" <<'EOC'
#include <shmem.h>
#include <stdio.h>

static int mine, sum;

int main(void)
{
	shmem_init();
	mine = shmem_my_pe();
	shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
	printf("PE %d: %d\n", mine, sum);
	shmem_finalize();
	return 0;
}
EOC

# Steps in the guest; each one prints a line when it has passed. The packages'
# commands and libraries are found without a variable.
cat >"$TAP_TMP/steps" <<'EOS'
. /angara/selftests/steps.sh
mpi()
{
	mpicc.openmpi -o /tmp/sum /packages/sum.c &&
		ANGARA_MPI_STATS=1 angara-mpirun --allow-run-as-root --oversubscribe \
			-n 4 /tmp/sum >/tmp/sum.out 2>&1
	cat /tmp/sum.out
	[ "$(grep -c '^rank [0-3]: 6$' /tmp/sum.out)" = 4 ] &&
		grep -q 'allreduce  *offload  *4 ' /tmp/sum.out
}
shmem()
{
	oshcc.angara -o /tmp/pe /packages/pe.c &&
		oshrun.angara -n 4 /tmp/pe >/tmp/pe.out
	cat /tmp/pe.out
	[ "$(grep -c '^PE [0-3]: 6$' /tmp/pe.out)" = 4 ]
}
selftests()
{
	cd /usr/libexec/angara-selftests &&
		ANGARA_TEST_DIR=$PWD ./run.sh ./ioctl ./mr ./angaractl.sh >/tmp/tests
	cat /tmp/tests
	! grep -q '^not ok ' /tmp/tests && [ "$(grep -c '^ok ' /tmp/tests)" = 3 ]
}
removed()
{
	apt-get -qq -y purge $PACKAGES &&
		! find /usr /etc /lib/modules /var/lib/dkms -name '*angara*' \
			-not -path '/usr/share/doc/*' | grep . &&
		! modinfo angara
}
unset LD_LIBRARY_PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# init points modprobe at the modules of the repository: undo that here.
rm /etc/modprobe.d/angara.conf
step modprobe modprobe angara_loop fabric=torus:2x2x2
step device test -c /dev/angara0
step group getent group angara
step tool angaractl dev
step man dpkg -S man8/angaractl.8.gz
step provider fi_info -p angara
step mpi mpi
step shmem shmem
step selftests selftests
step unload modprobe -r angara_loop angara
step removed removed
EOS

echo "==> building packages as a user would" >&2
mkdir -p "$DIR"
release=$(cat "build/guest/boot/$KERNEL/release")
check 'a clean root' selftests/clean-root "$CLEAN" trixie \
	"$(cat tools/deb/debian/control)"
check 'sources are copied' copy_sources
check 'make deb' make_deb
check 'all packages are there' all_packages_are_there
check 'lintian has no error and no warning' lint

echo "==> installing them in a copy of the guest root" >&2
check 'the guest root is copied' copy_guest
check 'apt installs the packages' apt_install
check 'DKMS builds the modules' dkms_builds
as_root cp "$TAP_TMP"/{sum.c,pe.c,steps} "$ROOT/packages/"
check 'a disk is made of it' as_root tools/vm/mkdisk "$ROOT" "$IMAGE"
as_root rm -rf "$ROOT"

echo "==> using and removing them in a guest" >&2
tools/vm/run --kernel "$KERNEL" --no-driver --image "$IMAGE" --timeout 1200 \
	--env PACKAGES="${PACKAGES//[$'\n\t']/ }" -- bash /packages/steps \
	>"$TAP_TMP/log" 2>"$TAP_TMP/err"
steps_passed $? modprobe device group tool man provider mpi shmem selftests unload removed
rm -f "$IMAGE"
plan
