#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The unmodified Python package tvm_ffi on our libtvm_ffi.so

. tests/build/tap.sh
. tests/interop/tvm_ffi_site.sh

script=$PWD/tests/interop/tvm_ffi_package.py
data=$PWD/tests/interop/data

says()
{
	(cd "$scratch" && with_ours "$python" "$script" "$@")
}

has_all_names()
{
	(cd "$scratch" && env -u PYTHONPATH "$python" "$script" write_names "$scratch/theirs") &&
		says names "$scratch/theirs" "$scratch/ours"
}

# each section is a process of its own
it "the package is imported with our library" says library "$library"
it "it has every global function and type of tvm-ffi's own library" has_all_names
it "tensors go both ways without a copy" says tensors
it "functions of Python are called back, and errors pass" says calls
it "containers hold what Python puts into them" says containers
it "dataclasses have constructors, text and order" says dataclasses
it "functions of a type take the place of its fields" says hooks
it "values are mapped and mutated, in place where nothing else holds them" says mutation
if [ "$(uname -m)" = x86_64 ]; then
	it "a module of TVM 0.27 runs" says module "$data/tvm-0.27.0.post1/host_vecadd/lib.so"
else
	skip_case "a module of TVM 0.27 runs" "the module is for x86-64"
fi
finish
