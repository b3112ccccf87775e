#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon chat with a small model that TVM compiled

. tests/build/tap.sh

for option in LLM JSON TVM_FFI_COMPAT ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
# the model is a library for x86-64 and glibc
case $(uname -m)-${EMULATOR:-} in
x86_64-) ;;
*) skip "the recorded model is for x86-64" ;;
esac
model=tests/llm/data/bytes
tenon=$TENON_COMMAND

# the numbers of a list in a file of JSON, at its N-th place
list()
{
	sed -n "s/.*\"$1\":[[:space:]]*\[\([^]]*\)\].*/\1/p" "$2" | tr -d ' '
}

# the prompt of the first case, and its reply
sed 's/{"prompt"/\n&/g' $model/expected.json | sed -n 2p > "$scratch/case"
prompt=$(list prompt "$scratch/case")
reply=$(list reply "$scratch/case")

replies_like_tvm()
{
	"$tenon" chat $model --tokens "$prompt" --temperature 0 --max-tokens 24 --ignore-end --quiet > "$scratch/out" &&
		[ "$(cat "$scratch/out")" = "$reply" ]
}

json_has_the_same()
{
	"$tenon" chat $model --tokens "$prompt" --temperature 0 --max-tokens 24 --ignore-end --json > "$scratch/out" &&
		[ "$(list tokens "$scratch/out")" = "$reply" ] && [ "$(wc -l < "$scratch/out")" = 1 ] &&
		grep -q '"end":.*"length"' "$scratch/out" && grep -q '"tokens_per_second":' "$scratch/out" &&
		grep -q '"first_token_ns":' "$scratch/out" && grep -q '"process":' "$scratch/out"
}

figures_are_printed()
{
	"$tenon" chat $model --message Hello --max-tokens 5 > "$scratch/out" 2> "$scratch/err" &&
		grep -q 'tokens/s, first after .*prompt .* tokens.*memory: weights .*cache .*process' "$scratch/err"
}

a_conversation_goes_on()
{
	printf 'One message that is long enough\nAnother\n' |
		"$tenon" chat $model --max-tokens 20 --ignore-end --temperature 0 > "$scratch/out" 2> "$scratch/err" &&
		[ "$(wc -l < "$scratch/err")" = 2 ] && sed -n 2p "$scratch/err" | grep -q '([1-9][0-9]* shared)'
}

messages_share_a_batch()
{
	"$tenon" chat $model --message Hello --message 'Good morning' --message Hello --max-tokens 8 --ignore-end \
		--temperature 0 --json > "$scratch/out" &&
		[ "$(grep -c '"text":' "$scratch/out")" = 3 ] &&
		[ "$(sed 's/.*"tokens"://; s/].*//' "$scratch/out" | sort | uniq | wc -l)" = 2 ]
}

# fails_with CODE WORDS ARGUMENT...
fails_with()
{
	code=$1 words=$2
	shift 2
	"$tenon" chat "$@" > "$scratch/out" 2> "$scratch/err" < /dev/null
	[ $? = "$code" ] || return
	grep -q -e "$words" "$scratch/err"
}

