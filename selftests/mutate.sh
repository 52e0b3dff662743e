# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Mutation tests: inserted faults, which tests must find.

# mutate FILE FROM TO: prints FILE with TO instead of FROM, which must occur
# once. Only a command of `faults` may call it: host/faults.t checks the texts of
# all lists, and would not see a text in a script.
mutate()
{
	if [[ " ${FUNCNAME[*]} " != *' faults '* ]]; then
		echo "mutate: faults() did not call, so this fault is not in a list: $2" >&2
		return 1
	fi
	if [ ! -r "$1" ]; then
		echo "mutate: no file $1" >&2
		return 1
	fi
	FROM=$2 TO=$3 perl -0777 -ne '
		my ($from, $to) = ("$ENV{FROM}\n", "$ENV{TO}\n");
		my $count = () = /^\Q$from\E/mg;
		die "the text occurs $count times, not once: $from" if $count != 1;
		s/^\Q$from\E/$to/m;
		print;' "$1"
}

TRIED=()

# look NUMBER COMMAND...: runs COMMAND until it succeeds, three times at most, since a
# fault may need a race; saves its status and output to files.
look()
{
	local n=$1 status run

	shift
	for run in 1 2 3; do
		status=0
		"$@" >"$TAP_TMP/why$n" 2>&1 || status=$?
		[ "$status" != 0 ] || break
		echo "not found in run $run" >>"$TAP_TMP/why$n"
	done
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

# Prints the results of all searches since the last call, in order.
found()
{
	local n

	wait
	for n in "${!TRIED[@]}"; do
		mv "$TAP_TMP/why$n" "$TAP_TMP/why"
		result "$(cat "$TAP_TMP/status$n")" "${TRIED[n]}"
	done
	TRIED=()
}

# stray LIST WHY: fails and stops the test, since the list is not as `faults` expects it.
stray()
{
	echo "not ok - $1: $2"
	exit 1
}

unended()
{
	stray "$1" "no \"--\" after a text of '$first': '$name'"
}

# block N: sets `text` to the lines of file descriptor N up to the next "--".
block()
{
	local line

	text=
	while IFS= read -r line <&"$1"; do
		[ "$line" != -- ] || return 0
		text+=${text:+$'\n'}$line
	done
	return 1
}

# faults LIST COMMAND [N]: runs COMMAND for each fault of LIST, or for every Nth
# one unless LONG is set. A fault is
#
#   FIELD...             words; the head of the list says which
#   NAME                 what is wrong
#   report: REGEXP       optional: the report to expect
#   TEXT                 lines of the source file, which must occur once
#   --
#   REPLACEMENT
#   --
#
# Empty lines and comments may stand between faults. Arguments of COMMAND: the line
# of fields, the name, the text, the replacement, the expected report.
faults()
{
	local first name report from to text number=0 every=${3:-1}

	! long_form || every=1
	{ exec 5<"$1"; } 2>/dev/null || stray "$1" 'cannot be read'
	while IFS= read -r first <&5; do
		case $first in
		'' | '#'*) continue ;;
		esac
		IFS= read -r name <&5
		block 5 || unended "$1"
		report=
		if [[ $text == 'report: '* ]]; then
			report=${text%%$'\n'*}
			report=${report#report: }
			text=${text#*$'\n'}
		fi
		from=$text
		block 5 || unended "$1"
		to=$text
		((number++ % every)) || "$2" "$first" "$name" "$from" "$to" "$report"
	done
	exec 5<&-
	[ "$number" != 0 ] || stray "$1" 'has no faults'
}
