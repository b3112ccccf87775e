# SPDX-License-Identifier: MIT
"""tenon-compile --tune and --tuned: tuning_test.py TENON FOLDER, in an empty folder

The tiles of a small network are timed, kept in a file, and read again; files that are damaged are refused.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile import command  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402

tenon, folder = sys.argv[1], Path(sys.argv[2])
network, kept = folder / "small.onnx", folder / "kept.json"


def compile_network(name, *options):
    """Compile for one processor, with a case; what was printed."""
    said = io.StringIO()
    words = [str(network), "-o", str(folder / f"{name}.so"), "--case", *PROCESSOR, *options]
    with contextlib.redirect_stdout(said):
        command.run(command.parse_arguments(words))
    return said.getvalue()


def runs(name):
    case = folder / f"{name}.case"
    done = subprocess.run(
        [tenon, "run", folder / f"{name}.so", "--input", f"x=@{case / 'input0.npy'}", "--expect",
         f"@{case / 'output0.npy'}", "--rtol", "1e-3", "--atol", "1e-4"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def kernels():
    (processor,) = json.loads(kept.read_text())["processors"].values()
    return processor


def refuses(content, pattern):
    damaged = folder / "damaged.json"
    damaged.write_text(content)
    try:
        compile_network("none", "--tuned", str(damaged))
    except CompileError as error:
        assert str(error).startswith(f"{damaged}: ") and pattern in str(error) and "\n" not in str(error), error
        return
    raise AssertionError("was read")


def kernels_are_timed_and_the_best_tiles_kept_in_a_file():
    said = compile_network("timed", "--tune", "600", "--tuned", str(kept))
    count = len(kernels())
    assert count > 3 and f"timed {count} of {count} kernels" in said, said
    runs("timed")


def what_is_known_is_not_timed_again():
    assert "timed 0 of 0 kernels" in compile_network("again", "--tune", "60", "--tuned", str(kept))


def a_file_that_is_read_changes_the_tiles():
    content = json.loads(kept.read_text())
    (found,) = content["processors"].values()
    for tile in found.values():
        tile |= {"columns": 1, "rows": 1, "vectors": 1}
    other = folder / "other.json"
    other.write_text(json.dumps(content))
    # what the schedules take
    from tenon_compile import schedules

    taken, tile_of = [], schedules.tile_of
    schedules.tile_of = lambda *arguments: taken.append(tile_of(*arguments)) or taken[-1]
    try:
        said = compile_network("other", "--tuned", str(other))
    finally:
        schedules.tile_of = tile_of
    known, count = (int(word) for word in said.partition(f"{other}: has tiles for ")[2].split()[:3:2])
    kept_ones = [one for one in taken if (one.rows, one.columns, one.vectors) == (1, 1, 1)]
    # kernels that have one tile are not in the file
    assert known == len(found) and kept_ones and len(taken) - len(kept_ones) <= count - known, (said, taken)
    runs("other")


def damaged_files_are_refused_with_a_line():
    good = kept.read_text()
    refuses(good[: len(good) // 2], "no file of tuned tiles")
    refuses("[1, 2]", "expected dict")
    refuses(good.replace('"tenon-tuned": 1', '"tenon-tuned": 2'), "tune again")
    refuses(good.replace('"lanes"', '"lane"', 1), "expected columns, vectors, lanes, rows")
    refuses(good.replace('"rows": ', '"rows": -0.', 1), "expected int")


def a_tile_that_does_not_fit_is_found_anew():
    """An earlier version of the compiler had other tiles for the same kernel."""
    content = json.loads(kept.read_text())
    (found,) = content["processors"].values()
    name = next(iter(found))
    found[name] |= {"vectors": 1000003}
    old = folder / "earlier.json"
    old.write_text(json.dumps(content))
    said = compile_network("old", "--tuned", str(old))
    assert f"{old}: has tiles for {len(found) - 1} of " in said, said
    runs("old")
    assert "timed 1 of 1 kernels" in compile_network("old", "--tune", "60", "--tuned", str(old))
    (processor,) = json.loads(old.read_text())["processors"].values()
    assert len(processor) == len(found) and processor[name]["vectors"] < 1000003, processor
    runs("old")


def what_can_not_be_timed_is_refused():
    for options, pattern in (
        (("--tune", "5", "--target", "aarch64"), "--tune-on"),
        (("--tune", "5", "--as-it-is"), "schedules of processors"),
        (("--tune", "5", "--tune-on", "board"), "rpc://HOST:PORT"),
        (("--tune", "5", "--tune-on", "rpc://127.0.0.1:1"), "--tune-on rpc://127.0.0.1:1"),
        (("--tune", "-1"), "expected seconds"),
        (("--tuned", str(folder / "missing.json")), "no such file"),
    ):
        try:
            compile_network("none", *options)
        except CompileError as error:
            assert pattern in str(error), error
            continue
        raise AssertionError(options)


def kernels_are_timed_where_a_server_runs():
    read, write = os.pipe()
    with subprocess.Popen([tenon, "rpc", "serve", "--listen", "127.0.0.1:0"], stdout=write, stderr=write) as server:
        try:
            os.close(write)
            with os.fdopen(read, encoding="utf-8") as lines:
                address = next(word for line in lines for word in line.split() if word.startswith("127.0.0.1:"))
                remote = folder / "remote.json"
                said = compile_network("remote", "--tune", "1", "--tuned", str(remote), "--tune-on", f"rpc://{address}")
        finally:
            server.terminate()
    assert f"{remote}: timed " in said and "timed 0 " not in said, said


CASES = (
    kernels_are_timed_and_the_best_tiles_kept_in_a_file, what_is_known_is_not_timed_again,
    a_file_that_is_read_changes_the_tiles, damaged_files_are_refused_with_a_line,
    a_tile_that_does_not_fit_is_found_anew, what_can_not_be_timed_is_refused, kernels_are_timed_where_a_server_runs,
)  # fmt: skip
PROCESSOR = ("--processor", "v2") if os.uname().machine == "x86_64" else ()
failures = 0
subprocess.run([sys.executable, Path(__file__).with_name("cross_network.py"), network], check=True)
for number, case in enumerate(CASES, 1):
    sentence = case.__name__.replace("_", " ")
    try:
        case()
        print(f"ok {number} - {sentence}", flush=True)
    except Exception as error:  # any exception is a failure
        failures += 1
        print(f"not ok {number} - {sentence}\n# {type(error).__name__}: {str(error)[:600]}", flush=True)
print(f"1..{len(CASES)}")
sys.exit(1 if failures else 0)
