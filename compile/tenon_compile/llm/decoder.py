# SPDX-License-Identifier: MIT
"""The decoder as a model of TVM's, and its weights. The functions are those of MLC-LLM's libraries."""

from tvm import te
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op, spec
from tvm.relax.frontend.nn.llm.kv_cache import PagedKVCache

from .cache import new_cache


class Weights(nn.Module):
    """A matrix of the checkpoint. @outputs: rows of it, fewer than those of its form if they are no whole blocks."""

    def __init__(self, context, what, layer, outputs, inputs):
        shape = (outputs, inputs)
        self.form = context.kernels.form(context.checkpoint.kind(what, layer, shape), shape)
        self.names = []
        for name, extents, dtype in self.form.parameters():
            setattr(self, name, nn.Parameter(extents, dtype))
            self.names.append(name)
        self.outputs = outputs
        context.loaded(self.parameters_here(), lambda: self.form.pack(context.checkpoint.matrix(what, layer)))

    def parameters_here(self):
        return [getattr(self, name) for name in self.names]

    def forward(self, x: Tensor):
        y = self.form.product(x, self.parameters_here())
        return y if self.form.outputs == self.outputs else op.split(y, [self.outputs], axis=1)[0]

    def rows(self, tokens: Tensor):
        return self.form.rows(tokens, self.parameters_here())


class Vector(nn.Module):
    """A vector of the checkpoint."""

    def __init__(self, context, what, layer, size):
        self.values = nn.Parameter((size,), "float32")
        context.checkpoint.stored(what, layer)
        context.loaded([self.values], lambda: [context.checkpoint.vector(what, layer, size)])


class Norm(Vector):
    """Division by the root of the mean square."""

    def __init__(self, context, what, layer, size):
        super().__init__(context, what, layer, size)
        self.kernels, self.size, self.epsilon = context.kernels, size, context.checkpoint.settings.epsilon

    def forward(self, x: Tensor):
        return self.kernels.normalised(x, self.values, self.size, self.epsilon)


class Layer(nn.Module):
    """Attention, and the feed-forward part, on rows [tokens, width]."""

    def __init__(self, context, number):
        checkpoint, s = context.checkpoint, context.checkpoint.settings
        self.kernels, self.settings, self.number = context.kernels, s, number
        fused = (s.heads + 2 * s.key_heads) * s.head_size
        self.norm1 = Norm(context, "norm1", number, s.width)
        self.qkv = Weights(context, "qkv", number, fused, s.width)
        self.bias = Vector(context, "qkv_bias", number, fused) if checkpoint.has("qkv_bias", number) else None
        self.norm_q = Norm(context, "norm_q", number, s.head_size) if checkpoint.has("norm_q", number) else None
        self.norm_k = Norm(context, "norm_k", number, s.head_size) if checkpoint.has("norm_k", number) else None
        self.out = Weights(context, "out", number, s.width, s.heads * s.head_size)
        self.norm2 = Norm(context, "norm2", number, s.width)
        self.gates = Weights(context, "gates", number, 2 * s.feed_forward, s.width)
        self.down = Weights(context, "down", number, s.width, s.feed_forward)

    def normalised_heads(self, qkv: Tensor):
        """Queries and keys, each head normalised."""
        s, n = self.settings, qkv.shape[0]
        parts = list(op.split(qkv, [s.heads * s.head_size, (s.heads + s.key_heads) * s.head_size], axis=1))
        for part, (norm, heads) in enumerate(((self.norm_q, s.heads), (self.norm_k, s.key_heads))):
            if norm:
                rows = op.reshape(parts[part], (n * heads, s.head_size))
                parts[part] = op.reshape(norm(rows), (n, heads * s.head_size))
        return op.concat(parts, dim=1)

    def forward(self, x: Tensor, cache: PagedKVCache):
        s, n = self.settings, x.shape[0]
        qkv = self.qkv(self.norm1(x))
        if self.bias:
            qkv = qkv + self.bias.values
        if self.norm_q or self.norm_k:
            qkv = self.normalised_heads(qkv)
        qkv = op.reshape(qkv, (1, n, s.heads + 2 * s.key_heads, s.head_size))
        seen = cache.attention_with_fused_qkv(self.number, qkv, s.heads, sm_scale=s.head_size**-0.5)
        x = x + self.out(op.reshape(seen, (n, s.heads * s.head_size)))
        return x + self.down(self.kernels.gated(self.gates(self.norm2(x)), s.feed_forward))


