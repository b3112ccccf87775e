# SPDX-License-Identifier: MIT
"""Language models: the recorded replies of a small one, streams, batches, threads, and how replies end."""

import functools
import json
import sys
import threading

import tenon
from cases import SOURCE, raises, need

FOLDER = SOURCE / "tests/llm/data/bytes"
GREEDY = {"max_tokens": 24, "temperature": 0, "ignore_end": True}


def _open(**options):
    need("LLM")
    need("RELAX_VM")
    need("LANGUAGE_MODELS")
    return tenon.LanguageModel(FOLDER, **options)


@functools.cache
def _recorded():
    return [(case["prompt"], case["reply"]) for case in json.loads((FOLDER / "expected.json").read_text())["cases"]]


def _read(reply):
    reply.text
    return reply.tokens


def an_open_model_is_described():
    with _open() as model:
        info = model.info
        assert (info["name"], info["tokenizer"], info["context"], info["window"]) == ("bytes", "bytes", 256, 0)
        assert info["has_template"] and info["weight_bytes"] > 0 and "bytes" in repr(model)
        assert abs(model.sampling["temperature"] - 0.7) < 1e-9 and model.sampling["seed"] == 0


def text_becomes_tokens_and_text_again():
    with _open(byte_tokens=True) as model:
        assert model.encode("Hé") == list("Hé".encode()) and model.decode(iter([72, 195, 169])) == "Hé"
        assert model.decode([195]) == "\ufffd" and model.encode("") == []
        said = [{"role": "system", "content": "Hm."}, {"role": "user", "content": "Hi"}]
        assert model.decode(model.prompt(said)) == "Hm.|U:Hi\nA:"
        assert model.decode(model.prompt("Hi")) == "Be brief.|U:Hi\nA:"
        raises(ValueError, model.prompt, [{"role": "nobody", "content": "Hi"}])
        raises(KeyError, model.prompt, [{"role": "user"}])


def replies_are_the_recorded_ones():
    with _open() as model:
        for prompt, want in _recorded():
            assert _read(model.generate(prompt, **GREEDY)) == want


def a_reply_comes_in_parts():
    with _open() as model:
        prompt, want = _recorded()[0]
        reply = model.generate(prompt, **GREEDY)
        parts = [next(reply)]
        assert 0 < len(reply.tokens) < 5 and reply.end is None and reply.usage is None
        parts += reply
        assert len(parts) > 5 and reply.tokens == want and reply.end == "length" and list(reply) == []
        assert "".join(parts) == reply.text == model.decode(want)
        assert reply.usage["prompt_tokens"] == len(prompt) and reply.usage["tokens"] == 24
        assert 0 < reply.usage["first_seconds"] <= reply.usage["seconds"]


def several_requests_share_a_batch():
    with _open() as model:
        cases = _recorded()[:3]
        replies = [model.generate(prompt, **GREEDY) for prompt, _ in cases]
        # the others are generated with the first
        assert _read(replies[0]) == cases[0][1] and not model.step()
        assert [_read(reply) for reply in replies] == [want for _, want in cases]
        again = model.generate(cases[2][0], **GREEDY)
        assert _read(again) == cases[2][1] and again.usage["shared_tokens"] > 0


def threads_share_a_model():
    with _open() as model:
        cases, failures = _recorded(), []

        def work(number):
            try:
                for i in range(6):
                    prompt, want = cases[(number + i) % len(cases)]
                    assert len(_read(model.generate(prompt, **GREEDY))) == len(want)
                    assert model.chat("Hi", max_tokens=5).text is not None
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures


def a_seed_repeats_a_reply():
    with _open() as model:
        options = {"max_tokens": 20, "temperature": 1.5, "ignore_end": True}
        one, same, other = (_read(model.chat("Hello", seed=seed, **options)) for seed in (1, 1, 2))
        assert one == same != other and len(one) == 20


def a_stop_string_ends_a_reply():
    with _open() as model:
        prompt, want = _recorded()[1]
        before = want[: want.index(ord("!"))]
        for stop in ("!", ["?none", "!"]):
            reply = model.generate(prompt, stop=stop, **GREEDY)
            assert reply.text == model.decode(before) and reply.end == "stop"


def a_reply_can_be_ended():
    with _open() as model:
        prompt, want = _recorded()[0]
        reply = model.generate(prompt, temperature=0, ignore_end=True)
        next(reply)
        reply.cancel()
        assert len(_read(reply)) < len(want) and reply.end == "cancelled"
        late = model.generate(prompt, timeout=0)
        assert late.text == "" and late.end == "deadline"
        # one that is dropped takes no more steps
        model.generate(prompt, ignore_end=True)
        model.step()
        assert not model.step()


def a_closed_model_ends_its_replies():
    model = _open()
    reply = model.chat("Hi", ignore_end=True)
    part = next(reply)
    model.close()
    model.close()
    assert reply.text.startswith(part) and reply.end == "cancelled"
    for use in (model.step, lambda: model.encode("x"), lambda: model.decode([1]), lambda: model.chat("Hi")):
        assert "closed" in str(raises(tenon.UsageError, use))


def a_reply_keeps_its_model():
    reply = _open().generate(_recorded()[0][0], **GREEDY)
    assert _read(reply) == _recorded()[0][1]


def wrong_requests_are_errors():
    need("LLM")
    assert "nowhere" in str(raises(OSError, tenon.LanguageModel, "/nowhere"))
    with _open() as model:
        for options in ({"temperature": -1}, {"top_p": 2}, {"max_tokens": 0}, {"timeout": -1}, {"timeout": float("nan")}):
            raises(ValueError, model.chat, "Hi", **options)
        raises(ValueError, model.generate, [])
        raises(ValueError, model.generate, [1 << 31])
        raises(ValueError, model.generate, [300])
        raises(ValueError, model.generate, [65] * 1000)
        raises(TypeError, model.generate, [1.5])
        raises(TypeError, model.chat, "Hi", nonsense=1)
        raises(TypeError, model.chat, "Hi", stop=[5])
        assert not model.step()
    raises(ValueError, _open, cache_tokens=-5)


def an_extension_that_was_not_built_is_named():
    before = sys.modules.get("tenon._llm")
    sys.modules["tenon._llm"] = None
    try:
        error = str(raises(tenon.UnsupportedError, tenon.LanguageModel, FOLDER))
        assert "libtenon-llm" in error and not [name for name in ("LANGUAGE_MODELS", "TOOL", "DSO") if f"CONFIG_{name}" not in error]
    finally:
        del sys.modules["tenon._llm"]
        if before:
            sys.modules["tenon._llm"] = before
