# SPDX-License-Identifier: MIT
#
# Read by scripts that build for another C library or machine: the command is the proof. folder is what
# was built, emulator runs its programs, target_cc compiles for it.

emulator=${emulator:-}
unset TENON_COMPAT_LIBRARY	# that of this machine

needs_only()
{
	readelf -d "$2" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' > "$scratch/needed"
	cat "$scratch/needed"
	not grep -v "$1" "$scratch/needed"
}

runs_module()
{
	"$target_cc" -O2 -shared -fPIC -Iinclude "tests/build/$1.c" -o "$scratch/$1.so" &&
		$emulator "$folder/tenon" run "$scratch/$1.so" --function add \
			--input 4xfloat32=1,2,3,4 --input 4xfloat32=arange --output 4xfloat32 \
			--expect 4xfloat32=1,3,5,7
}

refuses_another_machine()
{
	$emulator "$folder/tenon" run "$1" --function vecadd > "$scratch/words" 2>&1
	status=$?
	cat "$scratch/words"
	echo "exit status $status, want 3"
	[ "$status" -eq 3 ] && grep -q 'x86-64' "$scratch/words"
}

it "the command starts and tells its version" $emulator "$folder/tenon" --version
it "it runs a module of the current generation" runs_module add_modern
it "it runs a module of the older generation" runs_module add_legacy
module=tests/interop/data/tvm-0.18/host_vecadd/lib.so
it "it inspects a module of x86-64" $emulator "$folder/tenon" inspect "$module"
if [ -n "${cross:-}" ]; then
	it "it says why it cannot load one of another machine" refuses_another_machine "$module"
fi
