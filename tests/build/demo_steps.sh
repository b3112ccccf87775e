#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/demo says what it is about to do, and with whose rights, before each step that takes long.

. tests/build/tap.sh

mkdir "$scratch/bin"
printf '#!/bin/sh\necho "building $*"\n[ ! -e "%s/slow" ] || sleep 11\necho "make: broken"\nexit 2\n' "$scratch" > "$scratch/bin/make"
chmod +x "$scratch/bin/make"

demo()
{
	PATH=$scratch/bin:$PATH sh scripts/demo --no-install "O=$scratch/build" > "$scratch/out" 2>&1
	status=$?
	cat "$scratch/out"
	[ $status -eq 1 ]
}

packages=$(. scripts/needs.sh && missing $needs_to_build)
[ -z "$packages" ] || skip "what the build needs is not here: $packages"

each_step_is_announced()
{
	demo && grep -q 'Step 1 of 3: .*Nothing is installed' "$scratch/out" &&
		grep -q 'Step 2 of 3: building in .*Root and the network are not used' "$scratch/out"
}

a_failure_shows_the_end_of_the_output()
{
	demo && grep -q 'make: broken' "$scratch/out"
}

a_long_step_shows_how_far_it_is()
{
	: > "$scratch/slow"
	demo && grep -q '^  10 s: building ' "$scratch/out"
}

# a python3 that makes environments, whose pip reaches nothing
printf '#!/bin/sh\ncase "$*" in\n*pip*) echo "ERROR: no index" >&2; exit 1 ;;\n*venv*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;\nesac\n' \
	> "$scratch/bin/python3"
chmod +x "$scratch/bin/python3"

without_pypi()
{
	PATH=$scratch/bin:$PATH sh scripts/demo --run "$scratch/none" --$1 > "$scratch/out" 2>&1
	status=$?
	cat "$scratch/out"
	[ $status -eq 1 ] && grep -q '^Left out: PyPI cannot be reached' "$scratch/out"
}

# the command measures a file, and does nothing else
printf '#!/bin/sh\n[ "$1" != bench ] || echo "50 runs: min 5 ms, median 6 ms"\n' > "$scratch/bin/tenon"
chmod +x "$scratch/bin/tenon"

a_file_has_a_time_and_one_ratio()
{
	sh scripts/demo --run "$scratch/bin" > "$scratch/out" 2>&1
	grep -A 2 '^A file takes ' "$scratch/out"
	grep -Eq "^A file takes 5 ms on one thread(: [0-9.]+ × ONNX Runtime's time .*)?[.]$" "$scratch/out" || return
	! grep -qsw bmi2 /proc/cpuinfo || grep -q ' × ONNX' "$scratch/out"
}

it "each step is announced" each_step_is_announced
it "a build that fails shows the end of its output" a_failure_shows_the_end_of_the_output
it "a step of more than ten seconds shows how far it is" a_long_step_shows_how_far_it_is
[ "$(uname -m)" != x86_64 ] || it "the demo says how long a file takes, and that beside ONNX Runtime" a_file_has_a_time_and_one_ratio
for part in chat picture; do
	it "where PyPI cannot be reached, the demo says what it leaves out: $part" without_pypi $part
done
finish
