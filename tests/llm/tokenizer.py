# SPDX-License-Identifier: MIT
"""Compares our tokenizer with Hugging Face's. usage: tokenizer.py ENCODE FOLDER [NAME]

ENCODE is the program of this folder. Tokenizers in the manner of GPT-2, Llama 3, Qwen 2 and Llama 2 are trained on a
small text. Prints TAP.
"""

import random
import subprocess
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

encode, scratch = sys.argv[1], Path(sys.argv[2])

WORDS = ("the of and to in a is that for it was on with as be at by this not are but from or have an they which one you "
         "were her all she there would their we him been has when who will more no if out so said what up its about "
         "tokenizer tokens token encode encoding encoded decode byte bytes pair pairs merge merges größe straße naïve "
         "été œuvre привет мир 你好 世界 こんにちは 한국어 ελληνικά don't I'm we've 12 345 6789 2024").split()
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")


def corpus():
    rng = random.Random(1)
    return [" ".join(rng.choice(WORDS) for _ in range(12)) + rng.choice([".", "!", "?\n", ", "]) for _ in range(600)]


def gpt2():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    return t, trainers.BpeTrainer(vocab_size=600, special_tokens=["<|end|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def split_then_bytes(pattern, **model):
    def make():
        t = Tokenizer(models.BPE(**model))
        t.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
        t.decoder = decoders.ByteLevel()
        return t, trainers.BpeTrainer(vocab_size=700, special_tokens=["<|begin|>", "<|begin|>x", "<|end|>"],
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    return make


def llama2():
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    # words of a text without a split would be whole lines
    return t, trainers.BpeTrainer(vocab_size=800, special_tokens=special, max_token_length=8)


def mistral():
    t, trainer = llama2()
    t.normalizer = None
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    return t, trainer


KINDS = {"GPT-2": gpt2, "Llama 3": split_then_bytes(LLAMA3, ignore_merges=True), "Qwen 2": split_then_bytes(QWEN2),
         "Llama 2": llama2, "Mistral": mistral}


def texts():
    rng = random.Random(2)
    some = ["Hello", " hello  world", "don't DON'T I'M we'VE", "a\n\nb \n c", "tab\tand\r\nline", "١٢٣ ½ 12345 1 22 333 4444",
            "<|begin|>x<|end|> and <|begin|>", "emoji 👍🏽 👩‍👩‍👧", "\u00a0no-break\u3000wide", "  ", "\n", "x" * 300, "the the the",
            "naïve café straße", "こんにちは世界", "<0x41> <s> </s>", "!!! ... --- ((", "e\u0301 combining", "\u2581 mark"]
    letters = "abcdefghij ABC 0123 '\".,\n\t éß你мир👍\u00a0"
    for _ in range(400):
        some.append("".join(rng.choice(letters) for _ in range(rng.randrange(1, 60))))
        some.append(" ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 12))))
    return some


def main():
    number, failures = 0, 0
    for name, make in KINDS.items():
        number += 1
        tokenizer, trainer = make()
        tokenizer.train_from_iterator(corpus(), trainer)
        tokenizer.add_tokens([AddedToken("[plain]", special=False, normalized=False)])
        folder = scratch / name.replace(" ", "")
        folder.mkdir(parents=True)
        tokenizer.save(str(folder / "tokenizer.json"))
        cases = texts() + ["with [plain] inside"]
        out = subprocess.run([encode, str(folder), "unchecked"], input="\0".join(cases).encode() + b"\0",
                             capture_output=True, check=False)
        lines = out.stdout.decode().splitlines()
        wrong = [f"{out.stderr.decode()} {len(lines)} lines"] if len(lines) != len(cases) else []
        for text, line in zip(cases, lines):
            want = " ".join(map(str, tokenizer.encode(text, add_special_tokens=False).ids))
            if line != want:
                wrong.append(f"{text!r}: {line}, want {want}")
        print("not ok" if wrong else "ok", number, "-", f"{name}: {len(cases)} texts have the same tokens")
        for line in wrong[:5]:
            print("#", line)
        failures += bool(wrong)
    print(f"1..{number}")
    return failures != 0


sys.exit(main())
