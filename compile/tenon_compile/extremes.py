# SPDX-License-Identifier: MIT
"""Maxima and minima along axes. TVM's begin with the least finite number, which is more than minus infinity."""

from tvm import te, tirx


def reducer(name, function, begin, dtype_bound):
    def identity(dtype):
        return tirx.const(begin, dtype) if dtype.startswith("float") else dtype_bound(dtype)

    return te.comm_reducer(function, identity, name=name)


largest = reducer("max", lambda x, y: tirx.max(x, y), float("-inf"), tirx.min_value)
smallest = reducer("min", lambda x, y: tirx.min(x, y), float("inf"), tirx.max_value)


def along_axes(reduce):
    """How relax.max or relax.min become a kernel."""

    def values(x, axes, keepdims):
        rank = len(x.shape)
        axes = sorted({int(axis) % rank for axis in axes}) if axes is not None else list(range(rank))
        reduced = {axis: te.reduce_axis((0, x.shape[axis]), f"k{axis}") for axis in axes}
        left = [axis for axis in range(rank) if keepdims or axis not in reduced]

        def value(*at):
            place = {**dict(zip(left, at)), **reduced}
            return reduce(x(*(place[axis] for axis in range(rank))), axis=list(reduced.values()))

        return te.compute([1 if axis in reduced else x.shape[axis] for axis in left], value, name="reduced")

    def legalized(builder, call):
        return builder.call_te(values, call.args[0], call.attrs.axis, bool(call.attrs.keepdims))

    return legalized


EXTREMES = {"relax.max": along_axes(largest), "relax.min": along_axes(smallest)}
