#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink specification and uapi/linux/angara_nl.h have the same names and
# numbers. The driver and angara-vfio accept the attributes that the
# specification gives a request, with the same types and ranges, and put
# attributes of the right set and type into replies. The compiler evaluates the
# numbers of the header. The YAML parser covers what the specification uses:
# lists of "- name:" with scalar properties, so Perl needs no module for it.

use strict;
use warnings;
use File::Basename;
use File::Temp qw(tempdir);

my $top = dirname(__FILE__) . '/../..';
my $spec = "$top/Documentation/netlink/specs/angara.yaml";
my $cc = $ENV{CC} || 'cc';

my ($count, $failed) = (0, 0);

sub ok
{
	my ($good, $what, @why) = @_;
	$count++;
	$failed++ unless $good;
	print $good ? 'ok' : 'not ok', " $count - $what\n";
	print "# $_\n" for $good ? () : @why;
}

# Returns { section => [ { name, properties, parts => [...] } ] }: objects of
# the first level of each section, and in parts those of the second level.
sub read_spec
{
	my (%doc, $section, $object, $part, $way);

	open(my $in, '<', $spec) or die "$spec: $!\n";
	while (my $line = <$in>) {
		$line =~ s/\s+\z//;
		if ($line =~ /^([\w-]+):\s*(.*)$/) {
			($section, $object, $part) = ($1, undef, undef);
			$doc{$section} = length $2 ? $2 : [];
		} elsif ($line =~ /^( +)- name: (.+)$/) {
			my $new = { name => $2, parts => [], depth => length $1 };
			$way = undef;
			if (!$object || $new->{depth} <= $object->{depth}) {
				($object, $part) = ($new, undef);
				push @{$doc{$section}}, $object;
			} else {
				$part = $new;
				push @{$object->{parts}}, $part;
			}
		} elsif ($line =~ /^( +)([\w-]+): (.+)$/) {
			my $to = $part && length $1 > $part->{depth} ? $part : $object;
			$to->{$2} = $3 if $to;
			$doc{"$section/$2"} = $3 unless $object;
		} elsif ($line =~ /^ +(request|reply|event):$/ && $object) {
			$way = $1;
		} elsif ($line =~ /^ +- ([\w-]+)$/ && $object) {
			push @{$object->{uses}}, $1;
			$object->{$way}{$1} = 1 if $way;
		}
	}
	return \%doc;
}

sub text_of
{
	my ($file) = @_;
	open(my $in, '<', "$top/$file") or die "$file: $!\n";
	return join '', <$in>;
}

# Returns { command => { attribute => [ type, min, max ] } } from the tables of
# a server of the family: names and expressions of C, undef for a missing bound.
# The tables of commands name policies of the file or of the header that all
# servers share.
sub read_policies
{
	my ($file) = @_;
	my $source = text_of('driver/model/ang_nl_policy.h') . text_of($file);
	my (%policy, %of);

	while ($source =~ /struct nla_policy (\w+)\[\] = \{(.*?)\n\};/gs) {
		my ($name, $body) = ($1, $2);
		while ($body =~ /\[(\w+)\] = (.*?),?$/gm) {
			my ($attr, $rule) = ($1, $2);
			my @rule =
				$rule =~ /^\{ \.type = NLA_(\w+) \}$/ ? ($1) :
				$rule =~ /^NLA_POLICY_MIN\(NLA_(\w+), (.+)\)$/ ? ($1, $2) :
				$rule =~ /^NLA_POLICY_MAX\(NLA_(\w+), (.+)\)$/ ? ($1, undef, $2) :
				$rule =~ /^NLA_POLICY_RANGE\(NLA_(\w+), (.+), (.+)\)$/ ?
					($1, $2, $3) : ("not understood: $rule");
			$policy{$name}{$attr} = \@rule;
		}
	}
	$of{$1} = $policy{$2} // {}
		while $source =~ /ANG_NL_(?:GET|DO)\((ANGARA_CMD_\w+)[^()]*?(\w+)\),/gs;
	$of{$1} = $policy{$2} // {}
		while $source =~ /\[(ANGARA_CMD_\w+)\] = FORM\((\w+)\),/g;
	return \%of;
}

