# SPDX-License-Identifier: MIT
"""The paged cache of keys and values that a model makes, with the kernels above for its attention."""

import tvm
from tvm import relax
from tvm.relax.frontend.nn.llm import kv_cache

from . import attention
from .small_kernels import rotation

NORMAL = int(kv_cache.RopeMode.NORMAL)
CACHE_TYPE = "float32"


def new_cache(sizes, settings):
    """
    Call the runtime's function that makes a cache. @sizes: most sequences and tokens, tokens of a step, tokens of a page,
    whether windows slide. Kernels for sliding windows and trees of tokens are absent: the runtime says so if it needs one.
    """
    builder = relax.BlockBuilder.current()
    layers, queries, keys, size = settings.layers, settings.heads, settings.key_heads, settings.head_size

    def kernel(function, name):
        return builder.add_func(function, name)

    def attends(function, name):
        return relax.Tuple([tvm.ir.StringImm("tirx"), kernel(function(queries, keys, size), name)])

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
        kernel(kv_cache._kv_cache_transpose_append(keys, size, CACHE_TYPE), "append"),
        number(0),
        attends(attention.prefill_rows, "attention_rows"),
        attends(attention.prefill_pages, "attention_pages"),
        attends(attention.decode, "attention_decode"),
        *[absent] * 5,
        relax.Tuple([kernel(kv_cache._merge_state_inplace_cpu(CACHE_TYPE), "merge")]),
        kernel(rotation(queries, keys, size, settings.rotary), "rotate"),
        kernel(kv_cache._copy_single_page_cpu(keys, attention.PAGE, size, CACHE_TYPE), "copy_page"),
        kernel(kv_cache._kv_cache_debug_get_kv(layers, keys, size, CACHE_TYPE), "debug"),
        kernel(kv_cache._compact_kv_copy_cpu(keys, size, CACHE_TYPE), "compact"),
    ]
    name = "vm.builtin.paged_attention_kv_cache_create"
    call = relax.call_pure_packed(name, *arguments, ty_args=relax.AnyType())
    return kv_cache.PagedKVCache(_expr=call, _name="cache")
