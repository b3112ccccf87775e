# SPDX-License-Identifier: MIT
"""Schedules for devices with threads of their own: dlight's, which come with TVM."""

import tvm
from tvm import tirx
from tvm.s_tir import dlight

from .kernels import Vectors

# what the layout of weights needs to know of a device
THREADS = Vectors(1, 1, threads=True)


def rules_of_networks():
    """dlight's, in the order in which they are tried. The last takes any kernel, one element in a thread.

    Without GeneralReduction, which gives the 9 products of a depthwise convolution to 256 threads.
    """
    gpu = dlight.gpu
    return gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.Fallback()


def rules_of_language_models():
    """GeneralReduction divides the normalisation of one long row among the threads of a group."""
    gpu = dlight.gpu
    return gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback()


def schedule_kernel(function, target, rules):
    """A kernel with a schedule, and the rule that it is by; None if no rule takes it."""
    for rule in rules:
        schedule = rule.apply(function, target, False)
        if schedule is not None:
            return schedule.mod["main"].with_attr("tirx.is_scheduled", True), type(rule).__name__
    return None


def schedule_module(module, target, rules=None):
    """Schedule the kernels of a module, by the rules of networks if none are given; the rule of each."""
    found, rules = {}, rules or rules_of_networks()
    with target:
        for variable, function in list(module.functions.items()):
            if not isinstance(function, tirx.PrimFunc) or (function.attrs and "tirx.is_scheduled" in function.attrs):
                continue
            scheduled = schedule_kernel(function, target, rules)
            if scheduled:
                module[variable], found[variable.name_hint] = scheduled
    return module, found


def context_of(target):
    """How TVM builds for a target: for CUDA, parts of the program are recorded once, and repeated in each later run."""
    return recording() if target.kind.name == "cuda" else tvm.transform.PassContext()


def recording():
    """Parts of the program are recorded, by Tenon on any device."""
    return tvm.transform.PassContext(config={"relax.backend.use_cuda_graph": True})
