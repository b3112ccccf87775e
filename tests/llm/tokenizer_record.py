# SPDX-License-Identifier: MIT
"""Writes tokenizer_recorded.h, tokens by Hugging Face's tokenizers: tokenizer_record.py >tokenizer_recorded.h

Each file has one field that changes tokens. Needs the "tokenizers" of requirements.txt.
"""

import json

from tokenizers import Tokenizer

VOCABULARY = {"?": 0, "a": 1, "b": 2, "ab": 3, " ": 4, "\n": 5, "▁": 6, "▁a": 7}
MERGES = [["a", "b"], ["▁", "a"]]
MARK = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
PREPEND = {"type": "Prepend", "prepend": "▁"}


def added(content, number=8, **flags):
    token = {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
    return {**token, **flags}


def split(behavior, invert=False, pattern=None):
    return {"type": "Split", "pattern": pattern or {"String": "a"}, "behavior": behavior, "invert": invert}


def sequence(kind, *parts):
    return {"type": "Sequence", kind: parts}


def metaspace(**options):
    return {"type": "Metaspace", "replacement": "▁", **options}


BYTES = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": False, "trim_offsets": True}
DIGITS = {"type": "Digits", "individual_digits": True}

CASES = [
    # added tokens
    ({"added_tokens": [added("<x>", rstrip=True)]}, ["a<x> \n\u00a0\u3000ab", "<x>"]),
    ({"added_tokens": [added("<x>", lstrip=True)]}, ["a \n\u2003<x> ab", " <x>"]),
    ({"added_tokens": [added("<x>", lstrip=True, rstrip=True)]}, ["a <x> <x>  <x>b"]),
    ({"added_tokens": [added("<x>", rstrip=True), added("  ", 9, special=False)]}, ["a  b <x>b", "   <x>"]),
    ({"added_tokens": [added("ab", 3, single_word=True), added("b", 2)]}, ["ab aab ab_ ab. abé ab", "ab", "bab ab\u0301"]),
    ({"added_tokens": [added("b", 2, normalized=True), added("ab", 3)]}, ["aabb", "bab"]),
    ({"added_tokens": [added("a b", normalized=True)], "normalizer": MARK}, ["aa bb a b", "a▁b"]),
    ({"added_tokens": [added("b", 2, normalized=False)], "normalizer": sequence("normalizers", PREPEND, MARK)}, ["a b a", "ba"]),
    ({"added_tokens": [added("<x>", normalized=True)], "normalizer": sequence("normalizers", PREPEND, MARK)},
     ["<x>a <x> a<x>"]),
    # normalizers
    ({"normalizer": sequence("normalizers", MARK, PREPEND)}, ["a ab", ""]),
    ({"normalizer": {"type": "Replace", "pattern": {"Regex": " +|é"}, "content": "ab"}}, ["a  bé"]),
    ({"normalizer": {"type": "Replace", "pattern": {"String": "b"}, "content": ""}, "pre_tokenizer": metaspace(prepend_scheme="first")},
     ["ba", "ab"]),
    # pre-tokenizers
    *[({"pre_tokenizer": split(behavior, invert)}, ["aabbaba", "b", "baab"])
      for behavior in ("Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext") for invert in (False, True)],
    ({"pre_tokenizer": split("Isolated", pattern={"Regex": "a?|^b"})}, ["abab"]),
    ({"pre_tokenizer": split("Isolated", pattern={"Regex": "^|$"})}, ["ab\nab"]),
    *[({"pre_tokenizer": metaspace(prepend_scheme=scheme, split=parted), "added_tokens": [added("<x>")]}, ["a a<x>a b", " a"])
      for scheme in ("always", "first", "never") for parted in (False, True)],
    ({"pre_tokenizer": metaspace(prepend_scheme="never", add_prefix_space=False)}, ["a a"]),
    ({"pre_tokenizer": sequence("pretokenizers", split("Isolated"), metaspace(prepend_scheme="always"))}, ["bab"]),
    ({"pre_tokenizer": sequence("pretokenizers", split("Isolated"), BYTES)}, ["bab"]),
    ({"pre_tokenizer": sequence("pretokenizers", DIGITS, metaspace(prepend_scheme="first"))}, ["a1b22"]),
    # the model
    ({"model": {"fuse_unk": True}}, ["xxaxbxx"]),
    ({"model": {"fuse_unk": False}}, ["xxaxbxx"]),
    ({"model": {"byte_fallback": True, "fuse_unk": True, "vocab": {**VOCABULARY, "<0xC3>": 8, "<0xA9>": 9}}}, ["xéxaé", "xè"]),
    ({"model": {"ignore_merges": True, "vocab": {**VOCABULARY, "bab": 8}}}, ["bab"]),
    ({"model": {"merges": [["a", "b"], ["b", "a"], ["a", "b"]], "vocab": {**VOCABULARY, "ba": 8}}}, ["bab", "aba"]),
    ({"model": {"unk_token": None}}, ["xax"]),
]


def quoted(text):
    out = ""
    for byte in text.encode():
        out += chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
    return f'"{out}"'


def main():
    print("/* SPDX-License-Identifier: MIT */\n"
          "/* Tokens by Hugging Face's tokenizers, to compare ours with; tokenizer_record.py writes it. */\n"
          "/* clang-format off */")
    for parts, texts in CASES:
        model = {"type": "BPE", "unk_token": "?", "vocab": VOCABULARY, "merges": MERGES, **parts.get("model", {})}
        whole = {"version": "1.0", "added_tokens": [], **parts, "model": model}
        text = json.dumps(whole, ensure_ascii=True, separators=(",", ":"))
        tokenizer = Tokenizer.from_str(text)
        for line in texts:
            tokens = " ".join(map(str, tokenizer.encode(line, add_special_tokens=False).ids))
            print(f"{{ {quoted(text)},\n  {quoted(line)}, \"{tokens}\" }},")


main()
