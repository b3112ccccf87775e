#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/interop-suite, which runs TVM's own tests on Tenon: here with small ones, and one that must differ.
# TENON_TVM_TESTS names tests/python of a checkout of TVM: then a part of the real suite runs too.

. tests/build/tap.sh
. tests/build/tvm.sh

needs_x86_64 "the package of TVM is"
needs_tvm DSO TVM_FFI_COMPAT RELAX_VM SHARED_LIBRARY ERROR_MESSAGES
"$python" -c 'import pytest, scipy' 2> "$scratch/log" || skip "$python has no pytest or scipy"
[ -z "${SAN:-}" ] || skip "the worker is linked with the shared library"

suite()
{
	scripts/interop-suite --python "$python" --build "$TENON_BUILD" "$@" > "$scratch/out" 2>&1
	status=$?
	cat "$scratch/out"
	return $status
}

agree()
{
	suite tests/interop/suite/example test_agreeing.py &&
		tail -n 1 "$scratch/out" | grep -q '^4 equal, 0 different, 1 not expressible, 0 fails on both$'
}

# TVM's runtime passes them, and so does Tenon
names()
{
	(cd tests/interop/suite/example && "$python" -m pytest -q -p no:cacheprovider test_names.py) > "$scratch/out" 2>&1 ||
		{ cat "$scratch/out"; return 1; }
	suite tests/interop/suite/example test_names.py &&
		tail -n 1 "$scratch/out" | grep -q '^8 equal, 0 different, 0 not expressible, 0 fails on both$'
}

differ()
{
	suite tests/interop/suite/example test_differing.py
	[ $? -eq 1 ] && grep -q '^different.*test_runtime_is_tvm$' "$scratch/out"
}

it "tests that end alike are equal, and what no message can carry is named" agree
it "functions that programs call by name do what TVM's do" names
it "a test that ends otherwise than on TVM's runtime differs" differ
it "a folder without tests is nothing that could run" not suite tests/interop/data
if [ -n "${TENON_TVM_TESTS:-}" ]; then
	it "TVM's tests of its machine end on Tenon as on TVM's runtime" suite "$TENON_TVM_TESTS" relax/test_vm_build.py \
		relax/test_vm_execbuilder.py relax/test_runtime_builtin.py codegen/test_target_codegen_llvm.py
else
	skip_case "TVM's tests of its machine end on Tenon as on TVM's runtime" "TENON_TVM_TESTS names no checkout of TVM's tests"
fi
finish
