#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Modules for other machines: the compiler is another, the command the same. An emulator opens them.

. tests/link/link.sh

cat > opens.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
/* opens FILE TEXT: the text is in the import tree, as the dynamic linker maps it */
int main(int argc, char **argv)
{
	void *file = dlopen(argv[1], RTLD_NOW);
	const unsigned char *blob = file ? dlsym(file, "__tvm_ffi__library_bin") : NULL;
	size_t size = 0, length = argc > 2 ? strlen(argv[2]) : 0;

	if (!blob || !dlsym(file, "__tvm_ffi_vecadd"))
		return puts(dlerror()), 1;
	for (int i = 7; i >= 0; i--)
		size = size << 8 | blob[i];
	for (size_t i = 8; i + length <= size + 8; i++)
		if (!memcmp(blob + i, argv[2], length))
			return 0;
	return puts("the text is not there"), 1;
}
END

# machine EMULATOR
machine()
{
	libraries=$(dirname "$($CC -print-file-name=libc.so.6)")
	$CC opens.c -o opens -ldl && rm -rf exchanged.d exchanged.2 &&
		link -o machine.so "$example/vecadd.c" "$example/vecadd.cl=opencl" && same machine.so || return
	loader=$(echo "$libraries"/ld-linux*)
	$1 "$loader" --library-path "$libraries" ./opens "$PWD/machine.so" 'a[i] + b[i]' &&
		exchanged machine.so 's/a\[i\] + b\[i\]/a[i] + 10 * b[i]/' &&
		$1 "$loader" --library-path "$libraries" ./opens "$PWD/exchanged.so" '10 * b[i]' &&
		large large a && link -o large.so "$example/vecadd.c" large.cl=opencl && same large.so &&
		$1 "$loader" --library-path "$libraries" ./opens "$PWD/large.so" 29999
}
for target in aarch64-linux-gnu:qemu-aarch64 arm-linux-gnueabihf:qemu-arm riscv64-linux-gnu:qemu-riscv64; do
	CC=${target%:*}-gcc
	if command -v "$CC" >/dev/null 2>&1 && command -v "${target#*:}" >/dev/null 2>&1; then
		it "a module for ${target%%-*} is linked here, and opens there with other contents and large ones too" machine "${target#*:}"
	else
		cases=$((cases + 1))
		echo "ok $cases - a module for ${target%%-*} # SKIP $CC or ${target#*:} is not installed"
	fi
done
finish
