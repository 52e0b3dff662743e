# SPDX-License-Identifier: GPL-2.0-only
#
# Tables for gnuplot, and their pictures as PNG and SVG.

package Paper::Plot;

use strict;
use warnings;
use JSON::PP;
use Paper::Band;
use Paper::Plan;
use Paper::Run;

# Kinds of blocks in a router, and their colours.
my %COLOUR = (link => 0x0072b2, fifo => 0x56b4e9, host => 0x009e73,
	      reducer => 0xd55e00);

sub new
{
	my ($class, %arg) = @_;

	return bless {%arg}, $class;
}

# Writes a table of blocks of rows, which gnuplot selects by "index".
sub table
{
	my ($self, $name, @blocks) = @_;
	my $path = "$self->{out}/data/$name.dat";

	Paper::Run::spew($path, join("\n\n", map {
		join('', map { join(' ', @$_) . "\n" } @$_)
	} @blocks));
	return $path;
}

sub quoted
{
	my ($text) = @_;

	$text =~ s/'/''/g;
	return "'$text'";
}

# draw NAME, SCRIPT, VARIABLES: draws NAME.png and NAME.svg from the table of this name.
sub draw
{
	my ($self, $name, $script, %set) = @_;

	$set{scripts} = $self->{scripts};
	$set{data} = "$self->{out}/data/$name.dat";
	for my $form (qw(png svg)) {
		my $file = "$self->{out}/$name.$form";
		my $head = join('; ', map {
			my $value = $set{$_};
			"$_=" . ($value =~ /^-?[\d.]+$/ ? $value :
						quoted($value))
		} sort keys %set);

		unlink $file;
		system('gnuplot', '-e',
		       "form='$form'; file=" . quoted($file) . "; $head",
		       "$self->{scripts}/$script.gp") == 0 && -s $file or
			die "paper: gnuplot could not draw $file\n";
	}
}

# Returns rows of a band: number of nodes, least and greatest value.
sub bands
{
	my ($self, $band, $tori) = @_;

	return [map { [Paper::Plan::nodes($_), $band->($_)] } @$tori];
}

sub figure7
{
	my ($self, $op, $title) = @_;
	my $run = $self->{run};
	my @blocks;

	for my $dims ('3d', '4d') {
		my $id = "figure7-$op-$dims";
		my @rows;

		for my $torus ($dims eq '3d' ? @Paper::Plan::T3 :
					       @Paper::Plan::T4) {
			push @rows, [Paper::Plan::nodes($torus),
				     map({ $run->cell($id, 'us', mode => $_,
						      torus => $torus) }
					 qw(offload p2p)),
				     $run->ratio($id, $torus)];
		}
		push @blocks, \@rows;
	}
	push @blocks, [map { [Paper::Plan::nodes($_),
			      $self->{ref}{$Paper::Plan::ID{$_}}{value}] }
		       @Paper::Plan::RATIOS];
	push @blocks, $self->bands(sub { Paper::Band::ratio($run, $op, $_[0]) },
				   $_) for \@Paper::Plan::T3, \@Paper::Plan::T4;
	$self->table("figure7-$op", @blocks);
	$self->draw("figure7-$op", 'figure7', title => $title);
}

# Formats a whole number with its digits in groups of three.
sub spaced
{
	my ($number) = @_;

	1 while $number =~ s/(\d)(\d{3})\b/$1 $2/;
	return $number;
}

sub figure9
{
	my ($self) = @_;
	my ($run, $quick) = @$self{qw(run quick)};
	my ($bands, $most) = Paper::Plan::spmv_bands($quick);
	my @blocks;

	for my $series (@Paper::Plan::SPMV) {
		push @blocks, [map { [$_->{nodes}, $_->{'offload GFlop/s'},
				      $_->{'p2p GFlop/s'},
				      100 * ($_->{gain} - 1)] }
			       $self->{run}->app($series->[0])];
	}
	$self->table('figure9', @blocks,
		     [[2048, $self->{ref}{'spmv-2048'}{value}]],
		     map { my ($band, $routing) = @$_;
			   [map { [$_, Paper::Band::spmv($run, $band->{name}, $routing, $_)] }
			    Paper::Band::spmv_nodes($run, $band->{name})]
		     } [$bands, 'adaptive'], [$bands, 'deterministic'],
		       ($most ? [$most, 'adaptive'] : ()));
	$self->draw('figure9', 'figure9',
		    title => 'SpMV, ' . spaced($Paper::Plan::SPMV_ROWS) .
			     ' rows (published: 20 480 000), 4D torus',
		    bands => join(' ', map { qq("plausible range, $_ rows") }
				  (map { "$_, " . spaced($bands->{rows}) }
				   'adaptive', 'dimension order'),
				  ($most ? 'adaptive, ' . spaced($most->{rows}) : ())),
		    names => join(' ', map { qq("$_->[1]") } @Paper::Plan::SPMV));
}