# Returns the attributes that a function puts into a message: [ function, type,
# name ].
sub puts_of
{
	my ($file) = @_;
	my @puts;

	for my $body (text_of($file) =~ /^(\w[^\n;]*\([^;{}]*\)\n\{\n(?:.*?\n)??\})/gms) {
		my ($function) = $body =~ /(\w+)\(/;
		while ($body =~ /\b(?:nla_put|put)_(\w+?)(?:_64bit)?\(\w+,\s*((?-i)ANGARA_A_\w+)/gi) {
			push @puts, [ $function, lc $1, $2 ];
		}
	}
	return @puts;
}

sub c_name
{
	my ($name) = @_;
	$name =~ tr/a-z-/A-Z_/;
	return $name;
}

# Asks the compiler for the values of expressions.
sub values_of
{
	my @expressions = @_;
	my $dir = tempdir(CLEANUP => 1);

	open(my $out, '>', "$dir/v.c") or die "$dir/v.c: $!\n";
	print $out "#include <stdio.h>\n#include \"ang_hw.h\"\n",
		"#include \"ang_nl_attrs.h\"\nint main(void)\n{\n";
	print $out "\tprintf(\"%ld\\n\", (long)($_));\n" for @expressions;
	print $out "}\n";
	close($out);
	system($cc, "-I$top/uapi", "-I$top/driver/model",
		'-o', "$dir/v", "$dir/v.c") == 0
		or return ();
	chomp(my @values = `$dir/v`);
	return map { $expressions[$_] => $values[$_] } 0 .. $#expressions;
}

# Returns the names in the header that have this prefix, except bounds of lists.
sub header_names
{
	my ($prefix) = @_;
	open(my $in, '<', "$top/uapi/linux/angara_nl.h") or die "angara_nl.h: $!\n";
	my %names = map { $_ => 1 } join('', <$in>) =~
		/^(?:\t|#define\s+)($prefix\w+)\b/mg;
	return grep { !/_(UNSPEC|MAX)$/ } sort keys %names;
}

my $doc = read_spec();
my %want;

for my $def (@{$doc->{definitions}}) {
	my $next = 0;
	for my $entry (@{$def->{parts}}) {
		$next = $entry->{value} if defined $entry->{value};
		$want{c_name("$def->{'name-prefix'}$entry->{name}")} = $next++;
	}
}

my %sets = map { $_->{name} => $_ } @{$doc->{'attribute-sets'}};
for my $set (values %sets) {
	my $next = 1;
	for my $attr (@{$set->{parts}}) {
		$next = $attr->{value} if defined $attr->{value};
		$want{c_name("$set->{'name-prefix'}$attr->{name}")} = $next++;
	}
}
# Attributes of a set by name, and by their names in C.
my %attributes = map {
	my $set = $_;
	$set->{name} => { map { $_->{name} => $_ } @{$set->{parts}} };
} values %sets;
my %known = map {
	my $set = $_;
	map { c_name("$set->{'name-prefix'}$_->{name}") => { %$_, set => $set->{name} } }
		@{$set->{parts}};
} values %sets;

# Sets of objects have the same first attributes: code uses the numbers
# ANG_NL_*.
my %of_set = (dev => [qw(pad id node fabric nodes)],
	      fabric => [qw(pad dev node id nodes)],
	      event => [qw(pad dev node fabric type)]);
for my $name (sort grep { !/-counters$/ } keys %sets) {
	my @want = @{$of_set{$name} // [qw(pad dev node fabric id)]};
	my @have = map { $_->{name} } @{$sets{$name}{parts}}[0 .. 4];
	ok("@have" eq "@want", "the set $name begins with where its object is", "@have");
}
$want{"ANG_NL_$_->[0]"} = $_->[1]
	for ['PAD', 1], ['DEV', 2], ['NODE', 3], ['FABRIC', 4], ['ID', 5];

my $next = 1;
for my $op (@{$doc->{operations}}) {
	$next = $op->{value} if defined $op->{value};
	$want{c_name("$doc->{'operations/name-prefix'}$op->{name}")} = $next++;
}

my %servers = (driver => read_policies('driver/netlink.c'),
	       'angara-vfio' => read_policies('tools/vfio/show.c'));
my %bounds = map { $_ => 1 } grep { defined }
	map { @{$_}[1, 2] } map { values %$_ } map { values %$_ } values %servers;

my %have = values_of(sort keys %want, keys %bounds);
ok(scalar %have, 'the header compiles and knows every name of the specification');
for my $name (sort keys %want) {
	my $value = $have{$name} // 'none';
	ok($value eq $want{$name}, "$name is $want{$name}",
	   "the header has $value");
}

for my $prefix ('ANGARA_A_', 'ANGARA_CMD_', 'ANGARA_AEV_', 'ANGARA_NLE_') {
	for my $name (header_names($prefix)) {
		ok(exists $want{$name}, "$name is in the specification");
	}
}

for my $op (@{$doc->{operations}}) {
	my $set = $attributes{$op->{'attribute-set'} // ''} // {};
	my @unknown = grep { !$set->{$_} } @{$op->{uses}};
	ok(!@unknown, "attributes of $op->{name} exist", "unknown: @unknown");
}

# Returns the elements of a list that a macro of the device model defines.
sub list_of
{
	my ($file, $macro) = @_;
	open(my $in, '<', "$top/driver/model/$file") or die "$file: $!\n";
	my ($list) = join('', <$in>) =~ /^#define $macro \{(.*?)\}/ms;
	return map { $_ eq 'NULL' ? 0 : $_ } ($list // '') =~ /(\w+)/g;
}

# Counters: the specification and the device's interface have the same names,
# and the words of a counter set have the right attributes.
for my $kind (['node', 'NODE'], ['port', 'LINK'], ['tree', 'TREE'], ['ctx', 'CTX']) {
	my ($object, $hw) = @$kind;
	my $counters = $sets{"$object-counters"} // { parts => [] };
	my $outer = $attributes{$object eq 'node' ? 'dev' : $object}{counters} // {};
	my @names = list_of('ang_hw.h', "ANGARA_${hw}_COUNTER_NAMES");
	my @words = list_of('ang_nl_attrs.h', 'ANG_' . uc($object) . '_COUNTER_ATTRS');
	my @spec = map { $_->{name} =~ tr/-/_/r } @{$counters->{parts}};
	my @attrs = map { $_ ? 'ANGARA_A_' . uc("${object}_counter_$_") : 0 } @names;

	ok($outer->{type} eq 'nest' && $outer->{'nested-attributes'} eq "$object-counters",
	   "$object-counters is a nest");
	ok("@spec" eq join(' ', 'pad', grep { $_ } @names),
	   "$object-counters has the names of the device's interface", "@spec");
	ok("@words" eq "@attrs", "words of $object-counters have their attributes",
	   "@words");
	ok(!(grep { $_->{type} ne ($_->{name} eq 'pad' ? 'pad' : 'u64') } @{$counters->{parts}}),
	   "$object-counters are u64");
}

# Returns the type and the range of a rule as text.
sub rule_text
{
	my ($type, $min, $max) = @_;
	return join ' ', lc($type), map { $_ // '-' } $min, $max;
}

sub compare_policies
{
	my ($server, $policies, @commands) = @_;

	for my $op (@commands) {
		my $prefix = $sets{$op->{'attribute-set'}}{'name-prefix'};
		my $command = c_name("$doc->{'operations/name-prefix'}$op->{name}");
		my $policy = delete $policies->{$command} // {};
		my %spec = map { c_name("$prefix$_") => 1 } keys %{$op->{request}};

		for my $name (sort keys %{{ %spec, %$policy }}) {
			my $attr = $known{$name} // {};
			my $want = $spec{$name} ?
				rule_text(@{$attr}{qw(type min max)}) : 'refused';
			my ($type, @bounds) = @{$policy->{$name} // ['refused']};
			my $have = $policy->{$name} ?
				rule_text($type, map { defined $_ ? $have{$_} : undef } @bounds[0, 1]) :
				'refused';
			ok($want eq $have, "$server: $command takes $name: $want",
			   "the $server: $have");
		}
	}
	ok(!%$policies, "$server: every command is in the specification",
	   sort keys %$policies);
}

# angara-vfio has only the commands that read.
my @read = grep { $_->{name} =~ /-(get|check)$/ } @{$doc->{operations}};
compare_policies('driver', $servers{driver}, @{$doc->{operations}});
compare_policies('angara-vfio', $servers{'angara-vfio'}, @read);

# Replies: the functions that fill them, with their sets.
my %fills = (dev_fill => 'dev', fabric_fill => 'fabric', port_fill => 'port',
	     link_fill => 'port', put_link => 'port', tree_fill => 'tree', put_row => 'tree',
	     ctx_fill => 'ctx', check_fill => 'check', check_reply => 'check',
	     event_fill => 'event');
for my $file (qw(driver/netlink.c driver/netlink_get.c driver/event.c tools/vfio/show.c)) {
	my @puts = puts_of($file);

	ok(@puts > 5, "$file puts attributes into messages", scalar @puts);
	for my $put (@puts) {
		my ($function, $type, $name) = @$put;
		my $attr = $known{$name} // { set => 'none', type => 'none' };
		my $set = $fills{$function} // 'not known';

		$type = 'nest' if $type eq 'counters';
		ok($attr->{set} eq $set && $attr->{type} eq $type,
		   "$file: $function() puts $name as $type into the set $set",
		   "it is $attr->{type} of $attr->{set}");
	}
}

my %text = ( ANGARA_GENL_NAME => $doc->{name},
	     ANGARA_GENL_MCGRP => $doc->{'mcast-groups'}[0]{name},
	     ANGARA_GENL_MCGRP_ADMIN => $doc->{'mcast-groups'}[1]{name} );
open(my $header, '<', "$top/uapi/linux/angara_nl.h") or die "angara_nl.h: $!\n";
my $source = join '', <$header>;
for my $name (sort keys %text) {
	ok($source =~ /^#define $name\s+"\Q$text{$name}\E"$/m,
	   "$name is \"$text{$name}\"");
}

print "1..$count\n";
exit($failed ? 1 : 0);
