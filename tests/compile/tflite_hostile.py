# SPDX-License-Identifier: MIT
"""Files of TensorFlow Lite that are cut off or changed are read, or refused by a line: tflite_hostile.py COUNT FILE...

COUNT is how many of each kind, of each file; they are the same each time. Prints TAP.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.errors import CompileError  # noqa: E402
from tenon_compile.tflite import tflite_file  # noqa: E402

SECONDS = 5


def cut(content, numbers):
    return content[: numbers.integers(len(content))]


def changed(content, numbers):
    """With some other bytes."""
    content = bytearray(content)
    for at in numbers.integers(8, len(content), numbers.integers(1, 20)):
        content[at] = numbers.choice([0, 1, 127, 128, 255, numbers.integers(256)])
    return content


def counted(content, numbers):
    """With another count, number of a tensor, or extent; tables lie before numbers."""
    content = bytearray(content)
    words = len(content) // 8
    few = [at for at in numbers.integers(2, words, 200) * 4 if 0 < int.from_bytes(content[at : at + 4], "little") < 64]
    for at in few[:2]:
        content[at : at + 4] = int(numbers.choice([0, 1, 2, 3, 5, 2**31 - 1, 2**32 - 1])).to_bytes(4, "little")
    return content


def read(path, content):
    """What is wrong with how a file was read; None if it was, or was refused by a line."""
    path.write_bytes(content)
    begin = time.process_time()
    try:
        tflite_file.read(path)
    except CompileError as error:
        if "\n" in str(error) or not str(error).startswith(str(path)):
            return f"says {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "takes too long" if time.process_time() - begin > SECONDS else None


def main():
    count, files = int(sys.argv[1]), sys.argv[2:]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(files, 1):
            content, found = Path(file).read_bytes(), []
            for change in (cut, changed, counted):
                for seed in range(count):
                    said = read(Path(folder) / "network", change(content, numpy.random.default_rng(seed)))
                    found += [f"# {change.__name__} {seed}: {said}"] if said else []
            failures += bool(found)
            print("\n".join([f"{'not ok' if found else 'ok'} {number} - {Path(file).name}, cut off or changed", *found[:5]]))
    print(f"1..{len(files)}")
    sys.exit(1 if failures else 0)


main()
