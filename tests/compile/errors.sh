#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Mistakes that people make: tenon-compile says in one line what is wrong, and leaves nothing behind

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

# nothing_left: neither a module, nor a folder beside it, nor one for temporary files
nothing_left()
{
	left=$(find "$scratch/out" "$scratch/tmp" -mindepth 1)
	echo "$left"
	[ -z "$left" ]
}

# ended SIGNAL FILE OPTION...: by a signal, once FILE is there
ended()
{
	rm -rf "$scratch/out" "$scratch/tmp"
	mkdir "$scratch/out" "$scratch/tmp"
	(
		unset CC
		export TMPDIR="$scratch/tmp"
		number=$1 until=$2
		shift 2
		exec "$python" - "$number" "$until" compile/tenon-compile "$network" -o "$scratch/out/model.so" "$@" <<-'END'
			import glob, signal, subprocess, sys, time
			number, until, *command = sys.argv[1:]
			number = getattr(signal, number)
			# a shell lets what it starts in the background ignore SIGINT
			child = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True,
			                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
			while child.poll() is None and not glob.glob(until):
			    time.sleep(0.01)
			child.send_signal(number)
			said = child.communicate()[1]
			print(said, child.returncode)
			assert said == f"tenon-compile: ended by {number.name}\n", said
			assert child.returncode == -number, child.returncode
		END
	) && nothing_left
}

# at_most BLOCKS COMMAND...: where files may have so many blocks of 512 bytes, as on a disk that is nearly full
at_most()
{
	(ulimit -f "$1" && shift && "$@")
}

# fallen SIGNAL PATTERN: TVM ends the process
fallen()
{
	mkdir -p "$scratch/fallen"
	echo "import os; os.kill(os.getpid(), $1)" > "$scratch/fallen/tvm.py"
	(export PYTHONPATH="$scratch/fallen"; fails 1 "$2" "$network" -o "$scratch/none.so")
}

# asked: the compiler alone is asked to end; the shell may write a line, too
asked()
{
	mkdir -p "$scratch/asked"
	echo "import os; os.kill(os.getpid(), 15)" > "$scratch/asked/tvm.py"
	(export PYTHONPATH="$scratch/asked"; compile "$network" -o "$scratch/none.so") > "$scratch/refused" 2>&1
	status=$?
	echo "status $status"
	cat "$scratch/refused"
	[ "$status" -eq 143 ] && grep -qx "tenon-compile: ended by SIGTERM" "$scratch/refused"
}

# broken EXCEPTION PATTERN: TVM raises what nobody thought of
broken()
{
	mkdir -p "$scratch/broken"
	echo "raise $1" > "$scratch/broken/tvm.py"
	(export PYTHONPATH="$scratch/broken"; fails 1 "$2" "$network" -o "$scratch/none.so")
}

