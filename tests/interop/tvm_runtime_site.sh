# SPDX-License-Identifier: MIT
#
# Read after tvm_ffi_site.sh: the Python package tvm on our libtvm_runtime.so

grep -qs '^CONFIG_TVM_DROPIN=y' "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_TVM_DROPIN"
(cd / && "$python" -c 'import importlib.util as u; assert u.find_spec("tvm")' 2>/dev/null) ||
	skip "the Python package tvm is not installed: scripts/interop-generate --venv-only 0.27"
libraries=$(dirname "$library")

# with_runtime COMMAND...
with_runtime()
{
	with_ours env TVM_USE_RUNTIME_LIB=1 TVM_LIBRARY_PATH="$libraries" "$@"
}
