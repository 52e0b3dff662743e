# SPDX-License-Identifier: GPL-2.0-only
#
# Speed and memory of the simulator.
#
# Rates are per second of processor time; other processes lower them only as far as they
# use caches, memory and the processor's other hardware threads.
# Times are of wall clock; other processes make them longer, so each comes with
# the share of the machine's processors that others used meanwhile.  A
# simulation takes at most its processor time on an idle machine.

package Paper::Speed;

use strict;
use warnings;
use List::Util qw(sum0);
use Paper::Plan;
use Paper::Report;
use Paper::Scaling;

# Speed of BookSim 2 on one core, in millions of router-cycles per second, for uniform
# traffic of packets of one flit on 8x8x8: load, least and greatest speed. The speed at
# load 0.2 is a third of that at 0.05.
my @BOOKSIM = (['0.05', 0.6, 0.9], ['0.2', 0.2, 0.3]);

# Simulations whose times count; a quick run has shorter simulations.
sub jobs
{
	my ($quick) = @_;
	my $uniform = 'traffic --torus 8x8x8 --threads 1 --routing deterministic' .
		      ($quick ? ' --warmup 1us' : '');
	my ($long, $short) = $quick ? ('4us', '2us') : ('20us', '10us');
	my @jobs = (
		Paper::Plan::job('speed-bcast',
			'coll --mode offload --torus 16x16x32', repeat => 3),
		(map { Paper::Plan::job("speed-$_", "$uniform --accuracy $_ " .
				"--load 0.05,0.2,0.4 --time $long", cost => 4),
		       Paper::Plan::job("speed-$_-1", "$uniform --accuracy $_ " .
				"--bytes 0 --load 0.05,0.2 --time $short", cost => 3)
		} qw(packet flit)),
		Paper::Plan::job('speed-textbook', 'flits --torus 8x8x8 --flits 1 ' .
				 '--load 0.05,0.2' .
				 ($quick ? ' --warmup 500 --cycles 3000' : ''),
				 cost => 4),
	);

	push @jobs, Paper::Plan::job('speed-allreduce',
			'coll --op allreduce --mode p2p --torus 32x32x32', repeat => 3),
		Paper::Plan::job('speed-spmv', $Paper::Plan::SPMV, cost => 10)
		if !$quick;
	$_->{speed} = 1 for @jobs;
	return @jobs;
}

# Simulations whose memory counts; each takes half a minute.
sub memory_jobs
{
	my ($quick) = @_;

	return if $quick;
	return (Paper::Plan::job('memory-million', 'coll --mode offload ' .
				 '--torus 128x128x64', cost => 30, alone => 1),
		Paper::Plan::job('memory-reduce', 'coll --op allreduce ' .
				 '--mode offload --torus 100x100x100', cost => 30,
				 alone => 1));
}

# Rows of the table: ids of simulations, and what they simulate.
my @ROWS = (
	[['speed-bcast'], 'broadcast, 16x16x32'],
	[['speed-allreduce'], 'allreduce by messages, 32x32x32'],
	[[map { $_->{id} } Paper::Plan::figure7()], 'figure 7'],
	[['speed-spmv'], 'SpMV, 640 000 rows, 4x4x4x8, both ways'],
	[['figure9-2048'], 'SpMV, 2 560 000 rows, 4x8x8x8, both ways'],
	[['memory-million'], 'broadcast, 128x128x64 (1 048 576 nodes)'],
	[['memory-reduce'], 'allreduce, 100x100x100 (a million nodes)'],
);
my %PROMISED = ('speed-bcast' => 0, 'speed-allreduce' => 1, 'speed-figure7' => 2,
		'speed-spmv-512' => 3, 'speed-spmv' => 4);

# total RUN, KEY, ID...: returns the sum of KEY, such as a time, over several
# simulations
sub total
{
	my ($run, $key, @ids) = @_;

	return sum0(map { $run->answer($_)->{$key} } @ids);
}

sub idle
{
	my ($run, @ids) = @_;

	return $run->idle(map { $run->answer($_) } @ids);
}

