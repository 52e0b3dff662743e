# SPDX-License-Identifier: GPL-2.0-only
#
# Runs of the simulator. Results are kept in cache/, under a hash of the command
# line and the simulator's binary: an interrupted run continues, and a changed
# simulator runs everything again.
#
# Results do not depend on the number of threads. So simulations run with one
# thread, one simulation on each processor, because several threads of one
# simulation would wait for each other. Only simulations whose time or memory
# counts run alone, with their own number of threads.

package Paper::Run;

use strict;
use warnings;
use Digest::SHA qw(sha1_hex);
use File::Path qw(make_path);
use List::Util qw(max sum uniq);
use JSON::PP;
use POSIX qw(strftime sysconf);
use Time::HiRes qw(time sleep);

# Seconds between two polls of the simulator: short at first, so that the
# measured time of a short simulation is exact.
use constant {SOON => 0.002, LATER => 0.05};
# IDLE: the machine counts as idle while other processes use at most this share
# of its processors, in per cent. TICKS: seconds by which the kernel's counts
# for a run may be wrong.
use constant {IDLE => 5, TICKS => 0.03};

# Name of the program in messages.
our $NAME = 'paper';

sub new
{
	my ($class, %arg) = @_;
	my $self = bless {%arg, done => {}, tty => -t STDERR}, $class;

	open(my $bin, '<:raw', $self->{sim}) or
		die "$NAME: cannot read the simulator: $self->{sim}: $!\n";
	local $/;
	$self->{digest} = sha1_hex(<$bin>);
	$self->{cores} = () = (slurp('/proc/stat') // '') =~ /^cpu\d/mg;
	make_path("$self->{out}/cache", "$self->{out}/data");
	return $self;
}

sub slurp
{
	my ($path) = @_;

	open(my $file, '<', $path) or return;
	local $/;
	return <$file>;
}

# Writes a file under its name only when the file is complete.
sub spew
{
	my ($path, $text) = @_;

	open(my $file, '>', "$path.new") or die "$NAME: $path.new: $!\n";
	print $file $text;
	close($file) or die "$NAME: $path.new: $!\n";
	rename("$path.new", $path) or die "$NAME: $path: $!\n";
}

# Returns the cells of a line of CSV; cells in quotes may have commas.
sub cells
{
	my ($rest) = @_;
	my @cells;

	while ($rest =~ s/^(?:"((?:[^"]|"")*)"|([^,]*))(,|\z)//) {
		my ($quoted, $plain, $end) = ($1, $2, $3);

		$quoted =~ s/""/"/g if defined $quoted;
		push @cells, $quoted // $plain;
		last if $end eq '';
	}
	return @cells;
}

