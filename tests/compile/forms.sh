#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Operators that are replaced before TVM imports a network, one by one

for python in "${TENON_BUILD:-build}/compile/venv/bin/python" "${TENON_VENVS:-${TENON_BUILD:-build}/interop-venvs}/0.27/bin/python"; do
	"$python" -c 'import onnx, tvm' 2>/dev/null && exec "$python" tests/compile/forms_test.py
done
echo "TVM is not installed: tests/compile/prepare installs it"
exit 77
