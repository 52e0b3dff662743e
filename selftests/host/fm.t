#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The installed unit of the fabric manager: systemd knows all of its settings, and
# finds its program. systemd-analyze prints unknown settings, but ends with status 0.

set -u
. selftests/tap.sh
. selftests/variant.sh

ROOT=$TAP_TMP/root
UNIT=$ROOT/lib/systemd/system/angara-fm.service

# Without DESTDIR, as the unit has to name a program that exists.
install_all()
{
	PREFIX=$ROOT DESTDIR='' variant plain libangara tools/fm tools/fm:install
}

verify()
{
	systemd-analyze verify --man=no "$1"
}

# finds FROM TO: would the unit be refused with this change?
finds()
{
	local unit=$TAP_TMP/angara-fm.service

	sed "s|$1|$2|" "$UNIT" >"$unit" && ! cmp -s "$unit" "$UNIT" &&
		verify "$unit" 2>&1 | grep .
}

check 'builds and installs' install_all
if command -v systemd-analyze >/dev/null; then
	silent 'systemd accepts the unit' verify "$UNIT"
	check 'found: an unknown setting' finds '^ProtectHome=' 'ProtectHomes='
	check 'found: an unknown value' finds '^Restart=.*' 'Restart=maybe'
	check 'found: no program' finds '^ExecStart=.*' "ExecStart=$ROOT/none"
else
	skip 'systemd accepts the unit' 'no systemd-analyze: install systemd'
fi
plan
