#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rules that let one device model run in all its hosts: no dependencies, no
# state, no knowledge of a host.

set -u
. selftests/tap.sh

MODEL=${MODEL:-driver/model}
FLAGS=(-std=gnu11 -O2 -ffreestanding -mgeneral-regs-only -fno-stack-protector
	-fno-pie -Wall -Wextra -Wno-unused-parameter
	-I"$MODEL" -Ilibangara/env -Iuapi)

# build COMPILER FOLDER [FLAG]...: compiles every file of the model.
build()
{
	local cc=$1 out=$2

	shift 2
	mkdir -p "$out"
	# shellcheck disable=SC2016 # the inner shell expands these
	printf '%s\n' "$MODEL"/*.c | xargs -P2 -I{} sh -c '
		cc=$1 out=$2 file=$3
		shift 3
		$cc "$@" -c -o "$out/$(basename "$file" .c).o" "$file"
	' build "$cc" "$out" {} "${FLAGS[@]}" "$@"
}

undefined()
{
	ld -r -o "$TAP_TMP/model.o" "$TAP_TMP"/gcc/*.o &&
		nm -u "$TAP_TMP/model.o" |
		awk '{ print $2 }' | grep -vxE 'memcpy|memset|memmove|memcmp'
}

# Prints symbols of .data, .bss or common; constant tables are in .rodata.
mutable()
{
	nm -A "$TAP_TMP"/gcc/*.o | grep -E ' [DdBbCGgSs] '
}

# Netlink servers share ang_nl_*.h, which no file of the model includes.
includes()
{
	grep -n '^[[:space:]]*#[[:space:]]*include' "$MODEL"/*.[ch] |
		grep -v '^[^:]*/ang_nl_[a-z]*\.h:' |
		grep -vE ':#include ("ang_(env|hw|mgmt|model|work|pkt|area|fault|lane|port|tree|types|rules|int|topo|topo_int)\.h"|<linux/angara(_mgmt|_nl)?\.h>)$'
}

# Prints preprocessor conditions, except a header's include guard.
conditions()
{
	local file guard

	for file in "$MODEL"/*.[ch]; do
		[[ $file == */ang_nl_*.h ]] && continue
		guard=$(basename "$file" .h | tr '[:lower:]' '[:upper:]')_H
		grep -nE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif|else)' \
			"$file" | grep -v ":#ifndef $guard\$" |
			sed "s|^|$file:|"
	done
}

# Drops lines of comments from what grep -n found.
in_code()
{
	grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)'
}

