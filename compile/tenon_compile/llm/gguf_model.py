# SPDX-License-Identifier: MIT
"""A language model in one file in GGUF: weights, tokenizer and chat template."""

from . import chat_template, checkpoint, gguf_file, settings, tokenizer
from .model import Model


def read_conversation(file, notes):
    """conv_template of a file, None if it has none."""
    template = file.get("tokenizer.chat_template", str, "")
    if not template:
        notes.append(chat_template.NONE)
        return None
    tokens = file.metadata["tokenizer.ggml.tokens"]
    first, last = tokenizer.token(file, "bos"), tokenizer.token(file, "eos")
    bos = "" if first is None else tokens[first]
    found, begins = chat_template.read(file.path, template, bos, "" if last is None else tokens[last])
    if not found:
        notes.append(chat_template.OTHER)
        return None
    conversation = found.conv_template()
    if begins or (first is not None and file.get("tokenizer.ggml.add_bos_token", bool, False)):
        conversation["system_prefix_token_ids"] = [first]
    return conversation


def read(path):
    """Read and check all but the values of the weights."""
    file, notes = gguf_file.read(path), []
    numbers = settings.from_gguf(file)
    vocabulary = tokenizer.read(file, numbers)
    ends = [number for number in (tokenizer.token(file, "eos"), tokenizer.token(file, "eot")) if number is not None]
    conversation = read_conversation(file, notes)
    configuration = {"model_type": "llama", "vocab_size": numbers.vocabulary, "temperature": 0.7, "top_p": 0.9}
    if ends:
        configuration["eos_token_id"] = sorted(set(ends))
    if conversation:
        configuration["conv_template"] = conversation
    weights = checkpoint.of_gguf(file, numbers)
    if weights.has("factors"):
        numbers.factors = weights.vector("factors", 0, numbers.rotary // 2)
    return Model(weights, vocabulary, configuration, notes)