class Decoder(nn.Module):
    """The whole model."""

    def __init__(self, context):
        checkpoint, s = context.checkpoint, context.checkpoint.settings
        self.kernels, self.settings = context.kernels, s
        self.embedding = Weights(context, "embedding", 0, s.vocabulary, s.width)
        self.layers = nn.ModuleList([Layer(context, number) for number in range(s.layers)])
        self.norm = Norm(context, "norm", 0, s.width)
        self.head = Weights(context, "head", 0, s.vocabulary, s.width) if checkpoint.has("head") else None

    def hidden(self, x: Tensor, cache: PagedKVCache):
        """The last state of each row."""
        rows = x.shape[1] if isinstance(x.shape[0], int) else x.shape[0]
        x = op.reshape(x, (rows, self.settings.width))
        for layer in self.layers:
            x = layer(x, cache)
        return self.norm(x)

    def logits(self, rows: Tensor):
        return (self.head or self.embedding)(rows)

    def embed(self, tokens: Tensor):
        return self.embedding.rows(tokens)

    def prefill(self, x: Tensor, cache: PagedKVCache):
        last = op.tensor_expr_op(last_row, "last_row", args=[self.hidden(x, cache)])
        return op.reshape(self.logits(last), (1, 1, self.settings.vocabulary)), cache

    def decode(self, x: Tensor, cache: PagedKVCache):
        states = self.hidden(*self.kernels.recorded(x, cache))
        return op.reshape(self.logits(states), (1, 1, self.settings.vocabulary)), cache

    def batch_prefill(self, x: Tensor, rows: Tensor, cache: PagedKVCache):
        last = op.tensor_expr_op(chosen_rows, "chosen_rows", args=[self.hidden(x, cache), rows])
        return op.reshape(self.logits(last), (1, rows.shape[0], self.settings.vocabulary)), cache

    def batch_decode(self, x: Tensor, cache: PagedKVCache):
        n = x.shape[0]
        return op.reshape(self.logits(self.hidden(x, cache)), (n, 1, self.settings.vocabulary)), cache

    def create_tir_paged_kv_cache(
        self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window
    ) -> PagedKVCache:
        sizes = (max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window)
        return new_cache(sizes, self.settings, self.kernels)

    def specification(self):
        """The functions, with their arguments; weights come as one tuple behind them."""
        cache, width = spec.Object(object_type=PagedKVCache), self.settings.width
        packed = {"param_mode": "packed", "effect_mode": "none"}
        numbers = ("max_batch_size", "max_total_seq_len", "prefill_chunk_size", "page_size", "support_sliding_window")

        def rows(*extents):
            return spec.Tensor([*extents, width], "float32")

        return {
            "embed": {"tokens": spec.Tensor(["n"], "int32"), "$": packed},
            "prefill": {"x": rows(1, "n"), "cache": cache, "$": packed},
            "decode": {"x": rows(1, 1), "cache": cache, "$": packed},
            "batch_prefill": {"x": rows(1, "n"), "rows": spec.Tensor(["b"], "int32"), "cache": cache, "$": packed},
            "batch_decode": {"x": rows("b", 1), "cache": cache, "$": packed},
            "create_tir_paged_kv_cache": {
                **{name: int for name in numbers},
                "$": {"param_mode": "none", "effect_mode": "none"},
            },
        }


def chosen_rows(rows, numbers):
    return te.compute((numbers.shape[0], rows.shape[1]), lambda r, k: rows[numbers[r], k], name="chosen_rows")


def last_row(rows):
    n, width = rows.shape
    return te.compute((1, width), lambda _, k: rows[n - 1, k], name="last_row")
