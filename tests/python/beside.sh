#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The package beside numpy and tvm_ffi of PyPI, a million calls of eight threads, and what setuptools build of the folder

. tests/build/tap.sh
. tests/python/can_run.sh
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
can_run "$python"
export TENON_SOURCE TENON_BUILD

cases()
{
	PYTHONPATH="$TENON_BUILD/python" "$python" tests/python/run.py "$@" > "$scratch/tap" && ! grep -q '^not ok' "$scratch/tap" ||
		{ cat "$scratch/tap"; return 1; }
}

none_is_skipped()
{
	! grep 'SKIP.*not installed' "$scratch/tap"
}

# what pip does, without a wheel in between
setup_builds_it()
{
	mkdir "$scratch/tree" && cp -r python include "$scratch/tree" &&
		"$python" "$scratch/tree/python/setup.py" --quiet build --build-base "$scratch/objects" --build-lib "$scratch/site" &&
		(cd / && PYTHONPATH="$scratch/site" "$python" -c '
import tenon
assert tenon.__file__.startswith("'"$scratch"'"), tenon.__file__
assert tenon.tensor([1, 2]).tolist() == [1, 2]
for option, extension in ("LINK", "_link"), ("LLM", "_llm"):
    if option in tenon.configuration():
        assert __import__(f"tenon.{extension}")
') && [ -e "$scratch/site/tenon/py.typed" ] && [ -e "$scratch/site/tenon/__init__.pyi" ]
}

# pytest_counts WORDS OPTION...: runs plugged.py, whose last line has the words
pytest_counts()
{
	words=$1
	shift
	(cd "$scratch" && PYTHONPATH="$TENON_BUILD/python" "$python" -m pytest -p tenon.pytest_plugin -p no:cacheprovider -rs -q \
		"$TENON_SOURCE/tests/python/plugged.py" "$@") > "$scratch/pytest" 2>&1
	tail -n 1 "$scratch/pytest" | grep -q "$words" || { cat "$scratch/pytest"; return 1; }
}

says_what_differs()
{
	pytest_counts '1 failed' -k differs && grep -q '2 of 4 elements differ.*by 2 at (1, 1)' "$scratch/pytest" &&
		grep -q 'at (0, 1): 2.0, not 3.0' "$scratch/pytest" || { cat "$scratch/pytest"; return 1; }
}

skips_with_the_reason()
{
	pytest_counts '1 skipped' -k device --tenon-device null:7 && grep -q 'tenon-device null:7' "$scratch/pytest"
}

it "all cases pass beside numpy and tvm_ffi" cases calls tensors models awaiting remote linking language stub documents
it "numpy and tvm_ffi were there" none_is_skipped
it "a million calls leave nothing behind" cases many
it "setuptools build the package" setup_builds_it
if "$python" -c 'import pytest' 2>/dev/null; then
	it "pytest has the fixtures and the comparison" pytest_counts '2 passed' -k 'device or close'
	it "a comparison says what differs, and where" says_what_differs
	it "a test without its device is skipped with the reason" skips_with_the_reason
fi
finish
