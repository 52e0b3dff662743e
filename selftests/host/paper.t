#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Placement of trees in a simulation, and the report of `make paper`: a quick
# report has every figure, right tables, and marks a wrong number. Inserted faults of
# the report are found.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/mutate.sh
. selftests/sim/paper-speed.sh

BUILD=$TAP_TMP/build
SIM=$VARIANTS/plain/bin/angara-sim
OUT=$BUILD/paper/quick
SCRIPTS=tools/sim/paper
PREDICTED='0 of 4 predicted numbers are within their margin; outside: allreduce-8-3d, '
PREDICTED+='allreduce-8192-3d, allreduce-8192-4d, heat-visible.'
TRENDS='Apart from numbers, 1 of 2 predicted trends are as published; outside: trend-spmv.'

us()
{
	"$SIM" coll --format csv "$@" | awk -F, 'NR > 1 { print $6 }'
}

# is WANT OPTION...: checks the times of a collective in us.
is()
{
	local want=$1 got

	shift
	got=$(us "$@" | xargs)
	echo "$* takes $got us, expected $want"
	[ "$got" ] && [ "$got" = "$want" ]
}

# refuses TEXT OPTION...: the simulator ends with one line of error that has
# TEXT.
refuses()
{
	local text=$1

	shift
	! "$SIM" coll "$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err" || return
	cat "$TAP_TMP/err"
	[ ! -s "$TAP_TMP/out" ] && [ "$(wc -l <"$TAP_TMP/err")" = 1 ] &&
		grep -qF -- "$text" "$TAP_TMP/err"
}

# Makes the report again from cached results.
again()
{
	"$SCRIPTS/paper" --sim "$SIM" --apps "$VARIANTS/plain/bin" --out "$OUT" --quick \
		>"$TAP_TMP/said" 2>&1 || {
		cat "$TAP_TMP/said"
		return 1
	}
}

# cell LINE COLUMN: prints a cell of the first table that has a line with this
# prefix.
cell()
{
	awk -F' *[|] *' -v line="$1" -v column="$2" \
		'index($2, line) == 1 { print $column; exit }' "$OUT/report.md"
}

# Every picture of the report exists in both formats, and is not empty.
pictures()
{
	local name count=0

	while read -r name; do
		echo "$name"
		[ "$(head -c 8 "$OUT/$name.png" | od -An -c | tr -d ' ')" = \
			'211PNG\r\n032\n' ] || return
		grep -q 'id="gnuplot_plot_1' "$OUT/$name.svg" || return
		grep -qF "($name.svg)" "$OUT/report.md" || return
		count=$((count + 1))
	done < <(sed -nE 's/^!\[.*\]\((.*)\.png\)$/\1/p' "$OUT/report.md")
	[ "$count" = 11 ]
}

sections()
{
	local heading

	for heading in 'What is promised' 'Where parameters come from' \
		'Figure 6' 'Figure 7' 'Figure 9' 'Figure 10' \
		'The effect of each choice' 'Computing times of this machine' \
		'How busy links are' \
		'Random traffic' 'Speed and memory' 'A next generation' \
		'Parameters'; do
		grep -q "^## $heading" "$OUT/report.md" || {
			echo "no section '$heading'"
			return 1
		}
	done
	! grep -nE '@[A-Z0-9]+@|nan|inf' "$OUT/report.md"
}

# The table has the times of the simulator and correct derived numbers.
table()
{
	local offload messages ratio

	read -r offload messages <<<"$(us --torus 16x16x32 | xargs)"
	ratio=$(echo "$offload $messages" | awk '{ printf "%.2f", $2 / $1 }')
	grep -F '| 16x16x32 |' "$OUT/report.md"
	echo "expected $offload $messages us, ratio $ratio"
	[ "$(cell 16x16x32 4)" = "$(printf '%.2f' "$offload")" ] &&
		[ "$(cell 16x16x32 5)" = "$(printf '%.1f' "$messages")" ] &&
		[ "$(cell 16x16x32 6)" = "$ratio" ] &&
		[ "$(cell 16x16x32 7)" = 6.97 ] &&
		[ "$(cell 16x16x32 8)" = "$(echo "$messages $offload" |
			awk '{ printf "%+.1f %%", 100 * ($1 / $2 / 6.97 - 1) }')" ]
}

