#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What runs benchmarks: it goes on after one that dies, and counts goals

. tests/build/tap.sh

for name in one three; do
	printf '#!/bin/sh\necho "row of %s   goal <= 2: met"\necho "other of %s   goal <= 1: MISSED"\n' $name $name > "$scratch/$name"
done
printf '#!/bin/sh\necho "row of two ≤ 1 × best  met (0.91)"\nkill -9 $$\n' > "$scratch/two"
chmod +x "$scratch/one" "$scratch/two" "$scratch/three"

run_all()
{
	sh scripts/run-benches "$scratch/" "$scratch/one" "$scratch/two" "$scratch/three" > "$scratch/all"
	status=$?
	cat "$scratch/all"
	[ $status -eq 1 ]
}
it "a benchmark that dies fails the run" run_all
it "those after it are run" grep -q '^row of three' "$scratch/all"
it "it is named" grep -q '^two: exit status' "$scratch/all"
it "goals are counted" grep -qx '3 of 5 goals are met' "$scratch/all"
it "missed ones are listed with their benchmark" grep -qx 'three: other of three   goal <= 1: MISSED' "$scratch/all"

missed_alone()
{
	sh scripts/run-benches "$scratch/" "$scratch/one"
}
it "a missed goal fails nothing" missed_alone
finish
