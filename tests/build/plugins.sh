#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Options with the value m: what is a plug-in is found beside libtenon.so, opened when it is asked for and not
# before, and refused when it is of another release or when others can change it

. tests/build/tap.sh
need nm readelf

[ -z "${SAN:-}${EMULATOR:-}" ] || skip "runs without an emulator and sanitizers"
for option in RELAX_VM GRAPH_EXECUTOR AOT_EXECUTOR DEVICE_NULL DEVICE_OPENCL PARAMS_FILES SELF_TEST DESCRIBE; do
	grep -qs "^CONFIG_$option=m" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option=m"
done
[ -e "$TENON_BUILD/install/tenon" ] || skip "needs CONFIG_SHARED_LIBRARY"

# as it is installed: libraries in one folder, plug-ins below it
lib=$scratch/lib
mkdir "$lib" && chmod 755 "$scratch" "$lib" && mkdir "$lib/tenon"
cp "$TENON_BUILD/libtenon.so.0" "$lib"
cp "$TENON_BUILD"/plugins/*.so "$TENON_COMPAT_LIBRARY" "$lib/tenon"
cp "$TENON_BUILD/install/tenon" "$scratch/tenon"
unset TENON_COMPAT_LIBRARY

# run PROGRAM ARGUMENT...
run()
{
	program=$1
	shift
	LD_LIBRARY_PATH=$lib "$scratch/$program" "$@"
}

# opens NAMES PROGRAM ARGUMENT...: which plug-ins it opens
opens()
{
	wanted=$1
	shift
	LD_DEBUG=files run "$@" > "$scratch/words" 2>&1
	echo "status $?"
	found=$(sed -n 's,.*calling init: .*/tenon/\([a-z_]*\)\.so$,\1,p' "$scratch/words" | sort -u | tr '\n' ' ')
	echo "opened: $found"
	[ "$found" = "$wanted" ]
}

# refused STATUS WORDS PROGRAM ARGUMENT...
refused()
{
	status=$1
	words=$2
	shift 2
	run "$@" > "$scratch/words" 2>&1
	found=$?
	echo "status $found"
	cat "$scratch/words"
	[ "$found" -eq "$status" ] && grep -q -e "$words" "$scratch/words"
}

# inspects FILE WORDS: its loader is missing
inspects()
{
	run tenon inspect "$1" > "$scratch/words" 2>&1
	cat "$scratch/words"
	grep -q 'loader: missing' "$scratch/words" && grep -q "no loader for .*$2" "$scratch/words"
}

# there is no folder plugins/ beside the library
names_each_file_once()
{
	refused 4 "$lib/tenon/null.so: no such file" opens null: && not grep "$lib/plugins" "$scratch/words" &&
		grep -o '[^ (]*/null\.so:' "$scratch/words" | sort > "$scratch/files" && [ -s "$scratch/files" ] &&
		[ -z "$(uniq -d "$scratch/files")" ]
}

# in the folder of a build the command is beside the library, and is no folder
names_no_file_as_a_folder()
{
	beside=$scratch/beside
	mkdir -p "$beside/plugins"
	cp "$lib/libtenon.so.0" "$scratch/tenon" "$beside"
	(
		lib=$beside
		refused 4 "$beside/plugins/null.so: no such file" opens null: && not grep "$beside/tenon/" "$scratch/words" &&
			TENON_FIRMWARE_PATH=$beside run tenon doctor > "$scratch/words" && not grep "$beside/tenon/" "$scratch/words"
	)
}

# firmware beside the library, not beside the plug-in
finds_firmware_beside_the_library()
{
	mkdir "$lib/firmware" || return 1
	echo 'no image' > "$lib/firmware/mortise-rv64.elf"
	TENON_FIRMWARE_PATH='' TENON_BACKENDS=mortise run tenon doctor > "$scratch/words" 2>&1
	rm -r "$lib/firmware"
	cat "$scratch/words"
	grep -q "rv64: $lib/firmware/mortise-rv64.elf, 9 bytes" "$scratch/words"
}

