#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Model Library Format: archives of TVM 0.8 and 0.18, our own, and bad ones

. tests/link/link.sh
grep -qs '^CONFIG_LINK=y' "$TENON_BUILD/include/config/auto.conf" || skip 'needs CONFIG_LINK'
tenon inspect "$fixtures/tvm-0.8/graph_mlp/mlf_graph_c.tar" > "$scratch/first" 2>&1 || {
	grep -q 'libarchive' "$scratch/first" && skip 'libarchive.so.13 is not installed, or not for this machine'
}
tar --version 2>/dev/null | grep -q GNU || skip 'needs GNU tar'

option()
{
	grep -qs "^CONFIG_$1=[ym]" "$TENON_BUILD/include/config/auto.conf"
}

# the command runs models that the compiler of this build makes
runs_models()
{
	option DSO && option GRAPH_EXECUTOR && [ "$(uname -m)" = x86_64 ] && [ -z "$EMULATOR" ]
}

# expected FILE FOLDER: the model gives what TVM gave
expected()
{
	tenon run "$1" --input "x=@$fixtures/$2/in_x.npy" --expect "@$fixtures/$2/out0.npy" --rtol 1e-4 --atol 1e-5
}

lists()
{
	tenon inspect "$fixtures/$1" > out && cat out && grep -q "Model Library Format $2, 1 model, " out &&
		grep -q 'graph executor, constants 11 KiB, workspace 392 bytes' out && grep -q 'codegen/host/' out &&
		tenon inspect --json "$fixtures/$1" > json && grep -q "\"version\":.*$2" json && grep -q '"sids":' json
}
it "an archive of TVM 0.8 is listed" lists tvm-0.8/graph_mlp/mlf_graph_c.tar 5
it "and one of TVM 0.18" lists tvm-0.18/graph_mlp/mlf_graph_c.tar 7

shows()
{
	tenon inspect --show codegen/host/src/default_lib1.c "$fixtures/tvm-0.18/graph_mlp/mlf_graph_c.tar" | tee out &&
		grep -q 'tvmgen_default_fused_nn_softmax' out &&
		tenon inspect --show metadata.json "$fixtures/tvm-0.18/graph_mlp/mlf_graph_c.tar" > out && grep -q '^	"modules":' out &&
		! tenon inspect --show other "$fixtures/tvm-0.18/graph_mlp/mlf_graph_c.tar"
}
it "a file of an archive is shown" shows

links()
{
	link -o model.so "$fixtures/$1/$2" && tenon verify model.so && tenon inspect --functions model.so > out && cat out &&
		grep -q 'tvmgen_default_fused_nn_softmax' out || return
	! runs_models || expected model.so "$1"
}
it "sources of TVM 0.8 become a module" links tvm-0.8/graph_mlp mlf_graph_c.tar
it "so do those of TVM 0.18" links tvm-0.18/graph_mlp mlf_graph_c.tar
if runs_models; then
	it "and objects" links tvm-0.18/graph_mlp mlf_graph_llvm.tar
fi

# version 6 has a list of targets where version 5 has an object, and the same files
sixth()
{
	mkdir six && tar xf "$fixtures/tvm-0.8/graph_mlp/mlf_graph_c.tar" -C six && chmod -R u+w six &&
		sed 's/"version": 5/"version": 6/; s/"target": {/"target": [/; s/^    "1": "c /    "c /; s/^  },$/&/' \
			six/metadata.json | awk '/"target": \[/ { inside = 1 } inside && /^  }/ { sub(/}/, "]"); inside = 0 } { print }' > new.json &&
		cp new.json six/metadata.json && tar czf six.tgz -C six . && tenon inspect six.tgz | tee out &&
		grep -q 'Format 6' out && link -o six.so six.tgz
}
it "version 6 is read, and an archive that gzip compressed" sixth