# Published ratios are met; speeds depend on the load of the machine. A ratio to
# which a parameter is fitted does not count.
verdicts()
{
	local torus want

	for torus in 2x2x2 16x16x32 8x8x8x16; do
		want=within
		[ $torus != 2x2x2 ] || want=fitted
		echo "$torus: $(cell "broadcast of one packet, $torus" 7)"
		[ "$(cell "broadcast of one packet, $torus" 7)" = $want ] ||
			return
	done
	# Predictions deviate: the allreduces; the heat equation's gain, which is visible on more
	# nodes only; SpMV's gain, which falls from 16 to 32 nodes. See published.rst.
	grep 'predicted' "$OUT/report.md"
	grep -qxF "$PREDICTED" "$OUT/report.md" && grep -qxF "$TRENDS" "$OUT/report.md" || return
	grep -q '^3 parameters .* fitted to 1 published numbers' \
		"$OUT/report.md" || return
	# heat2d --flop and --step-overhead were chosen with knowledge of these gains.
	for torus in 81 163; do
		cell "heat equation: gain at 32768 nodes, $torus" 8 | grep -qx known || return
	done
	[ "$(cell 'SpMV: gain at 2048 nodes' 7)" = 'not run' ] &&
		grep -q '^| routing | SpMV .* | not run | adaptive |$' "$OUT/report.md"
}

# The fitting procedures find the default values.
fits()
{
	local name

	for name in pegroup 'heat2d --step-overhead'; do
		awk -F' *[|] *' -v name="$name" '$2 == name && NF == 7 {
			print
			n++
			bad = $5 == "" || $5 != $6
		} END { exit bad || n != 2 }' "$OUT/report.md" || return
	done
}

# The band of a ratio is the range of its values over all samples of the
# parameters, and contains the value with the defaults.
bands()
{
	local least most

	awk -F' *[|] *' '/^[|] (broadcast|allreduce|heat) .* to / {
			split($9, band, / to /)
			print $2, $5, band[1], band[2]
			n++
			bad += $5 < band[1] || $5 > band[2]
		} END { exit bad || n < 6 }' "$OUT/report.md" || return

	[ "$(sed -n 's/^Bands: \([0-9]*\) sim.*/\1/p' "$OUT/report.md")" = \
		"$(find "$OUT/cache" -name 'band-*.json' -o -name 'mesh-*.json' | wc -l)" ] ||
		return
	fitted_bands && spmv_band && trends || return
	read -r least most < <(ratios | sort -n | uniq | sed -n '1p;$p' | xargs)
	echo "expected $least to $most"
	[ "$most" ] && [ "$(cell 'broadcast of one packet, 16x16x32' 9)" = \
		"$least to $most" ] || return
	cell 'heat equation: the gain grows' 9 | grep -qE '^[0-9]+ to [0-9]+ decreases$'
}

# Prints the ratio of the broadcast on 16x16x32 of each sample. Half of the samples have no
# wrap-around links: their nodes are a block of a torus that is twice as large in each dimension.
ratios()
{
	local i file

	for i in {0..8}; do
		file=("$OUT/cache/mesh-bcast-$i-3d8192"-*.json)
		[ -s "${file[0]}" ] || file=("$OUT/cache/band-bcast-$i"-*.json)
		perl -MJSON::PP -0777 -ne '
			my %us = map { ($_->{mode} => $_->{us}) }
				 grep { $_->{torus} =~ /^(16x16x32|32x32x64)$/ }
				 @{decode_json($_)->{rows}};
			printf("%.3g\n", $us{p2p} / $us{offload});' "${file[0]}"
	done
}

# The band of a trend is the least and the greatest number of decreases in a sample.
trends()
{
	local routing want=

	for routing in adaptive deterministic; do
		want+="${want:+, }$(perl -MJSON::PP -0777 -ne '
			my @rows = sort { $a->{nodes} <=> $b->{nodes} } @{decode_json($_)->{rows}};
			print scalar grep({ $rows[$_]{gain} < $rows[$_ - 1]{gain} } 1 .. $#rows),
				"\n"' "$OUT/cache/band-spmv-$routing"-*.json | sort -n |
			sed -n '1p;$p' | xargs printf '%s to %s') ($routing)"
	done
	echo "expected $want"
	[ "$(cell 'SpMV: the gain grows' 9)" = \
		"on 16 to 32 nodes, 160 000 rows: $want decreases" ] &&
		cell 'broadcast: the ratio grows' 9 | grep -qxE '[0-9]+ to [0-9]+ decreases'
}