# twice: SIGHUP and SIGTERM arrive at once, and Ctrl-C behind them
twice()
{
	mkdir -p "$scratch/slow"
	echo "import time; open('$scratch/slow/begun', 'w'); time.sleep(600)" > "$scratch/slow/tvm.py"
	PYTHONPATH="$scratch/slow" "$python" - "$scratch/slow/begun" compile/tenon-compile "$network" -o "$scratch/none.so" <<-'END'
		import os, signal, subprocess, sys, time
		until, *command = sys.argv[1:]
		child = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True,
		                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
		while child.poll() is None and not os.path.exists(until):
		    time.sleep(0.01)
		for number in (signal.SIGSTOP, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
		    child.send_signal(number)
		said = child.communicate()[1]
		print(said, child.returncode)
		assert child.returncode < 0, child.returncode
		assert said == f"tenon-compile: ended by {signal.Signals(-child.returncode).name}\n", said
	END
}

# closed: without standard input, output and errors; a module that is written is no error, and a wrong network is one
closed()
{
	rm -f "$scratch/model.so"
	compile "$network" -o "$scratch/model.so" ${one_processor:+--processor "$one_processor"} <&- >&- 2>&- && [ -s "$scratch/model.so" ] &&
		not compile "$scratch/opset99.onnx" -o "$scratch/none.so" <&- >&- 2>&-
}

it "the networks are written" "$python" tests/compile/wrong_networks.py "$scratch"
network=$scratch/right.onnx
it "a network that is right says what to try in a line" compiles
it "a target that does not exist is answered with those that do" fails 2 "'amd64'.*'aarch64'" "$network" --target amd64
it "an option that does not exist is answered with --help" fails 2 "--help" "$network" --outptu x
it "a call without a network says what is missing" fails 2 "network"
it "a feature that LLVM does not know is named once" fails 1 "feature +foo" "$network" -o "$scratch/none.so" --processor generic+foo
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
it "TVM's warnings are not in the way of what is wrong" fails 1 "MatMul (output y)" "$scratch/product.onnx" -o "$scratch/none.so"
mv "$scratch/beside.weights" "$scratch/away"
it "weights that are not beside the file are named" fails 1 "weights.*beside.weights" "$scratch/beside.onnx" -o "$scratch/none.so"
head -c 3 "$scratch/away" > "$scratch/beside.weights"
it "and so are those that are cut off" fails 1 "weights.*available" "$scratch/beside.onnx" -o "$scratch/none.so"
it "an axis of opset 6 is refused where it means what none of today does" fails 1 "Add (output y).*convert_version" "$scratch/axis0.onnx" \
	-o "$scratch/none.so"
it "and so is an opset that nobody here knows" fails 1 "opset 99 is newer than .*install a newer onnx" "$scratch/opset99.onnx" -o "$scratch/none.so"
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

it "Ctrl-C while TVM is imported leaves nothing" ended SIGINT "$scratch/tmp/tenon-compile.*"
it "and so it does while code is generated" ended SIGINT "$scratch/tmp/tenon-compile.*/tmp*"
it "and when the module is written" ended SIGINT "$scratch/out/.model.so.*"
it "and so does SIGTERM" ended SIGTERM "$scratch/tmp/tenon-compile.*/tmp*"
# first_process: as in a container; the kernel does not end it by a signal that it sends itself
first_process()
{
	(
		unset CC
		unshare --user --map-root-user --pid --fork --kill-child sh -c '(while sleep 0.2; do kill -TERM 1; done) & exec "$@"' sh \
			"$python" compile/tenon-compile "$network" -o "$scratch/none.so"
	) > "$scratch/refused" 2>&1
	status=$?
	echo "status $status"
	cat "$scratch/refused"
	[ "$status" -eq 143 ] && is_one_line "$scratch/refused"
}

# some of seven
keeps_tiles()
{
	ended SIGINT "$scratch/tiles" --tune 300 --tuned "$scratch/tiles" || return
	count=$(grep -c columns "$scratch/tiles")
	echo "$count kernels"
	[ "$count" -gt 0 ] && [ "$count" -lt 7 ]
}
if unshare --user --map-root-user --pid --fork true 2>/dev/null; then
	it "and so it does in a container, whose first process it is" first_process
else
	skip_case "and so it does in a container, whose first process it is" "unshare is not allowed"
fi
network=$scratch/layers.onnx
it "tiles that were found before Ctrl-C are kept" keeps_tiles
network=$scratch/right.onnx
it "a disk that takes no more is said to be full" at_most 8 fails 1 "File too large" "$network" -o "$scratch/none.so" --processor v2,v3
it "a fault of TVM that ends the process is said to be one" fallen 11 "TVM ended with SIGSEGV"
it "and so is a process that the system ended" fallen 9 "memory"
it "one that was asked to end is not" asked
it "an error that nobody thought of is a line, too" broken "ZeroDivisionError('none')" "right.onnx: ZeroDivisionError: none. .*--traceback"
it "and memory that runs out is no fault" broken MemoryError "right.onnx: memory ran out$"
it "several signals at once end it once" twice
it "closed standard files do no harm" closed
it "nothing was written" not ls "$scratch/none.so"
finish
