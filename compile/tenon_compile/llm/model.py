# SPDX-License-Identifier: MIT
"""What was read of a language model."""

from dataclasses import dataclass, field

from . import folder


@dataclass
class Model:
    """A checkpoint, and the contents of the other files of a folder; notes are for the user."""

    checkpoint: object
    tokenizer: dict  # empty if there is none
    configuration: dict
    notes: list = field(default_factory=list)

    def write(self, path):
        """Write what is neither library nor weights."""
        configuration = {**self.configuration, "context_window_size": self.checkpoint.settings.context}
        folder.write_json(path / "mlc-chat-config.json", configuration)
        if self.tokenizer:
            folder.write_json(path / "tokenizer.json", self.tokenizer)