# Applies the report's rules to made-up results: the greatest gain of the heat equation on up to 64
# nodes; the number of nodes up to which no gain is above 5 %; how often a ratio decreases.
rules()
{
	perl -I"$SCRIPTS" -MPaper::Band -e '
		my %gain = (few => {32 => 1.01, 64 => 1.03, 128 => 1.04, 256 => 1.051, 512 => 1},
			    many => {32 => 1, 64 => 1.042, 128 => 1.049, 256 => 1, 512 => 2});
		my ($least, $nodes) = Paper::Band::heat_start(\%gain);
		my $drops = Paper::Band::ratio_drops(sub {
			$_[0] eq "4x4x8" ? 1 : $_[0] eq "2x2x2x4" ? 9 : 2 });
		my $said = sprintf("%.1f %d %d", $least, $nodes, $drops);

		print "$said\n";
		exit($said ne "4.2 128 2");'
}

# Each value of a rule, and of vc, is in as many samples as its other values.
sampled()
{
	SIM=$SIM perl -I"$SCRIPTS" -MPaper::Band -e '
		my $rows = Paper::Band::origins($ENV{SIM});
		my %of = (coll => ["vc", "wrap-around", "root"], spmv => ["vc", "stripe"],
			  heat2d => ["vc", "wrap-around", "root"]);

		for my $command (sort keys %of) {
			my @samples = Paper::Band::samples($rows, $command, 20);

			for my $name (@{$of{$command}}) {
				my %count;

				$count{$_}++ for grep { defined } map { $_->{$name} } @samples;
				print "$command $name: ", join(", ", %count), "\n";
				die if join(" ", values %count) ne "10 10";
			}
			die if grep { exists $samples[0]{$_} } "arbitration", "posts ahead";
		}' || return
	# The report has simulated samples without wrap-around links.
	[ "$(find "$OUT/cache" -name 'mesh-bcast-*.json' | wc -l)" = 4 ] &&
		[ "$(find "$OUT/cache" -name 'mesh-heat2d-*-4d4096-*.json' | wc -l)" -gt 0 ] &&
		striped
}

# The options of a job have --stripe only for samples in which a block goes over all trees.
striped()
{
	perl -I"$SCRIPTS" -MPaper::Band -e '
		my @options = map { Paper::Band::text_of(stripe => $_, root => "middle", acks => "no") }
			"a block on one tree", "a block on all trees";

		exit("@options" ne "--acks no --stripe --acks no");'
}

# For each parameter that the document gives, the table has the place in the document and what it
# says there. vc is such a parameter, and its default departs from the document.
given()
{
	awk -F' *[|] *' '$4 == "given" {
			print
			n++
			bad += $6 !~ /^(section [0-9.]+|table 1): .*[a-z]+ .*[a-z]/
		} END { exit bad || n < 15 }' "$OUT/report.md" &&
		grep -q '^| vc | cut-through | given | cut-through or store-and-forward | .*departs' \
			"$OUT/report.md"
}

