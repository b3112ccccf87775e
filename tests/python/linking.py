# SPDX-License-Identifier: MIT
"""Linking modules, taking them apart, checking and describing them."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import tenon
from cases import DATA, SOURCE, TVM, Skip, need, raises

HOST = TVM / "host_vecadd/lib.so"
SEVERAL = DATA / "tvm-0.18/opencl_multi/lib.so"
EXAMPLE = SOURCE / "examples/link"


@contextmanager
def _folder():
    need("LINK")
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def _environment(**names):
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _need_descriptions():
    """Of payloads of kinds that may have no backend here."""
    need("INSPECT")
    need("PAYLOAD_FORMATS")


def the_modules_of_a_file_are_plain_data():
    need("LINK")
    _need_descriptions()
    described = tenon.inspect(SEVERAL)
    assert described["machine"] == "x86-64" and described["size"] == SEVERAL.stat().st_size
    library, kernels = described["modules"]
    assert library["kind"] == "library" and library["parent"] is None and library["depth"] == 0
    assert kernels["kind"] == "opencl" and kernels["parent"] == 0 and kernels["format"] == "cl"
    assert len(kernels["functions"]) == len(kernels["launch"]) > 1
    assert kernels["launch"][0]["args"] == ["handle", "handle"] and kernels["fault"] is None
    payload = SEVERAL.read_bytes()[kernels["payload_offset"] :][: kernels["payload_size"]]
    assert b"__kernel" in payload and kernels["device"] is None


def a_file_in_order_has_no_faults():
    need("LINK")
    report = tenon.verify(str(SEVERAL))
    assert report["faults"] == 0 and report["readable"] and report["modules"] == 2 and report["tvm"] == "0.8 to 0.20"
    assert report["findings"] == []


def faults_of_a_file_are_findings():
    with _folder() as folder:
        cut = folder / "cut.so"
        cut.write_bytes(SEVERAL.read_bytes()[:20000])
        report = tenon.verify(cut)
        assert report["faults"] == 1 and not report["readable"] and report["machine"] is None
        (finding,) = report["findings"]
        assert finding["fault"] and finding["module"] is None and "cut.so" in finding["text"]
        raises(tenon.Error, tenon.inspect, cut)


def a_module_is_taken_apart_and_linked_again():
    _need_descriptions()
    with _folder() as folder:
        written, again, steps = tenon.unpack(SEVERAL, folder / "parts"), folder / "again.so", []
        host, kernels = written["parts"]
        assert written["same"] and host["file"] == written["host"] and host["table"] is None
        assert kernels["kind"] == "opencl" and kernels["bytes"] > 0
        assert b"__kernel" in (folder / "parts" / kernels["file"]).read_bytes()
        assert (folder / "parts" / kernels["table"]).exists()
        tenon.link([folder / "parts" / written["manifest"]], again, progress=steps.append)
        assert again.read_bytes() == SEVERAL.read_bytes() and "manifest.json" in steps[0]


def sources_and_programs_are_linked():
    _need_descriptions()
    if not shutil.which(os.environ.get("CC", "cc").split()[-1]):
        raise Skip("there is no C compiler")
    with _folder() as folder, _environment(CFLAGS=f"-I{SOURCE}/include"):
        made, steps = folder / "vecadd.so", []
        files = [EXAMPLE / "vecadd.c", (EXAMPLE / "vecadd.cl", "opencl", "east")]
        tenon.link(files, made, targets={"east": "opencl:0"}, progress=steps.append)
        library, kernels = tenon.inspect(made)["modules"]
        assert "vecadd" in library["functions"] and kernels["functions"] == ["vecadd_kernel"]
        assert (kernels["target_key"], kernels["device"], kernels["file_name"]) == ("east", "opencl:0", "vecadd.cl")
        assert len(kernels["sha256"]) == 64 and any("vecadd.c" in step for step in steps)
        tenon.link(files, folder / "model.tar", form="archive", model="added")
        assert (folder / "model.tar").stat().st_size > 0
        tenon.link(files[1:] + [files[0]], made, imports=[("_lib", "vecadd.cl")], generation="legacy")
        assert tenon.inspect(made)["generation"] == "legacy"
        (folder / "wrong.c").write_text("#error this is wrong\n")
        with open(os.devnull, "w") as null, _standard_error(null):
            error = raises(tenon.CallError, tenon.link, [folder / "wrong.c"], made)
        assert "wrong.c" in str(error)


@contextmanager
def _standard_error(file):
    """Where a compiler writes its messages."""
    before = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def an_exception_of_the_progress_callback_is_raised():
    def stop(step):
        raise KeyError(step)

    with _folder() as folder:
        manifest = folder / tenon.unpack(HOST, folder)["manifest"]
        error = raises(KeyError, tenon.link, [manifest], folder / "again.so", progress=stop)
        assert "manifest.json" in error.args[0]


def other_threads_run_while_a_file_is_written():
    with _folder() as folder:
        manifest, pipe, read = folder / tenon.unpack(HOST, folder)["manifest"], folder / "pipe", []
        os.mkfifo(pipe)

        def reads():
            # what writes to the pipe waits until this thread has opened it
            time.sleep(0.1)
            read.append(pipe.read_bytes())

        thread = threading.Thread(target=reads)
        thread.start()
        tenon.link([manifest], pipe)
        thread.join()
        assert read == [HOST.read_bytes()]


def wrong_arguments_are_errors():
    with _folder() as folder:
        assert "x.cl" in str(raises(tenon.UsageError, tenon.link, ["x.cl"], folder / "out.so"))
        assert "system-lib" in str(raises(ValueError, tenon.link, ["x.c"], folder / "out.so", form="exe"))
        assert "legacy" in str(raises(ValueError, tenon.link, ["x.c"], folder / "out.so", generation="old"))
        raises(ValueError, tenon.link, [("a.c", None, None, None)], folder / "out.so")
        raises(TypeError, tenon.link, [5], folder / "out.so")
        raises(ValueError, tenon.inspect, "a\0b")
        raises(OSError, tenon.unpack, folder / "none.so", folder)
        raises(OSError, tenon.inspect, folder / "none.so")
        assert not os.listdir(folder)


def a_signature_is_bytes():
    with _folder() as folder:
        if "MBEDTLS" not in tenon.configuration():
            raises(tenon.UnsupportedError, tenon.sign, HOST, folder / "key.pem")
            raise Skip("needs CONFIG_MBEDTLS")
        if not shutil.which("openssl"):
            raise Skip("openssl is not installed")
        key, public, signature = (str(folder / name) for name in ("key.pem", "key.pub", "signature"))
        make = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key]
        subprocess.run(make, check=True, capture_output=True)
        subprocess.run(["openssl", "ec", "-in", key, "-pubout", "-out", public], check=True, capture_output=True)
        Path(signature).write_bytes(tenon.sign(HOST, key))
        assert tenon.verify(HOST, key=public, signature=signature)["faults"] == 0
        assert tenon.verify(SEVERAL, key=public, signature=signature)["faults"] == 1


# ---- the library beside libtenon

# what a process of its own prints: the libraries beside libtenon that it has, and what a function says
PROBE = """
import sys, tenon
print([name for name in ("libtenon-link", "libtenon-llm") if name in open("/proc/self/maps").read()])
try:
    print(tenon.inspect(sys.argv[1])["machine"])
except tenon.UnsupportedError as error:
    print(error)
"""


def _probe(**environment):
    run = [sys.executable, "-c", PROBE, str(HOST)]
    return subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ | environment).stdout.split("\n")


def the_package_is_imported_without_the_libraries_beside_it():
    need("LINK")
    assert _probe()[:2] == ["[]", "x86-64"]


def a_library_that_cannot_be_loaded_is_named():
    with _folder() as folder:
        (folder / "libtenon-link.so.0").touch()
        loaded, said = _probe(LD_LIBRARY_PATH=str(folder))[:2]
        assert loaded == "[]" and "tenon.inspect() needs libtenon-link" in said and "install" in said, said


def an_extension_that_was_not_built_is_named():
    before = sys.modules.get("tenon._link")
    sys.modules["tenon._link"] = None
    try:
        error = raises(tenon.UnsupportedError, tenon.verify, HOST)
        assert "tenon.verify() needs libtenon-link" in str(error) and "CONFIG_LINK" in str(error), error
    finally:
        del sys.modules["tenon._link"]
        if before:
            sys.modules["tenon._link"] = before
