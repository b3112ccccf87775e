#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The unmodified Python package tvm on our libtvm_runtime.so: what it does without TVM's compiler

. tests/build/tap.sh
. tests/build/server.sh
. tests/interop/tvm_ffi_site.sh
. tests/interop/tvm_runtime_site.sh

script=$PWD/tests/interop/tvm_runtime_package.py
data=$PWD/tests/interop/data/tvm-0.27.0.post1

# each section is a process of its own
says()
{
	(cd "$scratch" && with_runtime timeout 120 "$python" "$script" "$@")
}

it "the package is imported with our libraries" says library "$libraries"
it "tensors are made, copied and viewed on every device" says tensors
it "devices have attributes and streams" says devices
it "parameters are saved and loaded, also those of TVM's own library" says params "$scratch/ours.params"
it "TVM's own library reads what was saved" \
	env -u PYTHONPATH TVM_USE_RUNTIME_LIB=1 "$python" "$script" read_params "$scratch/ours.params"
it "a static library is a module with names of functions" says static_library "$scratch"
it "so it is on TVM's own library" \
	env -u PYTHONPATH TVM_USE_RUNTIME_LIB=1 "$python" "$script" static_library "$scratch"
it "what does not work says why" says errors
if [ -e "$TENON_BUILD/libtenon-rpc.so.0" ]; then
	it "a server in Python and a session of this process are used" says served
	it "a server in a child process gets its packets by a function" says piped "$scratch"
else
	skip_case "servers in Python and a session of this process are used" "needs CONFIG_REMOTE"
fi
if [ "$(uname -m)" = x86_64 ]; then
	it "modules are loaded, called and timed" says modules "$data"
	it "the virtual machine of Relax runs, with inputs that are set before" says machine "$data"
	if grep -qs '^CONFIG_REMOTE=y' "$TENON_BUILD/include/config/auto.conf"; then
		"$TENON_COMMAND" rpc serve --listen 127.0.0.1:0 --key board --folder "$scratch" 2> "$scratch/log" &
		server=$!
		trap 'kill $server 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
		it "the server listens" port_of "$scratch/log" $server
		it "tensors, modules and the virtual machine are used on a server" says client "$port" "$data"
		it "a session ends with the last object of it" says sessions "$port"
	else
		skip_case "tensors, modules and the virtual machine are used on a server" "needs CONFIG_REMOTE"
	fi
else
	skip_case "modules are loaded, called and timed" "the modules are for x86-64"
fi
finish