sub figure10
{
	my ($self) = @_;
	my (@blocks, @points);

	for my $cells (@Paper::Plan::CELLS) {
		my $name = 'heat-' . int($cells / 1e6) . 'M';

		push @blocks, [map { [$_->{nodes},
				      map({ $_ / 1000 } $_->{'offload GFlop/s'},
					  $_->{'p2p GFlop/s'}), $_->{gain}] }
			       @{$self->{run}->answer("figure10-$cells")->{rows}}];
		push @points, [32768, $self->{ref}{$name}{value}];
	}
	my @tori = grep { Paper::Plan::nodes($_) <= $blocks[0][-1][0] }
		   @Paper::Plan::HEAT;

	$self->table('figure10', @blocks, \@points, map { my $cells = $_;
		$self->bands(sub { Paper::Band::heat(@$self{qw(run ref quick)}, $cells,
				   Paper::Plan::nodes($_[0])) }, \@tori)
	} @Paper::Plan::CELLS);
	$self->draw('figure10', 'figure10', cells => '41M 82M 164M',
		    title => 'Heat equation, allreduce of a maximum per step, 4D torus');
}

sub kind
{
	my ($name) = @_;

	return $name =~ /Reducer|results/ ? 'reducer' :
		$name =~ /PE$/ ? 'host' :
		$name =~ /^(to|from) [XYZW]/ ? 'link' : 'fifo';
}

# Reads the activity of the blocks of some routers from a trace for Perfetto.
# Spans of the trace are in us; the name of a line is the name of a block.
sub figure6
{
	my ($self, $op, $title) = @_;
	my $trace = decode_json(Paper::Run::slurp(
			"$self->{out}/data/figure6-$op.json"));
	my (%name, %row, @rows, @names);

	for my $e (@{$trace->{traceEvents}}) {
		$name{$e->{tid}} = $e->{args}{name}
			if $e->{ph} eq 'M' && $e->{name} eq 'thread_name';
	}
	# Credits to the host are left out: they arrive a thousand cycles later.
	my @spans = grep { $_->{ph} eq 'X' && $_->{name} ne 'CREDIT' &&
			   $_->{dur} > 0 } @{$trace->{traceEvents}};

	for my $e (sort { $a->{pid} <=> $b->{pid} || $a->{ts} <=> $b->{ts} ||
			  $a->{tid} <=> $b->{tid} } @spans) {
		my $line = "$e->{pid} $name{$e->{tid}}";

		if (!exists $row{$line}) {
			$row{$line} = @names;
			push @names, "node $e->{pid}: $name{$e->{tid}}";
		}
		push @rows, [1000 * $e->{ts}, 1000 * ($e->{ts} + $e->{dur}),
			     $row{$line}, $COLOUR{kind($name{$e->{tid}})},
			     sprintf('"%.0f"', 1000 * $e->{dur})];
	}
	$self->table("figure6-$op", \@rows);
	$self->draw("figure6-$op", 'figure6', title => $title,
		    lines => scalar @names, names => join(' ', map { qq("$_") } @names));
}

# Reads the columns that heat maps need from a file of link loads, by direction.
# The load of a link is in per cent of the time until the last packet arrived.
sub links
{
	my ($self, $name) = @_;
	my $rows = Paper::Run::rows(Paper::Run::slurp(
			"$self->{out}/data/$name.csv"));
	my (%dir, $most, $sum);

	$most = $sum = 0;
	for (@$rows) {
		my $load = 100 * $_->{load};

		push @{$dir{$_->{direction}}}, [$_->{x}, $_->{y}, $load];
		$most = $load if $load > $most;
		$sum += $load;
	}
	return {dir => \%dir, most => $most, mean => $sum / @$rows};
}

sub heatmap
{
	my ($self, $name, $title) = @_;
	my $links = $self->links($name);
	my @dirs = sort keys %{$links->{dir}};

	$self->table($name, map { $links->{dir}{$_} } @dirs);
	$self->draw($name, 'heatmap', title => $title, dirs => "@dirs",
		    nx => 16, ny => 16, most => sprintf('%.4f', $links->{most}));
}

sub latency
{
	my ($self, $torus) = @_;
	my (@blocks, @names);

	for my $pattern (qw(uniform transpose)) {
		for my $routing (qw(deterministic adaptive)) {
			my $id = "latency-$pattern-$routing";

			push @names, "\"$pattern, $routing\"";
			push @blocks, [map { [$_->{accepted},
					      $_->{'latency ns'}] }
				       @{$self->{run}->answer($id)->{rows}}];
		}
	}
	$self->table('latency', @blocks);
	$self->draw('latency', 'latency', names => "@names",
		    title => "Random traffic of 256-byte packets, $torus");
}

1;