data=tests/interop/data
model=$data/tvm-0.27.0.post1/relax_mlp
run_model()
{
	set -- "$@" tenon run "$model/vm.so" --input "x=@$model/in_x.npy" --expect "@$model/out0.npy" --atol 1e-5 --rtol 1e-4
	"$@"
}

# a program that names a device
cat > "$scratch/opens.c" <<END
#include <stdio.h>
#include <tenon/tenon.h>
int main(int argc, char **argv)
{
	struct tenon_device *d;
	if (argc != 2 || tenon_device_open(argv[1], &d)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		return 4;
	}
	tenon_object_unref(d);
	return 0;
}
END
${CC:-cc} -std=c11 -Iinclude "$scratch/opens.c" "$lib/libtenon.so.0" -o "$scratch/opens" || exit 1

# a program that looks up functions, several times
cat > "$scratch/asks.c" <<END
#include <stdio.h>
#include <tenon/tenon.h>
int main(int argc, char **argv)
{
	struct tenon_function *f;
	int i, missing = 0;
	for (i = 1; i < argc; i++) {
		if (tenon_function_find(argv[i], &f)) {
			fprintf(stderr, "%s\n", tenon_error_message());
			missing = 4;
		} else if (!f) {
			printf("no function %s\n", argv[i]);
			missing = 5;
		}
		tenon_object_unref(f);
	}
	return missing;
}
END
${CC:-cc} -std=c11 -Iinclude "$scratch/asks.c" "$lib/libtenon.so.0" -o "$scratch/asks" || exit 1

# a program that calls the public functions whose work is in describe.so; prints the status of each
cat > "$scratch/describes.c" <<END
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>
#include <tenon/backend/module_kind.h>
static int field(void *context, const char *name, const struct tenon_value *value)
{
	return 0;
}
static int again(void *m, struct tenon_module **out)
{
	tenon_object_ref(m);
	*out = m;
	return 0;
}
static void say(const char *what, int err)
{
	printf("%s %d %s\\n", what, err, err ? tenon_error_message() : "");
}
int main(int argc, char **argv)
{
	struct tenon_artifact artifact = { .loader = "c", .file_name = "f.c", .load = again };
	const struct tenon_visitor visitor = { .size = sizeof(visitor), .field = field };
	struct tenon_module *m = NULL, *set = NULL, *program = NULL, *file = NULL;
	struct tenon_buffer blob = TENON_BUFFER_INIT;

	if (argc != 3 || tenon_module_load(argv[1], &m))
		return 2;
	artifact.context = m;
	say("write", tenon_module_write_blob(m, TENON_GENERATION_FFI, &blob));
	say("visit", tenon_object_visit((const struct tenon_object *)m, &visitor));
	say("artifacts", tenon_artifacts_load(&artifact, 1, NULL, 0, &set));
	say("program", tenon_module_load(argv[2], &program));
	say("inspect", tenon_module_inspect(argv[1], &file));
	tenon_buffer_fini(&blob);
	tenon_object_unref(m);
	tenon_object_unref(set);
	tenon_object_unref(program);
	tenon_object_unref(file);
	return 0;
}
END
${CC:-cc} -std=c11 -Iinclude "$scratch/describes.c" "$lib/libtenon.so.0" -o "$scratch/describes" || exit 1
echo 'kernel void k() {}' > "$scratch/program.cl"
echo '{"tvm_version": "0.1.0", "func_info": {}}' > "$scratch/program.tvm_meta.json"

describes()
{
	run describes $data/tvm-0.27.0.post1/c_host/lib.so "$scratch/program.cl" > "$scratch/words" 2>&1 || return 1
	cat "$scratch/words"
}

