#!/bin/sh
# SPDX-License-Identifier: MIT
#
# MetaSchedule of Apache TVM from PyPI, unchanged, measures candidates with our tracker and server: its own allocation of
# arguments, its default artifacts, its evaluation.

. tests/build/tap.sh
. tests/build/server.sh
. tests/build/tvm.sh

needs_x86_64 "TVM's package is"
needs_tvm REMOTE LINK DSO TVM_FFI_COMPAT RELAX_VM
"$python" -c 'import psutil, cloudpickle, tornado' 2> "$scratch/log" || skip "TVM's runner needs psutil, cloudpickle and tornado in $python"
command -v cc > /dev/null || skip "the server links objects with cc"

"$TENON_COMMAND" rpc tracker --listen 127.0.0.1:0 2> "$scratch/tracker" &
tracker=$!
server=
trap 'kill $tracker $server 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
port_of "$scratch/tracker" $tracker || { echo "not ok 1 - the tracker listens"; echo 1..1; exit 1; }
tracker_port=$port
"$TENON_COMMAND" rpc serve --listen 127.0.0.1:0 --key board --folder "$scratch" --tracker "127.0.0.1:$tracker_port" 2> "$scratch/log" &
server=$!
port_of "$scratch/log" $server || { echo "not ok 1 - the server listens"; echo 1..1; exit 1; }

it "the runner of MetaSchedule measures two candidates" timeout 900 "$python" tests/remote/tuning.py "$tracker_port"
finish
