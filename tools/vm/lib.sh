# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Common parts of the scripts in this folder: paths and messages.

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM_DIR/../.." && pwd)
BUILD=$TOP/build
GUEST=$BUILD/guest
# shellcheck disable=SC2034 # read by the scripts that source this file
ROOTFS=${CHROOT_ROOT:-$GUEST/root}
# Path of the repository in a chroot and in a guest, so that paths in compiler
# messages and debug information are the same in both.
# shellcheck disable=SC2034
MOUNT=/angara
# Runs a program of the guest root on this host, with the libraries of that
# root, as the host may be of another release.
ROOT_LIB=$ROOTFS/usr/lib/x86_64-linux-gnu
# shellcheck disable=SC2034
ROOT_LOADER=("$ROOT_LIB/ld-linux-x86-64.so.2" --library-path "$ROOT_LIB")

say()
{
	printf '==> %s\n' "$*" >&2
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

usage_error()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

# Runs a command as root, through sudo if the user is not root.
as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root: run as root or install sudo"
	fi
}

# Prints the lines of a list file without comments.
list()
{
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"
}

# Prints the kernels of the guest root, the oldest first; without a root, the
# kernels of the list.
kernel_names()
{
	if [ -e "$ROOTFS/.stamp" ]; then
		ls "$ROOTFS/boot/angara"
	else
		list "$VM_DIR/kernels" | cut -d' ' -f1
	fi | sort -V
}

# The kernels that debug-kernel builds. Options name these kernels like other
# kernels, but they are used only on request.
DEBUG_KERNELS='debug kcsan'

is_debug_kernel()
{
	[[ " $DEBUG_KERNELS " = *" $1 "* ]]
}

kernel_list()
{
	echo "$(kernel_names | paste -sd' ') $DEBUG_KERNELS"
}

is_kernel()
{
	is_debug_kernel "$1" || kernel_names | grep -qxF -- "$1"
}

# Prints the folder, in the chroot, of the files that modules of a kernel are
# built against.
kernel_build_dir()
{
	if is_debug_kernel "$1"; then
		echo "$MOUNT/build/debug/$1"
	else
		echo "/lib/modules/$(cat "$GUEST/boot/$1/release")/build"
	fi
}
