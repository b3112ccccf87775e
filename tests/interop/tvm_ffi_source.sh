# SPDX-License-Identifier: MIT
#
# Read after tvm_ffi_site.sh: the source of tvm-ffi at the version of the package, in the folder $source.
# TENON_TVM_FFI_SOURCE names one that is there; otherwise pip gets it from PyPI, once, and it is kept beside the
# virtual environments. It is not committed.

version=$(cd / && "$python" -c 'from importlib.metadata import version; print(version("apache-tvm-ffi"))') || exit
source=${TENON_TVM_FFI_SOURCE:-${TENON_VENVS:-$TENON_BUILD/interop-venvs}/tvm-ffi-$version}

fetch_source()
{
	mkdir -p "$scratch/fetched" "$(dirname "$source")" &&
		"$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary apache-tvm-ffi \
			--dest "$scratch/fetched" "apache-tvm-ffi==$version" &&
		tar -xzf "$scratch/fetched/apache_tvm_ffi-$version.tar.gz" -C "$scratch/fetched" &&
		mv "$scratch/fetched/apache_tvm_ffi-$version" "$source.$$" || return
	mv -T "$source.$$" "$source" || rm -rf "$source.$$"
	[ -d "$source/tests" ]
}

if [ ! -d "$source/tests" ]; then
	[ -z "${TENON_TVM_FFI_SOURCE:-}" ] || skip "TENON_TVM_FFI_SOURCE names no source of tvm-ffi"
	fetch_source > "$scratch/fetch" 2>&1 || skip "no source of tvm-ffi $version: $(tail -n 1 "$scratch/fetch")"
fi
case $source in
/*) ;;
*) source=$PWD/$source ;;
esac
