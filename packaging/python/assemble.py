# SPDX-License-Identifier: MIT
"""Write a wheel of what make built: assemble.py BUILD PLATFORM FOLDER. The libraries lie beside the extensions that need them."""

import base64
import hashlib
import os
import sys
import zipfile
from glob import glob
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def read_project():
    """The facts of python/pyproject.toml."""
    import tomllib

    return tomllib.loads((TREE / "python/pyproject.toml").read_text())["project"]


def tags_of(build):
    """The Python and the interfaces that the extension was built for, as the names of wheels have them."""
    _, *words, _ = next((build / "python/tenon").glob("_core.*.so")).name.split(".")
    if words == ["abi3"]:
        return "cp312", ["abi3"]
    if words == ["abi3t"]:
        return "cp315", ["abi3", "abi3t"]
    # cpython-313t-x86_64-linux-gnu
    own = "cp" + words[0].split("-")[1]
    return own.rstrip("t"), [own]


def metadata(version, python):
    project = read_project()
    entries = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in group_entries.items())
        for group, group_entries in project["entry-points"].items()
    )
    about = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\nSummary: {project['description']}\n"
        f"License: {project['license']['text']}\nRequires-Python: >=3.{python.removeprefix('cp3')}\n"
        "Description-Content-Type: text/markdown\n\n" + (TREE / "docs/python.md").read_text()
    )
    return {"METADATA": about.encode(), "entry_points.txt": entries.encode(), "LICENSE": (TREE / "LICENSE").read_bytes()}


def contents(build):
    """Files of the package by their names in the wheel, and the version of the library."""
    files = {f"tenon/{path.name}": path.read_bytes() for path in sorted((build / "python/tenon").iterdir()) if path.is_file()}
    for library in sorted(glob(f"{build}/libtenon*.so.[0-9]")):
        files[f"tenon/{os.path.basename(library)}"] = Path(library).read_bytes()
    # where libtenon looks for it, for modules that need it
    if "CONFIG_TVM_FFI_COMPAT=y" in (build / ".config").read_text().splitlines():
        files["tenon/compat/libtvm_ffi.so"] = (build / "compat/libtvm_ffi.so").read_bytes()
    return files, os.path.realpath(build / "libtenon.so.0").rsplit(".so.", 1)[1]


def write(path, files, folder):
    """A zip archive that does not depend on when it was written."""
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            add(archive, name, data)
        add(archive, f"{folder}/RECORD", (record + f"{folder}/RECORD,,\n").encode())


def add(archive, name, data):
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o755 if ".so" in name else 0o644) << 16
    archive.writestr(info, data)


def main(build, platform, folder):
    files, version = contents(Path(build))
    python, interfaces = tags_of(Path(build))
    info = f"tenon-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: tenon\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: {python}-{interface}-{platform}\n" for interface in interfaces)
    files |= {f"{info}/{name}": data for name, data in metadata(version, python).items()}
    # of what is linked into the libraries
    files |= {f"{info}/{path.name}": path.read_bytes() for path in sorted(Path(build).glob("LICENSE.*"))}
    files[f"{info}/WHEEL"] = wheel.encode()
    path = Path(folder, f"tenon-{version}-{python}-{'.'.join(interfaces)}-{platform}.whl")
    partial = path.with_suffix(".partial")
    write(partial, files, info)
    partial.rename(path)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
