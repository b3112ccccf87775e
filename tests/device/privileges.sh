#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a user says in the environment, or puts beside a set-uid program, is no code that it runs

. tests/build/tap.sh

need setpriv
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
[ -z "$EMULATOR$SAN" ] || skip "the command runs under an emulator or a sanitizer"
[ "$(id -u)" -eq 0 ] || skip "only root can make a set-uid program and become another user"

# as_user COMMAND WORD…: run as a user without privileges, in whose folder the command lies
as_user()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

chmod 755 "$scratch"
# another user does not reach what lies below a private folder, such as root's home
as_user test -x "$scratch" || { rmdir "$scratch" && scratch=$(mktemp -d /tmp/XXXXXX); } || exit 1
folder=$scratch/bin
mkdir "$folder" "$folder/compat"
chmod 755 "$scratch" "$folder" "$folder/compat"
cp "$(command -v id)" "$TENON_COMMAND" "$folder"
if [ -e "$TENON_BUILD/install/tenon" ]; then
	# the dynamic linker does not search beside a set-uid program, but in a folder that it names
	cp "$TENON_BUILD/libtenon.so.0" "$folder"
	cp -r "$TENON_BUILD/plugins" "$folder"
	${CC:-cc} "$TENON_BUILD/tools/tenon.o" "$TENON_BUILD/tools/tool.a" "$folder/libtenon.so.0" \
		$(pkg-config --libs libcjson libzip $(sed -n 's/^CONFIG_LLM_TOKENIZER=y/libpcre2-8/p' \
			"$TENON_BUILD/include/config/auto.conf")) -Wl,-rpath,"$folder" -pthread -ldl -lm -o "$folder/tenon" ||
		skip "the command cannot be linked"
fi
[ ! -f "$TENON_COMPAT_LIBRARY" ] || cp "$TENON_COMPAT_LIBRARY" "$folder/compat/"
chmod 4755 "$folder/id" "$folder/tenon"
[ "$(as_user env "$folder/id" -u 2> /dev/null)" = 0 ] || skip "set-uid programs have no effect here"

# what doctor found; nothing of the user's may be in it
hears_nothing()
{
	as_user env "$@" "$folder/tenon" doctor > "$scratch/found"
	cat "$scratch/found"
	grep -q 'ok    version' "$scratch/found" && ! grep -q -e /nowhere -e "$scratch" "$scratch/found"
}

it "libraries of drivers" hears_nothing TENON_OPENCL_LIBRARY=/nowhere/a.so \
	TENON_VULKAN_LIBRARY=/nowhere/b.so TENON_CUDA_LIBRARY=/nowhere/c.so TENON_NVRTC_LIBRARY=/nowhere/d.so
it "plug-ins of third parties" hears_nothing TENON_BACKEND_PATH=/nowhere
plugs_nothing_in()
{
	as_user "$folder/tenon" doctor > "$scratch/found" 2>&1
	cat "$scratch/found"
	! grep -e "$scratch" "$scratch/found" && grep 'CONFIG_[A-Z_]*=m: no plug-in' "$scratch/found"
}
if grep -qs '^CONFIG_ERROR_MESSAGES=y' "$TENON_BUILD/include/config/auto.conf" &&
	grep -qs '^CONFIG_DEVICE_[A-Z]*=m' "$TENON_BUILD/include/config/auto.conf" && [ -e "$folder/libtenon.so.0" ]; then
	it "plug-ins beside the library" plugs_nothing_in
fi
it "the compatibility library" hears_nothing TENON_COMPAT_LIBRARY=/nowhere/libtvm_ffi.so
it "folders of compiled kernels" hears_nothing TENON_CACHE_DIR=/nowhere XDG_CACHE_HOME=/nowhere HOME=/nowhere
finish
