#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon link --case puts cases into a module, whatever made it, and tenon run --self-test runs them: here, on a server, on a board

. tests/link/link.sh
for option in NPZ SELF_TEST GRAPH_EXECUTOR TVM_LEGACY; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
need python3
case $(uname -m) in
x86_64)	;;
*)	skip "the modules of the tests are for x86-64" ;;
esac
[ -z "$EMULATOR" ] || skip "the modules of the tests are for this machine"
graph=$fixtures/tvm-0.8/graph_mlp/graph.so
boards=$OLDPWD/hil

# npz FILE NAME=ARRAY.npy...
npz()
{
	python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    for word in sys.argv[2:]:
        name, path = word.split("=")
        z.write(path, name + ".npy")' "$@"
}

# prints STATUS WORDS FILE ARGUMENT...: the self-test ends so, and prints these words
prints()
{
	status=$1 words=$2
	shift 2
	tenon run "$@" --self-test > printed 2> why
	got=$?
	cat printed why
	[ $got -eq "$status" ] && grep -qF -- "$words" printed
}

# refuses_case STATUS WORDS CASE
refuses_case()
{
	tenon link -o refused.so --case "$3" "$graph" 2> why
	got=$?
	cat why
	[ $got -eq "$1" ] && grep -qF -- "$2" why && [ ! -e refused.so ]
}

makes_cases()
{
	tenon run "$graph" --input 1x32xfloat32=ones --output '1x10xfloat32=>y.npy' > said || return
	python3 - << 'END'
import struct
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 32), }"
head += " " * (63 - (len(head) + 10) % 64) + "\n"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<32f", *[1.0] * 32))
b = bytearray(open("y.npy", "rb").read())
b[-1] ^= 0x40
open("wrong.npy", "wb").write(b)
END
	npz in.npz x=x.npy && npz out.npz arr_0=y.npy && npz wrong.npz arr_0=wrong.npy
}

it "arrays for the cases are made" makes_cases
it "a module of TVM gets cases" tenon link -o g.so --case in.npz,out.npz,name=ones --case in.npz,out.npz,hash "$graph"
it "which it passes" prints 0 'ok 1 ones' g.so
it "by the hash of an output, too" prints 0 'ok 2 in.npz' g.so
it "tenon inspect shows them" sh -c "$TENON_COMMAND inspect g.so | grep '^case ones: x 1x32xfloat32 -> 1x10xfloat32'"
it "and tenon verify counts them" sh -c "$TENON_COMMAND verify g.so | grep '2 cases'"
it "taken apart and linked again it is the same file" same g.so
it "strip leaves them there" sh -c "strip -o stripped.so g.so && $TENON_COMMAND run stripped.so --self-test"

tenon link -o bad.so --case in.npz,wrong.npz,rtol=1e-3 "$graph"
it "another result fails" prints 1 'not ok 1 in.npz' bad.so
it "with what differs" prints 1 '# output 0: differs in 1 of 10 elements' bad.so
it "and says why no operator is named" prints 1 '--reference FILE' bad.so
it "a reference of equal operators names none" prints 1 'no operator differs: 3 are equal' bad.so --reference g.so
it "a wide tolerance passes" sh -c "$TENON_COMMAND link -o wide.so --case in.npz,wrong.npz,atol=1e36 '$graph' && $TENON_COMMAND run wide.so --self-test"
it "new cases replace those that were there" sh -c "$TENON_COMMAND link -o again.so --case in.npz,out.npz,name=new bad.so && $TENON_COMMAND inspect again.so | grep '^case' > c && [ \$(wc -l < c) = 1 ] && grep 'case new' c"

it "a module that is linked keeps its case" sh -c "$TENON_COMMAND link -I '$headers' -o mine.so --case in.npz,out.npz '$example/vecadd.c' '$example/vecadd.cl=opencl' && $TENON_COMMAND inspect mine.so | grep '^case in.npz'"
it "one file is no case" refuses_case 2 'two files' in.npz
it "a tolerance is a number" refuses_case 2 'no number' in.npz,out.npz,rtol=much
it "a file that is missing is named" refuses_case 3 none.npz none.npz,out.npz
it "an object for programs takes none" refused 2 '--format' --case in.npz,out.npz --format system-lib "$example/vecadd.c"
it "a file without cases says so" sh -c "! $TENON_COMMAND run '$graph' --self-test 2> why; grep 'has no cases' why"
it "--memory beside it is refused: it has another result" sh -c "$TENON_COMMAND run g.so --self-test --memory 2> why; [ \$? = 2 ]"
it "an input beside them is refused" sh -c "$TENON_COMMAND run g.so --self-test --input 1x32xfloat32=ones 2> why; [ \$? = 2 ]"

# the cases are read here, and the model runs there
on_a_server()
{
	tenon rpc serve --listen "unix:$scratch/server" --trust-network > server.log 2>&1 &
	server=$!
	tries=0
	until [ -S server ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] && kill -0 $server || { cat server.log; return 1; }
		sleep 0.1
	done
	prints 0 'ok 1 ones' g.so --remote "unix:$scratch/server" && prints 1 'not ok 1' bad.so --remote "unix:$scratch/server"
	result=$?
	kill $server && wait $server
	return $result
}

on_a_board()
{
	export TENON_COMMAND
	tenon hil run --target "$boards/here.json" --out good ./g.so && ! tenon hil run --target "$boards/here.json" --out bad ./bad.so &&
		grep 'not ok 2 ./bad.so' bad/results.ktap
}

if grep -qs '^CONFIG_REMOTE=y' "$TENON_BUILD/include/config/auto.conf" &&
	grep -qs '^CONFIG_REMOTE_CLIENT=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "a server runs the model, and fails where it should" on_a_server
fi
if grep -qs '^CONFIG_HIL=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "a module is a suite of a board" on_a_board
fi
finish
