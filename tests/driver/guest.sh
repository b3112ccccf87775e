#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The driver rooms on Debian's kernel in a guest that QEMU emulates: edu devices behind UIO and behind VFIO with an
# IOMMU, vgem and virtio-gpu behind DRM, managers in the framework for FPGAs. And mortise between two machines: the
# conformance suite of devices runs in the guest, over uio and vfio, and the firmware in a process outside, which shares
# the memory of an ivshmem device with it. A static program is the first of the guest's user space (tests/driver/guest/).
# TENON_GUEST_FIGURES=1 measures the transports too.

. tests/build/tap.sh
. tests/build/guest_kernel.sh
need qemu-system-x86_64 cpio objcopy

find_guest_kernel

build_program()
{
	$CC -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -static -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -iquote . \
		-DCONFIG_ERROR_MESSAGES=1 -DCONFIG_DEVICE_MORTISE=1 -o "$scratch/root/init" \
		tests/driver/guest/*.c tests/driver/card_buffer.c driver/syscall/*.c driver/uio/*.c driver/vfio/*.c driver/dmabuf/*.c \
		driver/drm/drm.c driver/drm/drm_buffer.c driver/fpga/fpga.c \
		driver/fpga/fpga_overlay.c driver/shm/*.c driver/board/uart.c driver/board/board.c driver/board/board_shm.c \
		driver/board/board_sim.c driver/board/board_uio.c driver/board/board_window.c firmware/sim/*.c firmware/core/*.c \
		lib/buffer.c lib/fence_fd.c lib/error.c -pthread
}

build_peer()
{
	$CC -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -static -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -iquote . \
		-DCONFIG_ERROR_MESSAGES=1 -DCONFIG_DEVICE_MORTISE=1 -o "$scratch/peer" \
		tests/driver/ivshmem_peer.c firmware/sim/*.c firmware/core/*.c lib/fence_fd.c lib/error.c -pthread
}

# Programs of the build with the shared libraries that they need, and the suite's kernels. A build that has none of them
# (CONFIG_DEVICES=n), or is for sanitizers, which need more memory than the guest has, goes without; the guest then skips
# them by name.
add_programs()
{
	[ -z "${SAN:-}" ] || return 0
	mkdir -p "$scratch/root/programs/device/host/tests/cts"
	for program in tests/cts/mortise_uio_backend tests/cts/mortise_vfio_backend tests/driver/prime_test \
		tests/hil/ring_bench tenon libtenon.so.0; do
		[ -x "$TENON_BUILD/$program" ] || continue
		add_program "$TENON_BUILD/$program" programs || return
	done
	kernels=$TENON_BUILD/device/host/tests/cts/mortise_kernels.elf
	[ ! -r "$kernels" ] || cp "$kernels" "$scratch/root/programs/device/host/tests/cts/"
}

# Debian's kernel has no framework for FPGAs: it is built here as a module, and a driver for it. The kernel's headers lie where
# they were unpacked, so the makefile that names them below /usr/src is passed over. Without them the guest gets the reason.
build_fpga()
{
	sources=${kernel_folder%/}/usr/src
	headers=$sources/linux-headers-$release
	makefile=$sources/linux-headers-${release%-amd64}-common/Makefile
	framework=$sources/linux-source-$(echo "$release" | cut -d . -f 1,2)/drivers/fpga/fpga-mgr.c
	without=$scratch/root/modules/no_fpga
	if [ ! -r "$headers/Module.symvers" ] || [ ! -r "$makefile" ] || [ ! -r "$framework" ]; then
		echo "no headers or no source of kernel $release: scripts/check --full brings them" > "$without"
	elif ! grep -q '^# CONFIG_FPGA is not set' "$headers/.config"; then
		echo "kernel $release has a framework for FPGAs of its own" > "$without"
	elif ! command -v x86_64-linux-gnu-gcc-12 > /dev/null; then
		echo "no gcc-12, which Debian's kernels are built with" > "$without"
	fi
	[ ! -e "$without" ] || return 0
	mkdir "$scratch/fpga" && cp "$framework" tests/driver/module/tenon_fpga.c "$scratch/fpga/" || return
	echo 'obj-m := fpga-mgr.o tenon_fpga.o' > "$scratch/fpga/Kbuild"
	env -i PATH="$PATH" make -s -C "$headers" -f "$makefile" M="$scratch/fpga" CONFIG_DEBUG_INFO_BTF_MODULES= modules || return
	for module in fpga-mgr tenon_fpga; do
		objcopy --strip-debug "$scratch/fpga/$module.ko" "$scratch/root/modules/$module.ko" || return
		echo "$module.ko" >> "$scratch/root/modules/list"
	done
}

# Add a module to the list, what it needs first. A module that this kernel has built in, or lacks, has no file.
add_module()
{
	grep -qx "$1.ko" "$scratch/root/modules/list" && return
	file=$(find "$modules" -name "$1.ko" -o -name "$(echo "$1" | tr _ -).ko" | head -n 1)
	[ -n "$file" ] || return 0
	for needed in $(objcopy -O binary -j .modinfo "$file" /dev/stdout | tr '\0,' '\n ' | sed -n 's/^depends=//p'); do
		(add_module "$needed")
	done
	cp "$file" "$scratch/root/modules/$1.ko" && echo "$1.ko" >> "$scratch/root/modules/list"
}

make_image()
{
	for module in uio_pci_generic vfio_iommu_type1 vfio-pci vgem virtio_pci virtio-gpu; do
		add_module "$module"
	done
	(cd "$scratch/root" && find . | cpio --quiet -o -H newc) > "$scratch/image"
}

# start_peer NAME: a process that is the other side of an ivshmem device; it ends with the pipe of its standard input
start_peer()
{
	"$scratch/peer" "$scratch/$1" < "$scratch/leash" &
	for wait in $(seq 600); do
		[ ! -S "$scratch/$1" ] || return 0
		sleep 0.1
	done
	return 1
}

# The console is for the kernel; results come by the second serial port.
run_guest()
{
	mkfifo "$scratch/leash" || return 1
	exec 9<> "$scratch/leash"
	start_peer first && start_peer second || return 1
	timeout -k 5 900 qemu-system-x86_64 -M q35 -accel tcg -cpu qemu64 -m 256 -nodefaults -no-user-config -display none \
		-no-reboot -device intel-iommu -device edu,addr=04.0 -device edu,addr=05.0 -device virtio-gpu-pci,addr=06.0 \
		-chardev "socket,id=first,path=$scratch/first" -device ivshmem-doorbell,addr=07.0,chardev=first,vectors=1 \
		-chardev "socket,id=second,path=$scratch/second" -device ivshmem-doorbell,addr=08.0,chardev=second,vectors=1 \
		-serial "file:$scratch/console" -serial "file:$scratch/results" -kernel "$kernel" -initrd "$scratch/image" \
		-append "console=ttyS0 quiet intel_iommu=on iommu=pt no_timer_check panic=-1 ${TENON_GUEST_FIGURES:+figures}" < /dev/null 9>&-
}

mkdir -p "$scratch/root/modules"
: > "$scratch/root/modules/list"
: > "$scratch/results"
build_program > "$scratch/said" 2>&1 && build_peer >> "$scratch/said" 2>&1 && add_programs >> "$scratch/said" 2>&1 &&
	build_fpga >> "$scratch/said" 2>&1 && make_image >> "$scratch/said" 2>&1 && run_guest >> "$scratch/said" 2>&1
status=$?
tr -d '\r' < "$scratch/results" | grep -E '^(1\.\.|ok |not ok |#)'
if [ $status -ne 0 ] || ! grep -q '^1\.\.' "$scratch/results"; then
	[ -s "$scratch/results" ] || echo "1..1"
	echo "not ok 1 - the guest runs (status $status)"
	cat "$scratch/said" "$scratch/console" 2>/dev/null | tr -d '\r' | tail -n 40 | sed 's/^/# /'
	exit 1
fi
! grep -q '^not ok' "$scratch/results"
