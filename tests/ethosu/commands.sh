#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon inspect and tenon verify --kind ethos-u, on payloads that Vela made

. tests/build/tap.sh
. tests/ethosu/command.sh
needs_options ym DEVICE_ETHOSU
needs_options y LINK ERROR_MESSAGES
data=$PWD/tests/ethosu/data change_npz=$PWD/tests/ethosu/change_npz.py
cd "$scratch" || exit 1

verify()
{
	tenon verify --kind ethos-u "$@"
}

fits()
{
	verify "$data/u55_avgpool/payload.bin" --region 1=2132 &&
		verify "$data/u65_conv1x1/payload.bin" --region 0=496 --region 1=2048 --target u65-256 &&
		verify "$data/u65_add2_cop2/payload.bin" --region 0=0 --region 1=0 --region 3=1152 --region 4=576 &&
		verify "$data/u65_cpu_fallback/payload0.bin" --region 0=1776 --region 1=8192 &&
		verify "$data/u65_cpu_fallback/payload1.bin" --region 0=1776 --region 1=8192 &&
		verify "$data/u65_softmax_mix/payload.bin" --region 0=6496 --region 1=768 --region 2=4992 &&
		verify "$data/u85_residual/payload.bin" --region 0=56368 --region 1=18432 --region 2=57360 --target ethos-u85-256
}
it "streams of a compiler stay inside of the regions that it declares" fits
it "a region that is a byte too small is refused, with the offset and the reason" \
	says 3 "payload.bin at 0x144: OP_CONV needs 496 bytes of region 0 for the weights; it has 495" \
	verify "$data/u65_conv1x1/payload.bin" --region 0=495
it "so is another device" says 3 "payload.bin at 0x8: compiled for u65-256" \
	verify "$data/u65_conv1x1/payload.bin" --target u65-512
it "a target that does not exist is an error of use" says 2 "u65-256" \
	verify "$data/u65_conv1x1/payload.bin" --target u66
it "and so is a region that does not exist" says 2 "N=BYTES" \
	verify "$data/u65_conv1x1/payload.bin" --region 8=1
it "sizes are decimal, with zeros in front too" says 0 "no fault" verify "$data/u65_conv1x1/payload.bin" --region 0=0496
it "or hexadecimal" says 0 "has 496" verify "$data/u65_conv1x1/payload.bin" --region 0=0x1f0
it "a kind that is not known" says 2 "unknown kind; known: " tenon verify --kind ethos-n "$data/u65_conv1x1/payload.bin"
it "and --region without --kind" says 2 "--kind" tenon verify --region 0=1 "$data/u65_conv1x1/payload.bin"

linux()
{
	for generation in 1 2 3; do
		verify "$data/u65_conv1x1/payload.bin" --kernel $generation > said.txt && cat said.txt &&
			grep -q 'region 0: reads 496, writes 0 bytes; Linux requires 496$' said.txt &&
			grep -q 'region 1: .*; Linux requires 2048, with a fence$' said.txt || return 1
	done
	verify "$data/u65_softmax_mix/payload.bin" --kernel 3 | grep 'region 0: reads 6496, writes 0 bytes; Linux requires 6449$' &&
		verify "$data/u85_residual/payload.bin" --kernel 3 --target u85-256
}
it "with --kernel the sizes that Linux requires are printed" linux
cp "$data/u55_avgpool/payload.bin" u55.bin
it "Linux drives no U55" says 3 "u55.bin at 0x8: compiled for U55, which Linux does not drive" verify u55.bin --kernel 3
it "a generation that does not exist is an error of use" says 2 "1 to 3" verify u55.bin --kernel 4

: > empty.bin
printf 'COP1' > short.bin
it "a file that is no payload is refused" says 3 "COP1" verify empty.bin
it "a payload without a stream is refused" says 3 "short.bin at 0x4" verify short.bin
it "a file that is not there too" says 3 "nowhere.bin" verify nowhere.bin
it "so it is by inspect --disassemble" says 3 "No such file" tenon inspect --disassemble nowhere.bin
it "and a file of another kind is an error of use" says 2 "empty.bin is no program" tenon inspect --disassemble empty.bin
mkfifo pipe
it "a pipe is refused, and nothing waits for its writer" says 3 "pipe" timeout 60 $EMULATOR "$TENON_COMMAND" inspect pipe

