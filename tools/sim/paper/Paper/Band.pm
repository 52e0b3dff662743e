# SPDX-License-Identifier: GPL-2.0-only
#
# Origins of parameters, from the simulator's own table; and bands: the results
# over the plausible range of the chosen and free parameters, of rules that an option changes,
# and of a given rule from which the default departs. Samples form a Latin
# hypercube: the range of each parameter is cut into as many parts as there are
# samples, and each part is used once, in a separate random order. The defaults
# are a further sample, as a default at an end of its range is in no other
# sample. Fitted parameters are fitted again for each sample, by the procedure
# of the report. Samples for which no value gives the published numbers are left
# out.

package Paper::Band;

use strict;
use warnings;
use List::Util qw(first max min);
use POSIX qw(ceil);
use Paper::Plan;
use Paper::Run;

# Rules that an option changes, by command. SpMV's trees always have wrap-around
# links, as the torus of its messages has them, and 16 roots.
our %RULES = (coll => [qw(wrap-around root)], heat2d => [qw(wrap-around root)],
	      spmv => ['stripe']);
# The values of these rules that are not the default.
use constant {MESH => 'none', MIDDLE => 'middle', STRIPED => 'a block on all trees'};

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

# Returns the value that a range has in part $part of its $parts equal parts.
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

# Does a row of the table of origins belong to the samples of a command?
sub is_sampled
{
	my ($row, $command) = @_;

	return if $row->{range} eq '';
	return $row->{command} eq '' || $row->{command} eq $command ||
	       ($row->{command} eq 'rule' &&
		grep { $_ eq $row->{parameter} } @{$RULES{$command}});
}

