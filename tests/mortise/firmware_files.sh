#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Where firmware is searched, and what tenon doctor says of it and of emulators. The emulator is a script, the firmware a
# file with the word that tells its version: neither is started.

. tests/build/tap.sh

for option in DEVICE_MORTISE MORTISE_BOARDS TOOL; do
	grep -qs "^CONFIG_$option=" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done

mkdir "$scratch/bin" "$scratch/first" "$scratch/second"
printf '#!/bin/sh\n[ "$*" = --version ] && echo "QEMU emulator version 9.8.7 (here)"\n' > "$scratch/bin/qemu-system-riscv64"
chmod +x "$scratch/bin/qemu-system-riscv64"
# ABI 1.2, machine, bits, version 3.4.5
printf 'padding.mortise image\n\0\0\2\0\1\0\363\0\0\0\100\0\0\0\5\4\3\0' > "$scratch/second/mortise-rv64.elf"

# doctor FOLDERS [OPTION...]
doctor()
{
	folders=$1
	shift
	PATH=$scratch/bin:/usr/bin:/bin TENON_FIRMWARE_PATH=$folders TENON_BACKENDS=mortise \
		${EMULATOR:-} "$TENON_COMMAND" doctor "$@" > "$scratch/words" 2>&1
	cat "$scratch/words"
}

# says PATTERN, in the last answer
says()
{
	grep -q -e "$1" "$scratch/words" || { echo "no $1"; return 1; }
}

describes()
{
	doctor "$scratch/first:$scratch/second" &&
		says "rv64: $scratch/bin/qemu-system-riscv64, version 9.8.7" &&
		says "rv64: $scratch/second/mortise-rv64.elf, 40 bytes, version 3.4.5, ABI 1.2"
}

hashes()
{
	doctor "$scratch/second" && says "XXH128 $(xxhsum -H2 "$scratch/second/mortise-rv64.elf" | cut -d ' ' -f 1)"
}

prefers_the_first()
{
	printf 'no word here' > "$scratch/first/mortise-rv64.elf"
	doctor "$scratch/first:$scratch/second"
	rm "$scratch/first/mortise-rv64.elf"
	says "rv64: $scratch/first/mortise-rv64.elf, 12 bytes" && not says "3\.4\.5"
}

names_files()
{
	mv "$scratch/second/mortise-rv64.elf" "$scratch/kept.elf"
	# what the build or an installation has hides nothing here: their names come after
	doctor "$scratch/first:$scratch/second"
	mv "$scratch/kept.elf" "$scratch/second/mortise-rv64.elf"
	says "rv64: .*/firmware/mortise-rv64.elf, [0-9]* bytes" && return
	says "$scratch/first/mortise-rv64.elf" && says "$scratch/second/mortise-rv64.elf" &&
		says "/tenon/firmware/mortise-rv64.elf" && says TENON_FIRMWARE_PATH
}

# files of sysfs have the size of a page, and few bytes
refuses_a_short_file()
{
	[ -r /sys/kernel/mm/transparent_hugepage/enabled ] || return 0
	ln -s /sys/kernel/mm/transparent_hugepage/enabled "$scratch/first/mortise-rv64.elf"
	doctor "$scratch/first"
	rm "$scratch/first/mortise-rv64.elf"
	says "rv64: $scratch/first/mortise-rv64.elf: cannot be read: it has fewer bytes than its size says"
}

answers_in_json()
{
	doctor "$scratch/second" --json && says '"details":' && says '"rv64: .*version 9.8.7"'
}

survives_a_mute_emulator()
{
	printf '#!/bin/sh\nexit 1\n' > "$scratch/bin/qemu-system-riscv64"
	doctor "$scratch/second" && says "rv64: $scratch/bin/qemu-system-riscv64$"
}

it "doctor describes emulator and firmware, which is in the second folder" describes
if command -v xxhsum >/dev/null 2>&1 && grep -qs '^CONFIG_KERNEL_CACHE=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "the hash is that of xxhsum" hashes
fi
it "of two files the one in the first folder is used" prefers_the_first
it "a file with fewer bytes than its size says is refused" refuses_a_short_file
it "where there is none, each file that was tried is named" names_files
if grep -qs '^CONFIG_JSON=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "JSON has the same lines" answers_in_json
fi
it "an emulator that does not tell its version is no failure" survives_a_mute_emulator
finish
