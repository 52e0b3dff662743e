# SPDX-License-Identifier: GPL-2.0-only
#
# The chapter on time: tables and curves, and whether the numbers confirm the study's
# conclusions.

package Times::Chapter;

use strict;
use warnings;
use JSON::PP;
use List::Util qw(max min sum);
use Paper::Run;
use Times::Claims;
use Times::Plan;

sub new
{
	my ($class, %arg) = @_;

	return bless {%arg, text => ''}, $class;
}

sub say
{
	my ($self, @lines) = @_;

	$self->{text} .= "$_\n" for @lines;
}

# Prints a table in Markdown; the first row is its head.
sub table
{
	my ($self, $head, @rows) = @_;

	$self->say('', '| ' . join(' | ', @$head) . ' |', '|' . '---|' x @$head);
	$self->say('| ' . join(' | ', @$_) . ' |') for @rows;
	$self->say('');
}

# Returns the measures of a fabric's graph, a hash by name.
sub metrics
{
	my ($self, $text) = @_;
	my %known;

	if (!$self->{metrics}{$text}) {
		open(my $pipe, '-|', $self->{topo}, '-j', 'metrics', $text) or
			die "times: $self->{topo}: $!\n";
		local $/;
		my $json = <$pipe>;

		close($pipe) or die "times: angara-topo metrics $text failed\n";
		$known{$_->{measure}} = $_->{graph} for @{decode_json($json)};
		$self->{metrics}{$text} = \%known;
	}
	return $self->{metrics}{$text};
}

sub modules
{
	my ($self, $size, $kind) = @_;

	return $self->{run}->cell("capacity-$size-$kind", 'modules',
				  pattern => 'uniform');
}

sub compared
{
	my ($self) = @_;
	my @rows;

	for my $size (@{$self->{sizes}}) {
		for my $kind (0 .. $#Times::Plan::KINDS) {
			my $text = $Times::Plan::FABRIC{$size}[$kind][0];
			my $m = $self->metrics($text);
			my $modules = $self->modules($size, $kind);

			push @rows, [$Times::Plan::KINDS[$kind], "`$text`",
				     $modules, $m->{nodes}, $m->{switches},
				     $m->{cables},
				     sprintf('%.2f', $m->{cables} / $modules),
				     $m->{'joined ports'}, $m->{bisection},
				     sprintf('%.2f', $m->{'distance x 1000'} / 1000)];
		}
	}
	$self->table([qw(topology description modules nodes switches cables),
		      'cables per module', 'joined ports', 'bisection',
		      'distance'], @rows);
}

