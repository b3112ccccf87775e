#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Samplers beside those of TVM from PyPI: the same numbers to both.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "TVM is for this machine"
for option in RELAX_VM LANGUAGE_MODELS ERROR_CONTEXT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only 0.27 installs TVM"
sample=$TENON_BUILD/tests/llm/sample
[ -x "$sample" ] || skip "$sample is not built"

"$python" tests/llm/sample.py "$sample" --seed "${SEED:-1}"
