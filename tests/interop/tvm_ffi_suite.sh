#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The Python tests of tvm-ffi, on its own library and on ours, in one run

. tests/build/tap.sh
list=$PWD/tests/interop/tvm_ffi_failures.txt
results=$PWD/tests/interop/compare_results.py
. tests/interop/tvm_ffi_site.sh
. tests/interop/tvm_ffi_source.sh
"$python" -c 'import pytest' 2>/dev/null || skip "pytest is not installed"

# Tests that compile C++, CUDA or Rust take minutes and test the compiler; these run on neither library.
cat > "$scratch/ignored" << 'END'
test_build.py
test_build_inline.py
test_cubin_launcher.py
test_examples.py
test_load_inline.py
test_optional_torch_c_dlpack.py
test_rust_static_init.py
test_stl.py
END
cp -R "$source/tests/python" "$scratch/python"

# run_tests NAME COMMAND...: results go to NAME.xml; failures of tests are no failures here
run_tests()
{
	name=$1
	shift
	(cd "$scratch/python" && "$@" "$python" -m pytest -q -c /dev/null --rootdir=. --tb=line -p no:cacheprovider \
		$(sed 's/^/--ignore=/' "$scratch/ignored") --junitxml="$scratch/$name.xml" . > "$scratch/$name.log" 2>&1)
	[ $? -le 1 ] || tail -n 40 "$scratch/$name.log"
	[ -s "$scratch/$name.xml" ]
}

it "the tests run on tvm-ffi's own library" run_tests original env
it "the tests run on ours, to the end" run_tests ours with_ours
it "those that fail on ours alone are listed, and no others" \
	"$python" "$results" "$scratch/original.xml" "$scratch/ours.xml" "$list"
sed 's/^/# /' "$scratch/said"
finish
