# SPDX-License-Identifier: MIT
"""Take a module apart and link it again, by the command tenon: TVM has no functions that put other modules into one."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import CompileError


def tenon_command():
    """The command that puts the module together."""
    tenon = os.environ.get("TENON", "tenon")
    if not shutil.which(tenon):
        raise CompileError(f"{tenon} is missing: the command puts the module together; TENON names another")
    return tenon


@contextlib.contextmanager
def taken_apart(module):
    """The folder with the parts of a file, and the list of its modules; behind the block the file is linked of them."""
    tenon = tenon_command()
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder) / "parts"
        call(tenon, "unpack", module, parts)
        manifest = parts / "manifest.json"
        described = json.loads(manifest.read_text(encoding="utf-8"))
        yield parts, described["modules"]
        manifest.write_text(json.dumps(described), encoding="utf-8")
        call(tenon, "link", "-o", module, manifest)


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"{words[0]} {words[1]}: {done.stderr.strip()}")
