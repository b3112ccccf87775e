#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Small language models that tenon-compile compiles for devices: on OpenCL they reply as on the processor

. tests/build/tap.sh
. tests/compile/compile.sh
needs_chat

# TVM takes CC for the name of a program, and here it may be several words
unset CC
"$python" tests/compile/language_devices_test.py "$TENON_COMMAND"
exit
