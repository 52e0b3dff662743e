#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Bad input of the simulator: each option of each command with invalid values, things that are no
# regular files, and options that would have no effect. Each is refused at once, with one line and
# status 2.

set -u
. selftests/tap.sh
. selftests/sim.sh

# A short run of each command, to which bad options are added.
declare -A RUN=([coll]='--torus 2x2' [gather]='--torus 2x2' [stripe]='--torus 2x2'
	[traffic]='--torus 2x2' [curve]='--torus 2x2' [flits]='--torus 2x2'
	[capacity]='--torus 2x2' [pairs]='--torus 2x2' [spmv]='--to 4 --rows 4096'
	[heat2d]='--to 4' [replay]='--torus 2x2x2 --file selftests/model/golden.txt'
	[stress]='--count 1' [params]='')

# Values that are invalid for every option that takes a number, a list, a word or an input file.
# shellcheck disable=SC2054 # commas are values
VALUES=('' ' ' , 1,,2 -1 nan inf 1e999 99999999999999999999 1x / /dev/zero /none)

# Prints a command's own options that take a value.
options()
{
	"$SIM" "$1" --help | awk '/^  --config/ { exit } /^  --/ { print substr($1, 3) }' |
		grep -vxE 'stripe|moved|exchange|check|origins'
}

# bad_value COMMAND ARGUMENT...: says what is wrong unless the command refuses the
# arguments.
bad_value()
{
	local status=0

	# shellcheck disable=SC2086 # options
	timeout 60 "$SIM" "$1" ${RUN[$1]} "${@:2}" >"$TAP_TMP/out" 2>"$TAP_TMP/err" || status=$?
	[ $status = 2 ] && [ ! -s "$TAP_TMP/out" ] && [ "$(wc -l <"$TAP_TMP/err")" = 1 ] &&
		grep -q '^angara-sim: .' "$TAP_TMP/err" && return
	echo "$*: status $status"
	head -n 3 "$TAP_TMP/out" "$TAP_TMP/err"
	return 1
}

# Is the option's value a word, a list or a file?
has_no_range()
{
	case $1:$2 in
	gather:dims) ;;
	*:pattern | *:op | *:mode | *:roots | *:block | *:children | *:sizes | *:algo | \
		*:ranks | *:table | *:file | *:goal | *:config | *:format | *:routes | \
		*:faults | *:restore | *:torus | *:fabric | *:vc | *:reduce | *:copies | \
		*:routing | *:acks | *:accuracy | *:watch | *:date-line) ;;
	*) return 1 ;;
	esac
}

