# SPDX-License-Identifier: MIT
"""ONNX's Resize in forms that TVM's importer lacks or reads wrongly: along each axis sums of a few elements, or a product.

TVM takes the scale for the ratio of extents, which it is not where an extent is rounded.
"""

import functools
import math
from dataclasses import dataclass

import numpy
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .errors import first_line

MOST_WEIGHTS = 1 << 20  # of a matrix that is computed by ONNX's reference
MOST_TERMS = 16  # of a sum of elements; longer ones are products with a matrix
MOST_COMPUTED = 1 << 26  # numbers that the reference computes for one
FRACTIONS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
UNKNOWN_PLACES = ("half_pixel_symmetric", "tf_crop_and_resize")
UNKNOWN = {"antialias", "axes", "exclude_outside", "keep_aspect_ratio_policy"}


@dataclass
class Change:
    """How an axis becomes longer or shorter."""

    axis: int
    extent: int
    size: int  # that it gets
    scale: float  # by which places are computed
    scales: list  # what ONNX's reference computes the same from: scales, or extents and sizes, for
    extents: list  # an axis that decides about the scale of this one, if that is another one, and
    sizes: list  # this one
    region: tuple = (0, 1)

    def is_none(self):
        return (self.size, self.scale, *self.region) == (self.extent, 1, 0, 1)


def place_mode(new):
    return new.attributes.get("coordinate_transformation_mode", b"half_pixel").decode()


def changes_to_sizes(new, shape, axes, sizes):
    ratios = [size / shape[axis] for axis, size in zip(axes, sizes)]
    policy = new.attributes.get("keep_aspect_ratio_policy", b"stretch")
    ratio = {b"stretch": None, b"not_larger": min(ratios), b"not_smaller": max(ratios)}[policy]
    changes = []
    for axis, wanted, own in zip(axes, sizes, ratios):
        extent = shape[axis]
        if ratio in (None, own):
            changes.append(Change(axis, extent, wanted, own, [], [extent], [wanted]))
            continue
        first = ratios.index(ratio)
        common = math.gcd(shape[axes[first]], sizes[first])
        extents, both = [shape[axes[first]] // common, extent], [sizes[first] // common, wanted]
        changes.append(Change(axis, extent, int(ratio * extent + 0.5), ratio, [], extents, both))
    return changes


def changes_of(new, shape):
    """The changes of all axes; None if they are not constant."""
    axes = [int(axis) % len(shape) for axis in new.attributes.get("axes", range(len(shape)))]
    region, scales, sizes = (new.constants.get(new.input(place)) if new.input(place) else None for place in (1, 2, 3))
    if place_mode(new) == "tf_crop_and_resize" and new.input(1) and region is None:
        return None
    if sizes is not None and sizes.size:
        changes = changes_to_sizes(new, shape, axes, [int(size) for size in sizes])
    elif scales is not None and scales.size:
        known = [(axis, shape[axis], float(scale)) for axis, scale in zip(axes, scales)]
        changes = [Change(axis, extent, math.floor(extent * scale), scale, [scale], [], []) for axis, extent, scale in known]
    else:
        return None
    if region is not None and region.size:
        for change, (begin, end) in zip(changes, region.reshape(2, -1).T):
            change.region = begin, end
    return changes


def inputs_of_reference(change):
    """Rows, each of one element that is 1, and one of zeros, for ONNX's reference; the axes that it changes, if not all.

    An axis that decides about the scale is between rows and elements. Along it all are equal.
    """
    rows = numpy.concatenate([numpy.eye(change.extent), numpy.zeros((1, change.extent))])
    (begin, end), decides = change.region, len(change.sizes) > 1
    if decides:
        rows = numpy.repeat(rows[:, None], change.extents[0], 1)
    # the axis before is that of the rows, or the one that decides
    given = {"x": rows, "roi": numpy.array([0, begin, 1, end], "float32")}
    if change.scales:
        given["scales"] = numpy.array([1, *change.scales], "float32")
    else:
        given["sizes"] = numpy.array(change.sizes if decides else [len(rows), *change.sizes])
    return given, [1, 2] if decides else None


def matrix_of(new, change):
    """What a row becomes, for each of its elements; and what it becomes if all are zero. Computed by ONNX's reference."""
    given, axes = inputs_of_reference(change)
    attributes = {**new.attributes, "axes": axes}
    if not axes:
        attributes = {name: value for name, value in attributes.items() if name not in ("axes", "keep_aspect_ratio_policy")}
    inputs = [name if name in given else "" for name in ("x", "roi", "scales", "sizes")]
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in given.items()
    ]  # fmt: skip
    output = helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)
    graph = helper.make_graph([helper.make_node("Resize", inputs, ["y"], **attributes)], "resize", values, [output])
    try:
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
        rows = ReferenceEvaluator(model).run(None, given)[0]
    except Exception as error:  # the evaluator raises whatever an attribute leads to
        new.refuse(f"this form is not computed: {first_line(error)}; export the network with another one")
    rows = rows[:, 0] if axes else rows
    if rows.shape != (change.extent + 1, change.size):
        new.refuse(f"this form gives {rows.shape[-1]} elements in place of {change.size}; export the network with another one")
    return rows[:-1] - rows[-1], rows[-1]


