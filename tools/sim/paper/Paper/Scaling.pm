# SPDX-License-Identifier: GPL-2.0-only
#
# Weak and strong scaling of the simulator by threads and by processes.

package Paper::Scaling;

use strict;
use warnings;
use Paper::Plan;

# Times below this number of seconds are too short to compare.
use constant SHORT => 0.2;

# Threads, or processes of one thread, share one simulation (strong scaling), or
# each has the same number of nodes (weak scaling). A quick run has at most two threads
# or processes.
# Times count only if the machine has a processor for each thread or process.
my @WAYS = (1, 2, 4, 8);
my %WEAK = (1 => '8x16x16', 2 => '16x16x16', 4 => '16x16x32', 8 => '16x32x32');
my %WEAK_QUICK = (1 => '4x4x4', 2 => '4x4x8');

# jobs QUICK, MPI, CORES: returns the jobs. MPI: is there a simulator for
# several processes?
sub jobs
{
	my ($quick, $mpi, $cores) = @_;
	my $coll = 'coll --op allreduce --mode offload --bytes 16KiB --trees 16 ' .
		   '--roots spread';
	my $strong = $quick ? '4x4x8' : '16x16x16';
	my $weak = $quick ? \%WEAK_QUICK : \%WEAK;
	my @jobs;

	for my $n (grep { $weak->{$_} } @WAYS) {
		for (['strong', $strong], ['weak', $weak->{$n}]) {
			my ($kind, $torus) = @$_;
			my $speed = $n <= $cores;
			my %cost = (repeat => $speed ? 3 : 1, speed => $speed,
				    cost => $quick ? 1 : 3);

			push @jobs, Paper::Plan::job("$kind-$n",
					"$coll --torus $torus --threads $n", %cost);
			push @jobs, Paper::Plan::job("$kind-processes-$n",
					"$coll --torus $torus --threads 1",
					procs => $n, %cost) if $mpi;
		}
	}
	return @jobs;
}

# Returns the efficiency of N threads or processes; WANTED is the time in
# seconds at an efficiency of 1.
sub efficiency
{
	my ($run, $kind, $n, $wanted) = @_;
	my $seconds = $run->cell("$kind-$n", 'seconds');

	return '' if $n > $run->{cores};
	return 'too short' if $wanted < SHORT || $seconds < SHORT;
	return 'not idle' if !Paper::Speed::idle($run, "$kind-1") ||
			     !Paper::Speed::idle($run, "$kind-$n");
	return sprintf('%.2f', $wanted / $seconds);
}

# Returns the rows of the table for one kind of scaling.
sub rows
{
	my ($run, $kind, $way) = @_;
	my $one = $run->has("$kind-1") ? $run->cell("$kind-1", 'seconds') : 0;
	my @rows;

	for my $n (grep { $run->has("$kind-$_") } @WAYS) {
		my $row = $run->answer("$kind-$n")->{rows}[0];
		my $share = $kind =~ /^strong/ ? $n : 1;

		push @rows, [($kind =~ s/-.*//r) . ", $row->{torus}", "$n $way",
			     Paper::Report::number($row->{events}),
			     sprintf('%.2f', $row->{seconds}),
			     efficiency($run, $kind, $n, $one / $share),
			     sprintf('%.2f', $row->{balance})];
	}
	return @rows;
}

# Returns the table, for threads and for processes: seconds and efficiency
# measured on this machine, and the efficiency that the balance of events allows
# on as many processors.
sub text
{
	my ($run) = @_;
	my @rows = map { rows($run, @$_) }
		       (['strong', 'threads'], ['strong-processes', 'processes'],
			['weak', 'threads'], ['weak-processes', 'processes']);

	return "\nAn allreduce over 16 trees by several threads, or by processes " .
		'of one thread' . ($run->has('strong-processes-1') ? '' :
				   ' (not run: no MPI)') .
		': the same work for all of them (strong), or as many nodes for ' .
		'each (weak). Seconds and efficiency are measured by the clock, as far as ' .
		'this machine has processors, and if others used at most 5 % of them. ' .
		'Events and balance are counted, so other processes do not change ' .
		'them: balance is the mean of the parts\' events over the most of one, ' .
		'both summed over the windows of time after which parts wait for each ' .
		'other. It bounds the efficiency on as many processors if all events ' .
		'cost the same. Measured on ' .
		$run->days(grep { $run->has($_) } map { my $n = $_;
			map { "$_-$n" } qw(strong strong-processes weak weak-processes) } @WAYS) .
		".\n\n" .
		Paper::Report::table(['Scaling', 'By', 'Events', 'Seconds',
		       'Efficiency, measured', 'Balance, counted'], @rows);
}

1;
