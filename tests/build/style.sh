#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sources look as clang-format 14 writes them: other versions break some lines elsewhere

. tests/build/tap.sh
need clang-format xargs
clang-format --version | grep -q 'version 14\.' || skip "$(clang-format --version) is not version 14"

formatted()
{
	find "$@" -name '*.[ch]' -print0 | xargs -0 -n 64 clang-format --dry-run -Werror
}

for folder in compile devices driver examples firmware hil include lib link llm rpc runtime tests tools; do
	it "$folder/ is formatted" formatted "$folder"
done
finish