# The summary counts the predictions that are within their margins with each of the two rules for
# whole packets. The counts are those of the table that compares both rules.
both_rules()
{
	local all cut forward

	read -r all cut forward < <(awk -F' *[|] *' '
		/^[|] What [|] Published [|] Cut-through/ { on = 1 }
		!/^[|]/ { on = 0 }
		on && /^[|] allreduce/ {
			all++
			cut += $6 == "within"
			forward += $9 == "within"
		}
		END { print all, cut, forward }' "$OUT/report.md")
	echo "expected $cut and $forward of $all"
	[ "$all" -ge 3 ] && [ "$cut" != "$forward" ] &&
		grep -q "Of the $all predicted numbers .* rules, $cut are .* default .*, $forward with" \
			"$OUT/report.md"
}

# The table of counts has the number of rows of the first table of each kind and use. A trend, and
# a bound that the report chooses itself, have no published number.
counted()
{
	local kind use margin

	while read -r kind use margin; do
		diff <(awk -F' *[|] *' -v kind="$kind, $use" '$2 == kind { print $3, $4 }' \
				"$OUT/report.md") \
			<(awk -F' *[|] *' -v use="$use" -v margin="$margin" '
			/^[|] What [|] Margin/ { on = 1 }
			!/^[|]/ { on = 0 }
			on && $8 == use && $3 ~ margin && $7 != "not run" {
				all++
				good += $7 != "**OUTSIDE**"
			}
			END { print all + 0, good + 0 }' "$OUT/report.md") || return
	done <<-'EOF'
		numbers predicted ^±
		trends predicted ^no.step.down$
		bounds predicted ^at.most$
		numbers known ^±
		trends known ^no.step.down$
		numbers fitted ^±
	EOF
	[ "$(cell 'SpMV: the gain grows' 4)" = grows ] &&
		[ "$(cell 'heat equation: greatest gain on up to 64' 4)" = '5, chosen' ] &&
		[ "$(cell 'the whole of figure 7' 4)" = 20 ]
}

# The program has the same bytes in each folder, so cached results belong to its sources.
no_folder()
{
	! grep -aF "$PWD" "$SIM"
}

# Each sample of a band has the ratio on eight nodes to which the PEGroup is
# fitted: the fewest cycles that give it, so with a cycle less it is greater. The
# gain of the heat equation with the fitted time of a step is that of a simulation
# with this time.
fitted_bands()
{
	local cycles options ratio less all

	[ "$(cell 'broadcast of one packet, 2x2x2' 9)" = '2.39 to 2.39' ] || return
	options='--vc store-and-forward --overhead 180ns'
	for all in '--overhead 100ns' "$options" '--router 1 --overhead 50ns'; do
		cycles=$(fewest "$all") || return
		# shellcheck disable=SC2086 # several options
		ratio=$(ratio_on_eight $all --pegroup "$cycles")
		echo "$all: $cycles cycles give $ratio"
		[ "$ratio" = 2.39 ] || return
		[ "$cycles" = 0 ] && continue
		# shellcheck disable=SC2086
		less=$(ratio_on_eight $all --pegroup $((cycles - 1)))
		[ "$less" != 2.39 ] || return
	done
}

ratio_on_eight()
{
	us --torus 2x2x2 "$@" | xargs | awk '{ printf "%.2f", $2 / $1 }'
}

# fewest OPTIONS: prints the cycles of the PEGroup that Paper::Band finds.
fewest()
{
	SIM=$SIM OUT=$TAP_TMP/fewest perl -I"$SCRIPTS" -MPaper::Run -MPaper::Plan \
		-MPaper::Band -e '
		my $run = Paper::Run->new(sim => $ENV{SIM}, out => $ENV{OUT});

		$run->run(Paper::Plan::job("first-coll-0",
				"coll --torus 2x2x2 --pegroup 0 $ARGV[0]"));
		print Paper::Band::pegroup($run, "coll", 0, "2.39"), "\n";' -- "$1" 2>/dev/null
}

# spmv_gains ROUTING: prints the gains of SpMV on 32 nodes, of all samples, in
# ascending order.
spmv_gains()
{
	local file

	for file in "$OUT/cache/band-spmv-$1"-*.json; do
		perl -MJSON::PP -0777 -ne 'printf("%.6f\n", 100 * ($_->{gain} - 1))
			for grep { $_->{nodes} == 32 } @{decode_json($_)->{rows}};' "$file"
	done | sort -n
}

# The table has quantiles of SpMV's gain of the simulations with each routing: of
# four samples the least, the least, the second, the greatest and the greatest. The
# picture has the ranges. The verdict says whether the published gain is within the range.
spmv_band()
{
	local routing row verdict=() limits='on 32 nodes, 160 000 rows'

	for routing in adaptive deterministic; do
		row=$(spmv_gains $routing | awk -v routing=$routing '
			{ gain[NR] = sprintf("%.0f", $1) }
			END {
				printf("| %s | 32 | 160000 | %d | %s | %s | %s | %s | %s |",
				       routing, NR, gain[1], gain[1], gain[2], gain[4], gain[4])
			}')
		echo "expected $row"
		[[ $row = *' | 4 | '* ]] && grep -qxF "$row" "$OUT/report.md" || return
		row=$(spmv_gains $routing | awk -v routing=$routing '
			{ gain[NR] = $1; below += $1 < 28 }
			END {
				printf("28 %% is **%s** the band on 32 nodes with 160 000 rows, " \
				       "%s routing: %.0f to %.0f %%; %d of %d samples are below",
				       28 < gain[1] ? "below" : 28 > gain[NR] ? "above" : "within",
				       routing, gain[1], gain[NR], below, NR)
			}')
		echo "expected $row"
		grep -qF "$row" "$OUT/report.md" || return
		verdict+=("$(sed -E 's/.*[*]{2}(.*)[*]{2}.*/\1/' <<<"$row")")
	done
	grep -qF 'plausible range, adaptive, 160 000 rows' "$OUT/figure9.svg" &&
		grep -qF 'plausible range, dimension order, 160 000 rows' "$OUT/figure9.svg" &&
		grep -qF 'plausible range, adaptive, 20 000 rows' "$OUT/figure9.svg" &&
		grep -qF 'SpMV, 2 560 000 rows' "$OUT/figure9.svg" || return
	echo "${verdict[*]}"
	[ "${verdict[*]}" = 'above within' ] &&
		cell 'SpMV: gain at 2048' 9 |
			grep -qxE "$limits: .* to .* \(adaptive\), .* to .* \(deterministic\)" &&
		[ "$(cell 'SpMV: gain at 2048 nodes, 2 560 000 of 20 480 000 rows, %' 10)" = \
			'above, within' ] &&
		[ "$(cell 'SpMV: the gain grows' 10)" = 'below, within' ]
}

# Prints the numbers of the report that the faults below change.
numbers()
{
	bands && rules && sampled && given && both_rules && counted && dated
}

# fault FILE NAME FROM TO: makes the report again with the fault and the same results.
fault()
{
	local SCRIPTS=$TAP_TMP/faulty OUT=$TAP_TMP/faulty/out

	rm -rf "$SCRIPTS"
	cp -r tools/sim/paper "$SCRIPTS"
	cp tools/sim/measure "$TAP_TMP"
	cp -r "$BUILD/paper/quick" "$OUT"
	mutate "tools/sim/$1" "$3" "$4" >"$TAP_TMP/faulty/${1#paper/}" || return
	check "found: $2" found_in_it
}

# Makes the report again: do the checks of its numbers find a fault?
found_in_it()
{
	again && ! numbers
}

# A table of the document with another number is found, as is one that no rule
# compares.
stale()
{
	local change

	for change in 's/^(broadcast of one packet, 16x16x32 +6\.97 +)6\.94/\16.95/' \
		's/^(broadcast of one packet, 16x16x32 +)6\.94/\16.93/' \
		's/^(What +published +)cut-through/\1cut        /' \
		'/^allreduce of one packet, 2x2x2 /d'; do
		sed -E "$change" Documentation/published.rst >"$TAP_TMP/stale.rst"
		! cmp -s "$TAP_TMP/stale.rst" Documentation/published.rst || return
		! selftests/sim/documented "$TAP_TMP/stale.rst" "$OUT/report.md" || return
	done
}

# gains COLUMN: prints the document's gains of the heat equation
gains()
{
	sed -nE "s/^heat equation: gain at 32768 nodes, [0-9 ]+ cells +([0-9.]+) +([0-9.]+).*%\$/\\$1/p" \
		Documentation/published.rst
}

# heat OPTION...: prints the gains of the heat equation on 32768 nodes.
heat()
{
	"$SIM" heat2d --from 32768 --format csv "$@" | awk -F, 'NR == 1 {
			for (i = 1; i <= NF; i++)
				if ($i == "gain")
					gain = i
		}
		NR > 1 { printf("%.2f\n", $gain) }'
}

# The document has the gains of the heat equation with the operations of angara-heat2d, and the
# time of a step that gives 3.0 with them.
heat_ops()
{
	local flop us two three

	read -r flop us two three < <(perl -0777 -ne 's/\s+/ /g;
		my $fitted = "operations of angara-heat2d, and a step overhead of";
		my $two = "us, which gives 3.0, the other two gains are";
		/ (\d+) $fitted (\S+) $two (\S+) and (\S+), / &&
			print "$1 $2 $3 $4\n"' Documentation/published.rst)
	[ "$three" ] || {
		echo "no such sentence in Documentation/published.rst"
		return 1
	}
	echo "$flop operations, $us us: $two, $three"
	diff <(printf '3.00\n%s\n%s\n' "$two" "$three") <(heat --flop "$flop" \
		--step-overhead "${us}us")
}

# A quick report lacks these numbers.
heat_gains()
{
	gains 1
	[ "$(gains 1 | wc -l)" = 2 ] &&
		diff <(gains 1) <(heat --cells 81920000,163840000)
}

# If messages take 5 % longer on 2x2x2, the ratio is more than 3 % off.
wrong_number()
{
	local file=("$OUT"/cache/figure7-bcast-3d-*.json) want

	want=$(us --torus 2x2x2 | xargs | awk '{
		printf "%+.1f %%", 100 * ($2 * 1.05 / $1 / 2.39 - 1) }')
	perl -MJSON::PP -0777 -i -ne '$all = decode_json($_);
		for (@{$all->{rows}}) {
			$_->{us} *= 1.05 if $_->{torus} eq "2x2x2" &&
					    $_->{mode} eq "p2p";
		}
		print encode_json($all)' "${file[0]}" && again || return
	echo "expected $want, is $(cell 'broadcast of one packet, 2x2x2' 6)"
	[ "$(cell 'broadcast of one packet, 2x2x2' 6)" = "$want" ] &&
		[ "$(cell 'broadcast of one packet, 2x2x2' 7)" = '**OUTSIDE**' ] &&
		[ "$(cell 2x2x2 9)" = '**OUTSIDE**' ] &&
		[ "$(cell 'broadcast of one packet, 8x8x8x16' 7)" = within ] &&
		grep -q '^3 parameters.*do not count; outside: bcast-8-3d' \
			"$OUT/report.md"
}

# Only missing and damaged results are simulated again.
interrupted()
{
	rm "$OUT"/cache/local-2-*.json "$OUT/data/links-tree.csv"
	truncate -s 20 "$OUT"/cache/figure7-bcast-3d-*.json
	again || return
	cat "$TAP_TMP/said"
	awk '/simulations/ { n += $2 - $4 } END { exit n != 3 }' "$TAP_TMP/said" &&
		verdicts
}

# failed STATUS TEXT COMMAND...: COMMAND ends with STATUS and one line of error
# that has TEXT.
failed()
{
	local want=$1 text=$2 status=0

	shift 2
	"$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err" || status=$?
	echo "status $status"
	cat "$TAP_TMP/err"
	[ "$status" = "$want" ] && grep -qF -- "$text" "$TAP_TMP/err"
}

# A program in place of the simulator records its processes and options. Jobs
# with one thread run in parallel; a job marked to run alone does so; if a job
# fails, all others end.
together()
{
	local jobs='{id => "a", args => ["a"]}, {id => "b", args => ["b"]},
		{id => "alone", args => ["alone"], alone => 1},
		{id => "own", args => ["own", "--threads", 3]}'

	cat >"$TAP_TMP/stand-in" <<-'EOF'
		#!/bin/sh
		echo "$$ $*" >>"${0%/*}/told"
		case $1 in
		bad) sleep 0.5; echo 'fell over' >&2; exit 1 ;;
		long) exec sleep 600 ;;
		esac
		printf 'n\n1\n'
	EOF
	chmod +x "$TAP_TMP/stand-in"
	jobs "$jobs" && sed 's/^[0-9]* //' "$TAP_TMP/told" | sort |
		diff - <(printf '%s --format csv%s\n' a ' --threads 1' alone '' \
			b ' --threads 1' 'own --threads 3' '') || return
	! jobs '{id => "long", args => ["long"]}, {id => "bad", args => ["bad"]}' \
		2>"$TAP_TMP/err" && cat "$TAP_TMP/err" &&
		grep -qx 'fell over' "$TAP_TMP/err" || return
	! kill -0 "$(sed -n 's/ long .*//p' "$TAP_TMP/told")" 2>/dev/null
}

# jobs LIST: runs these jobs, two at a time, by the program in place of the simulator.
jobs()
{
	SIM=$TAP_TMP/stand-in OUT=$TAP_TMP/jobs perl -I"$SCRIPTS" -MPaper::Run -e '
		my $run = Paper::Run->new(sim => $ENV{SIM}, out => $ENV{OUT});

		$run->{cores} = 2;
		$run->run(eval $ARGV[0]);' "$1"
}

check 'it builds' variant plain libangara tools/apps tools/sim
if [ ! -x "$SIM" ]; then
	plan
	exit
fi

# 300 ns + 10 cycles + 84 ns per hop + 37 ns for a packet through PCIe + 300 ns;
# messages take 300 + 4 + 84 + 37 + 300 ns per hop, and 1 ns to the next clock
# edge between hops. In a corner of a block the deepest node is 3 + 3 hops away,
# in the middle of it 2 + 2. A request goes through the root's PEGroup; a
# message to the root goes through no host in between.
check 'a block: no wrap-around' is '1.161 4.355' --torus 8x8 --block 4x4
check 'a block: root in the middle' is '0.993 2.903' \
	--torus 8x8 --block 4x4 --root 18
check 'a request goes to the root first' is '1.181 3.713' \
	--torus 4x4 --source 5
for op in bcast reduce allreduce; do
	check "$op: trees with other roots, another source" \
		is "$(us --torus 4x3x2 --op $op --bytes 8KiB --trees 16 \
		--roots spread --source 7 --threads 3 | xargs)" \
		--torus 4x3x2 --op $op --bytes 8KiB --trees 16 \
		--roots spread --source 7 --threads 1
done
check 'a block that does not fit' refuses "--block '5x2': not sizes" \
	--torus 4x4 --block 5x2
check 'a source outside of the block' refuses 'outside of the block' \
	--torus 4x4 --block 2x2 --source 15
check 'no such source' refuses "--source '16': not a node from 0 to 15" \
	--torus 4x4 --source 16
check 'messages need hosts' refuses 'node 5 has no participant' \
	--torus 6x4 --block 5x2 --mode p2p

PAPER=tools/sim/paper/paper
check 'no simulator' failed 2 "--sim '/nowhere': not a program" \
	$PAPER --sim /nowhere --out "$OUT"
check 'no folder' failed 2 'no --out' $PAPER --sim "$SIM"
check 'unknown option' failed 2 'unknown option: fast' \
	$PAPER --sim "$SIM" --out "$OUT" --fast
if ! command -v gnuplot >/dev/null; then
	skip 'the report' 'no gnuplot; install gnuplot-nox'
	plan
	exit
fi
printf '#!/bin/sh\necho "fell over" >&2\nexit 1\n' >"$TAP_TMP/broken"
chmod +x "$TAP_TMP/broken"
check 'simulations beside each other, and alone' together
check 'a simulator that fails' failed 1 'fell over' \
	$PAPER --sim "$TAP_TMP/broken" --out "$TAP_TMP/none" --quick
check 'make paper QUICK=1' make -s paper QUICK=1 "BUILD=$BUILD" \
	"HOST_OUT=$VARIANTS/plain" "CFLAGS=${VARIANT_FLAGS[plain]}"
check 'every figure has its section' sections
check 'every picture is there' pictures
check 'tables are right' table
check 'published ratios are within their margins' verdicts
check 'fitted values are the defaults' fits
check 'bands come from their simulations' bands
check 'values of rules' rules
check 'samples have the choices of rules' sampled
check 'what gives a parameter' given
check 'both rules for whole packets' both_rules
check 'how many of each kind are within their margins' counted
check 'the program does not contain its folder' no_folder
faults selftests/sim/paper-mutants.txt fault 3
check 'a wrong number is marked' wrong_number
check "the document has the numbers of the report" selftests/sim/documented \
	Documentation/published.rst "$OUT/report.md"
check 'numbers of the document that are not those of the report' stale
check "the document has the heat equation's gains" heat_gains
check "gains with the operations of angara-heat2d" heat_ops
check 'computing times are those measured' measured
check 'scaling by threads and processes' scaling
check 'speed of both engines, and of BookSim 2' speeds
check 'a busy machine' idle
check 'days of measurements' dated
check 'speed is measured again' anew
check 'an interrupted run continues' interrupted
plan
