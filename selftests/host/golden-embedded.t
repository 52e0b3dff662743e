#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The model's golden trace on an embedded fabric: the same scenario through the
# library's backend gives the same lines in the same order. Faults in the
# backend and in the model that it is built with change them.

set -u
. selftests/tap.sh
. selftests/mutate.sh

GOLDEN=selftests/model/golden.txt
FLAGS=(-std=gnu11 -g -O1 '-fsanitize=address,undefined'
	-fno-sanitize-recover=all -D_GNU_SOURCE -Wall -Wextra
	-Wno-unused-parameter -pthread -Iselftests/model -Ilibangara
	-Ilibangara/embed -Ilibangara/include -Ilibangara/env
	-Ilibangara/topo -Iuapi -Idriver/model -Idriver -Itools/sim)
SOURCES=(selftests/embed/golden_host.c
	selftests/model/{golden,coll,trees,process,common}.c
	tools/sim/trace_text.c libangara/{scan,fabric,cdev}.c
	libangara/topo/*.c libangara/embed/*.c driver/row.c driver/model/*.c)
unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD ANGARA_DEVICE ANGARA_FABRIC

# Where the object of a source is: some have the same name.
object()
{
	echo "$TAP_TMP/${1//\//_}.o"
}

# compile SOURCE OBJECT
compile()
{
	${CC:-cc} "${FLAGS[@]}" -c -o "$2" "$1"
}

# link PROGRAM OBJECT...
link()
{
	local program=$1

	shift
	${CC:-cc} "${FLAGS[@]}" -o "$program" "$@"
}

build()
{
	local source

	for source in "${SOURCES[@]}"; do
		compile "$source" "$(object "$source")" || return
	done
	link "$TAP_TMP/golden" "$TAP_TMP"/*.o
}

# trace PROGRAM: compared with the golden one
trace()
{
	timeout 60 "$1" >"$TAP_TMP/trace" && diff -u "$GOLDEN" "$TAP_TMP/trace"
}

# changed FILE FROM TO: the program with FILE changed, as $TAP_TMP/changed
changed()
{
	local source objects=()

	mkdir -p "$TAP_TMP/copy"
	mutate "$1" "$2" "$3" >"$TAP_TMP/copy/${1##*/}" &&
		compile "$TAP_TMP/copy/${1##*/}" "$TAP_TMP/copy/changed.o" ||
		return
	for source in "${SOURCES[@]}"; do
		[ "$source" = "$1" ] || objects+=("$(object "$source")")
	done
	link "$TAP_TMP/changed" "$TAP_TMP/copy/changed.o" "${objects[@]}"
}

# same FILE FROM TO: the change does not show.
same()
{
	changed "$@" && trace "$TAP_TMP/changed"
}

# found FILE FROM TO: all results are right, but the trace is another.
found()
{
	changed "$@" || return
	timeout 60 "$TAP_TMP/changed" >"$TAP_TMP/trace" || return
	! diff "$GOLDEN" "$TAP_TMP/trace"
}

check 'builds with sanitizers' build
check 'the golden trace is the same' trace "$TAP_TMP/golden"
check 'the same if work is left to others after every step' same \
	libangara/embed/run.c \
	'#define SLICE	16384U	/* units of work (ang_work.h) between two looks */
#define ROUNDS	64U	/* of these, before others shall go on with it */' \
	'#define SLICE	1U
#define ROUNDS	1U'
check 'found: packets that travel in pairs' found \
	libangara/embed/layout.c \
	'	cfg->train = spec->train ? (u16)spec->train : train;' \
	'	cfg->train = 2;'
check 'found: timers fired in another order' found \
	driver/model/ang_sched.c \
	'	if (l->head == ANG_NONE)
		l->head = id;
	else
		ang_node(fab, l->tail)->timer_next = id;
	l->tail = id;' \
	'	ang_node(fab, id)->timer_next = l->head;
	if (l->head == ANG_NONE)
		l->tail = id;
	l->head = id;'
check 'found: credits that come later' found \
	driver/model/ang_reducer.c \
	'	bool due = ang_credit_due(t->done, npkts);' \
	'	bool due = ang_credit_due(t->done - 1, npkts);'
plan
