#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon doctor --cdi, on named fakes of drivers and of /dev: what containers need of each device

. tests/build/tap.sh

for option in DEVICES DEVICE_CUDA DEVICE_OPENCL JSON ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
[ -z "$EMULATOR" ] || skip "a command that is run by an emulator cannot start itself"
need python3

fakes=$(cd "$TENON_BUILD/tests" && pwd)
nowhere=$scratch/nowhere/driver.so
root=$scratch/root
export TENON_VULKAN_LIBRARY="$nowhere" TENON_CUDA_LIBRARY="$nowhere" TENON_OPENCL_LIBRARY="$nowhere" TENON_CACHE_DIR= TENON_BACKENDS=opencl,cuda
mkdir -p "$root/dev/dri" "$root/dev/accel" "$root/proc/driver/nvidia/gpus/0000:41:00.0" "$scratch/empty"
for node in dri/renderD128 accel/accel0 uio0 uio1 nvidia0 nvidia1 nvidiactl nvidia-uvm nvidia-caps; do
	: > "$root/dev/$node"
done
printf 'Model: \t\t fake\nDevice Minor: \t 1\n' > "$root/proc/driver/nvidia/gpus/0000:41:00.0/information"

writes()
{
	"$TENON_COMMAND" doctor --cdi --root "$root" > "$scratch/spec" 2> "$scratch/errors" || { cat "$scratch/errors"; return 1; }
}

# edits NAME: paths of nodes and mounts of a device, in one line
edits()
{
	python3 - "$scratch/spec" "$1" <<-'END'
		import json, sys
		device = next(d for d in json.load(open(sys.argv[1]))["devices"] if d["name"] == sys.argv[2])
		edits = device["containerEdits"]
		print(*[n["path"] for n in edits.get("deviceNodes", [])], *[m["hostPath"] for m in edits.get("mounts", [])])
	END
}

# gives NAME PATTERN: the device adds this
gives()
{
	writes && edits "$1" > "$scratch/edits" && cat "$scratch/edits" && grep -q -x -e "$2" "$scratch/edits"
}

with_cuda()
{
	TENON_CUDA_LIBRARY=$fakes/cuda/fake_cuda.so "$@"
}

with_opencl()
{
	TENON_OPENCL_LIBRARY=$fakes/opencl/fake_opencl.so "$@"
}

follows_the_rules()
{
	writes && python3 tests/device/cdi_rules.py "$scratch/spec"
}

all_has_everything()
{
	with_opencl gives all '.*/dev/dri/renderD128 .*/dev/accel/accel0 .*/fake_opencl\.so.*'
}

# the C library, and libtenon with its plug-ins, are those of the image
leaves_the_image_its_own()
{
	with_opencl writes && not grep -e '/libc\.so' -e '/ld-linux' -e libtenon -e '/plugins/' "$scratch/spec"
}

ends_with_4()
{
	"$TENON_COMMAND" doctor --cdi --root "$scratch/empty" > "$scratch/spec" 2> "$scratch/errors"
	status=$?
	cat "$scratch/errors"
	[ "$status" -eq 4 ] && [ ! -s "$scratch/spec" ] && grep -q 'needs a node or a library' "$scratch/errors"
}

refuses()
{
	"$TENON_COMMAND" doctor "$@" > "$scratch/spec" 2> "$scratch/errors"
	[ $? -eq 2 ] && [ ! -s "$scratch/spec" ]
}

finds_what_is_wrong()
{
	writes && sed 's/"permissions":/"permission":/; s,tenon.dev/device,tenon,' "$scratch/spec" > "$scratch/wrong" &&
		! python3 tests/device/cdi_rules.py "$scratch/wrong" > "$scratch/said-wrong" && cat "$scratch/said-wrong" &&
		grep -q 'unknown key permission$' "$scratch/said-wrong" && grep -q "kind is 'tenon'" "$scratch/said-wrong"
}

it "the specification follows the rules" with_opencl follows_the_rules
it "nodes without a driver are devices, too" gives uio1 /dev/uio1
it "a device has the library of its driver" with_opencl gives opencl:0 ".*$fakes/opencl/fake_opencl\.so.*"
it "a device of NVIDIA has its own node and those that all share" with_cuda gives cuda:0 \
	"/dev/nvidiactl /dev/nvidia-uvm /dev/nvidia1 /.*/cuda/fake_cuda\.so.*"
rm "$root/proc/driver/nvidia/gpus/0000:41:00.0/information"
it "it has all of them if the kernel does not tell which is its own" with_cuda gives cuda:0 \
	"/dev/nvidiactl /dev/nvidia-uvm /dev/nvidia0 /dev/nvidia1 /.*/cuda/fake_cuda\.so.*"
it "the device all has what the others have" all_has_everything
it "libraries that the image has are left out" leaves_the_image_its_own
it "a machine without devices is told so" ends_with_4
it "it excludes --board" refuses --cdi --board
it "--root needs one of them" refuses --root "$root"
it "the rules can be broken" finds_what_is_wrong
finish