# Reads results in CSV; returns a list of rows, each a hash by column name.
sub rows
{
	my ($csv) = @_;
	my ($head, @lines) = split(/\n/, $csv);
	my @names = split(/,/, $head // '');
	my @rows;

	for (@lines) {
		my @cells = cells($_);

		die "$NAME: not a row of '$head': '$_'\n" if @cells != @names;
		push @rows, {map { $names[$_] => $cells[$_] } 0 .. $#names};
	}
	return \@rows;
}

sub cache_name
{
	my ($self, $job) = @_;
	my $key = join("\0", $self->{digest}, @{$job->{args}},
		       sort(keys %{$job->{files} // {}}),
		       map { $job->{$_} // () } qw(procs salt));

	return sprintf('%s/cache/%s-%.12s.json', $self->{out}, $job->{id},
		       sha1_hex($key));
}

# Returns a cached result, if it is complete and its files exist. A result without
# the time of its end has that of its file.
sub cached
{
	my ($self, $job) = @_;
	my $path = $self->cache_name($job);
	my $text = slurp($path) // return;
	my $known = eval { decode_json($text) } // return;

	$known->{end} //= (stat($path))[9];
	return if !defined $known->{others} || grep { !-s "$self->{out}/data/$_" }
		       values %{$job->{files} // {}};
	return $known;
}

# Returns the peak resident memory of a process so far, in KiB.
sub memory
{
	my ($pid) = @_;
	my $status = slurp("/proc/$pid/status") // '';

	return $status =~ /^VmHWM:\s+(\d+)/m ? $1 : 0;
}

# Returns the seconds of processor time that all processes have used so far.
sub busy
{
	my $text = slurp('/proc/stat') // '';

	# user, nice, system, idle, waiting, interrupts (2), stolen by other machines
	my @ticks = $text =~ /^cpu +(\d+) (\d+) (\d+) \d+ \d+ (\d+) (\d+) (\d+)/ or
		die "$NAME: /proc/stat has no line of CPU times\n";

	return sum(@ticks) / sysconf(POSIX::_SC_CLK_TCK());
}

# Returns the share of the machine's processors that other processes used during
# simulations, in per cent.
sub others
{
	my ($self, @answers) = @_;
	my $used = sum(map { $_->{others} - TICKS } @answers);
	my $all = sum(map { $_->{wall} } @answers) * $self->{cores};

	return $used > 0 && $all > 0 ? 100 * $used / $all : 0;
}

sub idle
{
	my ($self, @answers) = @_;

	return $self->others(@answers) <= IDLE;
}

# Returns the day on which simulations have run, or the first and the last of several
# days: a cached result may be of an earlier day than the report.
sub days
{
	my ($self, @ids) = @_;
	my @days = uniq(sort map { strftime('%F', localtime($self->answer($_)->{end})) } @ids);

	return @days > 1 ? "$days[0] to $days[-1]" : $days[0];
}

# Returns the command of the simulator, in one process or in several.
sub program
{
	my ($self, $procs) = @_;

	return $self->{sim} if !$procs;
	$ENV{OMPI_ALLOW_RUN_AS_ROOT} = 1;
	$ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} = 1;
	return ('mpirun', '--oversubscribe', '-n', $procs, "$self->{sim}-mpi");
}

# Start a simulation with the options MORE. SLOT: a number that no other running
# simulation has, for the files of its output.
sub start
{
	my ($self, $job, $slot, @more) = @_;
	my $files = $job->{files} // {};
	my %sim = (job => $job, kib => 0, begin => time, busy => busy(),
		   map { ($_ => "$self->{out}/cache/$_-$slot") } qw(stdout stderr));

	$sim{command} = [$self->program($job->{procs}), @{$job->{args}},
			 '--format', 'csv', @more,
			 map { ("--$_", "$self->{out}/data/$files->{$_}") }
			     sort keys %$files];
	$sim{pid} = fork() // die "$NAME: fork: $!\n";
	return \%sim if $sim{pid};
	# Show the progress of the plan, not that of each simulation.
	open(STDERR, '>', $sim{stderr}) or exit 126;
	open(STDOUT, '>', $sim{stdout}) or exit 126;
	exec(@{$sim{command}}) or exit 127;
}

# Returns the result of a simulation that has ended, or nothing. In the result,
# "others" is the processor time of all processes except this simulation.
sub ended
{
	my ($self, $sim) = @_;
	my @before = times;

	if (!waitpid($sim->{pid}, 1)) {	# 1: WNOHANG
		$sim->{kib} = max($sim->{kib}, memory($sim->{pid}));
		return;
	}
	my ($status, @after) = ($?, times);
	my $cpu = $after[2] + $after[3] - $before[2] - $before[3];

	if ($status) {
		$self->clear;
		print STDERR slurp($sim->{stderr}) // '';
		die "$NAME: failed: @{$sim->{command}}\n";
	}
	return {
		rows => rows(slurp($sim->{stdout})),
		end => int(time),
		wall => time - $sim->{begin},
		cpu => $cpu,
		others => max(0, busy() - $sim->{busy} - $cpu),
		kib => $sim->{kib},
	};
}

# Waits a moment for a running simulation to end.
sub pause
{
	my ($self, @sims) = @_;

	$self->show($sims[0]{job});
	sleep((grep { time - $_->{begin} < 1 } @sims) ? SOON : LATER);
}

sub simulate
{
	my ($self, $job) = @_;
	my $sim = $self->start($job, 0);
	my $result;

	$self->pause($sim) while !($result = $self->ended($sim));
	return $result;
}

# Keeps the fastest of several runs, for jobs that measure speed.
sub fastest
{
	my ($self, $job) = @_;
	my $best = $self->simulate($job);

	for (2 .. $job->{repeat} // 1) {
		my $next = $self->simulate($job);

		$best = $next if $next->{wall} < $best->{wall};
	}
	return $best;
}

sub clear
{
	my ($self) = @_;

	print STDERR "\r", ' ' x 78, "\r" if $self->{tty};
}

# Prints the time left: the time of the jobs so far, scaled by the cost of the
# remaining jobs.
sub show
{
	my ($self, $job) = @_;

	return if !$self->{tty} || time < ($self->{shown} // 0) + 0.2;
	$self->{shown} = time;
	my $passed = time - $self->{begin};
	my $part = $self->{spent} / $self->{cost};
	my $marks = '#' x (30 * $part);
	my $left = $self->{spent} ?
		sprintf('%.0f s left', $passed / $part - $passed) : '';

	printf STDERR "\r[%-30s] %3.0f%% %-28.28s %s  ", $marks, 100 * $part,
		$job->{id}, $left;
}

# Keep the result of a job.
sub keep
{
	my ($self, $job, $new) = @_;

	spew($self->cache_name($job), encode_json($new));
	$self->{done}{$job->{id}} = $new;
	$self->{spent} += $job->{cost} // 1;
	printf STDERR "    %-36s %6.1f s\n", $job->{id}, $new->{wall}
		if !$self->{tty} && $new->{wall} >= 1;
}

# Run jobs with one thread each, one on each processor. If one fails, the others
# end.
sub together
{
	my ($self, @todo) = @_;
	my @sims;

	while (1) {
		for my $slot (0 .. $self->{cores} - 1) {
			my $sim = $sims[$slot];
			my $new = eval { $sim && $self->ended($sim) };

			if ($@) {
				my ($why, @rest) = ($@, map { $_->{pid} }
					grep { $_ && $_ != $sim } @sims);

				kill('TERM', @rest);
				waitpid($_, 0) for @rest;
				die $why;
			}
			next if $sim && !$new;
			$self->keep($sim->{job}, $new) if $sim;
			$sims[$slot] = @todo ?
				$self->start(shift @todo, $slot, '--threads', 1) : undef;
		}
		my @running = grep { $_ } @sims or return;
		$self->pause(@running);
	}
}

# Returns whether a job runs alone: its time or memory counts, or the job sets
# its number of threads or processes.
sub alone
{
	my ($job) = @_;

	return $job->{alone} || $job->{speed} || $job->{procs} ||
	       grep { $_ eq '--threads' } @{$job->{args}};
}

# Runs all jobs without a cached result. If the run is to measure speed, it
# repeats jobs whose time counts and was taken while the machine was not idle.
sub run
{
	my ($self, @jobs) = @_;
	my @todo;

	for my $job (@jobs) {
		my $known = $self->cached($job);

		undef $known if $known && $self->{speed} && $job->{speed} &&
				!$self->idle($known);

		die "$NAME: two jobs have the id '$job->{id}'\n"
			if exists $self->{done}{$job->{id}};
		$self->{done}{$job->{id}} = $known;
		push @todo, $job if !$known;
	}
	$self->{cost} = 0;
	$self->{cost} += $_->{cost} // 1 for @todo;
	$self->{spent} = 0;
	$self->{begin} = time;
	printf STDERR "==> %d simulations, %d of them cached\n",
		scalar @jobs, @jobs - @todo;
	for my $job (grep { alone($_) } @todo) {
		$self->show($job);
		$self->keep($job, $self->fastest($job));
	}
	$self->together(grep { !alone($_) } @todo);
	$self->clear;
}

# Returns the result of a job: {rows, wall, cpu, kib}.
sub answer
{
	my ($self, $id) = @_;

	return $self->{done}{$id} // die "$NAME: no job '$id'\n";
}

sub has
{
	my ($self, $id) = @_;

	return defined $self->{done}{$id};
}

# Returns one cell of the only row of a result that has the given values.
sub cell
{
	my ($self, $id, $column, %where) = @_;
	my @rows = grep {
		my $row = $_;
		!grep { ($row->{$_} // '') ne $where{$_} } keys %where;
	} @{$self->answer($id)->{rows}};

	die "$NAME: $id: ", scalar @rows, " rows of ",
		join(' ', %where), "\n" if @rows != 1;
	return $rows[0]{$column} // die "$NAME: $id: no column '$column'\n";
}

# Returns the ids of a series of jobs NAME-0, NAME-1, ...
sub series
{
	my ($self, $name) = @_;

	return grep { /^\Q$name\E-\d+$/ } sort keys %{$self->{done}};
}

# Returns the rows of all jobs of an application, by number of nodes.
sub app
{
	my ($self, $name) = @_;

	return sort { $a->{nodes} <=> $b->{nodes} }
	       map { @{$self->{done}{$_}{rows}} }
	       $self->series($name);
}

# Returns the time by messages divided by the time in the network, for one
# torus.
sub ratio
{
	my ($self, $id, $torus, $column) = @_;
	my @where = $torus ? (torus => $torus) : ();

	return $self->cell($id, $column // 'us', mode => 'p2p', @where) /
	       $self->cell($id, $column // 'us', mode => 'offload', @where);
}

1;
