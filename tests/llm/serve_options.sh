#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The command line of tenon-serve: what is refused, with which code and words, before anyone is served; and the file of its key

. tests/build/tap.sh

for option in LLM_SERVE JSON TVM_FFI_COMPAT ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
model=tests/llm/data/bytes
# it is opened before the server listens, and is a library for x86-64
case $(uname -m)-${EMULATOR:-} in
x86_64-) opens=y ;;
*) opens= ;;
esac

# ends CODE WORDS ARGUMENT...: tenon-serve ends with the code, and says the words
ends()
{
	code=$1
	words=$2
	shift 2
	timeout 60 ${EMULATOR:-} "$TENON_BUILD/tenon-serve" "$@" > "$scratch/said" 2>&1
	have=$?
	[ $have = "$code" ] && grep -qF -e "$words" "$scratch/said" && return
	echo "tenon-serve $*: exit $have, want $code and \"$words\" in:"
	cat "$scratch/said"
	return 1
}

tells_what_it_is()
{
	ends 0 "Usage: tenon-serve MODEL" --help && ends 0 "tenon-serve " --version
}

refuses_wrong_options()
{
	ends 2 "one MODEL is wanted" &&
		ends 2 "one MODEL is wanted" $model $model &&
		ends 2 'Try "tenon-serve --help"' --other $model &&
		ends 2 'Try "tenon-serve --help"' $model --port &&
		for wrong in "--port 65536" "--port x" "--port -1" "--port 1x" "--connections 0" "--requests 100001" \
			"--body-size 0" "--max-tokens 2147483648" "--cache-tokens 0" "--request-timeout 1000001"; do
			ends 2 "$wrong: a number from " $wrong $model || return
		done &&
		ends 2 "--port : a number from 0 to 65535 is wanted" $model --port ''
}

refuses_wrong_addresses()
{
	ends 4 "localhost is no numeric address" --host localhost $model &&
		ends 4 "cannot listen on 192.0.2.1 port 0" --host 192.0.2.1 --port 0 $model &&
		ends 4 "cannot listen on 2001:db8::1 port 0" --host 2001:db8::1 --port 0 $model
}

refuses_wrong_models()
{
	ends 3 "$scratch/none" "$scratch/none" &&
		ends 4 "nothing" --device nothing $model
}

refuses_wrong_weights()
{
	# nothing waits for a writer
	mkfifo "$scratch/weights"
	ends 3 "$scratch/none" --weights "$scratch/none" $model &&
		ends 3 "$scratch/weights: is not a regular file" --weights "$scratch/weights" $model
}

refuses_wrong_keys()
{
	printf '\nsecret\n' > "$scratch/empty"
	: > "$scratch/nothing"
	echo secret > "$scratch/open"
	mkfifo "$scratch/pipe"
	chmod 600 "$scratch/empty" "$scratch/nothing" "$scratch/pipe"
	chmod 644 "$scratch/open"
	ends 3 "$scratch/none" --key-file "$scratch/none" $model &&
		ends 3 "chmod 600 $scratch/open" --key-file "$scratch/open" $model &&
		ends 3 "no key can be read" --key-file "$scratch/nothing" $model &&
		ends 3 "is read from a file, and this is none" --key-file "$scratch/pipe" $model &&
		ends 2 "the key is empty" --key-file "$scratch/empty" $model
}

# the address is not this machine's, so the server ends after the warning
warns_of_backends()
{
	(export TENON_BACKENDS=other; ends 4 "no backend is called \"other\"" --host 192.0.2.1 --port 0 $model)
}

# it_opens SENTENCE COMMAND: a case whose model is opened
it_opens()
{
	if [ "$opens" ]; then
		it "$@"
	else
		skip_case "$1" "the recorded model is for x86-64"
	fi
}

it "tenon-serve tells what it is" tells_what_it_is
it "an option that is wrong is refused with the reason" refuses_wrong_options
it_opens "an address that is not this machine's is refused" refuses_wrong_addresses
it "a model or a device that is not there is refused" refuses_wrong_models
it_opens "weights that are not there are refused" refuses_wrong_weights
it "a key that others can read, that is empty or in a pipe is refused" refuses_wrong_keys
if grep -qs '^CONFIG_DEVICES=y' "$TENON_BUILD/include/config/auto.conf"; then
	it_opens "a backend that is chosen and not there is a warning" warns_of_backends
else
	skip_case "a backend that is chosen and not there is a warning" "CONFIG_DEVICES is off"
fi
finish
