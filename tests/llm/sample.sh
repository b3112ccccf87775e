#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Samplers beside those of TVM from PyPI: the same numbers to both.

. tests/build/tap.sh
. tests/build/tvm.sh

needs_tvm RELAX_VM LANGUAGE_MODELS ERROR_MESSAGES
sample=$TENON_BUILD/tests/llm/sample
[ -x "$sample" ] || skip "$sample is not built"

"$python" tests/llm/sample.py "$sample" --seed "${SEED:-1}"
