#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Cgroups of sessions on Debian's kernel, in a guest that QEMU emulates: this machine's may have no memory controller of
# version 2, or none that the tests may use. The guest has busybox and tests/remote/cgroup_guest_init, which has the cases.

. tests/build/tap.sh
. tests/build/guest_kernel.sh
need qemu-system-x86_64 cpio objcopy busybox setpriv
for option in REMOTE_CLIENT DSO DEVICE_CPU ERROR_MESSAGES; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
[ -z "${SAN:-}" ] || skip "programs for sanitizers need more memory than the guest has"
[ -z "${EMULATOR:-}" ] || skip "the programs are for another machine than the guest"
find_guest_kernel

make_image()
{
	# what the command opens to send a module
	for plugin in rpc describe; do
		plugin=$TENON_BUILD/plugins/$plugin.so
		[ ! -e "$plugin" ] || add_program "$plugin" programs/plugins || return
	done
	mkdir -p "$scratch/root/bin" && add_program "$TENON_COMMAND" programs &&
		add_program "$TENON_BUILD/libtenon.so.0" programs &&
		add_program "$TENON_BUILD/tests/remote/hostile.so" programs && add_program "$(command -v setpriv)" programs &&
		add_program "$(command -v busybox)" bin && ln -s busybox "$scratch/root/bin/sh" &&
		cp tests/build/tap.sh tests/build/server.sh "$scratch/root/" &&
		cp tests/remote/cgroup_guest_init "$scratch/root/init" && chmod +x "$scratch/root/init" &&
		(cd "$scratch/root" && find . | cpio --quiet -o -H newc -R 0:0) > "$scratch/image"
}

# The console is for the kernel; results come by the second serial port.
run_guest()
{
	timeout -k 5 600 qemu-system-x86_64 -M q35 -accel tcg -cpu qemu64 -m 512 -nodefaults -no-user-config -display none \
		-no-reboot -serial "file:$scratch/console" -serial "file:$scratch/results" -kernel "$kernel" \
		-initrd "$scratch/image" -append "console=ttyS0 quiet no_timer_check panic=-1" < /dev/null
}

: > "$scratch/results"
make_image > "$scratch/said" 2>&1 && run_guest >> "$scratch/said" 2>&1
status=$?
tr -d '\r' < "$scratch/results" | grep -E '^(1\.\.|ok |not ok |#)'
if [ $status -ne 0 ] || ! grep -q '^1\.\.' "$scratch/results"; then
	[ -s "$scratch/results" ] || echo "1..1"
	echo "not ok 1 - the guest runs (status $status)"
	cat "$scratch/said" "$scratch/console" 2>/dev/null | tr -d '\r' | tail -n 40 | sed 's/^/# /'
	exit 1
fi
! grep -q '^not ok' "$scratch/results"