def is_known_form(new, changes):
    """Whether TVM's importer computes the same."""
    exact = all(change.scale == change.size / change.extent for change in changes)
    return exact and place_mode(new) not in UNKNOWN_PLACES and not UNKNOWN & set(new.attributes)


def multiplied(new, x, axis, last, matrix, dtype):
    """The product of a tensor with a matrix along an axis."""
    order = [*(one for one in range(last + 1) if one != axis), axis]
    x = x if axis == last else new.add("Transpose", x, perm=order)
    x = new.add("MatMul", x, new.constant(matrix, dtype))
    return x if axis == last else new.add("Transpose", x, perm=numpy.argsort(order).tolist())


def terms_of(matrix, count):
    """Places of as many elements for each column, and their weights.

    Where fewer elements have one, the last is there more than once, with halves of its weight: a weight of 0 times an
    infinity would be no number. A column of no element has the first ones, whatever they are.
    """
    places, weights = numpy.zeros((count, matrix.shape[1]), "int64"), numpy.ones((count, matrix.shape[1]))
    for column, elements in enumerate(matrix.T):
        used = numpy.flatnonzero(elements)
        shares = elements[used]
        while used.size and used.size < count:
            used = numpy.append(used, used[-1])
            shares = numpy.append(shares[:-1], [shares[-1] / 2] * 2)
        places[: used.size, column], weights[: used.size, column] = used, shares
    return places, weights


def most_terms(matrix):
    """Of how many elements a place is the sum, at most; 0 if there is no place."""
    return int((matrix != 0).sum(0).max(initial=0))


def summed(new, x, axis, last, matrix, dtype):
    """The same product, as a sum of elements times their weights: what has no weight is not read."""
    count = max(most_terms(matrix), 1)
    terms = []
    for places, weights in zip(*terms_of(matrix, count)):
        term = new.add("Gather", x, new.constant(places), axis=axis)
        if numpy.any(weights != 1):
            term = new.add("Mul", term, new.constant(weights.reshape([-1, *[1] * (last - axis)]), dtype))
        terms.append(term)
    return functools.reduce(lambda a, b: new.add("Add", a, b), terms)


def changed(new, x, axis, last, matrix, added, dtype):
    """A tensor whose axis is changed; places that no element decides about have another value."""
    few = most_terms(matrix) <= MOST_TERMS
    x = (summed if few else multiplied)(new, x, axis, last, matrix, dtype)
    outside = ~matrix.any(0)
    if not outside.any():
        return x
    shape = [-1, *[1] * (last - axis)]
    value = numpy_helper.saturate_cast(added, dtype).reshape(shape)
    return new.add("Where", new.constant(outside.reshape(shape)), new.constant(value), x)


def resized(new):
    x = new.input(0)
    shape, kind = new.shapes.get(x), new.types.get(x)
    changes = changes_of(new, shape) if shape is not None and new.opset >= 11 else None
    if not changes or is_known_form(new, changes):
        return None
    nearest = new.attributes.get("mode", b"nearest") == b"nearest"
    if kind not in FRACTIONS and not nearest:
        new.refuse("whole numbers are not interpolated in this form; cast them to float32 before")
    between = kind if nearest or kind == TensorProto.DOUBLE else TensorProto.FLOAT
    x = x if kind == between else new.add("Cast", x, to=between)
    for change in changes:
        if change.is_none():
            continue
        weights = change.extent * change.size
        if weights > MOST_WEIGHTS or weights * math.prod(change.sizes[:-1]) > MOST_COMPUTED:
            new.refuse(
                f"{change.extent} to {change.size} elements are too many for this form; export it with sizes that scales give exactly"
            )
        x = changed(new, x, change.axis, len(shape) - 1, *matrix_of(new, change), helper.tensor_dtype_to_np_dtype(between))
    new.add("Cast", x, output=new.output, to=kind)
    return new