describes()
{
	tenon inspect "$data/u65_softmax_mix/payload.bin" > said.txt && cat said.txt &&
		grep -q 'u65-256 (COP1)' said.txt && grep -q 'OP_CONV 3, OP_DEPTHWISE 1, OP_POOL 3, OP_ELEMENTWISE 26' said.txt &&
		grep -q 'region 2 .*fast scratch .*reads 4992, writes 4992' said.txt
}
it "inspect shows the target, operations and regions" describes
it "and refuses what it would ignore" says 2 "only --json and --disassemble apply" \
	tenon inspect --functions "$data/u65_softmax_mix/payload.bin"

disassembles()
{
	tenon inspect --disassemble "$data/u65_conv1x1/payload.bin" > said.txt && cat said.txt &&
		grep -q '0x000020  PARALLEL_MODE  *0$' said.txt && grep -q 'IFM_ZERO_POINT  *-3$' said.txt &&
		grep -q '0x000148  OP_STOP  *65535$' said.txt
}
it "and with --disassemble the commands" disassembles

json()
{
	tenon inspect --json --disassemble "$data/u65_conv1x1/payload.bin" > said.txt && cat said.txt &&
		grep -q '"target":.*"u65-256"' said.txt && grep -q '"command":.*"OP_STOP"' said.txt &&
		verify --json "$data/u65_conv1x1/payload.bin" > said.txt && cat said.txt && grep -q '"valid":.*true' said.txt &&
		says 3 '"valid":' verify --json "$data/u65_conv1x1/payload.bin" --region 1=1
}
it "JSON has the same facts" json

npz()
{
	verify "$data/u65_conv1x1/u65.npz" --target u65-256 && tenon inspect "$data/u65_conv1x1/u65.npz" > said.txt &&
		cat said.txt && grep -q 'region 0 .*reads 496, writes 0, has 496 bytes' said.txt &&
		grep -q 'input .*1x1x1x8x8x16 of 1 byte at 1024 of region 1' said.txt
}
it "a .npz file of Vela has sizes of regions, and tensors" npz
places()
{
	grep -q 'arguments *region 1: copied: an input is in it, and the stream writes to it' said.txt &&
		grep -q 'dma-bufs *of other drivers are copied: .*imports its own alone' said.txt &&
		tenon inspect "$data/u65_add2_cop2/u65.npz" > said.txt && cat said.txt &&
		grep -q 'arguments *region 3: used where they are' said.txt && grep -q 'arguments *region 4: used where' said.txt &&
		tenon inspect --json "$data/u65_conv1x1/u65.npz" > said.txt && cat said.txt &&
		grep -q '"copied_because":.*an input is in it' said.txt
}
it "inspect says which inputs and outputs are copied, and why" places
it "and sizes on the command line come before these" \
	says 3 'u65.npz at 0x202: OP_CONV needs 496 bytes' verify "$data/u65_conv1x1/u65.npz" --region 0=480

far_away()
{
	python3 "$change_npz" "$data/u65_conv1x1/u65.npz" far.npz input_region=5 input_offset=9223372036854775800 &&
		says 3 "far.npz: input_shape, input_elem_size, input_region and input_offset lie beyond 2^63 bytes" verify far.npz
}
python3 -c '' 2>/dev/null && it "tensors end below 2^63" far_away

