# SPDX-License-Identifier: MIT
"""The numbers of a decoder: from the metadata of a GGUF, or from config.json."""

from dataclasses import dataclass, field

import numpy

from ..errors import CompileError

MOST_LAYERS, MOST_EXTENT, MOST_CONTEXT = 1024, 1 << 20, 1 << 24
LANES = 16  # heads and widths are taken by vectors


@dataclass
class Settings:
    """A decoder of Llama's structure."""

    family: str  # llama, qwen2, qwen3, phi3
    layers: int
    width: int
    heads: int
    key_heads: int
    head_size: int
    feed_forward: int
    vocabulary: int
    context: int
    rotary: int  # numbers of a head that are rotated
    theta: float
    epsilon: float
    scaling: dict = field(default_factory=dict)  # of the frequencies: "type" is linear or llama3, and its numbers
    factors: object = None  # of each frequency, an array

    def frequencies(self):
        """How far a position rotates each pair of a head."""
        pairs = numpy.arange(0, self.rotary, 2, dtype=numpy.float64) / self.rotary
        frequencies = 1 / self.theta**pairs
        if self.scaling.get("type") == "linear":
            frequencies /= self.scaling["factor"]
        if self.scaling.get("type") == "llama3":
            s = self.scaling
            waves = s["original"] * frequencies / (2 * numpy.pi)  # in the context of the training
            smooth = (waves - s["low"]) / (s["high"] - s["low"])
            scaled = (1 - smooth) * frequencies / s["factor"] + smooth * frequencies
            frequencies = numpy.where(
                waves < s["low"], frequencies / s["factor"], numpy.where(waves > s["high"], frequencies, scaled)
            )
        if self.factors is not None:
            frequencies /= self.factors
        return frequencies.astype(numpy.float32)

    def check(self, path):
        """Refuse what the kernels do not do, and what no decoder has."""

        def refuse(text):
            raise CompileError(f"{path}: {text}")

        for name, value, most in (
            ("layers", self.layers, MOST_LAYERS),
            ("numbers of a hidden state", self.width, MOST_EXTENT),
            ("heads", self.heads, MOST_EXTENT),
            ("heads of keys", self.key_heads, MOST_EXTENT),
            ("numbers of a head", self.head_size, MOST_EXTENT),
            ("numbers of the feed-forward part", self.feed_forward, MOST_EXTENT),
            ("tokens of the vocabulary", self.vocabulary, 1 << 24),
            ("tokens of context", self.context, MOST_CONTEXT),
            ("rotated numbers of a head", self.rotary, self.head_size),
        ):
            if not 1 <= value <= most:
                refuse(f"{value} {name}, expected 1 to {most}")
        for name, value in (("hidden states", self.width), ("heads", self.head_size), ("gates", self.feed_forward)):
            if value % LANES:
                refuse(f"{name} of {value} numbers: the kernels want a multiple of {LANES}")
        if self.heads % self.key_heads:
            refuse(f"{self.heads} heads are no multiple of {self.key_heads} heads of keys")
        if self.rotary % 2:
            refuse(f"{self.rotary} rotated numbers of a head, expected an even number")
        for name, value in (("base of the rotation", self.theta), ("epsilon of the normalisation", self.epsilon)):
            if not (numpy.isfinite(value) and value > 0):
                refuse(f"the {name} is {value}, expected more than 0")


def from_gguf(file):
    """Settings of a file in GGUF."""
    family = file.get("general.architecture", str)
    if family not in ("llama", "qwen2", "qwen3", "phi3"):
        raise CompileError(
            f"{file.path}: architecture {family[:80]!r} is not supported. Supported are llama (also Mistral, SmolLM), "
            "qwen2, qwen3 and phi3"
        )

    def get(key, kind, default=None):
        return file.get(f"{family}.{key}", kind, default)

    heads, width = get("attention.head_count", int), get("embedding_length", int)
    size = get("attention.key_length", int, width // max(heads, 1))
    if get("attention.value_length", int, size) != size:
        raise CompileError(f"{file.path}: heads of values have another size than those of keys")
    if get("expert_count", int, 0):
        raise CompileError(f"{file.path}: mixtures of experts are not supported")
    kind = get("rope.scaling.type", str, "none")
    scaling = {} if kind == "none" else {"type": kind, "factor": get("rope.scaling.factor", float, 1.0)}
    if kind not in ("none", "linear"):
        raise CompileError(f"{file.path}: rotation with the scaling {kind[:80]!r} is not supported")
    embedding = file.tensors.get("token_embd.weight")
    if embedding is None:
        raise CompileError(f"{file.path}: the tensor token_embd.weight is missing")
    context = get("context_length", int, 2048)
    settings = Settings(
        family=family,
        layers=get("block_count", int),
        width=width,
        heads=heads,
        key_heads=get("attention.head_count_kv", int, heads),
        head_size=size,
        feed_forward=get("feed_forward_length", int),
        vocabulary=embedding.shape[0],
        # within the window every token sees all others
        context=min(context, get("attention.sliding_window", int, context) or context),
        rotary=get("rope.dimension_count", int, size),
        theta=get("rope.freq_base", float, 10000.0),
        epsilon=get("attention.layer_norm_rms_epsilon", float, 1e-5),
        scaling=scaling,
    )
    settings.check(file.path)
    return settings
