#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples/python/test_board.py by pytest and the package's plug-in, on the simulator of a board

. tests/build/tap.sh
. tests/python/can_run.sh
can_run python3
grep -qs '^CONFIG_DEVICE_MORTISE=[ym]' "$TENON_BUILD/include/config/auto.conf" && grep -qs '^CONFIG_LINK=[ym]' "$TENON_BUILD/include/config/auto.conf" ||
	skip "needs CONFIG_DEVICE_MORTISE and CONFIG_LINK"
python3 -c 'import pytest' 2>/dev/null || skip "pytest is not installed (Debian: python3-pytest)"

links()
{
	${CC:-cc} -fPIE -no-pie -fno-stack-protector -std=c11 -Os -ffreestanding -fvisibility=hidden -fno-common -ffunction-sections \
		-fno-asynchronous-unwind-tables -I include -nostdlib -static -Wl,--emit-relocs -Wl,-e,0 -Wl,--gc-sections \
		-Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,norelro -T firmware/kernels/kernel.ld \
		-o "$scratch/vector_add.mortise" firmware/kernels/vector_add.c &&
		CPATH=$PWD/include PYTHONPATH="$TENON_BUILD/python" python3 -c '
import sys, tenon
folder = sys.argv[1]
tenon.link(["examples/link/vecadd_mortise.c", (folder + "/vector_add.mortise", "mortise")], folder + "/vecadd.so")' "$scratch"
}

# pytest_says WORDS OPTION...: the last line of its output has the words
pytest_says()
{
	words=$1
	shift
	PYTHONPATH="$TENON_BUILD/python" python3 -m pytest -p tenon.pytest_plugin -p no:cacheprovider -rs -q -c /dev/null --rootdir "$scratch" \
		examples/python/test_board.py "$@" > "$scratch/pytest" 2>&1
	tail -n 1 "$scratch/pytest" | grep -q "$words" || { cat "$scratch/pytest"; return 1; }
}

it "the module is linked" links
it "without a module the tests are skipped" pytest_says '^5 skipped'
export TENON_MODULE="$scratch/vecadd.so"
it "the tests pass on the simulator" pytest_says '^5 passed' --tenon-device mortise://sim
it "without the board they are skipped" pytest_says '^5 skipped' --tenon-device mortise://none-such
finish
