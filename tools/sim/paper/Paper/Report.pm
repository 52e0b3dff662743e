# SPDX-License-Identifier: GPL-2.0-only
#
# The report: a template in which @NAME@, alone on a line, stands for a table or
# a text; and verdicts on the promised numbers.

package Paper::Report;

use strict;
use warnings;
use List::Util qw(max);
use Paper::Band;
use Paper::Next;
use Paper::Plan;
use Paper::Speed;
use Paper::Spmv;

# Reads the published numbers, by name; quoted commas occur only in the last column.
sub reference
{
	my ($path) = @_;
	my %ref;

	open(my $file, '<', $path) or die "paper: $path: $!\n";
	while (<$file>) {
		next if /^#/;
		/^([\w-]+),([\d.]+),([\d.]*),(percent|points|most|least|trend),(fitted|known|predicted|promised),([^,]*),"([^"]+)"$/
			or die "paper: $path:$.: not name,value,margin,kind,use,unit,\"text\"\n";
		$ref{$1} = {name => $1, value => $2, margin => $3, kind => $4,
			    use => $5, unit => $6, text => $7, order => $.};
		die "paper: $path:$.: a $4 needs a margin\n"
			if $3 eq '' && ($4 eq 'percent' || $4 eq 'points');
	}
	return \%ref;
}

sub new
{
	my ($class, %arg) = @_;

	return bless {%arg, judged => {}}, $class;
}

# judge REFERENCE, VALUE: returns whether VALUE is within the margin of REFERENCE, and
# the difference between them
sub judge
{
	my ($ref, $value) = @_;
	my ($kind, $want) = @$ref{qw(kind value)};
	my %j = (value => $value);

	if ($kind eq 'percent') {
		$j{off} = 100 * ($value / $want - 1);
		$j{text} = sprintf('%+.1f %%', $j{off});
		$j{ok} = abs($j{off}) <= $ref->{margin};
	} elsif ($kind eq 'points') {
		$j{off} = $value - $want;
		$j{text} = sprintf('%+.1f points', $j{off});
		$j{ok} = abs($j{off}) <= $ref->{margin};
	} elsif ($kind eq 'trend') {
		$j{text} = $value ? "decreases $value times" : 'grows';
		$j{ok} = !$value;
	} else {
		$j{off} = 100 * ($value / $want - 1);
		$j{text} = sprintf('%+.0f %%', $j{off});
		$j{ok} = $kind eq 'most' ? $value <= $want : $value >= $want;
	}
	return \%j;
}

sub allowed
{
	my ($ref) = @_;
	my $kind = $ref->{kind};

	return $kind eq 'percent' ? "± $ref->{margin} %" :
	       $kind eq 'points' ? "± $ref->{margin} points" :
	       $kind eq 'most' ? 'at most' :
	       $kind eq 'least' ? 'at least' : 'no step down';
}

# Formats a number with three significant digits, without "e".
sub number
{
	my ($value) = @_;

	return $value if $value =~ /^\d+$/ ||
			 $value !~ /^-?[\d.]+(?:e[-+]?\d+)?$/;
	return sprintf('%.0f', $value) if abs($value) >= 100;
	return sprintf('%.1f', $value) if abs($value) >= 10;
	return sprintf('%.2f', $value) if abs($value) >= 1 || !$value;
	return sprintf('%.3g', $value);
}

