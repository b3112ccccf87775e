# SPDX-License-Identifier: MIT
"""From TVM's module of a network to an executable."""

from dataclasses import dataclass, field

from . import small_core
from .errors import CompileError, NotCompiled, first_line
from .targets import TARGETS, key_of, processors_of, tvm_target
from .tuning import TuningError


@dataclass
class Report:
    """What was done to a network, for --explain."""

    rules: dict = field(default_factory=dict)  # how often each was applied
    library: str | None = None  # that computes regions of the graph
    library_rules: dict = field(default_factory=dict)  # how often each was applied that puts nodes there
    library_choices: dict = field(default_factory=dict)  # costs of products, with it and without (costs.py): how many
    library_inexact: int = 0  # products of 8 bits that the library would not add exactly on each of the processors
    graph: object = None  # after the rules; None if the network was left as it is
    kernels: dict = field(default_factory=dict)  # of each kernel: which schedule it has
    left: str | None = None  # why the network was left to TVM's default schedules


@dataclass
class Built:
    """TVM's executable, and code of its kernels for better processors, by their keys, the best first."""

    executable: object
    others: dict = field(default_factory=dict)
    kernels: dict = field(default_factory=dict)  # functions for a small core, by its names for them
    parameters: dict = field(default_factory=dict)  # arrays that are kept apart, by the names of inputs behind the others
    regions: list = field(default_factory=list)  # nodes that oneDNN computes


def rewritten_graph(module, report, wide=False):
    """Make the report's graph: that of the module, rewritten. Returns the module's other functions.

    With "wide", numbers in 16 bits are computed in float32.
    """
    from tvm import relax

    from . import integer_rules  # noqa: F401, its rules
    from .relax_graph import graph_of
    from .rules import rewrite
    from .wide_numbers import rewritten_in_float32

    module = relax.transform.FoldConstant()(module)
    graph = graph_of(module)
    report.graph, report.rules = rewritten_in_float32(graph) if wide else (graph, rewrite(graph))
    return {variable: function for variable, function in module.functions.items() if variable.name_hint != "main"}


def rewritten_for_device(module, target, report):
    """The module in channels-last order, with schedules for a device."""
    import tvm

    from .devices import THREADS, schedule_module
    from .layouts import module_of

    others = rewritten_graph(module, report)
    module, _ = module_of(report.graph, tvm.IRModule(others), THREADS)
    with target:
        module = fused(module)
    module, report.kernels = schedule_module(module, target)
    return module


def rewritten(module, targets, report, apart=None, tuning=None, library=None):
    """The module in channels-last order, with schedules for the first target; how its kernels are made for each other
    one; parameters.

    All have the same layout of weights: that of the widest vectors. Arrays of more than "apart" elements are parameters.
    With "tuning", tiles are those that it knows or finds for the last target. With "library", oneDNN computes regions.
    """
    import tvm
    from tvm import relax

    from .costs import Choice
    from .dot_products import adds_bytes
    from .half_numbers import with_wide_sums
    from .layouts import module_of
    from .onednn import make_regions
    from .pairs import pairs_of
    from .processors import vectors_of, widest
    from .schedules import schedule_module

    others = rewritten_graph(module, report, wide=True)
    vectors = [vectors_of(target) for target in targets]
    shared = widest(vectors)
    if library:
        choice = Choice(shared, pairs_of(report.graph, shared), all(adds_bytes(one.dots) for one in vectors))
        report.library, report.library_rules = library, make_regions(report.graph, choice)
        report.library_choices, report.library_inexact = choice.made, choice.inexact
    if tuning:
        # once to learn which kernels there are
        tuning.begin(targets[-1])
        module_of(report.graph, tvm.IRModule(others), shared, apart, tuning.tuned)
        tuning.run(targets[-1], shared)
    module, parameters = module_of(report.graph, tvm.IRModule(others), shared, apart, tuning.tuned if tuning else None)
    module = relax.transform.FastMathTransform()(with_wide_sums(module))
    with targets[0]:
        module = fused(module)
    kernels = {name: function for name, function in module.functions.items() if not isinstance(function, relax.Function)}
    module, report.kernels = schedule_module(module, vectors[0], vectors[0].floats == shared.floats)

    def kernels_for(one):
        return lambda: schedule_module(tvm.IRModule(kernels), one, one.floats == shared.floats)[0]

    others = [(target, kernels_for(one)) for target, one in zip(targets[1:], vectors[1:])]
    return module, others, parameters


