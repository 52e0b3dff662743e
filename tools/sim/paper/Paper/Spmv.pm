# SPDX-License-Identifier: GPL-2.0-only
#
# SpMV in the report: the gain over the plausible range, whether the published gain
# is within it, and the effects of rows and of choices.

package Paper::Spmv;

use strict;
use warnings;
use List::Util qw(max);
use Paper::Band;
use Paper::Plan;
use Paper::Plot;

# Returns the bands of a published number of SpMV: routing, least and greatest value.
# The gain is that of the band's most nodes.
sub limits
{
	my ($report, $name) = @_;
	my %value = ('spmv-2048' => sub { $_[-1] }, 'spmv-max' => \&max,
		     'trend-spmv' => \&Paper::Band::gain_drops);

	return map { [$_, (Paper::Band::spmv_each($report->{run}, $_, $value{$name}))[0, -1]] }
	       qw(adaptive deterministic);
}

# Returns the nodes and rows of the bands of limits(). The published number is for other
# nodes and rows.
sub case
{
	my ($report, $name) = @_;
	my ($band) = Paper::Plan::spmv_bands($report->{quick});
	my $nodes = $name eq 'spmv-2048' ? $band->{to} : "$band->{from} to $band->{to}";

	return "$nodes nodes, " . Paper::Plot::spaced($band->{rows}) . ' rows';
}

# Returns a table of the bands of SpMV's published numbers by routing, and whether the
# numbers are within their bands.
sub bands
{
	my ($report) = @_;
	my @rows;

	for my $name (qw(spmv-2048 spmv-max trend-spmv)) {
		my $ref = $report->{ref}{$name};

		for (limits($report, $name)) {
			my ($routing, $least, $most) = @$_;

			push @rows, [$ref->{text}, $routing, case($report, $name),
				sprintf('%.0f to %.0f%s', $least, $most,
					$ref->{kind} eq 'trend' ? ' decreases' : ' %'),
				Paper::Report::inside($ref, $least, $most)];
		}
	}
	return Paper::Report::table(['Published', 'Routing', 'Band on', 'Band',
				     'Published is'], @rows);
}

# Returns the gain of SpMV over the plausible range, by routing and number of
# nodes.
sub band
{
	my ($report) = @_;
	my $run = $report->{run};
	my (@rows, @verdicts);

	for my $band (Paper::Plan::spmv_bands($report->{quick})) {
		my @nodes = Paper::Band::spmv_nodes($run, $band->{name});

		for my $routing (@{$band->{routings}}) {
			for my $nodes (@nodes) {
				my @gains = Paper::Band::spmv_gains($run, $band->{name},
								    $routing, $nodes);

				push @rows, [$routing, $nodes, $band->{rows}, scalar @gains,
					map { sprintf('%.0f', $_) }
					Paper::Band::quantiles(\@gains, 0, 0.1, 0.5, 0.9, 1)];
				push @verdicts, verdict($report, $band, $routing, $nodes, @gains)
					if $nodes == $nodes[-1];
			}
		}
	}
	return Paper::Report::table(['Routing', 'Nodes', 'Rows', 'Samples', 'Least gain, %',
				     'one in ten below', 'median', 'one in ten above',
				     'greatest'], @rows) . "\n" .
	       join('', @verdicts) . growth($report) . "\n" . bands($report);
}

# verdict REPORT, BAND, ROUTING, NODES, GAIN...: says whether the published gain of SpMV is
# within the band of GAIN, and how its case differs.
sub verdict
{
	my ($report, $band, $routing, $nodes, @gains) = @_;
	my $ref = $report->{ref}{'spmv-2048'};
	my $below = grep { $_ < $ref->{value} } @gains;

	return sprintf("* The published %d %% is **%s** the band on %d nodes with %s rows, " .
		       "%s routing: %.0f to %.0f %%; %d of %d samples are below %d %%. A node " .
		       "has %.0f rows, in the published case %.0f.\n",
		       $ref->{value}, Paper::Report::inside($ref, @gains[0, -1]), $nodes,
		       Paper::Plot::spaced($band->{rows}), $routing,
		       @gains[0, -1], $below, scalar @gains, $ref->{value},
		       $band->{rows} / $nodes, $Paper::Plan::PUBLISHED_ROWS / 2048);
}

# Says in how many samples SpMV's gain grows from each number of nodes to the next.
sub growth
{
	my ($report) = @_;
	my $run = $report->{run};
	my @nodes = Paper::Band::spmv_nodes($run, 'spmv');

	return sprintf("* The gain grows from each number of nodes to the next, from %d to %d, " .
		       "in %s.\n", @nodes[0, -1], join(', ', map {
		my @drops = Paper::Band::spmv_each($run, $_, \&Paper::Band::gain_drops);

		sprintf('%d of %d samples by %s routing', scalar grep({ !$_ } @drops),
			scalar @drops, $_)
	} qw(adaptive deterministic)));
}

# Returns the gain of SpMV by number of rows.
sub by_rows
{
	my ($report) = @_;
	my $run = $report->{run};

	return Paper::Report::table(['Nodes', 'Rows', 'In the network, us', 'Messages, us',
				     'Gain, %'], map {
		my ($id, $nodes, $rows) = @$_;
		my $row = $run->has($id) ? $run->answer($id)->{rows}[0] : undef;

		[$nodes, $rows, $row ? (map({ Paper::Report::number($row->{$_}) }
					    'offload us', 'p2p us'),
					sprintf('%.1f', 100 * ($row->{gain} - 1))) :
				       ('not run', '', '')]
	} @Paper::Plan::BY_ROWS);
}

# Returns the gain of SpMV by choice of a parameter.
sub choices
{
	my ($report) = @_;
	my $run = $report->{run};

	return "Not run.\n" if !$run->has('spmv-base');
	return Paper::Report::table(['Choice', 'In the network, us', 'Messages, us', 'Gain, %'],
				    map {
		my $row = $run->answer("spmv-$_->[0]")->{rows}[0];

		[$_->[1], map({ Paper::Report::number($row->{$_}) } 'offload us', 'p2p us'),
		 sprintf('%.1f', 100 * ($row->{gain} - 1))]
	} @Paper::Plan::SPMV_CHOICES);
}

1;
