# SPDX-License-Identifier: MIT
"""Networks in ONNX: read, given their shapes, folded, and imported by TVM."""

import contextlib
import io
import warnings

from .definitions import replace_by_definitions
from .errors import CompileError, first_line
from .fixed_inputs import fix_empty_inputs, set_inputs
from .folding import fold, known_shapes, known_types, shapes_of, subgraphs
from .imported import Imported
from .importers import repaired_importers
from .misread import refuse_misread, refuse_old_axes, refuse_other_outputs
from .other_forms import replace_other_forms
from .quantized_onnx import replace_quantized_operators
from .recurrent_onnx import replace_recurrent_operators
from .refusals import NotConverted, first_open_input, lacking, reason
from .unrolled_onnx import unroll

MOST_LEVELS = 8  # of functions and loops in each other


def read(path):
    """The network in a file."""
    import onnx

    try:
        network = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf has an exception of its own for bytes that are none of its messages
        raise CompileError(f"{path}: no network in ONNX ({first_line(error)})") from error
    try:
        onnx.load_external_data_for_model(network, str(path.parent))
    except Exception as error:  # OSError, or what onnx's checker raises
        raise CompileError(f"{path}: the files with its weights, which belong beside it: {first_line(error)}") from error
    if not network.graph.output or not network.opset_import:
        raise CompileError(f"{path}: no network in ONNX: it has no outputs or no opset")
    if network.ir_version < 3:
        raise CompileError(f"{path}: version {network.ir_version} of ONNX's format; 3 and newer are read")
    check_opset(path, network)
    check_names(path, network.graph, set())
    return network


def check_opset(path, network):
    """Refuse an opset that the onnx package does not know: its operators may compute something else than those of older opsets."""
    from onnx import defs

    newest = defs.onnx_opset_version()
    for opsets in (network.opset_import, *(function.opset_import for function in network.functions)):
        for opset in opsets:
            if opset.domain in ("", "ai.onnx") and opset.version > newest:
                raise CompileError(
                    f"{path}: opset {opset.version} is newer than {newest}, the newest that the installed onnx package knows; "
                    f"export the network for opset {newest}, or install a newer onnx"
                )


def check_names(path, graph, known):
    """Refuse a graph that reads a value which is not in @known, and which no input, weight or earlier node gives."""
    known = known | {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    known |= {sparse.values.name for sparse in graph.sparse_initializer}
    for node in graph.node:
        for name in node.input:
            if name and name not in known:
                where = f"{node.op_type} (output {next(iter(node.output), '')})"
                raise CompileError(f"{path}: {where} reads {name}, which is no input, and no node before it gives it; export it anew")
        for inner in subgraphs(node):
            check_names(path, inner, known)
        known.update(node.output)
    for value in graph.output:
        if value.name not in known:
            raise CompileError(f"{path}: no node gives the output {value.name}; export the network anew")


def shorten_domain(graph):
    """Take the name "" for ONNX's domain wherever it is "ai.onnx", which is another name of it."""
    for node in graph.node:
        node.domain = "" if node.domain == "ai.onnx" else node.domain
        for inner in subgraphs(node):
            shorten_domain(inner)


def describe(values, shapes):
    """Names, types and shapes of inputs or outputs, for model.json; a shape is null if it varies."""
    from onnx import helper

    listed = []
    for value in values:
        if not value.type.HasField("tensor_type"):
            kind = value.type.WhichOneof("value") or "value of no type"
            raise CompileError(f"{value.name} is a {kind}, no tensor; export the network with a tensor for each of its elements")
        dtype = str(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
        listed.append({"name": value.name, "dtype": dtype, "shape": shapes.get(value.name)})
    return listed


def fix_shapes(network, shapes):
    """Write the shapes to the network's inputs, and check that no extent is left open. The inputs."""
    constants = {tensor.name for tensor in network.graph.initializer}
    inputs = [value for value in network.graph.input if value.name not in constants]
    names = [value.name for value in inputs]
    for name in shapes:
        if name not in names:
            raise CompileError(f"--shape {name}: no such input. Inputs: {', '.join(names)}")
    for value in inputs:
        tensor = value.type.tensor_type
        dimensions = tensor.shape.dim
        if value.name in shapes:
            wanted = shapes[value.name]
            if not tensor.HasField("shape"):
                dimensions.extend([type(tensor.shape).Dimension() for _ in wanted])
            if len(wanted) != len(dimensions):
                raise CompileError(
                    f"--shape {value.name}: the network has {len(dimensions)} dimensions, not {len(wanted)}"
                )
            for dimension, extent in zip(dimensions, wanted):
                dimension.dim_value = extent
        elif value.type.HasField("tensor_type") and not tensor.HasField("shape"):
            raise CompileError(f"input {value.name} has no shape: give it with --shape {value.name}=…")
        # 0 in a file may mean that the extent is open; --shape says what it means
        least = 0 if value.name in shapes else 1
        open_extents = [d for d in dimensions if not d.HasField("dim_value") or d.dim_value < least]
        if open_extents:
            text = ",".join(str(d.dim_value) if d.dim_value > 0 else (d.dim_param or "?") for d in dimensions)
            raise CompileError(f"input {value.name} has the shape {text}: give it with --shape {value.name}=…")
    return inputs


def forget_output_shapes(network, shapes):
    """Remove the shapes of outputs that are open or were written for other inputs: inference would keep them."""
    for value in network.graph.output:
        tensor = value.type.tensor_type
        if shapes or any(extent.dim_value < 1 for extent in tensor.shape.dim):
            tensor.ClearField("shape")


def naming_converter(convert):
    """The importer's method that converts a node; what it raises has the node's operator and output."""

    def converted(importer, operator, inputs, attributes, opset):
        try:
            return convert(importer, operator, inputs, attributes, opset)
        except NotConverted:
            raise
        except Exception as error:  # the importer raises whatever its Python or TVM's C++ does
            raise NotConverted(operator, attributes["tvm_custom"]["name"], error) from error

    return converted


def import_network(network, shapes):
    """TVM's module of a network that was folded. Inputs keep the names that they have in the file."""
    from unittest import mock

    from tvm.relax.frontend.onnx import from_onnx, onnx_frontend

    converters = {**onnx_frontend._get_convert_map(), **repaired_importers()}
    why = lacking(network.graph, converters)
    if why:
        raise CompileError(why)
    for node in network.graph.node:
        node.name = next(filter(None, node.output))
    importer = onnx_frontend.ONNXGraphImporter
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),  # the importer prints before it raises
        mock.patch.object(onnx_frontend, "_get_convert_map", lambda: converters),
        mock.patch.object(importer, "_convert_operator", naming_converter(importer._convert_operator)),
    ):
        warnings.simplefilter("ignore")
        return from_onnx(network, shape_dict=shapes or None, keep_params_in_input=False, sanitize_input_names=False)