runs_archive()
{
	TENON_CACHE_DIR=$PWD/cache expected "$fixtures/tvm-0.18/graph_mlp/mlf_graph_c.tar" tvm-0.18/graph_mlp &&
		CC=/no/such/compiler TENON_CACHE_DIR=$PWD/cache tenon run "$fixtures/tvm-0.18/graph_mlp/mlf_graph_c.tar" 2> why
	# another compiler is another module
	cat why && grep -q 'set CC' why || return
	option KERNEL_CACHE || return 0
	printf '#!/bin/sh\necho again >> "%s/calls"\nexec %s "$@"\n' "$PWD" "$CC" > counted && chmod +x counted &&
		CC=$PWD/counted TENON_CACHE_DIR=$PWD/cache expected "$fixtures/tvm-0.8/graph_mlp/mlf_graph_c.tar" tvm-0.8/graph_mlp &&
		[ -s calls ] && rm calls &&
		CC=$PWD/counted TENON_CACHE_DIR=$PWD/cache expected "$fixtures/tvm-0.8/graph_mlp/mlf_graph_c.tar" tvm-0.8/graph_mlp &&
		[ ! -e calls ] && set -- "${TMPDIR:-/tmp}"/tenon-link-*/module.so && [ ! -e "$1" ]
}
if runs_models; then
	it "an archive runs, and is compiled once" runs_archive
fi

# ahead-of-time code; the shape of an output is not in an archive
aot=tvm-0.18/aot_mlp
aot_links()
{
	link -o aot.so "$fixtures/$aot/$1" && tenon verify aot.so && tenon inspect --functions aot.so > out && cat out &&
		grep -q 'AotExecutorFactory  "default"' out && grep -q 'get_c_metadata' out
}
it "ahead-of-time code as sources, whose main takes structs, becomes a module" aot_links mlf_aot_c.tar
aot_runs()
{
	tail -c 40 "$fixtures/$aot/out0.npy" > out0.raw &&
		TENON_CACHE_DIR=$PWD/cache tenon run "$fixtures/$aot/$1" --input "x=@$fixtures/$aot/in_x.npy" \
			--expect 10xfloat32=@out0.raw --rtol 1e-4 --atol 1e-5 | tee out && grep -q '^10xfloat32\|output' out &&
		! TENON_CACHE_DIR=$PWD/cache tenon run "$fixtures/$aot/$1" --input x=1x31xfloat32=ones
}
if runs_models && option AOT_EXECUTOR; then
	it "and runs" aot_runs mlf_aot_c.tar
fi

# main takes its tensors by position, which only the program tells: metadata.json sorts them by name
aot_by_position()
{
	rm -rf position && mkdir -p position/src position/codegen/host/src position/parameters && cat > position/codegen/host/src/default_lib0.c <<-END &&
	#include "tvm/runtime/c_runtime_api.h"
	int tvmgen_default___tvm_main__(TVMValue *args, int *codes, int count, void *ret, int *ret_code, void *resource);
	int tvmgen_default___tvm_main__(TVMValue *args, int *codes, int count, void *ret, int *ret_code, void *resource)
	{
		float *z = ((DLTensor *)args[0].v_handle)->data, *a = ((DLTensor *)args[1].v_handle)->data;
		float *out = ((DLTensor *)args[2].v_handle)->data;
		int i;

		for (i = 0; i < 4; i++)
			out[i] = z[i] - a[i];
		return count != 3;
	}
	END
	cat > position/metadata.json <<-END &&
	{"version": 7, "modules": {"default": {"model_name": "default", "executors": ["aot"], "memory": {"functions": {"main": [{
		"inputs": {"a": {"dtype": "float32", "size": 16}, "z": {"dtype": "float32", "size": 16}},
		"outputs": {"output": {"dtype": "float32", "size": 16}}}]}}}}}
	END
	echo 'def @main(%z: Tensor[(2, 2), float32] /* ty=Tensor[(2, 2), float32] */, %w: Tensor[(3), int8], %a: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {' \
		> position/src/default.relay && (cd position && tar cf ../position.tar .) && link -o position.so position.tar &&
		{ ! runs_models || ! option AOT_EXECUTOR || tenon run position.so --input a=2x2xfloat32=ones --input z=2x2xfloat32=arange \
			--expect 2x2xfloat32=-1,0,1,2; }
}
it "main without structs takes tensors in the order of the program" aot_by_position
aot_refused()
{
	rm -r position/src && (cd position && tar cf ../order.tar .) && refused 4 'the order of the inputs of model "default" is not known' order.tar &&
		sed 's/"float32"/"float"/' position/metadata.json > new.json && cp new.json position/metadata.json &&
		(cd position && tar cf ../dtype.tar .) && refused 3 'has no known "dtype"' dtype.tar
}
it "and is refused if that is not known" aot_refused

