#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# selftests/prove itself: counts of results, scripts in parallel or before others, names
# of scripts, the longest times, and the jobs of a calling make.

set -u
. selftests/tap.sh

export TEST_DIR=$TAP_TMP/scripts
mkdir "$TEST_DIR"

# script NAME: makes a script with standard input as its body.
script()
{
	{
		echo '#!/bin/bash'
		cat
	} >"$TEST_DIR/$1.t"
	chmod 755 "$TEST_DIR/$1.t"
}

# prove STATUS NAME...: runs these scripts; prove must end with STATUS. Its
# output is in $TAP_TMP/said.
prove()
{
	local want=$1 status=0

	shift
	env -u V JOBS=2 selftests/prove "${@/#/"$TEST_DIR/"}" \
		>"$TAP_TMP/said" 2>&1 || status=$?
	cat "$TAP_TMP/said"
	[ "$status" = "$want" ]
}

last()
{
	[ "$(tail -n 1 "$TAP_TMP/said")" = "$1" ]
}

counts()
{
	prove 1 results.t good.t && last '3 passed, 1 failed, 1 skipped' &&
		grep -qx "SKIP $TEST_DIR/results.t: other: no room" "$TAP_TMP/said" &&
		grep -qx "FAIL $TEST_DIR/results.t: inner" "$TAP_TMP/said"
}

# A script that a signal ends after its plan, and one that ends with a status.
ended()
{
	prove 1 signal.t status.t good.t && last '3 passed, 2 failed, 0 skipped' &&
		grep -qx "FAIL $TEST_DIR/signal.t: ended by signal 9" "$TAP_TMP/said" &&
		grep -qx "FAIL $TEST_DIR/status.t: exit status 3" "$TAP_TMP/said"
}

# A script that stops the run ends the other one, which would wait for minutes.
bails_out()
{
	prove 1 waits.t bails.t && last '0 passed, 1 failed, 0 skipped' &&
		grep -q '^FAIL .*no room' "$TAP_TMP/said" && ! pgrep -f 'sleep 543[2]'
}

# A folder with several scripts before another folder, which has a script of the same name
# elsewhere.
folders()
{
	local copy=$TAP_TMP/folders name

	mkdir -p "$copy"/selftests/{one,two,three}
	cp selftests/{prove,limit} "$copy/selftests"
	: >"$copy/selftests/schedule"
	for name in one/a one/b two/c three/two; do
		cp "$TEST_DIR/good.t" "$copy/selftests/$name.t"
	done
	"$copy/selftests/prove" one two >"$TAP_TMP/said" 2>&1
	cat "$TAP_TMP/said"
	last '3 passed, 0 failed, 0 skipped'
}

nothing_passed()
{
	prove 1 empty.t && last '0 passed, 0 failed, 1 skipped'
}

# Each of two scripts waits until the other one runs.
side_by_side()
{
	prove 0 left.t right.t && last '2 passed, 0 failed, 0 skipped'
}