# one status and one reason for each
describes_nothing()
{
	describes && [ "$(grep -c "CONFIG_DESCRIBE=m.*$lib/tenon/describe.so" "$scratch/words")" -eq 5 ] &&
		[ "$(cut -d ' ' -f 2 "$scratch/words" | sort -u | wc -l)" -eq 1 ]
}

describes_all()
{
	describes && [ "$(grep -c ' 0 $' "$scratch/words")" -eq 5 ]
}

# prints LINE PROGRAM ARGUMENT...: what it prints
prints()
{
	line=$1
	shift
	run "$@" > "$scratch/words" 2>&1
	grep -qx "$line" "$scratch/words"
}

# one that knows only the names of TVM, in the library that stands for tvm-ffi
cat > "$scratch/foreign.c" <<END
#include <dlfcn.h>
#include <string.h>
int main(int argc, char **argv)
{
	struct { const char *data; size_t size; } name;
	int (*get)(const void *name, void **out);
	void *f, *library = dlopen(argv[1], RTLD_NOW);
	*(void **)&get = library ? dlsym(library, "TVMFFIFunctionGetGlobal") : 0;
	for (argv += 2; get && *argv; argv++) {
		name.data = *argv;
		name.size = strlen(*argv);
		if (get(&name, &f) || !f)
			return 1;
	}
	return get && argc > 2 ? 0 : 2;
}
END
${CC:-cc} -std=gnu11 "$scratch/foreign.c" -ldl -o "$scratch/foreign" || exit 1

# a plug-in that cannot be used is opened for the first lookup alone
opened_once()
{
	LD_DEBUG=files run asks tvm.contrib.sort.sort vm.builtin.copy tvm.contrib.sort.sort > "$scratch/words" 2>&1
	[ $? -eq 4 ] && [ "$(grep -c 'another release' "$scratch/words")" -eq 3 ] &&
		[ "$(grep -c 'calling init: .*/tenon/relax.so' "$scratch/words")" -eq 1 ]
}

it "looking up a function opens the plug-in that has it" opens "relax " asks tvm.contrib.sort.sort vm.builtin.copy
it "and finds it" run asks tvm.contrib.sort.sort vm.builtin.copy runtime.config_threadpool
it "a function that nothing has opens none" opens "" asks tvm.contrib.sorts runtime.TVMTensorCreateViews vm.copy runtime.config_threadpool
it "one that is named like those of a plug-in opens it" opens "relax " asks vm.builtin.copyx
it "and is none all the same" prints "no function vm.builtin.copyx" asks vm.builtin.copyx
it "foreign code that asks first finds functions of the library and of plug-ins" \
	run foreign "$lib/tenon/libtvm_ffi.so" ffi.ArraySize tvm.contrib.random.uniform
it "asking for the version opens none" opens "" tenon --version
it "naming the processor opens its backend alone" opens "cpu " opens cpu:
it "naming a device opens its backend alone" opens "null " opens null:
if grep -qs "^CONFIG_DEVICE_MORTISE=m" "$TENON_BUILD/include/config/auto.conf"; then
	it "naming a board opens its backend alone" opens "mortise " opens mortise:
	if grep -qs "^CONFIG_MORTISE_BOARDS=y" "$TENON_BUILD/include/config/auto.conf"; then
		it "a plug-in finds firmware beside the library" finds_firmware_beside_the_library
	fi
fi

# a file in GGUF without tensors
printf 'GGUF\003\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' > "$scratch/none.gguf"
it "parameters of TVM open none" opens "" tenon params list $data/tvm-0.8/graph_mlp/model.params
it "those of another format open what reads them" opens "params " tenon params list "$scratch/none.gguf"
case $(uname -m) in
x86_64)
	it "a function of a module opens none" opens "" tenon run $data/tvm-0.27.0.post1/c_host/lib.so
	it "a model for the Relax machine runs" run_model run
	it "and opens the machine alone" run_model opens "relax "
	it "inspecting one opens what describes it, and no backend" opens "describe relax " tenon inspect "$model/vm.so"
	it "inspecting kernels opens no backend either" opens "describe " tenon inspect $data/tvm-0.18/opencl_vecadd/lib.so
	;;
