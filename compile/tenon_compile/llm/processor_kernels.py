# SPDX-License-Identifier: MIT
"""What a decoder is made of on a processor: forms of weights, and kernels, all with schedules of their own."""

from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm import kv_cache

from . import attention
from .cache import PAGE, CacheKernels
from .forms import form_of, is_one_row
from .small_kernels import gate, normalisation, rotation


class ProcessorKernels:
    """@processor: what forms of weights depend on (forms.Processor)."""

    def __init__(self, processor):
        self.processor = processor

    def form(self, kind, shape):
        return form_of(kind, shape, self.processor)

    def normalised(self, x, weights, width, epsilon):
        kernel = normalisation(width, epsilon, is_one_row(x))
        return op.tensor_ir_op(kernel, "normalise", [x, weights], Tensor.placeholder(x.shape, "float32"))

    def gated(self, x, width):
        kernel = gate(width, is_one_row(x))
        return op.tensor_ir_op(kernel, "gate", [x], Tensor.placeholder((x.shape[0], width), "float32"))

    def recorded(self, x, cache):
        """A processor has no recordings."""
        return x, cache

    def of_cache(self, settings, dtype):
        queries, keys, size = settings.heads, settings.key_heads, settings.head_size
        return CacheKernels(
            append=kv_cache._kv_cache_transpose_append(keys, size, dtype),
            prefill_rows=attention.prefill_rows(queries, keys, size),
            prefill_pages=attention.prefill_pages(queries, keys, size),
            decode=attention.decode(queries, keys, size),
            merge=kv_cache._merge_state_inplace_cpu(dtype),
            rotate=rotation(queries, keys, size, settings.rotary),
            copy_page=kv_cache._copy_single_page_cpu(keys, PAGE, size, dtype),
            debug=kv_cache._kv_cache_debug_get_kv(settings.layers, keys, size, dtype),
            compact=kv_cache._compact_kv_copy_cpu(keys, size, dtype),
        )
