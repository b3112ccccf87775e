# SPDX-License-Identifier: MIT
"""A language model in one file in GGUF: weights, tokenizer and chat template."""

from dataclasses import dataclass, field

from . import chat_template, checkpoint, folder, gguf_file, settings, tokenizer


@dataclass
class Model:
    """A checkpoint, and the other files of a folder; notes are for the user."""

    checkpoint: object
    tokenizer: dict
    configuration: dict
    notes: list = field(default_factory=list)

    def write(self, path):
        """Write what is neither library nor weights."""
        configuration = {**self.configuration, "context_window_size": self.checkpoint.settings.context}
        folder.write_json(path / "tokenizer.json", self.tokenizer)
        folder.write_json(path / "mlc-chat-config.json", configuration)


def read_conversation(file, notes):
    """conv_template of a file, None if it has none."""
    template = file.get("tokenizer.chat_template", str, "")
    if not template:
        notes.append("the file has no chat template: what is said is given to the model as it is")
        return None
    tokens = file.metadata["tokenizer.ggml.tokens"]
    first, last = tokenizer.token(file, "bos"), tokenizer.token(file, "eos")
    bos = "" if first is None else tokens[first]
    found, begins = chat_template.read(file.path, template, bos, "" if last is None else tokens[last])
    if not found:
        notes.append("the chat template is of a kind that mlc-chat-config.json cannot state: tenon chat --raw")
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
