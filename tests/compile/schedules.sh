#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The loops of kernels that threads share: needs Python with TVM

for python in "${TENON_BUILD:-build}/compile/venv/bin/python" "${TENON_VENVS:-${TENON_BUILD:-build}/interop-venvs}/0.27/bin/python"; do
	"$python" -c 'import tvm.s_tir' 2>/dev/null && exec "$python" tests/compile/schedules_test.py
done
echo "there is no Python with TVM: tests/compile/prepare installs one"
exit 77
