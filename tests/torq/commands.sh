#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon inspect, verify and link, on modules that torq-compile made

. tests/build/tap.sh
. tests/ethosu/command.sh
needs_options ym DEVICE_TORQ
needs_options y LINK ERROR_MESSAGES
data=$PWD/tests/torq/data
cd "$scratch" || exit 1

all_pass()
{
	for name in add convolution pool slice; do
		tenon verify --kind torq "$data/$name/$name.vmfb" > said.txt && grep '^.*no fault: for SL2610, 1 executable$' said.txt ||
			{ cat said.txt; return 1; }
	done
}
it "what torq-compile made has no fault" all_pass
it "verify says what each argument is for" says 0 "argument 2        256 bytes, read and written" \
	tenon verify --kind torq "$data/add/add.vmfb"

# damage OFFSET BYTES: of the addition
damage()
{
	cp "$data/add/add.vmfb" damaged.vmfb
	# shellcheck disable=SC2059 # the bytes are escapes
	printf "$2" | dd of=damaged.vmfb bs=1 seek="$1" conv=notrunc 2> /dev/null
}

# where the number 0x00902000, the address of the second binding, is in the file
second=$(LC_ALL=C grep -obUaP '\x00\x20\x90\x00' "$data/add/add.vmfb" | head -n 1 | cut -d : -f 1)
damage "$second" '\000\020'
it "two bindings at one page are refused, with the executable" \
	says 3 'executable "main_dispatch_0_elementwise_1x64_i32": bindings 0 and 1 have the same page' \
	tenon verify --kind torq damaged.vmfb
it "inspect shows it all the same, with the reason" says 0 "refused           damaged.vmfb" tenon inspect damaged.vmfb
it "a module for another target is refused" says 3 "no executable of Torq" tenon verify --kind torq "$data/add/in0.npy"
it "an option of another kind is an error of use" says 2 "--region: programs for Torq have no such option" \
	tenon verify --kind torq --region 0=1 "$data/add/add.vmfb"

it "inspect shows segments and bindings" says 0 "binding 1         256 bytes at 0x00902000, argument 1 from byte 0, read" \
	tenon inspect "$data/add/add.vmfb"
it "and the actions of the host" says 0 "action 3          start the NPU at LRAM 0x280" tenon inspect --disassemble "$data/add/add.vmfb"
it "and all of it as JSON" says 0 '"container":' tenon inspect --json "$data/add/add.vmfb"

linked()
{
	tenon link -o net.so "$data/add/add.vmfb=torq" && tenon inspect net.so > said.txt && cat said.txt && grep -q torq said.txt &&
		tenon verify net.so && tenon unpack net.so unpacked && cmp "$(find unpacked -name "*.vmfb")" "$data/add/add.vmfb"
}
if command -v cc > /dev/null; then
	it "a module of it is linked, verified and unpacked" linked
	[ -e /dev/torq ] || it "a run names the node that is missing" says 4 "/dev/torq" \
		tenon run net.so --function main --device torq:0
else
	skip_case "a module of it is linked, verified and unpacked" "there is no C compiler"
fi
finish
