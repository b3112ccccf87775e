# SPDX-License-Identifier: MIT
"""Language models: tenon/llm.h."""

import os

from tenon import _core
from tenon._beside import extension

_SAMPLING = ("temperature", "top_p", "repetition_penalty", "presence_penalty", "frequency_penalty")


class Reply:
    """A reply of a language model while it is generated: iterate over it for its text, part by part.

    Each part that is waited for takes steps with all requests of the model, so other replies grow meanwhile. A reply
    that is dropped is cancelled.
    """

    def __init__(self, model, core):
        self._model = model
        self._core = core
        self._text = []
        self._tokens = []
        self._reason = None
        self.end = None
        self.usage = None

    def __repr__(self):
        return f"<tenon.Reply of {len(self._tokens)} tokens{', ' + self.end if self.end else ''}>"

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            part, tokens, self.end, self._reason, self.usage = self._core.take()
            self._tokens += tokens
            if part:
                self._text.append(part)
                return part
            if self.end == "error":
                raise _core.CallError(self._reason)
            if self.end:
                raise StopIteration
            self._model.step()

    @property
    def text(self):
        """The whole text; generates the rest first."""
        for _ in self:
            pass
        return "".join(self._text)

    @property
    def tokens(self):
        """The tokens of the parts so far."""
        return list(self._tokens)

    def cancel(self):
        """End the reply in the next step."""
        self._core.cancel()


class LanguageModel:
    """A language model that is open: a folder that tenon-compile made, or a shared object of mlc_llm compile.

    device: where it runs, the processor by default. weights: folder of tensor-cache.json and tokenizer.json, that of
    the model by default. sequences, cache_tokens, chunk: replies at a time, tokens of all together for which there is
    room, and tokens of one step of a prompt. byte_tokens: use the bytes of a text as its tokens.

    Several threads may use a model: their requests share one batch.
    """

    def __init__(
        self, path, device=None, *, weights=None, sequences=None, cache_tokens=None, chunk=None, byte_tokens=False
    ):
        self._core, self._info, self._sampling = extension("_llm", "tenon.LanguageModel").open(
            os.fsencode(path),
            device,
            None if weights is None else os.fsencode(weights),
            sequences or 0,
            cache_tokens or 0,
            chunk or 0,
            byte_tokens,
        )

    def __repr__(self):
        return f"<tenon.LanguageModel {self._info['name']!r}>"

    @property
    def info(self):
        """Name, type, quantization, tokenizer, and sizes: struct tenon_llm_info of tenon/llm.h as a dict."""
        return dict(self._info)

    @property
    def sampling(self):
        """The sampling that the model recommends, and uses where a request gives none."""
        return dict(self._sampling)

    def encode(self, text, *, special=False):
        """The tokens of a text; special: names of special tokens in it stand for these."""
        return self._core.encode(text, special)

    def decode(self, tokens):
        """The text of tokens."""
        return self._core.decode(tuple(tokens))

    def prompt(self, messages):
        """The tokens of a conversation in the model's template: a text of the user, or dicts with role and content."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        return self._core.prompt(tuple((message["role"], message["content"]) for message in messages))

    def chat(self, messages, **options):
        """Begin the reply to a conversation, as prompt() takes it; the options are those of generate()."""
        return self.generate(self.prompt(messages), **options)

    def generate(
        self,
        prompt,
        *,
        max_tokens=None,
        temperature=None,
        top_p=None,
        repetition_penalty=None,
        presence_penalty=None,
        frequency_penalty=None,
        seed=None,
        stop=(),
        timeout=None,
        ignore_end=False,
    ):
        """Begin to continue a prompt: a text, or tokens. Returns a Reply, which generates while it is read.

        max_tokens: of the reply, by default as many as the context has room for. temperature: 0 for the most probable
        token. stop: a string, or several, that end the reply and are no part of it. timeout: seconds after which it
        ends. ignore_end: go on after the model's own end of a reply.
        """
        given = (temperature, top_p, repetition_penalty, presence_penalty, frequency_penalty)
        numbers = tuple(
            self._sampling[name] if number is None else number for name, number in zip(_SAMPLING, given)
        )
        if max_tokens is not None and max_tokens < 1:
            raise _core.ArgumentValueError(f"max_tokens is {max_tokens}; at least 1 is wanted")
        core = self._core.submit(
            tuple(self.encode(prompt) if isinstance(prompt, str) else prompt),
            max_tokens or 0,
            numbers,
            self._sampling["seed"] if seed is None else seed,
            tuple(map(str.encode, [stop] if isinstance(stop, str) else stop)),
            timeout,
            ignore_end,
        )
        return Reply(self._core, core)

    def step(self):
        """Take one step with all requests: one token for each. False if no request is left."""
        return self._core.step()

    def close(self):
        """Free the model; replies that are not complete are cancelled."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.close()
