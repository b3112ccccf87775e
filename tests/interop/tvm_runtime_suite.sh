#!/bin/sh
# SPDX-License-Identifier: MIT
#
# TVM's own tests of its runtime, its virtual machine and RPC, on TVM's library and on ours, in one run. Tests that need the
# compiler in their process are skipped on both. Needs a checkout of TVM's source at the version of the installed
# package, with tests/python, in TENON_TVM_SOURCE; nothing is fetched.

. tests/build/tap.sh
list=$PWD/tests/interop/tvm_runtime_failures.txt
results=$PWD/tests/interop/compare_results.py
plugin=$PWD/tests/interop/tvm_without_compiler.py
[ -d "${TENON_TVM_SOURCE:-}/tests/python/runtime" ] || skip "TENON_TVM_SOURCE names no source of TVM"
. tests/interop/tvm_ffi_site.sh
. tests/interop/tvm_runtime_site.sh
"$python" -c 'import psutil, pytest, tornado' 2>/dev/null || skip "psutil, pytest or tornado is not installed"

mkdir "$scratch/python" "$scratch/python/relax" "$scratch/plugins"
cp "$plugin" "$scratch/plugins/"
(cd "$TENON_TVM_SOURCE/tests/python" && cp runtime/test_*.py contrib/test_rpc_*.py contrib/test_dlpack.py \
	contrib/test_random.py support/test_popen_pool.py "$scratch/python/" &&
	cp relax/test_vm_*.py relax/test_runtime_builtin*.py "$scratch/python/relax/") || skip "TENON_TVM_SOURCE lacks tests"

# run_once FILE COMMAND...
run_once()
{
	file=$1
	shift
	(cd "$scratch/python" && PYTHONPATH=$scratch/plugins "$@" "$python" -m pytest -q -c /dev/null --rootdir=. --tb=line \
		-o cache_dir="$scratch/$name/cache" $again -p tvm_without_compiler --continue-on-collection-errors \
		--junitxml="$file.xml" . > "$file.log" 2>&1)
	[ $? -le 1 ] || [ -n "$again" ] || tail -n 40 "$file.log"
	[ -s "$file.xml" ]
}

# run_tests NAME COMMAND...: results go to the folder NAME; failures of tests are no failures here. Some tests have deadlines that
# a busy machine misses, so those that failed run once more.
run_tests()
{
	name=$1
	shift
	mkdir "$scratch/$name"
	again=
	run_once "$scratch/$name/results" "$@" || return
	again='--last-failed --last-failed-no-failures none'
	run_once "$scratch/$name/more" "$@"
}

# with_runtime sets PYTHONPATH
ours()
{
	with_runtime env PYTHONPATH="$scratch/site:$scratch/plugins" "$@"
}

it "the tests run on TVM's own library" run_tests original env TVM_USE_RUNTIME_LIB=1
it "the tests run on ours, to the end" run_tests ours ours
it "those that fail on ours alone are listed, and no others" \
	"$python" "$results" "$scratch/original" "$scratch/ours" "$list"
sed 's/^/# /' "$scratch/said"
finish