esac

# the conformance suite, with the shared library: the cases that use public functions alone
conforms()
{
	set -- "$TENON_BUILD/tests/cts/null_backend.o" "$TENON_BUILD/tests/case_filter.o"
	for object in "$TENON_BUILD"/tests/cts/cts_*.o "$TENON_BUILD"/tests/cts/*_cases.o "$TENON_BUILD/tests/cts/host_kernels.o"; do
		case $object in
		*/call_cases.o)	;;
		*)	set -- "$@" "$object" ;;
		esac
	done
	${CC:-cc} "$@" "$lib/libtenon.so.0" $(pkg-config --libs cmocka) -pthread -o "$scratch/suite" &&
		LD_LIBRARY_PATH=$lib "$scratch/suite" > "$scratch/words" 2>&1 || { cat "$scratch/words"; return 1; }
	tail -n 1 "$scratch/words"
}
if [ -e "$TENON_BUILD/tests/cts/null_backend.o" ]; then
	it "a backend that is a plug-in passes the conformance suite" conforms
fi

mv "$lib/tenon/relax.so" "$scratch/kept.so"
if [ "$(uname -m)" = x86_64 ]; then
	it "without its plug-in a model is refused, with option and file" run_model refused 4 "CONFIG_RELAX_VM=m.*$lib/tenon/relax.so"
	it "inspecting it says that the loader is missing, and why" inspects "$model/vm.so" "CONFIG_RELAX_VM=m.*$lib/tenon/relax.so"
fi
it "without it a function is refused in the same way" refused 4 "CONFIG_RELAX_VM=m.*$lib/tenon/relax.so" asks vm.builtin.copy
echo 'const struct { const char *version; const void *offer; } tenon_plugin = { "9.9.9", &tenon_plugin };' > "$scratch/other.c"
${CC:-cc} -shared -fPIC "$scratch/other.c" -o "$lib/tenon/relax.so"
it "one that cannot be used is opened once, whatever is looked up" opened_once
mv "$scratch/kept.so" "$lib/tenon/relax.so"
mv "$lib/tenon/params.so" "$scratch/kept.so"
it "without it parameters of TVM are read" run tenon params list $data/tvm-0.8/graph_mlp/model.params
[ "$(uname -m)" != x86_64 ] ||
	it "and a model takes them" run tenon run $data/tvm-0.8/graph_mlp/lib.so --graph $data/tvm-0.8/graph_mlp/graph.json \
		--params $data/tvm-0.8/graph_mlp/model.params --input x=@$data/tvm-0.8/graph_mlp/in_x.npy
it "and others are refused, with option and file" \
	refused 4 "$scratch/none.gguf: not of TVM, but .*CONFIG_PARAMS_FILES=m.*$lib/tenon/params.so" tenon params list "$scratch/none.gguf"
it "so are those that only the plug-in writes" \
	refused 4 "CONFIG_PARAMS_FILES=m.*$lib/tenon/params.so" tenon params convert $data/tvm-0.8/graph_mlp/model.params "$scratch/to.safetensors"
it "a missing file has another status" refused 3 "$scratch/nowhere.params" tenon params list "$scratch/nowhere.params"
mv "$scratch/kept.so" "$lib/tenon/params.so"
mv "$lib/tenon/describe.so" "$scratch/kept.so"
# a root without a loader
without_loader()
{
	printf x > "$scratch/strange.bin" && run tenon link --allow unknown -o "$scratch/strange.so" "$scratch/strange.bin=strange" &&
		refused 4 "no function is found.*CONFIG_DESCRIBE=m.*$lib/tenon/describe.so: no such file" tenon run "$scratch/strange.so"
}
! grep -qs '^CONFIG_LINK=y' "$TENON_BUILD/include/config/auto.conf" ||
	it "without what describes files, a module that has nothing to run is refused, with option and file" without_loader
