#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ethosu://sim, through the command: networks that Vela compiled, as files and in modules

. tests/build/tap.sh
. tests/ethosu/command.sh
needs_options y ERROR_MESSAGES
needs_options ym DEVICE_ETHOSU
data=$PWD/tests/ethosu/data change_npz=$PWD/tests/ethosu/change_npz.py
cd "$scratch" || exit 1

# run FILE ARGUMENT...: on the model
run()
{
	file=$1
	shift
	tenon run "$file" --function main --device ethosu://sim "$@"
}

pool=$data/u55_avgpool add=$data/u65_add2_cop2 convolution=$data/u65_conv1x1 softmax=$data/u65_softmax_mix
one_input="--input 1024xint8=@$convolution/in0.bin --output 1024xint8 --expect 1024xint8=@$convolution/ref0.bin"

it "a pool for U55" run "$pool/u55.npz" --input "1620xint8=@$pool/in0.bin" --output 500xint8 --expect "500xint8=@$pool/ref0.bin"
it "an addition with regions of its own for inputs and outputs" run "$add/u65.npz" --input "576xint8=@$add/in0.bin" \
	--input "576xint8=@$add/in1.bin" --output 576xint8 --expect "576xint8=@$add/ref0.bin"
# shellcheck disable=SC2086
it "a convolution for one core" run "$convolution/u65.npz" $one_input
# shellcheck disable=SC2086
it "and for two" run "$convolution/two-cores.npz" $one_input
it "a network with weights that are copied, tables and softmax" run "$softmax/u65.npz" \
	--input "768xint8=@$softmax/in0.bin" --output 12xint8 --expect "12xint8=@$softmax/ref0.bin"

of_another_target()
{
	# shellcheck disable=SC2086
	says 5 "compiled for u65-512, and this is a u65-256" tenon run "$convolution/two-cores.npz" --function main \
		--device "ethosu://sim?target=u65-256" $one_input
}
it "a device of one target refuses what was compiled for another" of_another_target
it "memory that is too small is refused" says 5 "needs 1024" run "$convolution/u65.npz" --input 1024xint8=zeros --output 1000xint8

into_constants()
{
	python3 "$change_npz" "$softmax/u65.npz" wrong.npz input_region=0 input_offset=0 &&
		says 3 "input 0 is in region 0, which has the constants" run wrong.npz \
			--input "768xint8=@$softmax/in0.bin" --output 12xint8 &&
		python3 "$change_npz" "$softmax/u65.npz" wrong.npz output_region=0 \
			output_offset=0 &&
		says 3 "output 0 is in region 0, which has the constants" run wrong.npz \
			--input "768xint8=@$softmax/in0.bin" --output 12xint8
}
python3 -c '' 2>/dev/null && it "a call does not change the constants" into_constants

linked()
{
	# shellcheck disable=SC2086
	tenon link -o net.so "$convolution/u65.npz=ethos-u" && run net.so $one_input &&
		tenon unpack net.so net.d && cmp net.d/u65.npz "$convolution/u65.npz" && tenon verify net.so
}
if grep -qs '^CONFIG_LINK=y' "$config" && [ -z "$EMULATOR$SAN" ] && command -v "${CC%% *}" >/dev/null; then
	it "a module of such a file runs, and gives it back" linked
fi

# A copy of the command, the library and what opens programs in files: they know what the file is, and who reads it.
without_the_plugin()
{
	mkdir -p bare/plugins && cp "$TENON_COMMAND" bare/tenon && cp -L "$TENON_BUILD/libtenon.so" bare/libtenon.so.0 &&
		cp "$TENON_BUILD/plugins/describe.so" bare/plugins && cp "$convolution/payload.bin" network.cop || return
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$PWD/bare says 4 "CONFIG_DEVICE_ETHOSU=m: no plug-in ethosu.so" $EMULATOR bare/tenon run network.cop
}
if grep -qs '^CONFIG_DEVICE_ETHOSU=m' "$config" && grep -qs '^CONFIG_SHARED_LIBRARY=y' "$config"; then
	it "without the plug-in the option is named" without_the_plugin
else
	skip_case "without the plug-in the option is named" "the backend or the library is in the command"
fi
finish
