# SPDX-License-Identifier: MIT
"""Linking modules, and what is in their files: tenon/link.h."""

import os

from tenon import _core
from tenon._beside import extension

_FORMS = {"shared": 0, "system-lib": 1, "archive": 2}
_GENERATIONS = {None: 0, "legacy": 1, "ffi": 2}


def _one_of(what, name, names):
    if name not in names:
        raise _core.ArgumentValueError(f"{what} {name!r}: want one of {', '.join(filter(None, names))}")
    return names[name]


def _path(path):
    return None if path is None else os.fsencode(path)


def _file(file):
    """(path, kind, key) of a path, or of a tuple with one, two or three of these."""
    if isinstance(file, (str, bytes, os.PathLike)):
        file = (file,)
    path, kind, key = (*file, None, None)[: max(3, len(file))]
    return (_path(path), kind, key)


def link(
    files,
    output,
    *,
    targets=None,
    imports=(),
    includes=(),
    graph=None,
    params=None,
    model=None,
    prefix=None,
    generation=None,
    form="shared",
    allow_weak=False,
    allow_unknown=False,
    progress=None,
):
    """Link files to a module, as "tenon link" does. Sources are compiled by $CC.

    files: a path, or a list: paths of sources and objects for the host, and (path, kind) or (path, kind, target key) of programs for
    devices; or alone the path of a manifest that unpack() wrote, or of an archive in Model Library Format.
    targets: devices that target keys stand for, {"east": "opencl:0"}.
    imports: (parent, child), names of files or "_lib"; without it the code of the host imports all others.
    includes: folders with headers, for sources in an archive.
    graph, params: graph.json of a model, and the file with its parameters; model: its name.
    generation: "ffi", the default, for TVM 0.22 and later, "legacy" for TVM 0.8 to 0.21.
    form: "shared" for a shared object; "system-lib" for an object file that a program links, found by its prefix;
    "archive" for an archive in Model Library Format.
    progress: called with a few words before each step that may take long. An exception that it raises is raised when
    linking ends.
    """
    linked = extension("_link", "tenon.link()")
    if isinstance(files, (str, bytes, os.PathLike)):
        files = [files]
    raised = []

    def step(text):
        if not raised:
            try:
                progress(text)
            except BaseException as error:
                raised.append(error)

    arguments = (
        tuple(_file(file) for file in files),
        _path(output),
        tuple(dict(targets or {}).items()),
        tuple((parent, child) for parent, child in imports),
        tuple(_path(folder) for folder in includes),
        _path(graph),
        _path(params),
        model,
        prefix,
        _one_of("generation", generation, _GENERATIONS),
        _one_of("form", form, _FORMS),
        allow_weak,
        allow_unknown,
        None if progress is None else step,
    )
    try:
        linked.link(*arguments)
    finally:
        if raised:
            raise raised[0]


def unpack(file, folder):
    """Write each part of a module to a file in a folder, and a manifest, of which link() makes the module again.

    Returns a dict: machine, manifest and host (names in the folder), same (linked again, the file has the same bytes),
    and parts, each with module (its number), kind, file, table (file of its kernels' table, or None) and bytes.
    """
    return extension("_link", "tenon.unpack()").unpack(_path(file), _path(folder))


def verify(file, *, key=None, signature=None):
    """Check all of a module's file without running it.

    key: file of a public key, whose owner must have signed the file; signature: the file with it (FILE.sig).
    Returns a dict: faults (their number, 0 for a file that is in order), readable, machine, tvm, modules (their
    number), and findings, each with fault, module (its number, or None for the file), kind and text.
    """
    return extension("_link", "tenon.verify()").verify(_path(file), _path(key), _path(signature))


def inspect(file):
    """Describe the modules in a file, for any machine, without running it.

    Returns a dict: size, machine, generation, tvm, and modules, a parent before its imports. Each module is a dict:
    kind, parent (its index, None for the root), depth, functions, loader ("ready" or "missing"), remedy, fault,
    payload_size, sha256 and others, as struct tenon_link_module of tenon/link.h has them. What is unknown is None.
    """
    return extension("_link", "tenon.inspect()").inspect(_path(file))


def sign(file, key):
    """The signature of a file by a private key, as bytes, for FILE.sig: over SHA-256, as openssl dgst writes it."""
    return extension("_link", "tenon.sign()").sign(_path(file), _path(key))
