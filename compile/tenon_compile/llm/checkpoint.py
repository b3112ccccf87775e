# SPDX-License-Identifier: MIT
"""The weights of a decoder, wherever a file keeps them."""

from dataclasses import dataclass, field

import numpy

from ..errors import CompileError
from .matrix import joined

# names of tensors by what they are for; several are joined, one output after another
GGUF = {
    "embedding": ["token_embd.weight"],
    "head": ["output.weight"],
    "norm": ["output_norm.weight"],
    "factors": ["rope_freqs.weight"],
    "norm1": ["blk.{}.attn_norm.weight"],
    "qkv": ["blk.{}.attn_q.weight", "blk.{}.attn_k.weight", "blk.{}.attn_v.weight"],
    "qkv_bias": ["blk.{}.attn_q.bias", "blk.{}.attn_k.bias", "blk.{}.attn_v.bias"],
    "norm_q": ["blk.{}.attn_q_norm.weight"],
    "norm_k": ["blk.{}.attn_k_norm.weight"],
    "out": ["blk.{}.attn_output.weight"],
    "norm2": ["blk.{}.ffn_norm.weight"],
    "gates": ["blk.{}.ffn_gate.weight", "blk.{}.ffn_up.weight"],
    "down": ["blk.{}.ffn_down.weight"],
}
GGUF_FUSED = {"qkv": ["blk.{}.attn_qkv.weight"], "gates": ["blk.{}.ffn_up.weight"]}
SAFETENSORS = {
    "embedding": ["model.embed_tokens.weight"],
    "head": ["lm_head.weight"],
    "norm": ["model.norm.weight"],
    "factors": [],
    "norm1": ["model.layers.{}.input_layernorm.weight"],
    "qkv": [f"model.layers.{{}}.self_attn.{x}_proj.weight" for x in "qkv"],
    "qkv_bias": [f"model.layers.{{}}.self_attn.{x}_proj.bias" for x in "qkv"],
    "norm_q": ["model.layers.{}.self_attn.q_norm.weight"],
    "norm_k": ["model.layers.{}.self_attn.k_norm.weight"],
    "out": ["model.layers.{}.self_attn.o_proj.weight"],
    "norm2": ["model.layers.{}.post_attention_layernorm.weight"],
    "gates": ["model.layers.{}.mlp.gate_proj.weight", "model.layers.{}.mlp.up_proj.weight"],
    "down": ["model.layers.{}.mlp.down_proj.weight"],
}
SAFETENSORS_FUSED = {
    "qkv": ["model.layers.{}.self_attn.qkv_proj.weight"],
    "gates": ["model.layers.{}.mlp.gate_up_proj.weight"],
}


def order_of_halves(heads, size, rotary):
    """Rows of heads whose rotated numbers are neighbours, with the first numbers of all pairs before the second ones."""
    head = numpy.concatenate([numpy.arange(0, rotary, 2), numpy.arange(1, rotary, 2), numpy.arange(rotary, size)])
    return (numpy.arange(heads)[:, None] * size + head).reshape(-1)


@dataclass
class Checkpoint:
    """
    Settings, and tensors by the names of a table. @interleaved: the rows of queries and keys are in the order in which
    llama.cpp rotates neighbours.
    """

    path: object
    settings: object
    tensors: dict
    names: dict
    interleaved: bool
    used: set = field(default_factory=set)

    def has(self, what, layer=0):
        names = self.names[what]
        return bool(names) and all(name.format(layer) in self.tensors for name in names)

    def stored(self, what, layer):
        found = []
        for name in self.names[what]:
            name = name.format(layer)
            if name not in self.tensors:
                raise CompileError(f"{self.path}: the tensor {name} is missing")
            self.used.add(name)
            found.append(self.tensors[name])
        return found

    def kind(self, what, layer, shape):
        """What a matrix of these tensors is made of, after a check of its shape."""
        stored = self.stored(what, layer)
        for tensor in stored:
            if len(tensor.shape) != 2 or tensor.shape[1] != shape[1]:
                self.refuse(tensor, f"[…, {shape[1]}]")
        if sum(tensor.shape[0] for tensor in stored) != shape[0]:
            self.refuse(stored[0], f"{list(shape)}, together with those joined to it")
        kinds = {tensor.kind for tensor in stored}
        return kinds.pop() if len(kinds) == 1 else "float32"

    def refuse(self, tensor, expected):
        raise CompileError(f"{self.path}: tensor {tensor.name} has the shape {list(tensor.shape)}, expected {expected}")

    def order(self, part, rows):
        """The order of the rows of queries (part 0) or keys (1), None if it stays."""
        heads = (self.settings.heads, self.settings.key_heads)
        if not self.interleaved or part > 1:
            return None
        if rows != heads[part] * self.settings.head_size:
            raise CompileError(f"{self.path}: {rows} rows of queries or keys for {heads[part]} heads")
        return order_of_halves(heads[part], self.settings.head_size, self.settings.rotary)

    def matrix(self, what, layer):
        matrices = []
        for part, tensor in enumerate(self.stored(what, layer)):
            matrix = tensor.matrix()
            order = self.order(part, tensor.shape[0]) if what == "qkv" else None
            matrices.append(matrix if order is None else matrix.rows(order))
        result = joined(matrices)
        if not result.finite():
            raise CompileError(f"{self.path}: {self.names[what][0].format(layer)}: numbers that are not finite")
        return result

    def vector(self, what, layer, size):
        parts = []
        for part, tensor in enumerate(self.stored(what, layer)):
            if len(tensor.shape) != 1:
                self.refuse(tensor, "one dimension")
            values = tensor.matrix().floats().reshape(-1)
            order = self.order(part, len(values)) if what == "qkv_bias" else None
            parts.append(values if order is None else values[order])
        values = numpy.concatenate(parts)
        if len(values) != size:
            raise CompileError(f"{self.path}: {self.names[what][0].format(layer)}: {len(values)} numbers, expected {size}")
        if not numpy.isfinite(values).all():
            raise CompileError(f"{self.path}: {self.names[what][0].format(layer)}: numbers that are not finite")
        return values

    def check_all_used(self):
        """A tensor that was left would change what the model says."""
        left = sorted(set(self.tensors) - self.used)
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            raise CompileError(
                f"{self.path}: a decoder of {self.settings.family} does not use the tensor {left[0][:80]}{more}"
            )


def of_folder(folder, settings, tensors):
    fused = "model.layers.0.self_attn.qkv_proj.weight" in tensors
    names = {**SAFETENSORS, **SAFETENSORS_FUSED} if fused else SAFETENSORS
    return Checkpoint(folder, settings, tensors, names, interleaved=False)


def of_gguf(file, settings):
    fused = "blk.0.attn_qkv.weight" in file.tensors
    names = {**GGUF, **GGUF_FUSED} if fused else GGUF
    return Checkpoint(file.path, settings, file.tensors, names, interleaved=settings.family == "llama")
