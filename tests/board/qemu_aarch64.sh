#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The target file that ships for a board with aarch64 that QEMU emulates, with a suite that the target file's own command
# cross-builds; and the same suite on this machine, in the emulator that "wrap" names.

. tests/board/hil.sh
need qemu-system-aarch64 cpio aarch64-linux-gnu-gcc

folder=${TENON_GUEST_KERNEL_ARM64:-$TENON_BUILD/guest-kernel-arm64}
ls "$folder"/boot/vmlinuz-*-arm64 > /dev/null 2>&1 ||
	skip "no kernel for arm64: scripts/check --full downloads one, or set TENON_GUEST_KERNEL_ARM64"
export TENON_GUEST_KERNEL="$folder"

# A program that says which machine runs it, and is so small that a serial line copies it soon: no C library.
cat > "$scratch/suite.c" <<'END'
static long call(long number, long a, const void *b, unsigned long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register const void *x1 __asm__("x1") = b;
	register unsigned long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

void _start(void)
{
	static const char text[] = "1..1\nok 1 - aarch64 runs it\n";

	call(64, 1, text, sizeof(text) - 1); /* write */
	call(93, 0, 0, 0);		     /* exit */
}
END

# target_with NAME: the tables [build] and [suite.cross], appended to standard input
target_with()
{
	rm -f "$scratch/suite"
	cat - > "$scratch/$1.toml" <<-END
		$(cat)

		[build]
		command = "echo cross >> $scratch/built; aarch64-linux-gnu-gcc -Os -s -static -nostdlib -ffreestanding -o $scratch/suite $scratch/suite.c"
		[suite.cross]
		file = "$scratch/suite"
	END
}

# the file that ships finds qemu-image beside it
on_the_board()
{
	cp hil/qemu-image "$scratch/" && target_with board < hil/qemu-aarch64.toml &&
		expect 0 --target "$scratch/board.toml" --seed 3 &&
		says '^  ok 1 aarch64 runs it' '^ok 2 cross' '^# board machine: aarch64' '^# resets: 0' &&
		[ "$(cat "$scratch/built")" = cross ]
}

a_build_that_fails()
{
	sed 's/suite\.c"$/missing.c"/' "$scratch/board.toml" > "$scratch/unbuilt.toml"
	expect 4 --target "$scratch/unbuilt.toml" && says '^ok 1 board # SKIP build: exit status 1'
}

in_an_emulator()
{
	target_with wrapped <<-END &&
		[board]
		name = "here"
		[reach]
		exec = "sh -c"
		directory = "$scratch/board"
		wrap = "qemu-aarch64 -L /usr/aarch64-linux-gnu"
	END
		expect 0 --target "$scratch/wrapped.toml" && says '^  ok 1 aarch64 runs it' '^ok 2 cross' &&
		sed '/^wrap/d' "$scratch/wrapped.toml" > "$scratch/bare.toml" &&
		expect 4 --target "$scratch/bare.toml" && says '# SKIP .* is a program for aarch64, the board is'
}

it "a suite that the target file cross-builds runs on the QEMU board" on_the_board
it "a build that fails" a_build_that_fails
if [ "$(uname -m)" != aarch64 ] && command -v qemu-aarch64 > /dev/null 2>&1; then
	it "it runs by \"wrap\" in an emulator, and is skipped without it" in_an_emulator
else
	skip_case "it runs by \"wrap\" in an emulator" "needs qemu-aarch64, and a machine that is none"
fi
finish
