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


def a_long_conversation(room):
    """The reply begins in a step of 64 pages, for which the cache's steps have one form, and ends in one of 65.

    It is random: the most probable tokens go in circles.
    """
    (room / "long.gguf").write_bytes(small_gguf.MODELS["long"]().file())
    prompt, said = [(7 * n * n + n) % 250 for n in range(1010)], {}
    chosen = ("--temperature", "0.8", "--seed", "5")
    for target, options in (("cpu", ()), ("opencl", ("--device", "opencl:0"))):
        error = compiled(room / "long.gguf", "-o", room / f"long-{target}", "--target", target)
        assert error is None, error
        said[target] = reply(room / f"long-{target}", prompt, 30, *chosen, *options)
    assert len(set(said["cpu"])) > 2, "a reply of few tokens shows little"
    assert said["opencl"] == said["cpu"], f"OpenCL replies {said['opencl']}, the processor {said['cpu']}"


def a_module_for_cuda(room):
    (room / "cuda.gguf").write_bytes(small_gguf.MODELS["qwen2"]().file())
    error = compiled(room / "cuda.gguf", "-o", room / "cuda", "--target", "cuda")
    assert error is None, error
    module = room / "cuda" / "model.so"
    says("verify", module)
    assert "cuda" in says("inspect", module), "it has no program for CUDA"
    assert parts_to_record(module) == 1, f"a step has {parts_to_record(module)} parts to be recorded"


def parts_to_record(module):
    """Functions of the module that TVM made of parts of a step, to be recorded."""
    return says("inspect", module).count("decode_cuda_graph_capture")


def a_step_is_one_recording(room):
    assert parts_to_record(room / "qwen2-opencl" / "model.so") == 1


def three_thousand_columns(room):
    (room / "wide.gguf").write_bytes(small_gguf.MODELS["wide"]().file())
    error = compiled(room / "wide.gguf", "-o", room / "wide", "--target", "cuda")
    assert error is None, error
    says("verify", room / "wide" / "model.so")


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
        ("a step on OpenCL has one part that is recorded, attention in it", a_step_is_one_recording),
        ("a reply that needs a longer list of pages is that of the processor", a_long_conversation),
    ]  # fmt: skip
if tvm.get_global_func("target.build.cuda", allow_missing=True):
    CASES.append(("a module for CUDA is whole, and a step is marked to be one recording", a_module_for_cuda))
    CASES.append(("a layer of 3072 columns with weights of float16 is compiled for CUDA", three_thousand_columns))
if not tvm.get_global_func("target.build.vulkan", allow_missing=True):
    CASES.append(("a device that TVM was built without is refused", a_device_without_a_generator))

if __name__ == "__main__":
    sys.exit(run(CASES))
