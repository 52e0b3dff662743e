#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Two guests on one fabric, or four if LONG is set, which two servers form: options and
# exit statuses of tools/vm/cluster, and jobs over all guests with checked data, see
# selftests/guest/on-cluster. Some of these jobs run only if LONG is set. At the end one
# guest is killed during reductions.

set -u
. selftests/tap.sh

OUT=$TAP_TMP/out
ERR=$TAP_TMP/err
NEWEST=$(newest_kernel)
NODES=$(amount 2 4)
LOST=$((NODES / 2))

# ended STATUS: checks the exit status of a cluster; shows its output if it
# differs.
ended()
{
	echo "exit status $STATUS, expected $1; end of standard error:"
	tail -n 30 "$ERR"
	[ "$STATUS" = "$1" ]
}

cluster()
{
	STATUS=0
	tools/vm/cluster "$@" >"$OUT" 2>"$ERR" </dev/null || STATUS=$?
}

# refused NAME TEXT OPTION...: bad arguments get one line and status 2
refused()
{
	local name=$1 text=$2

	shift 2
	cluster "$@"
	{
		echo "exit status $STATUS"
		cat "$ERR"
	} >"$TAP_TMP/why"
	[ "$STATUS" = 2 ] && [ "$(wc -l <"$ERR")" = 1 ] &&
		grep -qF -- "$text" "$ERR"
	result $? "$name is refused"
}

# Kills one guest while the others compute.
killer()
{
	local pid

	until grep -q '^# now$' "$OUT" 2>/dev/null; do
		[ -e "$TAP_TMP/running" ] || return 0
		sleep 0.5
	done
	pgrep -fc -- "$PWD/build/guest-user/bin/angara-vfio .* --only [0-3]-[0-3] " \
		>"$TAP_TMP/servers"
	pid=$(cat "$TAP_TMP/pids/node$LOST") && kill -9 "$pid"
}

# Only the killed guest may print messages.
quiet()
{
	cat "$ERR"
	grep -q "^cluster: node $LOST has ended" "$ERR" &&
		! grep -qE "^run: |^node [^$LOST]: " "$ERR"
}

# Two servers have run, each with half of the cards.
two_servers()
{
	cat "$TAP_TMP/servers"
	[ "$(cat "$TAP_TMP/servers")" = 2 ]
}

# Servers with a key that is too short end at once.
dead_server()
{
	mkdir -p "$TAP_TMP/fake"
	printf '#!/bin/sh\necho 12\n' >"$TAP_TMP/fake/od"
	chmod +x "$TAP_TMP/fake/od"
	PATH=$TAP_TMP/fake:$PATH cluster --servers 2 -- true
	cat "$ERR"
	[ "$STATUS" = 1 ] && grep -q '32 to 128 hex' "$ERR" &&
		grep -qx 'cluster: angara-vfio [01] did not start' "$ERR"
}

nothing_left()
{
	! grep -ls "$TAP_TMP" build/vm/job.*/command build/vm/cluster.*/environment
}

check 'library, tools and tests build' tools/vm/build user
refused 'a torus of no nodes' 'makes 0 guests' --dims 2x0 -- true
refused 'a torus that is too large' 'makes 1024 guests' --dims 4x4x4x16 -- true
refused 'an invalid size' 'a size like 2x2x1' --dims 2x -- true
refused 'no process' 'from 1 to 999' --per-node 0 -- true
refused 'a kernel without a network' "'debug' has no network" --kernel debug -- true
refused 'a user who may not log in' "'nobody' may not log in" --user nobody -- true
refused 'an unknown option' "unknown option '--frob'" --frob
refused 'a command without --' "unexpected 'true'" true
refused 'no command and no terminal' 'must be a terminal' --dims 2
refused 'more servers than guests' '5 servers need as many guests' --servers 5 -- true
refused 'servers without cards' 'there is no server' --servers 2 --no-driver -- true
refused '--once without a command' 'needs a command' --once
refused '--once with --label' 'exclude each other' --once --label -- true
check 'a server that dies' dead_server

mkdir "$TAP_TMP/pids"
: >"$OUT"
: >"$TAP_TMP/running"
killer &
cluster --dims "2x$((NODES / 2))x1" --servers 2 --per-node 2 --timeout 1800 --grace 300 \
	--env "TEST=$TAP_TMP" --env "LONG=${LONG:-}" --env 'WORDS=two  words $' \
	--env FI_PROVIDER_PATH=/angara/build/guest-user/lib/libfabric \
	--pids "$TAP_TMP/pids" --once -- selftests/guest/on-cluster "$NODES"
rm "$TAP_TMP/running"
wait
sed 's/^/    /' "$OUT"
grep -q '^1\.\.' "$OUT" && ! grep -q '^not ok ' "$OUT"
result $? "jobs over $NODES guests"
check 'two servers, each with half of the cards' two_servers
check 'a guest that was killed ends the cluster with 125' ended 125
check 'the other guests and the kernels report no errors' quiet
check 'no files are left' nothing_left

# Guests without cards are faster.
# shellcheck disable=SC2016 # the guests' shells expand it
cluster --dims 2 --no-driver --label --user user --kernel "$NEWEST" -- \
	sh -c 'echo "$(id -un) $(uname -r | cut -d. -f1-2)"; exit $PMIX_RANK'
check 'the exit status of a job is that of its process' ended 1
check 'lines have labels, a user and a kernel are chosen' grep -qE \
	"^\\[[^]]*1\\].*: user ${NEWEST/./\\.}\$" "$OUT"
plan