floats()
{
	grep -nwE 'float|double|_Float[0-9]+|__int128' "$MODEL"/*.[ch] | in_code
}

# Prints calls of functions that only hosts may use.
hosts()
{
	grep -nE '__KERNEL__|\b(malloc|calloc|free|k[mz]alloc|printk|printf|spin_lock|mutex_|pthread_|time|rand)[[:space:]]*\(' \
		"$MODEL"/*.[ch] | in_code
}

long_files()
{
	wc -l "$MODEL"/*.[ch] | awk '$2 != "total" && $1 > 800'
}

long_functions()
{
	awk '/^{/ { start = FNR }
		/^}/ && start && FNR - start > 80 {
			print FILENAME ":" start ": over 80 lines"
		}
		/^}/ { start = 0 }' "$MODEL"/*.[ch]
}

# Prints cycles of calls in GCC's call graph. A call by pointer calls either an
# operation of the host, which must not call the model, or any function in a table.
cycles()
{
	local out=$TAP_TMP/graph

	# ccache does not keep the files of the call graph.
	CCACHE_DISABLE=1 build gcc "$out" -O0 -fcallgraph-info || return 2
	cat "$out"/*.ci | perl -e '
		use strict;
		my (%to, %state);
		my @tables = split /\n/, $ENV{TABLES};
		my $host_calls = 0;

		sub source {
			my ($file, $line) = @_;
			open(my $f, "<", $file) or die "$file: $!\n";
			my @lines = <$f>;
			return $lines[$line - 1];
		}
		sub by_host { return source(@_) =~ /\bops->[a-z0-9_]+\(/ }
		sub by_kind { return $_[0] =~ /ang_topo/ }
		while (<>) {
			next unless /^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^"]+):(\d+):\d+"/;
			my ($from, $callee, $file, $line) = ($1, $2, $3, $4);
			s/.*:// for $from, $callee;
			if ($callee ne "__indirect_call") {
				push @{$to{$from}}, $callee;
			} elsif (by_kind($file, $line)) {
				my ($member) = source($file, $line) =~ /->([a-z_]+)\(/;
				push @{$to{$from}}, grep { /_$member$/ }
					split /\n/, $ENV{KINDS};
			} elsif (by_host($file, $line)) {
				$host_calls++;
			} else {
				push @{$to{$from}}, @tables;
			}
		}
		sub visit {
			my ($f, @way) = @_;
			if (($state{$f} // 0) == 1) {
				print join(" -> ", @way, $f), "\n";
				return;
			}
			return if $state{$f};
			$state{$f} = 1;
			visit($_, @way, $f) for @{$to{$f} || []};
			$state{$f} = 2;
		}
		die "less than 50 functions of the model with calls are found\n" if keys %to < 50 || $host_calls < 10;
		die "less than 10 tables of functions are found\n" if @tables < 10;
		die "the kinds of topologies are not found\n" if $ENV{KINDS} !~ /_peer/;
		visit($_) for sort keys %to;'
}

# Prints the functions whose address a table takes.
tables()
{
	grep -ohE '(=|\{)[[:space:]]*(adm|combine)_[a-z0-9_]+,' "$MODEL"/*.c |
		grep -oE '[a-z][a-z0-9_]+'
}

# Prints the functions of the kinds of topologies.
kinds()
{
	sed -n 's/^\t\.[a-z_]* = \([a-z][a-z0-9_]*\),$/\1/p' "$MODEL"/ang_topo*.c
}

# Prints symbols that angara.ko exports but that neither angara_loop.ko nor the
# KUnit tests use. angara_loop.ko has all of the model except topologies and
# rules of trees.
unused_exports()
{
	local symbols symbol

	symbols=$(sed -n 's/^ANG_EXPORT(\(.*\));$/\1/p' driver/*.c)
	[ -n "$symbols" ] || echo 'no exports found'
	find "$TAP_TMP/gcc" -name '*.o' ! -name 'ang_topo*.o' ! -name ang_tree.o \
		-exec nm -u {} + | awk '{ print $2 }' >"$TAP_TMP/needed"
	for symbol in $symbols; do
		grep -qxF "$symbol" "$TAP_TMP/needed" ||
			grep -qE "\b$symbol\(" driver/loop/*.c driver/tests/*.c ||
			echo "$symbol: exported but not used"
	done
}

# empty NAME COMMAND: passes if COMMAND prints nothing.
empty()
{
	"$2" >"$TAP_TMP/why" 2>&1
	[ ! -s "$TAP_TMP/why" ]
	result $? "$1"
}

silent 'it compiles freestanding, without floating point registers' \
	build gcc "$TAP_TMP/gcc"
if command -v clang >/dev/null; then
	silent 'it compiles with clang, too' build clang "$TAP_TMP/clang" \
		-Wno-c2x-extensions
else
	skip 'it compiles with clang, too' 'no clang on this machine'
fi
TABLES=$(tables)
KINDS=$(kinds)
export TABLES KINDS
empty 'it needs memcpy, memset, memmove, memcmp and nothing else' undefined
empty 'it has no writable static data' mutable
empty 'it includes ang_env.h, UAPI and its own headers only' includes
empty 'it has no conditions on its host' conditions
empty 'it has no floating point' floats
empty 'it names no host function' hosts
empty 'no function calls itself, directly or indirectly' cycles
empty 'the driver exports nothing that no other module uses' unused_exports
empty 'no file is over 800 lines' long_files
empty 'no function is over 80 lines' long_functions
plan
