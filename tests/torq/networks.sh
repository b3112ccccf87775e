#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Networks compiled by Synaptics' torq-compile and run by its torq-run-module on the vendor's model of the NPU, and by torq:0 on
# the fake of its kernel driver, which replays the jobs of that run: the outputs are equal, for inputs that are other ones
# each time.

. tests/build/tap.sh
. tests/torq/torq.sh

test=$TENON_BUILD/tests/torq/device_test
[ -x "$test" ] || skip "tests/torq/device_test is not built: needs CONFIG_DEVICE_TORQ and cmocka"
[ -z "${EMULATOR:-}" ] || skip "the vendor's tools run on x86-64"
why=$(torq_tools) || skip "$why"
torq_tools
linker=$site/iree/compiler/_mlir_libs/iree-lld
"$linker" -flavor gnu --version > /dev/null 2>&1 ||
	skip "$linker, which torq-compile calls, does not start: tests/torq/fetch makes one that does"
python=${TENON_VENVS:+$TENON_VENVS/0.27/bin/python}
[ -x "$python" ] || python=python3
"$python" -c 'import numpy' 2> /dev/null || skip "$python has no numpy"

made()
{
	sh tests/torq/make_data "$python" "$scratch/$1" "$1"
}

runs()
{
	TORQ_DATA=$scratch/$1 "$test" > "$scratch/words" 2>&1 || { cat "$scratch/words"; return 1; }
	grep -q 'networks_give_what_the_vendors_model_gave' "$scratch/words"
}

# modules differ in each compilation, by names that the compiler makes up; records have the code that is in them
same()
{
	diff -r -x '*.vmfb' tests/torq/data "$scratch/1"
}

it "torq-compile and torq-run-module make the data of the tests" made 1
it "it is what the tree has" same
for seed in 2 3 "$(date +%j%H%M)"; do
	it "torq-run-module runs the networks with inputs of seed $seed" made "$seed"
	it "torq:0 gives the same outputs" runs "$seed"
done
finish
