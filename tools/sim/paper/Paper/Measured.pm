# SPDX-License-Identifier: GPL-2.0-only
#
# Computing times measured on this machine, with their spread, and the gains that
# follow from them instead of the document's rates.

package Paper::Measured;

use strict;
use warnings;
use Digest::SHA qw(sha1_hex);
use Paper::Plan;
use Paper::Plot;
use Paper::Run;

# Each case: program, numbers of units per node, its command of the simulator, what is
# simulated, and the matrix's columns, if it has any; a quick run has another command.
# Simulated nodes have the first number of units. The last case is only measured.
sub cases
{
	my ($quick) = @_;
	my ($nodes, $rows, $heat, $cells) = $quick ? (32, 40000, 32, 40000) :
		($Paper::Plan::CHOICE_NODES, $Paper::Plan::CHOICE_ROWS, 32768, 40960000);
	my @cases = (
		{name => 'spmv', program => 'spmv', columns => $rows,
		 units => [grep { $_ <= $rows } 1250, 10000, 80000],
		 command => "spmv --from $nodes --to $nodes --rows $rows",
		 what => 'SpMV, ' . Paper::Plot::spaced($rows) . " rows on $nodes nodes"},
		{name => 'heat2d', program => 'heat2d', units => [1250, 10000, 80000],
		 command => "heat2d --from $heat --to $heat --cells $cells",
		 what => 'heat equation, ' . Paper::Plot::spaced($cells) .
			 " cells on $heat nodes"},
	);

	push @cases, {name => 'spmv-published', program => 'spmv', units => [10000],
		      columns => $Paper::Plan::PUBLISHED_ROWS} if !$quick;
	return @cases;
}

my @POINTS = (['median', 'measured: median'], ['least', 'measured: least'],
	      ['most', 'measured: greatest']);

# new RUN => Paper::Run, APPS => folder of the applications, MEASURE => the
# script, QUICK
sub new
{
	my ($class, %arg) = @_;
	my $self = bless {%arg, time => {}, date => {}, cases => [cases($arg{quick})]}, $class;

	$self->measure($_) for @{$self->{cases}};
	return $self;
}

# Measures the times of a case, once per build of the program and version of the script.
sub measure
{
	my ($self, $case) = @_;
	my ($name, $program, $units) = @$case{qw(name program units)};
	my @columns = $case->{columns} ? ('--columns', $case->{columns}) : ();
	my $binary = Paper::Run::slurp("$self->{apps}/angara-$program") //
		die "paper: --apps: no $self->{apps}/angara-$program; 'make user' builds it\n";
	my $kept = sprintf('%s/cache/measured-%s-%.12s.txt', $self->{run}{out}, $name,
			   sha1_hex(join("\0", $binary, Paper::Run::slurp($self->{measure}),
					 @columns, @$units)));
	my $text = Paper::Run::slurp($kept);

	if (!defined $text) {
		local $ENV{BIN} = $self->{apps};
		open(my $pipe, '-|', $self->{measure}, $program, @columns, @$units) or
			die "paper: $self->{measure}: $!\n";
		local $/;
		$text = <$pipe>;
		close($pipe) or die "paper: $self->{measure} $program failed\n";
		Paper::Run::spew($kept, $text);
	}
	($self->{date}{$name}) = $text =~ /^# measured on ([\d-]+) /m or
		die "paper: $kept: no line '# measured on DATE': delete the file\n";
	for (split(/\n/, $text)) {
		/^(\d+) ([\d.]+) # ([\d.]+) to ([\d.]+)$/ or next;
		$self->{time}{$name}{$1} = {median => $2, least => $3, most => $4};
	}
	for my $n (@$units) {
		die "paper: $kept: no time of $n units\n" if !$self->{time}{$name}{$n};
	}
}

# Returns the simulations: with the document's rate, and with each of the
# measured times.
sub jobs
{
	my ($self) = @_;
	my @jobs;

	for my $case (grep { $_->{command} } @{$self->{cases}}) {
		my ($program, $units, $command) = @$case{qw(name units command)};
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

	for my $case (@{$self->{cases}}) {
		my ($name, $program, $units, $what) = @$case{qw(name program units what)};
		my $of = $case->{columns} ?
			 ' rows of ' . Paper::Plot::spaced($case->{columns}) . ' columns' : ' cells';

		for my $n (@$units) {
			my $t = $self->{time}{$name}{$n};

			push @times, ["angara-$program", $n . $of, $self->{date}{$name},
				      map { microseconds($t->{$_}) } qw(median least most)];
		}
		next if !$what;
		for (['rate', "document's rate"], @POINTS) {
			my $row = $report->{run}->answer("measured-$name-$_->[0]")->{rows}[0];

			push @gains, ["$what, $_->[1]",
				      map { Paper::Report::number($row->{$_}) }
					  'compute us', 'offload us', 'p2p us', 'gain'];
		}
	}
	return Paper::Report::table(['Program', 'A node has', 'Measured on', 'Median, us', 'Least',
				     'Greatest'], @times) .
	       "\n" . Paper::Report::table(['Case', 'Computing, us', 'In the network, us',
					    'Messages, us', 'Gain'], @gains);
}

1;
