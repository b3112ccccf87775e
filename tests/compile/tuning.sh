#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon-compile --tune and --tuned: tiles are timed, here and over RPC, kept, and read again

. tests/build/tap.sh
. tests/compile/compile.sh
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
grep -qs "^CONFIG_REMOTE=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_REMOTE is off"
needs_python
unset CC
"$python" tests/compile/tuning_test.py "$TENON_COMMAND" "$scratch"
