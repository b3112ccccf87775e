#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The files that commands write: an input is never replaced, a link in an output folder never followed

. tests/build/tap.sh

has()
{
	grep -qs "^CONFIG_$1=[ym]" "$TENON_BUILD/include/config/auto.conf"
}

[ -x "$TENON_COMMAND" ] || skip "the command is not built"
for option in ERROR_MESSAGES INSPECT; do
	has $option || skip "needs CONFIG_$option"
done
source=$PWD
module=$PWD/tests/interop/data/tvm-0.27.0.post1/opencl_multi/lib.so
params=$PWD/tests/interop/data/tvm-0.18/graph_mlp/model.params
[ -e "$module" ] || skip "needs $module"

tenon()
{
	$EMULATOR "$TENON_COMMAND" "$@"
}

# keeps FILE STATUS ARGUMENT...: the command fails with the status, names the file, and leaves it as it is
keeps()
{
	file=$1 status=$2
	shift 2
	cp "$file" "$scratch/before" || return
	tenon "$@" > "$scratch/out" 2> "$scratch/why" < /dev/null
	got=$?
	cat "$scratch/out" "$scratch/why"
	echo "status $got"
	[ "$got" -eq "$status" ] && grep -qF -- "${file##*/}" "$scratch/why" && cmp "$scratch/before" "$file"
}

cd "$scratch" || exit 1
cp "$module" m.so && chmod u+w m.so && ln m.so hard.so && ln -s m.so link.so && cp "$params" p.params && chmod u+w p.params
echo '{"key": "not a trace"}' > key.pem

it "only one file of the tools writes files" sh -c "
	! grep -rlE '\\bfile_(write|replace)\\(' --include='*.c' '$source/tools' | grep -v 'tools/file/output.c\$'"

keeps_manifest()
{
	tenon unpack m.so parts > unpacked && keeps parts/manifest.json 3 link -o parts/manifest.json parts/manifest.json
}

to_standard_output()
{
	tenon link -o - parts/manifest.json > linked && cmp linked m.so && [ ! -e - ]
}

if has LINK; then
	it "a signature does not replace the module" keeps m.so 3 sign --key key.pem -o m.so m.so
	it "nor by another path" keeps m.so 3 sign --key key.pem -o ./m.so m.so
	it "nor by a hard link" keeps m.so 3 sign --key key.pem -o hard.so m.so
	it "nor by a symbolic link" keeps m.so 3 sign --key key.pem -o link.so m.so
	it "nor its key" keeps key.pem 3 sign --key key.pem -o key.pem m.so
fi
if has LINK; then
	it "a linked module does not replace its manifest" keeps_manifest
	it "the name - is standard output" to_standard_output
fi
if has EXECUTORS; then
	it "parameters do not replace their source" keeps p.params 2 params align p.params -o ./p.params
fi
if has TRACE; then
	it "a trace does not replace the module" keeps m.so 3 run m.so --function f --trace m.so
	it "nor another file that is no trace" keeps key.pem 3 run m.so --function f --trace key.pem
	has LLM && it "nor does that of a chat" keeps m.so 3 chat m.so --message a --trace m.so
fi
it "the output of a run does not replace its input" keeps p.params 3 run m.so --function f --input 4xuint8=@p.params --output '4xuint8=>p.params'

unpacks_beside()
{
	echo precious > precious && mkdir -p d && ln -sf ../precious d/host.so && ln -sf ../none d/manifest.json &&
		tenon unpack m.so d && [ "$(cat precious)" = precious ] && [ ! -e none ] && [ ! -L d/host.so ] &&
		[ -f d/manifest.json ] && [ ! -L d/manifest.json ]
}
has LINK && it "links in the folder of unpack are replaced, not followed" unpacks_beside

extracts_beside()
{
	tenon params extract p.params -o e > names && name=$(head -n 1 names) && rm "$name" && ln -s ../precious "$name" &&
		echo precious > precious && tenon params extract p.params -o e && [ "$(cat precious)" = precious ] && [ ! -L "$name" ]
}
has EXECUTORS && it "so are links in the folder of extracted parameters" extracts_beside
# a file whose name has an escape sequence, turns the direction of text round, and has a line of its own
name=$(printf 'x\033[31m\342\200\256\ntenon: y')
cp m.so "$name.so" && cp p.params "$name.params" && cp "$source/tests/tflite/data/softmax.tflite" "$name.tflite"
shows_name()
{
	ends_with_name 0 "$@"
}

ends_with_name()
{
	want=$1
	shift
	tenon "$@" > "$scratch/out" 2>&1 < /dev/null
	status=$?
	cat -v "$scratch/out"
	[ $status -eq $want ] && ! grep -q '^tenon: y' "$scratch/out" && grep -qF 'x?[31m?' "$scratch/out" && ! tr -d '\011\012\040-\176\200-\377' < "$scratch/out" | grep -q . &&
		! grep -qF "$(printf '\342\200\256')" "$scratch/out"
}
it "names of files do not reach the terminal as they are: inspect" shows_name inspect "$name.so"
! has LINK || it "verify" shows_name verify "$name.so"
! has LINK || it "unpack" shows_name unpack "$name.so" "$name.d"
it "params convert" shows_name params convert "$name.params" -o "$name.2.params"
it "inspect --dot" shows_name inspect --dot "$name.so"
it "an error" ends_with_name 3 inspect "$name.nothing"
it "an error in usage" ends_with_name 2 inspect "$name.so" "$name.so"
! has TFLITE_EXECUTOR || it "inspect of another kind of file" shows_name inspect "$name.tflite"

finish
