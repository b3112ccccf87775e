# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by the scripts of this folder; python is the one that has TVM.

# needs_python: set python, the one that has TVM and ONNX Runtime, or skip
needs_python()
{
	for python in "$TENON_BUILD/compile/venv/bin/python" "${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python"; do
		"$python" -c 'import onnx, onnxruntime, tvm' 2>/dev/null && return
	done
	skip "TVM and ONNX Runtime are not installed: tests/compile/prepare installs them"
}

# processors: what the default of x86-64 has code for, and this machine has; one_processor: v3 if it has that, for tests of
# other things, since code for all takes several times as long. Both are empty on other machines.
processors= one_processor=
if [ "$(uname -m)" = x86_64 ]; then
	processors=v2
	! grep -qs '^flags.* avx2 ' /proc/cpuinfo || ! grep -qs '^flags.* bmi2 ' /proc/cpuinfo || processors="v2 v3"
	one_processor=${processors##* }
	[ "$processors" = v2 ] || ! grep -qs '^flags.* avx512vl .* avx512_vnni ' /proc/cpuinfo || processors="$processors v4+avx512vnni"
fi

# with the compiler of this machine, not that of the tree, which may be for another one
compile()
{
	(unset CC; "$python" compile/tenon-compile "$@")
}

is_one_line()
{
	[ "$(wc -l < "$1")" -eq 1 ]
}

# refuses PATTERN ARGUMENT...: in one line
refuses()
{
	pattern=$1
	shift
	! compile "$@" > "$scratch/refused" 2>&1 && cat "$scratch/refused" && is_one_line "$scratch/refused" &&
		grep -q -- "$pattern" "$scratch/refused"
}

# printed_command_runs NETWORK MODULE OPTION...: what tenon-compile prints at its end can be typed into a shell. What it
# printed is kept.
printed_command_runs()
{
	network=$1 module=$2
	shift 2
	said=$(compile "$network" -o "$module" "$@" ${one_processor:+--processor "$one_processor"}) || return
	echo "$said" | tee "$scratch/printed"
	(
		tenon() { "$TENON_COMMAND" "$@"; }
		eval "${said#*: try }"
	)
}

# needs_chat: skip where tenon chat cannot run what is compiled; set python
needs_chat()
{
	for option in LLM JSON TVM_FFI_COMPAT ERROR_MESSAGES; do
		grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
	done
	[ -x "$TENON_COMMAND" ] && [ -z "${EMULATOR:-}" ] || skip "the command cannot run what the compiler makes"
	[ -z "${SAN:-}" ] || skip "the library is linked without the sanitizer"
	for python in "$TENON_BUILD/compile/venv/bin/python" "${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python"; do
		"$python" -c 'import jinja2, tvm' 2>/dev/null && return
	done
	skip "TVM and jinja2 are not installed: tests/compile/prepare installs them"
}

# needs_llama: set llama, a Python that has llama-cpp-python and gguf; false without one
needs_llama()
{
	for llama in "${TENON_LLAMA_PYTHON:-none}" "$TENON_BUILD/compile/llama/bin/python"; do
		"$llama" -c 'import gguf, llama_cpp' 2>/dev/null && return
	done
	return 1
}
