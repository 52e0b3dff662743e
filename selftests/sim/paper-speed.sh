# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Checks of what the report of `make paper` measures on the machine: times of
# applications, speed, scaling, and the days of measurement. selftests/host/paper.t reads this
# file, and defines $SIM, the report's folder $OUT, and the functions again and cell.

# The simulations use the measured times of a node: the least, the median and the greatest.
# The longer nodes compute, the less they gain.
measured()
{
	local what='heat equation, 40 000 cells on 32 nodes, measured:'
	local -a t

	t=("$(cell angara-heat2d 6)" "$(cell angara-heat2d 5)" "$(cell angara-heat2d 7)"
		"$(cell "$what least" 3)" "$(cell "$what median" 3)" "$(cell "$what greatest" 3)"
		"$(cell "$what least" 6)" "$(cell "$what median" 6)" "$(cell "$what greatest" 6)")
	echo "${t[*]}"
	awk 'function near(a, b) { return a < b + 0.6 && a > b - 0.6 }
		{
			exit !($1 > 0 && $1 <= $2 && $2 <= $3 && near($1, $4) &&
			       near($2, $5) && near($3, $6) && $7 >= $8 && $8 >= $9 && $9 > 1)
		}' <<<"${t[*]}" || return
	# The rows of a node, with the columns of the whole matrix.
	[ "$(cell angara-spmv 3)" = '1250 rows of 40 000 columns' ] &&
		[[ $(cell angara-spmv 4) = 20??-??-?? ]] &&
		cat "$OUT"/cache/measured-spmv-*.txt &&
		grep -q '^# spmv: rows of 40000 columns' "$OUT"/cache/measured-spmv-*.txt
}

# Both engines do the same work at each load, and the rate of busy routers is the
# rate of all routers times the share that is busy. The report names exactly the
# loads at which the textbook's rate is at least 20 times that of BookSim 2.
speeds()
{
	awk -F' *[|] *' '
		function near(a, b) { return a < 1.01 * b + 0.01 && a > 0.99 * b - 0.01 }
		/^[|] Flits [|] Load/ { part = 1 }
		/^[|] One flit/ { part = 2 }
		/^[|] (17|1) [|] 0/ && part == 1 {
			print
			rows++
			bad += !($4 > 5 && $4 < 100 && $5 > 0 && $7 > 0 && $10 > 0)
			bad += !near($6, $5 * $4 / 100) || !near($9, $8 * $4 / 100)
		}
		/^[|] (textbook|flit engine|packet engine)/ && part == 2 {
			print
			rows++
			wanted += /^[|] textbook/ && $3 >= 18
			wanted += /^[|] textbook/ && $6 >= 6
			bad += !near($3 / 0.9, $4 + 0) && $3 / 0.9 - $4 > 0.51
		}
		/^The textbook.s routers are at least 20 times as fast/ {
			print
			rows++
			said = gsub(/ at 0/, "&")
		}
		END { exit bad || rows != 9 || said != wanted }' "$OUT/report.md"
}

# costs WALL CPU OTHERS: replaces the recorded costs of the simulations of figure 7.
costs()
{
	perl -MJSON::PP -0777 -i -pe 'BEGIN { @cost = splice(@ARGV, 0, 3) }
		my $all = decode_json($_);
		@$all{qw(wall cpu others)} = @cost;
		$_ = encode_json($all)' "$@" "$OUT"/cache/figure7-*.json && again &&
		cell 'the whole of figure 7' 7
}

# Each of the four simulations takes 25 s. If other processes made this time longer, it is not
# judged, unless the processor time alone is within the bound.
idle()
{
	local cores

	cores=$(grep -c '^cpu[0-9]' /proc/stat)
	costs 25 24 0 | grep -qxF '**OUTSIDE**' &&
		[ "$(cell 'figure 7' 5)" = 0 ] &&
		costs 25 24 "$((20 * cores))" | grep -qx 'not judged: .* not idle' &&
		[ "$(cell 'figure 7' 5)" = 80 ] &&
		grep -q '^The machine was not idle during ' "$OUT/report.md" &&
		costs 25 1 "$((20 * cores))" | grep -qx within &&
		[ "$(cell 'the whole of figure 7' 5)" = 4 ]
}

# The report has the days on which speeds were measured. For a result that does not record its
# time, the time of its file counts.
dated()
{
	local file=("$OUT"/cache/figure7-bcast-3d-*.json)

	perl -MJSON::PP -0777 -i -pe 'my $all = decode_json($_);
		die if time - $all->{end} > 3600 || time < $all->{end};
		$all->{end} = 981203696;
		$_ = encode_json($all)' "${file[0]}" && again || return
	cell 'figure 7' 8 | grep -xE '2001-02-03 to 20[0-9]{2}-[0-9]{2}-[0-9]{2}' || return
	perl -MJSON::PP -0777 -i -pe 'my $all = decode_json($_);
		delete $all->{end};
		$_ = encode_json($all)' "${file[0]}" &&
		touch -d '2002-03-04 12:00' "${file[0]}" && again &&
		cell 'figure 7' 8 | grep -xE '2002-03-04 to .*' &&
		[ "$(grep -cE ' Measured on 20[0-9]{2}-[0-9]{2}-[0-9]{2}[.]$' \
			"$OUT/report.md")" = 2 ]
}

# Only speeds measured on a busy machine are measured again, and the report has
# the new times.
anew()
{
	local all kept

	costs 25 1 1000 >/dev/null || return
	perl -MJSON::PP -0777 -i -pe 'my $all = decode_json($_);
		$all->{others} = 0;
		$_ = encode_json($all)' "$OUT"/cache/{speed,strong,weak}-*.json &&
		tools/sim/paper/paper --sim "$SIM" --out "$OUT" --quick --speed \
			>"$TAP_TMP/said" 2>&1 || return
	cat "$TAP_TMP/said"
	read -r all kept < <(sed -nE \
		's/^==> ([0-9]+) simulations, ([0-9]+) of them cached/\1 \2/p' "$TAP_TMP/said")
	[ "$all" ] && [ $((all - kept)) = 4 ] && again &&
		[ "$(cell 'the whole of figure 7' 5)" != 4 ] &&
		! cell 'figure 7' 8 | grep 2002 &&
		diff "$OUT/speed.md" <(sed -n \
			'/^## Speed and memory/,/ at least 20 times/p' "$OUT/report.md" |
			sed -n '/^|/,$p')
}

# Strong scaling: one and two threads or processes do the same work. Weak
# scaling: two do twice the work of one.
scaling()
{
	local ways='threads processes'

	command -v mpirun >/dev/null && [ -x "$SIM-mpi" ] || ways=threads
	awk -F' *[|] *' -v ways="$ways" '/^[|] (strong|weak), / {
			print
			sub(/,.*/, "", $2)
			events[$2, $3] = $4
			bad += !($7 > 0.1 && $7 <= 1) || $6 !~ /^([0-9.]+|not idle|too short|)$/
			rows++
		}
		END {
			for (n = split(ways, way, " "); n; n--) {
				bad += !events["strong", "1 " way[n]]
				bad += events["strong", "1 " way[n]] != events["strong", "2 threads"]
				bad += events["strong", "2 " way[n]] != events["strong", "2 threads"]
				bad += !(events["weak", "2 " way[n]] > 1.9 * events["weak", "1 " way[n]])
				rows -= 4
			}
			exit rows || bad
		}' "$OUT/report.md"
}
