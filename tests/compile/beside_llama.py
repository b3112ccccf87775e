# SPDX-License-Identifier: MIT
"""A compiled language model beside llama.cpp: the Python that runs this has llama-cpp-python and gguf of PyPI.

usage: beside_llama.py equal TENON FOLDER WEIGHTS.gguf COUNT    greedy replies to so many prompts, llama.cpp's with the
                                                                weights in float32; a line each, status 1 if one differs
       beside_llama.py time TENON FOLDER WEIGHTS.gguf THREADS   tokens a second, of the prompt and of the reply
       beside_llama.py float32 WEIGHTS.gguf FILE                the same model with its weights in float32
"""

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROMPTS = (
    "What is the capital of France?",
    "Write a haiku about the sea.",
    "What is 12 times 11?",
    "List three uses of copper.",
    "Who wrote Hamlet?",
    "Translate to French: good morning, my friend.",
    "Give a Python function that reverses a string.",
    "Why is the sky blue?",
    "Name the planets of the solar system.",
    "What does a compiler do?",
    "Tell me a joke about cats.",
    "How do I boil an egg?",
    "Explain photosynthesis in one sentence.",
    "What's the difference between a list and a tuple in Python?",
    "Summarize the story of Cinderella in two sentences.",
    "Which is larger: 3.11 or 3.9?",
    "Write an e-mail that declines an invitation, politely.",
    "What year did the Second World War end?",
    "Give five words that rhyme with \"light\".",
    "Ist Berlin die Hauptstadt von Deutschland?  Antworte kurz – mit “ja” oder “nein”.",
)
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
CONVERSATION = "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
MOST_TOKENS, TIMED_TOKENS, TIMED_PROMPT = 40, 200, 400


def write_in_float32(source, path):
    """The same model with all weights in float32."""
    import gguf
    import numpy as np

    reader, writer = gguf.GGUFReader(source), gguf.GGUFWriter(path, "llama")
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in ("general.architecture", "general.file_type"):
            continue
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            writer.add_key_value(key, field.contents(), field.types[0])
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype("float32")
        writer.add_tensor(tensor.name, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def open_llama(path, threads):
    from llama_cpp import Llama

    return Llama(str(path), n_ctx=1024, n_threads=threads, n_threads_batch=threads, verbose=False)


def generate(llama, tokens, count):
    """Greedy tokens behind others, up to the end of the reply."""
    reply = []
    for token in llama.generate(tokens, temp=0.0, top_k=1, repeat_penalty=1.0, reset=True):
        if token == llama.token_eos() or len(reply) == count:
            break
        reply.append(token)
    return reply


def say(tenon, folder, prompt, count, threads, *options):
    words = [tenon, "chat", folder, "--message", prompt, "--temperature", "0", "--max-tokens", str(count), "--json"]
    environment = {**os.environ, "TENON_NUM_THREADS": str(threads)}
    done = subprocess.run([*words, *options], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def compare(tenon, folder, weights, count):
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "float32.gguf"
        write_in_float32(weights, path)
        llama, differing = open_llama(path, 1), 0
        for prompt in PROMPTS[:count]:
            tokens = llama.tokenize(CONVERSATION.format(SYSTEM, prompt).encode(), add_bos=False, special=True)
            theirs = generate(llama, tokens, MOST_TOKENS)
            ours = [t for t in say(tenon, folder, prompt, MOST_TOKENS, 1)["tokens"] if t != llama.token_eos()]
            same = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
            if same is None and len(ours) == len(theirs):
                print(f"equal, {len(ours)} tokens: {prompt}")
            else:
                differing += 1
                print(f"differs at token {min(len(ours), len(theirs)) if same is None else same}: {prompt}")
    print(f"{count - differing} of {count} replies are equal")
    return differing > 0


def clock(who, threads):
    """Of one thread the processor time, which other programs change little; of several the time."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime if threads == 1 else time.monotonic()


def seconds_of_llama(weights, prompt_length, count, threads):
    llama = open_llama(weights, threads)
    tokens = llama.tokenize(b" one two three four five" * prompt_length, add_bos=False)[:prompt_length]
    begin = clock(resource.RUSAGE_SELF, threads)
    for _ in itertools.islice(llama.generate(tokens, temp=0.0, top_k=1, repeat_penalty=1.0, reset=True), count):
        pass  # also behind the end of a reply
    return clock(resource.RUSAGE_SELF, threads) - begin


def seconds_of_tenon(tenon, folder, prompt_length, count, threads):
    begin = clock(resource.RUSAGE_CHILDREN, threads)
    say(tenon, folder, " one two three four five" * (prompt_length // 5), count, threads, "--raw", "--ignore-end")
    return clock(resource.RUSAGE_CHILDREN, threads) - begin


def measure(tenon, folder, weights, threads):
    """Differences of runs leave out opening; the best of three, in turns, as other programs run too."""
    runs = ((5, 1), (5 + TIMED_PROMPT, 1), (5, 1 + TIMED_TOKENS))
    best = {}
    for _ in range(3):
        for run in runs:
            for name, seconds in (
                ("tenon", seconds_of_tenon(tenon, folder, *run, threads)),
                ("llama", seconds_of_llama(weights, *run, threads)),
            ):
                best[name, run] = min(seconds, best.get((name, run), 1e9))
    rates = {
        name: (
            TIMED_PROMPT / (best[name, runs[1]] - best[name, runs[0]]),
            TIMED_TOKENS / (best[name, runs[2]] - best[name, runs[0]]),
        )
        for name in ("tenon", "llama")
    }
    named = f"language model{' in float32' * ('float32' in Path(weights).name)}"
    for index, what in enumerate(("prompt", "reply")):
        ours, theirs = rates["tenon"][index], rates["llama"][index]
        print(
            f"{named}, {what}, {threads} thread{'s' * (threads > 1)}: {ours:.0f} tokens a second"
            f"{' of processor time' * (threads == 1)}, llama.cpp {theirs:.0f}; {theirs / ours:.2f} × its time"
        )
    return 0


def main():
    if sys.argv[1] == "float32":
        return write_in_float32(*sys.argv[2:])
    what, tenon, folder, weights, number = sys.argv[1:]
    return {"equal": compare, "time": measure}[what](tenon, folder, weights, int(number))


if __name__ == "__main__":
    sys.exit(main())
