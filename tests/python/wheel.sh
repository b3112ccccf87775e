#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A wheel by packaging/python/wheels: it is small, installs in an environment of its own, and runs a module

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

it "a wheel is built" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u SUITE -u NIGHTLY -u CC -u CFLAGS \
	JOBS="$((${TENON_JOBS:-1} + 1))" packaging/python/wheels "$scratch/wheels" manylinux_2_28_x86_64
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
it "the libraries need no newer C library than the name says" \
	sh -c '! readelf -VW "$1"/lib/python*/site-packages/tenon/*.so* | grep -o "GLIBC_2\.[0-9]*" | grep -Eq "2\.(29|[3-9][0-9])"' sh "$scratch/venv"
finish
