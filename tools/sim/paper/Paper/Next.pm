# SPDX-License-Identifier: GPL-2.0-only
#
# The report's tables of the next generation of the network: the time that each
# option saves in the published tests.

package Paper::Next;

use strict;
use warnings;
use Paper::Plan;
use Paper::Report;

sub saved
{
	my ($time, $base) = @_;

	return sprintf('%s us (%+.0f %%)', Paper::Report::number($time),
		       100 * ($time / $base - 1));
}

# Returns the time of a test, in the network or by messages: of the operation,
# or of a step of the application.
sub time_of
{
	my ($run, $id, $p2p) = @_;
	my $row = $run->answer($id)->{rows}[0];
	my $mode = $p2p ? 'p2p us' : 'offload us';

	return $row->{us} // $row->{'compute us'} + $row->{$mode};
}

sub messages
{
	my ($run, $test) = @_;
	my $app = $test->[2] ne 'coll';
	my $id = $app ? "next-base-$test->[0]" : "next-p2p-$test->[0]";

	return time_of($run, $id, $app);
}

sub table_of
{
	my ($report) = @_;
	my $run = $report->{run};
	my @tests = grep { $run->has("next-base-$_->[0]") } @Paper::Plan::TESTS;
	my %base = map { $_->[0] => time_of($run, "next-base-$_->[0]") } @tests;
	my @rows;

	for my $option (@Paper::Plan::NEXT) {
		push @rows, [$option->[1], map {
			my $id = "next-$option->[0]-$_->[0]";
			$run->has($id) ?
				saved(time_of($run, $id), $base{$_->[0]}) : '';
		} @tests];
	}
	push @rows, ['for comparison: by messages',
		     map { saved(messages($run, $_), $base{$_->[0]}) } @tests];
	return Paper::Report::table(['Option', map { $_->[1] } @tests], @rows);
}

# Returns the greatest time that a host takes to reduce among its own processes.
sub local_of
{
	my ($report) = @_;
	my $run = $report->{run};
	my $one = $run->cell('local-1', 'us');

	return Paper::Report::table(
		['Participants of a node', 'Allreduce, us', 'More than for one, ns'],
		map { my $us = $run->cell("local-$_", 'us');
		      [$_, Paper::Report::number($us),
		       sprintf('%.0f', 1000 * ($us - $one))] } 1, 2, 4, 8);
}

sub root_of
{
	my ($report) = @_;
	my $run = $report->{run};
	my @rows;

	for my $op (qw(bcast allreduce)) {
		for my $mode (qw(offload p2p)) {
			my $corner = $run->cell("root-$op-corner", 'us',
						mode => $mode);
			my $middle = $run->cell("root-$op-middle", 'us',
						mode => $mode);

			push @rows, [($op eq 'bcast' ? 'broadcast' : $op) .
				     ($mode eq 'p2p' ? ' by messages' :
						       ' in the network') .
				     ', 8x8x8 nodes of a 16x16x16 torus',
				     Paper::Report::number($corner) . ' us',
				     saved($middle, $corner)];
		}
	}
	push @rows, ['allreduce in the network, all of an 8x8x8 torus',
		     map({ $_->[0] } [Paper::Report::number($run->cell(
			'root-torus-0', 'us', mode => 'offload')) . ' us']),
		     saved(map { $run->cell("root-torus-$_", 'us',
					    mode => 'offload') } 100, 0)];
	push @rows, ['broadcast, all of 8x8x8x16: root far from the source, or the source',
		     Paper::Report::number($run->cell('request-far', 'us')) . ' us',
		     saved(map { $run->cell("request-$_", 'us') } qw(near far))];
	return Paper::Report::table(['Test', 'Root in a corner', 'Better root'],
				    @rows);
}

1;
