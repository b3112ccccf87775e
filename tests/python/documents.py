# SPDX-License-Identifier: MIT
"""The blocks of docs/python.md run, one behind the other; and so do the programs of examples/python."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import tenon
from cases import SOURCE, TVM, need


def the_blocks_of_the_document_run():
    need("RELAX_VM")
    need("DEVICE_NULL")
    need("LINK")
    need("LLM")
    blocks = re.findall("^```python\n(.*?)^```", (SOURCE / "docs/python.md").read_text(), re.M | re.S)
    assert len(blocks) > 5
    names, before = {}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(TVM / "host_vecadd/lib.so", f"{folder}/vecadd.so")
        shutil.copy(TVM / "model_mlp/model.so", f"{folder}/network.so")
        shutil.copytree(SOURCE / "tests/llm/data/bytes", f"{folder}/smollm2")
        os.chdir(folder)
        try:
            for number, block in enumerate(blocks, 1):
                exec(compile(block, f"docs/python.md, block {number}", "exec"), names)
        finally:
            os.chdir(before)


def the_table_of_errors_is_complete():
    text = (SOURCE / "docs/python.md").read_text()
    for name in tenon.__all__:
        if name.endswith("Error") and name != "Error":
            assert f"`{name}`" in text, name


def _prints(program, *arguments):
    run = [sys.executable, str(SOURCE / "examples/python" / program), *map(str, arguments)]
    done = subprocess.run(run, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def the_example_of_a_function_runs():
    out = _prints("vecadd.py", TVM / "host_vecadd/lib.so")
    assert out == "0.5 1.5 2.5 3.5 ...\n", out


def the_example_of_a_network_tells_types_of_files():
    need("RELAX_VM")
    out = _prints("classify.py", SOURCE / "examples/call.c", SOURCE / "tests/python/cases.py")
    assert [line.split()[1] for line in out.splitlines()] == ["c", "python"], out


def the_example_of_a_pipeline_runs():
    need("RELAX_VM")
    assert _prints("pipeline.py", TVM / "model_mlp/model.so", "forward") == "16 answers of the shape (3, 10)\n"


def the_example_of_a_language_model_answers_in_one_batch():
    need("RELAX_VM")
    need("LLM")
    out = _prints("chat.py", SOURCE / "tests/llm/data/bytes", "--max-tokens", "8", "Hello", "Who are you?")
    assert "Hello\n" in out and "Who are you?\n" in out and "8 tokens" in out, out


def the_example_of_two_devices_keeps_the_order():
    need("DEVICE_CPU")
    need("DEVICE_NULL")
    for names in ((), ("cpu://0?queue=worker", "null:0"), ("null:0", "cpu:0")):
        assert _prints("two_devices.py", *names) == "0.0 1.0 2.0 3.0 ...\n", names


def the_example_of_a_kind_of_module_links_one():
    need("LINK")
    assert _prints("module_kind.py") == "42\nscaler 35\n"


def every_example_is_short():
    for program in (SOURCE / "examples/python").glob("*.py"):
        assert len(program.read_text().splitlines()) < 80, program
