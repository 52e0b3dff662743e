# SPDX-License-Identifier: GPL-2.0-only
#
# The simulations of the report. A job has an id, arguments of angara-sim, a cost
# (about its seconds, to compute the time left), files that it writes, the number
# of its runs, of which the fastest counts, whether its time counts, and whether
# it runs alone because its time or memory is measured.

package Paper::Plan;

use strict;
use warnings;

our @T3 = qw(2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x8x8 8x8x8 8x8x16 8x16x16 16x16x16
	     16x16x32);
our @T4 = qw(2x2x2x2 2x2x2x4 2x2x4x4 2x4x4x4 4x4x4x4 4x4x4x8 4x4x8x8 4x8x8x8
	     8x8x8x8 8x8x8x16);
our @HEAT = (@T4, qw(8x8x16x16 8x16x16x16));
our @CELLS = (40960000, 81920000, 163840000);
our @RATIOS = qw(2x2x2 16x16x32 8x8x8x16);
our %ID = ('2x2x2' => 'bcast-8-3d', '16x16x32' => 'bcast-8192-3d',
	   '8x8x8x16' => 'bcast-8192-4d');

# Parameters that the document does not give, and assumptions: id, text,
# options, and torus sizes if they differ from those of @RATIOS. A block in a
# torus that is twice as large in each dimension has no wrap-around links.
my @doubled = (['4x4x4', '2x2x2'], ['32x32x64', '16x16x32'],
	       ['16x16x16x32', '8x8x8x16']);
our @CHOICES = (
	['base', 'as chosen'],
	['forward', 'store-and-forward: each hop waits for the whole packet, as section 3.1 says',
	 '--vc store-and-forward'],
	['forward-180', 'the same, and 180 ns of host time for each message: fitted',
	 '--vc store-and-forward --overhead 180ns'],
	['forward-300', 'the same, and 300 ns of host time for each message',
	 '--vc store-and-forward --overhead 300ns'],
	['overhead-100', '100 ns of host time for each message',
	 '--overhead 100ns'],
	['overhead-300', '300 ns of host time for each message',
	 '--overhead 300ns'],
	['router-1', 'a router takes 1 cycle instead of 2', '--router 1'],
	['router-4', 'a router takes 4 cycles', '--router 4'],
	['pegroup-0', 'the PEGroup takes no cycle instead of 10', '--pegroup 0'],
	['pegroup-20', 'the PEGroup takes 20 cycles', '--pegroup 20'],
	['host-75', 'PCIe as fast as a link, 75 Gbit/s instead of 64',
	 '--host-rate 75Gbit/s'],
	['header-0', 'PCIe without headers', '--host-header 0'],
	['shallowest', 'messages to the shallowest subtree first',
	 '--children shallowest'],
	['mesh', 'no wrap-around, root in a corner', '', \@doubled],
	['mesh-middle', 'no wrap-around, root in the middle', 'middle',
	 \@doubled],
	['largest', 'the largest dimension first', '',
	 [['2x2x2'], ['32x16x16'], ['16x8x8x8']]],
	['buffer-4', 'buffers of 4 packets instead of 8', '--buffer 4'],
	['buffer-64', 'buffers of 64 packets', '--buffer 64'],
);

our @REDUCE = (
	['packet', 'as chosen: the Reducer reads complete packets'],
	['flit', 'reduction flit by flit', '--reduce flit'],
	['reducer-0', 'the Reducer takes no cycles in addition to one per flit, instead of 4',
	 '--reducer 0'],
	['combine-100', 'by messages, 100 ns of host time for each packet combined',
	 '--combine 100ns'],
	['forward', 'store-and-forward', '--vc store-and-forward'],
);

# SpMV: routing of messages between hosts, in the order of the curves: id of the
# jobs, text, options, logarithm of the largest number of nodes. Results of the
# first are compared with the document.
our @SPMV = (
	['figure9', 'adaptive routing', '', 11],
	['figure9-order', 'dimension order', '--routing deterministic', 9],
	['figure9-reverse', 'dimension order, neighbours along the last dimension',
	 '--routing deterministic --ranks last', 9],
);

