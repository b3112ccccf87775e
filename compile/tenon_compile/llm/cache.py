# SPDX-License-Identifier: MIT
"""The paged cache of keys and values that a model makes, with kernels for its attention."""

from dataclasses import dataclass

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op
from tvm.relax.frontend.nn.llm import kv_cache

NORMAL = int(kv_cache.RopeMode.NORMAL)
RECORDED_ATTENTION = "tenon.attention_kv_cache_attention_with_fused_qkv"
CACHE_TYPE = "float32"
PAGE = 16  # tokens of a page


@dataclass(frozen=True)
class CacheKernels:
    """Functions of TIR that the runtime calls, with the signatures of TVM's paged cache."""

    append: object
    prefill_rows: object  # a prompt's rows attend to each other
    prefill_pages: object  # several rows attend to keys in pages
    decode: object  # one row attends to keys in pages
    merge: object
    rotate: object  # takes the frequencies as its last argument
    copy_page: object
    debug: object
    compact: object


class RecordedCache(kv_cache.PagedKVCache):
    """A cache whose attention can be a part of a recording. No function that TVM knows can, so it has a name of its own."""

    def attention_with_fused_qkv(self, layer_id, qkv, num_qo_heads, sm_scale):
        b, s, heads, size = qkv.shape
        rows = op.reshape(qkv, (b * s, heads, size))
        arguments = [self._expr, relax.prim_value(layer_id), relax.prim_value(sm_scale), rows._expr]
        out = relax.TensorType((b * s, num_qo_heads, size), qkv.dtype)
        call = relax.BlockBuilder.current().emit(relax.call_dps_packed(RECORDED_ATTENTION, arguments, out_ty=out))
        return op.reshape(nn.Tensor(_expr=call), (b, s, num_qo_heads, size))


def new_cache(sizes, settings, kernels):
    """
    Call the runtime's function that makes a cache. @sizes: most sequences and tokens, tokens of a step, tokens of a page,
    whether windows slide. Kernels for sliding windows and trees of tokens are absent: the runtime says so if it needs one.
    """
    builder = relax.BlockBuilder.current()
    layers, queries, keys, size = settings.layers, settings.heads, settings.key_heads, settings.head_size
    functions = kernels.of_cache(settings, CACHE_TYPE)

    def kernel(name):
        return builder.add_func(getattr(functions, name), name)

    def attends(name):
        function = builder.add_func(getattr(functions, name), f"attention_{name}")
        return relax.Tuple([tvm.ir.StringImm("tirx"), function])

    absent, number = relax.Tuple([]), relax.prim_value
    arguments = [
        relax.ShapeExpr(list(sizes)),
        relax.ShapeExpr([0, layers]),
        number(queries),
        number(keys),
        number(size),
        number(size),
        relax.ShapeExpr([0] * layers),
        number(0),
        number(NORMAL),
        number(1),
        number(10000),
        relax.const(settings.frequencies()),
        relax.op.zeros((), CACHE_TYPE),
        kernel("append"),
        number(0),
        attends("prefill_rows"),
        attends("prefill_pages"),
        attends("decode"),
        *[absent] * 5,
        relax.Tuple([kernel("merge")]),
        kernel("rotate"),
        kernel("copy_page"),
        kernel("debug"),
        kernel("compact"),
    ]
    name = "vm.builtin.paged_attention_kv_cache_create"
    call = relax.call_pure_packed(name, *arguments, ty_args=relax.AnyType())
    return kv_cache.PagedKVCache(_expr=call, _name="cache")