# samples ROWS, COMMAND, COUNT: returns COUNT samples of the options and rules of
# COMMAND, each a hash by name, and a last sample with the defaults.
sub samples
{
	my ($rows, $command, $count) = @_;
	my @samples = map { {} } 0 .. $count;

	$state = length($command) + $count;
	for my $row (grep { is_sampled($_, $command) } @$rows) {
		my @order = (0 .. $count - 1);

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

# Returns the options of a sample, except those of a tree without wrap-around links,
# which mesh_options adds.
sub text_of
{
	my (%options) = @_;
	my $striped = ($options{stripe} // '') eq STRIPED;

	delete @options{'wrap-around', 'root', 'stripe'};
	return join(' ', ($striped ? '--stripe' : ()),
		    map { "--$_ $options{$_}" } sort keys %options);
}

# mesh_options TORUS, SAMPLE: returns the options of a tree without wrap-around
# links: TORUS is a block in a torus that is twice as large in each dimension.
sub mesh_options
{
	my ($torus, $sample) = @_;
	my $outer = Paper::Plan::doubled($torus);

	return "--torus $outer --block $torus" .
	       ($sample->{root} eq MIDDLE ?
		' --root ' . Paper::Plan::middle($outer, $torus) : '');
}

# mesh_jobs OP, NAME, SAMPLE, TORI, OPTIONS: returns the jobs of a sample without
# wrap-around links. Tori of at most two nodes along each dimension have no jobs: as
# a ring of two nodes is a line, they are the same as a mesh.
sub mesh_jobs
{
	my ($op, $name, $sample, $tori, $options) = @_;

	return if ($sample->{'wrap-around'} // '') ne MESH;
	return map { Paper::Plan::job("mesh-$name-" . Paper::Plan::dims($_),
			"coll --op $op $options " . mesh_options($_, $sample),
			cost => Paper::Plan::nodes($_) / 1e4)
	} grep { /[3-9]|1\d/ } @$tori;
}

# Returns the samples of each band.
sub all_samples
{
	my ($rows, $quick) = @_;

	return (coll => [samples($rows, 'coll', $quick ? 8 : 120)],
		heat2d => [samples($rows, 'heat2d', $quick ? 4 : 80)],
		map { $_->{name} => [samples($rows, 'spmv', $_->{samples})] }
		Paper::Plan::spmv_bands($quick));
}

# Fitted parameters are fitted again for each sample. The first simulations
# serve to find the PEGroup's time: each is a broadcast on eight nodes in which
# the PEGroup takes no time.
sub first_jobs
{
	my ($rows, $quick) = @_;
	my %samples = all_samples($rows, $quick);
	my @jobs;

	for my $band (sort keys %samples) {
		for my $i (0 .. $#{$samples{$band}}) {
			my %options = %{$samples{$band}[$i]};

			delete @options{qw(flop ranks step-overhead stripe)};
			push @jobs, Paper::Plan::job("first-$band-$i",
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

# pegroup RUN, BAND, SAMPLE, WANT: returns the fewest cycles of the PEGroup for which
# the ratio on eight nodes is WANT, or nothing.
sub pegroup
{
	my ($run, $band, $sample, $want) = @_;
	my ($offload, $p2p) = map { $run->cell("first-$band-$sample", 'us',
					       mode => $_) } qw(offload p2p);

	for (0 .. PEGROUP_MOST) {
		return $_ if sprintf('%.2f', $p2p / ($offload + $_ * CYCLE)) eq $want;
	}
	return;
}

# Returns the jobs of a sample of figure 7: all tori. A quick run simulates one torus
# without wrap-around links.
sub coll_jobs
{
	my ($i, $sample, $options, $quick) = @_;
	my @tori = (@Paper::Plan::T3, @Paper::Plan::T4);
	my $sizes = join(',', @tori);

	return map { (Paper::Plan::job("band-$_-$i",
			"coll --op $_ --sizes $sizes $options"),
		      mesh_jobs($_, "$_-$i", $sample,
				$quick ? [$Paper::Plan::RATIOS[1]] : \@tori, $options))
	} qw(bcast allreduce);
}

# Returns the jobs of a sample of figure 10: all numbers of nodes. Without
# wrap-around links the allreduce is simulated by itself.
sub heat_jobs
{
	my ($i, $sample, $options, $quick) = @_;
	my $to = $quick ? 4096 : 32768;
	my %coll = %$sample;

	delete @coll{qw(flop step-overhead)};
	my ($cycles) = $options =~ /(--pegroup \d+)/;

	return (Paper::Plan::job("band-heat2d-$i", "heat2d --from 2 --to $to $options " .
				 '--step-overhead 0s', cost => 1),
		mesh_jobs('allreduce', "heat2d-$i", $sample,
			  [grep { Paper::Plan::nodes($_) <= $to } @Paper::Plan::HEAT],
			  "--bytes 8 $cycles " . text_of(%coll)));
}

# Returns the jobs of the bands, those of SpMV with each routing. The jobs that take
# longest are the last. Samples that no time of the PEGroup fits are left out.
sub jobs
{
	my ($run, $rows, $ref, $quick) = @_;
	my %samples = all_samples($rows, $quick);
	my %make = (coll => \&coll_jobs, heat2d => \&heat_jobs);
	my @jobs;

	for my $spmv (Paper::Plan::spmv_bands($quick)) {
		$make{$spmv->{name}} = sub {
			my ($i, undef, $options) = @_;

			return map { Paper::Plan::job("band-$spmv->{name}-$_-$i",
				"spmv --from $spmv->{from} --to $spmv->{to} " .
				"--rows $spmv->{rows} $options --routing $_",
				cost => $spmv->{cost})
			} @{$spmv->{routings}};
		};
	}
	for my $band (sort keys %samples) {
		for my $i (0 .. $#{$samples{$band}}) {
			my $sample = $samples{$band}[$i];
			my $cycles = pegroup($run, $band, $i,
					     $ref->{'bcast-8-3d'}{value}) // next;

			push @jobs, $make{$band}->($i, $sample,
				text_of(%$sample, pegroup => $cycles), $quick);
		}
	}
	return @jobs;
}

# band RUN, NAME, VALUE: returns the least and greatest VALUE->(ID) of a band's jobs, or
# nothing without jobs.
sub band
{
	my ($run, $name, $value) = @_;
	my @values = grep { defined } map { $value->($_) }
		     $run->series("band-$name");

	return @values ? (min(@values), max(@values)) : ();
}

# Returns the number of a sample, from the id of its job.
sub number_of
{
	return $_[0] =~ /-(\d+)$/ ? $1 : '';
}

# Returns the ratio of a sample, by the id of its job, on a torus.
sub sample_ratio
{
	my ($run, $op, $id, $torus) = @_;
	my $mesh = "mesh-$op-" . number_of($id) . '-' . Paper::Plan::dims($torus);

	return $run->has($mesh) ? $run->ratio($mesh) : $run->ratio($id, $torus);
}

# Returns the band of an operation's ratio on a torus.
sub ratio
{
	my ($run, $op, $torus) = @_;

	return band($run, $op, sub { sample_ratio($run, $op, $_[0], $torus) });
}

# Returns the band of how often an operation's ratio decreases from one number of
# nodes to the next, in 3D and in 4D.
sub ratio_trend
{
	my ($run, $op) = @_;

	return band($run, $op, sub {
		my ($id) = @_;

		return ratio_drops(sub { sample_ratio($run, $op, $id, $_[0]) });
	});
}

# ratio_drops RATIO: returns how often RATIO->(TORUS) decreases from one torus to the
# next, in 3D and in 4D together.
sub ratio_drops
{
	my ($ratio) = @_;

	return drops(map { $ratio->($_) } @Paper::Plan::T3) +
	       drops(map { $ratio->($_) } @Paper::Plan::T4);
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

# Returns the rows of a sample of the heat equation. Times without wrap-around
# links are in other jobs.
sub heat_rows
{
	my ($run, $id) = @_;

	return [map {
		my $mesh = 'mesh-heat2d-' . number_of($id) . '-' . "4d$_->{nodes}";

		$run->has($mesh) ?
			{%$_, map { ("$_ us" => $run->cell($mesh, 'us', mode => $_)) }
			      qw(offload p2p)} : $_
	} @{$run->answer($id)->{rows}}];
}

# Returns the gains of a sample of the heat equation, by cells and nodes, or
# nothing if no fixed time fits. A quick run has fewer nodes, and the default
# time.
sub heat_gains
{
	my ($run, $ref, $quick, $id) = @_;
	my $rows = heat_rows($run, $id);
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

# Returns SpMV's gains in per cent, of all samples of a band with a routing, in
# ascending order. The routing is not fitted again for each sample.
sub spmv_gains
{
	my ($run, $band, $routing, $nodes) = @_;

	return sort { $a <=> $b } map {
		100 * ($run->cell($_, 'gain', nodes => $nodes) - 1)
	} $run->series("band-$band-$routing");
}

# Returns the least and greatest gain of SpMV in per cent, of a band with a routing.
sub spmv
{
	return (spmv_gains(@_))[0, -1];
}

# Returns the numbers of nodes of a band of SpMV.
sub spmv_nodes
{
	my ($run, $band) = @_;
	my ($first) = $run->series("band-$band-adaptive");

	return $first ? sort { $a <=> $b } map { $_->{nodes} }
			@{$run->answer($first)->{rows}} : ();
}

# spmv_each RUN, ROUTING, VALUE: returns VALUE->(GAIN...) of each sample of the
# band with several numbers of nodes; the results are in ascending order. GAIN: in per
# cent, in the order of the numbers of nodes.
sub spmv_each
{
	my ($run, $routing, $value) = @_;

	return sort { $a <=> $b } map {
		$value->(map { 100 * ($_->{gain} - 1) }
			 sort { $a->{nodes} <=> $b->{nodes} } @{$run->answer($_)->{rows}})
	} $run->series("band-spmv-$routing");
}

# quantiles SORTED, SHARE...: returns for each SHARE the least value V for which at
# least this share of the values are V or less.
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

# gain_drops GAIN...: returns how often SpMV's gain decreases from one GAIN, in per cent,
# to the next.
sub gain_drops
{
	return drops(map { $_ / 100 } @_);
}

# The gain of the heat equation, in per cent, that counts as visible.
use constant VISIBLE => 5;

# heat_start GAIN: returns the greatest gain on at most 64 nodes in per cent, and the
# most nodes up to which no gain is visible. GAIN: by cells and nodes.
sub heat_start
{
	my ($gain) = @_;
	my %most;

	for my $by (values %$gain) {
		$most{$_} = max($most{$_} // -100, 100 * ($by->{$_} - 1)) for keys %$by;
	}
	my @nodes = sort { $a <=> $b } keys %most;
	my $seen = first { $most{$nodes[$_]} > VISIBLE } 0 .. $#nodes;

	return (max(map { $most{$_} } grep { $_ <= 64 } @nodes),
		!defined $seen ? $nodes[-1] : $seen ? $nodes[$seen - 1] : 0);
}

# Returns the band of one of the values of heat_start.
sub heat_starts
{
	my ($run, $ref, $quick, $which) = @_;

	return band($run, 'heat2d', sub {
		my $gain = heat_gains($run, $ref, $quick, $_[0]) // return;

		return (heat_start($gain))[$which];
	});
}

# Returns for each band: what it is, the number of samples, how many of them could
# be fitted, and the fitted values.
sub fitted
{
	my ($run, $ref, $quick) = @_;
	my @rows;

	for (['coll', 'bands of figure 7'], ['heat2d', 'band of figure 10'],
	     ['spmv', 'bands of SpMV, by routing'],
	     ['spmv-most', 'band of SpMV, most nodes']) {
		my ($band, $what) = @$_;
		my @all = $run->series("first-$band") or next;
		my @cycles = map { pegroup($run, $band, number_of($_),
					   $ref->{'bcast-8-3d'}{value}) // () } @all;
		my ($good, $more) = (scalar @cycles, '');

		if ($band eq 'heat2d' && !$quick) {
			my @us = grep { $_ >= 0 } map {
				step_fit(heat_rows($run, $_), $ref->{'heat-40M'}{value})
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

	return scalar grep { /^(band|mesh)-/ } keys %{$run->{done}};
}

1;
