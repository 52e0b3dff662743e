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

# faults LIST COMMAND: COMMAND for each fault of a list whose comment ends with
# an empty line, with four arguments: its first line, what is to be said of it,
# what stands in the file, and what is put in its place.
faults()
{
	local first report from to

	exec 5< <(sed '/^#/d; 1,/^$/{/^$/d}' "$1")
	while IFS= read -r first <&5; do
		IFS= read -r report <&5
		from=$(block 5)
		to=$(block 5)
		"$2" "$first" "$report" "$from" "$to"
	done
	exec 5<&-
}
