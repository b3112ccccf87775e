#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fetch.sh FOLDER: fetch what tests/torq/torq.sh looks for: the wheels of Synaptics' compiler and model into FOLDER/site, and
# where the system's C library is older than 2.38, those packages of Debian 13 that they want into FOLDER/libraries.

set -e
folder=${1:-build/torq}
mkdir -p "$folder/wheels" "$folder/site"
for wheel in torq-compiler==2.3.0 torq-runtime==2.3.0; do
	python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.12 --abi cp312 --implementation cp \
		--platform manylinux_2_39_x86_64 -d "$folder/wheels" "$wheel"
done
for wheel in "$folder"/wheels/*.whl; do
	python3 -m zipfile -e "$wheel" "$folder/site"
done
chmod +x "$folder/site/iree/compiler/_mlir_libs/torq-compile" "$folder/site/torq/_runtime_libs/torq-run-module"

version=$(getconf GNU_LIBC_VERSION | sed 's/glibc 2\.//')
[ "$version" -lt 38 ] || exit 0
# where this system's own packages come from, unless DEBIAN_MIRROR names another place
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n '1s|/$||p')}
curl -sSf "$mirror/dists/trixie/main/binary-amd64/Packages.xz" | xz -dc > "$folder/packages"
mkdir -p "$folder/libraries" "$folder/unpacked"
for name in libc6 libgcc-s1 libstdc++6; do
	file=$(sed -n "/^Package: $name\$/,/^\$/s/^Filename: //p" "$folder/packages")
	curl -sSf "$mirror/$file" -o "$folder/package.deb"
	dpkg -x "$folder/package.deb" "$folder/unpacked"
done
cp -a "$folder/unpacked/usr/lib/x86_64-linux-gnu/." "$folder/libraries"
