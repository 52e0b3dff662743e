# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Downloads packages of Debian that are installed neither here nor in the guest
# root. Scripts that source this have sourced lib.sh.

# package_apt KIND SUITE ARG...: downloads to the current folder by apt-get ARG,
# from the mirror of the guest root, on a host of any release. KIND is "deb", or
# "deb-src" for source packages.
package_apt()
{
	local kind=$1 suite=$2
	local options=(-qq -o "Dir::State=$PWD/apt" -o "Dir::Cache=$PWD/apt"
		-o "Dir::Etc::SourceList=$PWD/apt/sources.list"
		-o Dir::Etc::SourceParts=- -o APT::Sandbox::User=
		-o "Dir::State::Status=$PWD/apt/status"
		-o APT::Architectures=amd64)

	shift 2
	mkdir -p apt/lists/partial apt/archives/partial
	: >apt/status
	# The list of sources in the guest root names the mirror.
	grep -E "^deb [^ ]+ $suite " "$ROOTFS/etc/apt/sources.list" |
		sed "s/^deb /$kind [signed-by=\/usr\/share\/keyrings\/debian-archive-keyring.gpg] /" \
		>apt/sources.list
	apt-get "${options[@]}" update
	apt-get "${options[@]}" "$@"
}
