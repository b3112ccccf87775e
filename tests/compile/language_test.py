# SPDX-License-Identifier: MIT
"""Small language models with random weights, compiled: their logits by TVM's own runtime, and their replies by tenon chat,
beside NumPy's. Prints TAP.

usage: language_test.py TENON
"""

import contextlib
import io
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import small_folder
import small_gguf
import tvm
from tvm import relax

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.command import main as tenon_compile  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402
from tenon_compile.llm import folder  # noqa: E402

TOLERANCE = 2e-4  # of the largest logit; rounding to 8 bits twice is the coarsest step
TENON = sys.argv[1]


def compiled(*arguments):
    """Call the command; what it says if it fails, None if it does not."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            tenon_compile([str(argument) for argument in arguments])
    except SystemExit as error:
        return str(error)
    return None


# ---- logits and replies


def stored_weights(folder):
    """By name, as tensor-cache.json describes them."""
    found = {}
    for shard in json.loads((folder / "tensor-cache.json").read_text())["records"]:
        raw = (folder / shard["dataPath"]).read_bytes()
        assert len(raw) == shard["nbytes"]
        for record in shard["records"]:
            data = raw[record["byteOffset"] : record["byteOffset"] + record["nbytes"]]
            found[record["name"]] = np.frombuffer(data, record["dtype"]).reshape(record["shape"])
    return found


class Session:
    """A compiled model in TVM's own runtime."""

    def __init__(self, folder):
        self.machine = relax.VirtualMachine(tvm.runtime.load_module(str(folder / "model.so")), tvm.cpu())
        described, stored = json.loads(self.machine["_metadata"]()), stored_weights(folder)
        self.parameters = [tvm.runtime.tensor(stored[p["name"]]) for p in described["params"]]

    def logits(self, steps):
        """The logits behind steps of tokens, one step after another in one sequence."""
        call, shape = tvm.get_global_func, tvm.runtime.ShapeTuple
        sizes = [shape([number]) for number in (2, 256, 256, 16, 0)]
        cache = self.machine["create_tir_paged_kv_cache"](*sizes)
        call("vm.builtin.kv_state_add_sequence")(cache, 0)
        for tokens in steps:
            x = self.machine["embed"](tvm.runtime.tensor(np.array(tokens, np.int32)), self.parameters)
            call("vm.builtin.kv_state_begin_forward")(cache, shape([0]), shape([len(tokens)]))
            x = tvm.runtime.tensor(x.numpy().reshape(1, len(tokens), -1))
            result = self.machine["decode" if len(tokens) == 1 else "prefill"](x, cache, self.parameters)
            call("vm.builtin.kv_state_end_forward")(cache)
        return result[0].numpy().reshape(-1)