# Returns a promised speed in seconds, and whether an idle machine may be faster;
# nothing if its simulation was not run.
sub promised
{
	my ($run, $name) = @_;
	my @ids = @{$ROWS[$PROMISED{$name} // return]->[0]};

	return if grep { !$run->has($_) } @ids;
	my ($wall, $cpu) = map { total($run, $_, @ids) } qw(wall cpu);

	return ($cpu < $wall ? $cpu : $wall, !idle($run, @ids));
}

# Returns the memory per node of a simulation of many nodes.
sub per_node
{
	my ($answer) = @_;
	my $nodes = $answer->{rows}[0]{nodes} // 0;

	return $nodes < 10000 ? '' :
	       sprintf('%.0f', $answer->{kib} * 1024 / $nodes);
}

sub time_table
{
	my ($run) = @_;
	my (@rows, $busy);

	for (@ROWS) {
		my ($ids, $what) = @$_;

		if (grep { !$run->has($_) } @$ids) {
			push @rows, [$what, 'not run', '', '', '', '', ''];
			next;
		}
		$busy++ if !idle($run, @$ids);
		push @rows, [$what,
			     map({ sprintf('%.2f', total($run, $_, @$ids)) }
				 qw(wall cpu)),
			     sprintf('%.0f', $run->others(map { $run->answer($_) } @$ids)),
			     @$ids == 1 ?
			     (sprintf('%.0f', $run->answer($ids->[0])->{kib} / 1024),
			      per_node($run->answer($ids->[0]))) : ('', ''),
			     $run->days(@$ids)];
	}
	return Paper::Report::table(['Simulation', 'Seconds', 'of processors',
				     'Others, %', 'Memory, MiB', 'Bytes per node',
				     'Measured on'],
				    @rows) .
	       sprintf("\n%s\n", $busy ? "The machine was not idle during $busy of " .
			'these simulations: their times are too long.' :
			'The machine was idle.');
}

# Ids of the simulations of both engines, and of the textbook's routers.
my @ENGINES = (map({ ("speed-$_", "speed-$_-1") } qw(packet flit)), 'speed-textbook');

# Compares both engines with the same traffic. The flit engine counts the routers that
# have flits; the packet engine has the same number, as packets, load and routes
# are the same. Packets of one flit have no row at 0.4, because they saturate
# both engines, which then do not do the same work.
sub engines
{
	my ($run) = @_;
	my @rows;

	for (['17', '', '0.05'], ['17', '', '0.2'], ['17', '', '0.4'],
	     ['1', '-1', '0.05'], ['1', '-1', '0.2']) {
		my ($flits, $suffix, $load) = @$_;
		my $busy = $run->cell("speed-flit$suffix", 'busy routers %',
				      load => $load);

		push @rows, [$flits, $load, $busy, map {
			my $id = "speed-$_$suffix";
			my $rate = $run->cell($id, 'Mcycles/s', load => $load);

			($rate, sprintf('%.2f', $rate * $busy / 100),
			 $run->cell($id, 'Mflit-hops/s', load => $load))
		} qw(packet flit)];
	}
	return Paper::Report::table(
		['Flits', 'Load', 'Busy routers, %', 'Packets: router-cycles',
		 'busy', 'flit-hops', 'Flits: router-cycles', 'busy',
		 'flit-hops'], @rows);
}

# Compares the engines with BookSim 2, which simulates the textbook's routers,
# for the same traffic. The table has the least and the greatest speed relative
# to BookSim 2.
sub booksim
{
	my ($run) = @_;
	my (@rows, @fast);

	for (['speed-textbook', 'Mrouter-cycles/s', "textbook's routers, flit by flit"],
	     ['speed-flit-1', 'Mcycles/s', 'flit engine'],
	     ['speed-packet-1', 'Mcycles/s', 'packet engine']) {
		my ($id, $column, $what) = @$_;
		my @cells;

		for (@BOOKSIM) {
			my ($load, $least, $most) = @$_;
			my $rate = $run->cell($id, $column, load => $load);

			push @cells, $rate, sprintf('%.0f to %.0f', $rate / $most,
						    $rate / $least),
			     $run->cell($id, 'Mflit-hops/s', load => $load);
			push @fast, "at $load" if $id eq 'speed-textbook' && $rate >= 20 * $most;
		}
		push @rows, [$what, @cells];
	}
	return Paper::Report::table(
		['One flit', map { ("router-cycles at $_->[0]",
				    "times $_->[1] to $_->[2]",
				    "flit-hops at $_->[0]") } @BOOKSIM], @rows) .
	       "\nThe textbook's routers are at least 20 times as fast as BookSim 2: " .
	       (@fast ? join(', ', @fast) : 'at no load') . ".\n";
}

# Returns the section of the report.
sub text
{
	my ($run) = @_;

	return time_table($run) . Paper::Scaling::text($run) .
	       "\nUniform traffic on 8x8x8, dimension order, one thread: the same " .
	       'packets at the same load in both engines. Columns are millions ' .
	       'of router-cycles, those of routers that have flits ("busy"), and ' .
	       'links crossed by flits, per second of a processor. Idle routers ' .
	       'cost nothing. The flit engine counts the busy routers; both engines ' .
	       'have its share, as they have the same packets. Packets of one flit have ' .
	       'no row at 0.4. That is the most that PCIe carries, and more than the ' .
	       'routers accept. So both engines are saturated, and do not do the same ' .
	       'work. Measured on ' .
	       $run->days(@ENGINES) . ".\n\n" . engines($run) .
	       "\nBookSim 2 simulated 0.6 to 0.9 million router-cycles per " .
	       'second on one core at 0.05, and a third of that at 0.2, with ' .
	       "packets of one flit on 8x8x8. Here, with the same traffic at the same " .
	       "load. Only the first row also has the same routers and links: the other " .
	       "two simulate those of the adapter, with cables and PCIe.\n\n" .
	       booksim($run);
}

1;