# A smaller case of SpMV, in which @SPMV_CHOICES compares parameters.
our $CHOICE_NODES = 512;
our $CHOICE_ROWS = 640000;
our $SPMV = "spmv --from $CHOICE_NODES --to $CHOICE_NODES --rows $CHOICE_ROWS";
# Still smaller cases, for the bands of figure 9: name, numbers of nodes, rows,
# samples, routings, cost. In a quick run they have other nodes, rows and samples.
our @SPMV_BANDS = (
	{name => 'spmv', from => 16, to => 512, rows => 160000, samples => 64,
	 routings => [qw(adaptive deterministic)], cost => 9},
	{name => 'spmv-most', from => 2048, to => 2048, rows => 320000, samples => 32,
	 routings => ['adaptive'], cost => 40},
);
# Does the plan have simulations that take hours?
our $FULL = 0;
our @SPMV_BANDS_QUICK = (
	{%{$SPMV_BANDS[0]}, to => 32, samples => 3, cost => 0.5},
	{%{$SPMV_BANDS[1]}, from => 64, to => 64, rows => 20000, samples => 2, cost => 0.5},
);
our @SPMV_CHOICES = (
	['base', 'as chosen'],
	['rows', 'half of the rows', '--rows 320000'],
	['ranks', 'neighbouring ranks along the last dimension', '--ranks last'],
	['order', 'messages in dimension order instead of adaptively',
	 '--routing deterministic'],
	['reverse', 'dimension order, neighbouring ranks along the last dimension',
	 '--routing deterministic --ranks last'],
	['ring', 'against a ring', '--algo ring'],
	['bruck', 'against Bruck', '--algo bruck'],
	['stripe', 'each block striped over all 16 trees', '--stripe'],
	['copies', 'copies of a packet leave at once, not links first', '--copies at-once'],
	['buffer-4', 'buffers of 4 packets instead of 8', '--buffer 4'],
	['buffer-32', 'buffers of 32 packets', '--buffer 32'],
	['forward', 'store-and-forward', '--vc store-and-forward'],
	['router-4', 'routers take 4 cycles', '--router 4'],
	['host-75', 'PCIe as fast as a link', '--host-rate 75Gbit/s'],
	['host-128', 'PCIe twice as fast', '--host-rate 128Gbit/s'],
);

our @HEAT_CHOICES = (
	['base', 'as chosen: 13 operations per cell, 9.5 us per step'],
	['no-overhead', 'no fixed time per step',
	 '--step-overhead 0s'],
	['flop-26', '26 operations per cell', '--flop 26'],
	['flop-34', '34 operations per cell, as angara-heat2d has', '--flop 34'],
	['flit', 'reduction by flit', '--reduce flit'],
	['forward', 'store-and-forward', '--vc store-and-forward'],
	['overhead', '300 ns of host time for each message',
	 '--overhead 300ns'],
);

# Options of the next generation of the network: id, text, and the options of
# each command that has them.
our @NEXT = (
	['base', 'the network as published',
	 {coll => '', spmv => '', heat2d => ''}],
	['trees', '16 trees striped, one root', {coll => '--trees 16'}],
	['spread', '16 trees striped, roots spread',
	 {coll => '--trees 16 --roots spread', spmv => '--stripe'}],
	['largest', 'other tree: the largest dimension first', {coll => ''}],
	['flit', 'reduction by flit',
	 {coll => '--reduce flit', heat2d => '--reduce flit'}],
	['packet-1k', 'packets of 1 KiB',
	 {coll => '--packet 1KiB', spmv => '--packet 1KiB',
	  heat2d => '--packet 1KiB'}],
	['packet-4k', 'packets of 4 KiB',
	 {coll => '--packet 4KiB', spmv => '--packet 4KiB',
	  heat2d => '--packet 4KiB'}],
	['credits', 'credits to the PE after 8 results or 256 cycles',
	 {coll => '--credit-results 8 --credit-cycles 256',
	  heat2d => '--credit-results 8 --credit-cycles 256'}],
	['all', 'striped and spread, by flit, 1 KiB, credits',
	 {coll => '--trees 16 --roots spread --reduce flit --packet 1KiB ' .
		  '--credit-results 8 --credit-cycles 256',
	  spmv => '--stripe --packet 1KiB',
	  heat2d => '--reduce flit --packet 1KiB --credit-results 8 ' .
		    '--credit-cycles 256'}],
);

