# SPDX-License-Identifier: MIT
"""tokenizer.json of the vocabulary that a GGUF holds."""

from ..errors import CompileError

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4
KINDS_OF_TOKENS = range(1, 7)


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def words(digits):
    """The expression of Llama 3 and Qwen 2, which differ in how many digits stay together."""
    return (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
        r"\s+(?!\S)|\s+"
    )


DIGITS = [{"type": "Digits", "individual_digits": True}, byte_level(True)]
# how a text is divided, by the name in a file: the steps, and whether a whole word may be a token without merges
PRE_TOKENIZERS = {
    "gpt-2": ([byte_level(True)], False),
    "smollm": (DIGITS, False),
    "starcoder": (DIGITS, False),
    "llama-bpe": ([split(words(r"\p{N}{1,3}")), byte_level(False)], True),
    "qwen2": ([split(words(r"\p{N}")), byte_level(False)], False),
}


def strings(file, key):
    values = file.get(key, list)
    if not values or not all(type(value) is str for value in values):
        raise CompileError(f"{file.path}: {key} is no list of strings")
    return values


def token(file, name):
    """The number of a token that the metadata names, None without one."""
    number = file.metadata.get(f"tokenizer.ggml.{name}_token_id")
    if number is None:
        return None
    count = len(strings(file, "tokenizer.ggml.tokens"))
    if type(number) is not int or not 0 <= number < count:
        raise CompileError(f"{file.path}: tokenizer.ggml.{name}_token_id is {number!r}, expected 0 to {count - 1}")
    return number


def check_merges(file, merges, vocabulary):
    for index, merge in enumerate(merges):
        parts = merge.split(" ")
        if len(parts) != 2 or not all(part in vocabulary for part in (*parts, "".join(parts))):
            raise CompileError(
                f"{file.path}: merge {index + 1} of {len(merges)} ({merge[:40]!r}) is not of two tokens that make a third"
            )


def read(file, settings):
    """The contents of tokenizer.json."""
    model = file.get("tokenizer.ggml.model", str)
    if model != "gpt2":
        raise CompileError(f"{file.path}: the tokenizer {model[:40]!r} is not supported, gpt2 (byte-level BPE) is")
    name = file.get("tokenizer.ggml.pre", str, "gpt-2")
    if name not in PRE_TOKENIZERS:
        raise CompileError(
            f"{file.path}: how text is divided, tokenizer.ggml.pre = {name[:40]!r}, is not known. Known are "
            + ", ".join(PRE_TOKENIZERS)
        )
    tokens = strings(file, "tokenizer.ggml.tokens")
    merges = strings(file, "tokenizer.ggml.merges")
    kinds = file.get("tokenizer.ggml.token_type", list, [NORMAL] * len(tokens))
    if len(kinds) != len(tokens) or not all(kind in KINDS_OF_TOKENS for kind in kinds):
        raise CompileError(f"{file.path}: tokenizer.ggml.token_type has no kind for each token")
    if len(tokens) > settings.vocabulary:
        raise CompileError(f"{file.path}: {len(tokens)} tokens, but embeddings of {settings.vocabulary}")
    vocabulary = {text: number for number, text in enumerate(tokens)}
    if len(vocabulary) != len(tokens):
        raise CompileError(f"{file.path}: tokenizer.ggml.tokens has a token twice")
    check_merges(file, merges, vocabulary)
    steps, ignore_merges = PRE_TOKENIZERS[name]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": tokens[number], **flags, "special": kind == CONTROL}
            for number, kind in enumerate(kinds)
            if kind in (CONTROL, USER_DEFINED)
        ],
        "normalizer": {"type": "NFC"} if name == "qwen2" else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "post_processor": None,
        "decoder": byte_level(True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": ignore_merges,
            "vocab": vocabulary,
            "merges": merges,
        },
    }
