# SPDX-License-Identifier: MIT
"""Schedules of kernels: which loops threads share, what is a vector, the borders of depthwise convolutions, convolutions in
one kernel, channels that fill vectors; sums in 16 bits; what oneDNN is given. Needs TVM. Prints TAP."""

import sys
from pathlib import Path

import numpy
import tvm
from tvm import relax, te

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.costs import Choice, in_onednn  # noqa: E402
from tenon_compile.graph import Graph, Node, constant  # noqa: E402
from tenon_compile.half_numbers import with_wide_sums  # noqa: E402
from tenon_compile.kernels import Vectors, depthwise_conv2d, depthwise_tiles_for  # noqa: E402
from tenon_compile.integer_rules import dequantize  # noqa: E402
from tenon_compile.layouts import module_of  # noqa: E402
from tenon_compile.onednn import make_regions  # noqa: E402
from tenon_compile.pipeline import Report, fused, rewritten  # noqa: E402
from tenon_compile.processors import vectors_of  # noqa: E402
from tenon_compile.rules import unary  # noqa: E402
from tenon_compile.schedules import schedule_kernel, schedule_module  # noqa: E402

VECTORS = Vectors(8, 8)


def output_of(function, shape, *arrays):
    """What a kernel computes on this machine."""
    code = tvm.compile(tvm.IRModule({"main": function.with_attr("global_symbol", "main")}), target="llvm")
    output = tvm.runtime.tensor(numpy.zeros(shape, "float32"))
    code["main"](*(tvm.runtime.tensor(array) for array in arrays), output)
    return output.numpy()


def random(*shape):
    return numpy.random.default_rng(1).random(shape, "float32")


def kernel(make, *shape):
    """The schedule of a kernel that computes something of one tensor, as text."""
    x = te.placeholder(shape, name="x")
    return schedule_kernel(te.create_prim_func([x, make(x)]), VECTORS, True)[0].script()


def transposed(x):
    rows, columns = x.shape
    return te.compute((columns, rows), lambda i, j: x[j, i], name="y")


def summed(x):
    k = te.reduce_axis((0, x.shape[1]), name="k")
    return te.compute((x.shape[0],), lambda i: te.sum(x[i, k], axis=k), name="y")


def depthwise(shape, window, strides, padding, dilation=(1, 1)):
    """A depthwise convolution with loops of 64 bits, as networks have them: its schedule, the rule, and its output's shape."""
    pictures, height, width, channels = shape
    extents = [
        (extent + 2 * around - (each - 1) * apart - 1) // step + 1
        for extent, each, step, around, apart in zip((height, width), window, strides, padding, dilation)
    ]
    tile = depthwise_tiles_for(extents[1], channels, VECTORS, extents[0])[0]
    long = [tvm.tirx.const(extent, "int64") for extent in (pictures, *extents, channels)]
    x = te.placeholder([tvm.tirx.const(extent, "int64") for extent in shape], name="x")
    weights = te.placeholder([tvm.tirx.const(extent, "int64") for extent in (*window, channels)], name="weights")
    sums = depthwise_conv2d(x, weights, long, strides, (*padding, *padding), dilation, tile)
    y = te.compute(long, lambda *at: te.max(sums[at], tvm.tirx.const(0.5, "float32")), name="y")
    function, rule = schedule_kernel(te.create_prim_func([x, weights, y]), VECTORS, True)
    return function, rule, (pictures, *extents, channels)


def given(*shape):
    return Node("input", [], shape, "float32", {"name": "x"})


