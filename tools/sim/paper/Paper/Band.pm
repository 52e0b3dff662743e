# SPDX-License-Identifier: GPL-2.0-only
#
# Origins of parameters, from the simulator's own table; and bands: the results
# over the plausible range of the free parameters. Samples form a Latin
# hypercube: the range of each parameter is cut into as many parts as there are
# samples, and each part is used once, in a separate random order. The defaults
# are a further sample, as a default at an end of its range is in no other
# sample. Fitted parameters are fitted again for each sample, by the procedure
# of the report. Samples for which no value gives the published numbers are left
# out.

package Paper::Band;

use strict;
use warnings;
use List::Util qw(max min);
use POSIX qw(ceil);
use Paper::Plan;
use Paper::Run;

# Random numbers are the same in each run, because results are cached by command
# line.
my $state;

sub draw
{
	my ($below) = @_;

	$state = ($state * 1103515245 + 12345) % 2**31;
	return int($state / 2**31 * $below);
}

# Returns the rows of the simulator's table of origins.
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

# samples ROWS, COMMAND, COUNT: returns COUNT samples of the options of COMMAND,
# each a hash by name, and a last sample with the defaults.
sub samples
{
	my ($rows, $command, $count) = @_;
	my @samples = map { {} } 0 .. $count;

	$state = length($command) + $count;
	for my $row (@$rows) {
		my @order = (0 .. $count - 1);

		next if $row->{range} eq '' ||
			($row->{command} ne '' && $row->{command} ne $command);
		for my $i (reverse 1 .. $#order) {
			my $j = draw($i + 1);

			@order[$i, $j] = @order[$j, $i];
		}
		$samples[$_]{$row->{parameter}} =
			value_at($row->{range}, $order[$_], $count)
			for 0 .. $#order;
	}
	return @samples;
}

sub text_of
{
	my (%options) = @_;

	return join(' ', map { "--$_ $options{$_}" } sort keys %options);
}

# Returns the samples of each command.
sub all_samples
{
	my ($rows, $quick) = @_;

	return (coll => [samples($rows, 'coll', $quick ? 8 : 160)],
		heat2d => [samples($rows, 'heat2d', $quick ? 4 : 80)],
		spmv => [samples($rows, 'spmv', $quick ? 3 : 300)]);
}

# Fitted parameters are fitted again for each sample. The first simulations
# serve to find the PEGroup's time: each is a broadcast on eight nodes in which
# the PEGroup takes no time.
sub first_jobs
{
	my ($rows, $quick) = @_;
	my %samples = all_samples($rows, $quick);
	my @jobs;

	for my $command (sort keys %samples) {
		for my $i (0 .. $#{$samples{$command}}) {
			my %options = %{$samples{$command}[$i]};

			delete @options{qw(flop ranks step-overhead)};
			push @jobs, Paper::Plan::job("first-$command-$i",
				'coll --torus 2x2x2 --pegroup 0 ' .
				text_of(%options), cost => 0.05);
		}
	}
	return @jobs;
}

# Time in us that the PEGroup adds to a broadcast per cycle, at 500 MHz.
use constant CYCLE => 0.002;
# The largest number of cycles of the PEGroup that is tried.
use constant PEGROUP_MOST => 200;

# pegroup RUN, COMMAND, SAMPLE, WANT: the fewest cycles of the PEGroup for which
# the ratio on eight nodes is WANT, or nothing.
sub pegroup
{
	my ($run, $command, $sample, $want) = @_;
	my ($offload, $p2p) = map { $run->cell("first-$command-$sample", 'us',
					       mode => $_) } qw(offload p2p);

	for (0 .. PEGROUP_MOST) {
		return $_ if sprintf('%.2f', $p2p / ($offload + $_ * CYCLE)) eq $want;
	}
	return;
}

# Returns the jobs of the bands: all tori of figure 7, all numbers of nodes of
# figure 10; fewer rows and nodes than figure 9, with each routing. Samples that
# no time of the PEGroup fits are left out.
sub jobs
{
	my ($run, $rows, $ref, $quick) = @_;
	my %samples = all_samples($rows, $quick);
	my $sizes = join(',', @Paper::Plan::T3, @Paper::Plan::T4);
	my $to = $quick ? 4096 : 32768;
	my $spmv = $Paper::Plan::SPMV_BAND;
	my @jobs;

	$spmv =~ s/--to \d+/--to 32/ if $quick;
	for my $command (sort keys %samples) {
		for my $i (0 .. $#{$samples{$command}}) {
			my $cycles = pegroup($run, $command, $i,
					     $ref->{'bcast-8-3d'}{value}) // next;
			my $options = text_of(%{$samples{$command}[$i]},
					      pegroup => $cycles);

			push @jobs, $command eq 'coll' ?
				(map { Paper::Plan::job("band-$_-$i",
					"coll --op $_ --sizes $sizes $options")
				} qw(bcast allreduce)) :
				$command eq 'heat2d' ?
				Paper::Plan::job("band-heat2d-$i",
					"heat2d --from 2 --to $to $options " .
					'--step-overhead 0s', cost => 4) :
				map { Paper::Plan::job("band-spmv-$_-$i",
					"$spmv $options --routing $_", cost => 1.5)
				} qw(adaptive deterministic);
		}
	}
	return @jobs;
}

