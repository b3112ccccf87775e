#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The package for Python: calls, tensors, models, sessions, asyncio, linking, language models, processes; the stub; documents and examples.
# Needs no package of Python; cases that need numpy or tvm_ffi are skipped without them.

. tests/python/can_run.sh
can_run python3
exec env PYTHONPATH="$TENON_BUILD/python" python3 tests/python/run.py calls sharing tensors models awaiting queues remote linking language processes stub documents
