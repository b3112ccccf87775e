#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The command and the client built with CONFIG_MBEDTLS: clients and servers that know the
# secret, and those that do not

. tests/build/tap.sh
. tests/build/inner_make.sh

[ -z "${EMULATOR:-}" ] || skip "needs a program for this machine"
need python3 openssl
echo '#include <mbedtls/ssl.h>' | ${CC:-cc} -E - > "$scratch/log" 2>&1 || skip "mbedtls/ssl.h is missing: install libmbedtls-dev"
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

build=$scratch/build
inner_make O="$build" defconfig > "$scratch/log" 2>&1 &&
	sed -i 's/.*CONFIG_MBEDTLS[ =].*/CONFIG_MBEDTLS=y/' "$build/.config" &&
	inner_make O="$build" CFLAGS=-O0 olddefconfig "$build/tenon" "$build/plugins/rpc.so" > "$scratch/log" 2>&1 || {
	sed 's/^/# /' "$scratch/log"
	echo "not ok 1 - the command builds"
	echo 1..1
	exit 1
}
mkdir "$scratch/farm"
timeout 600 python3 tests/remote/trust.py "$build/tenon" "$scratch/farm"