# band RUN, NAME, VALUE: least and greatest VALUE->(ID) of a band's jobs, or
# nothing without jobs.
sub band
{
	my ($run, $name, $value) = @_;
	my @values = grep { defined } map { $value->($_) }
		     $run->series("band-$name");

	return @values ? (min(@values), max(@values)) : ();
}

# Returns the band of an operation's ratio on a torus.
sub ratio
{
	my ($run, $op, $torus) = @_;

	return band($run, $op, sub { $run->ratio($_[0], $torus) });
}

# step_fit ROWS, WANT: returns the fixed time of a step, in us, for which the
# smallest number of cells has the gain WANT on the most nodes. gain = (step +
# messages) / (step + network). ROWS were simulated without a fixed time. A
# negative result means that no time fits.
sub step_fit
{
	my ($rows, $want) = @_;
	my ($row) = sort { $a->{cells} <=> $b->{cells} ||
			   $b->{nodes} <=> $a->{nodes} } @$rows;
	my ($compute, $network, $messages) =
		@$row{'compute us', 'offload us', 'p2p us'};

	return ($messages - $want * $network) / ($want - 1) - $compute;
}

# Returns the gains of a sample of the heat equation, by cells and nodes, or
# nothing if no fixed time fits. A quick run has fewer nodes, and the default
# time.
sub heat_gains
{
	my ($run, $ref, $quick, $id) = @_;
	my $rows = $run->answer($id)->{rows};
	my $fixed = $quick ? 9.5 : step_fit($rows, $ref->{'heat-40M'}{value});
	my %gain;

	return if $fixed < 0;
	for (@$rows) {
		my $step = $_->{'compute us'} + $fixed;

		$gain{$_->{cells}}{$_->{nodes}} = ($step + $_->{'p2p us'}) /
						  ($step + $_->{'offload us'});
	}
	return \%gain;
}

# Returns the band of the heat equation's gain.
sub heat
{
	my ($run, $ref, $quick, $cells, $nodes) = @_;

	return band($run, 'heat2d', sub {
		my $gain = heat_gains($run, $ref, $quick, $_[0]) // return;

		return $gain->{$cells}{$nodes};
	});
}

# Returns SpMV's gains in per cent, of all samples with a routing, in ascending
# order. No routing is fitted: the published gain is that of more nodes.
sub spmv_gains
{
	my ($run, $routing, $nodes) = @_;

	return sort { $a <=> $b } map {
		100 * ($run->cell($_, 'gain', nodes => $nodes) - 1)
	} $run->series("band-spmv-$routing");
}

# Returns the band of SpMV's gain in per cent, with a routing.
sub spmv
{
	return (spmv_gains(@_))[0, -1];
}

# quantiles SORTED, SHARE...: returns for each SHARE the least of the values that
# at least this share of them does not exceed.
sub quantiles
{
	my ($sorted, @shares) = @_;

	return map { $sorted->[max(0, ceil($_ * @$sorted) - 1)] } @shares;
}

# Returns the band of how often the heat equation's gain decreases from one
# number of nodes to the next.
sub heat_trend
{
	my ($run, $ref, $quick) = @_;

	return band($run, 'heat2d', sub {
		my $gain = heat_gains($run, $ref, $quick, $_[0]) // return;
		my $steps = 0;

		for my $by (values %$gain) {
			$steps += drops(map { $by->{$_} }
					sort { $a <=> $b } keys %$by);
		}
		return $steps;
	});
}

sub drops
{
	my @values = map { sprintf('%.3f', $_) } @_;

	return scalar grep { $values[$_] < $values[$_ - 1] } 1 .. $#values;
}

# Returns the numbers of nodes of SpMV's band.
sub spmv_nodes
{
	my ($run) = @_;
	my ($first) = $run->series('band-spmv-adaptive');

	return $first ? sort { $a <=> $b } map { $_->{nodes} }
			@{$run->answer($first)->{rows}} : ();
}

# Returns for each command: the number of samples, how many of them could be
# fitted, and the fitted values.
sub fitted
{
	my ($run, $ref, $quick) = @_;
	my @rows;

	for (['coll', 'bands of figure 7'], ['heat2d', 'band of figure 10'],
	     ['spmv', 'bands of SpMV, by routing']) {
		my ($command, $what) = @$_;
		my @all = $run->series("first-$command");
		my @cycles = map { pegroup($run, $command, s/.*-//r,
					   $ref->{'bcast-8-3d'}{value}) // () } @all;
		my ($good, $more) = (scalar @cycles, '');

		if ($command eq 'heat2d' && !$quick) {
			my @us = grep { $_ >= 0 } map {
				step_fit($run->answer($_)->{rows},
					 $ref->{'heat-40M'}{value})
			} $run->series('band-heat2d');

			$good = @us;
			$more = sprintf('; %.1f to %.1f us per step', min(@us), max(@us));
		}
		push @rows, [$what, scalar @all, $good,
			     min(@cycles) . ' to ' . max(@cycles) .
			     ' cycles of the PEGroup' . $more];
	}
	return @rows;
}

# Returns the number of simulations of the bands.
sub count
{
	my ($run) = @_;

	return scalar map { $run->series("band-$_") }
		qw(bcast allreduce heat2d spmv-adaptive spmv-deterministic);
}

1;
