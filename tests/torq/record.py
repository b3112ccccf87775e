#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# record.py MODULE FUNCTION OUTPUT INPUT.npy...: run a module of torq-compile on Synaptics' model of the NPU, and write what the
# model computed: OUTPUT.txt has each job with memory before and after it, OUTPUT.N.npy the results. $TORQ_RUN is torq-run-module.
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy

module, function, output, *inputs = sys.argv[1:]


def words(path, size):
    """The bytes of a file of words of 32 bits, a line each."""
    data = b"".join(int(line, 16).to_bytes(4, "little") for line in path.read_text().split())
    return data[:size]


def ranges(job, name):
    """load 0x00000000 72 4 hex FILE; xload of XRAM; save and xsave of what is there afterwards"""
    for line in (job / name).read_text().splitlines():
        what, address, size, _, _, file = line.split()
        memory = "xram" if what[0] == "x" else "lram"
        yield memory, int(address, 16), words(job / file, int(size))


def write_job(job, out):
    entry = int((job / "tv.cdesc_addr.txt").read_text(), 16)
    print(f"job 0x{entry:08x}", file=out)
    for verb, name in ("load", "tv.init.mem.lst"), ("save", "tv.exit.mem.lst"):
        for memory, address, data in ranges(job, name):
            print(f"{verb} {memory} 0x{address:08x} {data.hex()}", file=out)


def number(path):
    return int(re.sub(r"\D", "", path.name))


with tempfile.TemporaryDirectory() as folder:
    command = shlex.split(os.environ["TORQ_RUN"]) + [f"--module={module}", f"--function={function}",
                                                     f"--torq_dump_test_vectors_dir={folder}"]
    command += [f"--input=@{name}" for name in inputs]
    results = int(os.environ.get("TORQ_RESULTS", "1"))
    command += [f"--output=@{output}.{i}.npy" for i in range(results)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(output + ".txt", "w") as out:
        for executable in sorted(pathlib.Path(folder).iterdir()):
            for invocation in sorted(executable.glob("invocation*"), key=number):
                print(f"run {executable.name}", file=out)
                for job in sorted(invocation.glob("job*"), key=number):
                    write_job(job, out)
for i in range(results):
    numpy.save(f"{output}.{i}.npy", numpy.load(f"{output}.{i}.npy"))
