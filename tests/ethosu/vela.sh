#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Networks that Vela compiles here: they are accepted, and on ethosu://sim each output has the bytes of LiteRT's reference
# kernels. TENON_VELA=all takes every configuration, not those that differ most.

. tests/build/tap.sh
config=$TENON_BUILD/include/config/auto.conf
for option in ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=y" "$config" || skip "needs CONFIG_$option"
done
for option in TFLITE_EXECUTOR DEVICE_ETHOSU; do
	grep -qs "^CONFIG_$option=[ym]" "$config" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/vela/bin/python
[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only vela installs Vela"
"$python" -c 'import ai_edge_litert.interpreter, ethosu.vela, flatbuffers, numpy' 2>/dev/null ||
	skip "$python lacks one of ethos-u-vela, ai-edge-litert, flatbuffers and numpy"

configurations="u55-128 u65-256 u65-512 u65-256+io u65-512+sram u85-256 u85-256+unchained u85-512"
[ "${TENON_VELA:-}" != all ] ||
	configurations="u55-32 u55-64 u55-128 u55-256 u65-256 u65-512 u55-128+io u65-256+io u65-512+io u65-256+sram u65-512+sram u85-128 u85-256 u85-512 u85-1024 u85-2048 u85-256+io u85-256+unchained"
networks=$scratch/networks out=$scratch/out

tenon()
{
	$EMULATOR "$TENON_COMMAND" "$@"
}

compile()
{
	# shellcheck disable=SC2086
	"$python" tests/ethosu/make_networks.py "$networks" 2>/dev/null &&
		"$python" tests/ethosu/compile_networks.py "$out" $configurations -- "$networks"/*.tflite
}

# what tenon run is told of a network: files of its inputs, and of the outputs that are expected
set_arguments()
{
	arguments='' inputs=0 outputs=0
	while read -r what shape; do
		if [ "$what" = in ]; then
			arguments="$arguments --input $shape=@$networks/$1.in$inputs"
			inputs=$((inputs + 1))
		else
			arguments="$arguments --expect $shape=@$networks/$1.ref$outputs"
			outputs=$((outputs + 1))
		fi
	done < "$networks/$1.spec"
	[ $inputs -gt 0 ] && [ $outputs -gt 0 ]
}

# the inputs are random bytes: another output than the reference's ends tenon run with 1
runs()
{
	passed=0 wrong=0
	for file in "$out/$1"/*_vela.tflite; do
		name=${file##*/} name=${name%_vela.tflite}
		# Vela compiles these for U85 alone
		case $1,$name in
		u85*) ;;
		*,u85_*) continue ;;
		esac
		set_arguments "$name" && tenon verify --kind ethos-u "$file" > said.txt 2>&1 &&
			tenon inspect "$file" > said.txt 2>&1 &&
			# shellcheck disable=SC2086
			tenon run "$file" --device ethosu://sim $arguments > said.txt 2>&1 && passed=$((passed + 1)) &&
			continue
		wrong=$((wrong + 1))
		echo "$1, $name:"
		tail -n 3 said.txt
	done
	echo "$passed networks, $wrong differ"
	[ $wrong -eq 0 ] && [ $passed -ge 16 ]
}

# A keyword spotter that a wheel of PyPI has, with its states as inputs and outputs: a dozen steps, whose states go on
shipped()
{
	name=${shipped##*/} name=${name%.tflite}
	"$python" tests/ethosu/make_stateless.py "$shipped" "$networks/shipped" "$name" 12 2>/dev/null &&
		"$python" tests/ethosu/compile_networks.py "$out/shipped" u55-128 u65-256 u85-256 -- \
			"$networks/shipped/$name.tflite" || return
	for file in "$out/shipped"/*/"${name}_vela.tflite"; do
		step=0
		while [ $step -lt 12 ]; do
			shipped_step "$file" "$networks/shipped/$name" $step || return
			step=$((step + 1))
		done
	done
}

# shipped_step FILE NETWORK STEP
shipped_step()
{
	arguments='' inputs=0 outputs=0
	while read -r what shape; do
		if [ "$what" = in ]; then
			arguments="$arguments --input $shape=@$2-$3.in$inputs"
			inputs=$((inputs + 1))
		else
			arguments="$arguments --expect $shape=@$2-$3.ref$outputs"
			outputs=$((outputs + 1))
		fi
	done < "$2.spec"
	# shellcheck disable=SC2086
	tenon run "$1" --device ethosu://sim $arguments > "$scratch/step.txt" 2>&1 && return
	echo "$1, step $3:"
	tail -n 3 "$scratch/step.txt"
	return 1
}

# The variables of another one keep what 24 runs wrote. For U55 and U65 Vela leaves them to the processor; for U85 the NPU keeps
# them in its arena.
with_variables()
{
	"$python" tests/ethosu/make_repeated.py "$variables" "$networks/repeated" 24 2> /dev/null &&
		"$python" tests/ethosu/compile_networks.py "$out/variables" u55-128 u65-256 u85-256 -- "$variables" || return
	name=${variables##*/} name=${name%.tflite}
	for one in u55-128 u65-256 u85-256; do
		tenon run "$out/variables/$one/${name}_vela.tflite" --device ethosu://sim --repeat 24 \
			--input "1x3x40xint8=@$networks/repeated.in" --expect "1x1xuint8=@$networks/repeated.ref" > "$scratch/step.txt" 2>&1 ||
			{ echo "$one:"; tail -n 3 "$scratch/step.txt"; return 1; }
	done
}

root=$PWD
it "Vela compiles all networks" compile
[ $failures -eq 0 ] || finish
cd "$scratch" || exit 1
for one in $configurations; do
	it "networks for $one give the bytes of the reference kernels" runs "$one"
done
cd "$root" || exit 1
shipped=$("$python" -c 'import importlib.util as u
print(u.find_spec("pymicro_wakeword").submodule_search_locations[0])' 2>/dev/null)/models/okay_nabu.tflite
if [ -f "$shipped" ]; then
	it "a keyword spotter of PyPI gives the bytes of the reference kernels, step by step" shipped
	variables=${shipped%/*}/hey_mycroft.tflite
	it "another one keeps its variables between runs" with_variables
else
	echo "# without a keyword spotter: $python lacks pymicro-wakeword"
fi

finish
