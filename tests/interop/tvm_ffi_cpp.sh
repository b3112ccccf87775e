#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The C++ tests of tvm-ffi, compiled once, on its own library and on ours in one run

. tests/build/tap.sh
list=$PWD/tests/interop/tvm_ffi_cpp_failures.txt
results=$PWD/tests/interop/compare_results.py
need g++
. tests/interop/tvm_ffi_site.sh
. tests/interop/tvm_ffi_source.sh
pkg-config --exists gtest_main 2>/dev/null || skip "googletest is not installed"

jobs=${TENON_JOBS:-1}
tests=$source/tests/cpp
cxx="${CXX:-g++} -std=c++17 -O0 -w -I$source/include -I$source/3rdparty/dlpack/include -I$tests"
cxx="$cxx $(pkg-config --cflags gtest_main)"
libraries="-ltvm_ffi -ltvm_ffi_testing $(pkg-config --libs gtest_main)"
mkdir "$scratch/objects" "$scratch/original" "$scratch/ours"

compile_tests()
{
	find "$tests" -name 'test_*.cc' | sed "s|^$tests/||" | while read -r file; do
		echo "$file $(echo "${file%.cc}" | tr / _)"
	done | xargs -P "$jobs" -L 1 sh -c "$cxx"' -c -o "$2/objects/$4.o" "$1/$3"' sh "$tests" "$scratch"
}

# link_tests PROGRAM LIBRARIES OBJECT...
link_tests()
{
	program=$1 folder=$2
	shift 2
	# names that a library lacks are looked up when they are called
	g++ -o "$program" "$@" -L"$folder" -Wl,-z,lazy,--no-as-needed $libraries
}

# Tests of these need no C++ name of the library.
headers_alone()
{
	for concept in string error tensor shape dtype; do
		set -- "$@" "$scratch/objects/test_$concept.o"
	done
	link_tests "$scratch/headers" "$scratch/site/tvm_ffi/lib" "$@" &&
		LD_LIBRARY_PATH="$scratch/site/tvm_ffi/lib" "$scratch/headers" > "$scratch/log" || { tail -n 40 "$scratch/log"; return 1; }
}

# Our library has no C++ names. Those that the tests need call its global functions.
names_library()
{
	$cxx -fPIC -shared -o "$scratch/names.so" tests/interop/tvm_ffi_names.cc
}

# run_tests FOLDER LIBRARIES [PRELOADED]: each test in a process of its own; one that ends early leaves no result
run_tests()
{
	xargs -P "$jobs" -n 1 sh -c 'file=$1/$(echo "$4" | tr / _)
		timeout 120 env LD_LIBRARY_PATH="$2" LD_PRELOAD="$3" "$0/tests" --gtest_filter="$4" \
			--gtest_output="xml:$file.xml" > "$file.log" 2>&1
		echo $? > "$file.status"' "$scratch" "$1" "$2" "${3:-}" < "$scratch/names"
	[ "$(find "$1" -name '*.xml' | wc -l)" -gt 300 ]
}

# A test fails (1), or the dynamic linker finds no C++ name (127).
no_crash()
{
	! grep -vx -e 0 -e 1 -e 127 "$scratch"/ours/*.status
}

# as "Suite.Test"
list_tests()
{
	LD_LIBRARY_PATH=$package/lib "$scratch/tests" --gtest_list_tests |
		awk '/^[^ ]/ { suite = $1; next } { print suite $1 }' | grep '\.' > "$scratch/names" && [ -s "$scratch/names" ]
}

it "the tests compile" compile_tests
it "programs of the headers alone link with our library, and their tests pass" headers_alone
it "the tests link with tvm-ffi's own library" link_tests "$scratch/tests" "$package/lib" "$scratch"/objects/*.o
it "their names are listed" list_tests
it "the tests run on tvm-ffi's own library" run_tests "$scratch/original" "$package/lib"
it "C++ names are made of global functions" names_library
it "the tests run on ours" run_tests "$scratch/ours" "$scratch/site/tvm_ffi/lib" "$scratch/names.so"
it "no test crashes" no_crash
it "those that fail on ours alone are listed, and no others" "$python" "$results" "$scratch/original" "$scratch/ours" "$list"
sed 's/^/# /' "$scratch/said"
finish
