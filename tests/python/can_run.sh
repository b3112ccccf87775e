# SPDX-License-Identifier: MIT
#
# Read by the scripts of this folder: whether the extension can be loaded here

# can_run PYTHON: end the suite as skipped, with the reason
can_run()
{
	reason=
	[ -z "${EMULATOR:-}" ] || reason="the package is for this machine's Python"
	[ -z "${SAN:-}" ] || reason="Python itself has no sanitizer"
	ls "$TENON_BUILD"/python/tenon/_core.*.so >/dev/null 2>&1 || reason="the headers of Python are not installed (Debian: python3-dev)"
	[ "$(uname -m)" = x86_64 ] || reason="the modules of the tests are for x86-64"
	for option in DSO TVM_FFI_COMPAT EXECUTORS DEVICES ERROR_MESSAGES; do
		grep -qs "^CONFIG_$option=y" "$TENON_BUILD/include/config/auto.conf" || reason="needs CONFIG_$option"
	done
	# by the name of the extension: one for this Python that cannot be imported must fail
	[ -n "$reason" ] || "$1" -c '
import os, sys, sysconfig, importlib.machinery
limited = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
suffixes = [s for s in importlib.machinery.EXTENSION_SUFFIXES if s != ".abi3.so" or limited]
sys.exit(not any(os.path.exists(f"{sys.argv[1]}/_core{suffix}") for suffix in suffixes))' "$TENON_BUILD/python/tenon" ||
		reason="$1 is not the Python that the package was built for"
	[ -z "$reason" ] || { echo "$reason"; exit 77; }
	export PYTHONDONTWRITEBYTECODE=1
}
