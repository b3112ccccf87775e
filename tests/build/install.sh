#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install writes where it was told, a stranger's program builds with what it wrote, uninstall removes it. From a copy of the
# build under test, of which another prefix changes few files; build/reproducible installs from an empty folder.

. tests/build/tap.sh
. tests/build/inner_make.sh

root=$scratch/root
folder=$(kept install)
where="prefix=/opt/x libdir=/opt/x/lib/triplet DESTDIR=$root"
where="$where udevdir=/opt/x/share/udev sysusersdir=/opt/x/share/sysusers.d"
where="$where systemdunitdir=/opt/x/share/systemd"

list()
{
	(cd "$root" && find . ! -type d | sort)
}

only_declared_folders()
{
	list > "$scratch/list"
	[ -s "$scratch/list" ] &&
		not grep -v '^\./opt/x/\(bin\|include/tenon\|lib/triplet\|share\)/' "$scratch/list"
}

has()
{
	for file; do
		[ -s "$root/opt/x/$file" ] || { echo "$file is missing"; list; return 1; }
	done
}

has_files()
{
	has bin/tenon include/tenon/tenon.h lib/triplet/libtenon.a lib/triplet/libtenon.so \
		lib/triplet/libtenon.so.0 lib/triplet/tenon/libtvm_ffi.so lib/triplet/tenon/libtvm_runtime.so lib/triplet/tenon/relax.so \
		lib/triplet/tenon/opencl.so lib/triplet/pkgconfig/tenon.pc
}

has_headers()
{
	(cd "$TENON_SOURCE" && find include/tenon -name "*.h") > "$scratch/headers"
	has $(cat "$scratch/headers")
}

has_completions()
{
	has share/bash-completion/completions/tenon share/zsh/site-functions/_tenon \
		share/fish/vendor_completions.d/tenon.fish
}

has_rules()
{
	has share/udev/rules.d/60-tenon.rules share/sysusers.d/tenon.conf
}

has_units()
{
	has share/systemd/tenon-rpc.socket && grep -q '^ExecStart=/opt/x/bin/tenon rpc serve ' \
		"$root/opt/x/share/systemd/tenon-rpc.service"
}

pkg()
{
	PKG_CONFIG_PATH=$root/opt/x/lib/triplet/pkgconfig PKG_CONFIG_SYSROOT_DIR='' \
		pkg-config --define-variable=prefix="$root/opt/x" "$@"
}

embeds()
{
	cat > "$scratch/user.c" <<END
#include <stdio.h>
#include <tenon/tenon.h>
int main(void)
{
	struct tenon_device *device;
	puts(tenon_version());
	if (tenon_device_open("cpu", &device)) {
		puts(tenon_error_message());
		return 1;
	}
	tenon_object_unref(device);
	return 0;
}
END
	${CC:-cc} -std=c11 "$scratch/user.c" $(pkg --cflags tenon) -o "$scratch/user" "$@" &&
		LD_LIBRARY_PATH=$root/opt/x/lib/triplet "$scratch/user" > "$scratch/spoken" || { cat "$scratch/spoken"; return 1; }
	grep -q "^$(pkg --modversion tenon)$" "$scratch/spoken"
}

# embeds_beside EXAMPLE LIBRARY WORDS ARGUMENT...: an example builds with a library beside libtenon, and runs until it says so
embeds_beside()
{
	example=$1 library=$2 words=$3
	shift 3
	${CC:-cc} -std=c11 "examples/$example.c" $(pkg --cflags --libs "$library") -o "$scratch/$example" || return
	LD_LIBRARY_PATH=$root/opt/x/lib/triplet "$scratch/$example" "$@" > "$scratch/spoken" 2>&1
	cat "$scratch/spoken"
	grep -q "$words" "$scratch/spoken"
}

is_stripped()
{
	if readelf -S "$1" | grep -q '\.debug_info'; then
		return 1
	fi
}

