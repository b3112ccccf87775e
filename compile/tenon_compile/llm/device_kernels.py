# SPDX-License-Identifier: MIT
"""What a decoder is made of on a device with threads of its own: forms of weights, expressions for dlight's rules, and TVM's
kernels for attention.
"""

import functools

from tvm import te, tirx
from tvm.relax.frontend.nn import op
from tvm.relax.frontend.nn.llm import kv_cache
from tvm.script import tirx as T

from ..errors import CompileError, first_line
from .cache import PAGE, CacheKernels, RecordedCache
from .device_forms import form_of


class DeviceKernels:
    """@target: TVM's of the device."""

    def __init__(self, target):
        self.target = target
        # OpenCL C has float16 as an extension, which devices may lack; CUDA has it always
        self.half = "float16" if target.kind.name == "cuda" else "uint16"

    def form(self, kind, shape):
        return form_of(kind, shape, self.half)

    def normalised(self, x, weights, width, epsilon):
        return op.rms_norm(x, weights, axes=-1, epsilon=epsilon)

    def gated(self, x, width):
        def computed(x):
            shape = (x.shape[0], width)
            return te.compute(
                shape, lambda r, k: x[r, k] / (1 + te.exp(-x[r, k])) * x[r, width + k], name="gate"
            )

        return op.tensor_expr_op(computed, "gate", args=[x])

    def recorded(self, x, cache):
        """The row and the cache of a step that is recorded: the row in a place that does not change."""

        def copied(x):  # by its bits, since TVM leaves out what it sees to be a copy
            bits = te.compute(x.shape, lambda *at: tirx.reinterpret("uint32", x[at]), name="bits")
            return te.compute(x.shape, lambda *at: tirx.reinterpret("float32", bits[at]), name="row")

        return op.tensor_expr_op(copied, "row", args=[x]), RecordedCache(_expr=cache._expr, _name="cache")

    def of_cache(self, settings, dtype):
        try:
            return self._of_cache(settings, dtype)
        except (AssertionError, ValueError) as error:
            raise CompileError(
                f"TVM's attention for {self.target.kind.name} does not take heads of {settings.head_size} numbers: "
                f"{first_line(error)}"
            ) from error

    def _of_cache(self, settings, dtype):
        queries, keys, size, target = settings.heads, settings.key_heads, settings.head_size, self.target
        heads = (keys, queries, size, dtype)
        return CacheKernels(
            append=kv_cache._kv_cache_transpose_append(keys, size, dtype),
            prefill_rows=kv_cache._attention_prefill_ragged(keys, queries, size, size, dtype, {}, target),
            prefill_pages=kv_cache._attention_prefill(*heads, False, {}, target),
            decode=kv_cache._attention_decode(*heads, False, {}, target),
            merge=kv_cache._merge_state_inplace(queries, size, dtype, target, "merge"),
            rotate=rotation(queries, keys, size, settings.rotary),
            copy_page=kv_cache._copy_single_page(keys, PAGE, size, dtype, target),
            debug=kv_cache._kv_cache_debug_get_kv(settings.layers, keys, size, dtype),
            compact=kv_cache._compact_kv_copy(keys, size, dtype, target),
        )


@functools.cache
def rotation(queries, keys, size, rotary):
    """As small_kernels.rotation(), a number in a thread."""
    half = rotary // 2

    def turned(x, row, head, j, angle):
        other = T.if_then_else(j < half, -x[row, head, half + j], x[row, head, j - half])
        return T.if_then_else(j < rotary, x[row, head, j] * T.cos(angle) + other * T.sin(angle), x[row, head, j])

    @T.prim_func(s_tir=True)
    def rotate(
        xp: T.handle, pp: T.handle, qp: T.handle, kp: T.handle, vp: T.handle, frequency: T.Buffer((half,), "float32")
    ):
        T.func_attr({"tirx.noalias": True, "op_pattern": 8})
        n = T.int64()
        first = T.int64()
        x = T.match_buffer(xp, (n, queries + 2 * keys, size), "float32")
        position = T.match_buffer(pp, (n,), "int32", elem_offset=first)
        q = T.match_buffer(qp, (n, queries, size), "float32")
        k = T.match_buffer(kp, (n, keys, size), "float32")
        v = T.match_buffer(vp, (n, keys, size), "float32")
        for r0, h0, j0 in T.grid(n, queries + 2 * keys, size):
            with T.sblock("rotate"):
                r, h, j = T.axis.remap("SSS", [r0, h0, j0])
                if h < queries:
                    q[r, h, j] = turned(x, r, h, j, T.Cast("float32", position[r]) * frequency[j % half])
                else:
                    if h < queries + keys:
                        k[r, h - queries, j] = turned(
                            x, r, h, j, T.Cast("float32", position[r]) * frequency[j % half]
                        )
                    else:
                        v[r, h - queries - keys, j] = x[r, h, j]

    return rotate