echo 'const void *__tvm_module_ctx;' > "$scratch/empty.c"
${CC:-cc} -shared -fPIC "$scratch/empty.c" -o "$scratch/empty.so"
it "code of the host without a function is told without it" \
	refused 2 "empty.so has no function called main, and lists no other" tenon run "$scratch/empty.so"
if [ "$(uname -m)" = x86_64 ]; then
	it "without what describes files, inspecting one is refused, with option and file" \
		refused 4 "CONFIG_DESCRIBE=m.*$lib/tenon/describe.so" tenon inspect "$model/vm.so"
	it "a module runs, and opens none" opens "" tenon run $data/tvm-0.27.0.post1/c_host/lib.so
	it "so do sets of artifacts, programs in files, written modules and fields of objects" describes_nothing
fi
it "a file that Tenon does not open is refused with fewer words" \
	refused 4 "no loader for files named .gguf (this one looks like a file of another kind)" tenon run "$scratch/none.gguf"
mv "$scratch/kept.so" "$lib/tenon/describe.so"
it "with it, the message says what the file is" \
	refused 4 "no loader for files named .gguf (this one looks like weights in GGUF" tenon run "$scratch/none.gguf"
it "and it is opened for that" opens "describe " tenon run "$scratch/none.gguf"
[ "$(uname -m)" != x86_64 ] || it "it writes, visits and inspects" describes_all

# of this release, but built without any option: its tables have no functions
release=$(run tenon --version | sed -n '1s/^tenon \([0-9.]*\).*/\1/p')
cat > "$scratch/empty.c" <<END
static const void *const nothing[64];
const struct { const char *version; const void *part[9]; } tenon_plugin = { "$release",
	{ nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing } };
END
${CC:-cc} -shared -fPIC "$scratch/empty.c" -o "$scratch/empty.so" || exit 1

# empty PLUGIN COMMAND...: with a plug-in that lacks all functions
empty()
{
	plugin=$1
	shift
	mv "$lib/tenon/$plugin.so" "$scratch/full.so" && cp "$scratch/empty.so" "$lib/tenon/$plugin.so" || return 1
	"$@"
	result=$?
	mv "$scratch/full.so" "$lib/tenon/$plugin.so"
	return $result
}

lacks_all()
{
	describes || { cat "$scratch/words"; return 1; }
	for name in blob object artifacts program module; do
		grep -q " -[0-9]* .*$lib/tenon/describe.so lacks describe_$name(): .*Install describe.so of the same build" "$scratch/words" ||
			return 1
	done
}
[ "$(uname -m)" != x86_64 ] || it "a plug-in built with other options names the function that it lacks" empty describe lacks_all
it "a message does without the function" empty describe \
	refused 4 "no loader for files named .gguf (this one looks like a file of another kind)" tenon run "$scratch/none.gguf"
if [ "$(uname -m)" = x86_64 ] && grep -qs '^CONFIG_RECORD=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "so does one that writes no records" empty trace \
		refused 4 "$lib/tenon/trace.so lacks .*CONFIG_RECORD" tenon run "$model/vm.so" --input "x=@$model/in_x.npy" --record "$scratch/record"
fi
if grep -qs '^CONFIG_DEVICE_TORQ=m' "$TENON_BUILD/include/config/auto.conf"; then
	it "so does one without formats of payloads" empty torq \
		refused 4 "$lib/tenon/torq.so lacks .*() of its format" tenon inspect tests/torq/data/add/add.vmfb
fi

