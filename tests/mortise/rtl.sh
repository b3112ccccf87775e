#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The accelerator in SystemVerilog: clean in lint, read by yosys, and equal to the firmware on random rings.

. tests/build/tap.sh

[ -n "${FULL:-}${HIL:-}" ] || skip '"make check-hil" and FULL=1 run this suite'
[ -z "${EMULATOR:-}" ] || skip "the accelerator is a program of the machine that builds"
command -v verilator > /dev/null || skip "needs verilator (Debian: verilator, g++)"

sources="firmware/rtl/mortise_pkg.sv $(ls firmware/rtl/*.sv | grep -v _pkg | tr '\n' ' ')"
bench=$TENON_BUILD/rtl/testbench

lint()
{
	# shellcheck disable=SC2086 # a list
	verilator --lint-only -Wall --top-module mortise_rtl $sources
}

reads()
{
	yosys -q -p "read_verilog -sv $sources; hierarchy -check -top mortise_rtl"
}

random_rings()
{
	"$bench" "${COUNT:-1000}" "${SEED:-1}"
}

# a figure that cannot pass by chance: more than the array has, or so little that the fetch of rows is not hidden
reaches_its_peak()
{
	"$bench" --bench > "$scratch/figures" || return 1
	cat "$scratch/figures"
	awk '$1 == 64 && $3 == 512 { found = $7 > 60 && $7 <= 100 } END { exit !found }' "$scratch/figures"
}

it "the sources are clean in Verilator's lint" lint
if command -v yosys > /dev/null; then
	it "yosys reads them" reads
else
	skip_case "yosys reads them" "yosys is not installed (Debian: yosys)"
fi
it "random rings leave what the firmware leaves, by the rules of AXI4" random_rings
it "large products keep the array busy" reaches_its_peak
finish
