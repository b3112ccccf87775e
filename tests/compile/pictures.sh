#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Four pretrained networks, compiled, on parts of photographs: they give what ONNX Runtime gives

. tests/build/tap.sh
. tests/compile/compile.sh

prepared=$TENON_BUILD/compile
[ -f "$prepared/networks/skimage/data/page.png" ] || skip "there are no photographs: tests/compile/prepare downloads them"
[ -x "$TENON_COMMAND" ] || skip "needs CONFIG_TOOL"
needs_python
devices=cpu
"$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0' && devices="cpu opencl"

# gives FOLDER MODULE DEVICE: the module's outputs are those of ONNX Runtime
gives()
{
	folder=$1
	set -- "$folder/$2" --device "$3" --input "@$folder/x.npy"
	for y in "$folder"/y*.npy; do
		set -- "$@" --expect "@$y"
	done
	"$TENON_COMMAND" run "$@" --rtol 1e-3 --atol 2e-4
}

for network in detection recognition orientation faces; do
	folder=$scratch/$network
	it "$network has a reference" sh -c '"$1" tests/compile/pictures.py "$2" "$3" "$4" > "$4.shape"' sh \
		"$python" "$prepared/networks" $network "$folder"
	for device in $devices; do
		it "$network becomes a module for $device" \
			compile "$folder/network.onnx" -o "$folder/$device.so" --shape "$(cat "$folder.shape")" --target $device \
			${one_processor:+--processor "$one_processor"}
		it "$network gives the same on $device" gives "$folder" $device.so $device:0
	done
done
finish
