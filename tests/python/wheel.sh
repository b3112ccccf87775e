#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A wheel by packaging/python/wheels: it is small, installs in an environment of its own, and runs a module. The one for aarch64 runs
# under qemu-user, where TENON_WHEEL_AARCH64 names the root of a Debian for arm64 with Python 3.12 or later: what
# "debootstrap --foreign --arch=arm64 --include=python3 trixie ROOT" unpacks will do. Of the one for musl and aarch64 the library alone runs, in
# a program in C, as Debian has no Python for musl: TENON_WHEEL_MUSL names what "dpkg-deb -x" unpacks of its package musl for arm64.

. tests/build/tap.sh
[ -z "${EMULATOR:-}${SAN:-}" ] || skip "a wheel is built by zig alone"
[ "$(uname -m)" = x86_64 ] || skip "the modules of the tests are for x86-64"

# a command that is there, of those given: each may be several words
first()
{
	for found; do
		$found >/dev/null 2>&1 && return
	done
	return 1
}

first "${ZIG:-zig} version" "python3 -m ziglang version" || skip "zig is not installed (pip install ziglang); ZIG names it"
export ZIG="${found% version}"
newer='import sys, venv, sysconfig, os
sys.exit(sys.version_info < (3, 12) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
PYTHON=
for python in ${TENON_WHEEL_PYTHON:-python3 python3.12 python3.13 python3.14}; do
	"$python" -c "$newer" 2>/dev/null && PYTHON=$python && break
done
[ "$PYTHON" ] || skip "CPython 3.12 or later with its headers is not installed; TENON_WHEEL_PYTHON names it"
export PYTHON

# build_wheel PLATFORM
build_wheel()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u SUITE -u NIGHTLY -u CC -u CFLAGS JOBS="$((${TENON_JOBS:-1} + 1))" \
		packaging/python/wheels "$scratch/wheels" "$1"
}

it "a wheel is built" build_wheel manylinux_2_28_x86_64
wheel=$(echo "$scratch"/wheels/*.whl)
smaller_than()
{
	[ "$(wc -c < "$wheel")" -lt "$1" ]
}
it "it is smaller than 2 MB" smaller_than 2000000
installs()
{
	"$PYTHON" -m venv "$scratch/venv" && "$scratch/venv/bin/python" -m pip install --quiet --no-index "$wheel"
}
it "pip installs it" installs
cat > "$scratch/vecadd.py" <<'END'
import sys, tenon
assert tenon.__file__.startswith(sys.prefix), tenon.__file__
module = tenon.load(sys.argv[1])
a, c = tenon.tensor([1.5] * 128), tenon.empty(128)
module.vecadd(a, a, c)
assert c.tolist() == [3.0] * 128
END
it "a module runs" "$scratch/venv/bin/python" -I "$scratch/vecadd.py" tests/interop/data/tvm-0.27.0.post1/host_vecadd/lib.so
cat > "$scratch/link.py" <<'END'
import sys, tenon
assert tenon.inspect(sys.argv[1])["modules"][0]["kind"] == "library"
assert tenon.verify(sys.argv[1])["faults"] == 0
unpacked = tenon.unpack(sys.argv[1], sys.argv[2] + "/parts")
tenon.link([f"{sys.argv[2]}/parts/{unpacked['manifest']}"], sys.argv[2] + "/again.so")
assert tenon.load(sys.argv[2] + "/again.so").functions == ["main", "vecadd"]
END
it "a module is inspected, verified, taken apart and linked again" "$scratch/venv/bin/python" -I "$scratch/link.py" \
	tests/interop/data/tvm-0.27.0.post1/host_vecadd/lib.so "$scratch"
it "the licence of what is linked in is there" sh -c '[ -s "$1"/lib/python*/site-packages/tenon-*.dist-info/LICENSE.cJSON ]' sh "$scratch/venv"
# also examples, and a command for the server of the suite "remote"
all_suites()
{
	"$scratch/venv/bin/python" tests/python/run.py calls sharing tensors models awaiting queues remote linking language processes stub documents > "$scratch/tap" &&
		! grep -q '^not ok' "$scratch/tap" || { cat "$scratch/tap"; return 1; }
}
[ -e "$TENON_BUILD/tests/python/takes.so" ] && it "all suites pass with this Python" all_suites
it "the libraries need no newer C library than the name says" \
	sh -c '! readelf -VW "$1"/lib/python*/site-packages/tenon/*.so* | grep -o "GLIBC_2\.[0-9]*" | grep -Eq "2\.(29|[3-9][0-9])"' sh "$scratch/venv"

