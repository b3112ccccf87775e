#!/bin/sh
# SPDX-License-Identifier: MIT
#
# modules of TVM's old code generator for Ethos-U, whose one import is TVMEthosULaunch()

. tests/build/tap.sh
. tests/ethosu/command.sh
needs_options y ERROR_MESSAGES DSO
needs_options ym DEVICE_ETHOSU
[ -z "${EMULATOR:-}${SAN:-}" ] || skip "compiles a shared object for this machine"
CC=${CC:-cc}
need "${CC%% *}"
add=$PWD/tests/ethosu/data/u65_add2_cop2

# compile PAYLOAD
compile()
{
	$CC -shared -fPIC -O1 -Iinclude -DPAYLOAD="\"$1\"" -o "$scratch/net.so" tests/ethosu/tvm_module.c
}

cat "$add/in0.bin" "$add/in1.bin" > "$scratch/inputs.bin"

run()
{
	"$TENON_COMMAND" run "$scratch/net.so" --function run --input "1152xint8=@$scratch/inputs.bin" --output 576xint8 "$@"
}

runs()
{
	compile "$add/payload.bin" && run --expect "576xint8=@$add/ref0.bin"
}
it "its function runs the payload on the device" runs

# fails WORDS: the payload of compile() does not run, for this reason
fails()
{
	run > "$scratch/said.txt" 2>&1 && return 1
	cat "$scratch/said.txt"
	grep -qF -- "$1" "$scratch/said.txt"
}

cut_off()
{
	head -c 200 "$add/payload.bin" > "$scratch/short.bin" && compile "$scratch/short.bin" && fails "TVMEthosULaunch"
}
it "a payload that is damaged is an error of the call" cut_off

larger()
{
	compile "$PWD/tests/ethosu/data/u65_conv1x1/payload.bin" && fails "of region 0, and the module gives 0"
}
it "and so is one that needs more than the module gives" larger

finish
