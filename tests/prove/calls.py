# SPDX-License-Identifier: MIT
"""System calls that fail, one or several at random: a command says so or gives the whole answer, and ends."""

import errno
import os
import shutil

import lines
from campaign import Round, Skip, last_line, run

# what the manual pages of these calls say may happen to them
ERRORS = {
    "open": ["EMFILE", "ENFILE", "ENOMEM", "EACCES", "EINTR"],
    "map": ["ENOMEM"],
    "ioctl": ["EIO", "EINTR", "ENODEV", "ENOMEM"],
    "read": ["EIO", "EINTR", "ENOMEM"],
    "write": ["ENOSPC", "EIO", "EINTR", "EDQUOT"],
    "wait": ["EINTR", "ENOMEM"],
    "clone": ["EAGAIN", "ENOMEM"],
    "futex": ["EINTR", "EAGAIN"],
    "file": ["EIO", "ENOSPC", "EDQUOT", "EACCES"],
}
SECONDS = 60
# EXIT STATUS of tenon(1)
EXITS = range(0, 7)
TIMEOUT = 124
# the dynamic linker's, before the command begins
LINKER = 127


def environment(folder):
    """Two threads, no files but its own, no drivers: each run makes the same calls, or nearly."""
    nowhere = "/nonexistent"
    return {"TENON_NUM_THREADS": "2", "TENON_CACHE_DIR": os.path.join(folder, "cache"), "TENON_OPENCL_LIBRARY": nowhere,
            "TENON_VULKAN_LIBRARY": nowhere, "TENON_CUDA_LIBRARY": nowhere, "TENON_NVRTC_LIBRARY": nowhere, "TMPDIR": folder}


def fill(words, out):
    return [word.replace(lines.OUT, out) for word in words]


def content(path, without=b""):
    """All that is at a path, but for these bytes: bytes of a file, names and bytes of a folder, None."""
    if os.path.isdir(path):
        return {name: content(os.path.join(path, name), without) for name in sorted(os.listdir(path))}
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read().replace(without, b"") if without else file.read()


class Calls:
    NAME = "calls"
    ABOUT = "system calls that fail, in every verb"

    def __init__(self, place):
        self.place = place
        self.known = {}

    def prepare(self):
        self.disturb = self.place.compile("tests/prove/disturb.c", "disturb")
        probe = run([self.disturb, "open", "true"])
        if probe.status:
            raise Skip("system calls cannot be watched here: " + last_line(probe.errors))
        make_parts(self.place)
        self.lines = lines.reading(self.place) + [line.words for line in lines.writing(self.place)]

    def start(self, index, settings, folder):
        """Run a line below disturb; how it ended, what it answered but for its folder, and what it wrote."""
        words = self.lines[index]
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        out = os.path.join(folder, "out")
        done = run([self.disturb, *settings, self.place.command, *fill(words, out)], seconds=SECONDS,
                   environment=environment(folder))
        here = folder.encode()
        done.output = done.output.replace(here, b"")
        written = {name: content(os.path.join(folder, name), here) for name in os.listdir(folder) if name != "cache"}
        return done, written

    def undisturbed(self, index, kind, folder):
        """How many calls a line makes, and its answer and files if these are the same each time."""
        if (index, kind) not in self.known:
            counter = os.path.join(self.place.scratch, f"count-{index}-{kind}")
            first = self.start(index, ["--count", counter, kind], folder)
            second = self.start(index, ["--count", counter, kind], folder)
            with open(counter) as file:
                count = int(file.read())
            answer = first[0].output if first[0].output == second[0].output else None
            if self.lines[index][0] in lines.LOOKS_AROUND:
                answer = None
            self.known[index, kind] = count, first[0].status, answer, first[1] if first[1] == second[1] else None
        return self.known[index, kind]

    def round(self, number):
        done = Round()
        chance = self.place.random(self.NAME, number)
        index = number % len(self.lines)
        kind = chance.choice(sorted(ERRORS))
        error = chance.choice(ERRORS[kind])
        with self.place.folder() as folder:
            count, status, answer, files = self.undisturbed(index, kind, folder)
            if not count:
                return done
            if chance.random() < 0.5:
                settings = ["--at", str(chance.randint(1, count))]
            else:
                settings = ["--one-in", str(chance.randint(2, count + 2)), "--seed", str(chance.randint(1, 1 << 60))]
            settings += ["--errno", str(getattr(errno, error)), kind]
            ended, written = self.start(index, settings, folder)
        done.count("commands")
        wrong = self.judge(ended, written, (kind, status, answer, files))
        if wrong:
            done.found.append(f"{error} from {' '.join(settings)}: tenon {' '.join(self.lines[index])}: {wrong}")
        return done

    def judge(self, ended, written, wanted):
        kind, status, answer, files = wanted
        if ended.status is None:
            return f"it did not end within {SECONDS} s"
        if ended.status not in EXITS and ended.status not in (TIMEOUT, LINKER):
            return f"it ended with {ended.status}: {last_line(ended.errors)}"
        if ended.status != status:
            said = ended.errors.strip() or kind == "write"
            return None if said else f"exit status {ended.status} without a message"
        if ended.errors.strip():
            return None
        if answer is not None and ended.output != answer:
            return "it succeeded with another answer, and said nothing of it"
        if files is not None and written != files:
            return "it succeeded, and wrote other files"
        return None


def make_parts(place):
    """The parts of a module, for tenon link."""
    parts = os.path.join(place.scratch, "parts")
    if not os.path.isdir(parts):
        made = run([place.command, "unpack", place.data("tvm-0.18", "opencl_vecadd", "lib.so"), parts])
        if made.status:
            raise Skip("tenon unpack failed: " + last_line(made.errors))
