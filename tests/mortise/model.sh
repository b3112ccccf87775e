#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The model of examples/mortise: one file, whose dense and convolution operators run on the simulator and on boards, and
# all others on the host, gives what the host alone gives

. tests/build/tap.sh

for option in DEVICE_MORTISE GRAPH_EXECUTOR PARAMS_FILES INSPECT DSO TOOL; do
	grep -qs "^CONFIG_$option=" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
model=$TENON_BUILD/examples/mortise

tenon()
{
	${EMULATOR:-} "$TENON_COMMAND" "$@"
}

# on_host ARGUMENT...: the operators by themselves, in a graph for the host
on_host()
{
	tenon run "$model/operators.so" --graph "$model/host.json" --params "$model/stripes.params" "$@"
}

# on BOARD ARGUMENT...
on()
{
	board=$1
	shift
	tenon run "$model/stripes.so" --device "mortise://$board" "$@"
}

# 4 images and 7 that are parts of two each; what the host makes of all
images()
{
	for name in horizontal vertical falling rising; do
		cat "$model/$name.bin"
	done
}
{ images; { images; images; } | tail -c +401 | head -c 7168; } > "$scratch/frames"
on_host --stream < "$scratch/frames" > "$scratch/expected" 2> "$scratch/words"

names_the_directions()
{
	cat "$scratch/words"
	# of a frame: 4 bytes of scores, 16 of probabilities, 4 of the class
	for i in 0 1 2 3; do
		class=$(tail -c +$((24 * i + 21)) "$scratch/expected" | od -An -td4 -N4)
		echo "image $i: class $class"
		[ "$class" -eq $i ] || return 1
	done
	[ "$(wc -c < "$scratch/expected")" -eq $((24 * 11)) ]
}

same_on()
{
	on "$1" --stream < "$scratch/frames" > "$scratch/outputs" && cmp "$scratch/outputs" "$scratch/expected"
}

same_numbers_on()
{
	set -- "$1" --input x=16x16xfloat32=random:1
	on_host --input x=16x16xfloat32=random:1 --output "4xint8=>$scratch/scores.npy" &&
		on "$@" --expect "scores=@$scratch/scores.npy"
}

# the number of a device chooses it as its name does
first_is_the_simulator()
{
	tenon run "$model/stripes.so" --device mortise:0 --stream < "$scratch/frames" > "$scratch/outputs" &&
		cmp "$scratch/outputs" "$scratch/expected"
}

wants_a_board()
{
	not tenon run "$model/stripes.so" --input x=16x16xfloat32=zeros > "$scratch/words" 2>&1 &&
		cat "$scratch/words" && grep -q 'mortise' "$scratch/words"
}

# why_not BOARD: the reason that it is not tested; nothing when it is
why_not()
{
	case $1 in
	sim | rv64) ;;
	*) [ -n "${HIL:-}${FULL:-}" ] || { echo '"make check-hil" and FULL=1 run this board'; return; } ;;
	esac
	case $1 in
	sim) return ;;
	rv32) emulator=qemu-system-riscv32 ;;
	rv64) emulator=qemu-system-riscv64 ;;
	cm3) emulator=qemu-system-arm ;;
	hexagon) emulator=qemu-hexagon ;;
	esac
	grep -qs "^CONFIG_MORTISE_BOARDS=" "$TENON_BUILD/include/config/auto.conf" || echo "needs CONFIG_MORTISE_BOARDS"
	command -v $emulator >/dev/null 2>&1 || echo "$emulator is not installed"
	[ -e "$TENON_FIRMWARE_PATH/mortise-$1.elf" ] || echo "no compiler made mortise-$1.elf"
}

it "the host names the direction of stripes" names_the_directions
for board in sim rv64 rv32 cm3 hexagon; do
	reason=$(why_not $board | head -n 1)
	if [ -n "$reason" ]; then
		cases=$((cases + 1))
		echo "ok $cases - the outputs on $board are the host's # SKIP $reason"
		continue
	fi
	it "the outputs on $board are the host's, bit for bit" same_on $board
	it "also for noise, on $board" same_numbers_on $board
done
it "the first device is the simulator" first_is_the_simulator
if grep -qs "^CONFIG_ERROR_MESSAGES=y" "$TENON_BUILD/include/config/auto.conf"; then
	it "without a board, the error names the kind of device" wants_a_board
fi
finish
