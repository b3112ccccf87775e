# SPDX-License-Identifier: MIT
"""A language model in a folder with config.json, weights in safetensors, and a tokenizer."""

import os

from ..errors import CompileError, of_type
from . import chat_template, checkpoint, safetensors_file
from .model import Model
from .settings import Settings

CONFIG, INDEX, WEIGHTS = "config.json", "model.safetensors.index.json", "model.safetensors"
MOST_FILE = 64 << 20  # bytes of a file in JSON
FAMILIES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "phi3": "phi3"}


class Config:
    """An object of a file in JSON, with checks of types."""

    def __init__(self, path, values):
        self.path, self.values = path, values

    def get(self, key, kind, default=None):
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise CompileError(f"{self.path}: {key} is missing")
            return default
        return of_type(value, kind, self.path, key)


def read_object(path, needed=False):
    """The object of a file in JSON; an empty one if there is no file."""
    if not path.is_file():
        if needed:
            raise CompileError(f"{path}: no such file")
        return Config(path, {})
    if path.stat().st_size > MOST_FILE:
        raise CompileError(f"{path}: {path.stat().st_size} bytes, expected {MOST_FILE} at most")
    values = safetensors_file.read_json(path, path.read_bytes())
    if type(values) is not dict:
        raise CompileError(f"{path}: no object")
    return Config(path, values)


def read_tensors(folder):
    """The tensors of all files of a folder."""
    if (folder / WEIGHTS).is_file():
        return safetensors_file.read(folder / WEIGHTS)
    index = read_object(folder / INDEX, needed=True)
    places = index.get("weight_map", dict)
    tensors = {}
    for name in sorted({str(place) for place in places.values()}):
        if os.path.basename(name) != name or not name.endswith(".safetensors"):
            raise CompileError(f"{index.path}: {name[:80]!r} is no file of this folder")
        if not (folder / name).is_file():
            raise CompileError(f"{folder / name}: no such file, though {INDEX} lists it")
        tensors.update(safetensors_file.read(folder / name))
    return tensors


def scaling_of(config):
    """How rotations are scaled, and their base."""
    found = config.get("rope_parameters", dict, {}) or config.get("rope_scaling", dict, {})
    numbers = Config(f"{config.path}: rope_scaling", found)
    kind = numbers.get("rope_type", str, numbers.get("type", str, "default"))
    theta = numbers.get("rope_theta", float, config.get("rope_theta", float, 10000.0))
    if kind == "default":
        return {}, theta
    if kind == "linear":
        return {"type": "linear", "factor": numbers.get("factor", float)}, theta
    if kind == "llama3":
        return {
            "type": "llama3",
            "factor": numbers.get("factor", float),
            "low": numbers.get("low_freq_factor", float),
            "high": numbers.get("high_freq_factor", float),
            "original": numbers.get("original_max_position_embeddings", int),
        }, theta
    raise CompileError(f"{config.path}: rotation with the scaling {kind[:40]!r} is not supported")


def settings_of(config):
    kind = config.get("model_type", str)
    if kind not in FAMILIES:
        raise CompileError(
            f"{config.path}: model_type {kind[:40]!r} is not supported. Supported are {', '.join(FAMILIES)}"
        )
    if config.get("hidden_act", str, "silu") != "silu":
        raise CompileError(f"{config.path}: hidden_act {config.values['hidden_act']!r} is not supported, silu is")
    heads, width = config.get("num_attention_heads", int), config.get("hidden_size", int)
    size = config.get("head_dim", int, width // max(heads, 1))
    context = config.get("max_position_embeddings", int, 2048)
    # within the window every token sees all others
    if config.get("use_sliding_window", bool, kind in ("mistral", "phi3")):
        context = min(context, config.get("sliding_window", int, context))
    scaling, theta = scaling_of(config)
    settings = Settings(
        family=FAMILIES[kind],
        layers=config.get("num_hidden_layers", int),
        width=width,
        heads=heads,
        key_heads=config.get("num_key_value_heads", int, heads),
        head_size=size,
        feed_forward=config.get("intermediate_size", int),
        vocabulary=config.get("vocab_size", int),
        context=context,
        rotary=int(size * config.get("partial_rotary_factor", float, 1.0)),
        theta=theta,
        epsilon=config.get("rms_norm_eps", float, 1e-6),
        scaling=scaling,
    )
    settings.check(config.path)
    return settings


def ends_of(config, generation):
    """The tokens that end a reply."""
    for source in (generation, config):
        given = source.values.get("eos_token_id")
        listed = given if type(given) is list else [given]
        if given is not None and all(type(token) is int and token >= 0 for token in listed):
            return sorted(set(listed))
    return []


def text_of(value):
    """A special token of tokenizer_config.json: a text, or an object with one."""
    value = value.get("content") if type(value) is dict else value
    return value if type(value) is str else ""


def template_of(folder, config):
    """The chat template, empty if there is none."""
    beside = folder / "chat_template.jinja"
    if beside.is_file():
        return beside.read_text(encoding="utf-8", errors="replace")
    found = config.values.get("chat_template", "")
    if type(found) is list:  # several by name
        named = {str(entry.get("name")): entry.get("template") for entry in found if type(entry) is dict}
        found = named.get("default")
    return found if type(found) is str else ""


def number_of(tokenizer, text):
    """The number of an added token, None if there is no such token."""
    for entry in tokenizer.get("added_tokens", list, []):
        if type(entry) is dict and entry.get("content") == text and type(entry.get("id")) is int:
            return entry["id"]
    return None


def read_conversation(folder, tokenizer, notes):
    """conv_template of a folder, None if it has none."""
    config = read_object(folder / "tokenizer_config.json")
    template = template_of(folder, config)
    if not template:
        notes.append(chat_template.NONE)
        return None
    bos, eos = text_of(config.values.get("bos_token")), text_of(config.values.get("eos_token"))
    found, begins = chat_template.read(folder, template, bos, eos)
    number = number_of(tokenizer, bos) if begins else None
    if not found or (begins and number is None):
        notes.append(chat_template.OTHER)
        return None
    return {**found.conv_template(), **({"system_prefix_token_ids": [number]} if begins else {})}


def read(folder):
    """Read and check all but the values of the weights."""
    notes, config = [], read_object(folder / CONFIG, needed=True)
    settings, tensors = settings_of(config), read_tensors(folder)
    if config.get("tie_word_embeddings", bool, False):
        tensors.pop("lm_head.weight", None)
    elif "lm_head.weight" not in tensors:
        raise CompileError(f"{folder}: the tensor lm_head.weight is missing, and tie_word_embeddings is not set")
    tokenizer = read_object(folder / "tokenizer.json")
    if not tokenizer.values:
        notes.append("the folder has no tokenizer.json: prompts are numbers (tenon chat --tokens)")
    generation = read_object(folder / "generation_config.json")
    configuration = {
        "model_type": "llama",
        "vocab_size": settings.vocabulary,
        "temperature": generation.get("temperature", float, 0.7),
        "top_p": generation.get("top_p", float, 0.9),
    }
    ends = ends_of(config, generation)
    if ends:
        configuration["eos_token_id"] = ends
    conversation = read_conversation(folder, tokenizer, notes)
    if conversation:
        configuration["conv_template"] = conversation
    return Model(checkpoint.of_folder(folder, settings, tensors), tokenizer.values, configuration, notes)