def convolution(x, weights, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """A node for a picture NCHW, with a bias of 0.25."""
    extents = [
        (x.shape[at + 2] + 2 * padding[at] - (weights.shape[at + 2] - 1) * dilation[at] - 1) // strides[at] + 1
        for at in (0, 1)
    ]  # fmt: skip
    how = {"strides": list(strides), "padding": [*padding, *padding], "dilation": list(dilation), "groups": groups}
    bias = constant(numpy.full(len(weights), 0.25, "float32"))
    return Node("conv2d", [x, constant(weights), bias], (x.shape[0], len(weights), *extents), x.dtype, how)


def compiled(graph, vectors, others=()):
    """The tiled kernels of a graph that was laid out for vectors, and programs for these and for others."""
    module, _ = module_of(graph, tvm.IRModule(), vectors)
    with tvm.target.Target("llvm"):
        module = fused(module)
    kernels, programs = {}, []
    for one in (vectors, *others):
        scheduled, rules = schedule_module(tvm.IRModule(dict(module.functions.items())), one, one is vectors)
        kernels = kernels or {name: scheduled[name] for name, rule in rules.items() if rule == "tiled"}
        machine = relax.VirtualMachine(relax.build(scheduled, target="llvm"), tvm.cpu())
        programs.append(lambda x, run=machine["main"]: run(tvm.runtime.tensor(x)).numpy())
    return kernels, programs


def in_last(array):
    return array.transpose(0, 2, 3, 1)


def mixed(x, weights, strides=(1, 1), padding=(0, 0)):
    """A convolution of a picture NHWC by numpy, with its bias."""
    x = numpy.pad(x, ((0, 0), *((each, each) for each in padding), (0, 0)))
    windows = numpy.lib.stride_tricks.sliding_window_view(x, weights.shape[2:], axis=(1, 2))
    windows = windows[:, :: strides[0], :: strides[1]]
    return numpy.tensordot(windows, weights, ((3, 4, 5), (1, 2, 3))) + numpy.float32(0.25)


ACTIVATIONS = {
    "relu": lambda x: numpy.maximum(x, 0),
    "hard_swish": lambda x: x * numpy.clip(x + 3, 0, 6) / 6,
    None: lambda x: x,
}


def pair(shape, channels, window, function="relu", first=(1, {}), **how):
    """A graph of a convolution and a depthwise one; what it computes of a picture, by numpy."""
    extent, first_how = first
    first, second = random(channels, shape[1], extent, extent) - numpy.float32(0.5), random(channels, 1, *window)
    x = given(*shape)
    between = convolution(x, first, **first_how)
    node = convolution(unary(function, between) if function else between, second, groups=channels, **how)

    def expected(picture):
        inner = ACTIVATIONS[function](mixed(in_last(picture), first, **first_how))
        each = second[:, 0].transpose(1, 2, 0)
        n, c, *extents = node.shape
        around = {"strides": (1, 1), "padding": (0, 0), "dilation": (1, 1), **how}
        return convolved(inner, each, (n, *extents, c), **around, least=-numpy.inf) + numpy.float32(0.25)

    return Graph([x], [unary("relu", node)]), lambda picture: numpy.maximum(expected(picture), 0).transpose(0, 3, 1, 2)


def convolved(x, weights, shape, strides, padding, dilation, least=0.5):
    """The same as depthwise() by numpy."""
    (top, left), (_, height, width, _) = padding, shape
    x = numpy.pad(x, ((0, 0), (top, top), (left, left), (0, 0)))
    y = numpy.zeros(shape, "float32")
    for row in range(weights.shape[0]):
        for column in range(weights.shape[1]):
            down, across = row * dilation[0], column * dilation[1]
            rows = slice(down, down + (height - 1) * strides[0] + 1, strides[0])
            y += x[:, rows, across:][:, :, : (width - 1) * strides[1] + 1 : strides[1]] * weights[row, column]
    return numpy.maximum(y, least)


def threads_share_the_outermost_loop_of_a_large_kernel():
    text = kernel(transposed, 512, 300)
    assert text.count("T.parallel(300)") == 1, text


def threads_share_two_loops_if_the_outermost_has_few_turns():
    text = kernel(lambda x: te.compute(x.shape, lambda i, j, k: x[i, j, k] + 1, name="y"), 2, 100, 512)
    assert text.count("T.parallel(200)") == 1, text


def sums_and_scalar_loops_stay_in_one_thread():
    assert "parallel" not in kernel(transposed, 500, 300)
    assert "parallel" not in kernel(summed, 400, 300)


def sums_along_the_last_axis_are_made_in_vectors_of_rows():
    x = te.placeholder((400, 300), name="x")
    function, _ = schedule_kernel(te.create_prim_func([x, summed(x)]), VECTORS, True)
    assert "T.vectorized(8)" in function.script(), function.script()
    array = random(400, 300)
    assert numpy.allclose(output_of(function, 400, array), array.sum(1), rtol=1e-5)


def depthwise_convolutions_equal_those_of_numpy():
    for shape, window, strides, padding, *dilation in (
        ((1, 20, 20, 16), (3, 3), (1, 1), (1, 1)),
        ((1, 21, 17, 16), (3, 3), (2, 2), (1, 1)),
        ((1, 14, 14, 24), (5, 5), (1, 1), (2, 2)),
        ((1, 12, 15, 8), (5, 5), (2, 1), (2, 2)),
        ((2, 40, 40, 64), (3, 3), (1, 1), (1, 1)),
        ((2, 40, 40, 8), (5, 5), (1, 1), (2, 2)),
        ((1, 64, 40, 24), (3, 3), (1, 1), (1, 1)),
        ((1, 2, 30, 12), (3, 3), (1, 1), (1, 1)),
        ((1, 1, 50, 8), (1, 9), (1, 1), (0, 4)),
        ((1, 20, 20, 8), (3, 3), (1, 1), (2, 2), (2, 2)),
        ((1, 18, 18, 8), (11, 11), (1, 1), (5, 5)),
        ((1, 7, 7, 5), (3, 3), (1, 1), (0, 0)),
    ):
        how = strides, padding, *(dilation or [(1, 1)])
        function, rule, extents = depthwise(shape, window, *how)
        assert rule == "tiled", rule
        x, weights = random(*shape) - numpy.float32(0.5), random(*window, shape[-1])
        expected = convolved(x, weights, extents, *how)
        assert numpy.allclose(output_of(function, extents, x, weights), expected, rtol=1e-4, atol=1e-5), (shape, window, *how)


def rows_inside_of_a_picture_have_no_conditions():
    function, _, _ = depthwise((1, 20, 20, 16), (3, 3), (1, 1), (1, 1))
    lowered = []

    @tvm.ir.instrument.pass_instrument
    class AfterLoops:
        def run_after_pass(self, module, info):
            if info.name.endswith("RemoveNoOp"):
                lowered.append(module.script())

    with tvm.transform.PassContext(instruments=[AfterLoops()]):
        tvm.compile(tvm.IRModule({"main": function.with_attr("global_symbol", "main")}), target="llvm")
    assert lowered and "if_then_else" not in lowered[-1], lowered[-1:]


def threads_share_blocks_of_channels_if_the_rows_are_few():
    few = depthwise((1, 8, 40, 1024), (3, 3), (1, 1), (1, 1))[0].script()
    assert few.count("T.parallel(16)") == 1, few
    many = depthwise((1, 64, 40, 128), (3, 3), (1, 1), (1, 1))[0].script()
    assert many.count("T.parallel(32, annotations") == 1, many


def a_convolution_and_a_depthwise_one_behind_it_are_one_kernel_in_blocks():
    wide = Vectors(16, 24)
    for shape, channels, window, vectors, *more in (
        ((1, 16, 96, 96), 32, (3, 3), wide, {"padding": (1, 1)}),
        ((1, 8, 160, 160), 48, (3, 3), wide, {"padding": (1, 1), "strides": (2, 2), "function": None}),
        ((2, 8, 64, 80), 64, (5, 5), Vectors(8, 12), {"padding": (2, 2), "function": "hard_swish"}),
        ((1, 8, 128, 100), 24, (3, 3), Vectors(4, 12), {"padding": (2, 2), "dilation": (2, 2)}),
        ((1, 8, 130, 130), 16, (3, 3), VECTORS, {}),
        ((1, 4, 128, 128), 18, (1, 7), Vectors(1, 12), {"padding": (0, 3)}),
        ((1, 3, 200, 180), 32, (3, 3), wide, {"padding": (1, 1), "first": (3, {"strides": (2, 2), "padding": (1, 1)})}),
    ):
        graph, expected = pair(shape, channels, window, **(more[0]))
        kernels, programs = compiled(graph, vectors, [Vectors(4, 8)])
        assert len(kernels) == 1 and "in_pair" in next(iter(kernels)), kernels.keys()
        x = random(*shape) - numpy.float32(0.5)
        for run in programs:
            assert numpy.allclose(run(x), expected(x), rtol=1e-3, atol=1e-4), (shape, window, more)


def blocks_of_a_pair_are_an_even_number():
    graph, _ = pair((1, 32, 40, 40), 192, (3, 3), padding=(1, 1))
    (kernel,) = compiled(graph, Vectors(16, 24))[0].values()
    text = kernel.script()
    assert text.count("T.parallel(6)") == 1, text  # not all rows in three blocks of channels


def threads_share_rows_of_a_picture_that_is_larger_than_the_weights():
    by_rows = []
    for rows in (20, 10):
        graph = Graph([x := given(1, 96, rows, rows)], [unary("relu", convolution(x, random(384, 96, 1, 1)))])
        (kernel,) = compiled(graph, Vectors(16, 24))[0].values()
        by_rows.append("T.parallel(T.int64(10))" in kernel.script())
    assert by_rows == [True, False], by_rows


def a_kernel_of_vectors_that_are_not_full_is_shared_by_the_time_that_it_takes():
    parallel = []
    for columns in (80, 8):
        graph = Graph([x := given(1, 24, 80, columns)], [unary("relu", convolution(x, random(2, 24, 1, 1)))])
        (kernel,) = compiled(graph, Vectors(16, 24))[0].values()
        parallel.append("T.parallel" in kernel.script())
    assert parallel == [True, False], parallel


def threads_share_the_copy_of_a_picture_with_zeros_around_it():
    weights = random(16, 3, 3, 3) - numpy.float32(0.5)
    for shape in ((1, 3, 130, 127), (1, 3, 1, 40000)):  # that of one row is shared by vectors of it
        x = given(*shape)
        graph = Graph([x], [unary("relu", convolution(x, weights, padding=(1, 1)))])
        kernels, (run,) = compiled(graph, VECTORS)
        (kernel,) = kernels.values()
        assert kernel.script().count("T.parallel") == 2, kernel.script()
        picture = random(*shape) - numpy.float32(0.5)
        expected = numpy.maximum(mixed(in_last(picture), weights, padding=(1, 1)), 0).transpose(0, 3, 1, 2)
        assert numpy.allclose(run(picture), expected, rtol=1e-4, atol=1e-5)


def channels_of_a_block_go_beside_each_other_in_vectors():
    x = given(1, 6 * 24, 30, 20)
    graph = Graph([x], [Node("depth_to_space", [x], (1, 24, 60, 60), "float32", {"block": [2, 3]})])
    module, _ = module_of(graph, tvm.IRModule(), Vectors(16, 24))
    with tvm.target.Target("llvm"):
        module = schedule_module(fused(module), Vectors(16, 24))[0]
    (text,) = (one.script() for variable, one in module.functions.items() if "depth_to_space" in variable.name_hint)
    assert text.count("T.vectorized(T.int64(8))") == 1, text
    picture = random(*x.shape)
    expected = picture.reshape(1, 2, 3, 24, 30, 20).transpose(0, 3, 4, 1, 5, 2).reshape(1, 24, 60, 60)
    assert numpy.array_equal(compiled(graph, VECTORS)[1][0](picture), expected)


def convolutions_that_gain_nothing_in_one_kernel_are_two():
    small, _ = pair((1, 16, 64, 64), 32, (3, 3), padding=(1, 1))
    prime, _ = pair((1, 16, 97, 97), 32, (3, 3), padding=(1, 1))
    twice, _ = pair((1, 16, 96, 96), 32, (3, 3), padding=(1, 1))
    between = twice.outputs[0].input.input
    many, _ = pair((1, 64, 96, 96), 32, (3, 3), padding=(1, 1), first=(3, {"padding": (1, 1)}))
    first = {"first": (3, {"strides": (2, 2), "padding": (1, 1)})}
    narrow, _ = pair((1, 3, 300, 298), 32, (3, 3), padding=(1, 1), **first)  # 149 columns: tiles of one
    narrower, _ = pair((1, 24, 80, 79), 144, (3, 3), padding=(1, 1))
    for graph in (small, prime, many, narrow, narrower, Graph(twice.inputs, [*twice.outputs, between])):
        module, _ = module_of(graph, tvm.IRModule(), Vectors(16, 24))
        names = [variable.name_hint for variable in module.get_global_vars()]
        assert not [name for name in names if "in_pair" in name], names


def a_small_core_has_no_memory_for_blocks_of_a_pair():
    graph, _ = pair((1, 8, 130, 130), 16, (3, 3))
    core, processor = ({"kind": "llvm", "mtriple": name} for name in ("hexagon-unknown-linux-musl", "armv7-linux-gnueabihf"))
    paired = []
    for host in (core, processor):
        module, _ = module_of(graph, tvm.IRModule(), vectors_of(tvm.target.Target(host)))
        paired.append(any("in_pair" in variable.name_hint for variable in module.get_global_vars()))
    assert paired == [False, True], paired


def a_picture_of_few_channels_is_read_as_it_is():
    weights, x = random(8, 3, 3, 3) - numpy.float32(0.5), given(1, 3, 20, 22)
    how = {"strides": (2, 1), "padding": (1, 1)}
    graph = Graph([x], [unary("relu", convolution(x, weights, **how))])
    module, _ = module_of(graph, tvm.IRModule(), VECTORS)
    assert module["main"].script().count("permute_dims") == 1, module["main"].script()  # that of the output
    picture = random(1, 3, 20, 22) - numpy.float32(0.5)
    (run,) = compiled(graph, VECTORS)[1]
    expected = numpy.maximum(mixed(in_last(picture), weights, **how), 0).transpose(0, 3, 1, 2)
    assert numpy.allclose(run(picture), expected, rtol=1e-4, atol=1e-5)


def channels_that_fill_vectors_are_not_written():
    weights = random(24, 20, 1, 1)
    x = given(1, 20, 30, 30)
    graph = Graph([x], [unary("relu", convolution(x, weights))])
    kernels, programs = compiled(graph, Vectors(16, 24), [Vectors(8, 12), Vectors(1, 12)])
    (kernel,) = kernels.values()
    module = tvm.IRModule({"main": kernel})
    for change in ("PlanAndUpdateBufferAllocationLocation", "ConvertBlocksToOpaque", "CompactBufferAllocation"):
        module = getattr(tvm.s_tir.transform, change)()(module)
    text = module.script()
    assert "T.vectorized(T.int64(16))" in text and "T.int64(30), T.int64(32)" not in text, text
    picture = random(1, 20, 30, 30) - numpy.float32(0.5)
    expected = numpy.maximum(mixed(in_last(picture), weights), 0).transpose(0, 3, 1, 2)
    for run in programs:
        assert numpy.allclose(run(picture), expected, rtol=1e-4, atol=1e-5)


def a_small_kernel_stays_in_one_thread():
    assert "parallel" not in kernel(transposed, 50, 30)


def chosen(inputs, outputs, size, window, groups=1, lanes=16, rows=None, source="input", **how):
    """Whether oneDNN computes a convolution of pictures with so many channels, of so many columns and as many rows."""
    x = Node(source, [], (1, inputs, rows or size, size))
    weights = constant(numpy.zeros((outputs, inputs // groups, window, window), "float32"))
    how = {"groups": groups, "padding": [window // 2] * 4, "strides": [1, 1], **how}
    node = Node("conv2d", [x, weights], (1, outputs, rows or size, size), attrs=how)
    return Choice(Vectors(lanes, 24))(node)


def onednn_computes_what_leaves_parts_of_vectors_empty_and_what_has_no_tiles():
    assert chosen(96, 104, 80, 3) and chosen(384, 360, 10, 1) and chosen(64, 64, 28, 3, groups=4)
    assert not chosen(96, 32, 80, 3) and not chosen(384, 384, 10, 1)
    # what leaves parts empty is filled in one tile
    assert not chosen(96, 24, 80, 3)
    # but such a tile has one column where no few make the whole row
    assert chosen(96, 88, 25, 3) and not chosen(96, 88, 24, 3)


def depthwise_convolutions_and_sums_of_one_row_are_left_to_the_schedules():
    assert not chosen(64, 64, 56, 3, groups=64) and not chosen(24, 24, 56, 5, groups=24)
    assert not chosen(96, 24, 80, 3, rows=1) and not chosen(384, 360, 1, 1)


def a_copy_that_onednn_would_make_counts():
    assert chosen(96, 52, 80, 3, lanes=8) and not chosen(24, 52, 80, 1, lanes=8)
    x, weights = Node("input", [], (1, 24, 80, 80)), constant(numpy.zeros((104, 24, 1, 1), "float32"))
    node = Node("conv2d", [x, weights], (1, 104, 80, 80), attrs={"groups": 1, "padding": [0] * 4, "strides": [1, 1]})
    assert Choice(Vectors(16, 24))(node) and not Choice(Vectors(16, 24))(node, summed=True)


def a_picture_that_the_schedules_read_as_it_is_costs_no_copy_there_but_one_in_onednn():
    assert not chosen(3, 32, 96, 3) and chosen(3, 32, 96, 3, source="pool2d")
    x = unary("relu", given(1, 3, 80, 80))
    how = Vectors(16, 24), False
    costs = [in_onednn(convolution(one, random(24, 3, 1, 1)), *how) for one in (x, Node("pool2d", [], x.shape))]
    assert costs[0] - costs[1] >= x.elements, costs


def a_pair_is_left_to_the_schedules():
    """From Relax: pairs are known before oneDNN gets what is faster there."""
    first, second = random(32, 5, 3, 3), random(32, 1, 3, 3)
    x = relax.Var("x", relax.TensorType((1, 5, 128, 128), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            between = builder.emit(relax.op.nn.conv2d(x, relax.const(first), padding=1))
            result = builder.emit_output(relax.op.nn.conv2d(between, relax.const(second), padding=1, groups=32))
        builder.emit_func_output(result)
    report, target = Report(), tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v4", "mtriple": "x86_64-linux-gnu"})
    rewritten(builder.get(), [target], report, library="onednn")
    assert chosen(5, 32, 128, 3), "a test of nothing"
    assert [name for name in report.kernels if "in_pair" in name] and not report.library_rules, report


def products_of_values_that_fill_no_vectors_are_onednn_s():
    def product(columns):
        a, b = (Node("input", [], (8, 40, extent)) for extent in (40, columns))
        return Choice(Vectors(16, 24))(Node("matmul", [a, Node("reshape", [b], (8, 40, columns))], (8, 40, columns)))

    assert product(15) and not product(32)


def a_table_is_not_looked_up_in_the_tile_of_a_product():
    a = Node("input", [], (1, 16, 8, 8), "uint8", {"name": "x"})
    how = {"strides": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1], "groups": 1, "zero": 0}
    sums = Node("integer_conv2d", [a, constant(numpy.ones((16, 16, 1, 1), "int16"))], a.shape, "int32", how)
    y = Node("quantize", [dequantize(sums, 0.01)], a.shape, "uint8", {"scale": 1.0, "zero": 0})
    y = Node("table", [y], a.shape, "uint8", {"values": numpy.arange(256).astype("uint8")})
    module, _ = module_of(Graph([a], [y]), tvm.IRModule(), Vectors(16, 24))
    with tvm.target.Target("llvm"):
        names = [variable.name_hint for variable in fused(module).functions]
    assert any("integer_conv2d" in name and "quantize" in name for name in names), names
    assert not any("integer_conv2d" in name and "look_up" in name for name in names), names


def products_of_bytes_are_onednns_where_they_are_faster():
    def is_onednns(channels, outputs, size, exact=True, groups=1):
        a = Node("input", [], (1, channels, size, size), "uint8", {"name": "x"})
        how = {"strides": [1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1], "groups": groups, "zero": 0}
        weights = constant(numpy.ones((outputs, channels // groups, 3, 3), "int16"))
        sums = Node("integer_conv2d", [a, weights], (1, outputs, size, size), "int32", how)
        y = dequantize(sums, numpy.arange(1, outputs + 1) / 4, axis=1)
        graph = Graph([], [Node("quantize", [y], y.shape, "uint8", {"scale": 1.0, "zero": 0})])
        return make_regions(graph, Choice(Vectors(16, 24), exact=exact))["integer-product"] == 1

    assert is_onednns(3, 32, 224) and is_onednns(16, 8, 160)  # channels that fill no group, or no vector
    assert not is_onednns(64, 64, 56) and not is_onednns(64, 64, 56, groups=64)
    assert not is_onednns(3, 32, 224, exact=False)


def last_of_many(operator, *shape):
    """The last number that an operator gives for ones in float16."""
    x, builder = relax.Var("x", relax.TensorType(shape, "float16")), relax.BlockBuilder()
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(operator(x)))
    module = relax.get_pipeline("zero")(with_wide_sums(builder.get()))
    machine = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())
    return float(machine["main"](tvm.runtime.tensor(numpy.ones(shape, "float16"))).numpy().reshape(-1)[-1])


def sums_and_averages_of_many_numbers_in_16_bits_are_exact():
    op, nn = relax.op, relax.op.nn
    assert last_of_many(lambda x: op.sum(x), 4096) == 4096
    assert last_of_many(lambda x: op.mean(x), 4096) == 1 and last_of_many(lambda x: op.variance(x), 4096) == 0
    assert last_of_many(lambda x: op.cumsum(x, 0), 4096) == 4096
    assert last_of_many(lambda x: op.cumsum(x, 0, "float16", True), 4097) == 4096
    assert last_of_many(lambda x: nn.avg_pool1d(x, 4096), 1, 1, 4096) == 1
    assert last_of_many(lambda x: nn.avg_pool2d(x, (64, 64)), 1, 1, 64, 64) == 1
    assert last_of_many(lambda x: nn.avg_pool3d(x, (16, 16, 16)), 1, 1, 16, 16, 16) == 1
    assert last_of_many(lambda x: nn.adaptive_avg_pool2d(x, (1, 1)), 1, 1, 64, 64) == 1


cases = [f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__]
cases = [f for f in cases[cases.index(convolved) + 1 :] if f not in (chosen, last_of_many)]
failures = 0
for number, case in enumerate(cases, 1):
    try:
        case()
        print(f"ok {number} - {case.__name__.replace('_', ' ')}")
    except Exception as error:
        failures += 1
        print(f"not ok {number} - {case.__name__.replace('_', ' ')}")
        print("\n".join("# " + line for line in f"{type(error).__name__}: {error}".splitlines()))
print(f"1..{len(cases)}")
sys.exit(failures > 0)
