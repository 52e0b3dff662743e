#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh PROGRAM...: runs test programs one after the other, each in its own
# folder and with a timeout, and prints KTAP like the kernel's own runner, for
# systems without that runner.

here=$(dirname "$0")
limit=$(sed -n 's/^timeout=//p' "$here/settings" 2>/dev/null)
number=0
bad=0

# one PROGRAM: prints its output as comments, then its result.
one()
{
	name=$(basename "$1")
	number=$((number + 1))
	echo "# selftests: drivers/angara: $name"
	status=$(
		{
			{
				cd "$(dirname "$1")" || exit 1
				timeout -k 5 "${limit:-300}" "./$name" 2>&1 3>&-
				echo $? >&3
			} | sed 's/^/# /' >&4
		} 3>&1
	) 4>&1
	case $status in
	0) why= ;;
	4) why=' # SKIP' ;;
	124) why=' # TIMEOUT' ;;
	*) why=" # exit=$status" ;;
	esac
	case $status in
	0 | 4) echo "ok $number selftests: drivers/angara: $name$why" ;;
	*)
		bad=$((bad + 1))
		echo "not ok $number selftests: drivers/angara: $name$why"
		;;
	esac
}

if [ $# = 0 ]; then
	echo "usage: run.sh PROGRAM..." >&2
	exit 2
fi
echo 'TAP version 13'
echo "1..$#"
for program; do
	one "$program"
done
[ "$bad" = 0 ]
