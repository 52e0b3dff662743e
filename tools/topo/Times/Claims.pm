# SPDX-License-Identifier: GPL-2.0-only
#
# Conclusions of document 001 about time, each with the numbers that confirm or
# refute it.

package Times::Claims;

use strict;
use warnings;
use List::Util qw(max min);
use Times::Plan;

# Formats ratios as text, "1.10 to 1.35".
sub range
{
	my @ratios = @_;
	my ($low, $high) = map { sprintf('%.2f', $_) } min(@ratios), max(@ratios);

	return $low eq $high ? $low : "$low to $high";
}

# Returns the value of another topology divided by the value of MKNS, at each
# size.
sub quotients
{
	my ($chapter, $kind, $value) = @_;

	return map { $value->($_, $kind) / $value->($_, 0) } @{$chapter->{sizes}};
}

# Judges that MKNS is ahead of each other topology; returns a row per topology.
# MKNS is ahead if the quotient is at least $least.
sub ahead
{
	my ($chapter, $text, $least, $value) = @_;

	return map {
		my @q = quotients($chapter, $_, $value);
		my $good = grep { $_ >= $least } @q;

		["$text $Times::Plan::KINDS[$_]", range(@q),
		 $good == @q ? 'confirmed' : $good ? 'at some sizes' :
		 'not confirmed'];
	} 1 .. $#Times::Plan::KINDS;
}

# Judges that times of a broadcast have the same quotient as the depths of the
# trees, within a tenth.
sub proportional
{
	my ($chapter, $text, $time, $length) = @_;

	return map {
		my $kind = $_;
		my @time = quotients($chapter, $kind, $time);
		my @length = quotients($chapter, $kind, $length);
		my $good = grep { abs($time[$_] / $length[$_] - 1) <= 0.1 }
			   0 .. $#time;

		["$text $Times::Plan::KINDS[$kind]",
		 range(@time) . ' for lengths of ' . range(@length),
		 $good == @time ? 'confirmed' : $good ? 'at some sizes' :
		 'not confirmed'];
	} 1 .. $#Times::Plan::KINDS;
}

sub claims
{
	my ($chapter) = @_;
	my $run = $chapter->{run};
	my $far = sub { $chapter->idle_of("pairs-$_[0]-$_[1]")->{ns} };
	my $hops = sub { $chapter->idle_of("pairs-$_[0]-$_[1]")->{hops} };
	my $tree = sub { $chapter->metrics($Times::Plan::FABRIC{$_[0]}[$_[1]][0])
			 ->{'tree diameter'} };
	my $bcast = sub { $chapter->us('bcast', 256, @_) };
	my $uniform = sub {
		1 / $chapter->saturation("order-uniform-$_[0]-$_[1]")->{accepted}
	};
	my $halves = sub {
		my $m = $chapter->metrics($Times::Plan::FABRIC{$_[0]}[$_[1]][0]);

		return $chapter->modules(@_) / $m->{bisection};
	};
	# Without METIS, angara-topo knows the bisections of small fabrics only.
	my $bisected = !grep {
		my $size = $_;

		grep { $chapter->metrics($_->[0])->{bisection} eq '-' }
			@{$Times::Plan::FABRIC{$size}}[0 .. $#Times::Plan::KINDS];
	} @{$chapter->{sizes}};
	# The delay that other packets add to the idle delay, at the load
	# closest to 0.3.
	my $waiting = sub {
		my @rows = @{$run->answer("curve-uniform-$_[0]-$_[1]")->{rows}};
		my ($near) = sort { abs($a->{load} - 0.3) <=> abs($b->{load} - 0.3) }
			     @rows;

		return $near->{'latency ns'} - $rows[0]{'latency ns'};
	};
	my @kns = map {
		$chapter->idle_of("pairs-$_-kns")->{mean} /
		$chapter->idle_of("pairs-$_-0")->{mean}
	} @{$chapter->{sizes}};

	$chapter->table(['conclusion', 'the other\'s number divided by that of MKNS',
			 'verdict'],
		ahead($chapter, 'less diameter, less delay: the farthest packet takes less than on',
		      1.001, $far),
		proportional($chapter, 'time is proportional to the length of the way: compared with',
			     $far, $hops),
		ahead($chapter, 'a shallower tree, a faster broadcast: faster than on',
		      1.001, $bcast),
		proportional($chapter, 'a broadcast takes time as the diameter of the spanning tree: compared with',
			     $bcast, $tree),
		ahead($chapter, 'shorter ways, fewer conflicts: at a load of 0.3 packets wait less than on',
		      1.001, $waiting),
		$bisected ? proportional($chapter,
			'the wider the bisection, the more traffic: modules per cable of it, compared with',
			$uniform, $halves) : (),
		['without switches in the first dimension less delay than KNS',
		 range(@kns), min(@kns) > 1 ? 'confirmed' : 'not confirmed']);
	$chapter->say('', '"At some sizes": it holds for some of the sizes. Times and lengths are ' .
		      'proportional if their quotients differ by a tenth at most; the traffic is ' .
		      'uniform, with the study\'s deterministic routing.');
}

1;
