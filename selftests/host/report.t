#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# angaractl report: the page of a server's fabric is well formed, needs no other
# file, and shows each router, link and tree; bad input gets one line of error.
# angaractl top: the rates of its links.

set -u
. selftests/tap.sh
. selftests/vfio/server.sh

O=$VARIANTS/plain
DIR=$TAP_TMP/sockets
PAGE=$TAP_TMP/page.html
export LD_LIBRARY_PATH=$O/lib

build()
{
	variant plain libangara tools:bin/angaractl tools/vfio
}

ctl()
{
	"$O/bin/angaractl" --server "$DIR" "$@"
}

# counts N XPATH: the page has N of these elements.
counts()
{
	local got

	got=$(xmllint --xpath "count($2)" "$PAGE" 2>&1)
	echo "$2: $got, expected $1"
	[ "$got" = "$1" ]
}

e()
{
	echo "//*[local-name()='$1']${2:-}"
}

# page FABRIC ROUTERS LINKS: the page has these numbers. A link counts once in each direction.
page()
{
	server_start "$O/bin/angara-vfio" "$DIR" --fabric "$1" || return
	ctl report >"$PAGE" && xmllint --noout "$PAGE" &&
		counts "$2" "$(e circle)" && counts "$3" "$(e path)" &&
		counts "$3" "$(e path "[@class='up']")" && counts "$3" "$(e tr '[td]')" &&
		counts 1 "$(e h1)" && grep -q "Fabric ${1%%,*}" "$PAGE" &&
		! grep -qE '<(script|link|img|iframe)|(href|src)=|url\(' "$PAGE"
	local status=$?

	server_end "$DIR" && return "$status"
}

# No router is outside of the picture or covers another one.
places()
{
	local places

	server_start "$O/bin/angara-vfio" "$DIR" --fabric mkns:4x4 || return
	ctl report >"$PAGE" && server_end "$DIR" || return
	places=$(sed -n 's/.*<circle .* cx="\([^"]*\)" cy="\([^"]*\)".*/\1 \2/p' "$PAGE")
	echo "$places"
	[ "$(sort -u <<<"$places" | wc -l)" = "$(wc -l <<<"$places")" ] &&
		awk -v box="$(sed -n 's/.*viewBox="0 0 \([^"]*\)".*/\1/p;T;q' "$PAGE")" '
			BEGIN { split(box, size) }
			$1 < 9 || $2 < 9 || $1 > size[1] - 9 || $2 > size[2] - 9 { exit 1 }' \
			<<<"$places"
}

# opened OPTION: a browser opens the last page.
opened()
{
	timeout 120 chromium --headless --no-sandbox --disable-gpu --window-size=800,800 \
		--user-data-dir="$TAP_TMP/profile" "$1" "file://$PAGE"
}

# A browser reads all routers of the last page, and draws a page that is not empty.
browser()
{
	local picture=$TAP_TMP/page.png

	opened --dump-dom >"$TAP_TMP/dom" && opened --screenshot="$picture" || return
	wc -c "$picture"
	[ "$(grep -o '<circle' "$TAP_TMP/dom" | wc -l)" = "$(grep -c '<circle' "$PAGE")" ] &&
		[ "$(stat -c %s "$picture")" -gt 10000 ]
}

large()
{
	server_start "$O/bin/angara-vfio" "$DIR" --fabric torus:40x30 --only 0 || return
	ctl report >"$PAGE" && xmllint --noout "$PAGE" && counts 0 "$(e svg)" &&
		grep -q 'at most 1024 nodes' "$PAGE"
	local status=$?

	server_end "$DIR" && return "$status"
}

# An idle fabric has no rates. With -j, each reading is one line with one object.
live()
{
	server_start "$O/bin/angara-vfio" "$DIR" --fabric torus:4x4 || return
	ctl top count 2 >"$TAP_TMP/top" &&
		ctl -j top count 2 --all >"$TAP_TMP/top.json" && server_end "$DIR" || return
	cat "$TAP_TMP/top"
	[ "$(grep -c '^[0-9:.]* rates of 1\.[0-9] s; 0 of 64 links' "$TAP_TMP/top")" = 2 ] &&
		[ "$(wc -l <"$TAP_TMP/top.json")" = 2 ] &&
		perl -MJSON::PP -ne '$_ = decode_json($_);
			exit 1 if @{$_->{links}} != 64 || @{$_->{trees}};' "$TAP_TMP/top.json"
}

refused()
{
	says "$1" 2 "$O/bin/angaractl" "${@:2}"
}

check 'builds' build
if command -v xmllint >/dev/null; then
	check 'a torus' page torus:4x4x2 32 192
	check 'a torus of one dimension' page torus:5 5 10
	check 'nodes and switches' page kns:4x2 14 32
	check 'places of routers' places
	if command -v chromium >/dev/null; then
		check 'a browser shows the page' browser
	else
		skip 'a browser shows the page' 'needs chromium'
	fi
	check 'a fabric too large for a picture' large
else
	skip 'the page' 'needs xmllint (libxml2-utils)'
fi
check 'top' live
check 'refused: -j' refused 'does not take -j' -j report
check 'refused: another word' refused 'expected fabric ID' report torus
check 'refused: no ID' refused 'needs a value' report fabric
plan
