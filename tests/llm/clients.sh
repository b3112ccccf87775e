# SPDX-License-Identifier: MIT
#
# Read by the suites that use packages of PyPI: sets $python to an interpreter that has those of requirements.txt.
# TENON_LLM_PYTHON names one; else they are installed below the build folder, once.

python=${TENON_LLM_PYTHON:-$TENON_BUILD/llm-venv/bin/python}
if [ ! -x "$python" ]; then
	need python3
	venv=$TENON_BUILD/llm-venv.$$
	{ python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 \
		-r tests/llm/requirements.txt && rm -rf "$TENON_BUILD/llm-venv" && mv "$venv" "$TENON_BUILD/llm-venv"; } \
		> "$scratch/pip" 2>&1 || { rm -rf "$venv"; skip "the packages of tests/llm/requirements.txt cannot be installed: $(tail -n 1 "$scratch/pip")"; }
fi
