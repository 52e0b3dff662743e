# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Starts and ends an angara-vfio for tests, which have sourced tap.sh.

. selftests/variant.sh
. tools/vm/peer.sh

CLIENT=$VARIANTS/tests/tests/vfio-client
SERVER_PID=
# The key of t_manage.c
MANAGE_KEY=0x1122334455667788
# Limits on which the cases rely.
# shellcheck disable=SC2034 # for scripts that source this one
LIMITS=(--max-memory 1G --max-maps 65535)
# A sanitizer's report must end the server, with its own status.
export ASAN_OPTIONS=abort_on_error=0:exitcode=99 TSAN_OPTIONS=exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99

# However the test ends, no server is left: a server is killed when the shell that
# started it ends, or when the next server is started.
server_kill()
{
	[ -n "$SERVER_PID" ] || return 0
	kill -9 "$SERVER_PID" 2>/dev/null && wait "$SERVER_PID" 2>/dev/null
	SERVER_PID=
}
trap 'server_kill; rm -rf "$TAP_TMP"' EXIT

# server_start PROGRAM FOLDER [OPTION]...: starts a server; returns when the server is ready.
server_start()
{
	local program=$1 dir=$2 waited=0

	shift 2
	mkdir -p "$dir"
	echo "$MANAGE_KEY" >"$dir.key"
	: >"$dir.out"
	server_kill
	setpriv --pdeathsig KILL "$program" --socket-dir "$dir" "$@" \
		>"$dir.out" 2>"$dir.log" &
	SERVER_PID=$!
	until [ -s "$dir.out" ]; do
		if ! kill -0 "$SERVER_PID" 2>/dev/null || [ "$waited" -gt 600 ]; then
			cat "$dir.log"
			server_kill
			return 1
		fi
		waited=$((waited + 1))
		sleep 0.1
	done
}

# server_end FOLDER: ends the server; succeeds if its exit status is 0 and FOLDER is empty.
server_end()
{
	local dir=$1 status=0

	kill "$SERVER_PID" || return
	wait "$SERVER_PID" || status=$?
	SERVER_PID=
	if [ $status != 0 ]; then
		echo "the server's exit status is $status"
		tail -n 60 "$dir.log"
		return 1
	fi
	if compgen -G "$dir/*" >/dev/null; then
		echo "left behind: $(ls "$dir")"
		return 1
	fi
}

# client FOLDER CASE: runs one case, in a process of its own.
client()
{
	VFIO_DIR=$1 VFIO_PID=$SERVER_PID VFIO_LOG=$1.log \
		timeout 400 "$CLIENT" "$2"
}

client_build()
{
	variant tests selftests/vfio
}
