#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Modules that were linked here open in TVM from PyPI (scripts/interop-generate --venv-only 0.27)

script=$PWD/tests/link/open_in_tvm.py
scale=$PWD/tests/link/scale_in_tvm.py
trees=$PWD/tests/link/trees_by_tvm.py
. tests/link/link.sh
python=
for candidate in "${TENON_VENVS:-$TENON_BUILD/interop-venvs}"/*/bin/python; do
	"$candidate" -c 'import tvm, tvm_ffi, numpy' 2>/dev/null && python=$candidate
done
[ -n "$python" ] || skip "TVM is not installed: scripts/interop-generate --venv-only 0.27"

cat > kernel.c <<'END'
#include <tenon/launcher.h>
/* sum, a, b, count, blocks, size of a block */
TENON_LAUNCHER(vecadd_kernel)
{
	float *sum = tenon_launch_word(call, 0).pointer;
	const float *a = tenon_launch_word(call, 1).pointer, *b = tenon_launch_word(call, 2).pointer;
	int64_t count, blocks, size;

	if (call->count != 6 || tenon_launch_integer(call, 3, &count) || tenon_launch_integer(call, 4, &blocks) ||
	    tenon_launch_integer(call, 5, &size) || blocks * size < count)
		return tenon_launch_error("wrong arguments");
	for (int64_t i = 0; i < count; i++)
		sum[i] = a[i] + b[i];
	return 0;
}
END

opens()
{
	"$python" "$script" "$PWD/$1" "$PWD/kernel.so" 1,2,3,4,5,6,7,8
}
made()
{
	link -o kernel.so kernel.c && link -o module.so "$example/vecadd.c" "$example/vecadd.cl=opencl"
}
it "a launcher, a kernel and a library are linked" made
it "TVM opens the module and calls the launcher, and that the kernel" opens module.so
it "a program is exchanged for a longer one" exchanged module.so 's/a\[i\] + b\[i\]/a[i] + 10 * b[i]/'
it "TVM opens that as well" opens exchanged.so

made_large()
{
	large large a && link -o large.so "$example/vecadd.c" large.cl=opencl
}
it "a large program is linked" made_large
it "TVM opens it where it is in the file" opens large.so

scales()
{
	"$python" "$scale" && link -o scale.so "$example/scale.c" --params scale.npz && "$python" "$scale" "$PWD/scale.so"
}
if grep -qs '^CONFIG_NPZ=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "TVM opens a module with parameters, and the launcher gets them" scales
fi

# as export_library() writes them; more of them by hand: TREES=1000 SEED=2
same_trees()
{
	# TVM takes all of $CC as the name of a program
	printf '#!/bin/sh\nexec %s "$@"\n' "$CC" > compiler && chmod +x compiler && mkdir -p trees &&
		(cd trees && CC=$PWD/../compiler "$python" "$trees" "${SEED:-1}" "${TREES:-32}" $EMULATOR "$TENON_COMMAND") && rm -r trees
}
it "random trees have the numbers and the bytes of TVM's exporter, whose files survive, seed ${SEED:-1}" same_trees
finish
