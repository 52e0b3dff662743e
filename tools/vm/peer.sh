# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What angara-vfio processes that form one fabric need: ports and a key.

# free_port: prints a port without a listener. If another process takes it before the
# caller does, try again.
free_port()
{
	local port

	port=$((10240 + RANDOM % 20000))
	while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((port + 1))
	done
	echo "$port"
}

# make_peer_key FILE: makes a key that all servers share, for --peer-key
make_peer_key()
{
	(umask 77 && od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n' >"$1")
}
