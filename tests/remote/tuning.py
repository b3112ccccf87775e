# SPDX-License-Identifier: MIT
"""Lets MetaSchedule's runner measure candidates on the board of a tracker: tuning.py PORT"""

import sys

import tvm
from tvm import te
from tvm.s_tir.meta_schedule.arg_info import TensorInfo
from tvm.s_tir.meta_schedule.builder.local_builder import default_build, default_export
from tvm.s_tir.meta_schedule.runner import EvaluatorConfig, RPCConfig, RPCRunner, RunnerInput

N = 64


def candidate():
    """A product of matrices as the default artifact. The local builder itself fails in TVM 0.27: it cannot pickle modules."""
    a = te.placeholder((N, N), name="a")
    b = te.placeholder((N, N), name="b")
    k = te.reduce_axis((0, N), name="k")
    c = te.compute((N, N), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    function = te.create_prim_func([a, b, c]).with_attr("global_symbol", "main")
    return default_export(default_build(tvm.IRModule({"main": function}), tvm.target.Target("llvm"), None))


def main():
    path = candidate()
    assert path.endswith(".tar"), path
    runner = RPCRunner(
        RPCConfig("127.0.0.1", int(sys.argv[1]), "board", session_timeout_sec=600),
        EvaluatorConfig(number=2, repeat=2, min_repeat_ms=0, enable_cpu_cache_flush=False),
    )
    info = [TensorInfo("float32", (N, N))] * 3
    for future in runner.run([RunnerInput(path, "cpu", info)] * 2):
        result = future.result()
        assert result.error_msg is None, result.error_msg
        assert len(result.run_secs) == 2 and all(float(s) > 0 for s in result.run_secs)


if __name__ == "__main__":
    main()