# values COMMAND OPTION...: the command refuses each of these options with each bad value.
# For a number that is too great, and for text that is no number, the error names the range.
values()
{
	local option value bad=0

	[ $# -gt 1 ] || [ "$1" = params ] || return
	for option in "${@:2}"; do
		for value in "${VALUES[@]}"; do
			bad_value "$1" "--$option=$value" || bad=1
			has_no_range "$1" "$option" || [ -z "$value" ] ||
				grep -qE ' from [^ ]+ to [^ ]+|above 0 and below 100$' \
					"$TAP_TMP/err" && continue
			echo "--$option=$value: the error names no range"
			cat "$TAP_TMP/err"
			bad=1
		done
	done
	return $bad
}

# Bad values of all parameters, and of the options that all commands have.
common()
{
	local words

	words=$("$SIM" params | sed -nE 's/^# ([a-z-]+) .*\(.*\)$/\1/p')
	[ "$(wc -w <<<"$words")" -gt 25 ] || return
	# shellcheck disable=SC2086 # words
	values coll $words config threads format routes faults restore every stop-at watch
}

# without TEXT COMMAND ARGUMENT...: the command refuses the arguments with TEXT.
without()
{
	bad_value "${@:2}" && grep -qF -- "$1" "$TAP_TMP/err"
}

# endless LINE COMMAND ARGUMENT...: the command refuses a file of this line without
# an end, which is its standard input.
endless()
{
	without 'more than' "${@:2}" < <(yes "$1")
}

# Files are opened before anything is simulated.
unwritable()
{
	local option path

	for option in output trace heatmap checkpoint; do
		for path in '' /none/file "$TAP_TMP"; do
			bad_value coll --torus 128x128 --mode offload "--$option=$path" || return
		done
	done
}

# --output writes to a pipe and to a new file. The program opens the pipe once: the
# reader ends when the program closes the pipe, and the simulation takes longer than
# that. A run that fails leaves an existing file unchanged; a run that writes no
# checkpoint leaves no new file.
written()
{
	local long=(pairs --torus 16x16)

	mkfifo "$TAP_TMP/pipe"
	cat "$TAP_TMP/pipe" >"$TAP_TMP/piped" &
	timeout 60 "$SIM" "${long[@]}" --output "$TAP_TMP/pipe" || return
	wait $!
	"$SIM" "${long[@]}" >"$TAP_TMP/want" && diff "$TAP_TMP/want" "$TAP_TMP/piped" &&
		"$SIM" params --output "$TAP_TMP/params" >"$TAP_TMP/none" &&
		[ ! -s "$TAP_TMP/none" ] && diff <("$SIM" params) "$TAP_TMP/params" || return
	echo kept >"$TAP_TMP/kept"
	bad_value coll --checkpoint "$TAP_TMP/kept" --trees 17 &&
		grep -qx kept "$TAP_TMP/kept" || return
	"$SIM" coll --mode p2p --torus 2 --checkpoint "$TAP_TMP/new" && [ ! -e "$TAP_TMP/new" ]
}

sim_builds tools/sim
for command in params capacity; do
	for option in trace watch heatmap checkpoint restore; do
		check "$command: no --$option" without 'runs no simulation' "$command" \
			"--$option" 1
	done
done
check 'params: no --routes' without 'does not use them' params --routes /none
check 'params: no JSON' without 'use --origins for a table' params -j
check 'flits: no --faults' without 'flits: does not support --trace' flits --faults /none
check '--watch alone' without 'needs a --trace' coll --watch 0
check '--stop-at 0' without 'not a time from 1ps to 1000000s' coll --mode p2p --stop-at 0us \
	--checkpoint "$TAP_TMP/at"
check 'a parameter above its range' without 'not a number from 4 to 1024' coll --torus 2 \
	--buffer 1025
check 'an option above its range' without 'not a number from 0 to 256' coll --torus 2 \
	--threads 257
check 'no scenarios' without 'not a number from 1 to' stress --count 0
check 'too many scenarios' without 'from 0 to 18446744073709551613' stress \
	--first 18446744073709551614 --count 2
check 'no operations: spmv' without 'from 1 to' spmv --nonzeros 0
check 'no operations: heat2d' without 'from 1 to' heat2d --flop 0
check 'one node: spmv' without 'a number from 2 to 1048576' spmv --from 1
check 'one node: heat2d' without 'a number from 2 to 1048576' heat2d --from 1 --to 1
check 'no power of two' without 'power of two from 2 to 1048576' heat2d --from 3
check 'no bytes: gather' without 'nothing to send' gather --algo ring --bytes 0
check 'a rate beyond all machines' without 'from 0.001 to 1e+12' heat2d --rate 1e300
check 'invalid loads' without 'not a number above 0' traffic --load 0
check 'too great: a number' without 'not a number from 1 to 16' coll \
	--trees 99999999999999999999
check 'too great: a time' without 'not a time from 0ps to 1000000s' traffic \
	--warmup 9000000000000s
check 'too great: a time of 2^64' without 'not a time from 1ns to 1s' coll \
	--link-latency 99999999999999999999s
check 'too great: a rate' without 'not a rate from 1Mbit/s to 100Tbit/s' coll \
	--link-rate 99999999999Tbit/s
check 'too great: a frequency' without 'not a frequency from 1MHz to 1000GHz' coll \
	--clock 99999999999999GHz
check 'too great: bytes' without 'not a number of bytes from 0 to 1GiB' gather \
	--bytes 99999999999TiB
check 'too great: bytes of a packet' without 'from 0 to 256, the longest packet' \
	pairs --bytes 257
check 'too great: a node' without 'not a node from 0 to 3' pairs --from 4
check 'too great: a node of a trace' without 'not nodes from 0 to 3' coll --mode p2p \
	--trace /dev/null --watch 4
check 'endless lines: a table' endless '1 2' spmv --table /dev/stdin
check 'endless lines: parameters' endless 'buffer = 8' coll --config /dev/stdin
check 'endless lines: routes' endless '0 1 0' coll --routes /dev/stdin
check 'endless lines: faults' endless '0 0 0 0 1' coll --faults /dev/stdin
check 'endless lines: a trace' endless '#' replay --file /dev/stdin
check 'files that cannot be written' unwritable
check 'files that can be written' written
for command in "${!RUN[@]}"; do
	# shellcheck disable=SC2046 # words
	check "bad values of its options: $command" values "$command" $(options "$command")
done
check 'bad values of parameters and common options' common
plan