def reply(folder, prompt, count, *options):
    """What tenon chat replies, as tokens."""
    words = [TENON, "chat", str(folder), "--tokens", ",".join(map(str, prompt)), "--temperature", "0", "--quiet", *options]
    done = subprocess.run([*words, "--max-tokens", str(count), "--ignore-end"], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return [int(token) for token in done.stdout.replace(",", " ").split()]


def says_what_numpy_says(folder, model):
    expected = model.expected(24)
    prompt, wanted, session = expected["prompt"], np.array(expected["logits"]), Session(folder)
    steps = ([prompt], [prompt[:7], prompt[7:]], [[token] for token in prompt])
    for cut in steps:
        off = np.abs(session.logits(cut) - wanted).max() / np.abs(wanted).max()
        assert off < TOLERANCE, f"{len(cut)} steps: logits differ by {off:.1e} of the largest"
    assert len(expected["reply"]) >= 4, "the margin of a token is too small to compare replies"
    said = reply(folder, prompt, len(expected["reply"]))
    assert said == expected["reply"], f"tenon chat replies {said}, NumPy {expected['reply']}"


# ---- cases


def gguf_says_what_numpy_says(room, name, *options):
    model = small_gguf.MODELS[name]()
    (room / f"{name}.gguf").write_bytes(model.file())
    made = room / "-".join(["gguf", name, *options])
    error = compiled(room / f"{name}.gguf", "-o", made, *options)
    assert error is None, error
    says_what_numpy_says(made, model)


def folder_says_what_numpy_says(room, name, files):
    model = small_folder.MODELS[name]()
    model.write(room / f"{name}-weights", files)
    error = compiled(room / f"{name}-weights", "-o", room / f"{name}-folder")
    assert error is None, error
    says_what_numpy_says(room / f"{name}-folder", model)


def refuses(words, *arguments):
    error = compiled(*arguments)
    assert error and words in error and "\n" not in error, f"said {error!r}, not {words!r}"


def a_folder_of_a_model_is_replaced(room):
    for text in ("first", "second"):
        with folder.written(room / "replaced") as new:
            (new / "model.so").write_text(text)
        assert (room / "replaced" / "model.so").read_text() == text
    try:
        with folder.written(room / "replaced") as new:
            (new / "model.so").write_text("third")
            raise CompileError("no")
    except CompileError:
        pass
    assert (room / "replaced" / "model.so").read_text() == "second" and not list(room.glob(".*"))


def another_file_stays(room):
    (room / "used").mkdir()
    (room / "used" / "letter.txt").write_text("text")
    refuses("letter.txt", room / "llama.gguf", "-o", room / "used")
    assert (room / "used" / "letter.txt").is_file()


def what_does_not_fit_is_refused_by_name(room):
    new = room / "new"
    refuses("--shape is for networks", room / "llama.gguf", "--shape", "x=1", "-o", new)
    refuses("made for 256 tokens", room / "llama.gguf", "--context", 257, "-o", new)
    refuses("processors, OpenCL and CUDA", room / "llama.gguf", "--target", "hexagon", "-o", new)
    (room / "cut.gguf").write_bytes((room / "llama.gguf").read_bytes()[:3000])
    refuses("at 0x", room / "cut.gguf", "-o", new)
    assert not new.exists() and not list(room.glob(".*")), "something was left"


def damaged_folders_are_refused_by_name(room):
    given = room / "qwen2-weights"
    small_folder.MODELS["qwen2"]().write(given)
    weights, config = (given / "model.safetensors").read_bytes(), (given / "config.json").read_text()

    def with_weights(words, raw):
        (given / "model.safetensors").write_bytes(raw)
        refuses(words, given, "-o", room / "new")
        (given / "model.safetensors").write_bytes(weights)

    def with_config(words, **changes):
        (given / "config.json").write_text(json.dumps({**json.loads(config), **changes}))
        refuses(words, given, "-o", room / "new")
        (given / "config.json").write_text(config)

    def with_header(words, header):
        head = json.dumps(header).encode()
        with_weights(words, len(head).to_bytes(8, "little") + head + bytes(64))

    with_weights("are no file in safetensors", weights[:5])
    with_weights("is promised", (1 << 60).to_bytes(8, "little") + weights[8:])
    with_weights("no JSON", weights[:8] + b"x" + weights[9:])
    with_weights("no JSON", (200000).to_bytes(8, "little") + b"[" * 200000)
    with_weights("offsets", weights[:-4])
    with_header("Supported are F32", {"a": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}})
    with_header("offsets", {"a": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 4]}})
    with_header("its shape", {"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})
    with_header("its offsets", {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, "4"]}})
    with_config("model_type 'gpt9' is not supported", model_type="gpt9")
    with_config("num_hidden_layers is of type str", num_hidden_layers="2")
    with_config("yarn", rope_scaling={"rope_type": "yarn"})
    with_config("lm_head.weight is missing", tie_word_embeddings=False)
    with_config("does not use the tensor model.layers.1", num_hidden_layers=1)
    places = room / "llama-weights" / "model.safetensors.index.json"
    places.write_text(json.dumps({"weight_map": {"a": "../qwen2-weights/model.safetensors"}}))
    refuses("no file of this folder", room / "llama-weights", "-o", room / "new")


CASES = [
    ("Llama in GGUF, Q4_1 and tied embeddings in Q8_0, says what NumPy says",
     lambda room: gguf_says_what_numpy_says(room, "llama")),
    ("Qwen 2 in GGUF, Q4_0 and float16, too", lambda room: gguf_says_what_numpy_says(room, "qwen2")),
    ("Qwen 3 in GGUF, float32, bfloat16 and Q8_0, too", lambda room: gguf_says_what_numpy_says(room, "qwen3")),
    ("Llama 3 in a folder, float16 in two files, too", lambda room: folder_says_what_numpy_says(room, "llama", 2)),
    ("Phi 3 in a folder, bfloat16, heads of 48 numbers, too", lambda room: folder_says_what_numpy_says(room, "phi3", 1)),
    ("a folder of a model is replaced", a_folder_of_a_model_is_replaced),
    ("a folder with something else is left alone", another_file_stays),
    ("what does not fit is refused by its name", what_does_not_fit_is_refused_by_name),
    ("damaged folders are refused by name", damaged_folders_are_refused_by_name),
]  # fmt: skip
if platform.machine() == "x86_64":
    CASES.insert(1, ("the same without vectors of AVX2, in the place of the first",
                     lambda room: gguf_says_what_numpy_says(room, "llama", "--processor", "x86-64")))  # fmt: skip


def run(cases):
    """Run cases, and print TAP."""
    failures = 0
    with tempfile.TemporaryDirectory() as room:
        for number, (sentence, case) in enumerate(cases, 1):
            try:
                case(Path(room))
                print(f"ok {number} - {sentence}", flush=True)
            except Exception as error:  # any exception is a failure
                failures += 1
                text = str(error).replace("\n", "\n# ")
                print(f"not ok {number} - {sentence}\n# {type(error).__name__}: {text}", flush=True)
    print(f"1..{len(cases)}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(run(CASES))
