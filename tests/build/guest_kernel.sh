# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by scripts that boot Debian's kernel for x86-64 in a guest

# Set kernel, its release, the folder kernel_folder that it was unpacked to and that of its modules; skip without one.
# TENON_GUEST_KERNEL names a folder with boot/vmlinuz-* and lib/modules; scripts/check --full brings one to the build folder.
find_guest_kernel()
{
	case $($CC -dumpmachine) in
	x86_64*)	;;
	*)		skip "the guest is an x86-64 machine, and the compiler is for another" ;;
	esac
	for kernel_folder in "${TENON_GUEST_KERNEL:-}" "$TENON_BUILD/guest-kernel" /; do
		[ -n "$kernel_folder" ] || continue
		for kernel in "${kernel_folder%/}"/boot/vmlinuz-*-amd64; do
			release=${kernel##*/vmlinuz-}
			modules=${kernel_folder%/}/lib/modules/$release/kernel
			[ ! -r "$kernel" ] || [ ! -d "$modules" ] || return 0
		done
	done
	skip "no Debian kernel: scripts/check --full downloads one, or set TENON_GUEST_KERNEL"
}

# Copy a program and the shared libraries that it needs, but libtenon, to a folder of the guest's root, $scratch/root.
add_program()
{
	mkdir -p "$scratch/root/$2" && objcopy --strip-debug "$1" "$scratch/root/$2/${1##*/}" || return
	ldd "$1" | grep -v libtenon | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$scratch/root/${library%/*}"
		cp -L "$library" "$scratch/root$library" || return
	done
}
