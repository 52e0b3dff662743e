# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Functions that find the address of Debian's archive for this machine, and apt's
# settings for it.
# Scripts that source this have sourced lib.sh.

apt_get()
{
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@"
}

# Prints the address of the mirror of Debian's main archive that this machine
# uses.
find_mirror()
{
	# shellcheck disable=SC2016 # apt expands these, not the shell
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN)/$(LABEL)' \
		'Created-By: Packages' |
		awk '$2 == "Debian/Debian" { print $1; exit }'
}

mirror()
{
	local uri

	uri=$(find_mirror)
	if [ -z "$uri" ]; then
		# Before apt has fetched its lists, it does not know which
		# archive is Debian's.
		apt_get update
		uri=$(find_mirror)
	fi
	[ -n "$uri" ] || die "apt has no Debian archive: see sources.list(5)"
	echo "$uri"
}

# Prints the host's settings for the mirror, as options for apt in a guest root.
apt_options()
{
	apt-config dump | grep -E '^Acquire::(Check-|https?::)[^ ]+ ".+";' || true
}