# without FILE...: a copy of the model that lacks these files
without()
{
	rm -rf "$scratch/copy"
	mkdir "$scratch/copy" && cp $model/* "$scratch/copy" && for file in "$@"; do rm "$scratch/copy/$file"; done
}

missing_weights_are_named_as_today()
{
	without tensor-cache.json && fails_with 3 'tensor-cache.json: No such file' "$scratch/copy" --message x &&
		! grep -q ndarray-cache "$scratch/err"
}

the_older_list_of_weights_is_read()
{
	without tensor-cache.json && cp $model/tensor-cache.json "$scratch/copy/ndarray-cache.json" &&
		"$tenon" chat "$scratch/copy" --message x --max-tokens 1
}

a_missing_template_is_reported()
{
	without mlc-chat-config.json && "$tenon" chat "$scratch/copy" --message x --max-tokens 1 2> "$scratch/err" > "$scratch/out" &&
		grep -q 'mlc-chat-config.json' "$scratch/err" &&
		"$tenon" chat "$scratch/copy" --raw --message x --max-tokens 1 2> "$scratch/err" > "$scratch/out" &&
		! grep -q 'mlc-chat-config.json' "$scratch/err"
}

# refuses_template FROM TO WORDS: with another configuration
refuses_template()
{
	without && sed "s/$1/$2/" $model/mlc-chat-config.json > "$scratch/copy/mlc-chat-config.json" &&
		fails_with 4 "$3" "$scratch/copy" --message x
}

unknown_members_are_refused()
{
	refuses_template '"model_type"' '"top_k": 4, "model_type"' top_k &&
		refuses_template '"name": "bytes"' '"name": "bytes", "messages": [["user", "hi"]]' messages &&
		refuses_template '"name": "bytes"' '"use_function_calling": true' use_function_calling &&
		refuses_template '"conv_template": {' '"conv_template": "llama-2", "x": {' conv_template &&
		without && sed 's/"name": "bytes"/"messages": [], "use_function_calling": false/' $model/mlc-chat-config.json 		> "$scratch/copy/mlc-chat-config.json" && "$tenon" chat "$scratch/copy" --message x --max-tokens 1
}

a_trace_has_the_operators_of_the_processor()
{
	grep -qs '^CONFIG_TRACE=[ym]' "$TENON_BUILD/include/config/auto.conf" || return 0
	"$tenon" chat $model --message x --max-tokens 2 --trace "$scratch/trace.json" && grep -q '"operator"' "$scratch/trace.json" &&
		grep -q 'matmul' "$scratch/trace.json"
}

it "tokens are those of TVM's runtime" replies_like_tvm
it "--json has the same, with speed and memory" json_has_the_same
it "speed, time to the first token and memory are printed" figures_are_printed
it "lines of standard input are one conversation, whose beginning is computed once" a_conversation_goes_on
it "several messages are answered in one batch" messages_share_a_batch
it "a missing model is exit 3" fails_with 3 'No such file' "$scratch/none" --message x
it "a missing tensor-cache.json is named, not the file that older versions wrote" missing_weights_are_named_as_today
it "the list of weights that older versions wrote is read" the_older_list_of_weights_is_read
it "a model without a template of conversations says so" a_missing_template_is_reported
it "members of the configuration that change prompts and are not known are refused" unknown_members_are_refused
it "--trace has the operators that the processor runs" a_trace_has_the_operators_of_the_processor
it "a folder without a library says what to do" fails_with 3 'mlc_llm compile' tests/llm --message x
it "a library that is no language model is refused" fails_with 4 'no _metadata\|no model of the Relax' \
	tests/interop/data/tvm-0.27.0.post1/model_mlp/model.so --message x
if grep -qs '^CONFIG_DEVICE_OPENCL=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "a library for a device that is opened on the processor says which device" fails_with 4 \
		'compiled for opencl.*--device opencl' tests/interop/data/tvm-0.27.0.post1/model_mlp_opencl/model.so --message x
fi
if "$tenon" devices 2> "$scratch/err" | grep -q '^mortise:0'; then
	it "a library for the processor that is opened on a device says what to do" fails_with 4 \
		'compiled for the processor.*no kernels for mortise.*without --device' $model --message x --device mortise:0
fi
it "a prompt that is too long is refused" fails_with 5 'room for 256' $model --message "$(printf '%0300d' 1)"
it "a token that does not exist is refused" fails_with 5 'token 999' $model --tokens 1,999
it "a wrong option is exit 2" fails_with 2 'temperature' $model --temperature hot
it "two models are exit 2" fails_with 2 '' $model $model
if [ -x "$TENON_BUILD/tenon-serve" ]; then
	it "tenon-serve explains its options before it opens the file of a key" \
		"$TENON_BUILD/tenon-serve" --key-file "$scratch/none" --help
	# a folder's name forges no line and reaches no terminal
	names_it_on_one_line()
	{
		"$TENON_BUILD/tenon-serve" "$(printf 'none\ntenon-serve: forged\033[31m')" 2> "$scratch/err"
		[ $? -eq 3 ] && [ "$(grep -c '^tenon-serve: ' "$scratch/err")" -eq 1 ] && ! grep -q "$(printf '\033')" "$scratch/err"
	}
	it "and names a folder that is not there in one line" names_it_on_one_line
fi
finish
