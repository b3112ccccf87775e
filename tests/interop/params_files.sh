#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random files that the packages safetensors, gguf and numpy of PyPI write, as tenon params reads them, and the other way.
# TENON_PARAMS_PYTHON is a Python that has them.

for python in "${TENON_PARAMS_PYTHON:-}" "${TENON_BUILD:-build}/compile/venv/bin/python" \
	"${TENON_VENVS:-${TENON_BUILD:-build}/interop-venvs}/0.27/bin/python" python3; do
	[ -n "$python" ] && "$python" -c 'import gguf, numpy, safetensors' 2>/dev/null &&
		exec "$python" tests/interop/params_files.py "$TENON_COMMAND" "$TMPDIR"
done
echo "there is no Python with gguf, numpy and safetensors: pip install gguf safetensors"
exit 77
