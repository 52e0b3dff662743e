#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The whole report of `make paper`, and the tables of Documentation/published.rst:
# numbers, bands and their verdicts are those of the report. Takes half an hour, unless
# results of the same simulator are cached in build/paper.

set -u
. selftests/tap.sh

REPORT=build/paper/report.md

# The comparison finds a document whose bands have other limits than the report.
stale()
{
	sed -E 's/^(broadcast .*)[0-9] to /\19 to /; t
		s/^(adaptive .*)[0-9]$/\1/' Documentation/published.rst >"$TAP_TMP/stale.rst"
	! cmp -s "$TAP_TMP/stale.rst" Documentation/published.rst &&
		! selftests/sim/documented "$TAP_TMP/stale.rst" "$REPORT"
}

if ! command -v gnuplot >/dev/null; then
	skip 'the report' 'no gnuplot; install gnuplot-nox'
	plan
	exit
fi
check 'make paper' make -s paper
check 'the document has the numbers of the report' selftests/sim/documented \
	Documentation/published.rst "$REPORT"
check 'a stale band is found' stale
plan
