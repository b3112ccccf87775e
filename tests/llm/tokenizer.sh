#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Our tokenizer beside Hugging Face's, from PyPI

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "Hugging Face's tokenizers are for this machine"
for option in LLM_TOKENIZER ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=y" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
encode=$TENON_BUILD/tests/llm/encode
[ -x "$encode" ] || skip "$encode is not built"
. tests/llm/clients.sh

"$python" tests/llm/tokenizer.py "$encode" "$scratch/tokenizers"