it "what is built can be copied" copy_build "$folder"
it "install succeeds" make_in_copy O="$folder" $where testconfig install
it "it writes only below the folders it was told" only_declared_folders
it "the command, the headers and the libraries are there" has_files
it "so is every header" has_headers
it "so are the completions of bash, zsh and fish" has_completions
it "so are the rules for device nodes, when asked for" has_rules
it "so are the units of systemd, which name the command where it is" has_units
if command -v scdoc >/dev/null 2>&1; then
	it "so is the manual page" has share/man/man1/tenon.1
	it "and one of each command" has share/man/man1/tenon-run.1 share/man/man1/tenon-rpc.1
	it "and one of each header" has share/man/man3/tenon_model.h.3 share/man/man3/tenon_backend_backend.h.3
fi
it "the installed command runs" "$root/opt/x/bin/tenon" --version
lists_a_device()
{
	"$root/opt/x/bin/tenon" devices > "$scratch/found" 2>&1
	cat "$scratch/found"
	grep -q '^cpu:0' "$scratch/found"
}

it "and finds its library and a backend that is a plug-in" lists_a_device
it "nothing is stripped unasked" not is_stripped "$root/opt/x/lib/triplet/libtenon.so"
if command -v pkg-config >/dev/null 2>&1; then
	it "a program builds with the shared library and runs" embeds $(pkg --libs tenon)
	it "a program builds with the static library and runs" embeds \
		"$root/opt/x/lib/triplet/libtenon.a" -pthread -ldl -lm
	it "a program builds with the library that links modules" embeds_beside link tenon-link 'nowhere' "$scratch/out.so" /nowhere.c
	it "a program builds with the library of language models" embeds_beside chat tenon-llm 'nowhere: ' /nowhere
	it "a program builds with the library of servers" embeds_beside board tenon-rpc 'nowhere' unix:/nowhere/board
	it "a program builds with the library of language models by HTTP" embeds_beside serve tenon-serve 'nowhere: ' /nowhere
	it "the .pc file is relative to its prefix" grep -q '^libdir=${exec_prefix}/lib/triplet$' \
		"$root/opt/x/lib/triplet/pkgconfig/tenon.pc"
fi
# the commands alone, in a configuration without that library
leaves_out_what_has_no_library()
{
	make_in_copy O="$folder" $where CONFIG_LLM_SERVE= -n install > "$scratch/commands" 2>&1 || { tail "$scratch/commands"; return 1; }
	grep -q 'include/tenon/rpc\.h' "$scratch/commands" && not grep -e 'tenon[/_]serve\.h' -e 'examples/serve' "$scratch/commands"
}
it "a header and its page are not installed without their library" leaves_out_what_has_no_library
it "installing again changes nothing" make_in_copy O="$folder" $where install
# the files that have the prefix, of some hundreds
compiles_few_files()
{
	make_in_copy V=1 O="$folder" DESTDIR="$scratch/usr" prefix=/usr install > "$scratch/commands" 2>&1 ||
		{ tail "$scratch/commands"; return 1; }
	compiled=$(grep -c -e ' -c -o ' "$scratch/commands")
	echo "$compiled files"
	[ "$compiled" -lt 15 ] && [ "$(strings "$scratch/usr/usr/lib/libtenon.so.0" | grep -c '^/usr/lib/tenon')" -gt 0 ] &&
		! readelf -d "$scratch/usr/usr/lib/tenon/cpu.so" | grep RUNPATH
}
it "another prefix compiles a few files" compiles_few_files
it "and the first one again" make_in_copy O="$folder" $where all
it "a file that is missing in the source ends the install" not make_in_copy O="$folder" $where \
	headers="$scratch/none.h" install
if command -v riscv64-unknown-elf-gcc >/dev/null 2>&1; then
	it "firmware can be built" make_in_copy O="$folder" $where firmware
	it "what was built is installed too" make_in_copy O="$folder" $where install
	it "it is there" has lib/triplet/tenon/firmware/mortise-rv64.elf
fi
it "uninstall succeeds" make_in_copy O="$folder" $where uninstall
it "it leaves no file behind" test -z "$(list)"
it "install-strip succeeds" make_in_copy O="$folder" $where install-strip
it "and strips the library" is_stripped "$root/opt/x/lib/triplet/libtenon.so"
it "the stripped command runs" "$root/opt/x/bin/tenon" --version
finish
