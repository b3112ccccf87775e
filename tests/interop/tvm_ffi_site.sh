# SPDX-License-Identifier: MIT
#
# Read after tap.sh: a copy of the Python package tvm_ffi whose library is ours, in $scratch/site

grep -qs '^CONFIG_TVM_DROPIN=y' "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_TVM_DROPIN"
[ -z "${SAN:-}" ] || skip "the library needs the sanitizer's runtime, which Python lacks"
python=${TENON_TVM_FFI_PYTHON:-${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python}
# in another folder than the package's, whose modules would hide those of the standard library
package=$(cd / && "$python" -c 'import tvm_ffi, os; print(os.path.dirname(tvm_ffi.__file__))' 2>/dev/null)
[ -n "$package" ] || skip "the Python package tvm_ffi is not installed: scripts/interop-generate --venv-only 0.27"
library=$TENON_BUILD/compat/libtvm_ffi.so
case $library in
/*) ;;
*) library=$PWD/$library ;;
esac

mkdir -p "$scratch/site"
cp -R "$package" "$scratch/site/tvm_ffi"
# metadata of the package, which it looks up when it is imported
for info in "$package"/../apache_tvm_ffi-*.dist-info; do
	cp -R "$info" "$scratch/site/"
done
rm -f "$scratch/site/tvm_ffi/lib/libtvm_ffi.so"
ln -s "$library" "$scratch/site/tvm_ffi/lib/libtvm_ffi.so"

# with_ours COMMAND...
with_ours()
{
	PYTHONPATH="$scratch/site" PYTHONDONTWRITEBYTECODE=1 "$@"
}
