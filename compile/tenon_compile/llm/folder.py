# SPDX-License-Identifier: MIT
"""The folder of a model, as "tenon chat" reads it: library, weights in shards, tokenizer, configuration."""

import contextlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from ..errors import CompileError
from ..own_process import folder_beside

LIBRARY = "model.so"
FILES = re.compile(
    r"model\.so|tensor-cache\.json|params_shard_\d+\.bin|tokenizer(_config)?\.json|mlc-chat-config\.json"
)
SHARD = 64 << 20  # bytes of a shard, at least, but for the last
ALIGNMENT = 64


def check(path):
    """Refuse a place where something else is."""
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise CompileError(f"{path}: {path.parent} is no folder that may be written")
    if path.exists() and not path.is_dir():
        raise CompileError(f"{path}: is a file; a language model is a folder")
    if path.is_dir():
        others = sorted(entry.name for entry in path.iterdir() if not FILES.fullmatch(entry.name))
        if others:
            raise CompileError(f"{path}: has {others[0]} in it, which is of no language model; name another folder")


def synchronise(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def written(path):
    """A folder under a temporary name, which takes the place of @path if all goes well."""
    with folder_beside(path) as new:
        yield new
        new.chmod(0o777 & ~current_umask())
        for entry in (*new.iterdir(), new):
            synchronise(entry)
        if path.is_dir() and any(path.iterdir()):
            old = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
            os.rename(path, old)
            os.rename(new, path)
            shutil.rmtree(old)
        else:
            os.rename(new, path)
        synchronise(path.parent)


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


class Shards:
    """Writes arrays, in files of about SHARD bytes, and tensor-cache.json."""

    def __init__(self, folder):
        self.folder, self.shards, self.file, self.size, self.records = folder, [], None, 0, []

    def add(self, name, array):
        if not self.file:
            self.file = (self.folder / f"params_shard_{len(self.shards)}.bin").open("wb")
        padding = -self.size % ALIGNMENT
        self.file.write(bytes(padding))
        self.size += padding
        record = {"name": name, "shape": list(array.shape), "dtype": str(array.dtype), "format": "raw"}
        self.records.append({**record, "nbytes": array.nbytes, "byteOffset": self.size})
        self.file.write(array.data)
        self.size += array.nbytes
        if self.size >= SHARD:
            self.end_shard()

    def end_shard(self):
        if self.file:
            shard = {"dataPath": Path(self.file.name).name, "format": "raw-shard", "nbytes": self.size}
            self.shards.append({**shard, "records": self.records})
            self.file.close()
        self.file, self.size, self.records = None, 0, []

    def end(self):
        self.end_shard()
        count = sum(len(shard["records"]) for shard in self.shards)
        write_json(self.folder / "tensor-cache.json", {"metadata": {"ParamSize": count}, "records": self.shards})
        return sum(shard["nbytes"] for shard in self.shards)
