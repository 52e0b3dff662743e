# SPDX-License-Identifier: GPL-2.0-only
#
# Origins of parameters, from the simulator's own table; and bands: the results
# over the plausible range of the free parameters. Samples form a Latin
# hypercube: the range of each parameter is cut into as many parts as there are
# samples, and each part is used once, in a separate random order. The defaults
# are a further sample, as a default at an end of its range is in no other
# sample.

package Paper::Band;

use strict;
use warnings;
use List::Util qw(max min);
use Paper::Plan;
use Paper::Run;

# Random numbers are the same in each run, as results are cached by command
# line.
my $state;

sub draw
{
	my ($below) = @_;

	$state = ($state * 1103515245 + 12345) % 2**31;
	return int($state / 2**31 * $below);
}

# Rows of the table of origins.
sub origins
{
	my ($sim) = @_;

	open(my $pipe, '-|', $sim, 'params', '--origins', '--format', 'csv') or
		die "paper: $sim: $!\n";
	local $/;
	my $rows = Paper::Run::rows(<$pipe> // '');

	close($pipe) or die "paper: $sim params --origins failed\n";
	return $rows;
}

# The value at part $part of $parts of a range.
sub value_at
{
	my ($range, $part, $parts) = @_;
	my @choices = split(/\|/, $range);

	return $choices[int($part * @choices / $parts)] if @choices > 1;
	my ($least, $unit, $most) = $range =~ /^(\d+)([a-zA-Z]*)\.\.(\d+)\2$/ or
		die "paper: '$range': neither A..B nor A|B\n";

	return int($least + ($most - $least + 1) * ($part + 0.5) / $parts) .
	       $unit;
}

# samples ROWS, COMMAND, COUNT: options of each sample of a command; the last has
# the defaults.
sub samples
{
	my ($rows, $command, $count) = @_;
	my @samples = map { [] } 1 .. $count;

	$state = length($command) + $count;
	for my $row (@$rows) {
		my @order = (0 .. $count - 1);

		next if $row->{range} eq '' ||
			($row->{command} ne '' && $row->{command} ne $command);
		for my $i (reverse 1 .. $#order) {
			my $j = draw($i + 1);

			@order[$i, $j] = @order[$j, $i];
		}
		push @{$samples[$_]}, "--$row->{parameter}",
			value_at($row->{range}, $order[$_], $count)
			for 0 .. $#order;
	}
	return ((map { join(' ', @$_) } @samples), '');
}

# Jobs: all tori of figure 7, all numbers of nodes of figure 10, fewer rows and
# nodes than figure 9.
sub jobs
{
	my ($rows, $quick) = @_;
	my @coll = samples($rows, 'coll', $quick ? 4 : 200);
	my @heat = samples($rows, 'heat2d', $quick ? 2 : 60);
	my @spmv = samples($rows, 'spmv', $quick ? 2 : 24);
	my $command = $Paper::Plan::SPMV_BAND;

	$command =~ s/--to \d+/--to 32/ if $quick;
	my $sizes = join(',', @Paper::Plan::T3, @Paper::Plan::T4);
	my $to = $quick ? 4096 : 32768;
	my @jobs;

	for my $op (qw(bcast allreduce)) {
		push @jobs, map { Paper::Plan::job("band-$op-$_",
			"coll --op $op --sizes $sizes $coll[$_]") } 0 .. $#coll;
	}
	push @jobs, map { Paper::Plan::job("band-heat2d-$_",
		"heat2d --from 2 --to $to $heat[$_]", cost => 4) } 0 .. $#heat;
	push @jobs, map { Paper::Plan::job("band-spmv-$_",
		"$command $spmv[$_]", cost => 20) } 0 .. $#spmv;
	return @jobs;
}

# band RUN, NAME, VALUE: least and greatest VALUE->(ID) of a band's jobs, or
# nothing without jobs.
sub band
{
	my ($run, $name, $value) = @_;
	my @values = map { $value->($_) } $run->series("band-$name");

	return @values ? (min(@values), max(@values)) : ();
}

# Band of the ratio on a torus.
sub ratio
{
	my ($run, $op, $torus) = @_;

	return band($run, $op, sub { $run->ratio($_[0], $torus) });
}

# Band of the heat equation's gain.
sub heat
{
	my ($run, $cells, $nodes) = @_;

	return band($run, 'heat2d', sub {
		$run->cell($_[0], 'gain', cells => $cells, nodes => $nodes) });
}

# Band of SpMV's gain in per cent.
sub spmv
{
	my ($run, $nodes) = @_;

	return band($run, 'spmv', sub {
		100 * ($run->cell($_[0], 'gain', nodes => $nodes) - 1) });
}

# Band of how often an application's gain decreases from one number of nodes to
# the next.
sub trend
{
	my ($run, $name) = @_;

	return band($run, $name, sub {
		my (%last, $steps);

		for (sort { $a->{nodes} <=> $b->{nodes} } @{$run->answer($_[0])->{rows}}) {
			my $before = \$last{$_->{cells} // ''};

			$steps += defined $$before && $_->{gain} < $$before;
			$$before = $_->{gain};
		}
		return $steps // 0;
	});
}

# Numbers of nodes of SpMV's band.
sub spmv_nodes
{
	my ($run) = @_;
	my ($first) = $run->series('band-spmv');

	return $first ? sort { $a <=> $b } map { $_->{nodes} }
			@{$run->answer($first)->{rows}} : ();
}

# Number of simulations of the bands.
sub count
{
	my ($run) = @_;

	return scalar map { $run->series("band-$_") }
		qw(bcast allreduce heat2d spmv);
}

1;