# Tests of the next generation of the network: id, text, command, its options,
# torus, the same torus with its largest dimension first, cost. For applications
# the torus is in the options.
our @TESTS = (
	['bcast', 'broadcast, 256 B, 8192 nodes', 'coll', '--op bcast',
	 '8x8x8x16', '16x8x8x8', 1],
	['allreduce', 'allreduce, 256 B, 8192 nodes', 'coll',
	 '--op allreduce', '8x8x8x16', '16x8x8x8', 1],
	['bcast-long', 'broadcast, 64 KiB, 512 nodes', 'coll',
	 '--op bcast --bytes 64KiB', '4x4x4x8', '8x4x4x4', 1],
	['allreduce-long', 'allreduce, 64 KiB, 512 nodes', 'coll',
	 '--op allreduce --bytes 64KiB', '4x4x4x8', '8x4x4x4', 2],
	['spmv', 'SpMV, 0.64M rows, 512 nodes', 'spmv', $SPMV =~ s/^spmv //r,
	 '', '', 10],
	['heat', 'heat, 41M cells, 32768 nodes', 'heat2d',
	 '--from 32768 --cells 40960000', '', '', 3],
);

sub job
{
	my ($id, $args, %more) = @_;

	return {id => $id, args => [split(' ', $args)], %more};
}

# Returns the bands of SpMV: several numbers of nodes, and the most nodes, which takes
# long.
sub spmv_bands
{
	my ($quick) = @_;

	return $quick ? @SPMV_BANDS_QUICK : $FULL ? @SPMV_BANDS : $SPMV_BANDS[0];
}

# Returns the torus that is twice as large in each dimension.
sub doubled
{
	my ($torus) = @_;

	return join('x', map { 2 * $_ } split(/x/, $torus));
}

# Returns the number of a block's middle node in its torus, in which X is the fastest.
sub middle
{
	my ($torus, $block) = @_;
	my @size = split(/x/, $torus);
	my @half = map { int($_ / 2) } split(/x/, $block);
	my $node = 0;

	$node = $node * $size[$_] + $half[$_] for reverse 0 .. $#size;
	return $node;
}

sub nodes
{
	my $n = 1;

	$n *= $_ for split(/x/, $_[0]);
	return $n;
}

