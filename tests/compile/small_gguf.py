# SPDX-License-Identifier: MIT
"""Small language models in GGUF with random weights, and what they say, by NumPy alone in float64."""

import struct

import numpy as np

UINT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 4, 6, 7, 8, 9, 10
F32, F16, Q4_0, Q4_1, Q8_0, BF16 = 0, 1, 2, 3, 8, 30
ALIGNMENT = 32
VOCABULARY, END = 300, 299
CHATML = (
    "{% for m in messages %}{% if loop.first and m['role'] != 'system' %}{{ '<|a|>system\nBe good.<|z|>\n' }}{% endif %}"
    "{{ '<|a|>' + m['role'] + '\n' + m['content'] + '<|z|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|a|>assistant\n' }}{% endif %}"
)
PROMPT = [72, 101, 108, 108, 111, 5, 280, 17, 33, 250, 12, 9, 64, 65, 66, 67, 68, 69, 70, 71]


# ---- the file


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(data):
    """The type of a value, and its bytes."""
    if isinstance(data, bool):
        return BOOL, struct.pack("<B", data)
    if isinstance(data, int):
        return UINT32, struct.pack("<I", data)
    if isinstance(data, float):
        return FLOAT32, struct.pack("<f", data)
    if isinstance(data, str):
        return STRING, string(data)
    kind = value(data[0])[0]
    return ARRAY, struct.pack("<IQ", kind, len(data)) + b"".join(value(item)[1] for item in data)


def gguf(metadata, tensors, version=3):
    """The bytes of a file. @tensors: by name the type, the shape, and the bytes."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, data in metadata.items():
        kind, raw = value(data)
        out += string(key) + struct.pack("<I", kind) + raw
    offset, body = 0, b""
    for name, (kind, shape, raw) in tensors.items():
        out += string(name) + struct.pack("<I", len(shape))
        out += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        out += struct.pack("<IQ", kind, offset)
        raw += bytes(-len(raw) % ALIGNMENT)
        offset, body = offset + len(raw), body + raw
    return out + bytes(-len(out) % ALIGNMENT) + body


# ---- random weights in a type: the bytes, and the numbers that they stand for


def blocks(rng, kind, shape):
    rows, groups = shape[0], shape[1] // 32
    scale = (rng.uniform(0.5, 1.5, (rows, groups)) / 64).astype(np.float16)
    offset = (rng.uniform(-9, -7, (rows, groups)) / 64).astype(np.float16)
    raw, numbers = b"", np.zeros((rows, groups, 32))
    for row in range(rows):
        for group in range(groups):
            d, m = scale[row, group], offset[row, group]
            if kind == Q8_0:
                d = np.float16(d / 16)
                codes = rng.integers(-127, 128, 32).astype(np.int8)
                raw += d.tobytes() + codes.tobytes()
                numbers[row, group] = codes * np.float64(d)
                continue
            codes = rng.integers(0, 16, 32).astype(np.uint8)
            raw += d.tobytes() + (m.tobytes() if kind == Q4_1 else b"")
            raw += (codes[:16] | codes[16:] << 4).tobytes()
            low = np.float64(m) if kind == Q4_1 else -8 * np.float64(d)
            numbers[row, group] = codes * np.float64(d) + low
    return raw, numbers.reshape(shape)


def weights(rng, kind, shape):
    if kind in (Q4_0, Q4_1, Q8_0):
        return blocks(rng, kind, shape)
    numbers = rng.uniform(-0.2, 0.2, shape).astype(np.float32)
    if len(shape) == 1:
        numbers += 1
    if kind == F16:
        numbers = numbers.astype(np.float16)
    if kind == BF16:
        raw = (numbers.view(np.uint32) >> 16).astype(np.uint16)
        return raw.tobytes(), (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return numbers.tobytes(), numbers.astype(np.float64)


# ---- models


def byte_tokens():
    """The characters that stand for bytes in byte-level vocabularies."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) if byte in plain else chr(256 + others.index(byte)) for byte in range(256)]


def tokenizer():
    tokens, merges = byte_tokens(), []
    letters = "abcdefghijklmnopqrstuvwxyz"
    for first, second in zip(letters, letters[1:], strict=False):
        merges.append(f"{first} {second}")
        tokens.append(first + second)
    tokens += [f"<|{n}|>" for n in range(VOCABULARY - 2 - len(tokens))] + ["<|a|>", "<|z|>"]
    kinds = [1] * 281 + [3] * (VOCABULARY - 281)
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.eos_token_id": END,
        "tokenizer.chat_template": CHATML,
    }


