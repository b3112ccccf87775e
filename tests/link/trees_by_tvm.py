# SPDX-License-Identifier: MIT
"""Random import trees, exported by TVM and linked by tenon link: trees_by_tvm.py SEED COUNT COMMAND...

A module is a constant (kind const_loader), or C source, which is compiled into the shared object. The
numbering has to be the same, and so have the bytes of the blob. What export_library() wrote has to have
its bytes again when it is unpacked and linked. COMMAND is tenon and what runs it.
"""
import ctypes
import os
import random
import shutil
import struct
import subprocess
import sys

import numpy
import tvm
import tvm_ffi

seed, count, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
create_constants = tvm_ffi.get_global_func("ffi.Module.create.const_loader")
create_source = tvm_ffi.get_global_func("runtime.CSourceModuleCreate")
pack = tvm_ffi.get_global_func("runtime.ModulePackImportsToTensor")


class Tree:
    """Module 0 is the root; edges go from a lower number to a higher one."""

    def __init__(self, r, number):
        self.count = 1 + r.randrange(500 if number % 8 == 7 else 12)
        sources = r.choice((0, 1, 1, 2, 5))
        self.sources = set(r.sample(range(self.count), min(sources, self.count)))
        self.edges = []
        shared = r.random() < 0.5
        for child in range(1, self.count):
            self.add(r.randrange(child), child)
            if shared and r.random() < 0.3:
                self.add(r.randrange(child), child)
        # tenon link takes all sources as one module: those below another source have no order of their own
        self.sources = set(self.met())

    def add(self, parent, child):
        if (parent, child) not in self.edges:
            self.edges.append((parent, child))

    def name(self, i):
        return f"f{i}.c" if i in self.sources else f"p{i}.payload"

    def met(self):
        """The sources as the exporter meets them, which does not look below them at first."""
        order, stack, seen = [], [0], {0}
        while stack:
            module = stack.pop()
            if module in self.sources:
                order.append(module)
                continue
            for parent, child in self.edges:
                if parent == module and child not in seen:
                    seen.add(child)
                    stack.append(child)
        return order


def by_tvm(tree):
    """Export the tree to exported.so; the blob, or None: TVM refuses trees whose modules would have to be sorted."""
    modules = [create_source(f"int f{i};", "c", [], []) if i in tree.sources else
               create_constants({f"constant {i}": tvm.runtime.tensor(numpy.array([i], dtype="int32"))}, {})
               for i in range(tree.count)]
    for parent, child in tree.edges:
        modules[parent].import_module(modules[child])
    try:
        blob = pack(modules[0]).numpy().tobytes()
    except Exception as e:  # TVM's own check: an InternalError
        assert "Check failed" in str(e) or "sorted" in str(e).lower(), e
        return None
    modules[0].export_library("exported.so")
    assert blob_of("exported.so") == blob, "export_library() and the function that packs for it differ"
    return blob


def blob_of(path):
    """The blob of a shared object."""
    file = ctypes.CDLL(os.path.abspath(path))
    at = ctypes.addressof(ctypes.c_char.in_dll(file, "__tvm_ffi__library_bin"))
    size = struct.unpack("<Q", ctypes.string_at(at, 8))[0]
    blob = ctypes.string_at(at, size + 8)
    handle = file._handle
    del file
    ctypes.CDLL(None).dlclose(ctypes.c_void_p(handle))
    return blob


def survives():
    """Why exported.so is another file when it is unpacked and linked again; "" when it is not."""
    shutil.rmtree("exported.d", ignore_errors=True)
    for words in (["unpack", "exported.so", "exported.d"], ["link", "-o", "again.so", "exported.d/manifest.json"]):
        done = subprocess.run(command + words, capture_output=True, text=True)
        if done.returncode:
            return done.stderr
    with open("exported.so", "rb") as was, open("again.so", "rb") as now:
        return "" if was.read() == now.read() else "the bytes of exported.so and again.so differ"


def payloads_of(blob):
    """The payloads of a blob, and by their number in the tree."""
    words = struct.unpack_from("<QQ", blob)
    assert words[0] == len(blob) - 8, "size"
    at = 8
    for _ in range(2):
        at += 8 + 8 * struct.unpack_from("<Q", blob, at)[0]
    strings = []
    while at < len(blob):
        size = struct.unpack_from("<Q", blob, at)[0]
        strings.append(blob[at + 8:at + 8 + size])
        at += 8 + size
        if strings[-1] == b"_lib":
            strings.append(b"")
    return [p for p in strings[1::2] if p]


def write_files(tree, blob):
    for i in tree.sources:
        with open(f"f{i}.c", "w") as f:
            f.write(f"int f{i};\n")
    for payload in payloads_of(blob):
        i = int(payload.split(b"constant ")[1].split(b"\0")[0].split(b"\x01")[0])
        with open(f"p{i}.payload", "wb") as f:
            f.write(payload)


def by_tenon(tree):
    words = command + ["link", "-o", "tree.so"]
    met = tree.met()
    for parent, child in sorted(tree.edges, key=lambda e: met.index(e[0]) if e[0] in met else -1):
        if not (parent in tree.sources and child in tree.sources):
            words += ["--import", f"{tree.name(parent)}:{tree.name(child)}"]
    words += [tree.name(i) if i in tree.sources else tree.name(i) + "=const_loader" for i in range(tree.count)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    return blob_of("tree.so"), ""


same = refused = 0
for number in range(count):
    r = random.Random(f"{seed} {number}")
    tree = Tree(r, number)
    if tree.count == 1:
        continue  # without imports there is no blob
    want = by_tvm(tree)
    if want is None:
        refused += 1
        continue
    write_files(tree, want)
    got, why = by_tenon(tree)
    where = f"seed {seed}, tree {number}: {tree.count} modules, source {sorted(tree.sources)}, {tree.edges}"
    assert got is not None, f"{where}: {why}"
    assert got == want, f"{where}: the blobs differ: {got.hex()[:2000]} and TVM's {want.hex()[:2000]}"
    why = survives()
    assert not why, f"{where}: {why}"
    same += 1
print(f"seed {seed}: {same} trees are the same as TVM's, {refused} were refused by TVM")
assert same >= count / 4, "TVM refused nearly all"
