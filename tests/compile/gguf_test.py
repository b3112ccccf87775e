# SPDX-License-Identifier: MIT
"""What tenon-compile reads of files in GGUF, and what it refuses: needs NumPy alone. Prints TAP."""

import random
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
import small_gguf as small  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402
from tenon_compile.llm import chat_template, checkpoint, gguf_file, gguf_model, settings, tokenizer  # noqa: E402

WHOLE = small.MODELS["llama"]()
CHANGES = 800  # of single bytes, each one a file


def file_of(raw):
    """Read bytes as a file."""
    with tempfile.NamedTemporaryFile(suffix=".gguf") as stored:
        stored.write(raw)
        stored.flush()
        return gguf_file.read(Path(stored.name))


def model_of(raw):
    """All that is read of a file but its chat template, which is a program of its own, and every weight."""
    file = file_of(raw)
    numbers = settings.from_gguf(file)
    tokenizer.read(file, numbers)
    tokenizer.token(file, "eos")
    weights = checkpoint.of_gguf(file, numbers)
    for what in ("embedding", "norm"):
        weights.matrix(what, 0) if what == "embedding" else weights.vector(what, 0, numbers.width)
    return weights


def refuses(words, raw, read=model_of):
    try:
        read(raw)
    except CompileError as error:
        assert words in str(error), f"{error} does not say {words!r}"
        assert "\n" not in str(error), error
        return
    raise AssertionError(f"taken, though it should have said {words!r}")


def changed(metadata=(), tensors=(), without=()):
    """The file with other metadata or tensors."""
    entries = {**WHOLE.metadata(), **dict(metadata)}
    for key in without:
        entries.pop(key)
    return small.gguf(entries, {**WHOLE.tensors, **dict(tensors)})


# ---- cases: functions, whose names are the sentences


def each_type_of_tensor_gives_its_numbers():
    rng = np.random.default_rng(3)
    for kind in (small.F32, small.F16, small.BF16, small.Q4_0, small.Q4_1, small.Q8_0):
        raw, numbers = small.weights(rng, kind, (5, 96))
        tensor = file_of(small.gguf({}, {"t": (kind, (5, 96), raw)})).tensors["t"]
        assert tensor.shape == (5, 96)
        assert np.abs(tensor.matrix().floats() - numbers).max() < 1e-6, kind


def metadata_of_each_type_is_read():
    entries = {"a": 7, "b": 1.5, "c": True, "d": "x", "e": [1, 2], "f": ["x", "yz"]}
    assert file_of(small.gguf(entries, {})).metadata == entries


def every_file_that_is_cut_off_is_refused():
    raw = WHOLE.file()
    for size in [*range(4, 400), *range(400, len(raw), 997), len(raw) - 32]:
        refuses(".gguf", raw[:size])


def files_with_a_changed_byte_are_read_or_refused():
    raw, rng = WHOLE.file(), random.Random(5)
    head = raw.index(b"blk.1.ffn_down.weight") + 64  # behind that are weights only
    for _ in range(CHANGES):
        at = rng.randrange(4, head)
        bytes_changed = raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :]
        try:
            model_of(bytes_changed)
        except CompileError as error:
            assert len(str(error)) < 1000


def counts_that_the_file_cannot_hold_are_refused():
    refuses("tensors of at least", b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0))
    refuses("entries of metadata of at least", b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60))
    refuses("characters", b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 63) + bytes(32))
    array = small.string("k") + struct.pack("<IIQ", small.ARRAY, small.UINT64, (1 << 61) + 1)
    refuses("numbers of at least 8 bytes", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + array)


def other_versions_and_byte_orders_are_named():
    raw = WHOLE.file()
    refuses("version 1", raw[:4] + struct.pack("<I", 1) + raw[8:])
    refuses("big-endian", raw[:4] + struct.pack(">I", 3) + raw[8:])


def extents_that_multiply_beyond_the_file_are_refused():
    refuses("promised", changed(tensors={"big": (small.F32, (1 << 40, 1 << 40), b"")}), file_of)
    refuses("no elements", changed(tensors={"none": (small.F32, (0, 32), b"")}), file_of)
    refuses("no whole blocks", changed(tensors={"odd": (small.Q4_1, (2, 33), bytes(40))}), file_of)
    refuses("dimensions", changed(tensors={"deep": (small.F32, (1, 1, 1, 1, 1), bytes(4))}), file_of)


def types_of_tensors_that_are_not_read_are_named():
    refuses("type 14 of a tensor is not supported. Supported are F32", changed(tensors={"k": (14, (1, 256), b"")}), file_of)


def a_missing_tensor_is_named():
    tensors = dict(WHOLE.tensors)
    del tensors["token_embd.weight"]
    refuses("token_embd.weight is missing", small.gguf(WHOLE.metadata(), tensors))


def a_tensor_of_another_shape_is_named():
    bad = {"output_norm.weight": (small.F32, (32,), bytes(128))}
    refuses("output_norm.weight: 32 numbers, expected 64", changed(tensors=bad))


def a_tensor_that_a_decoder_does_not_use_is_named():
    weights = model_of(changed(tensors={"blk.0.attn_output.bias": (small.F32, (64,), bytes(256))}))
    for name in set(weights.tensors) - {"blk.0.attn_output.bias"}:
        weights.used.add(name)
    try:
        weights.check_all_used()
    except CompileError as error:
        assert "blk.0.attn_output.bias" in str(error)
        return
    raise AssertionError("it was left out in silence")


