# SPDX-License-Identifier: GPL-2.0-only
#
# Computing times measured on this machine, with their spread, and the gains that
# follow from them instead of the document's rates.

package Paper::Measured;

use strict;
use warnings;
use Digest::SHA qw(sha1_hex);
use Paper::Plan;
use Paper::Run;

# Each case: program, name of its unit, measured numbers of units per node, and
# the simulated case and its name, both also for a quick run. Simulated nodes
# have the first number of units.
my @CASES = (
	['spmv', 'rows', [1250, 10000, 80000],
	 "spmv --from 512 --to 512 --rows $Paper::Plan::CHOICE_ROWS",
	 'spmv --from 32 --to 32 --rows 40000',
	 'SpMV, 640 000 rows on 512 nodes', 'SpMV, 40 000 rows on 32 nodes'],
	['heat2d', 'cells', [1250, 10000, 80000],
	 'heat2d --from 32768 --to 32768 --cells 40960000',
	 'heat2d --from 32 --to 32 --cells 40000',
	 'heat equation, 40 960 000 cells on 32768 nodes',
	 'heat equation, 40 000 cells on 32 nodes'],
);
my @POINTS = (['median', 'measured: median'], ['least', 'measured: least'],
	      ['most', 'measured: greatest']);

# new RUN => Paper::Run, APPS => folder of the applications, MEASURE => the
# script, QUICK
sub new
{
	my ($class, %arg) = @_;
	my $self = bless {%arg, time => {}}, $class;

	$self->measure($_) for @CASES;
	return $self;
}

# Returns the times of a program, which are measured once per build of the
# program.
sub measure
{
	my ($self, $case) = @_;
	my ($program, undef, $units) = @$case;
	my $out = $self->{run}{out};
	my $binary = Paper::Run::slurp("$self->{apps}/angara-$program") //
		die "paper: --apps: no $self->{apps}/angara-$program; 'make user' builds it\n";
	my $kept = sprintf('%s/cache/measured-%s-%.12s.txt', $out, $program,
			   sha1_hex($binary));
	my $text = Paper::Run::slurp($kept);

	if (!defined $text) {
		local $ENV{BIN} = $self->{apps};
		open(my $pipe, '-|', $self->{measure}, $program, @$units) or
			die "paper: $self->{measure}: $!\n";
		local $/;
		$text = <$pipe>;
		close($pipe) or die "paper: $self->{measure} $program failed\n";
		Paper::Run::spew($kept, $text);
	}
	for (split(/\n/, $text)) {
		/^(\d+) ([\d.]+) # ([\d.]+) to ([\d.]+)$/ or next;
		$self->{time}{$program}{$1} = {median => $2, least => $3, most => $4};
	}
	for my $n (@$units) {
		die "paper: $kept: no time of $n units\n"
			if !$self->{time}{$program}{$n};
	}
}

# Returns the simulations: with the document's rate, and with each of the
# measured times.
sub jobs
{
	my ($self) = @_;
	my @jobs;

	for my $case (@CASES) {
		my ($program, undef, $units, @commands) = @$case;
		my $command = $commands[$self->{quick} ? 1 : 0];
		my $times = $self->{time}{$program};

		push @jobs, Paper::Plan::job("measured-$program-rate", $command,
					     cost => 5);
		for (@POINTS) {
			my $name = $_->[0];
			my $table = join('', map { "$_ $times->{$_}{$name}\n" }
					 @$units);
			my $path = "$self->{run}{out}/data/$program-$name.table";

			Paper::Run::spew($path, $table);
			push @jobs, Paper::Plan::job("measured-$program-$name",
				"$command --table $path", cost => 5,
				salt => sha1_hex($table));
		}
	}
	return @jobs;
}

sub microseconds
{
	my ($seconds) = @_;

	return sprintf('%.1f', 1e6 * $seconds);
}

# Returns the text for the report.
sub text
{
	my ($self, $report) = @_;
	my (@times, @gains);

	for my $case (@CASES) {
		my ($program, $unit, $units, undef, undef, @what) = @$case;
		my $what = $what[$self->{quick} ? 1 : 0];

		for my $n (@$units) {
			my $t = $self->{time}{$program}{$n};

			push @times, ["angara-$program", "$n $unit",
				      map { microseconds($t->{$_}) }
					  qw(median least most)];
		}
		for (['rate', "document's rate"], @POINTS) {
			my $row = $report->{run}->answer("measured-$program-$_->[0]")
					 ->{rows}[0];

			push @gains, ["$what, $_->[1]",
				      map { Paper::Report::number($row->{$_}) }
					  'compute us', 'offload us', 'p2p us', 'gain'];
		}
	}
	return Paper::Report::table(['Program', 'A node has', 'Median, us', 'Least',
				     'Greatest'], @times) .
	       "\n" . Paper::Report::table(['Case', 'Computing, us', 'In the network, us',
					    'Messages, us', 'Gain'], @gains);
}

1;