# ---- aarch64

emulated()
{
	qemu-aarch64 -L "$TENON_WHEEL_AARCH64" -E PYTHONPATH="$scratch/aarch64" -E TENON_BUILD="$scratch/aarch64" \
		-E PYTHONDONTWRITEBYTECODE=1 "$python_aarch64" "$@"
}

# the suites that need no module of a file, and calls of a module that zig compiles
unpacked_for_aarch64()
{
	"$PYTHON" -m zipfile -e "$scratch"/wheels/*_aarch64.whl "$scratch/aarch64" && mkdir -p "$scratch/aarch64/tests/python" &&
		$ZIG cc -target aarch64-linux-gnu -shared -fPIC -O1 -Iinclude tests/python/takes.c -o "$scratch/aarch64/tests/python/takes.so"
}

python_aarch64=$(find "${TENON_WHEEL_AARCH64:-$scratch}/usr/bin" -name 'python3.[1-9][0-9]' 2>/dev/null | sort | tail -n 1)
if [ -z "$python_aarch64" ]; then
	skip_case "the wheel for aarch64 runs" "TENON_WHEEL_AARCH64 names no root with Python for arm64"
elif ! command -v qemu-aarch64 >/dev/null; then
	skip_case "the wheel for aarch64 runs" "qemu-aarch64 is not installed (Debian: qemu-user)"
else
	it "a wheel for aarch64 is built" build_wheel manylinux_2_28_aarch64
	it "it is unpacked, and a module compiled" unpacked_for_aarch64
	it "a module for aarch64 runs" emulated -c '
import os, tenon
module = tenon.load(os.environ["TENON_BUILD"] + "/tests/python/takes.so")
assert module.take(1, 2.5, "three", tenon.tensor([4])) == 4 and module.nothing() is None
assert module.lend(lambda lent: lent.copy_from(tenon.tensor([7.0, 8, 9, 10]))) == 7'
	it "tensors, queues, recordings and timelines work on aarch64" emulated tests/python/run.py tensors queues awaiting
fi

# ---- musl on aarch64

unpacked_for_musl()
{
	musl=$scratch/musl
	"$PYTHON" -m zipfile -e "$scratch"/wheels/*-musllinux_1_2_aarch64.whl "$musl" &&
		$ZIG cc -target aarch64-linux-musl -shared -fPIC -O1 -Iinclude tests/python/takes.c -o "$musl/takes.so" &&
		$ZIG cc -target aarch64-linux-musl -dynamic -O1 -Iinclude examples/call.c "$musl/tenon/libtenon.so.0" \
			-Wl,-rpath,"$musl/tenon" -o "$musl/call"
}

calls_on_musl()
{
	[ "$(qemu-aarch64 "$loader" "$scratch/musl/call" "$scratch/musl/takes.so" take)" = "0 0 0 ... 0" ] &&
		! qemu-aarch64 "$loader" "$scratch/musl/call" "$scratch/musl/takes.so" missing 2> "$scratch/log" && grep -q missing "$scratch/log"
}

loader=$(find "${TENON_WHEEL_MUSL:-$scratch/none}" -name ld-musl-aarch64.so.1 2>/dev/null | head -n 1)
if [ -z "$loader" ]; then
	skip_case "the library for musl on aarch64 runs" "TENON_WHEEL_MUSL names no folder with musl for arm64"
elif ! command -v qemu-aarch64 >/dev/null; then
	skip_case "the library for musl on aarch64 runs" "qemu-aarch64 is not installed (Debian: qemu-user)"
else
	it "a wheel for musl on aarch64 is built" build_wheel musllinux_1_2_aarch64
	it "it is unpacked, and a program linked with its library" unpacked_for_musl
	it "the program loads a module and calls a function" calls_on_musl
fi
finish