def fused(module):
    """The module with a function for each kernel, as TVM's pipeline "zero" makes them, but it also fuses pairs of convolutions."""
    from tvm import relax

    from .extremes import EXTREMES
    from .layouts import ELEMENTWISE

    module = relax.transform.AnnotateTIROpPattern()(relax.transform.LegalizeOps(EXTREMES)(module))
    for variable, function in module.functions.items():
        if function.attrs and ELEMENTWISE in function.attrs:
            module[variable] = function.with_attr("op_pattern", 0)
    for change in (relax.transform.FoldConstant, relax.transform.FuseOps, relax.transform.FuseTIR):
        module = change()(module)
    return module


def with_default_schedules(module, target, device):
    from tvm import relax

    from .extremes import EXTREMES
    from .half_numbers import with_wide_sums
    from .kept_weights import restored

    module = restored(module)
    if not device:  # schedules of devices know products as TVM's importers write them
        module = with_wide_sums(module)
    with target:
        module = relax.get_pipeline("zero")(relax.transform.LegalizeOps(EXTREMES)(module))
    if device:
        from .devices import schedule_module

        module, _ = schedule_module(module, target)
    return module


def build(module, name, processor, progress, left=None, apart=None, tuning=None, library=None):
    """What TVM built of a module, and the report; with "apart", "tuning" and "library" as of rewritten().

    With "left", a reason, the module is not rewritten.
    """
    processors = processors_of(name, processor)
    targets, device, report = [tvm_target(name, one) for one in processors], TARGETS[name].device, Report()
    target, core = targets[0], TARGETS[name].core
    if left:
        report.left = left
    else:
        progress("rewriting and scheduling")
        try:
            if device:
                return generate(rewritten_for_device(module, target, report), target, progress), report
            scheduled, others, parameters = rewritten(module, targets, report, apart, tuning, library)
            built = generate(scheduled, target, progress, others, core)
            built.parameters = parameters
            built.regions = [node for node in report.graph.nodes() if node.op == "region"]
            return built, report
        except TuningError:
            raise
        except Exception as error:  # whatever a pass refuses, TVM's own pipeline may take
            if device:  # nobody rewrites for one who did not ask for it
                raise CompileError(f"--rewrite: {first_line(error)}; leave it out") from error
            report.left, report.graph, report.rules = first_line(error), None, {}
    progress("scheduling")
    try:
        return generate(with_default_schedules(module, target, device), target, progress, core=core), report
    except Exception as error:
        raise NotCompiled(f"TVM does not compile it: {first_line(error)}") from error


def generate(module, target, progress, others=(), core=None):
    """What TVM builds of a module, with other processors' kernels: each a target, and a function that makes them.

    With a core, what the processor runs, and the kernels for the core.
    """
    from tvm import relax

    from .object_code import ObjectCode

    progress("generating code")
    if core:
        module, kernels = small_core.split(module)
        return Built(relax.build(module, target=tvm_target("cpu", None)), kernels=kernels)
    if target.kind.name != "llvm":
        from .devices import context_of

        with context_of(target):
            return Built(relax.build(module, target=target))
    codes = {key_of(one): ObjectCode(make_kernels, key_of(one), one) for one, make_kernels in reversed(others)}
    try:
        return Built(relax.build(module, target=target), codes)
    except Exception:
        for code in codes.values():
            code.stop()
        raise