class Small:
    """A decoder with two layers. Llama's file has the heads' numbers in the order of llama.cpp, neighbours in pairs."""

    layers, width, heads, keys, size = 2, 64, 4, 2, 16
    neighbours = False  # whether the numbers of a pair, which are rotated together, are neighbours
    theta, epsilon, context = 10000.0, 1e-5, 256

    def __init__(self, family, matrix, embedding, head=None, bias=False, head_norms=False, factors=False, feed=64, seed=1):
        self.feed, self.family, self.numbers, self.tensors = feed, family, {}, {}
        self.neighbours = self.neighbours or family == "llama"
        self.rng = np.random.default_rng(seed)
        fused = {"attn_q": self.heads * self.size, "attn_k": self.keys * self.size, "attn_v": self.keys * self.size}
        self.add("token_embd.weight", embedding, (VOCABULARY, self.width))
        if head is not None:
            self.add("output.weight", head, (VOCABULARY, self.width))
        self.add("output_norm.weight", F32, (self.width,))
        if factors:
            self.add("rope_freqs.weight", F32, (self.size // 2,))
        for layer in range(self.layers):
            name = f"blk.{layer}."
            self.add(name + "attn_norm.weight", F32, (self.width,))
            self.add(name + "ffn_norm.weight", F32, (self.width,))
            for part, rows in fused.items():
                self.add(f"{name}{part}.weight", matrix, (rows, self.width))
                if bias:
                    self.add(f"{name}{part}.bias", F32, (rows,))
            if head_norms:
                self.add(name + "attn_q_norm.weight", F32, (self.size,))
                self.add(name + "attn_k_norm.weight", F32, (self.size,))
            self.add(name + "attn_output.weight", matrix, (self.width, self.heads * self.size))
            self.add(name + "ffn_gate.weight", matrix, (self.feed, self.width))
            self.add(name + "ffn_up.weight", matrix, (self.feed, self.width))
            self.add(name + "ffn_down.weight", matrix, (self.width, self.feed))

    def add(self, name, kind, shape):
        raw, self.numbers[name] = weights(self.rng, kind, shape)
        self.tensors[name] = (kind, shape, raw)

    def metadata(self):
        family = self.family
        return {
            "general.architecture": family,
            f"{family}.block_count": self.layers,
            f"{family}.embedding_length": self.width,
            f"{family}.attention.head_count": self.heads,
            f"{family}.attention.head_count_kv": self.keys,
            f"{family}.feed_forward_length": self.feed,
            f"{family}.context_length": self.context,
            f"{family}.rope.freq_base": self.theta,
            f"{family}.attention.layer_norm_rms_epsilon": self.epsilon,
            **tokenizer(),
        }

    def file(self):
        return gguf(self.metadata(), self.tensors)

    # -- the same in NumPy

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * self.numbers[name]

    def frequencies(self):
        frequency = self.theta ** -(np.arange(0, self.size, 2) / self.size)
        return frequency / self.numbers.get("rope_freqs.weight", 1)

    def rotate(self, x):
        """[tokens, heads, size]"""
        angle = np.arange(len(x))[:, None] * self.frequencies()
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        out = np.empty_like(x)
        pairs = (slice(0, None, 2), slice(1, None, 2))
        if not self.neighbours:
            pairs = (slice(0, self.size // 2), slice(self.size // 2, None))
        a, b = x[..., pairs[0]], x[..., pairs[1]]
        out[..., pairs[0]], out[..., pairs[1]] = a * cos - b * sin, b * cos + a * sin
        return out

    def part(self, x, name, heads, norm):
        y = x @ self.numbers[name + ".weight"].T + self.numbers.get(name + ".bias", 0)
        y = y.reshape(len(x), heads, self.size)
        return self.norm(y, norm) if norm in self.numbers else y

    def attention(self, x, name):
        q = self.rotate(self.part(x, name + "attn_q", self.heads, name + "attn_q_norm.weight"))
        k = self.rotate(self.part(x, name + "attn_k", self.keys, name + "attn_k_norm.weight"))
        v = self.part(x, name + "attn_v", self.keys, "")
        k, v = (np.repeat(part, self.heads // self.keys, axis=1) for part in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(self.size)
        scores = np.where(np.tril(np.ones((len(x), len(x)))) > 0, scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        seen = np.einsum("hqk,khd->qhd", scores / scores.sum(-1, keepdims=True), v)
        return seen.reshape(len(x), -1) @ self.numbers[name + "attn_output.weight"].T

    def logits(self, tokens):
        x = self.numbers["token_embd.weight"][tokens]
        for layer in range(self.layers):
            name = f"blk.{layer}."
            x = x + self.attention(self.norm(x, name + "attn_norm.weight"), name)
            y = self.norm(x, name + "ffn_norm.weight")
            gate, up = (y @ self.numbers[f"{name}ffn_{part}.weight"].T for part in ("gate", "up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self.numbers[name + "ffn_down.weight"].T
        head = self.numbers.get("output.weight", self.numbers["token_embd.weight"])
        return self.norm(x[-1:], "output_norm.weight")[0] @ head.T

    def expected(self, count):
        """Logits behind the prompt; greedy tokens, as long as no other token is about as probable."""
        tokens, first = list(PROMPT), self.logits(PROMPT)
        for _ in range(count):
            logits = self.logits(tokens)
            best, second = np.sort(logits)[-1], np.sort(logits)[-2]
            if best - second < 1e-3 * np.abs(logits).max():
                break
            tokens.append(int(logits.argmax()))
        return {"prompt": PROMPT, "logits": first.tolist(), "reply": tokens[len(PROMPT) :]}


class Long(Small):
    """One for long conversations."""

    context = 2048


class Wide(Small):
    """One layer of 3072 columns, as Phi-3-mini has 32."""

    layers, width, heads, keys, size = 1, 3072, 24, 8, 128


MODELS = {
    "llama": lambda: Small("llama", Q4_1, Q8_0, factors=True, feed=96),
    "qwen2": lambda: Small("qwen2", Q4_0, F16, head=F16, bias=True),
    "qwen3": lambda: Small("qwen3", F32, BF16, head=Q8_0, head_norms=True),
    "long": lambda: Long("qwen2", Q4_0, F16, head=F16, bias=True),
    "wide": lambda: Wide("qwen2", F16, F16),
}

