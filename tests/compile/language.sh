#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Small language models that tenon-compile compiles: what they say is what NumPy says

. tests/build/tap.sh
. tests/compile/compile.sh
needs_chat

# TVM takes CC for the name of a program, and here it may be several words
unset CC
"$python" tests/compile/language_test.py "$TENON_COMMAND"
exit