def numbers_that_are_not_finite_are_refused():
    raw = bytearray(WHOLE.tensors["token_embd.weight"][2])
    raw[0:2] = b"\x00\x7c"
    refuses("not finite", changed(tensors={"token_embd.weight": (small.Q8_0, (small.VOCABULARY, 64), bytes(raw))}))


def sizes_that_no_decoder_has_are_refused():
    refuses("0 layers", changed({"llama.block_count": 0}))
    refuses("no multiple of 3 heads", changed({"llama.attention.head_count_kv": 3}))
    refuses("0 heads", changed({"llama.attention.head_count": 0}))
    refuses("is of type str", changed({"llama.block_count": "two"}))
    refuses("no llama.block_count", changed(without=["llama.block_count"]))
    refuses("epsilon", changed({"llama.attention.layer_norm_rms_epsilon": -1.0}))
    refuses("architecture 'gpt9'", changed({"general.architecture": "gpt9"}))


def tokenizers_that_do_not_fit_are_refused():
    refuses("is not supported, gpt2", changed({"tokenizer.ggml.model": "llama"}))
    refuses("tokenizer.ggml.pre", changed({"tokenizer.ggml.pre": "other"}))
    refuses("not of two tokens", changed({"tokenizer.ggml.merges": ["a b", "a nonsense"]}))
    refuses("a token twice", changed({"tokenizer.ggml.tokens": ["a"] * 300}))
    refuses("eos_token_id is 300", changed({"tokenizer.ggml.eos_token_id": 300}))
    refuses("no kind for each token", changed({"tokenizer.ggml.token_type": [1]}))


def a_chat_template_becomes_the_parts_between_messages():
    found, begins = chat_template.read("m.gguf", small.CHATML, "", "<|z|>")
    assert not begins and found.conv_template()["system_message"] == "Be good."
    assert found.conv_template()["seps"] == ["<|z|>\n", "<|z|>\n"]
    assert found.render([{"role": "user", "content": "x"}]) == (
        "<|a|>system\nBe good.<|z|>\n<|a|>user\nx<|z|>\n<|a|>assistant\n"
    )


def templates_that_put_the_system_into_the_first_message_are_known():
    template = (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}[I] <S>{{ m.content }}</S> "
        "{% elif m.role == 'user' %}{% if not (loop.index0 == 1 and messages[0].role == 'system') %}[I] {% endif %}"
        "{{ m.content }} [/I]{% else %} {{ m.content }}</s>{% endif %}{% endfor %}"
    )
    found, begins = chat_template.read("m.gguf", template, "<s>", "</s>")
    assert begins and not found.user_after_system
    assert found.conv_template()["role_templates"]["assistant"] == " {assistant_message}"


def a_template_of_another_kind_is_not_guessed_at():
    assert chat_template.read("m.gguf", "{{ messages | length }}", "", "") == (None, False)
    assert chat_template.read("m.gguf", "{{ broken", "", "") == (None, False)
    assert chat_template.read("m.gguf", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "", "") == (None, False)


def a_template_that_takes_time_or_memory_is_stopped():
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    # on a busy machine the time on the clock ends before that on the processor
    refuses("m.gguf: the chat template", loop, lambda text: chat_template.read("m.gguf", text, "", ""))


def the_model_of_the_suite_is_read_whole():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.gguf"
        path.write_bytes(WHOLE.file())
        model = gguf_model.read(path)
    assert model.configuration["eos_token_id"] == [small.END] and not model.notes
    assert model.tokenizer["added_tokens"][-1]["content"] == "<|z|>"


TEMPLATES = (
    a_chat_template_becomes_the_parts_between_messages,
    templates_that_put_the_system_into_the_first_message_are_known,
    a_template_of_another_kind_is_not_guessed_at,
    a_template_that_takes_time_or_memory_is_stopped,
    the_model_of_the_suite_is_read_whole,
)
CASES = (
    each_type_of_tensor_gives_its_numbers,
    metadata_of_each_type_is_read,
    every_file_that_is_cut_off_is_refused,
    files_with_a_changed_byte_are_read_or_refused,
    counts_that_the_file_cannot_hold_are_refused,
    other_versions_and_byte_orders_are_named,
    extents_that_multiply_beyond_the_file_are_refused,
    types_of_tensors_that_are_not_read_are_named,
    a_missing_tensor_is_named,
    a_tensor_of_another_shape_is_named,
    a_tensor_that_a_decoder_does_not_use_is_named,
    numbers_that_are_not_finite_are_refused,
    sizes_that_no_decoder_has_are_refused,
    tokenizers_that_do_not_fit_are_refused,
    *TEMPLATES,
)


def main():
    try:
        import jinja2  # noqa: F401

        missing = ()
    except ImportError:
        missing = TEMPLATES
    failures = 0
    for number, case in enumerate(CASES, 1):
        sentence = case.__name__.replace("_", " ")
        if case in missing:
            print(f"ok {number} - {sentence} # SKIP jinja2 is not installed")
            continue
        try:
            case()
            print(f"ok {number} - {sentence}")
        except Exception as error:  # any exception is a failure
            failures += 1
            print(f"not ok {number} - {sentence}\n# {type(error).__name__}: {error}")
    print(f"1..{len(CASES)}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