# Returns the dimensions and the nodes of a torus, such as 3d8192: the part of a job's
# id that names it.
sub dims
{
	my ($torus) = @_;

	return (1 + $torus =~ tr/x//) . 'd' . nodes($torus);
}

sub figure7
{
	my @jobs;

	for my $op (qw(bcast allreduce)) {
		push @jobs, job("figure7-$op-3d", "coll --op $op --sizes " .
				join(',', @T3), cost => 2, speed => 1);
		push @jobs, job("figure7-$op-4d", "coll --op $op --sizes " .
				join(',', @T4), cost => 2, speed => 1);
	}
	return @jobs;
}

# Nodes whose routers show each block: the root, a middle node, a leaf.
sub figure6
{
	my $watch = '0,1,3,7';
	my @jobs;

	for my $op (qw(bcast allreduce)) {
		my $run = "coll --op $op --mode offload --torus 2x2x2 --watch $watch";

		push @jobs, job("figure6-$op", $run,
				files => {trace => "figure6-$op.json"}),
			job("figure6-$op-vcd", $run,
			    files => {trace => "figure6-$op.vcd"});
	}
	return @jobs;
}

sub choices
{
	my ($quick) = @_;
	my @jobs;

	for my $c (@CHOICES) {
		my ($id, undef, $options, $sizes) = @$c;

		next if $quick && $sizes && $sizes == \@doubled;
		for my $i (0 .. 2) {
			my ($torus, $block) = @{$sizes->[$i] // [$RATIOS[$i]]};
			my $args = $options // '';

			$args = '--root ' . middle($torus, $block)
				if $args eq 'middle';
			$args .= " --block $block" if $block;
			push @jobs, job("choice-$id-$RATIOS[$i]",
					"coll --torus $torus $args",
					cost => nodes($torus) / 3e4);
		}
	}
	for my $c (@REDUCE) {
		push @jobs, job("reduce-$c->[0]", 'coll --op allreduce ' .
				'--sizes ' . join(',', @RATIOS) . ' ' .
				($c->[2] // ''), cost => 1);
	}
	return @jobs;
}

# SpMV has an eighth of the published rows, which take hours; the table of
# parameters shows the effect of fewer rows. A quick run stops at 32 nodes.
our $SPMV_ROWS = 2560000;

sub figure9
{
	my ($quick) = @_;
	my @jobs;

	for my $series (@SPMV) {
		my ($id, undef, $options, $most) = @$series;

		for my $log2 (4 .. ($quick ? 5 : $most)) {
			my $n = 1 << $log2;

			push @jobs, job("$id-$n", "spmv --from $n --to $n " .
					"--rows $SPMV_ROWS $options",
					cost => 1 + $n / 15,
					alone => $id eq 'figure9' && $log2 == 11);
		}
	}
	return @jobs if $quick;
	push @jobs, job("spmv-$_->[0]", "$SPMV " . ($_->[2] // ''), cost => 10)
		for @SPMV_CHOICES;
	return @jobs;
}

# SpMV with as many rows as published; hours on one processor.
our $PUBLISHED_ROWS = 20480000;

sub full
{
	return map { job("full-$_", "spmv --from $_ --to $_ --rows $PUBLISHED_ROWS",
			 cost => 2.5 * $_) } 2048, 512;
}

# Simulations of SpMV that differ in rows only: id, nodes, rows.
our @BY_ROWS = (['spmv-rows', 512, 320000],
		['spmv-base', $CHOICE_NODES, $CHOICE_ROWS],
		['figure9-512', 512, $SPMV_ROWS], ['full-512', 512, $PUBLISHED_ROWS],
		['figure9-2048', 2048, $SPMV_ROWS], ['full-2048', 2048, $PUBLISHED_ROWS]);

sub figure10
{
	my ($quick) = @_;
	my $to = $quick ? 4096 : 32768;
	my @jobs;

	push @jobs, job("figure10-$_", "heat2d --cells $_ --from 2 --to $to",
			cost => $quick ? 1 : 6) for @CELLS;
	return @jobs if $quick;
	for my $c (@HEAT_CHOICES) {
		push @jobs, job("heat-$c->[0]", 'heat2d --from 32768 --cells ' .
				join(',', @CELLS) . ' ' . ($c->[2] // ''),
				cost => 6);
	}
	return @jobs;
}

sub heatmaps
{
	my @jobs;
	my $coll = 'coll --torus 16x16 --mode offload --bytes 64KiB';

	push @jobs, job('links-tree', $coll,
			files => {heatmap => 'links-tree.csv'}),
		job('links-trees', "$coll --trees 16 --roots spread",
		    files => {heatmap => 'links-trees.csv'});
	for my $pattern (qw(uniform hotspot)) {
		push @jobs, job("links-$pattern", 'traffic --torus 16x16 ' .
				"--load 0.1 --pattern $pattern",
				files => {heatmap => "links-$pattern.csv"});
	}
	return @jobs;
}

sub latency
{
	my ($quick) = @_;
	my $torus = $quick ? '4x4x4' : '8x8x8';
	my @jobs;

	for my $routing (qw(deterministic adaptive)) {
		for my $pattern (qw(uniform transpose)) {
			push @jobs, job("latency-$pattern-$routing",
					"traffic --torus $torus " .
					"--pattern $pattern --routing $routing " .
					'--load 0.05,0.1,0.2,0.3,0.4,0.5,0.6',
					cost => $quick ? 1 : 10);
		}
	}
	return @jobs;
}

sub next_generation
{
	my ($quick) = @_;
	my @jobs;

	for my $option (@NEXT) {
		for my $test (@TESTS) {
			my ($id, undef, $command, $args, $torus, $turned,
			    $cost) = @$test;
			my $more = $option->[2]{$command} // next;

			next if $quick && $cost > 1;
			$torus = $turned if $option->[0] eq 'largest';
			$args .= " --mode offload --torus $torus" if $torus;
			push @jobs, job("next-$option->[0]-$id",
					"$command $args $more", cost => $cost);
		}
	}
	for my $test (grep { $_->[2] eq 'coll' } @TESTS) {
		push @jobs, job("next-p2p-$test->[0]", "coll $test->[3] " .
				"--mode p2p --torus $test->[4]");
	}
	for my $local (1, 2, 4, 8) {
		push @jobs, job("local-$local", 'coll --op allreduce ' .
				"--mode offload --torus 8x8x8x16 --local $local");
	}
	for my $root (0, middle('16x16x16', '8x8x8')) {
		for my $op (qw(bcast allreduce)) {
			push @jobs, job("root-$op-" . ($root ? 'middle' : 'corner'),
					"coll --op $op --torus 16x16x16 " .
					"--block 8x8x8 --root $root");
		}
	}
	return (@jobs,
		job('root-torus-0', 'coll --op allreduce --torus 8x8x8'),
		job('root-torus-100', 'coll --op allreduce --torus 8x8x8 --root 100'),
		job('request-near', 'coll --torus 8x8x8x16 --mode offload'),
		job('request-far', 'coll --torus 8x8x8x16 --mode offload --source ' .
		    middle('8x8x8x16', '8x8x8x16')));
}

# The search for fitted parameters simulates each value that it tries.
our @FIT_PEGROUP = (0 .. 20);
our @FIT_OVERHEAD = map { 10 * $_ } 0 .. 30;

sub fits
{
	my $coll = 'coll --torus 2x2x2';
	my @jobs;

	for my $n (@FIT_PEGROUP) {
		push @jobs, job("fit-pegroup-$n", "$coll --pegroup $n"),
			job("fit-forward-$n", "$coll --vc store-and-forward " .
			    "--pegroup $n");
	}
	push @jobs, job("fit-overhead-$_", "coll --sizes " .
			join(',', @RATIOS) . " --vc store-and-forward " .
			"--overhead ${_}ns") for @FIT_OVERHEAD;
	return (@jobs, job('fit-heat', 'heat2d --cells 40960000 --from 32768 ' .
			   '--step-overhead 0s', cost => 3));
}

# Returns the jobs of the published numbers with cut-through, and with
# store-and-forward and 180 ns of host time.
sub both
{
	my ($quick) = @_;
	my %ways = (base => '', forward => '--vc store-and-forward --overhead 180ns');
	my @jobs;

	for my $way (sort keys %ways) {
		push @jobs, map { job("both-$way-$_", "coll --op $_ --sizes " .
				      join(',', @RATIOS) . " $ways{$way}") }
			    qw(bcast allreduce);
		next if $quick;
		push @jobs, job("both-$way-heat", 'heat2d --from 32768 ' .
				"--step-overhead 0s $ways{$way}", cost => 4),
			map { job("both-$way-spmv-$_", "$SPMV --routing $_ $ways{$way}",
				  cost => 15) } qw(adaptive deterministic);
	}
	return @jobs;
}

sub all
{
	my ($quick) = @_;

	return (fits(), both($quick), figure6(), figure7(), figure9($quick), figure10($quick),
		choices($quick), heatmaps(),
		latency($quick), next_generation($quick));
}

1;