# instead PLUGIN OTHER STATUS OPTION PROGRAM ARGUMENT...: with the file of another plug-in
instead()
{
	plugin=$1
	mv "$lib/tenon/$plugin.so" "$scratch/full.so" && cp "$lib/tenon/$2.so" "$lib/tenon/$plugin.so" || return 1
	words="$lib/tenon/$plugin.so: another plug-in than that of $4"
	status=$3
	shift 4
	refused "$status" "$words" "$@"
	result=$?
	mv "$scratch/full.so" "$lib/tenon/$plugin.so"
	return $result
}
it "another plug-in under the name of one is refused" instead null relax 4 CONFIG_DEVICE_NULL opens null:
it "so it is for functions" instead relax null 4 CONFIG_RELAX_VM asks vm.builtin.copy
it "for parameters" instead params null 4 CONFIG_PARAMS_FILES tenon params list "$scratch/none.gguf"
it "for probing" instead probe null 0 CONFIG_PROBE tenon devices
if [ "$(uname -m)" = x86_64 ]; then
	it "for describing" instead describe null 4 CONFIG_DESCRIBE tenon inspect "$model/vm.so"
	it "and for traces" instead trace null 3 CONFIG_TRACE tenon run "$model/vm.so" --trace "$scratch/trace.json"
fi
# beside PLUGIN OTHER WORDS PROGRAM ARGUMENT...: with the file of another executor, which is a plug-in with the same parts
beside()
{
	plugin=$1
	mv "$lib/tenon/$plugin.so" "$scratch/full.so" && cp "$lib/tenon/$2.so" "$lib/tenon/$plugin.so" || return 1
	words=$3
	shift 3
	refused 4 "$words" "$@"
	result=$?
	mv "$scratch/full.so" "$lib/tenon/$plugin.so"
	return $result
}
[ "$(uname -m)" != x86_64 ] || it "a loader is taken by its kind, not by its place" \
	beside graph aot "$lib/tenon/graph.so lacks the loader of this kind" tenon run $data/tvm-0.18/graph_nop/graph.so

mv "$lib/tenon/null.so" "$scratch/kept.so"
it "without its plug-in a device is refused, with option and file" \
	refused 4 "CONFIG_DEVICE_NULL=m.*$lib/tenon/null.so" opens null:
it "the message names no folder that is not there, and each file once" names_each_file_once
it "a message names no folder that is a file" names_no_file_as_a_folder
mv "$lib/tenon/opencl.so" "$scratch/opencl.so"
[ "$(uname -m)" != x86_64 ] ||
	it "kernels have no loader either" inspects $data/tvm-0.18/opencl_vecadd/lib.so "CONFIG_DEVICE_OPENCL=m.*$lib/tenon/opencl.so"
it "doctor says which plug-in is missing" sh -c "LD_LIBRARY_PATH='$lib' '$scratch/tenon' doctor | grep CONFIG_DEVICE_OPENCL=m"
mv "$scratch/opencl.so" "$lib/tenon/opencl.so"

# as another release would have it
sed 's/TENON_PRIVATE_0\.[0-9]*\.[0-9]*/TENON_PRIVATE_9.9.9/g' "$lib/tenon/opencl.so" > "$scratch/opencl.so"
${CC:-cc} -shared -fPIC "$scratch/other.c" -o "$lib/tenon/null.so"
it "one of another release is refused" refused 4 'another release' opens null:
cp "$scratch/opencl.so" "$lib/tenon/opencl.so"
it "also when it needs names of that release" refused 4 'TENON_PRIVATE_9\.9\.9' opens opencl:
cp "$scratch/kept.so" "$lib/tenon/null.so"
it "the right one is used" opens "null " opens null:

chmod o+w "$lib/tenon/null.so"
it "one that anybody can write to is not used" refused 4 'anybody can write to it' opens null:
chmod o-w "$lib/tenon/null.so"
chmod o+w "$lib/tenon"
it "nor one in a folder that anybody can write to" refused 4 'anybody can write to it' opens null:
chmod o-w "$lib/tenon"
finish
