# SPDX-License-Identifier: MIT
"""From TVM's module of a network to an executable."""

from dataclasses import dataclass, field

from .errors import CompileError, first_line
from .targets import TARGETS, tvm_target


@dataclass
class Report:
    """What was done to a network, for --explain."""

    rules: dict = field(default_factory=dict)  # how often each was applied
    graph: object = None  # after the rules; None if the network was left as it is
    kernels: dict = field(default_factory=dict)  # of each kernel: which schedule it has
    left: str | None = None  # why the network was left to TVM's default schedules


def rewritten(module, target, report):
    """The module in channels-last order, with schedules for a processor."""
    import tvm
    from tvm import relax

    from . import integer_rules  # noqa: F401, its rules
    from .layouts import module_of
    from .processors import vectors_of
    from .relax_graph import graph_of
    from .rules import rewrite
    from .schedules import schedule_module

    module = relax.transform.FoldConstant()(module)
    report.graph = graph_of(module)
    report.rules = rewrite(report.graph)
    vectors = vectors_of(target)
    others = {variable: function for variable, function in module.functions.items() if variable.name_hint != "main"}
    module, _ = module_of(report.graph, tvm.IRModule(others), vectors)
    module = relax.transform.FastMathTransform()(module)
    with target:
        module = fused(module)
    module, report.kernels = schedule_module(module, vectors)
    return module


def fused(module):
    """The module with a function for each kernel, as TVM's pipeline "zero" makes them, but it also fuses tables."""
    from tvm import relax

    from .layouts import ELEMENTWISE

    module = relax.transform.AnnotateTIROpPattern()(relax.transform.LegalizeOps()(module))
    for variable, function in module.functions.items():
        if function.attrs and ELEMENTWISE in function.attrs:
            module[variable] = function.with_attr("op_pattern", 0)
    for change in (relax.transform.FoldConstant, relax.transform.FuseOps, relax.transform.FuseTIR):
        module = change()(module)
    return module


def with_default_schedules(module, target, device):
    from tvm import relax
    from tvm.s_tir import dlight

    from .kept_weights import restored

    module = restored(module)
    with target:
        module = relax.get_pipeline("zero")(module)
        if device:
            rules = (dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(), dlight.gpu.Fallback())
            module = dlight.ApplyDefaultSchedule(*rules)(module)
    return module


def build(module, name, processor, progress, rewrite=True):
    """TVM's executable of a module, and the report."""
    target, device, report = tvm_target(name, processor), TARGETS[name].device, Report()
    if device:
        report.left = f"rewriting is for processors, not for {device}"
    elif not rewrite:
        report.left = "--as-it-is"
    else:
        progress("rewriting and scheduling")
        try:
            return generate(rewritten(module, target, report), target, progress), report
        except Exception as error:  # whatever a pass refuses, TVM's own pipeline may take
            report.left, report.graph = first_line(error), None
    progress("scheduling")
    try:
        return generate(with_default_schedules(module, target, device), target, progress), report
    except Exception as error:
        raise CompileError(f"TVM does not compile it: {first_line(error)}") from error


def generate(module, target, progress):
    from tvm import relax

    progress("generating code")
    return relax.build(module, target=target)
