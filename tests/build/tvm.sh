# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by scripts that run TVM from PyPI beside ours.

# needs_tvm OPTION...: set python, the one that has TVM, or skip; the options are those of the configuration
needs_tvm()
{
	[ -z "${EMULATOR:-}" ] || skip "TVM is for this machine"
	for option in "$@"; do
		grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
	done
	python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
	[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only 0.27 installs TVM"
	# TVM takes CC for the name of a program, and here it may be several words
	unset CC
}

# needs_x86_64 WHAT: what was recorded or compiled is for this machine alone
needs_x86_64()
{
	case $(uname -m) in
	x86_64) ;;
	*) skip "$1 for x86-64" ;;
	esac
}
