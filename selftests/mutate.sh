# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Mutation tests: inserted faults, which tests must find.

# mutate FILE FROM TO: prints FILE with TO instead of FROM, which must occur
# once.
mutate()
{
	FROM=$2 TO=$3 perl -0777 -ne '
		my ($from, $to) = ("$ENV{FROM}\n", "$ENV{TO}\n");
		my $count = () = /^\Q$from\E/mg;
		die "stands there $count times\n" if $count != 1;
		s/^\Q$from\E/$to/m;
		print;' "$1"
}

TRIED=()

# look NUMBER COMMAND...: runs COMMAND; saves its status and output to files.
look()
{
	local n=$1 status=0

	shift
	"$@" >"$TAP_TMP/why$n" 2>&1 || status=$?
	[ "$status" = 0 ] || echo 'not found' >>"$TAP_TMP/why$n"
	echo "$status" >"$TAP_TMP/status$n"
}

# seek NAME COMMAND...: runs COMMAND, which succeeds if it finds the fault; two
# run in parallel.
seek()
{
	local number=${#TRIED[@]}

	TRIED+=("$1")
	shift
	[ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
	look "$number" "$@" &
}

# Prints the results of all searches, in order.
found()
{
	local n

	wait
	for n in "${!TRIED[@]}"; do
		mv "$TAP_TMP/why$n" "$TAP_TMP/why"
		result "$(cat "$TAP_TMP/status$n")" "${TRIED[n]}"
	done
}

# block N: prints the lines of file descriptor N up to the next "--".
block()
{
	local line text=

	while IFS= read -r line <&"$1" && [ "$line" != -- ]; do
		text+=${text:+$'\n'}$line
	done
	printf '%s' "$text"
}

# faults LIST COMMAND: runs COMMAND for each fault of LIST, which begins with a
# comment and an empty line. Its arguments: the fault's first line, the expected
# report, the text in the file, and the replacement.
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
