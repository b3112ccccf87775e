#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The room of remoteproc, and mortise over it, on Debian's kernel for arm64 in a guest: its driver pru_rproc loads firmware into a
# core of TI's PRU subsystem, starts it, stops it and sees it crash. QEMU has no model of that core: the registers are
# RAM of the guest (pruss.dts), and remoteproc_core.c plays the core and runs mortise in memory that the guest finds as a BAR.
# TENON_GUEST_KERNEL_ARM64 names a folder with boot/vmlinuz-* and lib/modules; scripts/check --full brings one.

. tests/build/tap.sh
need qemu-system-aarch64 cpio dtc aarch64-linux-gnu-gcc
[ -z "${EMULATOR:-}" ] || skip "the model of the core runs on this machine, not in an emulator"

kernel=
for folder in "${TENON_GUEST_KERNEL_ARM64:-}" "$TENON_BUILD/guest-kernel-arm64"; do
	for file in "$folder"/boot/vmlinuz-*-arm64; do
		modules=$folder/lib/modules/${file##*/vmlinuz-}/kernel
		[ ! -r "$file" ] || [ -n "$kernel" ] || kernel=$file
	done
	[ -z "$kernel" ] || break
done
[ -n "$kernel" ] || skip "no kernel for arm64: scripts/check --full downloads one, or set TENON_GUEST_KERNEL_ARM64"
[ -r "$modules/drivers/remoteproc/pru_rproc.ko" ] || skip "$kernel has no driver pru_rproc; that of Debian's backports does"

flags='-std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -iquote . -DCONFIG_ERROR_MESSAGES=1'

build()
{
	aarch64-linux-gnu-gcc $flags -I"$TENON_BUILD/include" -static -DCONFIG_DEVICE_MORTISE=1 -DCONFIG_MORTISE_BOARDS=1 \
		-o "$scratch/root/init" tests/driver/remoteproc_guest.c driver/syscall/*.c driver/uio/*.c driver/remoteproc/*.c \
		driver/shm/*.c driver/ring/*.c driver/vfio/*.c driver/fastrpc/*.c driver/dmabuf/*.c driver/board/*.c firmware/sim/*.c \
		firmware/core/*.c lib/buffer.c lib/fence_fd.c lib/error.c lib/library_path.c -pthread &&
	$CC $flags -DCONFIG_DEVICE_MORTISE=1 -o "$scratch/core" tests/driver/remoteproc_core.c firmware/sim/*.c firmware/core/*.c \
		lib/fence_fd.c lib/error.c -pthread
}

make_image()
{
	for module in uio/uio uio/uio_pci_generic soc/ti/pruss remoteproc/pru_rproc; do
		cp "$modules/drivers/$module.ko" "$scratch/root/" || return
	done
	(cd "$scratch/root" && find . | cpio --quiet -o -H newc -R 0:0) > "$scratch/image"
}

machine="-M virt,memory-backend=ram -cpu cortex-a57 -m 256 -accel tcg -nodefaults -no-user-config -display none"

# QEMU's own tree of the machine, with the core added
make_tree()
{
	qemu-system-aarch64 -M virt,dumpdtb="$scratch/virt.dtb" -cpu cortex-a57 -m 256 -display none > "$scratch/said" 2>&1 &&
		dtc -q -I dtb -O dts "$scratch/virt.dtb" > "$scratch/all.dts" &&
		cat tests/driver/pruss.dts >> "$scratch/all.dts" &&
		dtc -q -I dts -O dtb -o "$scratch/all.dtb" "$scratch/all.dts"
}

run_guest()
{
	truncate -s 256M "$scratch/ram" && truncate -s 16M "$scratch/window" && mkfifo "$scratch/leash" || return
	exec 9<> "$scratch/leash"
	"$scratch/core" "$scratch/ram" "$scratch/window" < "$scratch/leash" 9>&- &
	core=$!
	timeout -k 5 600 qemu-system-aarch64 $machine -no-reboot -serial "file:$scratch/console" -dtb "$scratch/all.dtb" \
		-object "memory-backend-file,id=ram,share=on,mem-path=$scratch/ram,size=256M" \
		-object "memory-backend-file,id=window,share=on,mem-path=$scratch/window,size=16M" \
		-device ivshmem-plain,memdev=window -kernel "$kernel" -initrd "$scratch/image" \
		-append "console=ttyAMA0 quiet loglevel=1 panic=-1" < /dev/null 9>&-
	status=$?
	# the end of its standard input ends it
	exec 9>&-
	wait $core
	return $status
}

mkdir -p "$scratch/root"
: > "$scratch/console"
{ build && make_image && make_tree && run_guest; } > "$scratch/log" 2>&1
status=$?
tr -d '\r' < "$scratch/console" | grep -E '^(1\.\.|ok |not ok |#)'
if [ $status -ne 0 ] || ! grep -q '^1\.\.' "$scratch/console"; then
	grep -q '^ok' "$scratch/console" || echo "1..1"
	echo "not ok 1 - the guest runs (status $status)"
	cat "$scratch/log" "$scratch/console" | tr -d '\r' | tail -n 40 | sed 's/^/# /'
	exit 1
fi
! grep -q '^not ok' "$scratch/console"
