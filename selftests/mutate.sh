# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Inserted faults, which tests have to find.

# mutate FILE FROM TO: the changed file on stdout; FROM must occur once.
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

# look NUMBER COMMAND...: saves status and output to files.
look()
{
	local n=$1 status=0

	shift
	"$@" >"$TAP_TMP/why$n" 2>&1 || status=$?
	[ "$status" = 0 ] || echo 'not found' >>"$TAP_TMP/why$n"
	echo "$status" >"$TAP_TMP/status$n"
}

# seek NAME COMMAND...: searches for a fault, in parallel with another one;
# COMMAND succeeds if it finds it.
seek()
{
	local number=${#TRIED[@]}

	TRIED+=("$1")
	shift
	[ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
	look "$number" "$@" &
}

# The results of all, in order.
found()
{
	local n

	wait
	for n in "${!TRIED[@]}"; do
		mv "$TAP_TMP/why$n" "$TAP_TMP/why"
		result "$(cat "$TAP_TMP/status$n")" "${TRIED[n]}"
	done
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
# an empty line, with four arguments: its first line, the expected report, the
# text of the file, and its replacement.
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