# Prints the table of parameters, by source, with the defaults that the
# simulator prints.
sub parameters
{
	my ($self) = @_;
	my %text = (given => 'given by document 000',
		    fitted => 'fitted to results of document 000',
		    chosen => 'chosen with knowledge of these results',
		    free => 'free: document 000 does not name it');
	my %rows;

	open(my $pipe, '-|', $self->{sim}, 'params') or
		die "times: $self->{sim}: $!\n";
	while (<$pipe>) {
		/^# (\S+)\s+(.*) \(([^()]*), (\w+)\)$/ or next;
		my ($name, $help, $default, $source) = ($1, $2, $3, $4);

		defined $text{$source} or die "times: unknown source '$source'\n";
		$help =~ s/: \S+\|.*//;
		push @{$rows{$source}}, ["`$name`", $help, $default,
					 $text{$source}];
	}
	close($pipe) or die "times: angara-sim params failed\n";
	$self->table(['parameter', 'what it is', 'value', 'source'],
		     map { @{$rows{$_} // []} } qw(given fitted chosen free));
}

# Returns the delays of packets from node 0, greatest and mean, and the numbers
# of cables.
sub idle_of
{
	my ($self, $id) = @_;
	my @rows = @{$self->{run}->answer($id)->{rows}};

	return {ns => max(map { $_->{ns} } @rows),
		mean => sum(map { $_->{ns} } @rows) / @rows,
		hops => max(map { $_->{hops} } @rows),
		distance => sum(map { $_->{hops} } @rows) / @rows};
}

sub idle
{
	my ($self) = @_;
	my @rows;

	for my $size (@{$self->{sizes}}) {
		for my $kind (0 .. $#Times::Plan::KINDS) {
			my $i = $self->idle_of("pairs-$size-$kind");

			push @rows, [$size, $Times::Plan::KINDS[$kind],
				     sprintf('%.2f', $i->{distance}),
				     sprintf('%.0f', $i->{mean}), $i->{hops},
				     sprintf('%.0f', $i->{ns})];
		}
	}
	$self->table(['size', 'topology', 'cables, mean', 'ns, mean',
		      'cables, farthest', 'ns, farthest'], @rows);
}

# Returns the end of a curve: its last load below saturation.
sub saturation
{
	my ($self, $id) = @_;
	my @good = grep { $_->{saturated} eq 'no' }
		   @{$self->{run}->answer($id)->{rows}};

	return $good[-1];
}

sub bound
{
	my ($self, $size, $kind, $pattern, $column) = @_;

	return $self->{run}->cell("capacity-$size-$kind", $column,
				  pattern => $pattern);
}

sub accepted
{
	my ($self, $id) = @_;
	my $point = $self->saturation($id);

	return sprintf('%.3f +- %.3f', $point->{accepted}, $point->{'+-'});
}

sub loads
{
	my ($self, $size) = @_;
	my @rows;

	for my $pattern (@Times::Plan::PATTERNS) {
		for my $kind (0 .. $#Times::Plan::KINDS) {
			my $where = "$pattern-$size-$kind";
			my $cables = $self->metrics(
				$Times::Plan::FABRIC{$size}[$kind][0])->{cables};
			my $point = $self->saturation("curve-$where");

			push @rows, [$pattern, $Times::Plan::KINDS[$kind],
				     $self->{run}->has("order-$where") ?
				     $self->accepted("order-$where") : '',
				     $self->bound($size, $kind, $pattern, 'routes'),
				     $self->accepted("curve-$where"),
				     $self->bound($size, $kind, $pattern, 'host'),
				     $self->{run}->has("network-$size-$kind") &&
				     $pattern eq 'uniform' ?
				     $self->{run}->answer("network-$size-$kind")->{rows}[0]{accepted} : '',
				     sprintf('%.3f', $point->{accepted} *
					     $self->modules($size, $kind) / $cables)];
		}
	}
	$self->table(['pattern', 'topology', 'deterministic', 'its bound',
		      'adaptive', 'bound of hosts', 'unlimited hosts',
		      'per cable'], @rows);
}

sub quoted
{
	my ($text) = @_;

	return "'" . $text =~ s/'/''/gr . "'";
}

sub draw
{
	my ($self, $size, $pattern) = @_;
	my $name = "delay-$pattern-$size";
	my (@blocks, %set);

	for my $kind (0 .. $#Times::Plan::KINDS) {
		my $rows = $self->{run}->answer("curve-$pattern-$size-$kind")->{rows};

		push @blocks, join('', map {
			join(' ', @$_{'accepted', 'latency ns', '+-', '+- ns'}) . "\n"
		} @$rows);
	}
	Paper::Run::spew("$self->{out}/data/$name.dat", join("\n\n", @blocks));
	%set = (file => "$self->{out}/$name.svg",
		data => "$self->{out}/data/$name.dat",
		style => "$self->{scripts}/../sim/paper/style.gp",
		title => "$pattern, $size modules",
		names => join(' ', map { "\"$_\"" } @Times::Plan::KINDS));
	unlink $set{file};
	system('gnuplot', '-e', join('; ', map { "$_=" . quoted($set{$_}) }
				     sort keys %set),
	       "$self->{scripts}/curve.gp") == 0 && -s $set{file} or
		die "times: gnuplot could not draw $set{file}\n";
	$self->say('', "![Delay over load, $set{title}]($name.svg)");
}

sub has_gnuplot
{
	return grep { -x "$_/gnuplot" } split(/:/, $ENV{PATH});
}

sub curves
{
	my ($self, $size) = @_;

	if (!has_gnuplot()) {
		$self->say('', 'No curves: gnuplot is not installed.');
		return;
	}
	$self->draw($size, $_) for @Times::Plan::PATTERNS;
	$self->say('');
}

sub us
{
	my ($self, $op, $bytes, $size, $kind) = @_;

	return $self->{run}->answer("$op-$bytes-$size-$kind")->{rows}[0]{us};
}

sub collectives
{
	my ($self) = @_;
	my @rows;

	for my $size (@{$self->{sizes}}) {
		for my $coll (@Times::Plan::COLLS) {
			my ($text, $op, $bytes) = @$coll;

			push @rows, [$size, $text,
				     map { $self->us($op, $bytes, $size, $_) }
				     0 .. $#Times::Plan::KINDS];
		}
	}
	$self->table(['size', 'us', @Times::Plan::KINDS], @rows);
}

# Prints the table of long operations over several trees: times, gain, and
# expected gain.
sub stripes
{
	my ($self) = @_;
	my %names = (bcast => 'broadcast', allreduce => 'allreduce');
	my (@rows, %gain);

	for my $size (@{$self->{striped}}) {
		my $kinds = $Times::Plan::STRIPES{$size};

		for my $op (@Times::Plan::STRIPED_OPS) {
			for my $kind (0 .. $#$kinds) {
				my @runs = @{$self->{run}->answer(
					"stripe-$op-$size-$kind")->{rows}};
				my $least = min(map { $_->{us} } @runs);
				# The fewest trees whose time is within 1 % of
				# the best.
				my ($best) = grep { $_->{us} <= 1.01 * $least } @runs;

				push @{$gain{$op}}, $best->{gain};
				push @rows, [$size, $names{$op}, "`$kinds->[$kind][1]`",
					     (map { $_->{us} } @runs),
					     $best->{trees}, $best->{gain},
					     sprintf('%.2f', $runs[0]{'expected us'} /
						     $best->{'expected us'})];
			}
		}
	}
	$self->table(['nodes', 'operation, 64 KiB', 'fabric',
		      (map { "$_ tree" . ($_ > 1 ? 's' : '') . ', us' }
		       @Times::Plan::TREES),
		      'best number', 'gain', 'gain expected'], @rows);
	$self->say('', sprintf('Allreduces over several trees are %.1f to %.1f times as ' .
			       'fast as over one; broadcasts %s.',
			       min(@{$gain{allreduce}}), max(@{$gain{allreduce}}),
			       max(@{$gain{bcast}}) > 1.005 ?
			       sprintf('%.2f times at most', max(@{$gain{bcast}})) :
			       'are not faster'));
}

sub switches
{
	my ($self) = @_;
	my @rows;

	for my $size (@{$self->{sizes}}) {
		for my $kind (grep { $Times::Plan::KINDS[$_] =~ /MKNS|fat tree/ }
			      0 .. $#Times::Plan::KINDS) {
			for my $i (0 .. $#Times::Plan::SWITCHES) {
				my $tail = ($i || '') . "-$size-$kind";
				my $idle = $self->idle_of("pairs$tail");
				my $us = $i ?
					$self->{run}->answer("bcast$tail")->{rows}[0]{us} :
					$self->us('bcast', 256, $size, $kind);

				push @rows, [$size, $Times::Plan::KINDS[$kind],
					     $Times::Plan::SWITCHES[$i][0],
					     sprintf('%.0f', $idle->{mean}),
					     sprintf('%.0f', $idle->{ns}), $us];
			}
		}
	}
	$self->table(['size', 'topology', 'switches', 'packet, ns, mean',
		      'packet, ns, farthest', 'broadcast, 256 B, us'], @rows);
}

# Returns the measures for a size. Each has a text, whether more is better, and
# values by topology.
sub measured
{
	my ($self, $size) = @_;
	my @kinds = 0 .. $#Times::Plan::KINDS;
	my @idle = map { $self->idle_of("pairs-$size-$_") } @kinds;
	my @all = (['packet on an idle fabric, mean, ns', 0,
		    map { $_->{mean} } @idle],
		   ['packet on an idle fabric, farthest, ns', 0,
		    map { $_->{ns} } @idle]);

	for my $coll (@Times::Plan::COLLS) {
		push @all, ["$coll->[0], us", 0,
			    map { $self->us(@$coll[1, 2], $size, $_) } @kinds];
	}
	push @all, ["$_, deterministic, flits per cycle and module", 1,
		    $self->ends("order-$_-$size")] for @Times::Plan::ORDERED;
	push @all, ["$_, adaptive, flits per cycle and module", 1,
		    $self->ends("curve-$_-$size")] for @Times::Plan::PATTERNS;
	push @all, ['uniform, adaptive, flits per cycle and cable', 1, map {
		my $cables = $self->metrics(
			$Times::Plan::FABRIC{$size}[$_][0])->{cables};

		$self->saturation("curve-uniform-$size-$_")->{accepted} *
			$self->modules($size, $_) / $cables;
	} @kinds];
	return @all;
}

# Returns the throughput of each topology at the ends of curves.
sub ends
{
	my ($self, $prefix) = @_;

	return map { $self->saturation("$prefix-$_")->{accepted} }
	       0 .. $#Times::Plan::KINDS;
}

# Prints the best topology by each measure, and the place of MKNS.
sub winners
{
	my ($self) = @_;
	my @rows;

	for my $size (@{$self->{sizes}}) {
		for my $measure ($self->measured($size)) {
			my ($text, $more, @value) = @$measure;
			my @order = sort {
				$more ? $value[$b] <=> $value[$a] :
					$value[$a] <=> $value[$b]
			} 0 .. $#value;
			my $better = grep {
				$more ? $value[$_] > $value[0] :
					$value[$_] < $value[0]
			} 0 .. $#value;
			my $best = join(', ', map { $Times::Plan::KINDS[$_] }
					grep { $value[$_] == $value[$order[0]] }
					@order);

			push @rows, [$size, $text, $best,
				     0 + sprintf('%.4g', $value[$order[0]]),
				     0 + sprintf('%.4g', $value[0]), $better + 1];
		}
	}
	$self->table(['size', 'measure', 'best', 'its value', 'MKNS',
		      'place of MKNS, of ' . @Times::Plan::KINDS], @rows);
}

sub write
{
	my ($self) = @_;
	my $parts = Paper::Run::slurp("$self->{scripts}/time.md.in") //
		die "times: cannot read time.md.in\n";

	for my $line (split(/\n/, $parts)) {
		if ($line =~ /^\@(\w+)$/) {
			my $part = "Times::Claims"->can($1) || $self->can($1) or
				die "times: time.md.in: unknown name \@$1\n";

			$part->($self);
		} elsif ($line =~ /^\@(\w+) for each size$/) {
			my $part = $self->can($1) or
				die "times: time.md.in: unknown name \@$1\n";

			for (@{$self->{sizes}}) {
				$self->say('', "### $_ modules");
				$part->($self, $_);
				$self->curves($_);
			}
		} else {
			$self->say($line);
		}
	}
	$self->{text} =~ s/\n{3,}/\n\n/g;
	Paper::Run::spew("$self->{out}/time.md", $self->{text});
}

1;
