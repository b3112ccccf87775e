#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files in GGUF as tenon-compile reads them, and hostile ones: needs Python with numpy alone

for python in "${TENON_BUILD:-build}/compile/venv/bin/python" "${TENON_VENVS:-${TENON_BUILD:-build}/interop-venvs}/0.27/bin/python" python3; do
	"$python" -c 'import numpy' 2>/dev/null && exec "$python" tests/compile/gguf_test.py
done
echo "there is no Python with numpy: tests/compile/prepare installs one"
exit 77
