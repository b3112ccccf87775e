#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon.ray on a cluster of several processes of this machine, with a worker that is killed. Needs Ray of PyPI:
# python3 -m venv FOLDER/ray && FOLDER/ray/bin/pip install "ray[data,serve]" numpy, with TENON_VENVS=FOLDER

. tests/build/tap.sh
. tests/python/can_run.sh
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/ray/bin/python
[ -x "$python" ] && "$python" -c 'import ray, numpy' 2>/dev/null ||
	{ echo "Ray is not installed: see tests/python/cluster.sh"; exit 77; }
can_run "$python"
export TENON_SOURCE TENON_BUILD PYTHONPATH="$TENON_BUILD/python"
# on a busy machine a process of Ray Serve needs more than five seconds to start, and those that have the least priority, as Ray
# gives them, do not start within minutes
export RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S=60 RAY_worker_niceness=0

cases()
{
	"$python" tests/python/run.py cluster > "$scratch/tap" 2>"$scratch/log" && ! grep -q '^not ok' "$scratch/tap" ||
		{ cat "$scratch/tap"; return 1; }
	[ "$(grep -c '^ok' "$scratch/tap")" = "$1" ]
}

example_runs()
{
	"$python" examples/python/cluster.py tests/interop/data/tvm-0.27.0.post1/model_mlp/model.so forward \
		> "$scratch/out" 2>"$scratch/log" && [ "$(grep -c '^[0-9]* \[' "$scratch/out")" = 100 ] ||
		{ cat "$scratch/out" "$scratch/log"; return 1; }
}

it "actors, datasets and deployments give what the model gives, and a killed actor loses nothing" cases 7
it "the example runs" example_runs
finish