# header NAME TEXT: header.npz is that file with another text of the header of the array NAME, in format 2.0
header()
{
	python3 - "$data/u65_conv1x1/u65.npz" "$1" "$2" << 'END'
import struct
import sys
import zipfile
name, text = sys.argv[2] + ".npy", sys.argv[3].encode()
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile("header.npz", "w") as new:
    for entry in old.namelist():
        data = old.read(entry)
        if entry == name:
            data = b"\x93NUMPY\2\0" + struct.pack("<I", len(text)) + text + data[10 + data[8] + 256 * data[9]:]
        new.writestr(entry, data)
END
}
other_headers()
{
	header input_shape '{"shape":(1,6),"fortran_order":False,"descr":"<i8"}' && verify header.npz --target u65-256 &&
		header input_shape '{"shape":(1,6),"fortran_order":True,"descr":"<i8"}' &&
		says 3 "an array in column-major order" verify header.npz &&
		header input_shape '{"shape":(6,),"fortran_order":False,"descr":"<i8"}' &&
		says 3 "not the integers of 64 bits" verify header.npz &&
		header input_shape '{"shape":(1,6),"fortran_order":False}' &&
		says 3 'header lacks "descr"' verify header.npz &&
		header cmd_data '{"shape":(),"fortran_order":False,"descr":"|S1"}' &&
		says 3 "no string of bytes" verify header.npz
}
python3 -c '' 2>/dev/null && it "headers of arrays are read as numpy defines them, not as Vela's have them alone" other_headers

models()
{
	for net in u55_avgpool u65_add2_cop2 u65_conv1x1 u65_softmax_mix; do
		verify "$data/$net/vela.tflite" || return 1
	done
	verify "$data/u65_cpu_fallback/vela.tflite" --target u65-256 --kernel 3 > said.txt && cat said.txt &&
		grep -q 'operator 0: no fault: for u65-256, 57 commands' said.txt && grep -q 'operator 4: no fault' said.txt &&
		grep -q 'region 0: reads 1776, writes 0, has 1776 bytes; Linux requires 1776' said.txt &&
		verify "$data/u65_add2_cop2/vela.tflite" | grep -q 'region 3: reads 1152, writes 0, has 1152 bytes'
}
it "of a .tflite file of Vela all operators for Ethos-U are checked" models
it "against sizes of regions too, with offsets in the file" says 3 "vela.tflite at 0x704: OP_CONV needs 496 bytes of region 0" \
	verify "$data/u65_conv1x1/vela.tflite" --region 0=495
it "a model before Vela is refused" says 3 "none of its 7 operators is of kind" \
	verify "$data/u65_softmax_mix/source.tflite"
head -c 1000 "$data/u65_conv1x1/vela.tflite" > cut.tflite
it "and so is a part of one" says 3 "cut.tflite at 0x" verify cut.tflite

describes_model()
{
	tenon inspect "$data/u65_cpu_fallback/vela.tflite" > said.txt && cat said.txt &&
		grep -q 'operator 2 *SIN, tensors 6 -> 7$' said.txt && grep -q 'region 1 .*reads 1536, writes 1536, has 8192' said.txt &&
		grep -q 'conv0  1x8x8x16xint8, scale 0.0599999987, zero point 0, at 4096 of the arena$' said.txt &&
		tenon inspect "$data/u65_softmax_mix/source.tflite" | grep -q '16x3x3x3xint8, 16 scales of dimension 0, 432 bytes at 0xf44$' &&
		tenon inspect --json --disassemble "$data/u65_cpu_fallback/vela.tflite" > said.txt &&
		grep -q '"arena_offset":.*4096' said.txt && grep -q '"command":.*"OP_POOL"' said.txt &&
		grep -q '"scales":.*0\.05999999865' said.txt
}
it "inspect shows the operators of a model, its payloads and tensors" describes_model

outside()
{
	python3 - "$data/u65_conv1x1/vela.tflite" "$1" "$2" > outside.tflite << 'END'
import sys
data = open(sys.argv[1], "rb").read()
old, new = (bytes.fromhex(word) for word in sys.argv[2:4])
assert data.count(old) == 1, data.count(old)
sys.stdout.buffer.write(data.replace(old, new))
END
}

# the plan of memory: version, graphs, tensors, and the offsets of seven tensors
plan="000000000100000006000000ffffffffffffffff0000000000000000"
arena()
{
	outside "${plan}00040000" "${plan}01040000" && says 3 "bytes at 1025 of the arena, which has" verify outside.tflite &&
		outside "${plan}00040000" "${plan}ffffffff" && says 3 "has no place in the arena" verify outside.tflite &&
		says 0 "refused           outside.tflite: operator 0 (ethos-u): tensor" tenon inspect outside.tflite
}
python3 -c '' 2>/dev/null && it "tensors that lie outside of the arena are refused" arena

finish
