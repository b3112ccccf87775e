# SPDX-License-Identifier: MIT
"""Small language models with random weights, compiled for devices: on OpenCL what tenon chat replies is what it replies on the
processor; a module for CUDA is whole. Prints TAP.

usage: language_devices_test.py TENON
"""

import subprocess
import sys

import small_gguf
import tvm
from language_test import TENON, compiled, refuses, reply, run


def says(*words, text=None):
    done = subprocess.run([TENON, *map(str, words)], input=text, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def converses(folder, *options):
    """The replies to two messages: the second is a prompt behind what the cache has already."""
    options = ("--temperature", "0", "--max-tokens", "6", "--ignore-end", "--quiet", *options)
    return says("chat", folder, *options, text="a first message\nand a second one\n")


def replies_as_on_the_processor(room, name):
    model = small_gguf.MODELS[name]()
    (room / f"{name}.gguf").write_bytes(model.file())
    for target in ("cpu", "opencl"):
        error = compiled(room / f"{name}.gguf", "-o", room / f"{name}-{target}", "--target", target)
        assert error is None, error
    expected = model.expected(24)
    prompt, wanted = expected["prompt"], expected["reply"]
    assert len(set(wanted)) > 2, "a reply of few tokens shows little"
    said = reply(room / f"{name}-cpu", prompt, len(wanted))
    assert said == wanted, f"the processor replies {said}, NumPy {wanted}"
    said = reply(room / f"{name}-opencl", prompt, len(wanted), "--device", "opencl:0")
    assert said == wanted, f"OpenCL replies {said}, the processor {wanted}"


def a_conversation(room):
    here, there = converses(room / "qwen3-cpu"), converses(room / "qwen3-opencl", "--device", "opencl:0")
    assert here and here == there, f"OpenCL replies {there!r}, the processor {here!r}"


def a_module_for_cuda(room):
    (room / "cuda.gguf").write_bytes(small_gguf.MODELS["qwen2"]().file())
    error = compiled(room / "cuda.gguf", "-o", room / "cuda", "--target", "cuda")
    assert error is None, error
    module = room / "cuda" / "model.so"
    says("verify", module)
    assert "cuda" in says("inspect", module), "it has no program for CUDA"
    assert b"vm.builtin.cuda_graph.run_or_capture" in module.read_bytes(), "a step is not marked to be recorded"


def a_device_without_a_generator(room):
    (room / "plain.gguf").write_bytes(small_gguf.MODELS["qwen2"]().file())
    refuses("has no generator of code", room / "plain.gguf", "-o", room / "none", "--target", "vulkan")


CASES = []
if "opencl:0" in says("devices"):
    CASES = [
        ("weights of 4 bits and of float16 reply on OpenCL as on the processor",
         lambda room: replies_as_on_the_processor(room, "qwen2")),
        ("so do those of 8 bits and of float32, with heads that are normalised",
         lambda room: replies_as_on_the_processor(room, "qwen3")),
        ("and they reply the same to a second message", a_conversation),
    ]  # fmt: skip
if tvm.get_global_func("target.build.cuda", allow_missing=True):
    CASES.append(("a module for CUDA is whole, and a step is marked to be recorded", a_module_for_cuda))
if not tvm.get_global_func("target.build.vulkan", allow_missing=True):
    CASES.append(("a device that TVM was built without is refused", a_device_without_a_generator))

if __name__ == "__main__":
    sys.exit(run(CASES))
