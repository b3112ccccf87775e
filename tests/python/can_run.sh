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
	[ -n "$reason" ] || PYTHONPATH="$TENON_BUILD/python" "$1" -c 'import tenon' 2>/dev/null ||
		reason="$1 is not the Python that the package was built for"
	[ -z "$reason" ] || { echo "$reason"; exit 77; }
	export PYTHONDONTWRITEBYTECODE=1
}
