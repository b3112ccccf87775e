#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Mistakes that people make: tenon-compile says in one line what is wrong

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python

# fails STATUS PATTERN ARGUMENT...: in a line that says whose it is
fails()
{
	wanted=$1 pattern=$2
	shift 2
	compile "$@" > "$scratch/refused" 2>&1
	status=$?
	cat "$scratch/refused"
	[ "$status" -eq "$wanted" ] && is_one_line "$scratch/refused" && grep -q "^tenon-compile: .*$pattern" "$scratch/refused"
}

# compiles ARGUMENT...: and the module runs
compiles()
{
	compile "$network" -o "$scratch/model.so" ${one_processor:+--processor "$one_processor"} "$@" > "$scratch/printed" 2>&1
	status=$?
	cat "$scratch/printed"
	[ "$status" -eq 0 ] && is_one_line "$scratch/printed" && "$TENON_COMMAND" run "$scratch/model.so" --input x=2x2xfloat32=ones
}

# with_words VARIABLE OPTION...: a compiler of several words
with_words()
{
	variable=$1
	shift
	(unset CC CXX; export "$variable=env LC_ALL=C gcc"; "$python" compile/tenon-compile "$network" -o "$scratch/model.so" "$@")
}

# broken: an error that nobody thought of
broken()
{
	mkdir -p "$scratch/broken"
	echo "raise ZeroDivisionError('none')" > "$scratch/broken/tvm.py"
	(export PYTHONPATH="$scratch/broken"; fails 1 "right.onnx: ZeroDivisionError: none. .*--traceback" "$network" -o "$scratch/none.so")
}

it "the networks are written" "$python" tests/compile/wrong_networks.py "$scratch"
network=$scratch/right.onnx
it "a network that is right says what to try in a line" compiles
it "a target that does not exist is answered with those that do" fails 2 "'amd64'.*'aarch64'" "$network" --target amd64
it "an option that does not exist is answered with --help" fails 2 "--help" "$network" --outptu x
it "a call without a network says what is missing" fails 2 "network"
it "a folder that is no language model is told what it lacks" fails 1 "config.json" "$scratch"
for shape in 99999999999999999999999,2 2147483648; do
	it "a shape beyond all memory is refused: $shape" fails 1 "elements" "$network" --shape x=$shape
done
for name in model.json model.case; do
	it "a module does not get the name of what is written beside it: $name" fails 1 "model.so" "$network" -o "$scratch/$name"
done
it "a value that nothing gives is named" fails 1 "Add (output y) reads nowhere" "$scratch/nowhere.onnx" -o "$scratch/none.so"
it "and so is one that is read too early" fails 1 "Add (output a) reads b" "$scratch/late.onnx" -o "$scratch/none.so"
it "and an output" fails 1 "output y" "$scratch/no-output.onnx" -o "$scratch/none.so"
it "characters that a terminal obeys are written as others" fails 1 'input a\\n\\x1b\[31m has' "$scratch/name.onnx" -o "$scratch/none.so"
mv "$scratch/beside.weights" "$scratch/away"
it "weights that are not beside the file are named" fails 1 "weights.*beside.weights" "$scratch/beside.onnx" -o "$scratch/none.so"
head -c 3 "$scratch/away" > "$scratch/beside.weights"
it "and so are those that are cut off" fails 1 "weights.*available" "$scratch/beside.onnx" -o "$scratch/none.so"
it "an axis of opset 6 is refused where it means what none of today does" fails 1 "Add (output y).*convert_version" "$scratch/axis0.onnx" \
	-o "$scratch/none.so"
network=$scratch/axis1.onnx
it "and is taken elsewhere" compiles
network=$scratch/right.onnx
printf 'yes\nno\n' > "$scratch/model.labels.txt"
it "labels may be those that are beside the module already" compiles --labels "$scratch/model.labels.txt"
it "and stay as they are" grep -qx no "$scratch/model.labels.txt"

it "a compiler that is missing is named" fails 1 "--cc none: no such command" "$network" -o "$scratch/none.so" --cc none
it "one that does not link is, with what it says" fails 1 "gcc -Wl,--none does not link the module: .*--none" "$network" -o "$scratch/none.so" \
	--cc "gcc -Wl,--none"
it "a compiler may be several words" compiles --cc "env LC_ALL=C gcc"
for variable in CC CXX; do
	it "and so may the one in $variable" with_words $variable
done
without_compilers()
{
	mkdir -p "$scratch/empty" && (unset CXX; export PATH="$scratch/empty"; fails_without_tools)
}
# nothing but built-in commands
fails_without_tools()
{
	unset CC
	said=$("$python" compile/tenon-compile "$network" -o "$scratch/none.so" 2>&1) && return 1
	echo "$said"
	case $said in
	"tenon-compile: "*"no C compiler"*"apt install"*) ;;
	*) return 1 ;;
	esac
}
it "a machine without a compiler is told what to install" without_compilers

it "an error that nobody thought of is a line, too" broken
it "nothing was written" not ls "$scratch/none.so"
finish
