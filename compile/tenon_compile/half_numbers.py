# SPDX-License-Identifier: MIT
"""Sums of numbers in 16 bits: they are computed in float32, as ONNX Runtime and NumPy do. TVM's are summed in 16 bits."""

from tvm import relax

from .wide_numbers import HALVES

SUMS = {"relax.mean", "relax.nn.log_softmax", "relax.nn.softmax", "relax.std", "relax.sum", "relax.variance"}
SUMS |= {f"relax.nn.{kind}_pool{axes}d" for axes in (1, 2, 3) for kind in ("avg", "adaptive_avg")}
SUMS |= {f"relax.nn.conv{axes}d{transposed}" for axes in (1, 2, 3) for transposed in ("", "_transpose")}


def in_wide_operands(call, normalize):
    return relax.Call(call.op, [normalize(relax.op.astype(one, "float32")) for one in call.args], call.attrs)


def widened(call, normalize):
    """A call whose result has 16 bits, by operators that sum in float32; None if it sums nothing."""
    name = getattr(call.op, "name", "")
    if name == "relax.nn.batch_norm":  # TVM's would have another type than it says
        wide = normalize(in_wide_operands(call, normalize))
        parts = [(normalize(relax.TupleGetItem(wide, i)), str(field.dtype)) for i, field in enumerate(call.ty.fields)]
        return relax.Tuple([normalize(relax.op.astype(part, dtype)) for part, dtype in parts])
    if name == "relax.matmul":
        wide = relax.op.matmul(*call.args, out_dtype="float32")
    elif name == "relax.cumsum":
        wide = relax.op.cumsum(call.args[0], call.attrs.axis, "float32", bool(call.attrs.exclusive))
    elif name in SUMS:
        wide = in_wide_operands(call, normalize)
    else:
        return None
    return relax.op.astype(normalize(wide), str(call.ty.dtype))


def with_wide_sums(module):
    """A module of Relax's operators with these."""

    @relax.expr_functor.mutator
    class Widening(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            first = call.ty.fields[0] if isinstance(call.ty, relax.TupleType) and call.ty.fields else call.ty
            is_half = str(getattr(first, "dtype", "")) in HALVES
            wide = widened(call, self.builder_.emit) if is_half else None
            return call if wide is None else wide

    change = Widening(module)
    for variable, function in module.functions.items():
        if isinstance(function, relax.Function):
            change.builder_.update_func(variable, change.visit_expr(function))
    return change.builder_.get()