# Returns a Markdown table; the first column is text, others are right-aligned.
sub table
{
	my ($head, @rows) = @_;

	return join('', map { '| ' . join(' | ', @$_) . " |\n" }
		    $head, ['---', map { '---:' } @$head[1 .. $#$head]], @rows);
}

# Returns what is published: a number or a trend; or the limit of a bound that is not
# published, but chosen here.
sub published
{
	my ($ref) = @_;

	return 'grows' if $ref->{kind} eq 'trend';
	return "$ref->{value}, chosen" if kind($ref) eq 'bounds' && $ref->{use} eq 'predicted';
	return $ref->{value};
}

# Returns the kind under which a published number is counted: a trend or a bound is met
# more easily than a number, so kinds are counted separately.
sub kind
{
	my ($ref) = @_;

	return $ref->{kind} eq 'trend' ? 'trends' :
	       $ref->{kind} eq 'most' || $ref->{kind} eq 'least' ? 'bounds' : 'numbers';
}

# Returns a row of a table: the published number next to the simulated number.
sub compare
{
	my ($self, $name, $value) = @_;
	my $ref = $self->{ref}{$name} // die "paper: no reference '$name'\n";
	my $j = judge($ref, $value);

	$self->{judged}{$name} = $j;
	return (published($ref), number($value), $j->{text},
		!$j->{ok} ? '**OUTSIDE**' :
		$ref->{use} eq 'fitted' ? 'fitted' : 'within');
}

# Returns the values of all promised numbers, except those that a quick run
# leaves out, which are not judged.
sub promised
{
	my ($self) = @_;
	my ($run, %value) = $self->{run};

	for my $torus (@Paper::Plan::RATIOS) {
		my $dims = $torus =~ tr/x// == 2 ? '3d' : '4d';

		for my $op (qw(bcast allreduce)) {
			$value{$Paper::Plan::ID{$torus} =~ s/^bcast/$op/r} =
				$run->ratio("figure7-$op-$dims", $torus);
		}
	}
	for my $op (qw(bcast allreduce)) {
		$value{"trend-$op"} = Paper::Band::ratio_drops(sub {
			my $dims = 1 + $_[0] =~ tr/x//;

			return $run->ratio("figure7-$op-${dims}d", $_[0]);
		});
	}
	my @spmv = $run->app('figure9');

	$value{'trend-spmv'} = Paper::Band::drops(map { $_->{gain} } @spmv);
	if ($spmv[-1]{nodes} == 2048) {
		$value{'spmv-2048'} = 100 * ($spmv[-1]{gain} - 1);
		$value{'spmv-max'} = 100 * (max(map { $_->{gain} } @spmv) - 1);
	}
	my %gain;

	$value{'trend-heat'} = 0;
	for my $cells (@Paper::Plan::CELLS) {
		my @rows = @{$run->answer("figure10-$cells")->{rows}};

		$value{'heat-' . int($cells / 1e6) . 'M'} = $rows[-1]{gain}
			if $rows[-1]{nodes} == 32768;
		$value{'trend-heat'} += Paper::Band::drops(map { $_->{gain} } @rows);
		$gain{$cells}{$_->{nodes}} = ($_->{'compute us'} + $_->{'p2p us'}) /
			($_->{'compute us'} + $_->{'offload us'}) for @rows;
	}
	@value{qw(heat-64 heat-visible)} = Paper::Band::heat_start(\%gain);
	$value{'memory-million'} = $run->answer('memory-million')->{kib} / 2**20
		if $run->has('memory-million');
	return \%value;
}

# A promised speed is not judged if other processes may have slowed the run
# down.
sub verdict
{
	my ($self, $name, $value) = @_;
	my $ref = $self->{ref}{$name};
	my ($speed, $slowed) = Paper::Speed::promised($self->{run}, $name);

	$value //= $speed;
	return (published($ref), '', '', 'not run') if !defined $value;
	return (published($ref), number($value), '', 'not judged: the machine was not idle')
		if $slowed && !judge($ref, $value)->{ok};
	return $self->compare($name, $value);
}

sub promises
{
	my ($self) = @_;
	my $value = $self->promised;
	my @rows;

	for my $ref (sort { $a->{order} <=> $b->{order} }
		     values %{$self->{ref}}) {
		my $name = $ref->{name};
		my $what = $ref->{text} . ($ref->{unit} && ", $ref->{unit}");

		push @rows, [$what, allowed($ref),
			     $self->verdict($name, $value->{$name}),
			     $ref->{use}, $self->band_of($name)];
	}
	return table(['What', 'Margin', 'Published or promised', 'Here',
		      'Difference', 'Verdict', 'Use', 'Band', 'Published is'], @rows);
}

# Returns the least and greatest value of the band of a published number; nothing
# if it has none.
sub limits
{
	my ($self, $name) = @_;
	my $run = $self->{run};
	my %torus = reverse %Paper::Plan::ID;

	return Paper::Band::ratio_trend($run, $1) if $name =~ /^trend-(bcast|allreduce)$/;
	return Paper::Band::ratio($run, $1, $torus{"bcast$2"})
		if $name =~ /^(bcast|allreduce)(-.*)/;
	return Paper::Band::heat_trend($self->what) if $name eq 'trend-heat';
	return Paper::Band::heat_starts($self->what, 0) if $name eq 'heat-64';
	return Paper::Band::heat_starts($self->what, 1) if $name eq 'heat-visible';
	return if $self->{quick} || $name !~ /^heat-(\d+)M$/;
	my ($cells) = grep { int($_ / 1e6) == $1 } @Paper::Plan::CELLS;

	return Paper::Band::heat($self->what, $cells, 32768);
}

# Returns the band of a published number as text, and whether the number is within the
# band. A number with several bands gets the text of all bands, and an answer for each
# band if the answers differ.
sub band_of
{
	my ($self, $name) = @_;
	my $ref = $self->{ref}{$name};
	my $decreases = $ref->{kind} eq 'trend' ? ' decreases' : '';

	if ($name =~ /spmv/ && $ref->{use} ne 'promised') {
		my @bands = Paper::Spmv::limits($self, $name);
		my @inside = map { inside($ref, @$_[1, 2]) } @bands;

		return ('on ' . Paper::Spmv::case($self, $name) . ': ' .
			join(', ', map { sprintf('%.0f to %.0f (%s)', @$_[1, 2, 0]) } @bands) .
			$decreases,
			(grep { $_ ne $inside[0] } @inside) ? join(', ', @inside) : $inside[0]);
	}
	my @band = $self->limits($name) or return ('', '');

	return (join(' to ', map { number($_) } @band) . $decreases, inside($ref, @band));
}

# Returns the first three arguments of the functions in Paper::Band for the heat equation.
sub what
{
	my ($self) = @_;

	return @$self{qw(run ref quick)};
}

# Says whether the published number is within the band. If each sample is fitted to the
# number, the band differs from the number only by the rounding of times, and is not
# compared. A bound holds for the whole band, for a part of the band, or not.
sub inside
{
	my ($ref, $least, $most) = @_;

	return 'fitted' if $ref->{use} eq 'fitted' && $least > 0.99 * $ref->{value} &&
			   $most < 1.01 * $ref->{value};
	return $most <= $ref->{value} ? 'holds' :
	       $least <= $ref->{value} ? 'holds in part' : 'does not hold'
		if $ref->{kind} eq 'most';
	return $ref->{value} < $least ? 'below' :
	       $ref->{value} > $most ? 'above' : 'within';
}

# tally USE, KIND: counts the published numbers that are judged and have the use USE, such
# as "fitted", and the kind KIND, if given. Returns how many there are, how many are within
# their margin, and a text with the names of the others.
sub tally
{
	my ($self, $use, $kind) = @_;
	my $ref = $self->{ref};
	my @names = sort grep { $ref->{$_}{use} eq $use && (!$kind || kind($ref->{$_}) eq $kind) }
		    keys %{$self->{judged}};
	my @out = grep { !$self->{judged}{$_}{ok} } @names;

	return (scalar @names, scalar @names - @out,
		(@out ? '; outside: ' . join(', ', @out) : '') . ".\n");
}

# Returns the summary, in which only predicted numbers count as reproduced.
sub summary
{
	my ($self) = @_;
	my @fitted = map { "`$_`" }
		     map { $_->{command} ? "$_->{command} --$_->{parameter}" :
					   $_->{parameter} }
		     grep { $_->{origin} eq 'fitted' } @{$self->{origins}};
	my ($all, $good, $out) = $self->tally('predicted', 'numbers');
	my $text = "$good of $all predicted numbers are within their margin$out";

	($all, $good, $out) = $self->tally('predicted', 'trends');
	$text .= "Apart from numbers, $good of $all predicted trends are as published$out";
	($all, $good, $out) = $self->tally('predicted', 'bounds');
	$text .= "$good of $all bounds whose limit was chosen here, not published, hold$out";

	my $rules = $self->{rules}{predicted};

	$text .= "Section 3.1 says that a whole packet is waited for; the default does not " .
		 "wait. Of the $rules->{all} predicted numbers that are simulated with both " .
		 "rules, $rules->{base} are within their margin by default (cut-through), " .
		 "$rules->{forward} with store-and-forward.\n";
	($all, $good, $out) = $self->tally('known', 'numbers');
	$text .= "$all other numbers were known when defaults were chosen, so they do not " .
		 "count; within their margin are $good$out";
	($all, $good, $out) = $self->tally('known', 'trends');
	$text .= "$all other trends lead to fitted or known numbers, so they do not count; as " .
		 "published are $good$out";
	($all, $good, $out) = $self->tally('fitted');
	$text .= @fitted . " parameters (" . join(', ', @fitted) .
		 ") are fitted to $all published numbers, which do not count" .
		 ($good == $all ? ".\n" : $out);
	($all, $good, $out) = $self->tally('promised');
	my $left = grep { $_->{use} eq 'promised' && !$self->{judged}{$_->{name}} }
		   values %{$self->{ref}};
	$text .= "$good of $all promised speeds and sizes are within their margin";
	return $text . ($left ? ", $left are not judged" : '') . $out;
}

# Returns a table of the summary's counts, and of the counts of known numbers.
sub counts
{
	my ($self) = @_;
	my @rows = map { ["$_->[0], $_->[1]", ($self->tally(@$_[1, 0]))[0, 1]] }
		   ['numbers', 'predicted'], ['trends', 'predicted'], ['bounds', 'predicted'],
		   ['numbers', 'known'], ['trends', 'known'], ['numbers', 'fitted'];

	for my $use ('predicted', 'known') {
		my $rules = $self->{rules}{$use};

		push @rows, ["numbers with both rules, $use: cut-through", @$rules{qw(all base)}],
			["numbers with both rules, $use: store-and-forward",
			 @$rules{qw(all forward)}];
	}
	return table(['Kind', 'How many', 'Within their margin'], @rows);
}

# Returns the table of origins of parameters.
sub origins
{
	my ($self) = @_;

	return table(['Parameter', 'Default', 'Origin', 'Plausible', 'Where from'],
		     map { [$_->{command} eq 'rule' ? "rule: $_->{parameter}" :
			    $_->{command} ? "$_->{command} --$_->{parameter}" :
					    $_->{parameter},
			    $_->{default}, $_->{origin},
			    $_->{range} =~ s/\|/ or /gr, $_->{basis}] }
		     @{$self->{origins}});
}

# Returns the least tried value whose ratio on 2x2x2 equals the published ratio
# after the same rounding; undefined if there is none.
sub least_fit
{
	my ($self, $name, @values) = @_;
	my $want = $self->{ref}{'bcast-8-3d'}{value};

	for (@values) {
		my $ratio = $self->{run}->ratio("fit-$name-$_", '2x2x2');

		return $_ if sprintf('%.2f', $ratio) eq $want;
	}
	return;
}

# Returns the routing, of two, whose gain of SpMV is nearer to the published
# gain, on the greatest number of nodes for which both are simulated; undefined
# in a quick run.
sub routing_fit
{
	my ($self) = @_;
	my $want = $self->{ref}{'spmv-2048'}{value};
	my %off;

	return if $self->{quick};
	for (['adaptive', 'figure9-512'], ['deterministic', 'figure9-order-512']) {
		my ($routing, $id) = @$_;

		$off{$routing} = abs(100 * ($self->{run}->cell($id, 'gain') - 1) -
				     $want);
	}
	return (sort { $off{$a} <=> $off{$b} } keys %off)[0];
}

# Returns the fixed time of a step, without the step's operations, for which the
# gain equals the published gain.
sub heat_fit
{
	my ($self) = @_;
	my $want = $self->{ref}{'heat-40M'}{value};

	return Paper::Band::step_fit($self->{run}->answer('fit-heat')->{rows}, $want);
}

sub fits
{
	my ($self) = @_;
	my $run = $self->{run};
	my %default = map { ("$_->{command} $_->{parameter}" => $_->{default}) }
		      @{$self->{origins}};
	my $pegroup = $self->least_fit('pegroup', @Paper::Plan::FIT_PEGROUP);
	return table(['Parameter', 'Published number', 'Procedure', 'Fits',
		      'Default'],
		['pegroup', 'broadcast on 2x2x2: 2.39',
		 'fewest of 0 to 20 cycles that give 2.39',
		 $pegroup // 'none', $default{' pegroup'}],
		['heat2d --step-overhead', 'heat equation, 40 960 000 cells: 3.0',
		 'solved for', sprintf('%.1fus', $self->heat_fit),
		 $default{'heat2d step-overhead'}],
		['routing', 'SpMV at 2048 nodes: 28 %',
		 'the routing whose gain on 512 nodes is nearer',
		 $self->routing_fit // 'not run', $default{' routing'}]);
}

# count_within REFERENCES, VALUES, USE: returns how many numbers have this use, and how
# many of these are within their margin, by rule. VALUES: by rule and name.
sub count_within
{
	my ($ref, $values, $use) = @_;
	my @names = grep { $ref->{$_}{use} eq $use } keys %{$values->{base}};

	return {all => scalar @names, map { my $by = $values->{$_};
		($_ => scalar grep { judge($ref->{$_}, $by->{$_})->{ok} } @names)
	} keys %$values};
}

# Compares published numbers with results for cut-through and for
# store-and-forward. Store-and-forward is fitted to the same number, by the time
# --overhead of hosts.
sub forward
{
	my ($self) = @_;
	my ($run, $ref) = @$self{qw(run ref)};
	my $most = max(map { $run->ratio("fit-forward-$_") } @Paper::Plan::FIT_PEGROUP);
	my $ns = $self->least_fit('overhead', @Paper::Plan::FIT_OVERHEAD);
	my (@rows, %value);

	for my $way ('base', 'forward') {
		for my $op (qw(bcast allreduce)) {
			$value{$way}{$Paper::Plan::ID{$_} =~ s/^bcast/$op/r} =
				$run->ratio("both-$way-$op", $_) for @Paper::Plan::RATIOS;
		}
		next if !$run->has("both-$way-heat");
		my $gain = Paper::Band::heat_gains($run, $ref, 0, "both-$way-heat");

		$value{$way}{'heat-' . int($_ / 1e6) . 'M'} = $gain->{$_}{32768}
			for @Paper::Plan::CELLS;
	}
	$self->{rules} = {map { ($_ => count_within($ref, \%value, $_)) } qw(predicted known)};
	for my $name (sort { $ref->{$a}{order} <=> $ref->{$b}{order} } keys %{$value{base}}) {
		push @rows, ["$ref->{$name}{text}", $ref->{$name}{value},
			     map { my $j = judge($ref->{$name}, $value{$_}{$name});
				   (number($j->{value}), $j->{text},
				    $ref->{$name}{use} eq 'fitted' ? 'fitted' :
				    $j->{ok} ? 'within' : 'outside') }
			     ('base', 'forward')];
	}
	for my $routing ($run->has('both-forward-spmv-adaptive') ? qw(adaptive deterministic) : ()) {
		push @rows, ["SpMV: gain on $Paper::Plan::CHOICE_NODES nodes, " .
			     "640 000 rows, $routing routing", '',
			     map { (sprintf('%.1f', 100 * ($run->cell("both-$_-spmv-$routing",
							   'gain') - 1)), '', '') }
			     ('base', 'forward')];
	}
	return sprintf("With store-and-forward and no host time, the ratio on eight nodes " .
		       "is at most %.2f, with 0 to 20 cycles in the PEGroup. A host time of " .
		       "%s ns for each message is the least that gives 2.39.\n\n",
		       $most, $ns // 'more than 300') .
	       table(['What', 'Published', 'Cut-through', 'Difference', 'Verdict',
		      'Store-and-forward', 'Difference', 'Verdict'], @rows);
}

sub picture
{
	my ($name, $text) = @_;

	return "![$text]($name.png)\n\n[as SVG]($name.svg)\n";
}

sub figure7
{
	my ($self, $op) = @_;
	my $run = $self->{run};
	my @rows;

	for my $dims ('3d', '4d') {
		for my $torus ($dims eq '3d' ? @Paper::Plan::T3 :
					       @Paper::Plan::T4) {
			my $id = "figure7-$op-$dims";
			my $name = $op eq 'bcast' && $Paper::Plan::ID{$torus};
			my $ratio = $run->ratio($id, $torus);
			my @known = $name ?
				($self->compare($name, $ratio))[0, 2, 3] :
				('', '', '');

			push @rows, [$torus, Paper::Plan::nodes($torus),
				     map({ number($run->cell($id, 'us',
							     mode => $_,
							     torus => $torus)) }
					 qw(offload p2p)),
				     number($ratio), @known];
		}
	}
	my @head = ('Torus', 'Nodes', 'In the network, us', 'Messages, us',
		    'Ratio', 'Published', 'Difference', 'Verdict');

	return table(\@head, @rows) if $op eq 'bcast';
	return table([@head[0 .. 4]], map { [@$_[0 .. 4]] } @rows);
}

sub app_row
{
	my ($self, $row, $gain, $name) = @_;
	my @known = $name ? ($self->compare($name, $gain))[0, 2, 3] :
			    ('', '', '');

	return [$row->{torus}, $row->{nodes},
		map({ number($row->{$_}) } 'compute us', 'offload us', 'p2p us',
		    'offload GFlop/s', 'p2p GFlop/s'),
		number($gain), @known];
}

my @APP = ('Torus', 'Nodes', 'Computing, us', 'In the network, us',
	   'Messages, us', 'In the network, GFlop/s', 'Messages, GFlop/s');

sub figure9
{
	my ($self) = @_;

	my @rows;

	for my $series (@Paper::Plan::SPMV) {
		my ($id, $how) = @$series;

		push @rows, map { my $r = $self->app_row($_,
					100 * ($_->{gain} - 1),
					$id eq 'figure9' && $_->{nodes} == 2048
						&& 'spmv-2048');
				  $r->[0] .= ", $how";
				  $r } $self->{run}->app($id);
	}
	return table([@APP, 'Gain, %', 'Published', 'Difference', 'Verdict'],
		     @rows);
}

sub figure10
{
	my ($self) = @_;
	my @rows;

	for my $cells (@Paper::Plan::CELLS) {
		my $name = 'heat-' . int($cells / 1e6) . 'M';

		push @rows, map { my $r = $self->app_row($_, $_->{gain},
					$_->{nodes} == 32768 && $name);
				  $r->[0] = "$cells cells, $r->[0]";
				  $r } grep { $_->{nodes} >= 16 }
			    @{$self->{run}->answer("figure10-$cells")->{rows}};
	}
	return table([@APP, 'Gain', 'Published', 'Difference', 'Verdict'],
		     @rows);
}

sub choices
{
	my ($self) = @_;
	my $run = $self->{run};
	my @rows;

	for my $c (@Paper::Plan::CHOICES) {
		my @cells = ($c->[1]);

		for my $torus (@Paper::Plan::RATIOS) {
			my $id = "choice-$c->[0]-$torus";
			my $ref = $self->{ref}{$Paper::Plan::ID{$torus}};

			push @cells, $run->has($id) ? sprintf('%.2f (%s)',
				$run->ratio($id),
				judge($ref, $run->ratio($id))->{text}) :
				'not run';
		}
		push @rows, \@cells;
	}
	return table(['Choice', map { "$_ (published " .
				      "$self->{ref}{$Paper::Plan::ID{$_}}{value})" }
		      @Paper::Plan::RATIOS], @rows);
}

sub reduce
{
	my ($self) = @_;

	return table(['Choice', map {
			"$_ (broadcast: " .
			"$self->{ref}{$Paper::Plan::ID{$_}}{value})" }
		      @Paper::Plan::RATIOS], map {
		my $c = $_;
		[$c->[1], map {
			my $ratio = $self->{run}->ratio("reduce-$c->[0]", $_);
			my $ref = $self->{ref}{$Paper::Plan::ID{$_}};

			sprintf('%.2f (%s)', $ratio, judge($ref, $ratio)->{text})
		} @Paper::Plan::RATIOS]
	} @Paper::Plan::REDUCE);
}

sub heat_choices
{
	my ($self) = @_;
	my $run = $self->{run};

	return "Not run.\n" if !$run->has('heat-base');
	return table(['Choice', map { "$_ cells" } @Paper::Plan::CELLS], map {
		my $id = "heat-$_->[0]";
		[$_->[1], map { sprintf('%.2f', $run->cell($id, 'gain',
							   cells => $_)) }
			  @Paper::Plan::CELLS]
	} @Paper::Plan::HEAT_CHOICES);
}

sub links
{
	my ($self) = @_;
	my @maps = (
		['links-tree', 'broadcast of 64 KiB, one tree'],
		['links-trees', 'broadcast of 64 KiB, 16 trees with roots spread'],
		['links-uniform', 'uniform traffic at 0.1'],
		['links-hotspot', 'a hot spot at 0.1'],
	);
	my $text = table(['Workload', 'Mean load, %', 'Busiest link, %'], map {
		my $l = $self->{plot}->links($_->[0]);
		[$_->[1], sprintf('%.1f', $l->{mean}), sprintf('%.1f', $l->{most})]
	} @maps);

	for (@maps) {
		$self->{plot}->heatmap($_->[0], "16x16 torus: $_->[1]");
		$text .= "\n" . picture($_->[0], $_->[1]);
	}
	return $text;
}

sub parameters
{
	my ($self) = @_;

	open(my $pipe, '-|', $self->{run}{sim}, 'params') or
		die "paper: $self->{run}{sim}: $!\n";
	my @lines = grep { !/^#|^torus/ } <$pipe>;

	close($pipe) or die "paper: angara-sim params failed\n";
	return join('', map { "    $_" } @lines);
}

# Returns the values of the names in the template.
sub parts
{
	my ($self) = @_;
	my ($plot, $run) = @$self{qw(plot run)};
	my $torus = $self->{quick} ? '4x4x4' : '8x8x8';

	$plot->figure6($_, "The path of " .
		($_ eq 'bcast' ? 'a broadcast' : 'an allreduce') .
		' of one packet through four routers of a 2x2x2 torus')
		for qw(bcast allreduce);
	$plot->figure7('bcast', 'Broadcast of one 256-byte packet');
	$plot->figure7('allreduce', 'Allreduce of one 256-byte packet');
	$plot->figure9;
	$plot->figure10;
	$plot->latency($torus);
	return (
		MODE => $self->{quick} ?
			"**Quick run**: a part of the figures only.\n" : '',
		PROMISES => $self->promises,
		FIGURE6 => join("\n", map { picture("figure6-$_", "figure 6, $_") }
				qw(bcast allreduce)),
		FIGURE7 => picture('figure7-bcast', 'figure 7') . "\n" .
			   $self->figure7('bcast'),
		ALLREDUCE => picture('figure7-allreduce', 'allreduce') . "\n" .
			     $self->figure7('allreduce'),
		FIGURE9 => picture('figure9', 'figure 9') . "\n" .
			   $self->figure9,
		FIGURE10 => picture('figure10', 'figure 10') . "\n" .
			    $self->figure10,
		CHOICES => $self->choices,
		REDUCE => $self->reduce,
		SPMV => Paper::Spmv::choices($self),
		HEAT => $self->heat_choices,
		LINKS => $self->links,
		LATENCY => picture('latency', 'random traffic'),
		SPEED => Paper::Speed::text($run),
		MEASURED => $self->{measured} ? $self->{measured}->text($self) :
						"Not measured: no --apps.\n",
		NEXT => Paper::Next::table_of($self),
		LOCAL => Paper::Next::local_of($self),
		ROOT => Paper::Next::root_of($self),
		PARAMETERS => $self->parameters,
		ORIGINS => $self->origins,
		FITS => $self->fits,
		FORWARD => $self->forward,
		BANDS => sprintf("Bands: %d simulations in all.\n\n",
				 Paper::Band::count($self->{run})) .
			 table(['Bands', 'Samples', 'With fitted parameters', 'Fitted'],
			       Paper::Band::fitted($self->what)),
		SPMVBAND => Paper::Spmv::band($self),
		SPMVROWS => Paper::Spmv::by_rows($self),
		SUMMARY => $self->summary,
		COUNTS => $self->counts,
	);
}

sub write
{
	my ($self) = @_;
	my %part = $self->parts;
	my $text = Paper::Run::slurp($self->{template}) //
		die "paper: cannot read $self->{template}\n";

	$text =~ s/\A(?:<!--.*?-->\n)+//s;
	$text =~ s/^\@([A-Z0-9]+)\@\n/
		delete $part{$1} \/\/ die "paper: template: unknown name '$1'\n"/gem;
	die "paper: template: no place for ", join(' ', sort keys %part), "\n"
		if %part;
	Paper::Run::spew("$self->{out}/report.md", $text);
}

1;