def import_file(path, shapes, given):
    """An ONNX file, for inputs of these shapes, some of which are given."""
    return import_read(path, read(path), shapes, given)


def copy_of(network):
    return type(network).FromString(network.SerializeToString())


def replace_unknown_forms(network):
    """Replace what TVM's importer lacks by what it knows: definitions of ONNX, rounds of loops, other forms."""
    from onnx import helper, numpy_helper

    opset = next((one.version for one in network.opset_import if one.domain in ("", "ai.onnx")), 1)
    for _ in range(MOST_LEVELS):
        given = network.graph.initializer
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in given}
        types = known_types(network)
        types |= {tensor.name: helper.make_tensor_type_proto(tensor.data_type, tensor.dims) for tensor in given}
        known = shapes_of(types)
        kinds = {name: one.tensor_type.elem_type for name, one in types.items()}
        changed = replace_by_definitions(network, types)
        changed |= unroll(network, known, constants, opset)
        changed |= replace_other_forms(network, known, constants, kinds, opset)
        if not changed:
            return
        fold(network)


def import_read(path, network, shapes, given):
    """A network that was read from a file."""
    shorten_domain(network.graph)
    for opset in network.opset_import:
        opset.domain = "" if opset.domain == "ai.onnx" else opset.domain
    original = copy_of(network)
    inputs = fix_shapes(network, shapes)
    forget_output_shapes(network, shapes)
    # branches that a constant input excludes may be for inputs of other shapes
    unfolded = original if given else copy_of(network)
    arrays = set_inputs(network, inputs, given)
    inputs = [value for value in inputs if value.name not in arrays]
    shapes = {name: shape for name, shape in shapes.items() if name not in arrays}
    fix_empty_inputs(network, inputs)
    replace_quantized_operators(network)
    fold(network)
    replace_unknown_forms(network)
    if replace_recurrent_operators(network, known_shapes(network)):
        fold(network)
    refuse_misread(network.graph)
    known = known_shapes(network)
    constants = {tensor.name: list(tensor.dims) for tensor in network.graph.initializer}
    refuse_old_axes(network.graph, {**known, **constants})
    described = describe(inputs, known), describe(network.graph.output, known)
    try:
        module = import_network(network, shapes)
    except CompileError:
        raise
    except Exception as error:  # of a node, or what TVM raises of the whole
        raise CompileError(f"{path}: {reason(network, error)}") from error
    result = module["main"].ret_ty
    refuse_other_outputs(described[1], getattr(result, "fields", [result]))
    return Imported(module, *described, unfolded, arrays, first_open_input(network.graph))
