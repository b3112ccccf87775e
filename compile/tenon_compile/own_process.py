# SPDX-License-Identifier: MIT
"""
The compiler runs in a process of its own: this one, the supervisor, only waits for it.

TVM reports Ctrl-C as an error of whatever pass was running, prints lines of its own, and may end the process.
"""

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

_places = None  # in the compiler: the file that lists the folders that the supervisor removes
_ended = False  # in the supervisor: a signal arrived


class Ended(BaseException):
    """One of ENDS arrived."""


def die_with_parent(parent):
    """The kernel ends this process when its parent, whose number is @parent, ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os._exit(1)


@contextlib.contextmanager
def folder_beside(path):
    """A new folder beside @path, in which @path is written before it gets its name. The folder is removed, even after Ctrl-C."""
    folder = path.parent / f".{path.name}.{os.urandom(4).hex()}"
    if _places:
        with _places.open("a", encoding="utf-8", errors="surrogateescape") as places:
            places.write(f"{folder.absolute()}\0")
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compile_here(main, parent, scratch, said):
    """In the new process: run main(). What C++ prints goes to the file "said"."""
    global _places
    die_with_parent(parent)
    _places = scratch / "places"
    tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)
    sys.stderr = open(os.dup(2), "w", buffering=1, errors="backslashreplace")
    os.dup2(said, 2)
    warnings.simplefilter("ignore")  # PyTorch has some of its own code
    main()


def tell(said):
    """Print what C++ printed, without NOISE."""
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
    """Wait for the compiler, and end with its status, or by the signal that ended either process."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # nothing is left to end
    except Ended as ended:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # the signal may have ended it already
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        end_by(ended.args[0], scratch)
    if -status in ENDS:
        end_by(-status, scratch)
    clean(scratch)
    if status < 0:
        erase_progress()
    tell(said)
    if status == -signal.SIGKILL:
        sys.exit("tenon-compile: the system ended the compiler, as it does when memory runs out")
    if status < 0:
        name = signal.Signals(-status).name
        sys.exit(f"tenon-compile: TVM ended with {name}, which is a fault of TVM or tenon-compile; --as-it-is may avoid it")
    sys.exit(status)


def erase_progress():
    """Erase the line of progress that a compiler leaves on the terminal when a signal ends it."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def end_by(number, scratch):
    """End this process by a signal, as a program does that catches none: then a shell ends its script, too."""
    clean(scratch)
    with contextlib.suppress(OSError):  # the terminal may be closed, as may be the other end of a pipe
        erase_progress()
        print(f"tenon-compile: ended by {signal.Signals(number).name}", file=sys.stderr, flush=True)
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # the kernel does not deliver that signal to the first process of a container


def raise_ended(number, _frame):
    """For the first signal alone: another one, such as a second Ctrl-C, must not interrupt the cleaning up."""
    global _ended
    if not _ended:
        _ended = True
        raise Ended(number)


def open_standard_files():
    """Open /dev/null where standard input, output or errors are closed: other files would get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or open(os.devnull, "w")


def run(main):
    """Call main() in a process of its own, and end as it does. With --traceback call it in this one, as debuggers need it."""
    open_standard_files()
    if "--traceback" in sys.argv:
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C says where it was
        main()
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        scratch, said = Path(tempfile.mkdtemp(prefix="tenon-compile.")), os.memfd_create("said")
    except OSError as error:
        sys.exit(f"tenon-compile: {error.strerror or error}; TMPDIR names a folder for temporary files")
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError as error:
        clean(scratch)
        sys.exit(f"tenon-compile: the system allows no further process: {error.strerror}")
    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, raise_ended if child else signal.SIG_DFL)
    if child:
        supervise(child, scratch, said)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    compile_here(main, parent, scratch, said)