# what TVM 0.18 writes for LLVM with its planner of memory: main takes the constants, which no file has
aot_without_constants()
{
	rm -rf planned && mkdir -p planned/codegen/host/src && cp position/metadata.json planned && sed -i 's/"float"/"float32"/; s/, "z": {[^}]*}//' \
		planned/metadata.json && echo 'const char why[] = "tvmgen_default___tvm_main__: num_args should be 4";' > \
		planned/codegen/host/src/default_lib0.c && (cd planned && tar cf ../planned.tar .) &&
		refused 4 'takes 4 arguments, and metadata.json lists 2 inputs and outputs' planned.tar &&
		sed -i 's/should be 4/should be 2/' planned/codegen/host/src/default_lib0.c && (cd planned && tar cf ../two.tar .) && link -o two.so two.tar
}
it "and if main takes memory that is not in the archive" aot_without_constants

# ---- writing

mkdir source && tar xf "$fixtures/tvm-0.18/graph_mlp/mlf_graph_c.tar" -C source && chmod -R u+w source
graph=source/executor-config/graph/default.graph
params=source/parameters/default.params
code=source/codegen/host/src

# memory FILE: what main takes, and each storage; operators' own workspace is not known
memory()
{
	tr -d '\n\t ' < "$1" | grep -o '"sids":[^]]*\|"constants_size_bytes":[0-9]*\|"io_size_bytes":[0-9]*' | tr '{' '\n'
}

writes()
{
	link --abi legacy --format mlf -o written.tar --graph $graph --params $params "$example/vecadd.c" "$code/default_lib1.c" \
		"$example/vecadd.cl=opencl@gpu" --target-key gpu=opencl:0 &&
		tenon inspect written.tar | tee out && grep -q 'Format 7' out && grep -q 'codegen/gpu/vecadd.cl' out &&
		grep -q 'codegen/gpu/vecadd.tvm_meta.json' out && mkdir written && tar xf written.tar -C written &&
		cmp $graph written/executor-config/graph/default.graph && cmp $params written/parameters/default.params &&
		cmp "$example/vecadd.cl" written/codegen/gpu/vecadd.cl
}
it "an archive is written" writes

same_memory()
{
	memory source/metadata.json > tvms && memory written/metadata.json > ours && [ -s ours ] && diff tvms ours
}
it "its summary of memory is that of TVM" same_memory

again()
{
	link -o written.so written.tar && tenon inspect --functions written.so > out && cat out && grep -q 'vecadd_kernel' out && grep -q 'vecadd' out &&
		tenon unpack written.so written.d && grep -q '"gpu"' written.d/manifest.json && grep -q 'opencl:0' written.d/manifest.json ||
		return
	! runs_models || expected written.so tvm-0.18/graph_mlp
}
it "a module is made of it again, with keys and devices" again

reproduced()
{
	link --abi legacy --format mlf -o second.tar "$example/vecadd.cl=opencl@gpu" --params $params "$code/default_lib1.c" \
		--graph $graph --target-key gpu=opencl:0 "$example/vecadd.c" && cmp written.tar second.tar
}
it "the same files give the same bytes" reproduced

model_of_files()
{
	cat > nothing.c <<-END
	int nothing(void); int nothing(void) { return 0; }
	END
	link --abi legacy -o bare.so --graph $graph --params $params nothing.c --model mine && tenon inspect bare.so | tee out &&
		grep -q 'GraphExecutorFactory  "mine"' out
}
if option GRAPH_EXECUTOR; then
	it "a graph and its parameters are linked without an archive" model_of_files
fi

of_a_launcher()
{
	cat > wants.c <<-END
	#include <tenon/launcher.h>
	TENON_LAUNCHER_PARAMETERS(wants, "p0") { return tenon_launch_tensor(call, 0) ? 0 : -1; }
	TENON_LAUNCHER(wants) { (void)call; return 0; }
	END
	link --format mlf -o wants.tar wants.c --params $params && tar xf wants.tar parameters/default.params &&
		cmp parameters/default.params $params && link -o wants.so wants.tar && tenon inspect --functions wants.so | tee out &&
		grep const_loader out && grep '_init_wants' out
}
it "parameters without a graph are in an archive, and in the module of it" of_a_launcher

