# SPDX-License-Identifier: GPL-2.0-only
#
# The simulations of the comparison in time: fabrics of each size, and jobs as
# Paper::Run takes them.

package Times::Plan;

use strict;
use warnings;

# Topologies, in the order of tables and curves.
our @KINDS = ('MKNS', '4D torus', '6D torus', 'fat tree', 'hypercube');

# Fabrics by number of modules: for each topology its description, and the
# modules per node if the description does not give them. A hypercube has the
# power of two closest to the size.
our @SIZES = (64, 160, 1600);
our %FABRIC = (
	64 => [['mkns:8x4,m=2'], ['torus:4x4x2x2'], ['torus:2x2x2x2x2', 2],
	       ['fattree:40,2,nodes=64'], ['hypercube:6']],
	160 => [['mkns:8x10,m=2'], ['torus:5x4x4x2'], ['torus:5x2x2x2x2', 2],
		['fattree:40,2,nodes=160'], ['hypercube:7']],
	1600 => [['mkns:8x10x10,m=2'], ['torus:8x8x5x5'],
		 ['torus:5x5x4x2x2x2', 2], ['fattree:40,3,nodes=1600'],
		 ['hypercube:11']],
);

# The topology from which MKNS is derived, by number of modules.
our %KNS = (64 => 'kns:8x4,m=2', 160 => 'kns:8x10,m=2',
	    1600 => 'kns:8x10x10,m=2');

our @PATTERNS = qw(uniform matrix grid alltoall);
# Patterns that also have curves with deterministic routing.
our @ORDERED = qw(uniform matrix);

# Collective operations: name, operation, bytes.
our @COLLS = (['broadcast, 256 B', 'bcast', 256],
	      ['broadcast, 64 KiB', 'bcast', 65536],
	      ['allreduce, 8 B', 'allreduce', 8],
	      ['allreduce, 256 B', 'allreduce', 256],
	      ['allreduce, 64 KiB', 'allreduce', 65536]);

# Fabrics on which long operations are spread over several trees, by number of
# nodes: topology, description. A quick report has the first size only.
our @STRIPED = (64, 512, 8192);
our %STRIPES = (
	64 => [['3D torus', 'torus:4x4x4'], ['MKNS', 'mkns:8x8'],
	       ['fat tree', 'fattree:40,2,nodes=64'],
	       ['hypercube', 'hypercube:6']],
	512 => [['3D torus', 'torus:8x8x8'], ['MKNS', 'mkns:8x8x8'],
		['fat tree', 'fattree:40,3,nodes=512'],
		['hypercube', 'hypercube:9']],
	8192 => [['3D torus', 'torus:16x16x32'], ['hypercube', 'hypercube:13']],
);
our @TREES = (1, 2, 4, 8, 16);
our @STRIPED_OPS = qw(bcast allreduce);

# Switches with other times and buffers: text, options.
our @SWITCHES = (
	['by default', ''],
	['100 ns through a switch', '--switch 50'],
	['100 ns through a switch, and 160 ns for a cable to it',
	 '--switch 50 --switch-latency 160ns'],
);

sub sizes
{
	my ($quick) = @_;

	return $quick ? (64) : @SIZES;
}

# Returns the options of angara-sim that select a fabric.
sub fabric
{
	my ($size, $kind) = @_;
	my ($text, $modules) = @{$FABRIC{$size}[$kind]};

	return ('--fabric', $text, $modules ? ('--modules', $modules) : ());
}

# Returns the options for windows, seeds and steps of a curve. Larger fabrics
# have shorter windows, as they have more packets in the same time.
sub effort
{
	my ($size, $quick) = @_;

	return qw(--warmup 2us --time 4us --drain 1us --seeds 2 --step 0.2
		  --least 0.05) if $quick;
	return qw(--warmup 4us --time 5us --drain 2us --seeds 2 --step 0.15
		  --least 0.02) if $size > 1000;
	return qw(--warmup 5us --time 10us --drain 5us --seeds 3 --step 0.1
		  --least 0.0125);
}

sub job
{
	my ($id, $cost, @args) = @_;

	return {id => $id, cost => $cost, args => \@args};
}

sub jobs_of
{
	my ($size, $kind, $quick) = @_;
	my @fabric = fabric($size, $kind);
	my @effort = effort($size, $quick);
	my $cost = $size / 100;
	my @jobs = (
		job("capacity-$size-$kind", $cost, 'capacity', @fabric),
		job("pairs-$size-$kind", 0.1, qw(pairs --from 0), @fabric),
		job("network-$size-$kind", $cost, 'traffic', @fabric,
		    qw(--load 3 --host-rate 640Gbit/s --time),
		    $quick ? '5us' : '10us'),
	);

	push @jobs, job("curve-$_-$size-$kind", 10 * $cost, 'curve', '--pattern',
			$_, @fabric, @effort) for @PATTERNS;
	push @jobs, job("order-$_-$size-$kind", 10 * $cost, 'curve', '--pattern',
			$_, qw(--routing deterministic), @fabric, @effort)
		for @ORDERED;
	for my $coll (@COLLS) {
		my (undef, $op, $bytes) = @$coll;

		push @jobs, job("$op-$bytes-$size-$kind",
				$bytes > 256 ? $cost : 0.1, 'coll', '--op', $op,
				'--bytes', $bytes, qw(--mode offload), @fabric);
	}
	return @jobs;
}

sub striped
{
	my ($quick) = @_;

	return $quick ? ($STRIPED[0]) : @STRIPED;
}

sub stripe_jobs
{
	my ($size) = @_;

	return map {
		my $kind = $_;

		map { job("stripe-$_-$size-$kind", $size / 500, 'stripe', '--op', $_,
			  qw(--bytes 64KiB --routing deterministic --trees),
			  join(',', @TREES), '--fabric',
			  $STRIPES{$size}[$kind][1]) } @STRIPED_OPS;
	} 0 .. $#{$STRIPES{$size}};
}

# Returns the jobs with other switches. The first entry of @SWITCHES is the default,
# with which all other jobs run.
sub switch_jobs
{
	my ($size, $kind) = @_;
	my @jobs;

	for my $i (1 .. $#SWITCHES) {
		my @options = (split(/ /, $SWITCHES[$i][1]),
			       fabric($size, $kind));

		push @jobs, job("pairs$i-$size-$kind", 0.1, qw(pairs --from 0),
				@options),
			job("bcast$i-$size-$kind", 0.1,
			    qw(coll --op bcast --bytes 256 --mode offload),
			    @options);
	}
	return @jobs;
}

sub all
{
	my ($quick) = @_;
	my @jobs;

	for my $size (sizes($quick)) {
		push @jobs, jobs_of($size, $_, $quick) for 0 .. $#KINDS;
		push @jobs, switch_jobs($size, $_)
			for grep { $KINDS[$_] =~ /MKNS|fat tree/ } 0 .. $#KINDS;
		push @jobs, job("pairs-$size-kns", 0.1, qw(pairs --from 0 --fabric),
				$KNS{$size});
	}
	push @jobs, stripe_jobs($_) for striped($quick);
	return @jobs;
}

1;
