# SPDX-License-Identifier: MIT
#
# Read by cross_*.sh, which set cross (the prefix of the tools), qemu and debian (the name there)

need "$cross-gcc" "$qemu" flock
. tests/build/cross_build.sh
folder=$(kept "$cross")
emulator=$(cross_emulator)

build_it()
{
	(
		flock 9 || exit
		rm -f "$folder/tenon"
		cross_configure && cross_build all
	) 9> "$folder/lock"
}

it "$cross-gcc builds everything without a warning" build_it

# those of a build without CFLAGS, which the build above has
links_by_default()
{
	mkdir -p "$scratch/flags" && inner_make -s O="$scratch/flags" CROSS_COMPILE="$cross-" defconfig &&
		flags=$(inner_make -pn O="$scratch/flags" CROSS_COMPILE="$cross-" all 2> "$scratch/why" | sed -n 's/^tenon-size-ldflags := //p') &&
		[ -n "$flags" ] || { cat "$scratch/why"; return 1; }
	echo "$flags"
	# shellcheck disable=SC2086
	echo 'int main(void) { return 0; }' | "$cross-gcc" -x c - -o "$scratch/empty" -Wl,--fatal-warnings $flags
}
it "its linker knows the default flags" links_by_default

# the test library of the target: unpacked by scripts/target-cmocka, from the distribution's packages
cmocka=$(sh scripts/target-cmocka "$debian" "$TENON_BUILD/tests/kept/cmocka-$debian" 2>"$scratch/why")
if [ -n "$cmocka" ]; then
	it "the tests pass under $qemu" with_cross inner_check CMOCKA_CFLAGS="-I$cmocka/include" \
		CMOCKA_LIBS="$cmocka/libcmocka.so" EMULATOR="$emulator:$cmocka" WITHOUT="build interop nomem $(spared model) ${without:-}"
else
	cases=$((cases + 1))
	echo "ok $cases - the tests under $qemu # SKIP $(tail -n 1 "$scratch/why")"
fi
target_cc=$cross-gcc
. tests/build/smoke.sh
finish
