# SPDX-License-Identifier: MIT
"""The models of small_gguf.py as folders with config.json and safetensors, as Hugging Face's Transformers write them."""

import json
import struct

import numpy as np
from small_gguf import BF16, F16, F32, VOCABULARY, Small

TYPES = {F32: "F32", F16: "F16", BF16: "BF16"}
NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output.weight": "lm_head.weight",
    "output_norm.weight": "model.norm.weight",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
FUSED = {"self_attn.qkv_proj": ("attn_q", "attn_k", "attn_v"), "mlp.gate_up_proj": ("ffn_gate", "ffn_up")}


def safetensors(tensors):
    """The bytes of a file. @tensors: by name the type, the shape, and the bytes."""
    header, body = {}, b""
    for name, (kind, shape, raw) in tensors.items():
        offsets = [len(body), len(body) + len(raw)]
        header[name] = {"dtype": TYPES[kind], "shape": list(shape), "data_offsets": offsets}
        body += raw
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


class SmallFolder(Small):
    """@kind: model_type of config.json; @scaled: with the rotation of Llama 3; @size: of a head."""

    def __init__(self, kind, matrix, fused=False, scaled=False, size=16, **options):
        self.kind, self.fused, self.scaled, self.size = kind, fused, scaled, size
        super().__init__(f"transformers-{kind}", matrix, matrix, **options)

    def frequencies(self):
        frequency = super().frequencies()
        if not self.scaled:
            return frequency
        # Transformers' rule, one frequency at a time
        result, original, factor, low, high = [], 64, 8.0, 1.0, 4.0
        for f in frequency:
            wave = 2 * np.pi / f
            if wave < original / high:
                result.append(f)
            elif wave > original / low:
                result.append(f / factor)
            else:
                smooth = (original / wave - low) / (high - low)
                result.append((1 - smooth) * f / factor + smooth * f)
        return np.array(result)

    def stored(self):
        """Tensors by the names of Transformers."""
        found, taken = {}, set()
        if self.fused:
            for layer in range(self.layers):
                for name, parts in FUSED.items():
                    joined = [self.tensors[f"blk.{layer}.{part}.weight"] for part in parts]
                    taken |= {f"blk.{layer}.{part}.weight" for part in parts}
                    shape = (sum(shape[0] for _, shape, _ in joined), self.width)
                    raw = b"".join(raw for _, _, raw in joined)
                    found[f"model.layers.{layer}.{name}.weight"] = (joined[0][0], shape, raw)
        for name, tensor in self.tensors.items():
            if name in NAMES:
                found[NAMES[name]] = tensor
            elif name not in taken:
                _, layer, part, suffix = name.split(".")
                found[f"model.layers.{layer}.{NAMES[part]}.{suffix}"] = tensor
        return found

    def config(self):
        config = {
            "model_type": self.kind,
            "hidden_size": self.width,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.keys,
            "head_dim": self.size,
            "intermediate_size": self.feed,
            "vocab_size": VOCABULARY,
            "max_position_embeddings": 256,
            "rms_norm_eps": self.epsilon,
            "rope_theta": self.theta,
            "hidden_act": "silu",
            "eos_token_id": [VOCABULARY - 1],
            "tie_word_embeddings": "output.weight" not in self.tensors,
        }
        if self.scaled:
            config["rope_scaling"] = {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        return config

    def write(self, folder, files=1):
        """Write the folder; with several files of weights, their index too."""
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(self.config()))
        stored = self.stored()
        if files == 1:
            (folder / "model.safetensors").write_bytes(safetensors(stored))
            return
        names, places = sorted(stored), {}
        for number in range(files):
            file = f"model-{number}.safetensors"
            part = {name: stored[name] for name in names[number::files]}
            (folder / file).write_bytes(safetensors(part))
            places |= dict.fromkeys(part, file)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


MODELS = {
    "llama": lambda: SmallFolder("llama", F16, head=F16, scaled=True),
    "qwen2": lambda: SmallFolder("qwen2", F32, bias=True),
    "phi3": lambda: SmallFolder("phi3", BF16, head=BF16, fused=True, size=48),
}