# zip FILE METHOD: the parameters as numpy writes them
zip()
{
	python3 - "$1" "$2" <<-END
	import os, sys, zipfile
	with zipfile.ZipFile(sys.argv[1], "w", int(sys.argv[2])) as z:
	    for name in sorted(os.listdir("arrays")):
	        z.write("arrays/" + name, name)
	END
}
model_of_npz()
{
	tenon params extract $params -o arrays && zip stored.npz 0 && zip deflated.npz 8 && tenon params from-npz --align 1 stored.npz arrays.params || return
	for made in arrays.params stored.npz deflated.npz; do
		link --abi legacy -o "$made.so" --graph $graph --params $made nothing.c || return
	done
	cmp arrays.params.so stored.npz.so && cmp arrays.params.so deflated.npz.so &&
		link --abi legacy --format mlf -o npz.tar --graph $graph --params deflated.npz nothing.c && tar xf npz.tar parameters/default.params &&
		cmp arrays.params parameters/default.params && head -c 500 stored.npz > cut.npz &&
		refused 3 'cut.npz' --abi legacy --graph $graph --params cut.npz nothing.c && set -- "${TMPDIR:-/tmp}"/tenon-link-* && [ ! -e "$1" ]
}
no_npz()
{
	: > none.npz && refused 4 'reads no .npz files' --abi legacy --graph $graph --params none.npz nothing.c
}
if ! option GRAPH_EXECUTOR; then
	:
elif ! option NPZ; then
	it "parameters in .npz are refused where they cannot be read" no_npz
elif command -v python3 > /dev/null; then
	it "parameters may be a .npz file, stored or compressed" model_of_npz
else
	skip_case "parameters may be a .npz file, stored or compressed" "needs python3, which makes one"
fi

# ---- refusals

# bad STATUS WORDS ARCHIVE: it is neither listed nor linked, and nothing is written
bad()
{
	tenon inspect "$3" 2> why
	got=$?
	cat why
	[ $got -eq "$1" ] && grep -qF -- "$2" why && refused "$1" "$2" "$3"
}

made()
{
	rm -rf made && cp -r source made
}