# If one of these two scripts has to run before the other one, they time out.
before()
{
	local copy=$TAP_TMP/copy

	mkdir -p "$copy/selftests/some"
	cp selftests/{prove,limit} "$copy/selftests"
	cp "$TEST_DIR"/{left,right}.t "$copy/selftests/some"
	echo "before some/$1" >"$copy/selftests/schedule"
	rm -f "$TEST_DIR"/*.here
	JOBS=2 "$copy/selftests/prove" some >"$TAP_TMP/said"
	cat "$TAP_TMP/said"
	last '0 passed, 2 failed, 0 skipped' || last '1 passed, 1 failed, 0 skipped'
}

times()
{
	prove 0 good.t busy.t && awk -v name="$TEST_DIR/busy.t" '
		$3 == name { good = $1 >= 0.1 && $2 >= 0.1 && $2 < 30 && ++n == 1 }
		END { exit !good }' "$TAP_TMP/said"
}

# A script that waits forever, and its child in another session, which keeps the
# script's output open.
limits()
{
	LIMIT=1 prove 1 good.t waits.t && last '1 passed, 1 failed, 0 skipped' &&
		grep -qx "FAIL $TEST_DIR/waits.t: the script ends within 1 s" \
			"$TAP_TMP/said" &&
		grep -q '^# .* sleep 5432' "$TAP_TMP/said" &&
		! pgrep -f 'sleep 543[2]'
}

# A script that has written to standard error waits for the last script, which
# starts only when another one has ended. The bytes are not UTF-8.
errors()
{
	prove 0 says.t good.t last.t && last '3 passed, 0 failed, 0 skipped' &&
		grep -qx $'says \377 so' "$TAP_TMP/said"
}

named()
{
	selftests/prove "$1" >"$TAP_TMP/said" 2>&1
	grep -F "selftests/$2.t" "$TAP_TMP/said"
}

# A script that runs make causes no warnings, and uses no more than its share of
# jobs.
shares_jobs()
{
	printf 'all:\n\t+@selftests/prove %s\n' "$TEST_DIR/makes.t" \
		>"$TAP_TMP/Makefile"
	env -u MAKEFLAGS -u MAKELEVEL make -j2 -f "$TAP_TMP/Makefile" \
		>"$TAP_TMP/said" 2>&1
	cat "$TAP_TMP/said"
	! grep warning "$TAP_TMP/said" && last '1 passed, 0 failed, 0 skipped'
}

script good <<'END'
echo 'ok 1 - fine'
echo 1..1
END
script results <<'END'
echo '    ok 1 - sub'
echo '    not ok 2 - inner'
echo 'not ok 1 - outer'
echo 'ok 2 - other # SKIP no room'
echo 'ok 3 - third'
echo 1..3
END
script signal <<'END'
echo 'ok 1 - fine'
echo 1..1
kill -9 $$
END
script status <<'END'
echo 'ok 1 - fine'
echo 1..1
exit 3
END
script bails <<'END'
sleep 1
echo 'Bail out! no room'
END
script empty <<'END'
echo 1..0
END
for name in 'left right' 'right left'; do
	read -r here there <<<"$name"
	script "$here" <<-END
		: >"\$TEST_DIR/$here.here"
		for i in {1..100}; do
			[ -e "\$TEST_DIR/$there.here" ] && break
			sleep 0.1
		done
		[ -e "\$TEST_DIR/$there.here" ] || printf 'not '
		echo 'ok 1 - the other is there'
		echo 1..1
	END
done
script says <<'END'
echo $'says \377 so' >&2
for i in {1..100}; do
	[ -e "$TEST_DIR/last.here" ] && break
	sleep 0.1
done
[ -e "$TEST_DIR/last.here" ] || printf 'not '
echo 'ok 1 - the last one has started'
echo 1..1
END
script last <<'END'
: >"$TEST_DIR/last.here"
echo 'ok 1 - last'
echo 1..1
END
script waits <<'END'
trap : TERM
setsid sleep 5432 &
while :; do wait; done
END
script busy <<'END'
for ((i = 0; i < 200000; i++)); do :; done
echo 'ok 1 - busy'
echo 1..1
END
script makes <<'END'
printf 'all: a b\na b:\n\t@echo $@\n' >"$TEST_DIR/Makefile"
. selftests/variant.sh
build_in "$TEST_DIR" "$TEST_DIR" >"$TEST_DIR/log" 2>&1
[ "$(grep -x '[ab]' "$TEST_DIR/log" | sort | xargs)" = 'a b' ] || { cat "$TEST_DIR/log"; printf 'not '; }
echo 'ok 1 - makes'
echo 1..1
END

check 'results are counted' counts
check 'a script that does not end well fails' ended
check 'a script that stops the run' bails_out
check 'several folders' folders
check 'a run in which nothing passes fails' nothing_passed
check 'two scripts run side by side' side_by_side
check 'a script that has to run before others does' before right
check 'a script that writes to standard error stops no other one' errors
check 'elapsed and processor seconds' times
check 'a script that takes too long is ended' limits
check 'LIMIT that is not a number' complains 'LIMIT=x is not' 255 \
	env LIMIT=x selftests/prove faults
check 'TIMES that is no number' complains 'TIMES=x is not' 255 \
	env TIMES=x selftests/prove faults
check 'a script by its name' named faults host/faults
check 'a script by folder and name' named host/faults host/faults
check 'an unknown name' complains "'nosuch' is neither" 2 \
	selftests/prove nosuch
check 'an ambiguous name' complains 'say which' 2 selftests/prove ofi
check 'make shares its jobs' shares_jobs
plan
