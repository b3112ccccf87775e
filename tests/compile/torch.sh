#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A network of PyTorch, exported, to a result, as docs/making-modules.md says

. tests/build/tap.sh
. tests/compile/compile.sh

python=${TENON_TORCH_PYTHON:-$TENON_BUILD/compile/torch/bin/python}
[ -x "$python" ] || skip "PyTorch is not installed: tests/compile/prepare --torch installs it"
"$python" -c 'import torch, tvm' 2>/dev/null || skip "$python has no torch or no tvm"
[ -x "$TENON_COMMAND" ] || skip "needs CONFIG_TOOL"

folder=$scratch/network
mkdir "$folder"

gives()
{
	"$TENON_COMMAND" run "$folder/model.so" --input "picture=@$folder/picture.npy" --input "bias=@$folder/bias.npy" \
		--expect "@$folder/answer.npy" --expect "@$folder/features.npy" --rtol 1e-4 --atol 1e-5
}

says()
{
	"$TENON_COMMAND" run "$1" > "$scratch/said" 2>&1
	status=$?
	cat "$scratch/said"
	[ "$status" -ne 0 ] && grep -q "looks like $2" "$scratch/said" && grep -q 'docs/making-modules.md' "$scratch/said"
}

it "PyTorch has a network, and an answer" "$python" tests/compile/torch_network.py "$folder"
it "it becomes a module" compile "$folder/network.pt2" -o "$folder/model.so" --shape picture=1,3,8,8 ${one_processor:+--processor "$one_processor"}
it "names, types and shapes are kept beside it" grep -q '"picture"' "$folder/model.json"
it "it gives what PyTorch gives" gives
it "another shape than the exported one is refused" \
	refuses "exported for" "$folder/network.pt2" -o "$scratch/none.so" --shape picture=2,3,8,8
it "open extents are refused with what to do" refuses "without dynamic_shapes" "$folder/varied.pt2" -o "$scratch/none.so"
it "TorchScript is refused with what to do" refuses "torch.export.save" "$folder/script.pt" -o "$scratch/none.so"
it "weights are refused with what to do" refuses "torch.export.save" "$folder/weights.pt" -o "$scratch/none.so"
damage()
{
	"$python" - "$folder" <<-'END'
		import sys, zipfile
		network, damaged = zipfile.ZipFile(f"{sys.argv[1]}/network.pt2"), zipfile.ZipFile(f"{sys.argv[1]}/damaged.pt2", "w")
		for name in network.namelist():
		    damaged.writestr(name, b"" if name.endswith(".json") else network.read(name))
		damaged.close()
	END
}
it "a program is damaged" damage
it "and refused with what PyTorch says" refuses "damaged.pt2: PyTorch does not load it: " "$folder/damaged.pt2" -o "$scratch/none.so"
it "the command names an exported program" says "$folder/network.pt2" "a PyTorch exported program"
it "the command names TorchScript" says "$folder/script.pt" "a TorchScript program"
it "the command names weights" says "$folder/weights.pt" "weights or objects of PyTorch"
finish
