# SPDX-License-Identifier: MIT
"""Weights of 8 bits stay integers while TVM folds constants.

TVM would compute the DequantizeLinear of a constant. It becomes a call of a function that TVM does not know instead,
which relax_graph.py reads; a module that is not rewritten gets TVM's own operator back.
"""

from tvm import relax
from tvm.ir import GenericConst, Op
from tvm.relax.expr_functor import PyExprMutator, mutator

PREFIX = "tenon.dequantize."
CALL = Op.get("relax.call_dps_packed")


def keep(expression):
    """A call of relax.dequantize, or what stands for it if it is one of weights in 8 bits."""
    x, scale, zero = expression.args
    constants = all(isinstance(one, GenericConst) for one in (x, scale, zero))
    if not constants or str(x.ty.dtype) not in ("int8", "uint8") or len(x.ty.shape) < 2:
        return expression
    shape = [int(extent) for extent in x.ty.shape]
    result = relax.TensorType(shape, "float32")
    return relax.op.call_dps_packed(f"{PREFIX}{int(expression.attrs.axis)}", [x, scale, zero], out_ty=result)


def axis_of(call):
    """The axis of the scales if a call stands for relax.dequantize; None of others."""
    if not isinstance(call.op, Op) or call.op.name != CALL.name:
        return None
    name = str(call.args[0].global_symbol)
    return int(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


@mutator
class Restore(PyExprMutator):
    def visit_call_(self, call):
        axis = axis_of(call)
        if axis is None:
            return super().visit_call_(call)
        return relax.op.dequantize(*call.args[1].fields, axis=axis, out_dtype="float32")


def restored(module):
    """A module with relax.dequantize in place of the calls that stand for it."""
    restore = Restore(module)
    for variable, function in module.functions.items():
        if isinstance(function, relax.Function):
            restore.builder_.update_func(variable, restore.visit_expr(function))
    return restore.builder_.get()
