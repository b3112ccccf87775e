#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The target file that ships for QEMU: Debian's kernel boots in an emulated PC, a program and a script are copied over its
# serial line and run, a suite that crashes the kernel is told apart from one that fails.

. tests/board/hil.sh
need qemu-system-x86_64 cpio busybox
case $(uname -m) in
x86_64)	;;
*)	skip "the board and its busybox are for x86-64" ;;
esac
sh hil/qemu-image x86_64 "$scratch" > "$scratch/said" 2>&1 || skip "$(tail -n 1 "$scratch/said")"

suite script <<'END'
echo "1..2"
[ "$(cat /proc/1/comm)" = init ] && echo "ok 1 - this is the guest" || echo "not ok 1 - this is the guest"
echo "ok 2 - no device # SKIP none"
END
suite panics <<'END'
echo 1 > /proc/sys/kernel/sysrq
echo c > /proc/sysrq-trigger
END
cat > "$scratch/program.c" <<'END'
#include <stdio.h>
int main(void)
{
	puts("1..1\nok 1 - a program");
	return 0;
}
END

# A small program is copied sooner: a serial line is slow.
build_program()
{
	$(command -v musl-gcc || echo "$CC") -static -Os -s -o "$scratch/program" "$scratch/program.c"
}

runs()
{
	build_program && expect 0 --target hil/qemu-x86_64.toml --seed 3 "$scratch/script" "$scratch/program" &&
		says '^  ok 1 this is the guest' '^  ok 1 a program' '^# board kernel: Linux ' '^# resets: 0'
}

crashes()
{
	expect 1 --target hil/qemu-x86_64.toml "$scratch/panics" "$scratch/script" &&
		says '^# the suite breaks the board: in 2 attempts' '^  ok 1 this is the guest' '^# resets: 2'
}

it "suites run on the QEMU board" runs
it "a suite that crashes the kernel is to blame" crashes
finish
