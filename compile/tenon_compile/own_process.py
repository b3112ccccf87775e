# SPDX-License-Identifier: MIT
"""The compiler in a process of its own, since TVM takes Ctrl-C for the error of a pass, prints lines of its own, and may end the process."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path

# what TVM and LLVM print besides the error that they raise, which says the same
NOISE = re.compile(r"\[\d\d:\d\d:\d\d\] \S+:\d+: Warning: |'.*' is not a recognized (feature|processor) for this target")
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of prctl()

_places = None  # the file that lists what to remove if this process is ended


class Ended(BaseException):
    """A signal asked the process to end."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def folder_beside(path):
    """A new folder beside @path, where its content is written until it is whole. Nothing is left of it, even by Ctrl-C."""
    folder = path.parent / f".{path.name}.{os.urandom(4).hex()}"
    if _places:
        with _places.open("a", encoding="utf-8", errors="surrogateescape") as places:
            places.write(f"{folder.absolute()}\0")
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compile_here(main, scratch, said):
    """In the new process: run main(). What C++ prints goes to the file "said"."""
    global _places
    die_with_parent()
    _places = scratch / "places"
    tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)
    sys.stderr = open(os.dup(2), "w", buffering=1, errors="backslashreplace")
    os.dup2(said, 2)
    warnings.simplefilter("ignore")  # PyTorch has some of its own code
    main()


def tell(said):
    """Print what C++ printed, but for noise."""
    os.lseek(said, 0, os.SEEK_SET)
    with open(said, errors="backslashreplace") as lines:
        sys.stderr.writelines(re.sub("^LLVM ERROR", "tenon-compile: LLVM", line) for line in lines if not NOISE.match(line))
    sys.stderr.flush()


def clean(scratch):
    with contextlib.suppress(OSError):
        for place in (scratch / "places").read_text(encoding="utf-8", errors="surrogateescape").split("\0")[:-1]:
            shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(scratch, ignore_errors=True)


def supervise(child, scratch, said):
    """Wait for the process, and end as it does."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except Ended as ended:
        end_all(child, scratch, ended.args[0])
    clean(scratch)
    tell(said)
    if status == -signal.SIGKILL:
        sys.exit("tenon-compile: the system ended the compiler, as it does when memory runs out")
    if status < 0:
        name = signal.Signals(-status).name
        sys.exit(f"tenon-compile: TVM ended with {name}, which is a fault of TVM or tenon-compile; --as-it-is may avoid it")
    sys.exit(status)


def end_all(child, scratch, number):
    """End the process, and this one by the signal that it got, so that a shell knows."""
    for one in ENDS:
        signal.signal(one, signal.SIG_IGN)
    with contextlib.suppress(ProcessLookupError, ChildProcessError):  # it may have got the signal, too
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    clean(scratch)
    line = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{line}tenon-compile: ended by {signal.Signals(number).name}", file=sys.stderr, flush=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # the first process of a container outlives that


def raise_ended(number, _frame):
    raise Ended(number)


def run(main):
    """Call main() in a process of its own, and end as it does; with --traceback in this one, for debuggers."""
    if "--traceback" in sys.argv:
        main()
        return
    try:
        scratch, said = Path(tempfile.mkdtemp(prefix="tenon-compile.")), os.memfd_create("said")
    except OSError as error:
        sys.exit(f"tenon-compile: {error.strerror or error}; TMPDIR names a folder for temporary files")
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    child = os.fork()
    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, raise_ended if child else signal.SIG_DFL)
    if child:
        supervise(child, scratch, said)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    compile_here(main, scratch, said)
