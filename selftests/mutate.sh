# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Faults made on purpose, for tests that have to find them.

# mutate FILE FROM TO: the changed file on stdout; FROM must be there once.
mutate()
{
	FROM=$2 TO=$3 perl -0777 -ne '
		my ($from, $to) = ("$ENV{FROM}\n", "$ENV{TO}\n");
		my $count = () = /^\Q$from\E/mg;
		die "stands there $count times\n" if $count != 1;
		s/^\Q$from\E/$to/m;
		print;' "$1"
}

# block N: lines of file descriptor N up to the next one that is "--".
block()
{
	local line text=

	while IFS= read -r line <&"$1" && [ "$line" != -- ]; do
		text+=${text:+$'\n'}$line
	done
	printf '%s' "$text"
}
