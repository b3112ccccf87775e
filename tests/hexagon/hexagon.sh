# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by the scripts of this folder: is there what runs a core, and a command.

for option in DEVICE_MORTISE MORTISE_BOARDS DSO INSPECT TOOL; do
	grep -qs "^CONFIG_$option=" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
command -v qemu-hexagon > /dev/null || skip "qemu-hexagon is missing (Debian: qemu-user)"
[ -e "$TENON_FIRMWARE_PATH/mortise-hexagon.elf" ] || skip "no compiler made mortise-hexagon.elf (Debian: clang, lld)"

tenon()
{
	${EMULATOR:-} "$TENON_COMMAND" "$@"
}