make_bad()
{
	made && (cd made && tar cf ../absolute.tar -P --transform 's,^src/default.relay,/tmp/tenon-x,' metadata.json src/default.relay) &&
		(cd made && tar cf ../above.tar -P --transform 's,^src/default.relay,../tenon-x,' metadata.json src/default.relay) &&
		(cd made && ln -s /etc/passwd src/link && tar cf ../link.tar metadata.json src/link) &&
		(cd made && cp src/default.relay src/a && ln src/a src/b && tar cf ../hard.tar metadata.json src/a src/b) &&
		(cd made && tar cf ../twice.tar metadata.json && tar rf ../twice.tar metadata.json) &&
		(cd made && cp metadata.json kept.json && awk 'BEGIN { printf "{\"version\": 7, \"a\": ["; for (i = 0; i < 300000; i++) printf "1,"; print "1]}" }' \
			> metadata.json && tar czf ../values.tgz metadata.json && mv kept.json metadata.json) &&
		(cd made && truncate -s 70M src/zeros && tar cf - metadata.json src/zeros | gzip -1 > ../bomb.tgz &&
			tar cSf ../sparse.tar metadata.json src/zeros && rm src/zeros) &&
		(cd made && mkfifo src/pipe && tar cf ../pipe.tar metadata.json src/pipe) &&
		(cd made && tar cf ../none.tar src/default.relay) && head -c 700 absolute.tar > short.tar && echo text > text.tar || return
	for version in 4 8; do
		sed "s/\"version\": 7/\"version\": $version/" source/metadata.json > made/metadata.json &&
			(cd made && tar cf "../version$version.tar" metadata.json) || return
	done
	echo '{"version": 7, "modules": 3}' > made/metadata.json && (cd made && tar cf ../modules.tar metadata.json) &&
		echo '{"version": 7' > made/metadata.json && (cd made && tar cf ../json.tar metadata.json) &&
		echo '{"version": 7, "modules": {"a": {"model_name": "../a", "executors": []}}}' > made/metadata.json &&
		(cd made && tar cf ../name.tar metadata.json) &&
		echo '{"version": 5, "model_name": "a", "style": "operator", "executors": []}' > made/metadata.json &&
		(cd made && tar cf ../operator.tar metadata.json)
}
# nothing waits for a writer
links_no_pipe()
{
	mkfifo pipe.so && timeout 60 $EMULATOR "$TENON_COMMAND" link -o out.so pipe.so
	[ $? -eq 2 ]
}
it "a named pipe is no library" links_no_pipe
it "bad archives are made" make_bad
it "an absolute name is refused" bad 3 'is called "/tmp/tenon-x"' absolute.tar
it "a name above the archive is refused" bad 3 'is called "../tenon-x"' above.tar
it "a link is refused" bad 3 'a symbolic link' link.tar
it "a hard link is refused" bad 3 'a hard link' hard.tar
it "a pipe is refused" bad 3 'no regular file' pipe.tar
it "a name that occurs twice is refused" bad 3 '"metadata.json" is in the archive twice' twice.tar
it "an archive whose text has more values than any model's is refused" bad 3 'more than 262144 values' values.tgz
it "an archive that grows without end is refused" bad 3 'the files are larger than' bomb.tgz
it "a sparse file is refused" bad 3 'src/zeros' sparse.tar
it "an archive of something else is refused" bad 3 'no metadata.json' none.tar
it "a truncated archive is refused" bad 3 'short.tar: ' short.tar
it "a file that is no archive is refused" bad 3 'not a tar archive' text.tar
it "a version before 5 is refused" bad 4 'version 4 of Model Library Format; versions 5 to 7' version4.tar
it "a version after 7 is refused" bad 4 'version 8' version8.tar
it "metadata of a wrong type is refused" bad 3 '"modules" is missing' modules.tar
it "metadata that is no JSON is refused" bad 3 'not JSON' json.tar
it "a model's name with a folder is refused" bad 3 '"model_name" is missing' name.tar
it "an archive of operators is refused" bad 4 'single operators' operator.tar

two_models()
{
	made && echo '{"version": 7, "modules": {
		"a": {"model_name": "a", "executors": ["graph"]}, "b": {"model_name": "b", "executors": ["aot"]}}}' > made/metadata.json &&
		cp made/codegen/host/src/default_lib1.c made/codegen/host/src/a_lib0.c && cp $graph made/executor-config/graph/a.graph &&
		(cd made && tar cf ../two.tar .) && refused 3 'choose a model with --model: a, b' two.tar &&
		refused 4 'ahead-of-time' --model b two.tar && refused 3 'no model has this name' --model c two.tar &&
		link -o two.so --model a two.tar && tenon inspect two.so | tee out && grep -q '"a"' out
}
it "of several models one is chosen" two_models

no_code()
{
	made && rm -r made/codegen && (cd made && tar cf ../nocode.tar .) && refused 3 'no code of the host' nocode.tar
}
it "an archive without host code is refused" no_code

unknown_program()
{
	made && mkdir made/codegen/npu && echo x > made/codegen/npu/k.bin && (cd made && tar cf ../npu.tar .) &&
		refused 4 'does not tell its loader' npu.tar
}
it "a program whose loader is not known is refused" unknown_program

# graph WORDS SED: a graph that was changed is refused
graph()
{
	sed "$2" $graph > changed.graph && ! cmp -s $graph changed.graph &&
		{ link --format mlf -o changed.tar --graph changed.graph "$example/vecadd.c" 2> why; [ $? -eq 3 ]; } && cat why &&
		grep -qF -- "$1" why && [ ! -e changed.tar ]
}
it "a graph with a missing list is refused" graph 'attribute "shade" is unknown' 's/"shape"/"shade"/'
it "a graph whose tensor has no known type is refused" graph '"float" is no dtype' '0,/"float32"/s//"float"/'
it "and one with a shape that does not fit" graph 'whose size does not fit' 's/\[1, 32\]/[9007199254740993, 32]/'
finish
